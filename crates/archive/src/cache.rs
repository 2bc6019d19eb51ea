//! The disk in front of the tapes: high and low water, pins, and never the only copy dropped.
//!
//! A file comes in by four steps: room is [reserved](Cache::reserve), its contents are written to a
//! name of their own and synced, it is renamed to its place, and the catalogue records it, in the same
//! transaction as what it is recorded for. It goes by two: the catalogue takes its record away if it
//! may go, then it is unlinked. So a record always has its file, whenever the process is killed; a file
//! without a record is the rest of a step that was not finished, and [`Cache::open`] removes it.
//!
//! That holds only while the catalogue is the one that the files were recorded in. Operators restore copies of
//! catalogues, and lose them: `tie` tells, and a file in its place that such a catalogue does not know is set
//! aside and never removed.
//!
//! What may go is for the catalogue to say, see [`CacheRecords::evict`]: never what is pinned, and
//! never what lacks copies on tape. Times come from the caller, as the catalogue's do.

mod disk;
mod error;
mod incoming;
mod place;
mod recover;
mod state;
mod tie;

pub use disk::{Directory, Disk, DiskFile};
pub(crate) use error::is_no_room;
pub use error::{CacheError, Limit};
pub use incoming::{Arrived, Incoming, Reservation};
pub(crate) use recover::QUARANTINE;
pub use recover::{Recovered, SetAside};
pub use state::Water;

use crate::catalogue::{
    CacheKey, CacheRecords, CatalogueError, FileId, Holds, NewStore, RequestId,
};
use crate::kept::Kept;
use error::io_error;
pub(crate) use place::place;
use recover::Reconcile;
use rustix::io::Errno;
use state::{Inner, State};
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// How full a cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of the files in it.
    pub held_bytes: u64,
    /// Bytes that transfers under way have reserved.
    pub reserved_bytes: u64,
}

/// A disk cache; clones are the same cache.
#[derive(Clone)]
pub struct Cache(Arc<Inner>);

impl Cache {
    /// Opens a cache and puts right what a killed process left.
    ///
    /// # Errors
    /// [`CacheError::OlderCatalogue`] and [`CacheError::OtherCatalogue`]: see [`Cache::reconcile`].
    pub fn open(
        disk: Box<dyn Disk>,
        records: Arc<dyn CacheRecords>,
        water: Water,
    ) -> Result<(Cache, Recovered), CacheError> {
        Cache::with(disk, records, water, Reconcile::No)
    }

    /// Opens a cache with a catalogue that is older than it, or another than it belongs to. Cached files that this
    /// catalogue does not know are set aside.
    ///
    /// # Errors
    /// [`CacheError`].
    pub fn reconcile(
        disk: Box<dyn Disk>,
        records: Arc<dyn CacheRecords>,
        water: Water,
    ) -> Result<(Cache, Recovered), CacheError> {
        Cache::with(disk, records, water, Reconcile::Yes)
    }

    fn with(
        disk: Box<dyn Disk>,
        records: Arc<dyn CacheRecords>,
        water: Water,
        reconcile: Reconcile,
    ) -> Result<(Cache, Recovered), CacheError> {
        let Water {
            high_bytes,
            low_bytes,
        } = water;
        if low_bytes > high_bytes {
            return Err(CacheError::Water {
                high_bytes,
                low_bytes,
            });
        }
        disk.make_directories(&recover::directories())
            .map_err(io_error("making directories in", Path::new(".")))?;
        let (state, recovered) = recover::recover(disk.as_ref(), records.as_ref(), reconcile)?;
        let inner = Inner {
            disk,
            records,
            water,
            state: Mutex::new(state),
            unwritten_bytes: AtomicU64::new(0),
            holds: Kept::default(),
        };
        Ok((Cache(Arc::new(inner)), recovered))
    }

    /// Whether the cache in a directory belongs to a catalogue, found without having the cache. Nothing is changed.
    ///
    /// # Errors
    /// As [`Cache::open`].
    pub fn look_at_tie(root: &Path, records: &dyn CacheRecords) -> Result<(), CacheError> {
        recover::look(&Directory::look(root), records)
    }

