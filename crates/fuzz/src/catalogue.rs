//! The catalogue: a damaged file in its place, and whatever an archive does to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tapewise_archive::catalogue::{
    CacheKey, CacheRecords as _, Catalogue as _, CopyState, FileId, FileState, Files as _, Loss,
    NewFile, NewStore, OpenWrite, Part, Pattern, Requests as _, SqliteCatalogue, Terms, VolumeId,
    Volumes as _, Writes as _, Written,
};
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_archive::sums::{Kind, Sum};

const BLOCK_BYTES: u32 = 1000;

/// Paths that operations choose from: few, so that they meet.
const PATHS: u8 = 5;

/// Volumes that operations choose from.
const VOLUMES: u8 = 4;

/// Steps of one sequence: each asks for the integrity of everything.
const MOST_STEPS: usize = 60;

fn volume(number: u8) -> Volume {
    Volume {
        label: format!("TW000{number}"),
        uuid: format!("uuid {number}"),
        format: VolumeFormat::Tapewise,
        state: VolumeState::Empty,
        block_bytes: BLOCK_BYTES,
        next_block: 2,
        written_bytes: 0,
    }
}

fn store(number: u8, bytes: u64, copies: u32, replace: bool) -> NewStore {
    let path = format!("reel/{number}").into_bytes();
    NewStore {
        new: NewFile {
            file: File {
                sums: vec![Sum::of(Kind::Xxh3, &path)],
                path,
                bytes,
                modified_ns: 3,
                mode: 0o644,
            },
            owner: Owner::default(),
            copies,
            replace,
        },
        terms: Terms::default(),
        source: None,
    }
}

/// What a write has put on its volume: whole copies, one after the other.
fn written(catalogue: &SqliteCatalogue, write: &OpenWrite) -> Written {
    let mut next_block = write.first_block;
    let mut all = 0;
    let parts = write.copies.iter().map(|&(file, number)| {
        let bytes = catalogue
            .file(file)
            .expect("it is being written")
            .file
            .bytes;
        let first_block = next_block;
        let last_block = first_block + bytes.max(1).div_ceil(u64::from(BLOCK_BYTES)) - 1;
        next_block = last_block + 1;
        all += bytes;
        let segment = Segment {
            partition: 0,
            first_block,
            last_block,
            byte_offset: 0,
            bytes,
            file_offset: 0,
            start: None,
            end: None,
        };
        Part {
            file,
            number,
            segment,
            zstd_bytes: None,
        }
    });
    Written {
        parts: parts.collect(),
        next_block: next_block + 1,
        bytes: all,
        state: VolumeState::Filling,
    }
}

/// A file as the model has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    path: Vec<u8>,
    is_live: bool,
    is_cached: bool,
    wanted: u32,
    /// Copies that are whole or lost, by number.
    copies: BTreeMap<u32, (bool, VolumeId)>,
}

impl Known {
    fn whole(&self) -> usize {
        self.copies
            .values()
            .filter(|(is_whole, _)| *is_whole)
            .count()
    }

    fn is_safe(&self) -> bool {
        self.is_cached || self.whole() > 0
    }
}

/// What must be true of the catalogue.
struct Model {
    catalogue: SqliteCatalogue,
    files: BTreeMap<FileId, Known>,
    open: Vec<OpenWrite>,
    next_key: u64,
    now_ns: i64,
}

impl Model {
    fn file(&self, at: u8) -> Option<FileId> {
        let count = self.files.len();
        self.files
            .keys()
            .nth(usize::from(at).checked_rem(count)?)
            .copied()
    }

    fn number(&self, file: FileId, at: u8) -> u32 {
        let known = self.files[&file].copies.keys();
        let numbers: Vec<u32> = known.copied().chain([1, 2]).collect();
        numbers[usize::from(at) % numbers.len()]
    }

    fn volume(&self, at: u8) -> Option<VolumeId> {
        let found = self.catalogue.find_volume(&volume(at % VOLUMES).label);
        found.expect("an answer").map(|(id, _)| id)
    }

