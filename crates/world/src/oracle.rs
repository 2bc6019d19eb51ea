//! What was acknowledged, where it is, and where it must be.
//!
//! The oracle knows the contents of every file that was acknowledged. It looks for them itself: in the cache's disk,
//! and on the tapes, which it reads with another program's tar reader from the files behind them. It believes no
//! catalogue.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::path::Path;
use tapewise_emulator::Medium;
use xxhash_rust::xxh3::xxh3_64;

/// What the tapes hold.
#[derive(Default)]
pub struct ByTape(BTreeMap<String, Tape>);

struct Tape {
    /// What its index looked like when it was read.
    seen: u64,
    holds: Vec<Held>,
}

/// A file, or a part of one, in a closed segment.
struct Held {
    /// XXH3 of the whole file.
    file: u64,
    /// The part's place in the file, and its length.
    from: u64,
    bytes: u64,
    /// XXH3 of the part.
    sum: u64,
}

/// What became of a version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It must be there.
    Wanted,
    /// Nobody knows whether it was acknowledged: its process was killed.
    Unsure,
    /// A later version took its place, or somebody gave it up.
    Past,
    /// Somebody destroyed it, and who.
    Excused(String),
}

/// A file that was stored.
pub struct Version {
    /// Its path in the archive.
    pub path: String,
    /// Its contents.
    pub contents: Vec<u8>,
    /// XXH3 of them.
    pub sum: u64,
    /// The clock's time when it was stored, which operators change.
    pub stored_ns: i64,
    /// What became of it.
    pub fate: Fate,
    /// Where it was after the last event.
    pub places: BTreeSet<String>,
}

/// Everything that was ever stored, the oldest first.
#[derive(Default)]
pub struct Oracle {
    /// The versions.
    pub versions: Vec<Version>,
}

impl Oracle {
    /// A file that is about to be stored.
    pub fn expect(&mut self, path: &str, contents: Vec<u8>, stored_ns: i64) -> usize {
        self.versions.push(Version {
            path: path.to_owned(),
            sum: xxh3_64(&contents),
            contents,
            stored_ns,
            fate: Fate::Unsure,
            places: BTreeSet::new(),
        });
        self.versions.len() - 1
    }

    /// A file was acknowledged: earlier ones of its path are past.
    pub fn acknowledged(&mut self, number: usize) {
        let path = self.versions[number].path.clone();
        for version in &mut self.versions[..number] {
            if version.path == path {
                version.fate = Fate::Past;
            }
        }
        self.versions[number].fate = Fate::Wanted;
    }

    /// The version that counts instead of the last one, if the catalogue has it: one of a history that was restored
    /// away, by a clock that was later. Of two histories only the clock tells which version is the later one.
    pub fn of_another_history(&self, path: &str, sum: u64, restored: &[usize]) -> Option<usize> {
        let last = self.number_of(path)?;
        let last_ns = self.versions[last].stored_ns;
        let is_it = |number: usize, version: &Version| {
            let between = restored.iter().any(|&at| number < at && at <= last);
            version.path == path && version.sum == sum && between && version.stored_ns >= last_ns
        };
        (0..last)
            .rev()
            .find(|&number| is_it(number, &self.versions[number]))
    }

    /// An earlier version counts again.
    pub fn counts_again(&mut self, number: usize) {
        let path = self.versions[number].path.clone();
        for version in self
            .versions
            .iter_mut()
            .filter(|version| version.path == path)
        {
            if version.fate == Fate::Wanted {
                version.fate = Fate::Past;
            }
        }
        self.versions[number].fate = Fate::Wanted;
    }

    /// The version of a path that counts.
    pub fn wanted(&self, path: &str) -> Option<&Version> {
        let mut versions = self.versions.iter().rev();
        versions.find(|version| version.path == path && version.fate == Fate::Wanted)
    }

    /// The number of the version of a path that counts.
    pub fn number_of(&self, path: &str) -> Option<usize> {
        let mut versions = self.versions.iter();
        versions.rposition(|version| version.path == path && version.fate == Fate::Wanted)
    }

    /// All paths with a version that must be there.
    pub fn paths(&self) -> Vec<String> {
        let wanted = self
            .versions
            .iter()
            .filter(|version| version.fate == Fate::Wanted);
        wanted
            .map(|version| version.path.clone())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// Looks for every version that must be there, after an event that only an operator or a product did. Versions
    /// that are nowhere any more.
    pub fn look(&mut self, tapes: &ByTape, files: &BTreeMap<u64, Vec<String>>) -> Vec<usize> {
        let mut gone = Vec::new();
        for (number, version) in self.versions.iter_mut().enumerate() {
            // One of which nobody knows may turn out to have been acknowledged: then it must be known where it is.
            if !matches!(version.fate, Fate::Wanted | Fate::Unsure) {
                continue;
            }
            let mut places: BTreeSet<String> = tapes.holding(version).into_iter().collect();
            places.extend(files.get(&version.sum).into_iter().flatten().cloned());
            if version.contents.is_empty() {
                // It needs no place: its record is all there is of it.
                places.insert("nowhere".to_owned());
            }
            if places.is_empty() && version.fate == Fate::Wanted {
                gone.push(number);
            }
            version.places = places;
        }
        gone
    }
}

impl ByTape {
    /// What changes when a tape is written.
    pub fn seen(&self, label: &str) -> Option<u64> {
        self.0.get(label).map(|tape| tape.seen)
    }

