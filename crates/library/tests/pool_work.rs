//! Work on many volumes by all drives of a pool.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;
use tapewise_emulator::{Clock, Element, Library, LibrarySpec};
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::{Fit, Pace, Pool, PoolError, Trouble, Work, WorkError};
use tapewise_model::Micros;
use tapewise_run::{Log, RunError};
use tapewise_scsi::{Changer, ScsiError, TapeDrive, TransportError};
use tempfile::TempDir;

const VOLUMES: u16 = 12;

fn pool(drives: u16) -> (Pool, TempDir) {
    pool_of(drives, false)
}

/// Drives that share a clock, or have times of their own.
fn pool_of(drives: u16, is_apart: bool) -> (Pool, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let spec = LibrarySpec::with_robot("ibm3584", "lto8", drives, 20, VOLUMES, 1);
    let path = directory.path().join("library");
    let mut library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    if is_apart {
        library = library.apart();
    }
    let drive = |number| {
        let transport = library.transport_to_drive(usize::from(number)).unwrap();
        TapeDrive::open(Box::new(transport)).unwrap()
    };
    let drives = (0..drives).map(drive).collect();
    let robot = Changer::open(Box::new(library.transport_to_changer().unwrap())).unwrap();
    let pool = Pool::new(drives, vec![robot], None, Box::new(|_| {})).unwrap();
    (pool, directory)
}

fn volumes() -> Vec<String> {
    (1..=VOLUMES)
        .map(|number| format!("TW{number:04}"))
        .collect()
}

fn lost(drive: &TapeDrive) -> RunError {
    let source = TransportError::Path {
        device: drive.identity().serial.clone().unwrap_or_default(),
        what: "the cable is out".to_owned(),
    };
    RunError::Scsi(ScsiError::transport("READ(6)", source))
}

const PACES: [Pace; 2] = [Pace::Turns, Pace::Threads];

/// Where drives work on threads, none takes a second volume before each has one: else a quick drive may do the work
/// of all before another has begun.
struct Start {
    begun: Mutex<BTreeSet<String>>,
    all: Barrier,
}

impl Start {
    fn of(drives: u16, pace: Pace) -> Start {
        let waiting = match pace {
            Pace::Turns | Pace::Seeded(_) => 1,
            Pace::Threads | Pace::Looking(_) => usize::from(drives),
        };
        Start {
            begun: Mutex::default(),
            all: Barrier::new(waiting),
        }
    }

    fn wait(&self, drive: &TapeDrive) {
        let serial = drive.identity().serial.clone().unwrap();
        if self.begun.lock().unwrap().insert(serial) {
            self.all.wait();
        }
    }
}

#[test]
fn every_volume_is_worked_on_once_by_all_drives_whatever_the_pace() {
    for pace in PACES {
        let (mut pool, _directory) = pool(4);
        let mut log: Vec<Event> = Vec::new();
        let volumes = volumes();
        let start = Start::of(4, pace);
        let times = Mutex::new(vec![0; volumes.len()]);
        let done = pool.work(
            &volumes,
            pace,
            &mut log,
            &AtomicBool::new(false),
            &|number, drive, _| {
                start.wait(drive);
                times.lock().unwrap()[number] += 1;
                Ok(number)
            },
        );
        let done: Vec<usize> = done.into_iter().map(Result::unwrap).collect();
        assert_eq!(done, (0..volumes.len()).collect::<Vec<_>>());
        assert_eq!(*times.lock().unwrap(), vec![1; volumes.len()]);
        let mounts = log.iter().filter(|event| event.action == Action::Mount);
        assert_eq!(mounts.count(), volumes.len());
        assert!(
            pool.status()
                .iter()
                .all(|drive| drive.mounts > 0 && !drive.in_use)
        );
    }
}

#[test]
fn a_volume_goes_into_an_empty_drive_if_there_is_one_whatever_the_pace() {
    for pace in PACES {
        let (mut pool, _directory) = pool(2);
        let mut log: Vec<Event> = Vec::new();
        let first = pool.mount("TW0001", &mut log).unwrap();
        pool.release(first);
        let volumes = ["TW0002".to_owned()];
        let stop = AtomicBool::new(false);
        let done = pool.work(&volumes, pace, &mut log, &stop, &|_, _, _| Ok(()));
        assert!(done.iter().all(Result::is_ok));
        let unloads = log.iter().filter(|event| event.action == Action::Unmount);
        assert_eq!(unloads.count(), 0, "{pace:?}");
        let held: BTreeSet<_> = pool
            .status()
            .into_iter()
            .map(|drive| drive.volume)
            .collect();
        assert_eq!(
            held,
            [1, 2].map(|number| Some(format!("TW000{number}"))).into()
        );
    }
}

