//! A life of an archive: events one after the other, and the oracle after each.

mod go_on;
mod looks;
mod operators;
mod recalls;
mod tending;

use crate::events::{Event, What};
use crate::fate::{End, Injected, Plan};
use crate::oracle::{Fate, Oracle};
use crate::others;
use crate::sources::Given;
use crate::world::{Opening, Process, Snapshot, Trouble, World};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tapewise_archive::cache::CacheError;
use tapewise_archive::catalogue::{Catalogue, CatalogueError, FileId, Files, Terms};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::MoveError;
use tapewise_archive::store::{Source, StoreError, StoreTerms, store_from};
use tapewise_model::{Micros, Random};
use tending::{repack, verify};

const HOUR: Micros = Micros(3_600_000_000);

/// How often a process may be started again before it must have done its work, where nothing but the library goes
/// wrong.
const PATIENCE: u64 = 6;

/// What was counted in a life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events, by name.
    pub events: BTreeMap<String, u64>,
    /// What was injected, and how often.
    pub injected: Injected,
    /// What the archive refused, by the beginning of its words.
    pub refused: BTreeMap<String, u64>,
    /// Drives times the time that passed.
    pub drive_time: Micros,
    /// Cartridges that were mounted.
    pub mounts: u64,
    /// Files that were acknowledged.
    pub acknowledged: u64,
    /// Files that were delivered and compared.
    pub delivered: u64,
    /// Files that operators destroyed.
    pub excused: u64,
}

impl Counts {
    /// What another life has counted too.
    pub fn add(&mut self, other: &Counts) {
        for (mine, theirs) in [
            (&mut self.events, &other.events),
            (&mut self.refused, &other.refused),
        ] {
            for (name, count) in theirs {
                *mine.entry(name.clone()).or_insert(0) += count;
            }
        }
        for (what, count) in &other.injected {
            *self.injected.entry(*what).or_insert(0) += count;
        }
        self.drive_time += other.drive_time;
        self.mounts += other.mounts;
        self.acknowledged += other.acknowledged;
        self.delivered += other.delivered;
        self.excused += other.excused;
    }
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// After which event, counted from 0; the number of events where it showed at the end.
    pub at: usize,
    /// What is wrong.
    pub why: String,
}

/// Two cartridges that have each other's barcode.
#[derive(Clone)]
struct Swapped {
    labels: [String; 2],
    /// What was on them then.
    seen: [Option<u64>; 2],
    /// A rebuild has read them meanwhile, perhaps not to its end.
    is_read: bool,
}

/// An archive's life so far.
struct Life {
    world: World,
    oracle: Oracle,
    counts: Counts,
    snapshots: Vec<Snapshot>,
    backups: Vec<PathBuf>,
    /// Why the catalogue may not know everything.
    stale: Option<&'static str>,
    /// The cartridges that an operator wrote over.
    tampered: BTreeSet<String>,
    /// Sums of files of which an operator destroyed a copy that the catalogue relies on.
    harmed: BTreeSet<u64>,
    /// How many versions there were whenever a copy from before was restored.
    restored: Vec<usize>,
    swapped: Option<Swapped>,
    other_holds: bool,
    /// Directories of deliveries.
    delivered: u64,
    stored: u64,
}

/// Lives through the events, and then asks for everything back.
///
/// # Errors
/// [`Broken`], with what was counted until then.
pub fn live(seed: u64, events: &[Event]) -> (Counts, Result<(), Broken>) {
    let mut life = match Life::new(seed) {
        Ok(life) => life,
        Err(trouble) => {
            let why = format!("no world: {trouble}");
            return (Counts::default(), Err(Broken { at: 0, why }));
        }
    };
    let mut result = Ok(());
    for (at, event) in events.iter().enumerate() {
        if let Err(why) = life.event(event) {
            result = Err(Broken { at, why });
            break;
        }
    }
    if result.is_ok()
        && let Err(why) = life.ask_for_everything(seed)
    {
        let at = events.len();
        result = Err(Broken { at, why });
    }
    (life.counted(), result)
}

type Judged = Result<(), String>;

impl Life {
    fn new(seed: u64) -> Result<Life, Trouble> {
        Ok(Life {
            world: World::new(seed)?,
            oracle: Oracle::default(),
            counts: Counts::default(),
            snapshots: Vec::new(),
            backups: Vec::new(),
            stale: None,
            tampered: BTreeSet::new(),
            harmed: BTreeSet::new(),
            restored: Vec::new(),
            swapped: None,
            other_holds: false,
            delivered: 0,
            stored: 0,
        })
    }

    fn counted(mut self) -> Counts {
        let drives = i64::from(self.world.configuration.drives);
        self.counts.drive_time = Micros(self.world.age().0.saturating_mul(drives));
        self.counts.injected = self.world.fates.injected();
        self.counts
    }