    fn store(&mut self, [path, size, how]: [u8; 3]) -> bool {
        let replace = how & 1 != 0;
        let new = store(
            path % PATHS,
            u64::from(size) * 37,
            1 + u32::from(how >> 1 & 1),
            replace,
        );
        let before = self
            .catalogue
            .live_file(&new.new.file.path)
            .expect("an answer");
        let key = CacheKey(self.next_key);
        self.next_key += 1;
        let wanted = new.new.copies;
        let Ok(stored) = self
            .catalogue
            .store_cached(&[(key, new.clone())], self.now_ns)
        else {
            return false;
        };
        assert!(
            replace || before.is_none(),
            "a live file was replaced unasked"
        );
        if let Some(before) = before {
            self.known(before).is_live = false;
        }
        let known = Known {
            path: new.new.file.path,
            is_live: true,
            is_cached: true,
            wanted,
            copies: BTreeMap::new(),
        };
        self.files.insert(stored[0].0, known);
        true
    }

    fn known(&mut self, file: FileId) -> &mut Known {
        self.files.get_mut(&file).expect("a file of the model")
    }

    /// Begins to write what lacks copies.
    fn begin(&mut self, at: u8, limit: u8) -> bool {
        let Some(volume) = self.volume(at) else {
            return false;
        };
        let waiting = self
            .catalogue
            .next_migrations(i64::MAX, 4)
            .expect("an answer");
        let mut copies = Vec::new();
        for one in &waiting[..waiting.len().min(1 + usize::from(limit % 3))] {
            let known = &self.files[&one.file];
            assert!(known.is_live && known.is_cached, "{one:?}: {known:?}");
            assert!(known.whole() < known.wanted as usize, "{one:?}: {known:?}");
            copies.push((one.file, one.missing[0].number));
        }
        match self.catalogue.begin_write(volume, &copies, self.now_ns) {
            Ok(write) => self.open.push(write),
            Err(_) => return false,
        }
        true
    }

    fn commit(&mut self, at: u8) -> bool {
        let Some(place) = usize::from(at).checked_rem(self.open.len()) else {
            return false;
        };
        let write = self.open.remove(place);
        let done = written(&self.catalogue, &write);
        let committed = self.catalogue.commit_write(write.id, &done, self.now_ns);
        let Ok(complete) = committed else {
            self.open.insert(place, write);
            return false;
        };
        for (file, number) in write.copies {
            let known = self.known(file);
            known.copies.insert(number, (true, write.volume));
        }
        for file in complete {
            let known = &self.files[&file];
            assert!(known.whole() >= known.wanted as usize, "{known:?}");
        }
        true
    }

    fn abandon(&mut self, at: u8) -> bool {
        let Some(place) = usize::from(at).checked_rem(self.open.len()) else {
            return false;
        };
        let write = self.open.remove(place);
        self.catalogue.abandon_write(write.id).expect("it is open");
        true
    }

    fn evict(&mut self, bytes: u8) -> bool {
        let evicted = self
            .catalogue
            .evict(u64::from(bytes) * 64, &[], self.now_ns);
        for one in evicted.expect("an answer") {
            let known = self.known(one.file);
            let may_go = !known.is_live || known.whole() >= known.wanted as usize;
            assert!(known.is_cached && may_go, "{known:?} was evicted");
            known.is_cached = false;
        }
        true
    }

    /// Marks a copy as lost, unless nothing else has the file: that is a loss, and no fault of the catalogue.
    fn lose(&mut self, file: FileId, number: u32) -> bool {
        let entry = self.catalogue.file(file).expect("known");
        let is_lost = !entry.is_only_in(number)
            && self.catalogue.mark_lost(file, number, self.now_ns).is_ok();
        if is_lost && let Some(copy) = self.known(file).copies.get_mut(&number) {
            copy.0 = false;
        }
        is_lost
    }

    fn take_back(&mut self, file: FileId, number: u32) -> bool {
        let taken = self.catalogue.take_back(file, number, self.now_ns);
        if taken.is_ok() {
            let copy = self.known(file).copies.get_mut(&number);
            copy.expect("a copy that never was on tape was taken back")
                .0 = true;
        }
        taken.is_ok()
    }

    fn drop_copy(&mut self, file: FileId, number: u32) -> bool {
        let dropped = self.catalogue.drop_copy(file, number).is_ok();
        if dropped {
            self.known(file).copies.remove(&number);
        }
        dropped
    }

    fn forget(&mut self, at: u8, loss: Loss) -> bool {
        let Some(volume) = self.volume(at) else {
            return false;
        };
        if self
            .catalogue
            .forget_volume(volume, loss, self.now_ns)
            .is_err()
        {
            return false;
        }
        for known in self.files.values_mut() {
            known.copies.retain(|_, (_, on)| *on != volume);
            if loss == Loss::Accepted && !known.is_safe() {
                known.is_live = false;
            }
        }
        true
    }

