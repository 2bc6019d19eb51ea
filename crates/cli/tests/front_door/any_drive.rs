//! Drives and adapters that are not as kind as ours: a command carries little, sense stays, attentions
//! come late, somebody left a reservation behind. Every verb works there, or says why not.

use crate::archive::{catalogue, empty_cache, make_files_of, recall_and_compare};
use crate::drives::until_free;
use crate::program::Desk;
use tapewise_archive::catalogue::{CacheRecords, Claim, Holder, Leases, Wanted};
use tapewise_house::ltfs_tape;
use tapewise_scsi::LeaseKey;
use tapewise_scsi::device::Host;

/// Lets something be wrong with the library from now on.
fn fault(desk: &Desk, line: &str) {
    let text = desk.read("lib/library.toml");
    assert!(text.contains("[faults]\n"), "{text}");
    desk.put(
        "lib/library.toml",
        text.replacen("[faults]\n", &format!("[faults]\n{line}\n"), 1),
    );
}

/// A library of two drives, and an archive with blocks of 8 KiB.
fn desk(faults: &[&str]) -> Desk {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000");
    faults.iter().for_each(|line| fault(&desk, line));
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --drive emulated:lib#drive1 --changer emulated:lib#changer \
         --profile lto8 --block-size 8192 --segment-size 262144 --cache-gb 0.1",
    );
    desk
}

/// Stores, verifies, recalls and looks at the drive.
fn every_verb_works(desk: &Desk) {
    let files = make_files_of(desk, "reel", 10, 60_000);
    desk.done("store --archive A reel");
    desk.done("catalog verify --archive A TW0001");
    empty_cache(desk);
    recall_and_compare(desk, &files, "out");
    desk.done("library mount emulated:lib TW0001 --drive TWD0000001");
    desk.done("drive load emulated:lib#drive0");
    desk.done("drive status emulated:lib#drive0 --active");
    desk.done("drive position emulated:lib#drive0");
    desk.done("drive map emulated:lib#drive0 -o a.map");
}

#[test]
fn behind_an_adapter_that_carries_little_every_verb_works() {
    every_verb_works(&desk(&["adapter_bytes = 65536"]));
}

#[test]
fn where_sense_stays_and_attentions_come_late_every_verb_works() {
    every_verb_works(&desk(&["sense_stays = true", "late_attentions = true"]));
}

#[test]
fn an_ltfs_volume_is_read_behind_an_adapter_that_carries_one_of_its_blocks() {
    let desk = Desk::new();
    let library = ltfs_tape::library(&desk.path().join("lib"), &[]);
    let mut drive = ltfs_tape::drive(&library);
    ltfs_tape::write_real_volume(&mut drive);
    drop((drive, library));
    until_free(&desk);
    fault(&desk, "adapter_bytes = 524288");
    desk.done("recall --ltfs emulated:lib --to out --all-files");
    fault(&desk, "sense_stays = true\nlate_attentions = true");
    desk.done("recall --ltfs emulated:lib --to again --all-files");
}

#[test]
fn a_block_that_the_adapter_does_not_carry_is_refused_with_both_numbers() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 1 --slots 8 --cartridges 4 --scale 100000");
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --changer emulated:lib#changer --profile lto8 \
         --block-size 131072 --segment-size 262144 --cache-gb 0.1",
    );
    make_files_of(&desk, "reel", 2, 60_000);
    fault(&desk, "adapter_bytes = 65536");
    let ran = desk.run("store --archive A reel");
    assert_ne!(ran.code, 0, "{}", ran.err);
    for words in [
        "131072 bytes are more than the adapter carries",
        "65536 bytes",
    ] {
        assert!(ran.err.contains(words), "{words:?} not in\n{}", ran.err);
    }
}

#[test]
fn measuring_works_behind_a_small_adapter_whose_drive_repeats_its_sense() {
    let desk = Desk::new();
    desk.done("emulate lib --drive ampex-dst310 --scale 16384");
    let steps = "--only block-size,mount,seek-mid --block-size 64";
    desk.done(&format!(
        "measure emulated:lib -o log.jsonl {steps} --write"
    ));
    fault(&desk, "adapter_bytes = 65536");
    fault(&desk, "sense_stays = true\nlate_attentions = true");
    desk.done("measure emulated:lib -o other.jsonl --only mount,seek-mid");
    desk.done("drive check emulated:lib --quick -o report.json");
}

