//! Drives, robots and cartridges that fail: the work goes on elsewhere.

use crate::pool_bench;

use pool_bench::{Bench, home, label, spec};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_emulator::{Element, Faults, LibrarySpec};
use tapewise_library::pool::{Pace, PoolError, Whereabouts};
use tapewise_scsi::{Changer, TapeDrive};

#[test]
fn a_drive_whose_path_is_lost_is_set_aside_and_its_cartridge_read_elsewhere() {
    let mut bench = Bench::new(&spec(2, 4));
    let first = bench.mount("TW0001").unwrap();
    bench.cut[first].store(true, Ordering::SeqCst);
    bench
        .pool
        .set_aside(first, "the cable is out", &mut bench.log);
    assert!(bench.has_said("is set aside: the cable is out"));
    // The library unloads it.
    let other = bench.mount("TW0001").unwrap();
    assert_ne!(other, first);
    let status = bench.pool.status();
    assert_eq!(status[first].set_aside.as_deref(), Some("the cable is out"));
    assert_eq!(status[first].volume, None);
    bench.pool.release(other);
    for number in 2..=4 {
        assert_eq!(bench.mount(&label(number)).unwrap(), other);
        bench.pool.release(other);
    }
}

#[test]
fn a_mount_goes_on_in_another_drive_when_the_first_one_fails() {
    let mut bench = Bench::new(&spec(2, 2));
    bench.cut[0].store(true, Ordering::SeqCst);
    assert_eq!(bench.mount("TW0001").unwrap(), 1);
    let why = bench.pool.status()[0].set_aside.clone().unwrap();
    assert!(why.contains("the cable is out"), "{why}");
    bench.pool.release(1);
    bench.cut[1].store(true, Ordering::SeqCst);
    let error = bench.mount("TW0002").unwrap_err();
    assert!(
        matches!(
            error,
            PoolError::DriveFailed { .. } | PoolError::NoDriveLeft { .. }
        ),
        "{error}"
    );
}