    fn stage(&mut self, file: FileId) -> bool {
        let bytes = self.catalogue.file(file).expect("known").file.bytes;
        let key = CacheKey(self.next_key);
        self.next_key += 1;
        let staged = self.catalogue.stage_cached(key, file, bytes, self.now_ns);
        if staged.is_ok() {
            self.known(file).is_cached = true;
        }
        staged.is_ok()
    }

    /// A file is gone from the cache, unless that is the only place where it is.
    fn forget_cached(&mut self, file: FileId) -> bool {
        let needed = self.catalogue.forget_cached(&[file]);
        let is_needed = !needed.expect("an answer").is_empty();
        let known = self.known(file);
        if !is_needed && known.is_cached {
            let may_go = !known.is_live || known.whole() > 0;
            assert!(may_go, "{known:?} was forgotten");
            known.is_cached = false;
        }
        true
    }

    /// One operation; false where it was refused, and then nothing has changed.
    fn step(&mut self, [what, a, b, c]: [u8; 4]) -> bool {
        self.now_ns += 1;
        let file = self.file(a);
        let number = file.map_or(1, |file| self.number(file, b));
        match (what % 14, file) {
            (0 | 1, _) => self.store([a, b, c]),
            (2, _) => self
                .catalogue
                .add_volume(&volume(a % VOLUMES), self.now_ns)
                .is_ok(),
            (3, _) => self.begin(a, b),
            (4 | 5, _) => self.commit(a),
            (6, _) => self.abandon(a),
            (7, _) => self.evict(a),
            (8, Some(file)) => self.lose(file, number),
            (9, Some(file)) => self.take_back(file, number),
            (10, Some(file)) if c & 1 == 0 => self.drop_copy(file, number),
            (10, Some(file)) => self.catalogue.drop_part(file, number).is_ok(),
            (11, _) => self.forget(
                a,
                if b & 1 == 0 {
                    Loss::Refused
                } else {
                    Loss::Accepted
                },
            ),
            (12, Some(file)) if c & 1 == 0 => self.stage(file),
            (12, Some(file)) => self.forget_cached(file),
            (13, Some(file)) => {
                let retired = self.catalogue.retire(file, self.now_ns).is_ok();
                self.known(file).is_live &= !retired;
                retired
            }
            _ => false,
        }
    }

    /// The catalogue as the model has it, and free of contradictions.
    fn compare(&self) {
        let found = self.catalogue.integrity().expect("an answer");
        assert!(found.is_empty(), "{found:?}");
        for (&file, known) in &self.files {
            let entry = self.catalogue.file(file).expect("it is known");
            assert_eq!(
                entry.state == FileState::Live,
                known.is_live,
                "{known:?}: {entry:?}"
            );
            if !known.is_live {
                continue;
            }
            assert!(known.is_safe(), "{known:?} is lost");
            assert_eq!(
                entry.cached.is_some(),
                known.is_cached,
                "{known:?}: {entry:?}"
            );
            let whole = |number: u32| known.copies.get(&number).is_some_and(|copy| copy.0);
            for copy in &entry.copies {
                let is_whole = copy.state == CopyState::Whole;
                assert_eq!(is_whole, whole(copy.number), "{known:?}: {entry:?}");
            }
            let count = entry
                .copies
                .iter()
                .filter(|copy| copy.state == CopyState::Whole);
            assert_eq!(count.count(), known.whole(), "{known:?}: {entry:?}");
            let live = self.catalogue.live_file(&known.path).expect("an answer");
            assert_eq!(live, Some(file));
        }
    }

    /// Everything that operations can change, as text.
    fn everything(&self) -> String {
        let files = self.files.keys().map(|&file| self.catalogue.file(file));
        let files: Vec<_> = files.map(|entry| entry.expect("known")).collect();
        let volumes = self.catalogue.volumes().expect("an answer");
        let cached = self.catalogue.all_cached().expect("an answer");
        let open = self.catalogue.open_writes().expect("an answer");
        let requests = self.catalogue.unanswered().expect("an answer");
        format!("{files:?} {volumes:?} {cached:?} {open:?} {requests:?}")
    }
}

