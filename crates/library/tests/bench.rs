//! Gniewek's benchmark on an emulated library whose devices run apart.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_emulator::{Clock, Element, Faults, Library, LibrarySpec};
use tapewise_formats::bench_csv::{Retrieval, Stocked};
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_library::bench::pattern::{self, pattern};
use tapewise_library::bench::{Shelved, Tally, bench, number_of, prepare};
use tapewise_library::pool::Pace;
use tapewise_library::stress::{SlottedCartridge, Tested};
use tapewise_model::Micros;
use tapewise_run::Log;
use tapewise_scsi::{Changer, TapeDrive};
use tempfile::TempDir;

const CARTRIDGES: u16 = 5;
const OBJECTS: u64 = 40;
/// What stands for 5 GB on 40 objects at the scale below.
const OBJECT_BYTES: u32 = 119;

/// A library on disk whose cartridges are filled.
fn prepared() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = LibrarySpec::with_robot("ibm3575-l18", "ibm3570c", 6, 180, CARTRIDGES, 1);
    for cartridge in &mut spec.cartridges {
        cartridge.scale = 1_000_000;
    }
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let (mut changer, mut drives) = open(&library, 1);
    for cartridge in cartridges(&library) {
        let terms = prepare::Terms {
            object_bytes: OBJECT_BYTES as usize,
            most: OBJECTS,
            overwrite: false,
            seed: 1,
        };
        let mut log: Vec<Event> = Vec::new();
        let never = AtomicBool::new(false);
        let mut fill = || {
            let progress = &mut |_| {};
            let drive = &mut drives[0];
            prepare::prepare(
                &mut changer,
                drive,
                &cartridge,
                terms,
                &mut log,
                &never,
                progress,
            )
        };
        assert_eq!(fill().unwrap(), OBJECTS);
        let again = fill().unwrap_err().to_string();
        assert!(again.contains("40 blocks"), "{again}");
    }
    directory
}

fn open(library: &Library, drives: u16) -> (Changer, Vec<Tested>) {
    let mut changer = Changer::open(Box::new(library.transport_to_changer().unwrap())).unwrap();
    changer.wait_until_ready(Duration::from_secs(1)).unwrap();
    let tested = |number: u16| Tested {
        drive: TapeDrive::open(Box::new(
            library.transport_to_drive(usize::from(number)).unwrap(),
        ))
        .unwrap(),
        element: library.elements().address(Element::Drive(number)),
    };
    let drives = (0..drives).map(tested).collect();
    (changer, drives)
}

fn cartridges(library: &Library) -> Vec<SlottedCartridge> {
    let cartridge = |slot: u16| SlottedCartridge {
        label: format!("TW{:04}", slot + 1),
        slot: library.elements().address(Element::Slot(slot)),
    };
    (0..CARTRIDGES).map(cartridge).collect()
}

fn shelved(library: &Library) -> Vec<Shelved> {
    let stocked = |(number, one): (u32, SlottedCartridge)| Shelved {
        stocked: Stocked {
            number,
            label: one.label,
            objects: OBJECTS,
            object_bytes: OBJECT_BYTES,
        },
        slot: one.slot,
    };
    (1..).zip(cartridges(library)).map(stocked).collect()
}

fn requests(per_hour: f64, requests: u64) -> Vec<Retrieval> {
    pattern(pattern::Terms {
        per_hour,
        requests,
        cartridges: u32::from(CARTRIDGES),
        seed: 1,
    })
}

/// Runs a pattern on a prepared library, each time as it was prepared.
fn run(
    directory: &TempDir,
    drives: u16,
    pattern: &[Retrieval],
    log: &mut (dyn Log + Send),
    stop: &AtomicBool,
) -> Tally {
    let path = directory.path().join("library");
    let library = Library::open(&path, Clock::virtual_time()).unwrap().apart();
    let (mut changer, mut drives) = open(&library, drives);
    let shelved = shelved(&library);
    let pace = Pace::Turns;
    bench(
        &mut changer,
        &mut drives,
        &shelved,
        pattern,
        pace,
        log,
        stop,
    )
    .unwrap()
}

