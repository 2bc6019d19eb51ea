//! Sessions in the pages: what follows a command there is what the program prints. A line `[...]` stands for any lines.

use crate::program::{Desk, TAPEWISE, demo};
use std::process::{Command, Stdio};

const PAGES: [&str; 6] = [
    "how-to/order-an-ltfs-tape.md",
    "how-to/order-block-lists-csv.md",
    "how-to/order-by-priority-or-deadline.md",
    "how-to/prove-an-order.md",
    "how-to/use-a-table-of-wrap-ends.md",
    "tutorial.md",
];

/// Commands with one of these in them need a drive, or files that take minutes to make.
const NOT_RUN: [&str; 5] = ["/dev/", "tapes", "lists/", "show-a", "two.csv"];

#[test]
#[cfg(unix)]
fn sessions_in_the_pages_are_what_the_program_prints() {
    let root = tapewise_house::root();
    let (with_demo, _) = demo();
    let mut wrong = String::new();
    for page in PAGES {
        let desk = Desk::new();
        let link = |from: &std::path::Path, name| {
            std::os::unix::fs::symlink(from, desk.path().join(name)).expect("a link");
        };
        link(&root.join("fixtures"), "fixtures");
        link(&with_demo.path().join("demo"), "demo");
        let text = std::fs::read_to_string(root.join("docs").join(page)).expect("a page");
        let mut table = None;
        for (language, block) in blocks(&text) {
            if language == "csv" {
                table = Some(block);
            }
            if !language.is_empty() || !block.starts_with("$ ") {
                continue;
            }
            for (command, printed) in sessions(block) {
                let mut words = command.split_whitespace();
                // The table above is the file that the command reads.
                let own = |word: &&str| word.ends_with(".csv") && !word.contains('/');
                if let (Some(name), Some(text)) = (words.find(own), table) {
                    desk.put(name, text);
                    table = None;
                }
                if let Some(name) = command.strip_prefix("cat ") {
                    desk.put(name, printed.join("\n") + "\n");
                }
                let is_run = command.contains("tapewise ") || command.starts_with("head ");
                if !is_run || NOT_RUN.iter().any(|word| command.contains(word)) {
                    continue;
                }
                let said = shell(&desk, &command);
                let said: Vec<&str> = said.lines().collect();
                if !printed.is_empty() && !is_printed(&printed, &said) {
                    wrong += &format!("{page}: {command}\n{}\n\n", said.join("\n"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "the program prints:\n{wrong}");
}

/// The blocks between fences, each with its language.
fn blocks(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let fenced = text.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n'))
}

/// Commands, each in one line and with what it prints.
fn sessions(block: &str) -> Vec<(String, Vec<&str>)> {
    let mut sessions: Vec<(String, Vec<&str>)> = Vec::new();
    let mut goes_on = false;
    for line in block.lines() {
        let begun = line.strip_prefix("$ ");
        match (begun, sessions.last_mut()) {
            (Some(_), _) | (_, None) => sessions.push((String::new(), Vec::new())),
            (None, Some((_, printed))) if !goes_on => {
                printed.push(line);
                continue;
            }
            (None, Some(_)) => {}
        }
        let part = begun.unwrap_or(line).trim();
        goes_on = part.ends_with(['\\', '|']);
        if let Some((command, _)) = sessions.last_mut() {
            *command += part.trim_end_matches('\\');
            *command += " ";
        }
    }
    for (command, printed) in &mut sessions {
        *command = command.trim_end().to_owned();
        // An empty line sets the next command apart.
        printed.pop_if(|line| line.is_empty());
    }
    sessions
}

/// Runs a command as a page has it, with a terminal of 80 columns; both outputs.
fn shell(desk: &Desk, command: &str) -> String {
    let line = format!("tapewise() {{ \"$TAPEWISE\" \"$@\"; }}; {{ {command}\n}} 2>&1");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(desk.path());
    shell.env("TAPEWISE", TAPEWISE).env("TAPEWISE_CONFIG", "");
    shell.env("COLUMNS", "80").stdin(Stdio::null());
    let output = shell.output().expect("a shell");
    String::from_utf8(output.stdout).expect("text")
}

fn is_printed(printed: &[&str], said: &[&str]) -> bool {
    match printed.split_first() {
        None => said.is_empty(),
        Some((&"[...]", rest)) => (0..=said.len()).any(|from| is_printed(rest, &said[from..])),
        Some((line, rest)) => said.first() == Some(line) && is_printed(rest, &said[1..]),
    }
}
