//! `mover`: when it ends, and what is taken out of use.

use crate::archive::{catalogue, desk, empty_cache};
use crate::program::Desk;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;
use tapewise_archive::catalogue::{CacheRecords, Files, NewRecall, Requests, Terms};

/// Files on tape that are asked for and kept in the cache, which has room for one of them.
fn full_cache(desk: &Desk) {
    let names = ["one.bin", "two.bin"];
    for name in names {
        desk.put(name, [7; 6_000]);
    }
    desk.done("store --archive A one.bin two.bin --quiet");
    empty_cache(desk);
    let settings = desk.read("A/archive.toml");
    let settings = settings
        .replace("cache_high_bytes = ", "cache_high_bytes = 8000 # ")
        .replace("cache_low_bytes = ", "cache_low_bytes = 7000 # ");
    desk.put("A/archive.toml", settings);
    let catalogue = catalogue(desk);
    for name in names {
        let file = catalogue.live_file(name.as_bytes()).expect("a catalogue");
        let file = file.expect("a file");
        catalogue.pin(file, "somebody", None).expect("pinned");
        let recall = NewRecall {
            file,
            terms: Terms::default(),
            destination: None,
        };
        catalogue.submit(&[recall], 1).expect("queued");
    }
}

#[test]
fn a_mover_that_is_to_end_when_idle_ends_when_what_is_left_has_no_room() {
    let desk = desk();
    full_cache(&desk);
    let next = desk.done("serve --archive A --explain-next");
    for words in [
        "nothing is read now: no mover works for this archive: start `tapewise mover` ",
        ": when somebody reads it, 1 file, ",
    ] {
        assert_eq!(next.text().matches(words).count(), 1, "{}", next.text());
    }
    let words = "1 recall not planned: the cache of 8.00 kB will be full until files are released";
    assert!(next.err.contains(words), "{}", next.err);
    let mover = "mover --archive A --until-idle --only-recall --quiet";
    let partly = desk.run(mover);
    assert_eq!(partly.code, 7, "{}", partly.err);
    let none = desk.run(mover);
    assert_eq!(none.code, 1, "{}", none.err);
    for words in ["1 recall in the queue", "the cache is full", "hint: "] {
        for run in [&partly, &none] {
            assert!(run.err.contains(words), "{words}: {}", run.err);
        }
    }
}

#[test]
fn hosts_and_drives_are_taken_out_of_use_by_names_that_somebody_has() {
    let desk = desk();
    desk.put("one.bin", [7; 6_000]);
    desk.done("store --archive A one.bin --quiet");
    let typo = desk.run("mover drain --archive A --drive TWD000001");
    assert_eq!(typo.code, 2, "{}", typo.err);
    // The drive that wrote is in the event log.
    for words in ["drive TWD000001", "known: TWD0000001", "--unseen"] {
        assert!(typo.err.contains(words), "{words}: {}", typo.err);
    }
    desk.done("mover drain --archive A --drive TWD0000001");
    let typo = desk.run("mover drain --archive A --host taep1");
    assert_eq!(typo.code, 2, "{}", typo.err);
    assert!(typo.err.contains("known: "), "{}", typo.err);
    desk.done("mover drain --archive A --host tape1 --unseen");
    // From now on it is known.
    let why = "firm\u{1b}[2J\nware";
    let drain = desk.run_args(
        b"",
        &[
            "mover",
            "drain",
            "--archive",
            "A",
            "--host",
            "tape1",
            "--why",
            why,
        ],
    );
    assert_eq!(drain.code, 0, "{}", drain.err);
    let status = desk.done("mover status --archive A");
    let line = r"host tape1 is disabled: firm\u{1b}[2J\nware";
    assert!(status.lines().contains(&line), "{}", status.text());
    desk.done("mover resume --archive A --host tape1");
}

#[test]
fn what_is_on_a_cartridge_out_of_use_is_named_wherever_somebody_asks_for_it() {
    let desk = desk();
    desk.put("one.bin", [7; 6_000]);
    desk.done("store --archive A one.bin --quiet");
    empty_cache(&desk);
    desk.done("mover drain --archive A --volume TW0001 --why firmware");
    let why = "volume TW0001 is disabled: firmware";
    let dry = desk.done("recall --archive A --to out --dry-run one.bin");
    assert_eq!(dry.text(), format!("not read now: 1 file; {why}\n"));
    let json = desk.done("recall --archive A --to out --dry-run --json one.bin");
    let disabled =
        serde_json::json!([{ "volume": "TW0001", "why": "firmware", "paths": ["one.bin"] }]);
    assert_eq!(json.json()["disabled"], disabled);
    let recall = desk.run("recall --archive A --to out --keep-queued one.bin");
    assert!(
        recall.err.contains(&format!("1 file not read: {why}")),
        "{}",
        recall.err
    );
    let next = desk.done("serve --archive A --explain-next");
    assert_eq!(
        next.text(),
        format!("TW0001: not mounted, 1 recall; {why}\n")
    );
    desk.done("mover drain --archive A --volume TW0001 --broken");
    let dry = desk.done("recall --archive A --to out --dry-run one.bin");
    assert!(
        dry.err.contains("no copy of the file is whole"),
        "{}",
        dry.err
    );
}