#[test]
fn a_reservation_of_another_initiator_is_shown_respected_and_ended_on_demand() {
    let desk = desk(&["reserved_by = \"400000000a010203\""]);
    make_files_of(&desk, "reel", 2, 60_000);
    for line in [
        "store --archive A reel",
        "drive position emulated:lib#drive0",
    ] {
        let ran = desk.run(line);
        assert_eq!(ran.code, 4, "{line}: {}", ran.err);
        for words in [
            "emulated:lib#drive0 is in use: LTFS on 10.1.2.3 has reserved the drive: exclusive access, key \
             0x400000000a010203",
            "hint: `tapewise drive release emulated:lib#drive0`",
        ] {
            assert!(ran.err.contains(words), "{words:?} not in\n{}", ran.err);
        }
    }
    let status = desk.done("drive status emulated:lib#drive0 --active");
    for words in [
        "key 0x400000000a010203, by LTFS on 10.1.2.3",
        "not asked, because the drive is reserved",
    ] {
        assert!(
            status.text().contains(words),
            "{words:?} not in\n{}",
            status.text()
        );
    }
    let status = desk
        .done("drive status emulated:lib#drive0 --active --json")
        .json();
    assert_eq!(status["reservation"]["is_this_host"], false);
    assert_eq!(status["reservation"]["type"], "exclusive access");
    let shown = desk.done("drive release emulated:lib#drive0");
    assert!(
        shown.text().contains("400000000a010203"),
        "{}",
        shown.text()
    );
    let other = desk.run("drive release emulated:lib#drive0 --key 1");
    assert_eq!(other.code, 2, "{}", other.err);
    let ended = desk.done("drive release emulated:lib#drive0 --key 400000000a010203");
    for words in [
        "ending the registration with key 400000000a010203: LTFS on 10.1.2.3",
        "released",
    ] {
        assert!(ended.err.contains(words), "{words:?} not in\n{}", ended.err);
    }
}

#[test]
fn a_reservation_that_an_ended_tapewise_of_this_host_left_is_cleared_with_words() {
    // No process has a number above the kernel's limit of 2^22.
    let key = Host::local().key_of_process(9_000_001);
    let desk = desk(&[&format!("reserved_by = \"{key:x}\"")]);
    let files = make_files_of(&desk, "reel", 2, 60_000);
    let ran = desk.done("store --archive A reel");
    let words = "emulated:lib#drive0: tapewise on this host (process 9000001, which has ended) left its \
                 registration on the drive; tapewise clears it";
    assert!(ran.err.contains(words), "{words:?} not in\n{}", ran.err);
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
    let position = desk.done("drive status emulated:lib#drive0 --active");
    assert!(
        position.text().contains("which has ended"),
        "{}",
        position.text()
    );
}

/// The mover was killed: its lease is in the catalogue, and its key in the drive.
#[test]
fn a_reservation_that_a_killed_mover_of_this_archive_left_is_ended_and_one_of_another_archive_is_not()
 {
    let desk = desk(&[]);
    let catalogue = catalogue(&desk);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let holder = Holder {
        host: host.trim().to_owned(),
        process: 9_000_001,
        run: "killed".to_owned(),
    };
    let wanted = Wanted {
        drive: "TWD0000001",
        volume: None,
        holder: &holder,
        for_ns: i64::MAX / 4,
    };
    let claim = catalogue.claim(&wanted, 1).expect("a catalogue");
    let Claim::Got(lease) = claim else {
        panic!("{claim:?}");
    };
    let key = LeaseKey {
        archive: LeaseKey::archive(&catalogue.tie().expect("a tie").id),
        epoch: lease.epoch as u32,
    };
    let of_another = LeaseKey {
        archive: key.archive ^ 1,
        ..key
    };
    fault(&desk, &format!("reserved_by = \"{:x}\"", key.key()));
    let files = make_files_of(&desk, "reel", 4, 60_000);
    let ran = desk.done("store --archive A reel");
    let words = "emulated:lib#drive0: a mover that is gone left its reservation on the drive; tapewise ends it";
    assert!(ran.err.contains(words), "{words:?} not in\n{}", ran.err);
    assert_eq!(catalogue.leases().expect("leases"), []);
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
    let text = desk.read("lib/library.toml");
    let text = text.replace(
        &format!("{:x}", key.key()),
        &format!("{:x}", of_another.key()),
    );
    desk.put("lib/library.toml", text);
    let busy = desk.run("catalog verify --archive A TW0001");
    assert_eq!(busy.code, 4, "{}", busy.err);
}

