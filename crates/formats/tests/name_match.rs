//! Names as people have them, found among paths.

use proptest::prelude::*;
use tapewise_formats::list::Name;
use tapewise_formats::name_match::{
    Found, Guess, How, MatchBy, Matched, Matching, Paths, match_list, with_slashes,
};

const PATHS: [&str; 9] = [
    "day1/A001.mov",
    "day1/A002.mov",
    "day2/A001.mov",
    "day2/B001.mov",
    "day2/C001.RDC/C001_001.R3D",
    "day2/C001.RDC/C001_002.R3D",
    "Caf\u{e9}/Z\u{fc}rich.wav",
    "notes [old].txt",
    "notes.txt",
];

fn paths() -> Paths {
    Paths::new(PATHS.map(str::to_owned).to_vec())
}

fn matched(names: &[&str], matching: &Matching) -> Matched {
    let list: Vec<Name> = (1..)
        .zip(names)
        .map(|(line, name)| Name {
            line,
            bytes: name.as_bytes().to_vec(),
        })
        .collect();
    let names: Vec<(&Name, &str)> = list.iter().zip(names.iter().copied()).collect();
    match_list(&paths(), &names, matching)
}

fn auto(names: &[&str]) -> Matched {
    matched(names, &Matching::default())
}

#[test]
fn windows_paths_are_rewritten_and_others_keep_their_backslashes() {
    for (name, meant) in [
        (r"T:\day1\A001.mov", "day1/A001.mov"),
        ("t:/day1/A001.mov", "day1/A001.mov"),
        (r"day1\A001.mov", "day1/A001.mov"),
        (r"\\server\share\a", "server/share/a"),
        (r"a\b/c", r"a\b/c"),
        ("a:b", "a:b"),
        ("/./a//b/", "a/b"),
    ] {
        assert_eq!(with_slashes(name), meant, "{name}");
    }
}

#[test]
fn a_prefix_of_most_names_is_guessed_and_said() {
    for front in ["/Volumes/SHOW", r"T:\SHOW", "mnt/x/y"] {
        let name = |rest: &str| format!("{front}/{rest}");
        let names = [
            name("day1/A001.mov"),
            name("day2/B001.mov"),
            name("nope.mov"),
        ];
        let names: Vec<String> = if front.contains('\\') {
            names.map(|name| name.replace('/', "\\")).to_vec()
        } else {
            names.to_vec()
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = auto(&names);
        assert_eq!(found.files, [0, 3], "{front}");
        assert_eq!(found.not_found.len(), 1, "{front}");
        let prefix = with_slashes(front);
        assert!(
            matches!(&found.guesses[..], [Guess::Prefix { prefix: said, .. }] if *said == prefix),
            "{:?}",
            found.guesses
        );
    }
    // A name that is right needs no prefix, and two mount points are two prefixes.
    let two = auto(&["/a/b/day1/A001.mov", "day1/A002.mov", "/c/day2/A001.mov"]);
    assert_eq!(two.files, [0, 1, 2]);
    assert_eq!(two.guesses.len(), 2);
}

#[test]
fn accents_and_case_do_not_matter_where_one_file_is_meant() {
    let decomposed = "Cafe\u{301}/Zu\u{308}rich.wav";
    let found = auto(&[decomposed, "DAY1/a001.MOV", "cafe\u{301}/zu\u{308}rich.WAV"]);
    assert_eq!(found.files, [6, 0]);
    assert_eq!(found.duplicates.len(), 1);
    let ways: Vec<How> = found
        .guesses
        .iter()
        .filter_map(|guess| match guess {
            Guess::How { how, .. } => Some(*how),
            Guess::Prefix { .. } => None,
        })
        .collect();
    assert_eq!(ways, [How::Encoding, How::Case]);
    // Two files that differ in case only: the exact one counts, and neither of them is a question.
    let both = Paths::new(vec![
        "a".to_owned(),
        "A".to_owned(),
        "Ab".to_owned(),
        "aB".to_owned(),
    ]);
    assert_eq!(both.at_path("A"), Found::Files(How::Exact, vec![1]));
    assert_eq!(both.at_path("ab"), Found::Several(vec![2, 3]));
}

#[test]
fn a_bare_clip_name_is_found_and_one_that_is_there_twice_is_a_question() {
    let found = auto(&["B001.mov", "A002", "C001", "a001.mov"]);
    assert_eq!(found.files, [3, 1, 4, 5]);
    assert_eq!(found.questions.len(), 1);
    assert_eq!(found.questions[0].files, [0, 2]);
    assert_eq!(auto(&["C001.RDC"]).files, [4, 5]);
}

#[test]
fn patterns_find_what_a_shell_would() {
    for (pattern, files) in [
        ("day1/*.mov", &[0, 1][..]),
        ("*.mov", &[0, 1, 2, 3]),
        ("**/*_00[12].R3D", &[4, 5]),
        ("/Volumes/SHOW/day1/*.mov", &[0, 1]),
        ("*.{wav,txt}", &[6, 7, 8]),
    ] {
        assert_eq!(auto(&[pattern]).files, files, "{pattern}");
    }
    // Brackets in a name are its own.
    assert_eq!(auto(&["notes [old].txt"]).files, [7]);
}

#[test]
fn a_way_that_was_asked_for_is_the_only_one() {
    let by = |by| Matching {
        by,
        strip_prefix: None,
    };
    let names = ["day1/A001.mov", "x/B001.mov", "*.txt", "DAY2/A001.mov"];
    assert_eq!(matched(&names, &by(MatchBy::Path)).files, [0]);
    let name = matched(&names, &by(MatchBy::Name));
    assert_eq!(name.files, [3]);
    assert_eq!(name.questions.len(), 2);
    assert_eq!(matched(&names, &by(MatchBy::Glob)).files, [0, 7, 8, 2]);
    let prefix = Matching {
        by: MatchBy::Path,
        strip_prefix: Some("/mnt/tape/".to_owned()),
    };
    let found = matched(
        &[
            "/mnt/tape/day1/A001.mov",
            "/mnt/tape2/day1/A002.mov",
            "notes.txt",
        ],
        &prefix,
    );
    assert_eq!(found.files, [0, 8]);
    assert!(found.guesses.is_empty());
}

#[test]
fn what_is_most_like_a_name_comes_first() {
    let paths = paths();
    assert_eq!(
        paths.nearest("day2/A0O1.mov", 2),
        ["day2/A001.mov", "day1/A001.mov"]
    );
    assert_eq!(paths.nearest("completely different", 3), Vec::<&str>::new());
}

proptest::proptest! {
    #[test]
    fn every_path_finds_itself_and_nothing_panics(
        paths in proptest::collection::vec("[aAbéß.\\[*/ ]{1,8}", 1..12),
        name in ".{0,12}",
    ) {
        let mut paths: Vec<String> = paths.iter().map(|path| with_slashes(path)).collect();
        paths.retain(|path| !path.is_empty());
        paths.sort();
        paths.dedup();
        let table = Paths::new(paths.clone());
        for (at, path) in paths.iter().enumerate() {
            proptest::prop_assert_eq!(table.at_path(path), Found::Files(How::Exact, vec![at]));
        }
        let list = Name { line: 1, bytes: name.clone().into_bytes() };
        for by in MatchBy::ALL {
            let matching = Matching { by, strip_prefix: None };
            let found = match_list(&table, &[(&list, &name)], &matching);
            proptest::prop_assert!(found.files.iter().all(|&at| at < paths.len()));
        }
        table.nearest(&name, 3);
    }
}

/// Whether a pattern finds the one file.
fn finds(pattern: &str, path: &str) -> bool {
    let paths = Paths::new(vec![path.to_owned()]);
    matches!(paths.at_pattern(pattern), Found::Files(How::Pattern, _))
}

/// Whether globset says that it does, which reads patterns for ripgrep.
fn globset_finds(pattern: &str, path: &str) -> bool {
    let mut glob = globset::GlobBuilder::new(pattern);
    let glob = glob.literal_separator(true).backslash_escape(false).build();
    let name = path.rsplit('/').next().unwrap_or(path);
    let compared = if pattern.contains('/') { path } else { name };
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(compared))
}

