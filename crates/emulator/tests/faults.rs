//! What goes wrong goes wrong by seed, and as it is told in the description of the faults.

use crate::host;

use host::{Host, Said, check};
use std::path::Path;
use std::time::Duration;
use tapewise_emulator::{
    BadBlock, BrokenDrive, CartridgeSpec, Clock, Faults, Library, LibrarySpec,
};
use tapewise_scsi::Transport;

fn with_faults(directory: &Path, name: &str, faults: Faults) -> (Library, Host) {
    let mut spec = LibrarySpec::one_drive("lto8", 1);
    spec.faults = faults;
    let path = directory.join(name);
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    library.load_cartridge("TW0001").unwrap();
    let host = Host::new(library.transport_to_drive(0).unwrap());
    (library, host)
}

/// Writes and reads, and notes what it is told; resets are answered with a REWIND.
fn journal(host: &mut Host) -> Vec<(Duration, Said)> {
    let mut journal = Vec::new();
    for step in 0..400u64 {
        let done = match step % 4 {
            0 => host.write(&[step as u8; 100]),
            1 => host.locate(0, step / 8),
            2 => host.read(100).map(drop),
            _ => host.space(3, 0),
        };
        if let Err(said) = done {
            journal.push((host.transport.now(), said));
            host.transport.wait(Duration::from_secs(5));
            let _ = host.none([0x01, 0, 0, 0, 0, 0]);
        }
    }
    journal
}

#[test]
fn the_same_seed_gives_the_same_faults_at_the_same_times() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        seed: 5,
        bad_block: 0.05,
        reset: 0.01,
        not_ready: 0.02,
        not_ready_s: 3.0,
        power_loss: 0.02,
        ..Faults::none()
    };
    let run = |name: &str, seed| {
        let faults = Faults {
            seed,
            ..faults.clone()
        };
        let (_library, mut host) = with_faults(directory.path(), name, faults);
        host.transport.wait(Duration::from_secs(100));
        journal(&mut host)
    };
    let first = run("first", 5);
    let kinds: std::collections::BTreeSet<u8> = first.iter().map(|(_, said)| said.key).collect();
    assert!(
        kinds.contains(&2) && kinds.contains(&3) && kinds.contains(&6),
        "{kinds:?}"
    );
    assert_eq!(first, run("second", 5));
    assert_ne!(first, run("third", 6));
}

#[test]
fn a_bad_block_stays_bad_and_its_neighbours_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let bad = BadBlock {
        barcode: "TW0001".to_owned(),
        partition: 0,
        block: 3,
    };
    let faults = Faults {
        bad_blocks: vec![bad],
        ..Faults::none()
    };
    let (_library, mut host) = with_faults(directory.path(), "library", faults);
    host.wait_until_ready();
    for number in 0..6u8 {
        host.write(&[number; 10]).unwrap();
    }
    for _ in 0..2 {
        host.locate(0, 2).unwrap();
        assert_eq!(host.read(10).unwrap(), [2; 10]);
        let said = host.read(10).unwrap_err();
        assert_eq!((said.key, said.code), (3, 0x1100));
        host.locate(0, 4).unwrap();
        assert_eq!(host.read(10).unwrap(), [4; 10]);
    }
}

#[test]
fn a_block_that_cannot_be_written_stays_so_and_what_is_before_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        bad_write: 0.05,
        ..Faults::none()
    };
    let first = |place: u64| (place..).find(|&block| faults.is_unwritable("TW0001", 0, block));
    let bad = first(0).unwrap();
    assert!(first(bad + 1).unwrap() > bad);
    let (_library, mut host) = with_faults(directory.path(), "library", faults.clone());
    host.wait_until_ready();
    for number in 0..bad {
        host.write(&number.to_le_bytes()).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(host.write(&[0; 8]).unwrap_err(), check(3, 0x0c00));
    }
    host.rewind();
    for number in 0..bad {
        assert_eq!(host.read(8).unwrap(), number.to_le_bytes());
    }
    assert_eq!(
        host.read(8).unwrap_err().key,
        8,
        "nothing of it is on the tape"
    );
}

#[test]
fn a_broken_drive_fails_every_command_until_it_is_switched_off() {
    let directory = tempfile::tempdir().unwrap();
    let broken = BrokenDrive {
        drive: 0,
        after_commands: 30,
    };
    let faults = Faults {
        broken_drives: vec![broken],
        ..Faults::none()
    };
    let (library, mut host) = with_faults(directory.path(), "library", faults);
    host.wait_until_ready();
    let said = (0..40).find_map(|_| host.write(&[7; 10]).err());
    assert_eq!(said, Some(check(4, 0x4400)));
    assert_eq!(host.write(&[7; 10]).unwrap_err(), check(4, 0x4400));
    drop((library, host));
    let library = Library::open(&directory.path().join("library"), Clock::virtual_time()).unwrap();
    let mut host = Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    host.write(&[7; 10]).unwrap();
}

#[test]
fn after_power_fails_a_prefix_with_all_that_was_flushed_is_left() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let faults = Faults {
            seed,
            power_loss: 0.01,
            ..Faults::none()
        };
        let (_library, mut host) = with_faults(directory.path(), &seed.to_string(), faults);
        host.wait_until_ready();
        let (mut written, mut flushed) = (0u32, 0u32);
        let said = loop {
            match host.write(&written.to_le_bytes()) {
                Ok(()) => written += 1,
                Err(said) => break said,
            }
            if written.is_multiple_of(7) {
                host.filemarks(0).unwrap();
                flushed = written;
            }
        };
        assert_eq!(said, check(6, 0x2900));
        // The position is lost: only what finds it anew is allowed.
        assert_eq!(host.read(4).unwrap_err(), check(5, 0x2c00));
        host.rewind();
        let mut kept = 0u32;
        while let Ok(block) = host.read(4) {
            assert_eq!(block, kept.to_le_bytes());
            kept += 1;
        }
        assert!(
            (flushed..=written + 1).contains(&kept),
            "{flushed} {kept} {written}"
        );
    }
}