#[test]
fn the_work_of_a_drive_that_fails_is_done_again_in_another_one() {
    for pace in PACES {
        let (mut pool, _directory) = pool(3);
        let volumes = volumes();
        let start = Start::of(3, pace);
        let begun = Mutex::new(vec![0; volumes.len()]);
        let mut log: Vec<Event> = Vec::new();
        let stop = AtomicBool::new(false);
        let done = pool.work(&volumes, pace, &mut log, &stop, &|number, drive, _| {
            start.wait(drive);
            begun.lock().unwrap()[number] += 1;
            match drive.identity().serial.as_deref() {
                Some("TWD0000002") => Err(lost(drive).into()),
                _ => Ok(()),
            }
        });
        assert!(done.iter().all(Result::is_ok));
        let twice = begun
            .lock()
            .unwrap()
            .iter()
            .filter(|&&times| times == 2)
            .count();
        assert_eq!(twice, 1, "the drive is set aside after its first failure");
        let status = pool.status();
        let why = status[1].set_aside.clone().unwrap();
        assert!(why.contains("the cable is out"), "{why}");
        assert_eq!(status[1].volume, None);
    }
}

#[test]
fn a_job_that_two_drives_fail_at_is_given_up_and_the_others_are_done() {
    let (mut pool, _directory) = pool(4);
    let volumes = volumes();
    let mut log: Vec<Event> = Vec::new();
    let stop = AtomicBool::new(false);
    let done = pool.work(
        &volumes,
        Pace::Turns,
        &mut log,
        &stop,
        &|number, drive, _| match number {
            5 => Err(lost(drive).into()),
            _ => Ok(()),
        },
    );
    for (number, done) in done.iter().enumerate() {
        assert_eq!(done.is_ok(), number != 5, "{number}: {done:?}");
    }
    let aside = pool
        .status()
        .into_iter()
        .filter(|drive| drive.set_aside.is_some());
    assert_eq!(aside.count(), 2);
}

#[test]
fn without_a_drive_that_works_the_rest_is_said_not_to_be_done() {
    let (mut pool, _directory) = pool(1);
    let mut log: Vec<Event> = Vec::new();
    let stop = AtomicBool::new(false);
    let done = pool.work(&volumes(), Pace::Turns, &mut log, &stop, &|_, drive, _| {
        Err::<(), _>(lost(drive).into())
    });
    assert!(matches!(
        &done[0],
        Err(WorkError::Pool(PoolError::DriveFailed { .. }))
    ));
    assert!(
        done[1..]
            .iter()
            .all(|done| matches!(done, Err(WorkError::Pool(PoolError::NoDriveLeft { .. }))))
    );
}

#[test]
fn an_error_that_is_not_the_drives_and_a_volume_that_is_not_there_end_nothing_else() {
    let (mut pool, _directory) = pool(2);
    let mut volumes = volumes();
    volumes[3] = "NOWHERE".to_owned();
    let mut log: Vec<Event> = Vec::new();
    let stop = AtomicBool::new(false);
    let done = pool.work(
        &volumes,
        Pace::Turns,
        &mut log,
        &stop,
        &|number, _, _| match number {
            7 => Err(RunError::Lost.into()),
            _ => Ok(()),
        },
    );
    assert!(matches!(
        done[3],
        Err(WorkError::Pool(PoolError::NoSuchVolume { .. }))
    ));
    assert!(matches!(done[7], Err(WorkError::Run(RunError::Lost))));
    assert_eq!(
        done.iter().filter(|done| done.is_ok()).count(),
        volumes.len() - 2
    );
    assert!(pool.status().iter().all(|drive| drive.set_aside.is_none()));
}

#[test]
fn a_volume_that_is_mounted_is_worked_on_first_and_where_it_is() {
    let (mut pool, _directory) = pool(2);
    let mut log: Vec<Event> = Vec::new();
    let index = pool.mount("TW0009", &mut log).unwrap();
    pool.release(index);
    log.clear();
    let stop = AtomicBool::new(false);
    let done = pool.work(&volumes(), Pace::Turns, &mut log, &stop, &|_, _, _| Ok(()));
    assert!(done.iter().all(Result::is_ok));
    let is_of = |event: &&Event| event.cartridge.as_deref() == Some("TW0009");
    let fetches = log
        .iter()
        .filter(is_of)
        .filter(|event| event.action == Action::Fetch);
    assert_eq!(fetches.count(), 0);
}

