//! Which drive a volume is mounted in, and where every cartridge is afterwards.

use crate::pool_bench;

use pool_bench::{Bench, home, label, spec};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::{Pool, PoolError, Said, Whereabouts};
use tapewise_model::Random;
use tapewise_scsi::commands::{PersistentReserveOut, ReservationType};
use tapewise_scsi::{Changer, Command, TapeDrive};

#[test]
fn after_any_mounts_every_cartridge_is_in_one_place_and_in_the_end_in_its_own_slot() {
    let mut bench = Bench::new(&spec(4, 20));
    let mut random = Random::new(7, 0);
    for _ in 0..120 {
        let volume = label(random.below(20) as u16 + 1);
        match bench.mount(&volume) {
            Ok(index) => {
                assert_eq!(
                    bench.pool.volumes()[&volume],
                    Whereabouts::Drive(index),
                    "the pool knows where it put {volume}"
                );
                // Most are given back at once, so that all four drives are rarely in use.
                match random.below(4) {
                    0 => {}
                    1 => bench.dismount(index),
                    _ => bench.pool.release(index),
                }
            }
            Err(PoolError::InUse { .. } | PoolError::AllBusy { .. }) => {
                let busy = random.below(4) as usize;
                bench.pool.release(busy);
            }
            Err(error) => panic!("{error}"),
        }
        let shelves = bench.shelves();
        assert_eq!(shelves.len(), 20);
        assert!(shelves.values().all(|places| places.len() == 1));
    }
    (0..4).for_each(|index| bench.dismount(index));
    for (number, places) in (1..=20).zip(bench.shelves().values()) {
        assert_eq!(places, &[home(number)]);
    }
}

#[test]
fn every_move_is_logged_with_its_drive_its_cartridge_and_the_time_on_one_clock() {
    let mut bench = Bench::new(&spec(2, 4));
    for number in [1, 2, 3, 1] {
        let index = bench.mount(&label(number)).unwrap();
        bench.pool.release(index);
    }
    (0..2).for_each(|index| bench.dismount(index));
    use Action::{Fetch, Mount, Return, Unmount};
    // The fourth mount needs the drive of the second volume: the first one's was taken by the third.
    let expected: Vec<(Action, String)> = [
        (Fetch, 1),
        (Mount, 1),
        (Fetch, 2),
        (Mount, 2),
        (Unmount, 1),
        (Return, 1),
        (Fetch, 3),
        (Mount, 3),
        (Unmount, 2),
        (Return, 2),
        (Fetch, 1),
        (Mount, 1),
        (Unmount, 3),
        (Return, 3),
        (Unmount, 1),
        (Return, 1),
    ]
    .map(|(action, number)| (action, label(number)))
    .to_vec();
    let logged: Vec<(Action, String)> = bench
        .log
        .iter()
        .map(|event| (event.action, event.cartridge.clone().unwrap()))
        .collect();
    assert_eq!(logged, expected);
    assert!(bench.log.iter().all(|event| event.device.is_some()));
    let ends = bench.log.iter().map(|event| event.at_us + event.took_us);
    for (event, end_before) in bench.log.iter().skip(1).zip(ends) {
        assert!(event.at_us >= end_before, "{event:?} before {end_before:?}");
    }
}

#[test]
fn a_volume_that_is_mounted_is_used_where_it_is() {
    let mut bench = Bench::new(&spec(2, 4));
    let first = bench.mount("TW0001").unwrap();
    bench.pool.release(first);
    let moves = bench.log.len();
    assert_eq!(bench.mount("TW0001").unwrap(), first);
    let later = &bench.log[moves..];
    assert!(later.iter().all(|event| event.action == Action::Mount));
    assert!(matches!(
        bench.mount("TW0001"),
        Err(PoolError::InUse { .. })
    ));
}