fn clean(drives: u16, pattern: &[Retrieval]) -> (Tally, Vec<Event>) {
    let mut log: Vec<Event> = Vec::new();
    let tally = run(
        &prepared(),
        drives,
        pattern,
        &mut log,
        &AtomicBool::new(false),
    );
    (tally, log)
}

/// From arrival to the end of the read, by number.
fn responses(pattern: &[Retrieval], log: &[Event]) -> Vec<f64> {
    let reads = log.iter().filter(|event| event.action == Action::Read);
    let response = |event: &Event| {
        let number = number_of(event.purpose.as_ref().unwrap()).unwrap();
        let asked = pattern[number as usize - 1].at;
        (event.at_us + event.took_us - asked).as_secs_f64()
    };
    reads.map(response).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn every_retrieval_is_answered_and_every_cartridge_ends_in_its_slot() {
    let pattern = requests(150.0, 60);
    let (tally, log) = clean(3, &pattern);
    let whole = Tally {
        answered: 60,
        ..Tally::default()
    };
    assert_eq!(tally, whole);
    for number in 1..=60 {
        let of = |event: &&Event| number_of(event.purpose.as_ref().unwrap()) == Some(number);
        let steps: Vec<Action> = log.iter().filter(of).map(|event| event.action).collect();
        let order = [
            Action::Fetch,
            Action::Mount,
            Action::Locate,
            Action::Read,
            Action::Rewind,
            Action::Unmount,
            Action::Return,
        ];
        assert_eq!(steps, order, "request {number}");
    }
}

#[test]
fn the_same_pattern_on_the_same_library_gives_the_same_events() {
    let pattern = requests(200.0, 40);
    assert_eq!(clean(4, &pattern), clean(4, &pattern));
}

#[test]
fn drives_work_at_the_same_time_and_the_robot_carries_one_cartridge() {
    let pattern = requests(250.0, 80);
    let (_, log) = clean(6, &pattern);
    let during = |one: &Event, other: &Event| {
        one.at_us < other.at_us + other.took_us && other.at_us < one.at_us + one.took_us
    };
    let is_robots = |event: &&Event| matches!(event.action, Action::Fetch | Action::Return);
    let moves: Vec<&Event> = log.iter().filter(is_robots).collect();
    for (place, one) in moves.iter().enumerate() {
        let met = moves[place + 1..].iter().find(|other| during(one, other));
        assert_eq!(met, None, "{one:?}");
    }
    let rewinds = log.iter().filter(|event| event.action == Action::Rewind);
    let is_beside = |rewind: &&Event| moves.iter().any(|one| during(one, rewind));
    assert!(rewinds.filter(is_beside).count() > 10);
    // Of one drive no two steps overlap.
    for (place, one) in log.iter().enumerate() {
        let same = |other: &&Event| other.device == one.device && during(one, other);
        assert_eq!(log[place + 1..].iter().find(same), None, "{one:?}");
    }
}

#[test]
fn without_load_a_response_is_fetch_mount_locate_and_read() {
    let pattern = requests(4.0, 12);
    let (_, log) = clean(2, &pattern);
    let sum: f64 = log
        .iter()
        .filter(|event| {
            let action = event.action;
            matches!(
                action,
                Action::Fetch | Action::Mount | Action::Locate | Action::Read
            )
        })
        .map(|event| event.took_us.as_secs_f64())
        .sum();
    let responses = responses(&pattern, &log);
    assert!((mean(&responses) - sum / 12.0).abs() < 1e-3);
    // A fetch of 5 s and a mount of 7.5 s are the profile's.
    assert!(responses.iter().all(|&s| s > 12.0), "{responses:?}");
}

#[test]
fn more_requests_wait_longer_and_more_drives_shorter() {
    let of = |per_hour, drives| {
        let pattern = requests(per_hour, 60);
        mean(&responses(&pattern, &clean(drives, &pattern).1))
    };
    let (slow, fast, few) = (of(50.0, 4), of(250.0, 4), of(150.0, 2));
    assert!(slow < fast && of(150.0, 4) < few, "{slow} {fast} {few}");
}

/// A log that asks to stop at the third read.
struct StopAt<'a> {
    events: Vec<Event>,
    stop: &'a AtomicBool,
}

