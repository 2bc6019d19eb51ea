//! Drives and robots as a pool, on emulated libraries.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tapewise_archive::pool::{Listener, Person, Place, Pool, PoolError};
use tapewise_emulator::{CartridgeSpec, Clock, Faults, Library, LibrarySpec};
use tapewise_formats::event::{Action, Event};
use tapewise_model::Random;
use tapewise_scsi::commands::{PersistentReserveOut, ReservationType};
use tapewise_scsi::{
    Cdb, Changer, Command, Completion, Data, TapeDrive, Transport, TransportError,
};
use tempfile::TempDir;

const SLOTS: u16 = 24;
const FIRST_SLOT: u16 = 0x0401;

/// An emulated library with a pool on it, and what the pool said.
struct Bench {
    pool: Pool,
    library: Library,
    said: Arc<Mutex<Vec<String>>>,
    log: Vec<Event>,
    /// One for each drive: its path is lost from now on.
    cut: Vec<Arc<AtomicBool>>,
    _directory: TempDir,
}

/// A path that can be cut.
struct Cable<T> {
    inner: T,
    is_cut: Arc<AtomicBool>,
}

impl<T: Transport> Transport for Cable<T> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        if self.is_cut.load(Ordering::SeqCst) {
            return Err(TransportError::Path {
                device: self.inner.name().to_owned(),
                what: "the cable is out".to_owned(),
            });
        }
        self.inner.execute(cdb, data, timeout)
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.inner.wait(duration);
    }
}

fn listener(said: &Arc<Mutex<Vec<String>>>) -> Listener {
    let said = Arc::clone(said);
    Box::new(move |line| said.lock().unwrap().push(line.to_owned()))
}

fn spec(drives: u16, cartridges: u16) -> LibrarySpec {
    LibrarySpec::with_robot("ibm3584", "lto8", drives, SLOTS, cartridges, 1)
}

impl Bench {
    fn new(spec: &LibrarySpec) -> Bench {
        let directory = tempfile::tempdir().unwrap();
        let clock = Clock::virtual_time();
        let library = Library::create(&directory.path().join("library"), spec, clock).unwrap();
        let mut cut = Vec::new();
        let mut drives = Vec::new();
        for number in 0..spec.drives.len() {
            let is_cut = Arc::new(AtomicBool::new(false));
            cut.push(Arc::clone(&is_cut));
            let inner = library.transport_to_drive(number).unwrap();
            drives.push(TapeDrive::open(Box::new(Cable { inner, is_cut })).unwrap());
        }
        let robot = library.transport_to_changer().unwrap();
        let robots = vec![Changer::open(Box::new(robot)).unwrap()];
        let said = Arc::default();
        let pool = Pool::new(drives, robots, None, listener(&said)).unwrap();
        Bench {
            pool,
            library,
            said,
            log: Vec::new(),
            cut,
            _directory: directory,
        }
    }

    fn mount(&mut self, volume: &str) -> Result<usize, PoolError> {
        self.pool.mount(volume, &mut self.log)
    }

    fn dismount(&mut self, index: usize) {
        self.pool.dismount(index, &mut self.log).unwrap();
    }

    fn has_said(&self, words: &str) -> bool {
        let said = self.said.lock().unwrap();
        said.iter().any(|line| line.contains(words))
    }

    /// What the library itself tells, by another path: label and element.
    fn shelves(&self) -> BTreeMap<String, Vec<u16>> {
        let transport = self.library.transport_to_changer().unwrap();
        let mut changer = Changer::open(Box::new(transport)).unwrap();
        changer.wait_until_ready(Duration::from_secs(1)).unwrap();
        let mut places: BTreeMap<String, Vec<u16>> = BTreeMap::new();
        for element in changer.inventory().unwrap().elements() {
            if let Some(label) = &element.volume_tag {
                places
                    .entry(label.clone())
                    .or_default()
                    .push(element.address);
            }
        }
        places
    }
}

fn label(number: u16) -> String {
    format!("TW{number:04}")
}

/// Where the cartridge is when nobody uses it.
fn home(number: u16) -> u16 {
    FIRST_SLOT + number - 1
}

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
                    Place::Drive(index),
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
fn a_drive_that_was_idle_for_long_enough_is_dismounted() {
    let mut bench = Bench::new(&spec(2, 2));
    let first = bench.mount("TW0001").unwrap();
    bench.pool.release(first);
    bench.pool.drive(0).wait(Duration::from_secs(300));
    let second = bench.mount("TW0002").unwrap();
    bench.pool.release(second);
    let limit = Duration::from_secs(300);
    bench.pool.dismount_idle(limit, &mut bench.log);
    assert_eq!(bench.shelves()["TW0001"], [home(1)]);
    assert_eq!(bench.pool.volumes()["TW0002"], Place::Drive(second));
}

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
        let is_missing = matches!(volumes[&volume], Place::Missing(_));
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
    assert!(matches!(bench.pool.volumes()[found], Place::Element(_)));
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

