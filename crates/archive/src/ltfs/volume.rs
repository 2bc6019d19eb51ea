//! An LTFS volume as its tape tells it: labels, the newest index, and whether it is whole.
//!
//! The newest index of the two partitions is the one to read by. A volume that was not unmounted in
//! order, because its index partition is behind its data partition or because data lies behind the
//! last index, is read all the same: what no index has cannot be recalled, and [`Doubt`] says so.

pub use super::doubt::Doubt;

use super::blocks::{Blocks, Next};
use super::fallback::{Fallback, fallback, generation_in};
use super::label::{COHERENCY_ATTRIBUTE, Coherency, NoVol1, volume_name};
use std::fs::File;
use std::io::{BufReader, Seek, Write};
use tapewise_formats::XmlError;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_formats::ltfs_index::{LtfsFile, LtfsIndex, LtfsIndexError, visit_ltfs_index};
use tapewise_formats::ltfs_label::{LtfsLabel, read_ltfs_label};
use tapewise_scsi::commands::{AttributeValue, ReadAttributes};
use tapewise_scsi::{Command, ScsiError, TapeDrive};

/// VOL1, a filemark, the label, a filemark.
const LABEL_BLOCKS: u64 = 4;

/// The longest index that is read, in bytes: about twenty million files.
const MOST_INDEX_BYTES: u64 = 16 << 30;

/// Runs of blocks between filemarks that are looked at from the end of a partition back until one is
/// an index: what lies behind the last index is one run, or two where an index was cut off.
const MOST_RUNS: u32 = 16;

