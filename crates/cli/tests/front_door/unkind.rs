//! Everything that devices may be, short of broken, against everything that the program does with them: each verb
//! works, or ends with the code and the message that the table expects, and what it delivers is what was stored.

use crate::archive::{self, make_files_of};
use crate::program::{Desk, Ran};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Files by their names.
type Files = BTreeMap<String, Vec<u8>>;

/// What a verb does, one line for each, in this order: later ones find what earlier ones left.
const VERBS: &[(&str, &str)] = &[
    ("inventory", "library inventory emulated:lib"),
    ("store", "store --archive A more"),
    (
        "recall",
        "recall --archive A --to out --files-from list.txt",
    ),
    ("verify", "catalog verify --archive A TW0001"),
    ("repack", "catalog repack --archive A TW0001"),
    ("add", "catalog add --archive B --tape TW0001 --tape TW0002"),
    (
        "mount",
        "library mount emulated:lib TW0004 --drive TWD0000001",
    ),
    ("load", "drive load emulated:lib#drive0"),
    ("status", "drive status emulated:lib#drive0 --active"),
    (
        "ltfs",
        "recall --ltfs emulated:lib#drive0 --to volume --all-files",
    ),
    ("unload", "drive unload emulated:lib#drive0"),
    ("dismount", "library dismount emulated:lib TW0004"),
    (
        "mount 2",
        "library mount emulated:lib TW0005 --drive TWD0000001",
    ),
    ("load 2", "drive load emulated:lib#drive0"),
    (
        "check",
        "drive check emulated:lib#drive0 --quick -o report.json",
    ),
    ("map", "drive map emulated:lib#drive0 -o a.map"),
    (
        "measure",
        "measure emulated:lib#drive0 -o log.jsonl --only mount,seek-mid",
    ),
    ("unload 2", "drive unload emulated:lib#drive0"),
    ("dismount 2", "library dismount emulated:lib TW0005"),
    (
        "stress",
        "library stress emulated:lib --drives emulated:lib#drive0,emulated:lib#drive1 --hours 0.1",
    ),
];

/// What may be wrong: a name, lines of `library.toml`, and the verbs that end with another code than 0.
struct Unkindness {
    name: &'static str,
    faults: &'static [(&'static str, &'static str)],
    refused: &'static [(&'static str, i32)],
    /// It strikes by chance: any verb may end with a clear failure.
    by_chance: bool,
}

const KIND: Unkindness = Unkindness {
    name: "",
    faults: &[],
    refused: &[],
    by_chance: false,
};

