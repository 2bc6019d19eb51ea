//! More than a hundred commands, byte by byte over iSCSI, and what the target answers to each.
//!
//! `judges/commands.txt` lists the commands with the answers. The second column of the table in
//! `docs/reference/targets.md`, which sets other targets beside ours, holds the same answers.
//! `JUDGES=overwrite cargo test -p tapewise-emulator --test all commands` writes both anew.

use crate::initiator::{Initiator, NAME, Outcome};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tapewise_emulator::iscsi::{IscsiTarget, TargetOptions};
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_model::Micros;

/// The robot and two drives.
const UNITS: u8 = 3;

/// One line of the list.
struct Step {
    unit: u8,
    name: String,
    cdb: Vec<u8>,
    /// Room for an answer.
    reads: usize,
    /// How many bytes of the answer the list shows.
    shows: usize,
    writes: Vec<u8>,
}

fn bytes(hex: &str) -> Vec<u8> {
    let words = hex.split_whitespace();
    words
        .map(|word| u8::from_str_radix(word, 16).unwrap())
        .collect()
}

impl Step {
    fn parse(line: &str) -> Step {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [unit, name, cdb, data, _] = fields[..] else {
            panic!("five fields in {line:?}");
        };
        let cdb = bytes(cdb);
        let (kind, rest) = data.split_once(' ').unwrap_or((data, ""));
        let (mut reads, mut shows, mut writes) = (0, 0, Vec::new());
        match kind {
            "-" => {}
            "in" => {
                let (room, shown) = rest.split_once(" shown ").unwrap_or((rest, "0"));
                (reads, shows) = (room.parse().unwrap(), shown.parse().unwrap());
            }
            "block" => {
                writes = vec![bytes(rest)[0]; usize::from(cdb[3]) << 8 | usize::from(cdb[4])]
            }
            "list" => writes = bytes(rest),
            other => panic!("data {other:?} in {line:?}"),
        }
        Step {
            unit: unit.parse().unwrap(),
            name: name.to_owned(),
            cdb,
            reads,
            shows,
            writes,
        }
    }

    /// What a target said, in the words of the table.
    fn words(&self, outcome: &Outcome) -> String {
        let mut words = match outcome.status {
            0x00 => "good".to_owned(),
            0x02 => sense_words(&outcome.sense),
            other => format!("status {other:02x}h"),
        };
        if self.reads > 0 && (outcome.status == 0 || !outcome.data.is_empty()) {
            words += &format!(", {} bytes", outcome.data.len());
        }
        let shown = outcome.data.iter().take(self.shows);
        let shown: Vec<String> = shown.map(|byte| format!("{byte:02x}")).collect();
        if !shown.is_empty() {
            words += &format!(": {}", shown.join(" "));
        }
        words
    }
}

/// Sense key, ASC and ASCQ, the flags, and the information where it is valid.
fn sense_words(sense: &[u8]) -> String {
    let mut words = format!("{:X}/{:02X}/{:02X}", sense[2] & 0x0f, sense[12], sense[13]);
    for (bit, flag) in [(0x80, "filemark"), (0x40, "EOM"), (0x20, "ILI")] {
        if sense[2] & bit != 0 {
            words += &format!(" {flag}");
        }
    }
    if sense[0] & 0x80 != 0 {
        let rest = i32::from_be_bytes(sense[3..7].try_into().unwrap());
        words += &format!(", rest {rest}");
    }
    words
}

/// The list with the answers of today, and the answers by the names of the commands.
fn ask(list: &str) -> (String, BTreeMap<String, String>) {
    let directory = tempfile::tempdir().unwrap();
    let spec = LibrarySpec::with_robot("ibm3584", "lto8", 2, 8, 4, 1);
    let library =
        Library::create(&directory.path().join("lib"), &spec, Clock::virtual_time()).unwrap();
    let options = TargetOptions {
        chap: None,
        log: Arc::new(|_| {}),
    };
    let target = IscsiTarget::serve(&library, "127.0.0.1:0", options).unwrap();
    let log_in = |unit: u8| {
        let (address, name) = (target.address(), target.name());
        let mut session = Initiator::log_in(address, name, NAME, unit + 1, false);
        // What a new session is told first: that the unit was switched on.
        session.run(unit, &[0; 6], 0, &[]);
        session
    };
    let mut sessions: Vec<Initiator> = (0..UNITS).map(log_in).collect();
    let (mut text, mut answers) = (String::new(), BTreeMap::new());
    for line in list.lines() {
        if line.is_empty() || line.starts_with('#') {
            text += &format!("{line}\n");
            continue;
        }
        let step = Step::parse(line);
        let session = &mut sessions[usize::from(step.unit)];
        let outcome = session.run(step.unit, &step.cdb, step.reads, &step.writes);
        let words = step.words(&outcome);
        let (asked, _) = line.rsplit_once(" | ").unwrap();
        text += &format!("{asked} | {words}\n");
        if step.name != "-" {
            let before = answers.insert(step.name, words);
            assert_eq!(before, None, "two commands of one name: {line}");
        }
        if matches!(step.cdb[0], 0xa5 | 0x1b) {
            // A load takes as long as a load takes.
            library.skip(Micros(600_000_000));
        }
    }
    (text, answers)
}

/// A line of the page, with its second cell filled from the answers if it is a row of the table. A row may name several
/// commands, with semicolons between them.
fn filled(line: &str, answers: &BTreeMap<String, String>) -> String {
    let mut cells: Vec<&str> = line.split('|').map(str::trim).collect();
    if cells.len() != 8 || cells[1] == "command" || cells[1].starts_with("---") {
        return format!("{line}\n");
    }
    let names = cells[1].split("; ");
    let mut said: Vec<&str> = names
        .map(|name| match answers.get(name) {
            Some(words) => words.as_str(),
            None => panic!("no command is called {name:?}"),
        })
        .collect();
    said.dedup();
    let said = said.join("; ");
    cells[2] = &said;
    format!("{}\n", cells.join(" | ").trim())
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn the_target_answers_every_command_as_the_documentation_says() {
    let list = here("tests/judges/commands.txt");
    let page = here("../../docs/reference/targets.md");
    let kept = std::fs::read_to_string(&list).unwrap();
    let documented = std::fs::read_to_string(&page).unwrap();
    let (said, answers) = ask(&kept);
    let filled: String = documented
        .lines()
        .map(|line| filled(line, &answers))
        .collect();
    if std::env::var_os("JUDGES").is_some_and(|wish| wish == "overwrite") {
        std::fs::write(&list, &said).unwrap();
        std::fs::write(&page, filled).unwrap();
        return;
    }
    for (now, before) in said.lines().zip(kept.lines()) {
        assert_eq!(now, before);
    }
    for (now, before) in filled.lines().zip(documented.lines()) {
        assert_eq!(now, before);
    }
}