fn with_cleaner(mut spec: LibrarySpec) -> LibrarySpec {
    spec.faults.cleaning_after_m = Some(0.0);
    spec.cartridges.push(CartridgeSpec {
        barcode: "CLN001".to_owned(),
        ..CartridgeSpec::numbered("lto8", 99, 99)
    });
    spec
}

/// Moves more tape than the drive goes without cleaning.
fn move_tape(bench: &mut Bench, index: usize) {
    let drive = bench.pool.drive(index);
    drive.set_block_length(0).unwrap();
    drive.write(&[1; 65536]).unwrap();
    drive.write_filemarks(1, false).unwrap();
    drive.rewind().unwrap();
}

#[test]
fn a_drive_that_asks_for_it_is_cleaned_and_the_cleaning_cartridge_returned() {
    let mut bench = Bench::new(&with_cleaner(spec(1, 2)));
    let index = bench.mount("TW0001").unwrap();
    move_tape(&mut bench, index);
    bench.dismount(index);
    assert!(bench.has_said("asks to be cleaned"));
    let once = BTreeMap::from([("CLN001".to_owned(), 1)]);
    assert_eq!(bench.pool.cleanings(), once);
    assert_eq!(bench.shelves()["CLN001"], [home(3)]);
    assert_eq!(bench.mount("TW0002").unwrap(), index);
}

#[test]
fn that_there_is_no_cleaning_cartridge_is_said_and_work_goes_on() {
    let mut without = with_cleaner(spec(1, 2));
    without.cartridges.pop();
    let mut bench = Bench::new(&without);
    let index = bench.mount("TW0001").unwrap();
    move_tape(&mut bench, index);
    bench.pool.release(index);
    assert_eq!(bench.mount("TW0002").unwrap(), index);
    assert!(bench.has_said("no cleaning cartridge"));
}

#[test]
fn cartridges_come_in_and_go_out_through_the_station() {
    let mut bench = Bench::new(&spec(1, 3));
    let place = bench.pool.export("TW0001").unwrap();
    assert_eq!(place, Place::Element("station 769".to_owned()));
    assert!(bench.has_said("open the station and take it out"));
    bench.pool.export("TW0002").unwrap();
    let full = bench.pool.export("TW0003").unwrap_err();
    assert!(
        full.to_string().contains("take out TW0001, TW0002"),
        "{full}"
    );
    bench.library.take_out("TW0001").unwrap();
    bench.library.take_out("TW0002").unwrap();
    bench.pool.export("TW0003").unwrap();
    // What a person took out is not missing.
    let error = bench.mount("TW0001").unwrap_err();
    assert!(matches!(error, PoolError::NoSuchVolume { .. }), "{error}");
    bench.library.import(1, "TW0001").unwrap();
    let mut imported = bench.pool.import().unwrap();
    imported.sort();
    assert_eq!(imported, ["TW0001", "TW0003"]);
    bench.mount("TW0001").unwrap();
}

/// A person with a shelf, who takes the first cartridge of the list by mistake when asked for another.
struct Operator {
    library: Library,
    gives: Vec<String>,
}

impl Person for Operator {
    fn insert(&mut self, _: &str, _: &str) -> bool {
        match self.gives.is_empty() {
            true => false,
            false => {
                self.library.load_cartridge(&self.gives.remove(0)).unwrap();
                true
            }
        }
    }

    fn take(&mut self, volume: &str, _: &str) {
        self.library.take_out(volume).unwrap();
    }
}

#[test]
fn without_a_robot_a_person_is_asked_and_a_wrong_cartridge_is_given_out_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = LibrarySpec::one_drive("lto8", 1);
    spec.cartridges.push(CartridgeSpec::numbered("lto8", 2, 2));
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let drive = TapeDrive::open(Box::new(library.transport_to_drive(0).unwrap())).unwrap();
    let person = Operator {
        library: library.clone(),
        gives: vec!["TW0002".to_owned(), "TW0001".to_owned()],
    };
    let said = Arc::default();
    let mut log: Vec<Event> = Vec::new();
    let mut pool = Pool::new(
        vec![drive],
        Vec::new(),
        Some(Box::new(person)),
        listener(&said),
    )
    .unwrap();
    let index = pool.mount("TW0001", &mut log).unwrap();
    pool.reject(index, "TW0002", &mut log).unwrap();
    let index = pool.mount("TW0001", &mut log).unwrap();
    pool.dismount(index, &mut log).unwrap();
    let error = pool.mount("TW0002", &mut log).unwrap_err();
    assert!(matches!(error, PoolError::NotGiven { .. }), "{error}");
    let rejected = said.lock().unwrap()[0].clone();
    assert!(
        rejected.contains("the label on tape says TW0002"),
        "{rejected}"
    );
}
