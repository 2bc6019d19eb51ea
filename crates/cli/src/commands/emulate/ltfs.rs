//! An LTFS volume on an emulated cartridge: from files, or from an index whose data is made up.

use crate::error::CliError;
use crate::now::now_ns;
use crate::units;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use tapewise_emulator::{HostAttribute, Recorder, made_up};
use tapewise_formats::ltfs_index::{
    LtfsExtent, LtfsFile, LtfsIndex, LtfsLocation, read_ltfs_index,
};
use tapewise_formats::ltfs_path::LtfsPath;
use tapewise_formats::ltfs_volume_out::{
    BLOCK_BYTES, LABEL_BLOCKS, LtfsVolumeOut, index_at, without_hashes,
};

/// The index partition and the data partition.
const PARTITIONS: [(u8, char); 2] = [(0, 'a'), (1, 'b')];

/// Where the files of a volume come from.
pub enum Source {
    Files(Files),
    Index(Box<ReadIndex>),
}

/// Opens the contents of a file by its path.
pub type Open = dyn Fn(&str) -> io::Result<Box<dyn Read>>;

/// Files that are written with their contents.
pub struct Files {
    /// In the order in which they are written.
    pub entries: Vec<Entry>,
    /// Gives the contents of a file by its path.
    pub open: Box<Open>,
    /// Where they come from, for error messages.
    pub root: PathBuf,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// When the volume was made, in nanoseconds since 1970.
    pub time_ns: i64,
}

/// An index that was read.
pub struct ReadIndex {
    text: String,
    head: LtfsIndex,
    files: Vec<LtfsFile>,
}

/// A file or link, with its path on the volume.
pub struct Entry {
    pub path: String,
    pub kind: EntryKind,
    pub modified_ns: Option<i64>,
    pub readonly: bool,
}

/// What an entry is.
pub enum EntryKind {
    File,
    Link(String),
}

/// Looks at a directory or reads an index.
pub(super) fn source(path: &Path) -> Result<Source, CliError> {
    let bad =
        |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    if path.is_dir() {
        let mut entries = Vec::new();
        walk(path, "", &mut entries)?;
        let root = path.to_owned();
        return Ok(Source::Files(Files {
            entries,
            open: Box::new(move |path| Ok(Box::new(File::open(root.join(path))?))),
            root: path.to_owned(),
            block_bytes: BLOCK_BYTES,
            time_ns: now_ns(),
        }));
    }
    let text = fs::read_to_string(path).map_err(|error| bad(&error))?;
    let text = without_hashes(&text);
    let (head, files) = read_ltfs_index(text.as_bytes()).map_err(|error| bad(&error))?;
    let mut extents = files.iter().flat_map(|file| &file.extents);
    let elsewhere =
        |one: &&LtfsExtent| !['a', 'b'].contains(&one.partition) || one.start_block < LABEL_BLOCKS;
    if let Some(extent) = extents.find(elsewhere) {
        return Err(bad(&format!(
            "it has data in block {} of partition {}, where an emulated volume has none: its data begins at block \
             {LABEL_BLOCKS} of partitions a and b",
            extent.start_block, extent.partition
        )));
    }
    Ok(Source::Index(Box::new(ReadIndex { text, head, files })))
}

/// Everything below a directory, by name.
fn walk(directory: &Path, inner: &str, entries: &mut Vec<Entry>) -> Result<(), CliError> {
    let bad = |path: &Path, what: &str| CliError::input(format!("{}: {what}", path.display()));
    let failed = |error: std::io::Error| bad(directory, &error.to_string());
    let mut below = fs::read_dir(directory)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(failed)?;
    below.sort_by_key(fs::DirEntry::file_name);
    for entry in below {
        let path = entry.path();
        let Ok(name) = entry.file_name().into_string() else {
            return Err(bad(&path, "its name is not UTF-8, which LTFS needs"));
        };
        let name = format!("{inner}{name}");
        let data = entry.metadata().map_err(failed)?;
        let kind = if data.is_dir() {
            walk(&path, &format!("{name}/"), entries)?;
            continue;
        } else if data.is_symlink() {
            let target = fs::read_link(&path).map_err(failed)?;
            EntryKind::Link(target.to_string_lossy().into_owned())
        } else if data.is_file() {
            EntryKind::File
        } else {
            return Err(bad(
                &path,
                "neither a file, a directory nor a symbolic link",
            ));
        };
        let modified = data.modified().ok();
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        entries.push(Entry {
            path: name,
            kind,
            modified_ns: modified.and_then(|time| i64::try_from(time.as_nanos()).ok()),
            readonly: data.permissions().readonly(),
        });
    }
    Ok(())
}

