//! A library under continuous mounting.

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_emulator::{Clock, Element, Faults, Library, LibrarySpec};
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::Pace;
use tapewise_library::stress::{SlottedCartridge, Spread, Tally, Terms, Tested, stress};
use tapewise_model::Micros;
use tapewise_run::{Log, RunError};
use tapewise_scsi::{Changer, TapeDrive};

const DRIVES: u16 = 4;
const CARTRIDGES: u16 = 12;

/// Runs the test on a new emulated library.
fn run(
    in_flight: usize,
    seed: u64,
    faults: Faults,
    log: &mut (dyn Log + Send),
    stop: &AtomicBool,
) -> Result<Tally, RunError> {
    let directory = tempfile::tempdir().unwrap();
    let spec = LibrarySpec {
        faults,
        ..LibrarySpec::with_robot("ibm3584", "lto1", DRIVES, 281, CARTRIDGES, 1)
    };
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time())
        .unwrap()
        .apart();
    let mut changer = Changer::open(Box::new(library.transport_to_changer().unwrap())).unwrap();
    changer.wait_until_ready(Duration::from_secs(1)).unwrap();
    let address = |element| library.elements().address(element);
    let tested = |number: u16| {
        let transport = library.transport_to_drive(usize::from(number)).unwrap();
        Tested {
            drive: TapeDrive::open(Box::new(transport)).unwrap(),
            element: address(Element::Drive(number)),
        }
    };
    let mut drives: Vec<Tested> = (0..DRIVES).map(tested).collect();
    let cartridges: Vec<SlottedCartridge> = (0..CARTRIDGES)
        .map(|slot| SlottedCartridge {
            label: format!("TW{:04}", slot + 1),
            slot: address(Element::Slot(slot)),
        })
        .collect();
    let terms = Terms {
        in_flight,
        limit: Duration::from_secs(2 * 3600),
        seed,
    };
    stress(
        &mut changer,
        &mut drives,
        &cartridges,
        terms,
        Pace::Turns,
        log,
        stop,
    )
}

fn clean(in_flight: usize, seed: u64) -> (Tally, Vec<Event>) {
    let mut log = Vec::new();
    let tally = run(
        in_flight,
        seed,
        Faults::none(),
        &mut log,
        &AtomicBool::new(false),
    )
    .unwrap();
    (tally, log)
}

#[test]
fn every_mount_is_dismounted_and_every_cartridge_ends_in_its_slot() {
    for in_flight in [1, 2, 4] {
        let (tally, log) = clean(in_flight, 1);
        assert_eq!(tally.mounts.len(), tally.unmounts.len());
        assert_eq!(tally.failures, []);
        assert_eq!(tally.left, Vec::<String>::new());
        for action in [
            Action::Fetch,
            Action::Mount,
            Action::Unmount,
            Action::Return,
        ] {
            let count = log.iter().filter(|event| event.action == action).count();
            assert_eq!(count, tally.mounts.len(), "{action:?}");
        }
    }
}

#[test]
fn one_cycle_takes_what_the_library_and_the_drive_of_the_paper_take() {
    let (tally, _) = clean(1, 1);
    let mount = Spread::of(&tally.mounts).unwrap().mean.as_secs_f64();
    let unmount = Spread::of(&tally.unmounts).unwrap().mean.as_secs_f64();
    // The paper's ranges of times; a poll more.
    assert!((25.0..30.2).contains(&mount), "{mount}");
    assert!((27.0..32.2).contains(&unmount), "{unmount}");
}

#[test]
fn more_cycles_in_flight_give_more_mounts_until_the_robot_is_busy_all_the_time() {
    let [(one, log), (two, _), (four, busy)] = [1, 2, 4].map(|in_flight| clean(in_flight, 1));
    let [one_rate, two_rate, four_rate] = [&one, &two, &four].map(Tally::per_hour);
    assert!(one_rate < two_rate && two_rate < four_rate);
    // Two cycles keep out of each other's way, or meet at the robot every time, where each waits for the other's return.
    let moves_s = |log: &[Event], wanted: &[Action]| -> f64 {
        let moves = log.iter().filter(|event| wanted.contains(&event.action));
        moves.map(|event| event.took_us.as_secs_f64()).sum()
    };
    let return_s = moves_s(&log, &[Action::Return]) / one.unmounts.len() as f64;
    let meeting = 2.0 * 3600.0 / (3600.0 / one_rate + return_s);
    assert!(
        two_rate > 0.96 * meeting && two_rate < 2.02 * one_rate,
        "{two_rate}"
    );
    // Four keep it busy; drives load and unload while it moves.
    let share = moves_s(&busy, &[Action::Fetch, Action::Return]) / four.took.as_secs_f64();
    assert!((0.96..=1.0).contains(&share), "{share}");
}

#[test]
fn the_same_seed_gives_the_same_moves_and_another_one_others() {
    assert_eq!(clean(2, 7), clean(2, 7));
    assert_ne!(clean(2, 7).1, clean(2, 8).1);
}

#[test]
fn a_robot_that_fails_is_counted_and_what_it_lost_is_named() {
    let faults = Faults {
        seed: 4,
        robot_error: 0.05,
        dropped: 0.3,
        ..Faults::none()
    };
    let mut log: Vec<Event> = Vec::new();
    let tally = run(2, 1, faults, &mut log, &AtomicBool::new(false)).unwrap();
    assert!(!tally.failures.is_empty() && !tally.left.is_empty());
    let failed = tally.failures.iter().map(|failure| failure.label.as_str());
    let failed: Vec<&str> = failed.collect();
    assert!(
        tally
            .left
            .iter()
            .all(|label| failed.contains(&label.as_str()))
    );
    assert!(
        tally.mounts.len() > 20,
        "the rest goes on: {}",
        tally.mounts.len()
    );
}

/// A log that asks to stop at the third mount.
struct StopAt<'a> {
    mounts: usize,
    stop: &'a AtomicBool,
}

impl Log for StopAt<'_> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.mounts += usize::from(event.action == Action::Mount);
        self.stop
            .store(self.mounts >= 3, std::sync::atomic::Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn whoever_stops_it_finds_every_cartridge_back_in_its_slot() {
    let stop = AtomicBool::new(false);
    let mut log = StopAt {
        mounts: 0,
        stop: &stop,
    };
    let tally = run(4, 1, Faults::none(), &mut log, &stop).unwrap();
    assert!(tally.interrupted);
    assert!(
        (3..=6).contains(&tally.mounts.len()),
        "{}",
        tally.mounts.len()
    );
    assert_eq!(tally.left, Vec::<String>::new());
}

#[test]
fn more_cycles_than_drives_are_refused() {
    let done = run(
        5,
        1,
        Faults::none(),
        &mut Vec::new(),
        &AtomicBool::new(false),
    );
    assert!(matches!(done, Err(RunError::Unsuitable(_))));
}

#[test]
fn a_spread_is_of_the_times_as_they_are() {
    let times: Vec<Micros> = (1..=101).rev().map(Micros).collect();
    let spread = Spread::of(&times).unwrap();
    assert_eq!(spread.mean, Micros(51));
    assert_eq!(spread.percentiles, [6, 51, 96, 101].map(Micros));
    assert_eq!(Spread::of(&[]), None);
}
