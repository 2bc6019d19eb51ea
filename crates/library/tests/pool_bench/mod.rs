//! An emulated library with a pool on it, and what the pool said.

#![allow(dead_code)] // Each test file uses a part of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::event::Event;
use tapewise_library::pool::{Listener, Pool, PoolError};
use tapewise_scsi::{Cdb, Changer, Completion, Data, TapeDrive, Transport, TransportError};
use tempfile::TempDir;

const SLOTS: u16 = 24;
const FIRST_SLOT: u16 = 0x0401;

/// An emulated library with a pool on it, and what the pool said.
pub struct Bench {
    pub pool: Pool,
    pub library: Library,
    pub said: Arc<Mutex<Vec<String>>>,
    pub log: Vec<Event>,
    /// One for each drive: its path is lost from now on.
    pub cut: Vec<Arc<AtomicBool>>,
    /// The element that does not give out its cartridge; 0 if all do.
    pub jammed: Arc<AtomicU16>,
    /// Done once, when a drive has been asked so often from now on whether it is ready.
    pub meanwhile: Arc<Mutex<Option<(u32, Meanwhile)>>>,
    pub directory: TempDir,
}

/// What somebody else does; whether it could be done.
pub type Meanwhile = Box<dyn FnMut() -> bool + Send>;

/// A path that can be cut, and beside which others do something.
struct Cable<T> {
    inner: T,
    is_cut: Arc<AtomicBool>,
    meanwhile: Arc<Mutex<Option<(u32, Meanwhile)>>>,
}

impl<T> Cable<T> {
    fn let_others_act(&self) {
        let mut meanwhile = self.meanwhile.lock().unwrap();
        let Some((after, act)) = &mut *meanwhile else {
            return;
        };
        if *after > 0 {
            *after -= 1;
        } else if act() {
            *meanwhile = None;
        }
    }
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
        if cdb.opcode() == 0x00 {
            self.let_others_act();
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

/// A robot that cannot pull the cartridge out of an element.
struct Arm<T> {
    inner: T,
    jammed: Arc<AtomicU16>,
}

impl<T: Transport> Transport for Arm<T> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let jammed = self.jammed.load(Ordering::SeqCst).to_be_bytes();
        if cdb.opcode() == 0xa5 && cdb.bytes()[4..6] == jammed {
            // MEDIA LOAD OR EJECT FAILED.
            let sense = [0x70, 0, 3, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0x53, 0];
            return Ok(Completion::check_condition(0, &sense));
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

pub fn listener(said: &Arc<Mutex<Vec<String>>>) -> Listener {
    let said = Arc::clone(said);
    Box::new(move |line| said.lock().unwrap().push(line.words.to_owned()))
}

pub fn spec(drives: u16, cartridges: u16) -> LibrarySpec {
    LibrarySpec::with_robot("ibm3584", "lto8", drives, SLOTS, cartridges, 1)
}

impl Bench {
    pub fn new(spec: &LibrarySpec) -> Bench {
        let directory = tempfile::tempdir().unwrap();
        let clock = Clock::virtual_time();
        let library = Library::create(&directory.path().join("library"), spec, clock).unwrap();
        let mut cut = Vec::new();
        let meanwhile = Arc::new(Mutex::new(None));
        let mut drives = Vec::new();
        for number in 0..spec.drives.len() {
            let is_cut = Arc::new(AtomicBool::new(false));
            cut.push(Arc::clone(&is_cut));
            let inner = library.transport_to_drive(number).unwrap();
            let cable = Cable {
                inner,
                is_cut,
                meanwhile: Arc::clone(&meanwhile),
            };
            drives.push(TapeDrive::open(Box::new(cable)).unwrap());
        }
        let jammed = Arc::new(AtomicU16::new(0));
        let robot = Arm {
            inner: library.transport_to_changer().unwrap(),
            jammed: Arc::clone(&jammed),
        };
        let robots = vec![Changer::open(Box::new(robot)).unwrap()];
        let said = Arc::default();
        let pool = Pool::new(drives, robots, None, listener(&said)).unwrap();
        Bench {
            pool,
            library,
            said,
            log: Vec::new(),
            cut,
            jammed,
            meanwhile,
            directory,
        }
    }

    pub fn mount(&mut self, volume: &str) -> Result<usize, PoolError> {
        self.pool.mount(volume, &mut self.log)
    }

    pub fn dismount(&mut self, index: usize) {
        self.pool.dismount(index, &mut self.log).unwrap();
    }

    pub fn has_said(&self, words: &str) -> bool {
        let said = self.said.lock().unwrap();
        said.iter().any(|line| line.contains(words))
    }

    /// What the library itself tells, by another path: label and element.
    pub fn shelves(&self) -> BTreeMap<String, Vec<u16>> {
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

pub fn label(number: u16) -> String {
    format!("TW{number:04}")
}

/// Where the cartridge is when nobody uses it.
pub fn home(number: u16) -> u16 {
    FIRST_SLOT + number - 1
}