    /// Takes the records of files away that are not in the cache in a directory any more, or damaged there, by whoever
    /// does not have the cache. Returns those files; the records of others stay, of which no copy is whole on tape, or
    /// all, if the directory has no cache.
    ///
    /// # Errors
    /// As [`Cache::open`].
    pub fn forget_gone(
        root: &Path,
        records: &dyn CacheRecords,
        files: &[FileId],
    ) -> Result<Vec<FileId>, CacheError> {
        let disk = Directory::look(root);
        if tie::read(&disk)?.is_none() {
            return Ok(Vec::new());
        }
        recover::look(&disk, records)?;
        let cached = files.iter().map(|&file| Ok((file, records.cached(file)?)));
        let mut cached = cached.collect::<Result<HashMap<_, _>, CacheError>>()?;
        for needed in records.forget_cached(files)? {
            cached.remove(&needed);
        }
        for cached in cached.values().flatten() {
            // What is left of it is nobody's any more. If it cannot be removed now, the next opening does it.
            let _ = disk.remove(&place(cached.key));
        }
        Ok(cached.into_keys().collect())
    }

    /// Lets other processes have the cache too. Each gives its files keys from another one on, so that no two are the
    /// same.
    ///
    /// # Errors
    /// [`CacheError::Io`].
    pub fn share(&self, first_key: u64) -> Result<(), CacheError> {
        let mut state = self.0.state();
        state.next_key = state.next_key.max(first_key);
        state.looked_ns = Some(i64::MIN);
        let shared = self.0.disk.let_others_in();
        shared.map_err(io_error("sharing", Path::new(".")))
    }

    /// Opens a cache that others have, and who have put it right: see [`Cache::share`].
    pub fn join(
        disk: Box<dyn Disk>,
        records: Arc<dyn CacheRecords>,
        water: Water,
        first_key: u64,
    ) -> Cache {
        let state = State {
            next_key: first_key,
            looked_ns: Some(i64::MIN),
            ..State::default()
        };
        Cache(Arc::new(Inner {
            disk,
            records,
            water,
            state: Mutex::new(state),
            unwritten_bytes: AtomicU64::new(0),
            holds: Kept::default(),
        }))
    }

    /// Whether one thing must be done after the other: see [`Disk::is_in_turns`].
    pub fn is_in_turns(&self) -> bool {
        self.0.disk.is_in_turns()
    }

    /// The longest path of a file that its catalogue takes, in bytes; none where any length goes.
    pub fn longest_path(&self) -> Result<Option<usize>, CacheError> {
        Ok(self.0.records.longest_path()?)
    }

    /// How full it is.
    pub fn usage(&self) -> Usage {
        let state = self.0.state();
        Usage {
            held_bytes: state.held_bytes,
            reserved_bytes: state.reserved_bytes,
        }
    }

    /// Bytes that can come in before it holds more than its low water, all gone that may go.
    pub fn room(&self, at_ns: i64) -> Result<u64, CacheError> {
        let holds = self.holds(&mut self.0.state(), at_ns)?;
        let kept = holds.dirty_bytes + holds.pinned_bytes + self.usage().reserved_bytes;
        Ok(self.0.water.low_bytes.saturating_sub(kept))
    }

    /// Lengths of files that find no room for now, all gone that may go, and would if it were empty.
    pub fn too_long_for_now(&self, at_ns: i64) -> Result<Range<u64>, CacheError> {
        let holds = self.holds(&mut self.0.state(), at_ns)?;
        let kept = holds.dirty_bytes.saturating_add(holds.pinned_bytes);
        let high_bytes = self.0.water.high_bytes;
        let free = self.0.disk.free_bytes();
        let free = free.map_err(io_error("asking for the free room of", Path::new(".")))?;
        let on_disk = free.saturating_add(holds.bytes.saturating_sub(kept));
        let room = high_bytes.saturating_sub(kept).min(on_disk);
        Ok(room.saturating_add(1)..high_bytes.saturating_add(1))
    }

