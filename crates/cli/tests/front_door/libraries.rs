//! A robot with two drives, six slots and three cartridges: what goes where, and what is refused.

use crate::drives::until_free;
use crate::program::{Desk, Ran};
use tapewise_emulator::{Clock, Library};

const MAKE: &str = "emulate lib --robot ibm3584 --drives 2 --slots 6 --cartridges 3";

fn library() -> Desk {
    let desk = Desk::new();
    desk.done(MAKE);
    desk
}

/// Runs what ends with a code, says why in these words, and prints no result.
fn fails(desk: &Desk, args: &str, code: i32, words: &[&str]) -> Ran {
    let ran = desk.run(args);
    assert_eq!(ran.code, code, "{args}: {}", ran.err);
    assert_eq!(ran.text(), "", "{args}");
    for word in words {
        let said = ran.err.contains(word);
        assert!(said, "{args}: {word:?} not in\n{}", ran.err);
    }
    ran
}

/// The element in which a cartridge is.
fn place_of(desk: &Desk, label: &str) -> (String, u64) {
    let inventory = desk.done("library inventory emulated:lib --json").json();
    for kind in ["drives", "stations", "slots"] {
        for place in inventory[kind].as_array().expect("places") {
            if place["cartridge"] == label {
                return (
                    kind.to_owned(),
                    place["element"].as_u64().expect("a number"),
                );
            }
        }
    }
    panic!("{label} is nowhere: {inventory}");
}

#[test]
fn an_inventory_reads_well_for_a_person_and_as_json() {
    let desk = library();
    let text = desk.done("library inventory emulated:lib");
    assert_eq!(
        text.text(),
        "TAPEWISE ibm3584, serial number TW00000001: 2 drives, 6 slots (3 full), 2 places in the station\n\
         \n\
         drive  serial number  cartridge\n\
         \x20 257  TWD0000001             -\n\
         \x20 258  TWD0000002             -\n\
         \n\
         slot  cartridge\n\
         1025  TW0001\n\
         1026  TW0002\n\
         1027  TW0003\n"
    );
    let all = desk.done("library inventory emulated:lib --all --scan");
    assert_eq!(
        all.lines().len(),
        text.lines().len() + 3 + 4,
        "{}",
        all.text()
    );
    let json = desk.done("library inventory emulated:lib --json").json();
    assert_eq!(json["drives"][1]["drive_serial"], "TWD0000002");
    assert_eq!(json["slots"][0]["cartridge"], "TW0001");
    assert_eq!(json["slots"][5]["full"], false);
}

#[test]
fn a_cartridge_goes_into_a_drive_and_back_to_its_slot() {
    let desk = library();
    let home = place_of(&desk, "TW0002");
    desk.done("library mount emulated:lib TW0002 --drive TWD0000002");
    assert_eq!(place_of(&desk, "TW0002"), ("drives".to_owned(), 258));
    desk.done("drive load emulated:lib#drive1");
    let again = desk.done("library mount emulated:lib TW0002");
    assert!(again.err.contains("already"), "{}", again.err);
    fails(
        &desk,
        "library mount emulated:lib TW0001 --drive TWD0000002",
        4,
        &["TWD0000002 holds a cartridge"],
    );
    desk.done("drive unload emulated:lib#drive1");
    desk.done("library dismount emulated:lib TW0002");
    assert_eq!(place_of(&desk, "TW0002"), home);
    let again = desk.done("library dismount emulated:lib TW0002");
    assert!(again.err.contains("slot 1026 already"), "{}", again.err);
}

#[test]
fn cartridges_go_out_by_the_station_and_come_in_again() {
    let desk = library();
    desk.done("library export emulated:lib TW0001");
    assert_eq!(place_of(&desk, "TW0001").0, "stations");
    let again = desk.done("library export emulated:lib TW0001");
    assert!(again.err.contains("already"), "{}", again.err);
    desk.done("library export emulated:lib TW0002");
    fails(
        &desk,
        "library export emulated:lib TW0003",
        4,
        &["every place of the station"],
    );
    desk.done("library import emulated:lib TW0001");
    assert_eq!(place_of(&desk, "TW0001").0, "slots");
    let slot = place_of(&desk, "TW0001");
    let again = desk.done("library import emulated:lib TW0001");
    assert!(again.err.contains("already"), "{}", again.err);
    assert_eq!(place_of(&desk, "TW0001"), slot);
}