const PARTS: [&str; 21] = [
    "a",
    "b",
    "-",
    "/",
    "?",
    "*",
    "**",
    "**/",
    "/**",
    "[ab]",
    "[!a]",
    "[a-c]",
    "[]a]",
    "[",
    "]",
    "{",
    "}",
    ",",
    "{a,b}",
    "{a*,**/b}",
    "{,a}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn patterns_are_those_of_ripgrep(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..7),
        path in "[abc/\\-]{0,7}[abc\\-]",
    ) {
        let pattern = parts.concat();
        // No name of a file ends with a slash.
        if pattern.contains(['*', '?', '[', '{']) && !pattern.ends_with('/') {
            let [ours, theirs] = [finds(&pattern, &path), globset_finds(&pattern, &path)];
            prop_assert_eq!(ours, theirs, "{} and {}", pattern, path);
        }
    }
}

#[test]
fn a_question_mark_is_one_character_of_any_script() {
    let pattern = "?\u{e4}[\u{e0}-\u{fc}].mov";
    assert!(finds(pattern, "\u{f6}\u{e4}\u{e9}.mov"));
    assert!(!finds(pattern, "\u{f6}\u{e4}e.mov"));
}

#[test]
fn no_pattern_takes_for_ever() {
    assert!(!finds(&"*a".repeat(50), &"ab".repeat(2_000)));
    assert!(finds(&"{a,a}".repeat(200), &"a".repeat(200)));
    for long in ["{", "*", "{*,"] {
        assert!(!finds(&long.repeat(100_000), "a"), "{long}");
    }
}

#[test]
fn a_guess_says_how_many_paths_the_first_name_means() {
    let said = |name: &str| auto(&[name]).guesses[0].to_string();
    assert_eq!(
        said("day1/*.mov"),
        "found 1 name as a pattern: day1/*.mov is day1/A001.mov and 1 more"
    );
    assert_eq!(said("B*"), "found 1 name as a pattern: B* is day2/B001.mov");
}

#[test]
fn a_whole_path_that_only_looks_like_others_is_not_found() {
    let paths = Paths::new(
        ["Caf\u{e9}.mov", "CAF\u{c9}.mov"]
            .map(str::to_owned)
            .to_vec(),
    );
    let name = Name {
        line: 1,
        bytes: "caf\u{e9}.mov".into(),
    };
    let by = |by| {
        let matching = Matching {
            by,
            ..Matching::default()
        };
        let found = match_list(&paths, &[(&name, "caf\u{e9}.mov")], &matching);
        (found.not_found.len(), found.questions.len())
    };
    assert_eq!(by(MatchBy::Path), (1, 0));
    assert_eq!(by(MatchBy::Auto), (0, 1));
}