    /// Makes room for a file of at most `bytes`, by evicting others where it has to.
    pub fn reserve(&self, bytes: u64, at_ns: i64) -> Result<Reservation, CacheError> {
        let Water {
            high_bytes,
            low_bytes,
        } = self.0.water;
        if bytes > high_bytes {
            return Err(CacheError::TooLarge {
                wanted_bytes: bytes,
                high_bytes,
            });
        }
        let mut state = self.0.state();
        self.look(&mut state, at_ns)?;
        let wanted = |state: &State| {
            let held = state.held_bytes.saturating_add(state.reserved_bytes);
            held.saturating_add(bytes)
        };
        if wanted(&state) > high_bytes {
            let surplus = wanted(&state) - low_bytes;
            self.evict_locked(&mut state, surplus, at_ns)?;
        }
        let mut limit = (wanted(&state) > high_bytes).then_some(Limit::HighWater { high_bytes });
        if limit.is_none() {
            limit = self.full_disk(&mut state, bytes, at_ns)?;
        }
        if let Some(limit) = limit {
            return Err(CacheError::Full {
                wanted_bytes: bytes,
                limit,
                reserved_bytes: state.reserved_bytes,
                holds: self.0.records.cache_holds(at_ns)?,
            });
        }
        state.reserved_bytes += bytes;
        self.0.unwritten_bytes.fetch_add(bytes, Ordering::Relaxed);
        let key = CacheKey(state.next_key);
        state.next_key += 1;
        Ok(Reservation {
            cache: Arc::clone(&self.0),
            key,
            bytes,
            unwritten_bytes: bytes,
        })
    }

    /// Asks the catalogue now and then how much is held, where others have the cache too. What they are bringing in at
    /// the moment is not counted: by that the cache may hold more than its high water.
    fn look(&self, state: &mut State, at_ns: i64) -> Result<(), CacheError> {
        const EVERY_NS: i64 = 1_000_000_000;
        let Some(looked_ns) = state.looked_ns else {
            return Ok(());
        };
        if at_ns.saturating_sub(looked_ns) >= EVERY_NS {
            self.holds(state, at_ns)?;
        }
        Ok(())
    }

    /// What the catalogue says that the cache holds, now or a while ago: of a million files it takes a second to say.
    fn holds(&self, state: &mut State, at_ns: i64) -> Result<Holds, CacheError> {
        let began = Instant::now();
        // Where time is simulated nothing takes long, however slow the machine is.
        let now = || {
            if self.is_in_turns() {
                began
            } else {
                Instant::now()
            }
        };
        let mut found_bytes = None;
        let find_out = || -> Result<Holds, CacheError> {
            let holds = self.0.records.cache_holds(at_ns)?;
            found_bytes = Some(holds.bytes);
            Ok(holds)
        };
        let holds = self.0.holds.with(now, find_out, |holds| *holds)?;
        if let (Some(bytes), Some(looked_ns)) = (found_bytes, &mut state.looked_ns) {
            (state.held_bytes, *looked_ns) = (bytes, at_ns);
        }
        Ok(holds)
    }

    /// Makes room on the disk, where others have filled it; what is free where that is too little.
    ///
    /// What the catalogue may need to grow is no room for files.
    fn full_disk(
        &self,
        state: &mut State,
        bytes: u64,
        at_ns: i64,
    ) -> Result<Option<Limit>, CacheError> {
        let free = || {
            let free = self.0.disk.free_bytes();
            free.map_err(io_error("asking for the free room of", Path::new(".")))
        };
        let unwritten_bytes = self.0.unwritten_bytes.load(Ordering::Relaxed);
        let wanted_bytes = bytes.saturating_add(unwritten_bytes);
        let mut free_bytes = free()?;
        if free_bytes < wanted_bytes {
            self.evict_locked(state, wanted_bytes - free_bytes, at_ns)?;
            free_bytes = free()?;
        }
        Ok((free_bytes < wanted_bytes).then_some(Limit::Disk {
            free_bytes: free_bytes.saturating_sub(unwritten_bytes),
        }))
    }