impl Log for StopAt<'_> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.events.push(event.clone());
        let reads = self.events.iter().filter(|one| one.action == Action::Read);
        self.stop.store(reads.count() >= 3, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn whoever_stops_it_keeps_what_was_answered_and_finds_every_cartridge_in_its_slot() {
    let stop = AtomicBool::new(false);
    let mut log = StopAt {
        events: Vec::new(),
        stop: &stop,
    };
    let tally = run(&prepared(), 3, &requests(250.0, 60), &mut log, &stop);
    assert!(tally.interrupted);
    assert!((3..=6).contains(&tally.answered), "{}", tally.answered);
    assert_eq!(tally.left, Vec::<String>::new());
    let reads = log.events.iter().filter(|one| one.action == Action::Read);
    assert_eq!(reads.count() as u64, tally.answered);
}

#[test]
fn an_object_that_is_not_there_is_counted_and_the_others_are_answered() {
    let directory = prepared();
    let path = directory.path().join("library");
    let library = Library::open(&path, Clock::virtual_time()).unwrap().apart();
    let (mut changer, mut drives) = open(&library, 2);
    let mut shelved = shelved(&library);
    shelved[1].stocked.object_bytes += 1;
    shelved[2].stocked.objects *= 2;
    let pattern = [(1, 1, 50), (2, 2, 50), (3, 3, 100), (4, 4, 50)];
    let pattern = pattern.map(|(number, cartridge, location)| Retrieval {
        number,
        at: Micros::ZERO,
        cartridge,
        location,
    });
    let mut log: Vec<Event> = Vec::new();
    let never = AtomicBool::new(false);
    let tally = bench(
        &mut changer,
        &mut drives,
        &shelved,
        &pattern,
        Pace::Turns,
        &mut log,
        &never,
    )
    .unwrap();
    assert_eq!((tally.answered, tally.left.len()), (2, 0));
    let failed: Vec<&str> = tally
        .failures
        .iter()
        .map(|one| one.label.as_str())
        .collect();
    assert_eq!(failed, ["TW0002", "TW0003"]);
    let failed = log.iter().filter(|one| one.outcome == Outcome::Failed);
    assert_eq!(failed.count(), 2);
}

#[test]
fn a_robot_that_loses_cartridges_is_counted_and_the_rest_goes_on() {
    let directory = prepared();
    let path = directory.path().join("library");
    let faults = Faults {
        seed: 4,
        robot_error: 0.05,
        dropped: 0.3,
        ..Faults::none()
    };
    let spec_path = LibrarySpec::path(&path);
    let mut spec = LibrarySpec::read(&path).unwrap();
    spec.faults = faults;
    std::fs::write(spec_path, toml::to_string(&spec).unwrap()).unwrap();
    let pattern = requests(150.0, 60);
    let mut log: Vec<Event> = Vec::new();
    let tally = run(&directory, 6, &pattern, &mut log, &AtomicBool::new(false));
    assert!(
        !tally.failures.is_empty() && !tally.left.is_empty(),
        "{tally:?}"
    );
    assert!(tally.answered > 10, "{tally:?}");
    let failed = |label: &String| tally.failures.iter().any(|one| one.label == *label);
    assert!(tally.left.iter().all(failed), "{tally:?}");
}

#[test]
fn threads_on_a_clock_that_runs_answer_the_same_requests() {
    let directory = prepared();
    let path = directory.path().join("library");
    let library = Library::open(&path, Clock::scaled(500.0)).unwrap();
    let (mut changer, mut drives) = open(&library, 3);
    let shelved = shelved(&library);
    let pattern = requests(400.0, 9);
    let mut log: Vec<Event> = Vec::new();
    let never = AtomicBool::new(false);
    let tally = bench(
        &mut changer,
        &mut drives,
        &shelved,
        &pattern,
        Pace::Threads,
        &mut log,
        &never,
    )
    .unwrap();
    assert_eq!((tally.answered, tally.left.len()), (9, 0));
    assert_eq!(tally.failures, []);
}