#[test]
fn a_mover_of_a_host_that_is_out_of_use_does_not_wait_for_ever_if_it_is_to_end_when_idle() {
    let desk = desk();
    full_cache(&desk);
    desk.done("mover drain --archive A --host ada --unseen --why firmware");
    let ended = desk.run("mover --archive A --host ada --until-idle --quiet");
    assert_eq!(ended.code, 3, "{}", ended.err);
    assert!(
        ended.err.contains("host ada is disabled: firmware"),
        "{}",
        ended.err
    );
}

#[test]
fn a_cartridge_whose_label_cannot_be_read_is_mounted_once_in_each_of_two_drives_and_left_alone() {
    let desk = desk();
    desk.put("one.bin", [7; 6_000]);
    desk.done("store --archive A one.bin --quiet");
    empty_cache(&desk);
    let bad = "[faults]\nbad_blocks = [{ barcode = \"TW0001\", partition = 0, block = 0 }]";
    let library = desk.read("lib/library.toml");
    let library = library.replace("bad_blocks = []\n", "");
    desk.put("lib/library.toml", library.replace("[faults]", bad));
    let catalogue = catalogue(&desk);
    let file = catalogue.live_file(b"one.bin").expect("a catalogue");
    let recall = NewRecall {
        file: file.expect("a file"),
        terms: Terms::default(),
        destination: None,
    };
    catalogue.submit(&[recall], 1).expect("queued");
    let ended = desk.run("mover --archive A --until-idle --only-recall");
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert_eq!(
        ended.err.matches(" mount of TW0001 in ").count(),
        2,
        "{}",
        ended.err
    );
    let why = "volume TW0001 is disabled: the label cannot be read: ";
    assert_eq!(ended.err.matches(why).count(), 2, "{}", ended.err);
    assert!(!ended.err.contains("TW0001: volume"), "{}", ended.err);
    // A mover that finds it out of use ends as the one that took it out of use; 7 if it has done something else.
    let ended = desk.run("mover --archive A --until-idle --only-recall");
    assert_eq!(ended.code, 1, "{}", ended.err);
    for words in ["ended with 1 recall in the queue", why] {
        assert!(ended.err.contains(words), "{words:?} not in {}", ended.err);
    }
    desk.put("two.bin", [8; 6_000]);
    desk.done("store --archive A two.bin --later --quiet");
    let ended = desk.run("mover --archive A --until-idle");
    assert_eq!(ended.code, 7, "{}", ended.err);
    assert!(ended.err.contains("wrote 1 file"), "{}", ended.err);
    let status = desk.done("mover status --archive A");
    assert!(status.text().contains(why), "{}", status.text());
    let next = desk.done("serve --archive A --explain-next");
    assert!(
        next.text().contains("TW0001: not mounted, 1 recall"),
        "{}",
        next.text()
    );
}

#[test]
fn a_drive_of_another_kind_than_the_archives_profile_is_named_once_and_used() {
    let desk = desk();
    let settings = desk.read("A/archive.toml");
    // LTO-8 drives write LTO-7 cartridges of type M too.
    for (profile, notices) in [("lto7", 1), ("lto7-m8", 0)] {
        let settings = settings.replace("profile = \"lto8\"", &format!("profile = \"{profile}\""));
        desk.put("A/archive.toml", settings);
        let name = format!("{profile}.bin");
        desk.put(&name, [7; 6_000]);
        desk.done(&format!("store --archive A {name} --later --quiet"));
        let ran = desk.done("mover --archive A --until-idle");
        let notice = format!(
            "drive0 is a ULT3580-TD8, whose profile is lto8: times will be predicted as of {profile}"
        );
        assert_eq!(ran.err.matches(&notice).count(), notices, "{}", ran.err);
    }
}

#[test]
fn systemd_hears_that_a_mover_and_a_service_are_ready_and_then_that_they_are_alive() {
    let desk = desk();
    for args in [
        "mover --archive A --quiet",
        "serve --archive A --listen 127.0.0.1:0 --no-drives --quiet",
    ] {
        let path = desk.path().join(&args[..5]);
        let manager = UnixDatagram::bind(&path).expect("a socket");
        let patience = Some(Duration::from_secs(60));
        manager.set_read_timeout(patience).expect("set");
        let name = path.to_str().expect("text");
        let variables = [("NOTIFY_SOCKET", name), ("WATCHDOG_USEC", "100000")];
        let mut program = desk.start(args, &variables);
        for expected in ["READY=1", "WATCHDOG=1", "WATCHDOG=1"] {
            let mut heard = [0; 64];
            let bytes = manager.recv(&mut heard).expect("a sign of life");
            assert_eq!(String::from_utf8_lossy(&heard[..bytes]), expected, "{args}");
        }
        program.kill().expect("it was there");
        program.wait().expect("ended");
    }
}