    /// Evicts files until `bytes` are free or nothing more may go; returns what was freed.
    pub fn evict(&self, bytes: u64, at_ns: i64) -> Result<u64, CacheError> {
        self.evict_locked(&mut self.0.state(), bytes, at_ns)
    }

    fn evict_locked(&self, state: &mut State, bytes: u64, at_ns: i64) -> Result<u64, CacheError> {
        let used = state.used_ns.iter().map(|(&file, &at)| (file, at));
        let used: Vec<(FileId, i64)> = used.collect();
        let evicted = self.0.records.evict(bytes, &used, at_ns)?;
        state.used_ns.clear();
        let mut freed = 0;
        let mut failed = None;
        for file in evicted {
            let name = place(file.key);
            match self.0.disk.remove(&name) {
                // One that cannot be unlinked goes on to take its room until the next start.
                Err(error) => failed = Some(io_error("removing", &name)(error)),
                Ok(()) => {
                    state.held_bytes = state.held_bytes.saturating_sub(file.bytes);
                    freed += file.bytes;
                }
            }
        }
        failed.map_or(Ok(freed), Err)
    }

    /// Acknowledges files that have arrived: they are live, and stay here until they have their copies.
    ///
    /// All or none, in one transaction: many small files cost little more than one.
    pub fn store(
        &self,
        files: Vec<(Arrived, NewStore)>,
        at_ns: i64,
    ) -> Result<Vec<(FileId, RequestId)>, CacheError> {
        let (arrived, stores): (Vec<Arrived>, Vec<NewStore>) = files.into_iter().unzip();
        for (arrived, store) in arrived.iter().zip(&stores) {
            let file = &store.new.file;
            if file.bytes != arrived.bytes() {
                return Err(CacheError::Length {
                    path: file.path.clone(),
                    written_bytes: arrived.bytes(),
                    file_bytes: file.bytes,
                });
            }
        }
        let keys = arrived.iter().map(Arrived::key);
        let records: Vec<(CacheKey, NewStore)> = keys.zip(stores).collect();
        let stored = recorded(arrived, self.0.records.store_cached(&records, at_ns))?;
        // Acknowledged is what a copy of the catalogue from before cannot hide.
        let turn = self.0.disk.turn();
        let _turn = turn.map_err(io_error("locking", Path::new(".")))?;
        tie::write(self.0.disk.as_ref(), &self.0.records.tie()?, None)?;
        Ok(stored)
    }

    /// Records a file of the archive that has arrived from tape, in the catalogue as whoever read it may use it. If the
    /// cache has it by now, because two asked for it, what is there stays, and this is removed.
    pub fn stage(
        &self,
        records: &dyn CacheRecords,
        arrived: Arrived,
        file: FileId,
        at_ns: i64,
    ) -> Result<(), CacheError> {
        let (key, bytes) = (arrived.key(), arrived.bytes());
        let staged = records.stage_cached(key, file, bytes, at_ns);
        match recorded(vec![arrived], staged) {
            Err(CacheError::Catalogue(CatalogueError::IsCached(_))) => Ok(()),
            recorded => recorded,
        }
    }

    /// Whether the contents of a file are here, and are those that it was stored with.
    pub fn is_whole(&self, file: FileId) -> Result<bool, CacheError> {
        match self.0.records.cached(file)? {
            Some(cached) => recover::is_of(self.0.disk.as_ref(), self.0.records.as_ref(), &cached),
            None => Ok(false),
        }
    }

    /// Whether the contents of a file are known not to be here, or not to be those that it was stored with. Of what
    /// cannot be opened for now, as there are too many open files, nobody knows.
    fn is_damaged(&self, file: FileId) -> Result<bool, CacheError> {
        match self.is_whole(file) {
            Err(CacheError::Io { source, .. }) => {
                Ok(source.raw_os_error() == Some(Errno::IO.raw_os_error()))
            }
            is_whole => Ok(!is_whole?),
        }
    }

