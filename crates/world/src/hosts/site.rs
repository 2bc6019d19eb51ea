//! What all hosts share: library, cache, catalogue, and commands that are on their way.

use super::judge::Judge;
use super::turns::Turns;
use crate::configuration::Configuration;
use crate::fate::{Dead, Kind, Steps, Wrong};
use crate::files::MemoryDisk;
use crate::world::{self, Trouble as Failure};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tapewise_archive::open::Archive;
use tapewise_emulator::{Clock, Library};
use tapewise_model::{Micros, Profile, profile};
use tapewise_torn::{Plug, Watched};

/// A command on its way: it arrives.
pub type Packet = Box<dyn FnOnce() + Send>;

/// How long leases last.
pub const LEASE: Micros = Micros(600_000_000);

/// What keeps movers apart.
#[derive(Clone, Copy, Debug)]
pub struct Guards {
    /// Drives are told whose they are.
    pub fence: bool,
    /// What movers write to the catalogue carries their lease.
    pub epochs: bool,
}

impl Guards {
    /// All of them.
    pub const ALL: Guards = Guards {
        fence: true,
        epochs: true,
    };
}

/// What all hosts share.
pub struct Site {
    pub turns: Arc<Turns>,
    clock: Clock,
    pub library: Library,
    pub disk: MemoryDisk,
    pub judge: Arc<Judge>,
    pub guards: Guards,
    pub configuration: Configuration,
    /// Drives that a mover has at most.
    pub most_drives: usize,
    pub lto8: Profile,
    root: PathBuf,
    pub mounts: AtomicU64,
    state: Mutex<State>,
    is_calm: AtomicBool,
    is_over: AtomicBool,
    uuids: AtomicU64,
    _watched: Watched,
    _directory: tempfile::TempDir,
}

#[derive(Default)]
struct State {
    /// Who has the cache, and whether alone.
    in_cache: Vec<usize>,
    is_alone: bool,
    is_disk_taken: bool,
    on_their_way: Vec<(Micros, Packet)>,
    failures: BTreeMap<String, u64>,
}

/// The cache for a process, as long as it is kept.
pub struct Held {
    site: Arc<Site>,
    host: usize,
    /// Nobody else has it.
    pub is_alone: bool,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.site.state();
        state.in_cache.retain(|host| *host != self.host);
        state.is_alone = false;
    }
}

/// The cache's disk for one alone, as long as it is kept.
pub struct DiskTurn(Arc<Site>);

impl Drop for DiskTurn {
    fn drop(&mut self) {
        self.0.state().is_disk_taken = false;
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Site {
    /// The site of a seed, with a new archive. `plug` is asked before each step in its catalogue's file.
    ///
    /// # Errors
    /// Those of the archive and of the library.
    pub fn new(
        seed: u64,
        guards: Guards,
        clock: Clock,
        turns: Arc<Turns>,
        plug: Arc<dyn Plug>,
    ) -> Result<Site, Failure> {
        let directory = world::temporary()?;
        let root = directory.path().canonicalize()?;
        let configuration = Configuration::of(seed);
        let library = world::library(&root, &configuration, seed, &clock)?;
        let archive = root.join("archive");
        fs::create_dir(&archive)?;
        let watched = tapewise_torn::watch(&archive, plug);
        drop(Archive::create(&archive, &configuration.settings)?);
        Ok(Site {
            turns,
            judge: Arc::new(Judge::new(&library, &archive)?),
            library,
            disk: MemoryDisk::new(Arc::new(Nothing), 8 << 20),
            guards,
            most_drives: 1 + (seed % 2) as usize,
            configuration,
            lto8: profile::find("lto8").map_err(io::Error::other)?,
            root,
            mounts: AtomicU64::new(0),
            state: Mutex::default(),
            is_calm: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            uuids: AtomicU64::new(0),
            clock,
            _watched: watched,
            _directory: directory,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub fn now(&self) -> Micros {
        self.clock.now()
    }

    pub fn now_ns(&self) -> i64 {
        world::BEGINNING_NS + self.now().0 * 1000
    }

    pub fn place(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn new_uuid(&self) -> String {
        world::uuid(&self.uuids)
    }

    /// Nothing goes wrong any more, and all clocks are right.
    pub fn is_calm_now(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
    }

    /// The life is over. What is still on its way never arrives.
    pub fn is_over_now(&self) {
        drop(std::mem::take(&mut self.state().on_their_way));
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Cartridges that were mounted.
    pub fn mounts(&self) -> u64 {
        self.mounts.load(Ordering::Relaxed)
    }

    /// How often rounds of movers failed, by the beginning of the words.
    pub fn failures(&self) -> BTreeMap<String, u64> {
        self.state().failures.clone()
    }

    /// Whether nothing goes wrong any more.
    pub fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::Relaxed)
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Lets the other hosts do something, and what was on its way arrive.
    pub fn pass(&self, host: usize, until: Micros) {
        self.turns.pass(host, until);
        let now = self.now();
        let ready = |one: &mut (Micros, Packet)| one.0 <= now;
        let arrived: Vec<_> = self.state().on_their_way.extract_if(.., ready).collect();
        for (_, arrives) in arrived {
            arrives();
        }
    }

    /// A command is on its way, and nobody waits for it.
    pub fn send(&self, due: Micros, arrives: Packet) {
        self.state().on_their_way.push((due, arrives));
    }

    /// Lets a process have the cache: alone if nobody has it, else with the others, unless it wants it alone.
    pub fn hold_cache(self: &Arc<Site>, host: usize, alone: bool) -> Option<Held> {
        let mut state = self.state();
        let is_alone = state.in_cache.is_empty();
        if state.is_alone || (alone && !is_alone) {
            return None;
        }
        state.in_cache.push(host);
        state.is_alone = is_alone;
        drop(state);
        Some(Held {
            site: Arc::clone(self),
            host,
            is_alone,
        })
    }

    pub fn let_others_in(&self) {
        self.state().is_alone = false;
    }

    pub fn take_disk(self: &Arc<Site>) -> Option<DiskTurn> {
        let is_taken = std::mem::replace(&mut self.state().is_disk_taken, true);
        (!is_taken).then(|| DiskTurn(Arc::clone(self)))
    }

    /// A round of a mover failed.
    pub fn failed(&self, failure: &Failure) {
        *self
            .state()
            .failures
            .entry(failure.beginning(&self.root))
            .or_insert(0) += 1;
    }
}

/// Nothing goes wrong.
struct Nothing;

impl Steps for Nothing {
    fn step(&self, _: Kind) -> Result<Option<Wrong>, Dead> {
        Ok(None)
    }
}