#[test]
fn a_cartridge_in_a_drive_is_neither_exported_nor_imported() {
    let desk = library();
    desk.done("library mount emulated:lib TW0001");
    for verb in ["export", "import"] {
        let args = format!("library {verb} emulated:lib TW0001");
        fails(&desk, &args, 4, &["(element 257)", "dismount"]);
    }
    assert_eq!(place_of(&desk, "TW0001").0, "drives");
}

#[test]
fn a_test_of_a_library_takes_each_drive_once() {
    let desk = library();
    let drives = "--drives emulated:lib#drive0,emulated:./lib#drive0 --hours 1";
    let words = ["emulated:lib#drive0 and emulated:./lib#drive0 are the same drive"];
    fails(
        &desk,
        &format!("library stress emulated:lib {drives}"),
        2,
        &words,
    );
    let accept = format!("library accept emulated:lib {drives} -o report.json");
    fails(&desk, &accept, 2, &words);
}

#[test]
fn a_test_that_needs_more_drives_than_there_are_is_refused_before_anything_is_said_or_written() {
    let desk = library();
    desk.put("log.jsonl", "of another run");
    let refused = desk.run(
        "library stress emulated:lib --drives emulated:lib#drive0 --in-flight 2 --inventory --events log.jsonl",
    );
    let said = "tapewise: --in-flight: 2 cycles in flight need as many drives and cartridges; there are 1 and ";
    assert!(refused.err.starts_with(said), "{}", refused.err);
    assert_eq!(desk.read("log.jsonl"), "of another run");
}

#[test]
fn the_log_of_a_stress_says_that_it_is_emulated_and_the_next_one_goes_behind_it() {
    let desk = library();
    let stress =
        "library stress emulated:lib --drives emulated:lib#drive0 --hours 0.1 --events log.jsonl";
    desk.done(stress);
    let first = desk.read("log.jsonl");
    assert!(
        first
            .lines()
            .next()
            .expect("a header")
            .contains("\"emulated\":true")
    );
    desk.done(stress);
    let both = desk.read("log.jsonl");
    assert!(both.starts_with(&first) && both.len() > first.len());
}

#[test]
fn names_that_lead_nowhere_are_bad_input() {
    let desk = library();
    desk.refused(
        "library mount emulated:lib NOPE",
        &["no cartridge labelled NOPE", "inventory"],
    );
    desk.refused("library inventory emulated:lib#drive0", &["not a"]);
    desk.refused(
        "library inventory emulated:nowhere",
        &["neither a directory"],
    );
    desk.refused("drive status emulated:lib#changer", &["not a tape drive"]);
    desk.refused("drive status emulated:lib#drive7", &["no drive 7"]);
    desk.refused("drive status emulated:lib#wheel", &["#wheel"]);
    desk.refused("drive status /dev/null", &["/dev/sgN"]);
    desk.refused("drive status /dev/sg98765", &["/dev/sg98765"]);
    fails(
        &desk,
        "library mount emulated:lib TW0001 --drive NONE",
        3,
        &["TWD0000001, TWD0000002"],
    );
}

#[test]
fn a_drive_without_a_cartridge_is_not_ready() {
    let desk = library();
    for verb in ["load", "unload", "position", "map"] {
        let args = format!("drive {verb} emulated:lib#drive0");
        fails(&desk, &args, 5, &["not present"]);
    }
    let status = desk.done("drive status emulated:lib#drive0 --active --json");
    let state = status.json();
    assert!(
        state["state"]
            .as_str()
            .is_some_and(|said| said.contains("not present")),
        "{state}"
    );
}

#[test]
fn a_status_without_active_asks_only_who_the_drive_is() {
    let desk = library();
    let status = desk.done("drive status emulated:lib#drive1");
    assert_eq!(
        status.text(),
        "drive          IBM ULT3580-TD8\n\
         firmware       TW01\n\
         serial number  TWD0000002\n\
         used by        nobody on this host\n\
         state          not asked; --active asks, and may take a message from another program\n"
    );
}