#[test]
fn a_drive_that_somebody_uses_is_left_out_while_there_are_others() {
    let desk = desk(&[
        "reserved_by = \"400000000a010203\"",
        "reserved_drive = \"TWD0000001\"",
    ]);
    let files = make_files_of(&desk, "reel", 4, 60_000);
    let ran = desk.done("store --archive A reel");
    for words in [
        "emulated:lib#drive0 is in use: LTFS on 10.1.2.3",
        "goes on with the other drives",
    ] {
        assert!(ran.err.contains(words), "{words:?} not in\n{}", ran.err);
    }
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn a_reservation_of_a_process_that_still_runs_is_not_ended() {
    let key = Host::local().key_of_process(std::process::id());
    let desk = desk(&[&format!("reserved_by = \"{key:x}\"")]);
    let refused = desk.run(&format!("drive release emulated:lib#drive0 --key {key:x}"));
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("still runs"), "{}", refused.err);
    let busy = desk.run("measure emulated:lib#drive0 -o log.jsonl --only mount");
    assert_eq!(busy.code, 4, "{}", busy.err);
}

#[test]
fn a_cartridge_emulated_in_little_is_filled_with_blocks_that_can_be_measured() {
    let desk = Desk::new();
    desk.done("emulate lib --drive lto8 --scale 100000");
    let ran = desk.done("measure emulated:lib -o log.jsonl --quick --write --only mount,seek-mid");
    assert!(
        ran.err
            .contains("blocks of 12000 bytes are written, not 262144"),
        "{}",
        ran.err
    );
    assert!(
        ran.text().contains("seek between any places"),
        "{}",
        ran.text()
    );
}

#[test]
fn a_cartridge_that_is_in_another_drive_than_asked_for_is_no_success() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000");
    desk.done("library mount emulated:lib TW0002 --drive TWD0000001");
    let there = desk.done("library mount emulated:lib TW0002 --drive TWD0000001");
    assert!(
        there
            .err
            .contains("TW0002 is in drive TWD0000001 (element 257) already"),
        "{}",
        there.err
    );
    let other = desk.run("library mount emulated:lib TW0002 --drive TWD0000002");
    assert_eq!(other.code, 3, "{}", other.err);
    let words = "TW0002 is in drive TWD0000001 (element 257), not in drive TWD0000002";
    assert!(other.err.contains(words), "{}", other.err);
}

#[test]
fn drives_are_tied_to_elements_in_the_robot_s_name() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000");
    let text = desk.read("lib/library.toml");
    let silent = text.replace("no_drive_serials = false", "no_drive_serials = true");
    desk.put("lib/library.toml", silent);
    let untied = desk.run("library mount emulated:lib TW0002 --drive ABC2");
    assert_eq!(untied.code, 3, "{}", untied.err);
    assert!(
        untied.err.contains("ROBOT,ELEMENT=SERIAL"),
        "{}",
        untied.err
    );
    let tied = "emulated:lib#changer,257=ABC1,258=ABC2";
    desk.done(&format!("library mount {tied} TW0002 --drive ABC2"));
    let text = desk.done(&format!("library inventory {tied}"));
    assert!(text.text().contains("ABC2"), "{}", text.text());
    let wrong = desk.run("library inventory emulated:lib#changer,257");
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.err.contains("ROBOT,ELEMENT=SERIAL"), "{}", wrong.err);
}

