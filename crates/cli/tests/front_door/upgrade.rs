//! Catalogues of older programs, and of a newer one.

use crate::program::{Desk, TAPEWISE};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tapewise_archive::catalogue::KNOWN_SCHEMA;
use tapewise_house::tgt::{lacks, skip};

/// A catalogue that an older program left: a dozen files, of one a newer version; one file that is not on tape yet.
struct Old {
    /// Its schema, which is also the name of the fixture.
    schema: u32,
    /// The path that is not on tape yet.
    later: &'static str,
}

/// Schema 4 holds a stage request beside the files.
const OLD: [Old; 3] = [
    Old {
        schema: 1,
        later: "later.txt",
    },
    Old {
        schema: 3,
        later: "more2/later.txt",
    },
    Old {
        schema: 4,
        later: "more2/later.txt",
    },
];

/// An archive with one of them in the place of its own, and where that lies.
fn with(old: &Old) -> (Desk, PathBuf) {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 10 --cartridges 4");
    desk.done("catalog init A --drive emulated:lib#drive0 --changer emulated:lib --profile lto8");
    let database = desk.path().join("A/catalogue.db");
    old.put(&database);
    (desk, database)
}

impl Old {
    fn put(&self, database: &Path) {
        let directory = database.parent().expect("a directory");
        for entry in std::fs::read_dir(directory).expect("an archive") {
            let path = entry.expect("an entry").path();
            if path.display().to_string().contains("/catalogue.db") {
                std::fs::remove_file(path).expect("removed");
            }
        }
        let fixture = format!("catalogue/schema-{}.db", self.schema);
        std::fs::copy(tapewise_house::fixture(&fixture), database).expect("copied");
    }
}

fn is_found(desk: &Desk, path: &str) -> bool {
    let found = desk.done(&format!("catalog find --archive A {path} --json"));
    let files = found.json()["files"].clone();
    files
        .as_array()
        .is_some_and(|files| files.iter().any(|file| file["path"] == path))
}

#[test]
fn old_catalogues_are_shown_then_brought_up_to_date_and_a_copy_is_kept() {
    for old in OLD {
        let (desk, database) = with(&old);
        let of_old = format!("has schema {}", old.schema);
        let bytes = std::fs::read(&database).expect("a catalogue");

        let refused = desk.run("catalog find --archive A clip");
        assert_eq!(refused.code, 2);
        let way = "tapewise catalog upgrade";
        assert!(refused.err.contains(way), "{}", refused.err);

        let shown = desk.done("catalog upgrade --archive A --dry-run");
        for words in [of_old.as_str(), "nothing was changed"] {
            assert!(shown.text().contains(words), "{}", shown.text());
        }
        assert!(!shown.text().contains("--"), "{}", shown.text());
        assert_eq!(std::fs::read(&database).expect("a catalogue"), bytes);

        let done = desk.done("catalog upgrade --archive A");
        let copy = format!("A/catalogue.db.schema-{}", old.schema);
        assert!(done.text().contains(&copy), "{}", done.text());
        let again = desk.done("catalog upgrade --archive A");
        assert!(again.text().contains("nothing to do"), "{}", again.text());

        assert!(is_found(&desk, old.later));
        // What the old catalogue has in the cache is not there.
        let checked = desk.run("catalog check --archive A");
        let words = "the catalogue does not contradict itself";
        assert!(checked.text().contains(words), "{}", checked.text());

        // The copy is a catalogue that can take the other's place.
        std::fs::copy(desk.path().join(copy), &database).expect("copied");
        let shown = desk.done("catalog upgrade --archive A --dry-run");
        assert!(shown.text().contains(&of_old), "{}", shown.text());
    }
}

#[test]
fn a_newer_catalogue_is_refused_and_left_alone() {
    let (desk, database) = with(&OLD[0]);
    let mut bytes = std::fs::read(&database).expect("a catalogue");
    // PRAGMA user_version: the big-endian number at offset 60 of the file's header.
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    std::fs::write(&database, &bytes).expect("written");
    for command in [
        "catalog upgrade --archive A",
        "store --archive A",
        "catalog find --archive A x",
    ] {
        let refused = desk.run(command);
        assert_eq!(refused.code, 2, "{command}: {}", refused.err);
        let newer = "schema 99";
        assert!(refused.err.contains(newer), "{command}: {}", refused.err);
        let left = std::fs::read(&database).expect("a catalogue");
        assert_eq!(left, bytes, "{command}");
    }
}

/// An upgrade under strace, with these options; what it traced goes to a file.
fn upgrade_traced(desk: &Desk, options: &[&str]) -> String {
    let trace = desk.path().join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(&trace).args(options);
    strace.args([TAPEWISE, "catalog", "upgrade", "--archive", "A"]);
    strace.current_dir(desk.path());
    strace.stdout(Stdio::null()).stderr(Stdio::null());
    strace.status().expect("strace runs");
    std::fs::read_to_string(trace).expect("a trace")
}

/// The name of the call that a line of a trace begins: `PID name(...`.
fn call(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(char::is_whitespace)?;
    let (name, _) = rest.trim_start().split_once('(')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(plain).then_some(name)
}

/// PRAGMA user_version and what SQLite says of the whole file.
fn schema(database: &Path) -> (u32, String) {
    let open = rusqlite::Connection::open(database).expect("a database");
    let ask = |pragma| open.query_row(pragma, [], |row| row.get(0));
    let version = ask("PRAGMA user_version").expect("a version");
    let whole = open.query_row("PRAGMA integrity_check", [], |row| row.get(0));
    (version, whole.expect("an answer"))
}

#[test]
fn an_upgrade_killed_at_every_tenth_system_call_leaves_the_old_catalogue_or_a_newer_one() {
    if let Some(why) = lacks(&["strace"]) {
        return skip("an upgrade that is killed", &why);
    }
    let [old, ..] = OLD;
    let (desk, database) = with(&old);
    let trace = upgrade_traced(&desk, &[]);
    let calls: Vec<&str> = trace.lines().filter_map(call).collect();
    let (mut as_it_was, mut newer) = (0, 0);
    for at in (10..calls.len()).step_by(10) {
        old.put(&database);
        let name = calls[at];
        let which = calls[..=at].iter().filter(|call| **call == name).count();
        let kill = format!("inject={name}:signal=KILL:when={which}");
        upgrade_traced(&desk, &["-e", &kill]);
        let (version, whole) = schema(&database);
        assert_eq!(whole, "ok", "killed at {name} {which}");
        assert!(
            (old.schema..=KNOWN_SCHEMA).contains(&version),
            "{name} {which}"
        );
        as_it_was += u32::from(version == old.schema);
        newer += u32::from(version > old.schema);
        desk.done("catalog upgrade --archive A");
        assert!(is_found(&desk, old.later), "killed at {name} {which}");
    }
    assert!(as_it_was > 10 && newer > 2, "{as_it_was}, {newer}");
}