#[test]
fn a_robot_fails_or_drops_what_it_carries() {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = LibrarySpec::with_robot("ibm3584", "lto8", 1, 4, 1, 1);
    spec.faults = Faults {
        robot_error: 1.0,
        ..Faults::none()
    };
    let path = directory.path().join("fails");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let mut host = Host::new(library.transport_to_changer().unwrap());
    host.wait_until_ready();
    let move_it = [0xa5, 0, 0, 1, 0x04, 0x01, 0x01, 0x01, 0, 0, 0, 0];
    assert_eq!(host.none(move_it), Err(check(4, 0x1501)));
    assert_eq!(host.none(move_it), Err(check(4, 0x1501)));

    spec.faults.dropped = 1.0;
    let path = directory.path().join("drops");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let mut host = Host::new(library.transport_to_changer().unwrap());
    host.wait_until_ready();
    assert_eq!(host.none(move_it), Err(check(4, 0x1501)));
    assert_eq!(host.none(move_it), Err(check(5, 0x3b0e)));
    library.import(0, "TW0001").unwrap();
}

#[test]
fn a_drive_that_wants_cleaning_says_so_in_sense_and_tape_alert() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        cleaning_after_m: Some(0.0),
        ..Faults::none()
    };
    let mut spec = LibrarySpec::one_drive("lto8", 1);
    spec.faults = faults;
    spec.cartridges.push(CartridgeSpec {
        barcode: "CLN001".to_owned(),
        ..spec.cartridges[0].clone()
    });
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    library.load_cartridge("TW0001").unwrap();
    let mut host = Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    host.write(&[0; 100_000]).unwrap();
    host.rewind();
    let sense = host.input([0x03, 0, 0, 0, 96, 0], 96).unwrap();
    assert_eq!(sense[21] & 0x08, 0x08);
    assert_eq!(sense[12..14], [0x00, 0x17]);
    let page = host
        .input([0x4d, 0, 0x6e, 0, 0, 0, 0, 4, 0, 0], 1024)
        .unwrap();
    let flag = &page[4 + 19 * 5..][..5];
    assert_eq!(flag, [0, 20, 3, 1, 1]);

    host.unload().unwrap();
    library.take_out("TW0001").unwrap();
    library.load_cartridge("CLN001").unwrap();
    assert_eq!(host.none([0; 6]), Err(check(2, 0x3003)));
    assert_eq!(host.unload(), Err(check(2, 0x3003)));
    host.transport.wait(Duration::from_secs(300));
    assert_eq!(host.none([0; 6]), Err(check(2, 0x0402)));
    let sense = host.input([0x03, 0, 0, 0, 96, 0], 96).unwrap();
    assert_eq!(sense[21] & 0x08, 0);
    library.take_out("CLN001").unwrap();
}

#[test]
fn a_fault_that_means_nothing_is_refused_with_key_value_and_what_is_allowed() {
    let none = Faults::none;
    let barcode = "the barcode of a [[cartridge]]";
    let chance = "a number from 0 to 1";
    let seconds = "a number of seconds from 0";
    let cases: [(Faults, &str, &str); 11] = [
        (
            Faults {
                bad_block: 2.5,
                ..none()
            },
            "bad_block = 2.5",
            chance,
        ),
        (
            Faults {
                reset: -1.0,
                ..none()
            },
            "reset = -1.0",
            chance,
        ),
        (
            Faults {
                attention: f64::NAN,
                ..none()
            },
            "attention = NaN",
            chance,
        ),
        (
            Faults {
                not_ready_s: -3.0,
                ..none()
            },
            "not_ready_s = -3.0",
            seconds,
        ),
        (
            Faults {
                slow_load_s: f64::INFINITY,
                ..none()
            },
            "slow_load_s = inf",
            seconds,
        ),
        (
            Faults {
                cleaning_after_m: Some(-1.0),
                ..none()
            },
            "cleaning_after_m = -1.0",
            "metres from 0",
        ),
        (
            Faults {
                adapter_bytes: Some(0),
                ..none()
            },
            "adapter_bytes = 0",
            "above 0",
        ),
        (
            Faults {
                worm: vec!["TW0009".to_owned()],
                ..none()
            },
            "worm = \"TW0009\"",
            barcode,
        ),
        (
            Faults {
                write_protected: vec![String::new()],
                ..none()
            },
            "write_protected = \"\"",
            barcode,
        ),
        (
            Faults {
                reserved_by: Some("xyz".to_owned()),
                ..none()
            },
            "reserved_by = \"xyz\"",
            "hexadecimal",
        ),
        (
            Faults {
                reserved_drive: Some("A".to_owned()),
                ..none()
            },
            "reserved_drive = \"A\"",
            "serial number of a [[drive]]",
        ),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("library");
    for (faults, value, allowed) in cases {
        let mut spec = LibrarySpec::one_drive("lto8", 1);
        spec.faults = faults;
        let refused = Library::create(&path, &spec, Clock::virtual_time());
        let refused = refused.err().expect(value).to_string();
        for words in ["faults: ", value, allowed] {
            assert!(refused.contains(words), "{words:?} not in {refused:?}");
        }
        assert!(!path.exists());
    }
}