#[test]
fn a_serial_number_that_is_cut_short_is_said_and_its_drive_is_used_all_the_same() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000");
    let faults = "[faults]\nelement_status_cut_bytes = 8\n";
    let text = desk.read("lib/library.toml").replace("[faults]\n", faults);
    desk.put("lib/library.toml", text);
    let words = "the library cuts the serial number short";
    let listed = desk.done("library inventory emulated:lib");
    let said = |drive: &str| {
        let lines = listed.lines();
        lines
            .iter()
            .any(|line| line.trim_start().starts_with(drive) && line.contains(words))
    };
    assert!(!said("257") && said("258"), "{}", listed.text());
    desk.done("library mount emulated:lib TW0002 --drive TWD0000002");
    let listed = desk.done("library inventory emulated:lib --json").json();
    let drive = &listed["drives"][1];
    assert_eq!(drive["cartridge"], "TW0002");
    assert_eq!(drive["drive_serial"], "TW");
    assert_eq!(drive["drive_serial_cut"], true);
    let tied = desk.done("library inventory emulated:lib#changer,258=TWD0000002");
    assert!(!tied.text().contains(words), "{}", tied.text());
}

#[test]
fn an_archive_takes_the_profile_of_the_drive_s_name() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 2 --scale 100000");
    let made = desk.done(
        "catalog init A --drive emulated:lib#drive0 --drive emulated:lib#drive1 --changer emulated:lib#changer",
    );
    assert!(
        made.err.contains("profile lto8, by the drive's name"),
        "{}",
        made.err
    );
    assert!(desk.read("A/archive.toml").contains("profile = \"lto8\""));
    desk.done("emulate old --robot ibm3584 --drive lto5 --cartridges 1 --scale 100000");
    let mixed = desk.run("catalog init B --drive emulated:lib#drive0 --drive emulated:old#drive0");
    assert_eq!(mixed.code, 2, "{}", mixed.err);
    for words in ["is of profile lto8", "of profile lto5", "--profile"] {
        assert!(mixed.err.contains(words), "{}", mixed.err);
    }
    assert!(!desk.path().join("B").exists());
}

#[test]
fn an_archive_writes_only_the_cartridges_that_its_pattern_names() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 1 --slots 8 --cartridges 4 --scale 100000");
    let init = [
        "catalog",
        "init",
        "A",
        "--drive",
        "emulated:lib#drive0",
        "--changer",
        "emulated:lib#changer",
        "--profile",
        "lto8",
        "--block-size",
        "8192",
        "--segment-size",
        "262144",
        "--cache-gb",
        "0.1",
        "--volumes",
        "TW000[34]",
    ];
    let made = desk.run_args(b"", &init);
    assert_eq!(made.code, 0, "{}", made.err);
    make_files_of(&desk, "reel", 2, 60_000);
    desk.done("store --archive A reel");
    let log = desk.read("A/events.jsonl");
    assert!(log.contains("TW0003"), "{log}");
    for other in ["TW0001", "TW0002"] {
        assert!(!log.contains(other), "{other} was mounted");
    }
}

#[test]
fn an_index_called_by_six_characters_is_of_the_cartridge_with_eight_in_the_library() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 1 --slots 8 --cartridges 2 --scale 100000");
    let text = desk.read("lib/library.toml").replace("TW0002", "TW0002L8");
    desk.put("lib/library.toml", text.replace("TW0001", "TW0001L8"));
    for barcode in ["TW0001", "TW0002"] {
        let path = |name: &str| desk.path().join("lib/cartridges").join(name);
        std::fs::rename(path(barcode), path(&format!("{barcode}L8"))).expect("renamed");
    }
    let places = desk
        .read("lib/places.toml")
        .replace("TW0001", "TW0001L8")
        .replace("TW0002", "TW0002L8");
    desk.put("lib/places.toml", places);
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --changer emulated:lib#changer --profile lto8 --cache-gb 0.1",
    );
    // Barcodes of eight characters begin with six of their own.
    let index = std::fs::read(ltfs_tape::fixture("TST001-20files.xml")).expect("the fixture");
    desk.put("TW0001.xml", &index);
    desk.put("TW0001L8.xml", &index);
    let added = desk.done("catalog add --archive A TW0001.xml");
    let words = "TW0001 is TW0001L8 in the library";
    assert!(added.err.contains(words), "{}", added.err);
    let volumes = desk.done("catalog volumes --archive A --json").json();
    assert_eq!(volumes["volumes"][0]["volume"], "TW0001L8", "{volumes}");
    let again = desk.run("catalog add --archive A TW0001L8.xml");
    assert_ne!(again.code, 0, "{}", again.err);
}