#[test]
fn a_volume_in_a_drive_that_is_not_of_the_pool_stays_there() {
    let directory = tempfile::tempdir().unwrap();
    let spec = LibrarySpec::with_robot("ibm3584", "lto8", 2, 20, VOLUMES, 1);
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let changer = || Changer::open(Box::new(library.transport_to_changer().unwrap())).unwrap();
    let mut theirs = changer();
    theirs.wait_until_ready(Duration::from_secs(1)).unwrap();
    let address = |element| library.elements().address(element);
    let [slot, drive] = [Element::Slot(2), Element::Drive(1)].map(address);
    theirs.move_medium(slot, drive).unwrap();
    let ours = TapeDrive::open(Box::new(library.transport_to_drive(0).unwrap())).unwrap();
    let mut pool = Pool::new(vec![ours], vec![changer()], None, Box::new(|_| {})).unwrap();
    let mut log: Vec<Event> = Vec::new();
    let stop = AtomicBool::new(false);
    let done = pool.work(&volumes(), Pace::Turns, &mut log, &stop, &|_, _, _| Ok(()));
    assert!(matches!(
        done[2],
        Err(WorkError::Pool(PoolError::Elsewhere { .. }))
    ));
    assert_eq!(
        done.iter().filter(|done| done.is_ok()).count(),
        volumes().len() - 1
    );
    let inventory = theirs.inventory().unwrap();
    assert_eq!(inventory.find("TW0003").unwrap().address, drive);
}

#[test]
fn after_stop_no_further_volume_is_begun() {
    let (mut pool, _directory) = pool(2);
    let mut log: Vec<Event> = Vec::new();
    let stop = AtomicBool::new(false);
    let done = pool.work(&volumes(), Pace::Turns, &mut log, &stop, &|number, _, _| {
        stop.fetch_or(number == 4, Ordering::SeqCst);
        Ok(())
    });
    let left = done
        .iter()
        .filter(|done| matches!(done, Err(WorkError::Run(RunError::Interrupted))));
    // The other drive had taken its next volume already.
    assert_eq!(left.count(), volumes().len() - 6);
}

#[test]
fn drives_with_times_of_their_own_wait_for_the_one_robot_and_come_to_it_in_the_order_of_their_times()
 {
    let (mut pool, _directory) = pool_of(3, true);
    let mut log: Vec<Event> = Vec::new();
    let stop = AtomicBool::new(false);
    let done = pool.work(
        &volumes(),
        Pace::Turns,
        &mut log,
        &stop,
        &|number, drive, _| {
            // The first drive is done long after the others.
            drive.wait(Duration::from_secs(if number == 0 { 300 } else { 5 }));
            Ok(())
        },
    );
    assert!(done.iter().all(Result::is_ok));
    let is_robots = |event: &&Event| matches!(event.action, Action::Fetch | Action::Return);
    let moves: Vec<&Event> = log.iter().filter(is_robots).collect();
    assert!(moves.iter().all(|event| event.took_us > Micros::ZERO));
    for two in moves.windows(2) {
        assert!(two[0].at_us + two[0].took_us <= two[1].at_us, "{two:?}");
    }
    // A load takes its 15 s or so from when the robot has brought the cartridge.
    for event in log.iter().filter(|event| event.action == Action::Mount) {
        let is_its =
            |fetch: &&&Event| fetch.action == Action::Fetch && fetch.cartridge == event.cartridge;
        let fetch = moves.iter().find(is_its).unwrap();
        assert_eq!(fetch.at_us + fetch.took_us, event.at_us);
        assert!(event.took_us > Micros(10_000_000), "{event:?}");
    }
    // The drive that came first reads for long: the others do not wait for it to come to the robot again.
    let others = moves.iter().filter(|event| event.device != moves[0].device);
    let returns = others.filter(|event| event.action == Action::Return);
    assert!(returns.count() > 4);
}

/// A volume that comes when the first drive that looked has found nothing.
struct ComesLate {
    asked: AtomicUsize,
    is_service: bool,
    worked_on: AtomicUsize,
}

impl Work for ComesLate {
    fn next(&self, fits: &dyn Fn(&str) -> Fit) -> Option<String> {
        let comes = self.asked.fetch_add(1, Ordering::Relaxed) == 1;
        (comes && fits("TW0001") != Fit::Not).then(|| "TW0001".to_owned())
    }

    fn carry_out(&self, _: &str, _: &mut TapeDrive, _: &mut dyn Log) -> Result<(), Trouble> {
        self.worked_on.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn ends_empty(&self) -> bool {
        self.is_service
    }

    fn put_back(&self, _: &str) {}

    fn give_up(&self, _: &str, _: WorkError) {}
}

#[test]
fn in_a_service_drives_end_together_so_that_none_is_left_alone_with_what_comes_later() {
    let worked_on = |is_service| {
        let (mut pool, _directory) = pool(2);
        let work = ComesLate {
            asked: AtomicUsize::new(0),
            is_service,
            worked_on: AtomicUsize::new(0),
        };
        let mut log: Vec<Event> = Vec::new();
        pool.work_off(&work, &mut log, &AtomicBool::new(false));
        work.worked_on.into_inner()
    };
    assert_eq!(worked_on(false), 1);
    assert_eq!(
        worked_on(true),
        0,
        "it is for the next call, with all drives"
    );
}
