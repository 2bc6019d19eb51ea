//! The words of help and messages: habits that readers stumbled over do not come back.

use crate::program::Desk;
use std::path::{Path, PathBuf};

/// What help and messages do not say, with what they say instead.
const REFUSED: [(&str, &str); 12] = [
    (
        " is said",
        "name who reports it: tapewise prints, the log has",
    ),
    (
        " are said",
        "name who reports it: tapewise prints, the log has",
    ),
    ("is not said", "the request does not say"),
    (" behind ", "after"),
    ("whence", "from where"),
    ("of which", "which, or a sentence of its own"),
    ("so many ", "this many"),
    (" but for ", "except"),
    ("cannot be borne", "too much for the library"),
    (" is none of", "is not one of"),
    ("soonest", "fastest, first"),
    (" be told ", "tapewise cannot tell"),
];

fn refused(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let (words, better) = REFUSED.iter().find(|(words, _)| text.contains(words))?;
    Some(format!("{words:?}, better: {better}"))
}

/// Verbs, and verbs below them, as the help lists them.
fn verbs(desk: &Desk, path: &str, found: &mut Vec<String>) {
    let help = desk.done(&format!("{path} --help"));
    found.push(path.to_owned());
    let mut in_list = path.is_empty();
    for line in help.lines() {
        if line.starts_with("Commands:") {
            in_list = true;
        } else if line.starts_with("Options") || line.starts_with("Arguments:") {
            in_list = false;
        }
        let verb = line
            .strip_prefix("  ")
            .filter(|line| in_list && !line.starts_with(' '));
        let verb = verb.and_then(|line| line.split_whitespace().next());
        if let Some(verb) = verb.filter(|verb| *verb != "help") {
            verbs(desk, format!("{path} {verb}").trim(), found);
        }
    }
}

#[test]
fn help_is_plain_english() {
    let desk = Desk::new();
    let mut found = Vec::new();
    verbs(&desk, "", &mut found);
    assert!(found.len() > 50, "{found:?}");
    for verb in found {
        let help = desk.done(&format!("{verb} --help"));
        for line in help.lines() {
            if let Some(why) = refused(line) {
                panic!("tapewise {verb} --help: {line:?}: {why}");
            }
        }
    }
}

/// The files below a directory whose names end so.
fn files_below(directory: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_dir() {
            files_below(&path, endings, found);
        } else if ending.is_some_and(|ending| endings.contains(&ending)) {
            found.push(path);
        }
    }
}

/// The texts in quotes of a source, without comments, tests, and what stands in braces.
fn texts(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let source: String = lines.flat_map(|line| [line, "\n"]).collect();
    let (mut found, mut text) = (Vec::new(), None::<String>);
    let (mut depth, mut signs) = (0, source.chars().peekable());
    while let Some(sign) = signs.next() {
        match (&mut text, sign) {
            (None, '\'') if matches!(signs.peek(), Some('"')) => {
                signs.next();
            }
            (None, '"') => (text, depth) = (Some(String::new()), 0),
            (None, _) => {}
            // The text goes on after the blanks of the next line.
            (Some(_), '\\') if signs.peek() == Some(&'\n') => {
                while signs.next_if(|sign| sign.is_whitespace()).is_some() {}
            }
            (Some(text), '\\') => {
                signs.next();
                text.push(' ');
            }
            (Some(_), '"') => found.extend(text.take()),
            (Some(_), '{') => depth += 1,
            (Some(_), '}') => depth -= 1,
            (Some(text), sign) if depth <= 0 => text.push(sign),
            _ => {}
        }
    }
    found
}

#[test]
fn messages_are_plain_english() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&crates).expect("the crates") {
        let path = entry.expect("an entry").path();
        // The papers are quoted as they were written.
        if path.join("src").is_dir() && !path.ends_with("papers") {
            files_below(&path.join("src"), &["rs"], &mut files);
        }
    }
    assert!(files.len() > 300, "{} files", files.len());
    let mut bad = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
        let source = std::fs::read_to_string(file).expect("a source");
        let texts = texts(&source).into_iter().filter(|text| text.contains(' '));
        for text in texts {
            let why = refused(&text);
            bad.extend(why.map(|why| format!("{}: {text:?}: {why}", file.display())));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// A text in lower case on one line: without the marks of comments and quotes, and without breaks of lines.
fn in_one_line(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_end_matches('\\'));
    let lines = lines.map(|line| line.trim_start_matches(['/', '!', '>', '#', ' ']));
    let words: Vec<String> = lines.map(str::to_lowercase).collect();
    let words = words.join(" ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_sentences_that_contributors_are_shown_are_in_use() {
    let root = tapewise_house::root();
    let contributing = std::fs::read_to_string(root.join("CONTRIBUTING.md")).expect("the page");
    let table = contributing
        .split("| was | is now |")
        .nth(1)
        .expect("a table");
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let sentences = rows.filter_map(|row| row.split('|').nth(2));
    let sentences: Vec<String> = sentences.map(in_one_line).collect();
    assert!(sentences.len() >= 25, "{sentences:?}");
    let mut files = vec![root.join("README.md")];
    for folder in ["crates", "docs"] {
        files_below(&root.join(folder), &["rs", "md"], &mut files);
    }
    let texts: Vec<String> = (files.iter())
        .map(|file| in_one_line(&std::fs::read_to_string(file).expect("a text")))
        .collect();
    for sentence in sentences {
        let is_there = texts.iter().any(|text| text.contains(&sentence));
        assert!(is_there, "{sentence:?} stands nowhere");
    }
}

#[test]
fn the_texts_of_a_source_are_found() {
    let source = "let a = \"one {whence} two\";\n// \"never\"\nlet c = '\"'; f(\"thr\\\"ee\")\n\"fo \\\n  ur\"";
    assert_eq!(texts(source), ["one  two", "thr ee", "fo ur"]);
}