#[test]
fn a_volume_in_a_failed_drive_that_keeps_it_is_said_to_be_there() {
    let mut bench = Bench::new(&spec(2, 4));
    let index = bench.mount("TW0001").unwrap();
    // Somebody else prevents that the cartridge is taken.
    let theirs = bench.library.transport_to_drive(index).unwrap();
    let mut theirs = TapeDrive::open(Box::new(theirs)).unwrap();
    theirs.wait_until_ready(Duration::from_secs(1)).unwrap();
    theirs.prevent_removal(true).unwrap();
    bench.cut[index].store(true, Ordering::SeqCst);
    bench.pool.set_aside(index, "no answer", &mut bench.log);
    assert!(bench.has_said("holds TW0001"));
    let error = bench.mount("TW0001").unwrap_err();
    assert!(
        matches!(error, PoolError::HeldByFailedDrive { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("no answer"), "{error}");
    assert_ne!(bench.mount("TW0002").unwrap(), index);
}

#[test]
fn a_cartridge_that_the_library_does_not_take_is_no_fault_of_the_robot() {
    let mut bench = Bench::new(&spec(1, 2));
    let cartridges = bench.directory.path().join("library/cartridges");
    std::fs::remove_dir_all(cartridges.join("TW0001")).unwrap();
    let error = bench.mount("TW0001").unwrap_err();
    let said = error.to_string();
    assert!(said.contains("drive 257 cannot use TW0001"), "{said}");
    assert_eq!(bench.shelves()["TW0001"], [home(1)]);
    assert_eq!(bench.mount("TW0002").unwrap(), 0);
}

#[test]
fn what_a_drive_that_does_not_give_out_its_cartridge_cannot_take_goes_into_another() {
    let mut bench = Bench::new(&spec(2, 6));
    let drive = bench.mount("TW0001").unwrap();
    bench.pool.release(drive);
    bench
        .jammed
        .store(bench.shelves()["TW0001"][0], Ordering::SeqCst);
    let volumes: Vec<String> = (2..=6).map(label).collect();
    let stop = AtomicBool::new(false);
    let done = bench
        .pool
        .work(&volumes, Pace::Turns, &mut bench.log, &stop, &|_, _, _| {
            Ok(())
        });
    for (volume, done) in volumes.iter().zip(done) {
        done.unwrap_or_else(|error| panic!("{volume}: {error}"));
    }
    let status = bench.pool.status();
    let why = status[drive].set_aside.as_deref().unwrap();
    assert!(why.contains("it does not give out TW0001"), "{why}");
    assert_eq!(status[drive].volume.as_deref(), Some("TW0001"));
}

#[test]
fn a_robot_that_moves_nothing_is_no_fault_of_the_drives() {
    let mut bench = Bench::new(&LibrarySpec {
        faults: Faults {
            robot_error: 1.0,
            ..Faults::none()
        },
        ..spec(2, 2)
    });
    let error = bench.mount("TW0001").unwrap_err();
    assert!(matches!(error, PoolError::Robot { .. }), "{error}");
    assert!(error.to_string().contains("it is in slot 1025"), "{error}");
    assert_eq!(bench.shelves()["TW0001"], [home(1)]);
    assert!(
        bench
            .pool
            .status()
            .iter()
            .all(|drive| drive.set_aside.is_none())
    );
}

#[test]
fn a_cartridge_that_the_robot_dropped_is_missing_and_the_others_are_mounted() {
    let mut bench = Bench::new(&LibrarySpec {
        faults: Faults {
            seed: 3,
            robot_error: 0.15,
            dropped: 1.0,
            ..Faults::none()
        },
        ..spec(4, 20)
    });
    let mut mounted = 0;
    let mut lost = Vec::new();
    for number in 1..=20 {
        match bench.mount(&label(number)) {
            Ok(index) => {
                mounted += 1;
                bench.pool.release(index);
            }
            Err(error @ PoolError::Missing { .. }) => {
                lost.push(label(number));
                let text = error.to_string();
                assert!(
                    text.contains(&format!("last seen in slot {}", home(number))),
                    "{text}"
                );
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(mounted > 0 && !lost.is_empty());
    let on_shelves = bench.shelves();
    let volumes = bench.pool.volumes();
    for number in 1..=20 {
        let volume = label(number);
        let is_missing = matches!(volumes[&volume], Whereabouts::Missing(_));
        assert_eq!(is_missing, !on_shelves.contains_key(&volume), "{volume}");
    }
    // A person finds it and puts it into the station.
    let found = &lost[0];
    bench.library.import(0, found).unwrap();
    loop {
        match bench.pool.import() {
            Ok(labels) => {
                assert_eq!(&labels, std::slice::from_ref(found));
                break;
            }
            // It may be dropped once more.
            Err(PoolError::Missing { .. }) => bench.library.import(0, found).unwrap(),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(matches!(
        bench.pool.volumes()[found],
        Whereabouts::Element(_)
    ));
}

#[test]
fn a_move_that_failed_once_is_repeated() {
    let mut bench = Bench::new(&LibrarySpec {
        faults: Faults {
            seed: 5,
            robot_error: 0.3,
            ..Faults::none()
        },
        ..spec(2, 10)
    });
    let mut failed = 0;
    for number in 1..=10 {
        let index = loop {
            match bench.mount(&label(number)) {
                Ok(index) => break index,
                // Twice in a row.
                Err(PoolError::Robot { .. }) => failed += 1,
                Err(error) => panic!("{error}"),
            }
        };
        bench.pool.release(index);
    }
    let said = bench.said.lock().unwrap();
    let repeated = said.iter().filter(|line| line.ends_with("once more"));
    assert!(repeated.count() > failed);
    drop(said);
    assert_eq!(bench.shelves().len(), 10);
}

/// Another host's command to the robot may come late, when its network is there again.
#[test]
fn a_cartridge_that_another_host_takes_out_while_it_is_loaded_is_no_fault_of_the_drive() {
    for after in 0..3 {
        let mut bench = Bench::new(&spec(1, 2));
        let theirs = bench.library.transport_to_changer().unwrap();
        let mut theirs = Changer::open(Box::new(theirs)).unwrap();
        theirs.wait_until_ready(Duration::from_secs(1)).unwrap();
        let drive = bench.library.elements().address(Element::Drive(0));
        let take_out = move || theirs.move_medium(drive, home(1)).is_ok();
        *bench.meanwhile.lock().unwrap() = Some((after, Box::new(take_out)));
        let error = bench.mount("TW0001").unwrap_err();
        let place = format!("slot {}", home(1));
        assert!(
            matches!(&error, PoolError::TakenOut { place: at, .. } if *at == place),
            "{error}"
        );
        let status = bench.pool.status().remove(0);
        assert_eq!((status.volume, status.set_aside), (None, None));
        assert!(bench.pool.drive(0).now() < Duration::from_secs(300));
        assert_eq!(bench.mount("TW0001").unwrap(), 0);
    }
}

#[test]
fn a_cartridge_that_another_host_has_put_into_a_drive_meanwhile_is_elsewhere() {
    let mut bench = Bench::new(&spec(2, 3));
    let theirs = bench.library.transport_to_changer().unwrap();
    let mut theirs = Changer::open(Box::new(theirs)).unwrap();
    theirs.wait_until_ready(Duration::from_secs(1)).unwrap();
    let drive = bench.library.elements().address(Element::Drive(1));
    theirs.move_medium(home(2), drive).unwrap();
    let error = bench.mount("TW0002").unwrap_err();
    assert!(
        matches!(&error, PoolError::Elsewhere { volume, .. } if volume == "TW0002"),
        "{error}"
    );
    assert_eq!(bench.mount("TW0001").unwrap(), 0);
}