    /// Sums of the files of which a tape has something, be it a part.
    pub fn sums_on(&self, label: &str) -> Vec<u64> {
        let held = self.0.get(label).into_iter().flat_map(|tape| &tape.holds);
        held.map(|held| held.file).collect()
    }

    /// The labels of the tapes that have all of a version, alone or together.
    pub fn holding(&self, version: &Version) -> Vec<String> {
        let mut labels = Vec::new();
        let mut parts: Vec<(u64, u64, &String)> = Vec::new();
        for (label, tape) in &self.0 {
            for held in tape.holds.iter().filter(|held| held.file == version.sum) {
                if held.from == 0 && held.bytes == version.contents.len() as u64 {
                    labels.push(label.clone());
                    continue;
                }
                let range = held.from as usize..(held.from + held.bytes) as usize;
                let is_right = version
                    .contents
                    .get(range)
                    .is_some_and(|part| xxh3_64(part) == held.sum);
                if is_right {
                    parts.push((held.from, held.bytes, label));
                }
            }
        }
        parts.sort_unstable();
        let mut end = 0;
        for (from, bytes, _) in &parts {
            if *from <= end {
                end = end.max(from + bytes);
            }
        }
        if end == version.contents.len() as u64 && end > 0 {
            labels.extend(parts.into_iter().map(|(_, _, label)| label.clone()));
        }
        labels
    }
}

/// Reads the tapes that have changed.
pub fn on_tape(cartridges: &Path, tapes: &mut ByTape) -> io::Result<()> {
    for entry in std::fs::read_dir(cartridges)? {
        let entry = entry?;
        let label = entry.file_name().to_string_lossy().into_owned();
        let index = std::fs::read(entry.path().join("0.index"))?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&index);
        let seen = hasher.finish();
        if tapes.0.get(&label).is_none_or(|tape| tape.seen != seen) {
            let holds = read_tape(&entry.path())?;
            tapes.0.insert(label, Tape { seen, holds });
        }
    }
    Ok(())
}

/// What stands in the closed segments of a tape.
fn read_tape(directory: &Path) -> io::Result<Vec<Held>> {
    let medium = Medium::open(directory).map_err(io::Error::other)?;
    let Some(partition) = medium.partition(0) else {
        return Ok(Vec::new());
    };
    let mut held = Vec::new();
    let mut begin = 0;
    for &mark in partition.filemarks() {
        let mut segment = Vec::new();
        for block in begin..mark {
            let length = partition.object(block).map_or(0, |object| object.length);
            let at = segment.len();
            segment.resize(at + length as usize, 0);
            partition
                .read(block, &mut segment[at..])
                .map_err(io::Error::other)?;
        }
        begin = mark + 1;
        read_segment(&segment, &mut held);
    }
    Ok(held)
}

/// The files of a segment; what is no tar archive has none.
fn read_segment(segment: &[u8], held: &mut Vec<Held>) {
    let mut archive = tar::Archive::new(segment);
    let Ok(entries) = archive.entries() else {
        return;
    };
    for entry in entries {
        let Ok(mut entry) = entry else { return };
        let mut pax = BTreeMap::new();
        if let Ok(Some(extensions)) = entry.pax_extensions() {
            for extension in extensions.flatten() {
                if let (Ok(key), Ok(value)) = (extension.key(), extension.value()) {
                    pax.insert(key.to_owned(), value.to_owned());
                }
            }
        }
        let mut bytes = Vec::new();
        if entry.read_to_end(&mut bytes).is_err() {
            return;
        }
        if pax.contains_key("TAPEWISE.zstd") {
            match zstd::decode_all(&bytes[..]) {
                Ok(plain) => bytes = plain,
                Err(_) => continue,
            }
        }
        let sum = xxh3_64(&bytes);
        let file = match pax.get("TAPEWISE.part") {
            None => sum,
            Some(_) => {
                let file = pax.get("TAPEWISE.file.xxh3");
                file.and_then(|hex| u64::from_str_radix(hex, 16).ok())
                    .unwrap_or(0)
            }
        };
        let from = pax
            .get("TAPEWISE.offset")
            .and_then(|offset| offset.parse().ok());
        held.push(Held {
            file,
            from: from.unwrap_or(0),
            bytes: bytes.len() as u64,
            sum,
        });
    }
}