/// Four bytes are an operation. What is acknowledged stays somewhere, what is refused changes nothing, and the
/// catalogue never contradicts itself.
pub(crate) fn catalogue_steps(bytes: &[u8]) {
    let mut model = Model {
        catalogue: SqliteCatalogue::in_memory().expect("memory"),
        files: BTreeMap::new(),
        open: Vec::new(),
        next_key: 1,
        now_ns: 1,
    };
    let steps = bytes.as_chunks().0;
    for &step in &steps[..steps.len().min(MOST_STEPS)] {
        let before = model.everything();
        if model.step(step) {
            model.compare();
        } else {
            assert_eq!(
                model.everything(),
                before,
                "{step:?} was refused, and changed something"
            );
        }
    }
}

/// The file of a small catalogue.
static SOUND: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("catalogue.db");
    let catalogue = SqliteCatalogue::open(&path).expect("a catalogue");
    let tape = catalogue.add_volume(&volume(1), 1).expect("a volume");
    let stores = (0..PATHS).map(|number| (CacheKey(number.into()), store(number, 900, 1, false)));
    let stores: Vec<_> = stores.collect();
    let stored = catalogue.store_cached(&stores, 2).expect("stored");
    let copies = [(stored[0].0, 1), (stored[1].0, 1)];
    let write = catalogue.begin_write(tape, &copies, 3).expect("begun");
    let done = written(&catalogue, &write);
    catalogue
        .commit_write(write.id, &done, 4)
        .expect("committed");
    // A copy has no write-ahead log beside it.
    let copy = directory.path().join("copy.db");
    catalogue.backup(&copy).expect("a backup");
    std::fs::read(copy).expect("a file")
});

/// A file in memory, if this machine has one.
fn scratch() -> Option<PathBuf> {
    Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir())
}

/// A catalogue of these bytes; those that do not begin as a database are changes of a sound one, four bytes
/// each: a place, and what stands there.
fn damaged(bytes: &[u8]) -> Vec<u8> {
    if bytes.starts_with(b"SQLite format 3\0") {
        return bytes.to_vec();
    }
    let mut file = SOUND.clone();
    for &[a, b, c, value] in bytes.as_chunks().0 {
        let at = u32::from_le_bytes([a, b, c, 0]) as usize % file.len();
        match a {
            // Now and then it ends there.
            255 if value == 0 => file.truncate(at.max(1)),
            _ => file[at] = value,
        }
    }
    file
}

fn look(catalogue: &SqliteCatalogue) {
    let _ = catalogue.integrity();
    for (id, _) in catalogue.volumes().unwrap_or_default() {
        let _ = (catalogue.all_contents(id), catalogue.facts(id));
    }
    let found = catalogue.find(&Pattern::Prefix(Vec::new()), None, 100);
    let found: BTreeSet<FileId> = found
        .unwrap_or_default()
        .iter()
        .map(|one| one.file)
        .collect();
    for file in found {
        let _ = catalogue.file(file);
    }
    let _ = (
        catalogue.all_cached(),
        catalogue.unanswered(),
        catalogue.recall_queue(),
        catalogue.waits(),
    );
    let _ = (
        catalogue.next_migrations(i64::MAX, 10),
        catalogue.open_writes(),
        catalogue.tie(),
    );
}

fn change(catalogue: &SqliteCatalogue, directory: &Path) {
    let stored = catalogue.store_cached(&[(CacheKey(77), store(77, 5, 1, true))], 9);
    let _ = (
        catalogue.move_on(3, "line"),
        catalogue.evict(1 << 40, &[], 9),
        catalogue.requeue_started(),
    );
    if let (Ok(stored), Ok(volumes)) = (stored, catalogue.volumes())
        && let Some((volume, _)) = volumes.first()
        && let Ok(write) = catalogue.begin_write(*volume, &[(stored[0].0, 1)], 10)
    {
        // Near the end of what a number holds a catalogue has to refuse, too.
        if write.first_block < u64::MAX / 2 {
            let _ = catalogue.commit_write(write.id, &written(catalogue, &write), 11);
        }
    }
    let _ = catalogue.backup(&directory.join("backup.db"));
}

/// Whatever stands in the place of a catalogue: opened to read, then to work with.
pub(crate) fn catalogue_file(bytes: &[u8]) {
    let made = scratch().map_or_else(tempfile::tempdir, tempfile::tempdir_in);
    let directory = made.expect("a directory");
    let path = directory.path().join("catalogue.db");
    std::fs::write(&path, damaged(bytes)).expect("a file");
    if let Ok(catalogue) = SqliteCatalogue::open_to_read(&path) {
        look(&catalogue);
    }
    if let Ok(catalogue) = SqliteCatalogue::open_existing(&path) {
        look(&catalogue);
        change(&catalogue, directory.path());
        look(&catalogue);
    }
}