#[test]
fn a_position_is_told_in_numbers() {
    let desk = Desk::new();
    desk.done("emulate lib");
    let place = desk.done("drive position emulated:lib --json").json();
    assert_eq!(place["block"], 0);
    assert_eq!(place["partition"], 0);
    assert_eq!(place["wrap"], 0);
    assert!(place["lpos"].is_u64(), "{place}");
    let text = desk.done("drive position emulated:lib");
    assert!(
        text.text().contains("away from the beginning"),
        "{}",
        text.text()
    );
    fails(&desk, "drive map emulated:lib", 1, &["no data"]);
}

#[test]
fn an_emulated_library_that_another_process_has_is_busy() {
    let desk = library();
    let held = Library::open(&desk.path().join("lib"), Clock::virtual_time()).expect("a library");
    fails(
        &desk,
        "library inventory emulated:lib",
        4,
        &["emulated:lib"],
    );
    fails(
        &desk,
        "drive status emulated:lib#drive0",
        4,
        &["emulated:lib"],
    );
    drop(held);
    until_free(&desk);
    desk.done("library inventory emulated:lib");
}

#[test]
fn an_emulated_library_is_made_whole_or_not_at_all() {
    let desk = library();
    fails(&desk, MAKE, 2, &["not empty"]);
    fails(&desk, "emulate other --drive nope", 2, &["nope"]);
    fails(&desk, "emulate other --robot nope", 2, &["nope"]);
    fails(&desk, "emulate other --drives 2", 2, &["--robot"]);
    assert_eq!(desk.names(), ["lib"]);
}

#[test]
fn a_sense_code_is_said_in_words() {
    let desk = Desk::new();
    let code = desk.done("sense 03/11/00");
    assert_eq!(
        code.text(),
        "meaning    medium error: unrecovered read error (03/11/00)\n\
         condition  the cartridge cannot be read or written there\n\
         retryable  false\n"
    );
    let bytes = "70 00 02 00 00 00 00 0a 00 00 00 00 3a 00 00 00 00 00";
    let given = desk.done(&format!("sense {bytes}"));
    assert!(
        given.text().contains("medium not present"),
        "{}",
        given.text()
    );
    let read = desk.done_with(bytes, "sense --inhex -");
    assert_eq!(read.text(), given.text());
    for wrong in ["zz", "70 00 05", "99/11/00", "1/2/3/4"] {
        fails(&desk, &format!("sense {wrong}"), 2, &["tapewise: "]);
    }
}

#[test]
fn a_doctor_tells_what_is_missing_by_its_exit_code() {
    let desk = Desk::new();
    let ran = desk.run("doctor --json");
    let document = ran.json();
    let missing = document["missing"].as_u64().expect("a number");
    assert_eq!(ran.code, i32::from(missing > 0), "{document}");
    let findings = document["findings"].as_array().expect("findings");
    let counted = findings
        .iter()
        .filter(|finding| finding["state"] == "missing");
    assert_eq!(counted.count() as u64, missing);
    assert!(findings.iter().any(|finding| finding["about"] == "iSCSI"));
}

#[test]
fn a_drive_is_cleaned_and_without_a_cleaning_cartridge_it_is_said() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 1 --slots 6 --cartridges 2");
    let clean = "library clean emulated:lib#changer --drive emulated:lib#drive0";
    let refused = desk.run(clean);
    assert_eq!(refused.code, 5, "{}", refused.err);
    assert!(
        refused.err.contains("no cleaning cartridge"),
        "{}",
        refused.err
    );
    for name in ["lib/library.toml", "lib/places.toml"] {
        desk.put(name, desk.read(name).replace("TW0002", "CLN002"));
    }
    let cartridges = desk.path().join("lib/cartridges");
    std::fs::rename(cartridges.join("TW0002"), cartridges.join("CLN002")).expect("renamed");
    let places = desk.read("lib/places.toml");
    let cleaned = desk.done(clean);
    assert!(
        cleaned.err.contains("was cleaned with CLN002"),
        "{}",
        cleaned.err
    );
    // But for where it came from last, everything is where it was.
    assert_eq!(
        desk.read("lib/places.toml").replace("source = 1026\n", ""),
        places
    );
}

#[test]
fn the_directory_of_an_emulated_library_is_no_device_and_the_hint_says_its_name() {
    let desk = Desk::new();
    desk.done("emulate lib --drives 1 --robot ibm3584");
    let ran = desk.run("library inventory lib");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("is called emulated:lib"), "{}", ran.err);
}