    /// One event, and the oracle after it.
    fn event(&mut self, event: &Event) -> Judged {
        *self.counts.events.entry(event.what.name()).or_insert(0) += 1;
        self.world.pass(Micros(HOUR.0 * event.hours as i64));
        let was_stale = self.stale.is_some();
        self.carry_out(event)?;
        if !self.other_holds {
            self.world.other_reserves(false);
        }
        self.look(Some(event.what))?;
        if was_stale && self.stale.is_some() && event.seed.is_multiple_of(3) {
            self.go_on(event.seed)?;
            self.look(None)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, event: &Event) -> Judged {
        let mut random = Random::new(event.seed, 0);
        match event.what {
            What::Store {
                files,
                replace,
                later,
            } => self.store(event, files, replace, later),
            What::Migrate => self.work(event, &mut |process| {
                process
                    .moving(|mover| mover.migrate(i64::MAX))
                    .map(|migrated| migrated.mounts)
            }),
            What::Recall { files } => {
                let mut paths = self.oracle.paths();
                random.shuffle(&mut paths);
                paths.truncate(files as usize);
                self.recall(event.plan, event.seed, &paths).map(drop)
            }
            What::Verify => self.work(event, &mut |process| verify(process)),
            What::Repack => {
                let chosen = random.below(1 << 20);
                self.work(event, &mut |process| repack(process, chosen))
            }
            What::Evict => self.work(event, &mut |process| {
                let now_ns = process.now_ns();
                let evicted = process.cache.evict(u64::MAX, now_ns);
                evicted
                    .map_err(|error| MoveError::from(error).into())
                    .map(|_| 0)
            }),
            What::Retire => self.retire(event, &mut random),
            What::Rebuild => {
                self.rebuild(event.plan, event.seed)?;
                if self.stale.is_none() {
                    self.store_what_was_set_aside(event.seed)?;
                }
                Ok(())
            }
            What::Second => self.second(event),
            What::Ltfs => {
                let directory = self.world.place(&format!("ltfs-{:x}", event.seed));
                let looked = others::look(&directory, &mut random);
                let _ = fs::remove_dir_all(&directory);
                looked
            }
            What::Backup => self.back_up(event),
            what => self
                .operate(what, &mut random)
                .map_err(|error| format!("the world: {error}")),
        }
    }

    /// Runs a process that moves files, and judges how it ended.
    fn work(
        &mut self,
        event: &Event,
        work: &mut dyn FnMut(&mut Process<'_>) -> Result<u64, Trouble>,
    ) -> Judged {
        let done = self
            .world
            .run((event.plan, event.seed), Opening::Usual, work);
        match done {
            Ok(Ok(mounts)) => {
                self.counts.mounts += mounts;
                Ok(())
            }
            Ok(Err(trouble)) => self.judge(event.plan, event.seed, &trouble),
            Err(End::Killed | End::PowerCut) => Ok(()),
        }
    }

    fn store(&mut self, event: &Event, files: u64, replace: bool, later: bool) -> Judged {
        let mut random = Random::new(event.seed, 1);
        let mut sources = Vec::new();
        let mut given = self.given();
        let mut numbers = Vec::new();
        let mut old = self.oracle.paths();
        random.shuffle(&mut old);
        for number in 0..files {
            self.stored += 1;
            let path = match old.pop().filter(|_| replace && number % 2 == 0) {
                Some(path) => path,
                None => format!("d{}/f{:x}-{number}", random.below(3), event.seed),
            };
            let contents = contents(&mut random, &path);
            let from = self.world.place("sources").join(format!("{}", self.stored));
            given.add(&from, contents.clone(), self.world.now_ns());
            sources.push(Source {
                from,
                path: InnerPath::new(&path).map_err(|error| error.to_string())?,
                bytes: contents.len() as u64,
            });
            numbers.push(self.oracle.expect(&path, contents, self.world.now_ns()));
        }
        let mut is_acknowledged = false;
        let acknowledged = &mut is_acknowledged;
        let done = self
            .world
            .run((event.plan, event.seed), Opening::Usual, |process| {
                let how = StoreTerms {
                    terms: terms(),
                    copies: process.archive.settings.copies,
                    replace,
                    also: Vec::new(),
                };
                let stored =
                    match store_from(&given, &process.cache, &sources, &how, process.now_ns()) {
                        Err(StoreError::Cache(CacheError::Full { .. })) if !later => {
                            process.moving(|mover| mover.migrate(i64::MAX))?;
                            store_from(&given, &process.cache, &sources, &how, process.now_ns())
                        }
                        stored => stored,
                    };
                stored?;
                // A process that is dead already has told nobody.
                *acknowledged = !process.world().fates.is_dead();
                if later {
                    return Ok(0);
                }
                Ok(process.moving(|mover| mover.migrate(i64::MAX))?.mounts)
            });
        for &number in &numbers {
            if is_acknowledged {
                self.counts.acknowledged += 1;
                self.oracle.acknowledged(number);
            }
        }
        match done {
            Ok(Ok(mounts)) => {
                self.counts.mounts += mounts;
                Ok(())
            }
            Ok(Err(trouble)) => self.judge(event.plan, event.seed, &trouble),
            Err(_) => Ok(()),
        }
    }

    /// Files that are to be stored: none yet.
    fn given(&self) -> Given {
        Given::new(std::sync::Arc::clone(&self.world.fates) as _)
    }

    fn retire(&mut self, event: &Event, random: &mut Random) -> Judged {
        let mut paths = self.oracle.paths();
        random.shuffle(&mut paths);
        let Some(path) = paths.pop() else {
            return Ok(());
        };
        // Whether it is given up is not known until it is, and then nobody looks for it.
        for version in &mut self.oracle.versions {
            if version.path == path {
                version.fate = Fate::Past;
            }
        }
        self.work(event, &mut |process| {
            let catalogue = &process.archive.catalogue;
            if let Some(file) = catalogue.live_file(path.as_bytes())? {
                catalogue.retire(file, process.now_ns())?;
            }
            Ok(0)
        })
    }

    fn second(&mut self, event: &Event) -> Judged {
        let paths = self.oracle.paths();
        self.work(event, &mut |process| {
            let other = process.world().catalogue()?;
            let asked = paths
                .first()
                .map(|path| other.live_file(path.as_bytes()))
                .transpose()?;
            let moved = process.moving(|mover| mover.migrate(i64::MAX))?.mounts;
            // What the first process has committed meanwhile, the second one sees.
            let again = paths
                .first()
                .map(|path| other.live_file(path.as_bytes()))
                .transpose()?;
            if asked == again {
                return Ok(moved);
            }
            Err(Trouble::Io(io::Error::other(
                "a second process sees other files",
            )))
        })
    }

    fn back_up(&mut self, event: &Event) -> Judged {
        let path = self
            .world
            .place("backups")
            .join(format!("{:x}.db", event.seed));
        let to = path.clone();
        self.work(event, &mut |process| {
            process.archive.catalogue.backup(&to)?;
            Ok(0)
        })?;
        if path.exists() {
            self.backups.push(path);
        }
        Ok(())
    }

    /// At the end everything is put right that people can put right, and every file is asked for.
    fn ask_for_everything(&mut self, seed: u64) -> Judged {
        if self.other_holds {
            self.world.other_reserves(false);
            self.other_holds = false;
        }
        if self.swapped.is_some() {
            for _ in 0..PATIENCE {
                let _ = self
                    .world
                    .run((Plan::default(), seed), Opening::Usual, |process| {
                        process.moving(|_| Ok(()))
                    });
                let mut random = Random::new(seed, 3);
                self.swap(&mut random)
                    .map_err(|error| format!("the world: {error}"))?;
                if self.swapped.is_none() {
                    break;
                }
            }
            self.stale = Some("cartridges were swapped");
        }
        if self.stale.is_some() {
            self.go_on(seed)?;
        }
        self.look(None)?;
        let mut missing: BTreeSet<String> = self.oracle.paths().into_iter().collect();
        for again in 0..PATIENCE {
            let paths: Vec<String> = missing.iter().cloned().collect();
            for came in self.recall(Plan::default(), seed ^ again, &paths)? {
                missing.remove(&came);
            }
            if missing.is_empty() {
                return Ok(());
            }
            if self.stale.is_some() {
                self.go_on(seed)?;
            }
            let verified = self
                .world
                .run((Plan::default(), seed), Opening::Usual, |process| {
                    verify(process)
                });
            drop(verified);
        }
        let path = missing.first().cloned().unwrap_or_default();
        let places = self
            .oracle
            .wanted(&path)
            .map(|version| version.places.clone());
        Err(format!(
            "{} files are not delivered, {path} among them, which is in {places:?}",
            missing.len()
        ))
    }
}

/// Whether a name in the cache is that of a file in its place.
fn is_of_a_file(name: &Path) -> bool {
    let first = name.iter().next().map_or(0, std::ffi::OsStr::len);
    first == 2
}

pub fn terms() -> Terms {
    Terms {
        user: "alice".to_owned(),
        ..Terms::default()
    }
}

/// Contents that no other file has, some of which can be compressed.
pub fn contents(random: &mut Random, path: &str) -> Vec<u8> {
    let bytes = match random.below(10) {
        0 => 1,
        1 => 50_000,
        _ => random.below(9_000),
    };
    let mut contents = format!("{path} {}\n", random.below(1 << 62)).into_bytes();
    let is_noise = random.below(2) == 0;
    for at in 0..bytes {
        contents.push(if is_noise {
            random.below(256) as u8
        } else {
            (at % 64) as u8
        });
    }
    contents
}

fn sum_of(catalogue: &dyn Catalogue, file: FileId) -> Result<Option<u64>, CatalogueError> {
    let sums = catalogue.file(file)?.file.sums;
    let sums = sums
        .into_iter()
        .filter_map(|sum| <[u8; 8]>::try_from(sum.value).ok());
    Ok(sums.map(u64::from_be_bytes).next())
}