    /// Drops a file whose contents here are damaged or gone, if a copy of it is whole on tape; false where none is, or
    /// nobody knows, and the file stays as it is. They are read once more for that.
    pub fn discard(&self, file: FileId) -> Result<bool, CacheError> {
        if !self.is_damaged(file)? {
            return Ok(false);
        }
        // Held to the end, so that nobody evicts it between record and file.
        let mut state = self.0.state();
        let Some(cached) = self.0.records.cached(file)? else {
            return Ok(true);
        };
        let is_needed = !self.0.records.forget_cached(&[file])?.is_empty();
        if !is_needed {
            let name = place(cached.key);
            match self.0.disk.remove(&name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(io_error("removing", &name)(error));
                }
                _ => state.held_bytes = state.held_bytes.saturating_sub(cached.bytes),
            }
        }
        Ok(!is_needed)
    }

    /// Takes a file out of the records whose contents here are damaged or gone, so that it can be stored again; where
    /// what was left of it is set aside.
    pub fn give_up(&self, file: FileId) -> Result<Option<PathBuf>, CacheError> {
        let Inner { disk, records, .. } = self.0.as_ref();
        let mut state = self.0.state();
        let Some(cached) = records.cached(file)? else {
            return Ok(None);
        };
        // It goes aside first: without a record it would be a leftover, and removed.
        let aside = match disk.open(&place(cached.key)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            _ => recover::set_aside(disk.as_ref(), &[cached.key], records.tie()?.generation)?,
        };
        records.drop_cached(file)?;
        state.held_bytes = state.held_bytes.saturating_sub(cached.bytes);
        Ok(aside.map(|aside| aside.directory))
    }

    /// Opens a file that is in the cache; one that is evicted while it is read can be read to its end.
    ///
    /// `used_ns` is when somebody used it; none where it is only copied to tape.
    pub fn read(
        &self,
        file: FileId,
        used_ns: Option<i64>,
    ) -> Result<Option<Box<dyn DiskFile>>, CacheError> {
        let Some(cached) = self.0.records.cached(file)? else {
            return Ok(None);
        };
        let name = place(cached.key);
        match self.0.disk.open(&name) {
            Ok(opened) => {
                if let Some(used_ns) = used_ns {
                    self.note_used(file, used_ns)?;
                }
                Ok(Some(opened))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Evicted meanwhile, or gone.
                match self.0.records.cached(file)? {
                    Some(again) if again.key == cached.key => {
                        Err(CacheError::Missing { file, path: name })
                    }
                    _ => Ok(None),
                }
            }
            Err(error) => Err(io_error("opening", &name)(error)),
        }
    }
}

impl Cache {
    /// Notes when a file was used. The catalogue is told when something is evicted, or when there is much to tell.
    fn note_used(&self, file: FileId, used_ns: i64) -> Result<(), CacheError> {
        const MUCH: usize = 10_000;
        let mut state = self.0.state();
        state.used_ns.insert(file, used_ns);
        if state.used_ns.len() < MUCH {
            return Ok(());
        }
        let used: Vec<(FileId, i64)> = std::mem::take(&mut state.used_ns).into_iter().collect();
        drop(state);
        // Nothing has to go for it.
        self.0.records.evict(0, &used, used_ns)?;
        Ok(())
    }
}

/// Keeps files that were recorded, and removes them where that was refused.
///
/// Where the database failed, whether it was recorded shows at the next start only: they stay.
fn recorded<T>(
    arrived: Vec<Arrived>,
    outcome: crate::catalogue::Result<T>,
) -> Result<T, CacheError> {
    if outcome
        .as_ref()
        .err()
        .is_none_or(CatalogueError::is_of_database)
    {
        arrived.into_iter().for_each(Arrived::keep);
    }
    Ok(outcome?)
}