const ALL: &[Unkindness] = &[
    Unkindness {
        name: "nothing",
        ..KIND
    },
    Unkindness {
        name: "small transfers",
        faults: &[("adapter_bytes", "16384")],
        refused: &[("ltfs", 2)],
        ..KIND
    },
    Unkindness {
        name: "few segments",
        faults: &[("adapter_segments", "4")],
        refused: &[("ltfs", 2)],
        ..KIND
    },
    Unkindness {
        name: "no residue",
        faults: &[("no_residue", "true")],
        ..KIND
    },
    Unkindness {
        name: "stale sense",
        faults: &[("sense_stays", "true"), ("late_attentions", "true")],
        ..KIND
    },
    Unkindness {
        name: "attentions",
        faults: &[("attention", "0.01"), ("seed", "3")],
        by_chance: true,
        ..KIND
    },
    Unkindness {
        name: "no log pages, attributes, densities, lists of commands",
        faults: &[("missing_commands", "[0x4d, 0x8c, 0x44, 0xa3]")],
        ..KIND
    },
    Unkindness {
        name: "no long LOCATE and SPACE, no persistent reservations",
        faults: &[("missing_commands", "[0x92, 0x91, 0x5e, 0x5f]")],
        ..KIND
    },
    Unkindness {
        name: "slow to get ready",
        faults: &[("slow_load_s", "400.0")],
        ..KIND
    },
    Unkindness {
        name: "no serial numbers",
        faults: &[("no_drive_serials", "true")],
        // Nobody knows which drive the robot would load.
        refused: &[
            ("store", 3),
            ("recall", 3),
            ("verify", 3),
            ("repack", 3),
            ("add", 3),
            ("mount", 3),
            ("load", 5),
            ("ltfs", 5),
            ("unload", 5),
            ("mount 2", 3),
            ("load 2", 5),
            ("check", 5),
            ("map", 5),
            ("measure", 5),
            ("unload 2", 5),
            ("stress", 3),
        ],
        ..KIND
    },
    Unkindness {
        name: "element status cut short",
        faults: &[("element_status_cut_bytes", "8")],
        ..KIND
    },
    Unkindness {
        name: "write protection",
        faults: &[("write_protected", r#"["TW0001", "TW0002", "TW0003"]"#)],
        refused: &[("store", 7), ("repack", 7), ("add", 7)],
        ..KIND
    },
    Unkindness {
        name: "WORM",
        faults: &[("worm", r#"["TW0001", "TW0002", "TW0003"]"#)],
        // There is no other cartridge to go to: what was written once is never taken for blank.
        refused: &[("repack", 7), ("add", 7)],
        ..KIND
    },
    Unkindness {
        name: "a dead host's reservation",
        faults: &[("reserved_by", "\"400000000a010203\"")],
        refused: &[
            ("store", 4),
            ("recall", 4),
            ("verify", 4),
            ("repack", 4),
            ("add", 4),
            ("load", 4),
            ("ltfs", 4),
            ("unload", 4),
            ("load 2", 4),
            ("check", 4),
            ("map", 4),
            ("measure", 4),
            ("unload 2", 4),
            ("stress", 4),
        ],
        ..KIND
    },
    Unkindness {
        name: "early warning",
        faults: &[("full_after_bytes", "200000")],
        // Three such cartridges have no room for the files of one of them once more.
        refused: &[("repack", 7)],
        ..KIND
    },
];

/// A library of two drives with an archive on three cartridges, an LTFS volume on the fourth and data on the fifth,
/// all well; with the files of the archive and those of the volume.
fn well() -> (Desk, Files, Files) {
    let desk = Desk::new();
    let volume = make_files_of(&desk, "volume-files", 3, 30_000);
    let inner = |(name, bytes): (String, Vec<u8>)| (name.replace("volume-files/", ""), bytes);
    let volume = volume.into_iter().map(inner).collect();
    desk.done(
        "emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 5 --scale 100000 --ltfs volume-files \
         --fill 6TB --fill-block-size 8192",
    );
    // The first cartridges are for the archive: what they hold goes to the last ones.
    let cartridges = desk.path().join("lib/cartridges");
    let swap = |one: &str, other: &str| {
        for (from, to) in [(one, "spare"), (other, one), ("spare", other)] {
            std::fs::rename(cartridges.join(from), cartridges.join(to)).expect("renamed");
        }
    };
    swap("TW0001", "TW0004");
    swap("TW0002", "TW0005");
    for name in ["A", "B"] {
        desk.done(&format!(
            "catalog init {name} --drive emulated:lib#drive0 --drive emulated:lib#drive1 \
             --changer emulated:lib#changer --profile lto8 --block-size 8192 --segment-size 32768 --cache-gb 0.1"
        ));
    }
    let files = make_files_of(&desk, "reel", 6, 20_000);
    make_files_of(&desk, "more", 12, 40_000);
    desk.done("store --archive A reel");
    archive::empty_cache(&desk);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    desk.put("list.txt", names.join("\n"));
    (desk, files, volume)
}

/// The same desk, once more. What is a hole in a file stays one, because made-up data has megabytes of them; and an
/// archive without its reserve of free room makes another.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        let what = entry.metadata().expect("metadata");
        if what.is_dir() {
            std::fs::create_dir_all(&to).expect("a directory");
            copy(&entry.path(), &to);
        } else if what.blocks() == 0 && what.len() > 0 {
            let hole = std::fs::File::create(to).expect("a file");
            hole.set_len(what.len()).expect("a hole");
        } else if entry.file_name() != "reserve" {
            std::fs::copy(entry.path(), &to).expect("copied");
        }
    }
}

/// Sets what is wrong with a library.
fn set(desk: &Desk, faults: &[(&str, &str)]) {
    let text = desk.read("lib/library.toml");
    let (before, after) = text.split_once("[faults]\n").expect("a table of faults");
    let is_set = |line: &str| {
        faults
            .iter()
            .any(|(key, _)| line.starts_with(&format!("{key} = ")))
    };
    let mut text = format!("{before}[faults]\n");
    for (key, value) in faults {
        text += &format!("{key} = {value}\n");
    }
    for line in after.lines().filter(|line| !is_set(line)) {
        text += &format!("{line}\n");
    }
    desk.put("lib/library.toml", text);
}

/// Whether what was delivered of these files is what was stored.
fn is_sound(desk: &Desk, to: &str, files: &Files) -> bool {
    files.iter().all(|(name, bytes)| {
        let there = std::fs::read(desk.path().join(to).join(name));
        there.map_or(true, |there| there == *bytes)
    })
}

/// A failure says what went wrong in a line of its own, under a code that means something.
fn is_clear(ran: &Ran) -> bool {
    let said = ran.err.lines().any(|line| line.contains("tapewise: "));
    (1..=9).contains(&ran.code) && said
}

#[test]
fn every_verb_works_on_unkind_devices_or_says_why_not() {
    let (template, files, volume) = well();
    let mut wrong = Vec::new();
    for unkind in ALL {
        let desk = Desk::new();
        copy(template.path(), desk.path());
        set(&desk, unkind.faults);
        for (verb, line) in VERBS {
            let ran = desk.run(line);
            let expected = unkind.refused.iter().find(|(one, _)| one == verb);
            let expected = expected.map_or(0, |(_, code)| *code);
            let is_expected = ran.code == expected || unkind.by_chance;
            if !is_expected || (ran.code != 0 && !is_clear(&ran)) {
                let (name, code) = (unkind.name, ran.code);
                wrong.push(format!(
                    "{name}: {verb}: {code}, expected {expected}: {}",
                    ran.err
                ));
            }
        }
        for (to, files) in [("out", &files), ("volume", &volume)] {
            if !is_sound(&desk, to, files) {
                wrong.push(format!("{}: wrong bytes in {to}", unkind.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