#[test]
fn the_drive_that_was_idle_for_longest_gives_its_cartridge_up() {
    let mut bench = Bench::new(&spec(2, 4));
    let first = bench.mount("TW0001").unwrap();
    let second = bench.mount("TW0002").unwrap();
    bench.pool.release(second);
    bench.pool.drive(first).wait(Duration::from_secs(60));
    bench.pool.release(first);
    assert_eq!(bench.mount("TW0003").unwrap(), second);
    assert_eq!(bench.shelves()["TW0002"], [home(2)]);
    // Both are in use, or the other one would be taken.
    assert_eq!(bench.mount("TW0004").unwrap(), first);
    assert!(matches!(
        bench.mount("TW0001"),
        Err(PoolError::AllBusy { .. })
    ));
}

#[test]
fn a_drive_of_another_library_is_refused() {
    let here = Bench::new(&spec(1, 1));
    let mut other = spec(1, 1);
    other.drives[0].serial = "ELSEWHERE".to_owned();
    let there = Bench::new(&other);
    let drive = there.library.transport_to_drive(0).unwrap();
    let robot = here.library.transport_to_changer().unwrap();
    let pool = Pool::new(
        vec![TapeDrive::open(Box::new(drive)).unwrap()],
        vec![Changer::open(Box::new(robot)).unwrap()],
        None,
        Box::new(|_| {}),
    );
    let error = pool.err().expect("refused");
    assert!(matches!(error, PoolError::NotInLibrary { .. }), "{error}");
    assert!(error.to_string().contains("TWD0000001"), "{error}");
}

#[test]
fn the_same_drive_by_two_paths_is_refused() {
    let here = Bench::new(&spec(2, 1));
    let path = || {
        let transport = here.library.transport_to_drive(1).unwrap();
        TapeDrive::open(Box::new(transport)).unwrap()
    };
    let robot = here.library.transport_to_changer().unwrap();
    let robots = vec![Changer::open(Box::new(robot)).unwrap()];
    let pool = Pool::new(vec![path(), path()], robots, None, Box::new(|_| {}));
    assert!(matches!(pool.err(), Some(PoolError::Twice { .. })));
}

#[test]
fn a_drive_that_another_initiator_has_reserved_is_left_alone_until_it_is_released() {
    let mut bench = Bench::new(&spec(2, 4));
    let mut theirs = bench.library.transport_to_drive(0).unwrap();
    let mut send = |command: PersistentReserveOut| {
        // The first command of a new initiator meets unit attentions.
        while command.send(&mut theirs).is_err() {}
    };
    send(PersistentReserveOut::register(0x77));
    send(PersistentReserveOut::reserve(
        0x77,
        ReservationType::ExclusiveAccess,
    ));
    assert_eq!(bench.mount("TW0001").unwrap(), 1);
    assert!(bench.has_said("is left alone"));
    assert_eq!(bench.pool.status()[0].set_aside, None);
    let error = bench.mount("TW0002").unwrap_err();
    assert!(matches!(error, PoolError::AllBusy { .. }), "{error}");
    bench.pool.release(1);
    send(PersistentReserveOut::release(
        0x77,
        ReservationType::ExclusiveAccess,
    ));
    assert_eq!(bench.mount("TW0002").unwrap(), 0);
}

#[test]
fn whoever_listens_is_told_which_cartridge_the_robot_takes() {
    let here = Bench::new(&spec(1, 2));
    let drive = here.library.transport_to_drive(0).unwrap();
    let drive = TapeDrive::open(Box::new(drive)).unwrap();
    let robot = here.library.transport_to_changer().unwrap();
    let robot = Changer::open(Box::new(robot)).unwrap();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let hears = Arc::clone(&told);
    let listener = Box::new(move |Said { words, volume }: Said<'_>| {
        let volume = volume.unwrap_or("nothing");
        hears.lock().unwrap().push(format!("of {volume}: {words}"));
    });
    let mut pool = Pool::new(vec![drive], vec![robot], None, listener).unwrap();
    let mut log: Vec<Event> = Vec::new();
    let index = pool.mount("TW0002", &mut log).unwrap();
    pool.dismount(index, &mut log).unwrap();
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 2, "{told:?}");
    for line in told.iter() {
        assert!(
            line.starts_with("of TW0002: the robot takes TW0002 "),
            "{line}"
        );
    }
}