/// Writes the volume. Returns what it is.
///
/// # Errors
/// A file that cannot be read, or a cartridge that takes no volume or not all of it.
pub fn write(source: &Source, barcode: &str, mut recorder: Recorder) -> Result<String, CliError> {
    recorder.make_two_partitions()?;
    let mut volume = LtfsVolumeOut {
        creator: format!("tapewise {} - emulate", env!("CARGO_PKG_VERSION")),
        barcode: barcode.to_owned(),
        uuid: uuid(recorder.seed()),
        time_ns: now_ns(),
        block_bytes: BLOCK_BYTES,
    };
    match source {
        Source::Index(index) => volume.uuid.clone_from(&index.head.volume_uuid),
        Source::Files(files) => {
            volume.time_ns = files.time_ns;
            volume.block_bytes = files.block_bytes;
        }
    }
    for (partition, letter) in PARTITIONS {
        recorder.block(partition, &volume.vol1())?;
        recorder.filemark(partition)?;
        recorder.block(partition, volume.label(letter).as_bytes())?;
        recorder.filemark(partition)?;
    }
    let (text, generation, files) = match source {
        Source::Files(files) => {
            let files = record_files(files, &mut recorder)?;
            let here = next_index(&recorder, 1, 'b', None);
            (volume.index(&files, here), 1, files.len())
        }
        Source::Index(index) => {
            for (partition, letter) in PARTITIONS {
                make_up(&index.files, partition, letter, &mut recorder)?;
            }
            (index.text.clone(), index.head.generation, index.files.len())
        }
    };
    write_indexes(source, &text, generation, &volume, &mut recorder)?;
    let room = recorder.room(1);
    recorder.finish()?;
    Ok(format!(
        "LTFS volume {} with {}, {} free",
        volume.uuid,
        units::count(files, "file"),
        units::bytes(room)
    ))
}

/// Puts the index at the end of both partitions, the data partition's first, and says so in the cartridge's memory.
fn write_indexes(
    source: &Source,
    text: &str,
    generation: u64,
    volume: &LtfsVolumeOut,
    recorder: &mut Recorder,
) -> Result<(), CliError> {
    let head = match source {
        Source::Index(index) => Some(&index.head),
        Source::Files(_) => None,
    };
    let data = next_index(recorder, 1, 'b', head);
    let own = next_index(recorder, 0, 'a', head);
    for (partition, place, previous) in [(1, data, None), (0, own, Some(data))] {
        let text = index_at(text, place, previous)
            .ok_or_else(|| CliError::input("the index has no <location>, so it was not taken from a tape: `--ltfs` needs one that LTFS wrote"))?;
        let end = recorder.end_of_data(partition);
        gap(end, place.start_block, partition, recorder)?;
        for block in text.as_bytes().chunks(volume.block_bytes as usize) {
            recorder.block(partition, block)?;
        }
        recorder.filemark(partition)?;
        let value = volume.coherency(generation, place.start_block);
        let attributes = [
            (0x0800, 1, b"TAPEWISE".to_vec()),
            (0x0806, 1, format!("{:<32}", volume.barcode).into_bytes()),
            (0x080b, 1, format!("{:<16}", "2.4.0").into_bytes()),
            (0x080c, 0, value),
        ];
        for (id, format, value) in attributes {
            recorder.attribute(HostAttribute {
                id,
                format,
                partition,
                value,
            });
        }
    }
    Ok(())
}

/// Where the next index of a partition begins: after a filemark, or later where it lay before.
fn next_index(
    recorder: &Recorder,
    partition: u8,
    letter: char,
    head: Option<&LtfsIndex>,
) -> LtfsLocation {
    let after_data = recorder.end_of_data(partition) + 1;
    let before = head
        .into_iter()
        .flat_map(|head| [head.location, head.previous_location])
        .flatten()
        .find(|place| place.partition == letter)
        .map_or(0, |place| place.start_block);
    LtfsLocation {
        partition: letter,
        start_block: after_data.max(before),
    }
}