/// Why a cartridge cannot be read as an LTFS volume.
#[derive(Debug, thiserror::Error)]
pub enum LtfsError {
    /// A command failed.
    #[error(transparent)]
    Scsi(#[from] ScsiError),
    /// The first block is something else.
    #[error("partition {partition} is not of an LTFS volume: {why}")]
    NotLtfs {
        /// The partition.
        partition: u8,
        /// Why.
        why: NoVol1,
    },
    /// Filemarks and blocks do not stand as in a label.
    #[error("partition {partition}, block {block}: {found} where a label of LTFS has {expected}")]
    Layout {
        /// The partition.
        partition: u8,
        /// The block.
        block: u64,
        /// What stands there.
        found: &'static str,
        /// What should.
        expected: &'static str,
    },
    /// The XML label cannot be understood.
    #[error("the label of partition {partition}: {error}")]
    Label {
        /// The partition.
        partition: u8,
        /// Why.
        error: XmlError,
    },
    /// The labels of the two partitions are not of one volume.
    #[error(
        "the label of partition 0 is of volume {first}, that of partition 1 of volume {second}"
    )]
    TwoVolumes {
        /// UUID in partition 0.
        first: String,
        /// UUID in partition 1.
        second: String,
    },
    /// Neither partition has an index that can be read.
    #[error("volume {uuid} has no index that can be read: {why}")]
    NoIndex {
        /// The volume.
        uuid: String,
        /// What was found instead.
        why: String,
    },
    /// The index was read from the tape and cannot be kept or read again.
    #[error("cannot keep the index in a temporary file: {0}")]
    Spool(#[source] std::io::Error),
    /// The index was fine when it was read from the tape.
    #[error("the index: {0}")]
    Index(#[from] LtfsIndexError),
}

/// An index as it stands on the tape.
#[derive(Debug)]
pub struct TapeIndex {
    /// What its head says, and what was counted in it.
    pub head: LtfsIndex,
    /// The partition it was read from.
    pub partition: u8,
    /// Its first block.
    pub start_block: u64,
    /// Its text, as read.
    text: File,
}

impl TapeIndex {
    /// Hands each file to `visit`, in the order of the index.
    ///
    /// # Errors
    /// [`LtfsError::Index`] and [`LtfsError::Spool`], though the index was sound when it was found.
    pub fn visit(&self, visit: impl FnMut(LtfsFile)) -> Result<(), LtfsError> {
        visit_ltfs_index(self.reader()?, visit)?;
        Ok(())
    }

    /// The XML text from its beginning, for whoever keeps a copy of it.
    ///
    /// # Errors
    /// [`LtfsError::Spool`].
    pub fn reader(&self) -> Result<BufReader<File>, LtfsError> {
        let mut text = self.text.try_clone().map_err(LtfsError::Spool)?;
        text.rewind().map_err(LtfsError::Spool)?;
        Ok(BufReader::with_capacity(1 << 20, text))
    }
}

/// An LTFS volume, looked at from its tape.
#[derive(Debug)]
pub struct LtfsVolume {
    /// The name in its VOL1 label, mostly the barcode's first six characters.
    pub name: Option<String>,
    /// Its label.
    pub label: LtfsLabel,
    /// How the letters and bytes of its index map to partitions and blocks.
    pub layout: LtfsLayout,
    /// Its newest index.
    pub index: TapeIndex,
    /// Why it may hold more than that, or other things; empty for a volume that is whole.
    pub doubts: Vec<Doubt>,
    /// That the index is not the newest one that was written, or may not be.
    pub fallback: Option<Fallback>,
}

impl LtfsVolume {
    /// Looks at the volume in a drive: both labels, then both partitions from their ends back to
    /// their last index. Reads only; the head is left anywhere.
    ///
    /// # Errors
    /// [`LtfsError`] where the cartridge is no LTFS volume or has no index that can be read.
    pub fn look(drive: &mut TapeDrive) -> Result<LtfsVolume, LtfsError> {
        let memory = [coherency(drive, 0)?, coherency(drive, 1)?];
        let mut blocks = Blocks::new(drive);
        let (name, label) = read_label(&mut blocks, 0)?;
        let mut doubts = Vec::new();
        let in_index = newest_or_doubt(&mut blocks, 0, &label, &mut doubts)?;
        let (_, second) = read_label(&mut blocks, 1)?;
        if label.volume_uuid != second.volume_uuid {
            return Err(LtfsError::TwoVolumes {
                first: label.volume_uuid,
                second: second.volume_uuid,
            });
        }
        let in_data = newest_or_doubt(&mut blocks, 1, &label, &mut doubts)?;
        // Partition 0 of the tape need not be the index partition.
        let (in_index, in_data) = if label.partition == label.index_partition {
            (in_index, in_data)
        } else {
            (in_data, in_index)
        };
        compare(in_index.as_ref(), in_data.as_ref(), &label, &mut doubts);
        let index = newer(in_index, in_data).ok_or_else(|| LtfsError::NoIndex {
            uuid: label.volume_uuid.clone(),
            why: words(&doubts),
        })?;
        compare_memory(&memory, &index, &mut doubts);
        let in_memory = memory.iter().flatten();
        let in_memory = in_memory.filter(|known| known.volume_uuid == label.volume_uuid);
        let in_memory = in_memory.map(|known| known.generation).max();
        Ok(LtfsVolume {
            fallback: fallback(index.head.generation, in_memory, &doubts),
            name,
            layout: layout(&label),
            label,
            index,
            doubts,
        })
    }

    /// Names it as people do: `TST001 (smallvol, 00cdef45-...)`.
    pub fn title(&self) -> String {
        let root = &self.index.head.volume_name;
        let uuid = &self.label.volume_uuid;
        let inner = if root.is_empty() {
            uuid.clone()
        } else {
            format!("{root}, {uuid}")
        };
        match &self.name {
            Some(name) => format!("{name} ({inner})"),
            None => inner,
        }
    }
}

/// What the label at the beginning of partition 0 says, without a look at the index.
///
/// # Errors
/// [`LtfsError`] where the cartridge does not begin as an LTFS volume does.
pub fn label_in_drive(drive: &mut TapeDrive) -> Result<LtfsLabel, LtfsError> {
    let (_, label) = read_label(&mut Blocks::new(drive), 0)?;
    Ok(label)
}

/// The name in the VOL1 label at the beginning of partition 0; `None` where the volume has no name.
///
/// # Errors
/// [`LtfsError`] where the cartridge does not begin as an LTFS volume does.
pub fn name_in_drive(drive: &mut TapeDrive) -> Result<Option<String>, LtfsError> {
    let (name, _) = read_label(&mut Blocks::new(drive), 0)?;
    Ok(name)
}

/// The layout, with the letters in the order of the tape's partitions: `label` is that of partition 0.
fn layout(label: &LtfsLabel) -> LtfsLayout {
    let mut layout = LtfsLayout::from_label(label);
    if label.partition == label.data_partition {
        std::mem::swap(&mut layout.index_partition, &mut layout.data_partition);
    }
    layout
}

/// What the cartridge's memory says of a partition, where drive and cartridge have it.
fn coherency(drive: &mut TapeDrive, partition: u8) -> Result<Option<Coherency>, ScsiError> {
    let command = ReadAttributes {
        partition,
        first: COHERENCY_ATTRIBUTE,
    };
    let attributes = match command.send(drive.transport()) {
        Ok(attributes) => attributes,
        // No memory, no such partition in it, or nothing from this attribute on.
        Err(error) if error.is_unsupported() => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = attributes
        .iter()
        .find(|attribute| attribute.id == COHERENCY_ATTRIBUTE);
    Ok(found.and_then(|attribute| match &attribute.value {
        AttributeValue::Binary(value) => Coherency::parse(value),
        _ => None,
    }))
}

/// Reads VOL1 and the XML label at the beginning of a partition.
fn read_label(
    blocks: &mut Blocks<'_>,
    partition: u8,
) -> Result<(Option<String>, LtfsLabel), LtfsError> {
    blocks.drive.locate(partition, 0)?;
    let wrong = |block, found, expected| LtfsError::Layout {
        partition,
        block,
        found,
        expected,
    };
    let name = match blocks.next()? {
        Next::Block(block) => {
            volume_name(block).map_err(|why| LtfsError::NotLtfs { partition, why })?
        }
        Next::Filemark => return Err(wrong(0, "a filemark", "VOL1")),
        Next::EndOfData => return Err(wrong(0, "the end of data", "VOL1")),
    };
    filemark(blocks, partition, 1)?;
    let label = match blocks.next()? {
        Next::Block(text) => {
            read_ltfs_label(text).map_err(|error| LtfsError::Label { partition, error })?
        }
        Next::Filemark => return Err(wrong(2, "a filemark", "its XML")),
        Next::EndOfData => return Err(wrong(2, "the end of data", "its XML")),
    };
    filemark(blocks, partition, 3)?;
    Ok((name, label))
}

fn filemark(blocks: &mut Blocks<'_>, partition: u8, block: u64) -> Result<(), LtfsError> {
    let found = match blocks.next()? {
        Next::Filemark => return Ok(()),
        Next::Block(_) => "a block",
        Next::EndOfData => "the end of data",
    };
    Err(LtfsError::Layout {
        partition,
        block,
        found,
        expected: "a filemark",
    })
}

/// The newest index of a partition; that there is no way to one is a doubt, because the other
/// partition has an index too.
fn newest_or_doubt(
    blocks: &mut Blocks<'_>,
    partition: u8,
    label: &LtfsLabel,
    doubts: &mut Vec<Doubt>,
) -> Result<Option<TapeIndex>, LtfsError> {
    match newest(blocks, partition, label, doubts) {
        Err(LtfsError::Scsi(error)) if is_of_the_medium(&error) => {
            doubts.push(Doubt::Unread {
                partition,
                why: error.to_string(),
            });
            Ok(None)
        }
        found => found,
    }
}

fn is_of_the_medium(error: &ScsiError) -> bool {
    use tapewise_scsi::Condition;
    matches!(
        error.condition(),
        Some(Condition::Medium | Condition::EndOfData | Condition::EndOfMedium)
    )
}

/// Goes from the end of a partition back from filemark to filemark until what lies behind one is an
/// index that a filemark closes.
fn newest(
    blocks: &mut Blocks<'_>,
    partition: u8,
    label: &LtfsLabel,
    doubts: &mut Vec<Doubt>,
) -> Result<Option<TapeIndex>, LtfsError> {
    blocks.drive.space_to_end_of_data()?;
    let end_of_data = blocks.block()?;
    let mut end = end_of_data;
    let mut unindexed = 0;
    for _ in 0..MOST_RUNS {
        if end <= LABEL_BLOCKS {
            break;
        }
        blocks.drive.space_filemarks(-1)?;
        let mark = blocks.block()?;
        let first = mark + 1;
        if first < end {
            let run = first..end;
            let is_closed = end < end_of_data;
            let found = match read_run(blocks, partition, run, is_closed, label) {
                // The one before it serves.
                Err(LtfsError::Scsi(error)) if is_of_the_medium(&error) => {
                    Run::BadIndex(error.to_string(), None)
                }
                found => found?,
            };
            match found {
                Run::Index(index) => {
                    push_unindexed(doubts, partition, end, end_of_data, unindexed);
                    return Ok(Some(*index));
                }
                Run::BadIndex(why, generation) => doubts.push(Doubt::BadIndex {
                    partition,
                    block: first,
                    generation,
                    why,
                }),
                Run::Data => {}
            }
            unindexed += end - first;
            blocks.drive.locate(partition, mark)?;
        }
        end = mark;
    }
    push_unindexed(
        doubts,
        partition,
        LABEL_BLOCKS.min(end),
        end_of_data,
        unindexed,
    );
    Ok(None)
}

/// Says which blocks, filemarks not counted, lie behind the last index, whose run ended at `end`.
fn push_unindexed(doubts: &mut Vec<Doubt>, partition: u8, end: u64, end_of_data: u64, blocks: u64) {
    // What could not be read as an index has been said as such already.
    let bad =
        |doubt: &Doubt| matches!(doubt, Doubt::BadIndex { partition: of, .. } if *of == partition);
    if blocks > 0 && end < end_of_data && !doubts.iter().any(bad) {
        doubts.push(Doubt::Unindexed {
            partition,
            first_block: end + 1,
            blocks,
        });
    }
}

/// What a run of blocks between two filemarks is.
enum Run {
    Index(Box<TapeIndex>),
    BadIndex(String, Option<u64>),
    Data,
}

/// Reads a run if it begins as an index does.
fn read_run(
    blocks: &mut Blocks<'_>,
    partition: u8,
    run: std::ops::Range<u64>,
    is_closed: bool,
    label: &LtfsLabel,
) -> Result<Run, LtfsError> {
    blocks.drive.locate(partition, run.start)?;
    let mut text = tempfile::tempfile().map_err(LtfsError::Spool)?;
    let mut bytes = 0;
    let mut generation = None;
    for block in run.clone() {
        let Next::Block(part) = blocks.next()? else {
            let why = format!("it ends before block {block}");
            return Ok(Run::BadIndex(why, generation));
        };
        if block == run.start {
            if !begins_as_index(part) {
                return Ok(Run::Data);
            }
            generation = generation_in(part);
        }
        bytes += part.len() as u64;
        if bytes > MOST_INDEX_BYTES {
            let why = format!("longer than {MOST_INDEX_BYTES} bytes");
            return Ok(Run::BadIndex(why, generation));
        }
        text.write_all(part).map_err(LtfsError::Spool)?;
    }
    if !is_closed {
        let why = "no filemark closes it".to_owned();
        return Ok(Run::BadIndex(why, generation));
    }
    let mut index = TapeIndex {
        head: LtfsIndex::default(),
        partition,
        start_block: run.start,
        text,
    };
    match visit_ltfs_index(index.reader()?, |_| ()) {
        Ok(head) => index.head = head,
        Err(error) => return Ok(Run::BadIndex(error.to_string(), generation)),
    }
    Ok(match misplaced(&index, label) {
        // Of another volume, or a copy from elsewhere: no index of this place is missing.
        Some(why) => Run::BadIndex(why, Some(0)),
        None => Run::Index(Box::new(index)),
    })
}

fn begins_as_index(block: &[u8]) -> bool {
    let head = &block[..block.len().min(1024)];
    head.windows(10).any(|window| window == b"<ltfsindex")
}

/// Whether an index says that it is of another volume or stands elsewhere.
fn misplaced(index: &TapeIndex, label: &LtfsLabel) -> Option<String> {
    if index.head.volume_uuid != label.volume_uuid {
        return Some(format!("it is of volume {}", index.head.volume_uuid));
    }
    let location = index.head.location?;
    (location.start_block != index.start_block)
        .then(|| format!("it says that it stands at block {}", location.start_block))
}

/// Says where the two partitions contradict each other.
fn compare(
    in_index: Option<&TapeIndex>,
    in_data: Option<&TapeIndex>,
    label: &LtfsLabel,
    doubts: &mut Vec<Doubt>,
) {
    let generation = |index: &TapeIndex| index.head.generation;
    match (in_index, in_data) {
        (index, Some(data)) if index.is_none_or(|index| generation(index) < generation(data)) => {
            doubts.push(Doubt::IndexPartitionBehind {
                index: index.map(generation),
                data: generation(data),
            });
        }
        (Some(index), data) if data.is_none_or(|data| generation(data) < generation(index)) => {
            let previous = index.head.previous_location;
            let points_to_it = previous.zip(data).is_some_and(|(previous, data)| {
                previous.partition == label.data_partition
                    && previous.start_block == data.start_block
            });
            if !points_to_it {
                doubts.push(Doubt::DataPartitionBehind {
                    index: generation(index),
                    data: data.map(generation),
                });
            }
        }
        _ => {}
    }
}

/// The index of the higher generation; that of the index partition where both are alike.
fn newer(in_index: Option<TapeIndex>, in_data: Option<TapeIndex>) -> Option<TapeIndex> {
    match (in_index, in_data) {
        (Some(index), Some(data)) => Some(if data.head.generation > index.head.generation {
            data
        } else {
            index
        }),
        (index, data) => index.or(data),
    }
}

/// Says where the cartridge's memory contradicts the tape. That it is behind the tape is no doubt:
/// not every program writes it, and the tape itself was read.
fn compare_memory(memory: &[Option<Coherency>; 2], index: &TapeIndex, doubts: &mut Vec<Doubt>) {
    let tape = index.head.generation;
    let other = memory
        .iter()
        .flatten()
        .find(|known| known.volume_uuid != index.head.volume_uuid);
    if let Some(other) = other {
        doubts.push(Doubt::MemoryOfOther {
            memory: other.volume_uuid.clone(),
        });
        return;
    }
    let newest = memory.iter().flatten().map(|known| known.generation).max();
    if let Some(memory) = newest.filter(|&memory| memory > tape) {
        doubts.push(Doubt::MemoryNewer { memory, tape });
    }
}

fn words(doubts: &[Doubt]) -> String {
    if doubts.is_empty() {
        return "neither partition has one".to_owned();
    }
    let all: Vec<String> = doubts.iter().map(ToString::to_string).collect();
    all.join("; ")
}
