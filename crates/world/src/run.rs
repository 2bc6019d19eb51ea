//! A life of an archive: events one after the other, and the oracle after each.

use crate::events::{Event, What};
use crate::fate::{End, Plan, Wrong};
use crate::oracle::{Fate, Oracle};
use crate::others;
use crate::world::{Opening, Process, Snapshot, Trouble, World};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tapewise_archive::cache::CacheError;
use tapewise_archive::catalogue::{
    CacheRecords, Cached, Catalogue, CatalogueError, CopyState, FileId, Files, NewRecall, Requests,
    SqliteCatalogue, Terms, VolumeId, Volumes,
};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::{MoveError, Others, ReadIn};
use tapewise_archive::open::OpenError;
use tapewise_archive::record::VolumeFormat;
use tapewise_archive::store::{Source, StoreError, StoreTerms, store};
use tapewise_archive::volume::VolumeError;
use tapewise_emulator::Medium;
use tapewise_library::pool::PoolError;
use tapewise_model::{Micros, Random};
use tapewise_scsi::ScsiError;
use xxhash_rust::xxh3::xxh3_64;

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
    pub injected: BTreeMap<String, u64>,
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
            (&mut self.injected, &other.injected),
            (&mut self.refused, &other.refused),
        ] {
            for (name, count) in theirs {
                *mine.entry(name.clone()).or_insert(0) += count;
            }
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
    swapped: Option<(String, String)>,
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
        if was_stale && self.stale.is_some() && event.seed % 3 == 0 {
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
            What::Rebuild => self.rebuild(event.plan, event.seed),
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
            fs::write(&from, &contents).map_err(|error| error.to_string())?;
            sources.push(Source {
                from,
                path: InnerPath::new(&path).map_err(|error| error.to_string())?,
            });
            numbers.push(self.oracle.expect(&path, contents));
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
                let stored = match store(&process.cache, &sources, &how, process.now_ns()) {
                    Err(StoreError::Cache(CacheError::Full { .. })) if !later => {
                        process.moving(|mover| mover.migrate(i64::MAX))?;
                        store(&process.cache, &sources, &how, process.now_ns())
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
        for source in &sources {
            let _ = fs::remove_file(&source.from);
        }
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

    /// Recalls files and compares what comes; the paths that came.
    fn recall(
        &mut self,
        plan: Plan,
        seed: u64,
        paths: &[String],
    ) -> Result<BTreeSet<String>, String> {
        self.delivered += 1;
        let to = self
            .world
            .place("delivered")
            .join(self.delivered.to_string());
        fs::create_dir_all(&to).map_err(|error| error.to_string())?;
        let done = self.world.run((plan, seed), Opening::Usual, |process| {
            let mut recalls = Vec::new();
            for path in paths {
                if let Some(file) = process.archive.catalogue.live_file(path.as_bytes())? {
                    recalls.push(NewRecall {
                        file,
                        terms: terms(),
                        destination: Some(to.as_os_str().as_bytes().to_vec()),
                    });
                }
            }
            process
                .archive
                .catalogue
                .submit(&recalls, process.now_ns())?;
            Ok(process.moving(|mover| mover.recall())?)
        });
        let came = self.compare(&to, paths)?;
        let _ = fs::remove_dir_all(&to);
        match done {
            Ok(Ok(recalled)) => self.counts.mounts += recalled.mounts,
            Ok(Err(trouble)) => self.judge(plan, seed, &trouble)?,
            Err(_) => {}
        }
        // Nobody asks for these any more: their directory is gone.
        let _ = self
            .world
            .run((Plan::default(), seed), Opening::Usual, |process| {
                use tapewise_archive::catalogue::{Answer, RequestKind};
                let catalogue = &process.archive.catalogue;
                for request in catalogue.unanswered()? {
                    if request.kind == RequestKind::Recall && request.place.is_some() {
                        catalogue.answer(request.id, &Answer::Cancelled, process.now_ns())?;
                    }
                }
                Ok(())
            });
        Ok(came)
    }

    /// Compares what was delivered: nothing may have its name that was not stored under it.
    fn compare(&mut self, to: &Path, paths: &[String]) -> Result<BTreeSet<String>, String> {
        let mut came = BTreeSet::new();
        for path in paths {
            let Ok(contents) = fs::read(to.join(path)) else {
                continue;
            };
            let mut versions = self.oracle.versions.iter().rev();
            let Some(version) =
                versions.find(|version| version.path == *path && version.contents == contents)
            else {
                return Err(format!(
                    "{path} was delivered with contents that were never stored"
                ));
            };
            let is_right = match version.fate {
                Fate::Wanted | Fate::Unsure => true,
                Fate::Past | Fate::Excused(_) => {
                    self.stale.is_some() || self.oracle.wanted(path).is_none()
                }
            };
            if !is_right {
                return Err(format!("{path} was delivered in an older version"));
            }
            if version.fate != Fate::Past {
                came.insert(path.clone());
            }
            self.counts.delivered += 1;
        }
        Ok(came)
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
            match asked == again {
                true => Ok(moved),
                false => Err(Trouble::Io(io::Error::other(
                    "a second process sees other files",
                ))),
            }
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

    /// What operators do, with nothing of ours running.
    fn operate(&mut self, what: What, random: &mut Random) -> io::Result<()> {
        match what {
            What::Snapshot => self.snapshots.push(self.world.snapshot()?),
            What::RestoreDirectory | What::RestoreCatalogue => {
                let chosen = random.below(self.snapshots.len() as u64) as usize;
                if let Some(snapshot) = self.snapshots.get(chosen) {
                    self.world
                        .restore(snapshot, what == What::RestoreDirectory)?;
                    self.stale = Some("a copy was restored");
                }
            }
            What::RestoreBackup => {
                let chosen = random.below(self.backups.len() as u64) as usize;
                if let Some(backup) = self.backups.get(chosen) {
                    self.world.restore_backup(backup)?;
                    self.stale = Some("a backup was restored");
                }
            }
            What::LoseCatalogue { empty } => {
                self.world.lose_catalogue()?;
                if empty {
                    fs::write(self.world.place("archive/catalogue.db"), b"")?;
                }
                self.stale = Some("the catalogue was lost");
            }
            What::Swap => self.swap(random)?,
            What::Overwrite => {
                let labels = self.world.labels();
                let label = &labels[random.below(labels.len() as u64) as usize];
                if !self.world.is_in_drive(label) {
                    self.overwrite(label)?;
                }
            }
            What::Clock { hours } => self.world.shift(hours.saturating_mul(HOUR.0 * 1000)),
            What::Move => self.world.change_host(),
            What::OtherHost => {
                self.other_holds = !self.other_holds && self.world.other_reserves(true);
            }
            What::Rot => {
                let mut tree = self.world.disk.tree();
                let names: Vec<PathBuf> = tree.files().map(|(name, ..)| name.to_owned()).collect();
                let names: Vec<&PathBuf> = names.iter().filter(|name| is_of_a_file(name)).collect();
                if !names.is_empty() {
                    let name = names[random.below(names.len() as u64) as usize];
                    tree.rot(name, random.below(1 << 20));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn swap(&mut self, random: &mut Random) -> io::Result<()> {
        let (one, two) = match self.swapped.take() {
            Some(pair) => pair,
            None => {
                let mut labels = self.world.labels();
                random.shuffle(&mut labels);
                (labels[0].clone(), labels[1].clone())
            }
        };
        if self.world.is_in_drive(&one) || self.world.is_in_drive(&two) {
            return Ok(());
        }
        let cartridges = self.world.place("library/cartridges");
        let aside = self.world.place("aside");
        fs::rename(cartridges.join(&one), &aside)?;
        fs::rename(cartridges.join(&two), cartridges.join(&one))?;
        fs::rename(aside, cartridges.join(&two))?;
        self.tampered.extend([one.clone(), two.clone()]);
        self.swapped = Some((one, two));
        Ok(())
    }

    /// Another program begins a tape of its own on a cartridge.
    fn overwrite(&mut self, label: &str) -> io::Result<()> {
        let directory = self.world.place("library/cartridges").join(label);
        let mut medium = Medium::open(&directory).map_err(io::Error::other)?;
        medium.format(&[]).map_err(io::Error::other)?;
        if let Some(partition) = medium.partition_mut(0) {
            let block = [7; 512];
            partition
                .write_block(0, &block, 512, None)
                .map_err(io::Error::other)?;
            partition.write_filemark(1, 0).map_err(io::Error::other)?;
        }
        medium.sync().map_err(io::Error::other)?;
        self.tampered.insert(label.to_owned());
        Ok(())
    }

    /// Whether a process had reason to end as it did; what it refuses with a way on, that way is gone.
    fn judge(&mut self, plan: Plan, seed: u64, trouble: &Trouble) -> Judged {
        let words: String = trouble
            .to_string()
            .chars()
            .filter(|letter| !letter.is_ascii_digit())
            .take(60)
            .collect();
        let refusal = Refusal::of(trouble);
        *self
            .counts
            .refused
            .entry(format!("{refusal:?}: {words}"))
            .or_insert(0) += 1;
        let intruded = matches!(
            plan.wrong,
            Some((_, _, Wrong::Rewound | Wrong::Unloaded | Wrong::Reserved))
        );
        match refusal {
            Refusal::Stale if self.stale.is_none() => {
                Err(format!("refused without reason: {trouble}"))
            }
            Refusal::Stale => self.go_on(seed),
            Refusal::Reserved if self.other_holds => Ok(()),
            Refusal::Reserved => {
                // What another host of ours has left behind.
                let released = self.world.release_drives();
                match released {
                    Err(error) if !intruded => {
                        Err(format!("the drives cannot be released: {error}"))
                    }
                    _ => Ok(()),
                }
            }
            Refusal::Other => Ok(()),
        }
    }

    /// The documented way on after a refusal: the catalogue again from the cartridges, and what was set aside stored
    /// again.
    fn go_on(&mut self, seed: u64) -> Judged {
        for again in 0..PATIENCE {
            self.rebuild(Plan::default(), seed ^ again)?;
            if self.stale.is_none() {
                return self.store_what_was_set_aside(seed);
            }
            if self.swapped.is_some() || self.other_holds {
                // Not before these are put right.
                return Ok(());
            }
        }
        Err("the catalogue cannot be rebuilt".to_owned())
    }

    fn rebuild(&mut self, plan: Plan, seed: u64) -> Judged {
        let done = self.world.run((plan, seed), Opening::Rebuild, |process| {
            let copies = process.archive.settings.copies;
            Ok(process.moving(|mover| {
                let labels = mover.cartridges();
                mover.read_in(&labels, Others::Pass, copies)
            })?)
        });
        match done {
            Ok(Ok(rebuilt)) => {
                let is_read = |read: &ReadIn| match read {
                    ReadIn::Added(added) => added.troubles.is_empty(),
                    ReadIn::Passed(_) => true,
                    ReadIn::Failed(_) => false,
                };
                self.counts.mounts += rebuilt.volumes.len() as u64;
                if plan == Plan::default()
                    && rebuilt.volumes.iter().all(|(_, read)| is_read(read))
                    && self.swapped.is_none()
                {
                    self.stale = None;
                }
                Ok(())
            }
            Ok(Err(trouble)) => self.judge(plan, seed, &trouble),
            Err(_) => Ok(()),
        }
    }

    /// Stores again what was set aside, as the message says.
    fn store_what_was_set_aside(&mut self, seed: u64) -> Judged {
        let mut aside: Vec<(String, Vec<u8>)> = Vec::new();
        for (name, bytes, path) in self.world.disk.tree().files() {
            let path = path.and_then(|path| String::from_utf8(path.to_owned()).ok());
            if let (true, Some(path)) = (name.starts_with("quarantine"), path) {
                aside.push((path, bytes.to_owned()));
            }
        }
        for (path, bytes) in aside {
            let is_wanted = self
                .oracle
                .wanted(&path)
                .is_some_and(|version| version.contents == bytes);
            if !is_wanted {
                continue;
            }
            let from = self.world.place("sources").join("aside");
            fs::write(&from, &bytes).map_err(|error| error.to_string())?;
            let source = Source {
                from,
                path: InnerPath::new(&path).map_err(|error| error.to_string())?,
            };
            let sum = xxh3_64(&bytes);
            let done = self
                .world
                .run((Plan::default(), seed), Opening::Usual, |process| {
                    let catalogue = &process.archive.catalogue;
                    if let Some(live) = catalogue.live_file(path.as_bytes())?
                        && sum_of(catalogue.as_ref(), live)? == Some(sum)
                    {
                        return Ok(());
                    }
                    let how = StoreTerms {
                        terms: terms(),
                        copies: process.archive.settings.copies,
                        replace: true,
                        also: Vec::new(),
                    };
                    let mut stored = store(
                        &process.cache,
                        std::slice::from_ref(&source),
                        &how,
                        process.now_ns(),
                    );
                    if let Err(StoreError::Cache(CacheError::Full { .. })) = stored {
                        process.moving(|mover| mover.migrate(i64::MAX))?;
                        stored = store(
                            &process.cache,
                            std::slice::from_ref(&source),
                            &how,
                            process.now_ns(),
                        );
                    }
                    stored?;
                    Ok(())
                });
            match done {
                Ok(Ok(())) => {}
                // It stays where it is, and is stored another day.
                _ => return Ok(()),
            }
        }
        self.world
            .disk
            .tree()
            .remove(|name| name.starts_with("quarantine"));
        Ok(())
    }

    /// The oracle looks at everything.
    fn look(&mut self, after: Option<What>) -> Judged {
        let is_operators = after.is_some_and(|what| what.is_operators());
        let mut files: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for (name, bytes, _) in self.world.disk.tree().files() {
            if is_of_a_file(name) || name.starts_with("quarantine") {
                files
                    .entry(xxh3_64(bytes))
                    .or_default()
                    .push(format!("cache/{}", name.display()));
            }
        }
        let before: Vec<BTreeSet<String>> = self
            .oracle
            .versions
            .iter()
            .map(|version| version.places.clone())
            .collect();
        let tapes = self
            .world
            .look_at_tapes()
            .map_err(|error| format!("the tapes: {error}"))?;
        let gone = self.oracle.look(tapes, &files);
        if matches!(after, Some(What::Overwrite | What::Rot)) {
            for (version, before) in self.oracle.versions.iter().zip(&before) {
                if !before.is_subset(&version.places) {
                    self.harmed.insert(version.sum);
                }
            }
        }
        for number in gone {
            if !is_operators && !self.harmed.contains(&self.oracle.versions[number].sum) {
                let path = &self.oracle.versions[number].path;
                return Err(format!(
                    "{path} was acknowledged and is nowhere; it was in {:?}",
                    before[number]
                ));
            }
            self.counts.excused += 1;
            self.oracle.versions[number].fate = Fate::Excused("an operator".to_owned());
        }
        if self.stale.is_none() && self.swapped.is_none() {
            self.look_at_catalogue()?;
        }
        Ok(())
    }

    /// Whether the catalogue knows everything, and says nothing that is not so.
    fn look_at_catalogue(&mut self) -> Judged {
        let catalogue = self
            .world
            .catalogue()
            .map_err(|error| format!("the catalogue: {error}"))?;
        let failed = |error: CatalogueError| format!("the catalogue: {error}");
        for path in self.oracle.paths() {
            let live = catalogue.live_file(path.as_bytes()).map_err(failed)?;
            let Some(live) = live else {
                return Err(format!(
                    "{path} was acknowledged, and the catalogue does not know it"
                ));
            };
            let sum = sum_of(&catalogue, live).map_err(failed)?;
            let wanted = self.oracle.wanted(&path).map(|version| version.sum);
            if sum != wanted {
                let mut versions = self.oracle.versions.iter();
                let unsure = versions.position(|version| {
                    version.path == path && version.fate == Fate::Unsure && Some(version.sum) == sum
                });
                match unsure {
                    Some(number) => self.oracle.acknowledged(number),
                    None => {
                        return Err(format!(
                            "{path}: the catalogue has another version than was acknowledged last"
                        ));
                    }
                }
            }
            let reachable = self.is_reachable(&catalogue, live, &path);
            if let Some(number) = self.oracle.number_of(&path)
                && reachable.is_err()
                && self.harmed.contains(&self.oracle.versions[number].sum)
            {
                self.counts.excused += 1;
                self.oracle.versions[number].fate = Fate::Excused("an operator".to_owned());
                continue;
            }
            reachable?;
        }
        Ok(())
    }

    /// Whether a file is where the catalogue says, in one place at least that nobody destroyed.
    fn is_reachable(&self, catalogue: &SqliteCatalogue, id: FileId, path: &str) -> Judged {
        let failed = |error: CatalogueError| format!("the catalogue: {error}");
        let entry = catalogue.file(id).map_err(failed)?;
        let Some(version) = self.oracle.wanted(path) else {
            return Ok(());
        };
        let mut is_somewhere = false;
        if let Some(Cached { key, .. }) = catalogue.cached(id).map_err(failed)? {
            let name = PathBuf::from(format!("{:02x}/{:016x}", key.0 & 0xff, key.0));
            is_somewhere |= self.world.disk.tree().contents(&name) == Some(&version.contents[..]);
        }
        for copy in entry
            .copies
            .iter()
            .filter(|copy| copy.state == CopyState::Whole)
        {
            let mut is_here = true;
            for (volume, _) in &copy.segments {
                let label = catalogue.volume(*volume).map_err(failed)?.label;
                is_here &= version.places.contains(&label);
                if !is_here && !self.tampered.contains(&label) {
                    return Err(format!(
                        "{path}: the catalogue has a copy on {label}, and it is not there"
                    ));
                }
            }
            is_somewhere |= is_here;
        }
        if !is_somewhere && !version.places.is_empty() {
            let states: Vec<_> = entry.copies.iter().map(|copy| copy.state).collect();
            return Err(format!(
                "{path} is in {:?}, and the catalogue cannot find it: {states:?}",
                version.places
            ));
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
                let all = self.world.labels();
                if all.iter().all(|label| !self.world.is_in_drive(label)) {
                    break;
                }
            }
            self.swapped = None;
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

/// What a process says when it does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The catalogue is lost, or not as new as cache or tape.
    Stale,
    /// Another host has a drive.
    Reserved,
    /// Anything else.
    Other,
}

impl Refusal {
    fn of(trouble: &Trouble) -> Refusal {
        let of_volume = |error: &MoveError| match error {
            MoveError::Volume {
                source: VolumeError::Ahead { .. },
                ..
            } => Refusal::Stale,
            MoveError::Pool(PoolError::Reserved { .. }) => Refusal::Reserved,
            _ => Refusal::Other,
        };
        match trouble {
            Trouble::Open(OpenError::Catalogue(CatalogueError::Lost { .. })) => Refusal::Stale,
            Trouble::Open(OpenError::Cache(
                CacheError::OlderCatalogue { .. } | CacheError::OtherCatalogue { .. },
            )) => Refusal::Stale,
            Trouble::Devices(ScsiError::Reserved { .. }) => Refusal::Reserved,
            Trouble::Move(error) => of_volume(error),
            _ => Refusal::Other,
        }
    }
}

/// Whether a name in the cache is that of a file in its place.
fn is_of_a_file(name: &Path) -> bool {
    let first = name.iter().next().map_or(0, std::ffi::OsStr::len);
    first == 2
}

fn terms() -> Terms {
    Terms {
        user: "alice".to_owned(),
        ..Terms::default()
    }
}

/// Contents that no other file has, some of which can be compressed.
fn contents(random: &mut Random, path: &str) -> Vec<u8> {
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

fn volumes_of_ours(process: &Process<'_>) -> Result<Vec<VolumeId>, Trouble> {
    let volumes = process.archive.catalogue.volumes()?.into_iter();
    let ours = volumes.filter(|(_, volume)| volume.format == VolumeFormat::Tapewise);
    Ok(ours.map(|(id, _)| id).collect())
}

/// As `catalog verify`: all volumes, then what is lost is made again.
fn verify(process: &mut Process<'_>) -> Result<u64, Trouble> {
    let volumes = volumes_of_ours(process)?;
    process.moving(|mover| {
        let mut to_remake = Vec::new();
        let mut mounts = 0;
        for (_, found) in mover.verify(&volumes, Micros::FAR)? {
            mounts += 1;
            if let Ok(found) = found {
                to_remake.extend(found.to_remake);
            }
        }
        to_remake.sort_unstable();
        to_remake.dedup();
        if !to_remake.is_empty() {
            mover.remake(to_remake)?;
        }
        Ok(mounts)
    })
}

/// As `catalog repack --reuse`.
fn repack(process: &mut Process<'_>, chosen: u64) -> Result<u64, Trouble> {
    let volumes = volumes_of_ours(process)?;
    let Some(&volume) = volumes.get((chosen % volumes.len().max(1) as u64) as usize) else {
        return Ok(0);
    };
    let record = process.archive.catalogue.volume(volume)?;
    process.moving(|mover| {
        let repacked = mover.repack(volume)?;
        if repacked.forgotten.is_some() && chosen % 2 == 0 {
            mover.reuse(&record)?;
        }
        Ok(repacked.moved.migrated.mounts + 1)
    })
}