/// Writes files, each from a block of its own on.
fn record_files(from: &Files, recorder: &mut Recorder) -> Result<Vec<LtfsFile>, CliError> {
    let mut block = vec![0; from.block_bytes as usize];
    let mut files = Vec::with_capacity(from.entries.len());
    for entry in &from.entries {
        let mut file = LtfsFile {
            path: LtfsPath::from(entry.path.as_str()),
            modified_ns: entry.modified_ns,
            readonly: entry.readonly,
            ..LtfsFile::default()
        };
        match &entry.kind {
            EntryKind::Link(target) => file.symlink = Some(target.as_str().into()),
            EntryKind::File => {
                let start_block = recorder.end_of_data(1);
                file.length = record_file(from, &entry.path, &mut block, recorder)?;
                let extent = (file.length > 0).then_some(LtfsExtent {
                    file_offset: 0,
                    partition: 'b',
                    start_block,
                    byte_offset: 0,
                    byte_count: file.length,
                });
                file.extents = extent.into_iter().collect();
            }
        }
        files.push(file);
    }
    Ok(files)
}

/// Writes a file's bytes. Returns how many.
fn record_file(
    from: &Files,
    path: &str,
    block: &mut [u8],
    recorder: &mut Recorder,
) -> Result<u64, CliError> {
    let bad =
        |error: io::Error| CliError::input(format!("{}: {error}", from.root.join(path).display()));
    let mut file = (from.open)(path).map_err(bad)?;
    let mut length = 0;
    loop {
        let mut filled = 0;
        while filled < block.len() {
            match file.read(&mut block[filled..]).map_err(bad)? {
                0 => break,
                bytes => filled += bytes,
            }
        }
        if filled > 0 {
            recorder.block(1, &block[..filled])?;
            length += filled as u64;
        }
        if filled < block.len() {
            return Ok(length);
        }
    }
}

/// Makes up the blocks of a partition that files lie on, and what lies between them: filemarks at the ends of a
/// gap, as around an index, and blocks that no file has any more.
fn make_up(
    files: &[LtfsFile],
    partition: u8,
    letter: char,
    recorder: &mut Recorder,
) -> Result<(), CliError> {
    let (full, short) = used_blocks(files, letter);
    let mut at = recorder.end_of_data(partition);
    let mut full = full.into_iter().peekable();
    let mut short = short.into_iter().peekable();
    loop {
        let next_full = full.peek().copied();
        let next_short = short.peek().copied();
        let next = match (next_full, next_short) {
            (Some((from, _)), Some((block, _))) => from.min(block),
            (Some((from, _)), None) => from,
            (None, Some((block, _))) => block,
            (None, None) => break,
        };
        gap(at, next, partition, recorder)?;
        at = at.max(next);
        if let Some((from, to)) = next_full.filter(|(from, _)| *from <= at) {
            for _ in at.max(from)..to {
                recorder.made_up(partition, BLOCK_BYTES)?;
            }
            at = at.max(to);
            full.next();
        } else if let Some((block, bytes)) = next_short {
            if block == at {
                recorder.made_up(partition, bytes)?;
                at += 1;
            }
            short.next();
        }
    }
    Ok(())
}

/// Blocks that no file has.
fn gap(from: u64, to: u64, partition: u8, recorder: &mut Recorder) -> Result<(), CliError> {
    for block in from..to {
        if block == from || block + 1 == to {
            recorder.filemark(partition)?;
        } else {
            recorder.made_up(partition, BLOCK_BYTES)?;
        }
    }
    Ok(())
}

/// The runs of full blocks of a partition, sorted and apart, and the lengths of the blocks that end a file.
fn used_blocks(files: &[LtfsFile], letter: char) -> (Vec<(u64, u64)>, BTreeMap<u64, u64>) {
    let mut runs = Vec::new();
    let mut short = BTreeMap::new();
    let extents = files.iter().flat_map(|file| &file.extents);
    for extent in extents.filter(|one| one.partition == letter && one.byte_count > 0) {
        let bytes = extent.byte_offset.saturating_add(extent.byte_count);
        let end = extent.start_block.saturating_add(bytes / BLOCK_BYTES);
        if end > extent.start_block {
            runs.push((extent.start_block, end));
        }
        if !bytes.is_multiple_of(BLOCK_BYTES) {
            let length = short.entry(end).or_insert(0);
            *length = (*length).max(bytes % BLOCK_BYTES);
        }
    }
    runs.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (from, to) in runs {
        match merged.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ => merged.push((from, to)),
        }
    }
    (merged, short)
}

/// A UUID that follows from a cartridge's seed.
fn uuid(seed: u32) -> String {
    let mut bytes = [0; 16];
    made_up(seed, u64::MAX, &mut bytes);
    // Version 4, variant 1 (RFC 9562).
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}
