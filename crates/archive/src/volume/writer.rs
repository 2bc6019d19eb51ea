//! Writes segments: labels a cartridge, goes to its end, and says what is on it for good.

use super::end::{IsSafe, require_end, require_nothing_closed, require_position};
use super::label::is_block_length;
use super::member::RECORD_BYTES;
use super::pack::{Entry, Manifest, Packed, ending, pack};
use super::{Label, SEGMENT_BYTES, VolumeError, read_label};
use crate::record::{Segment, Volume};
use crate::stream::{Draining, Ring, write_behind};
use crate::sums::{Kind, Sum};
use std::io::{Error, Result as IoResult};
use tapewise_formats::WrapLpos;
use tapewise_formats::event::{Action, Spot};
use tapewise_run::{Item, Met, Recorder, RunError};
use tapewise_scsi::PositionSource;
use xxhash_rust::xxh3::xxh3_64;

/// What a cartridge must be before it is labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blank {
    /// Nothing may be recorded on it.
    Required,
    /// What is on it is given up.
    Overwritten,
}

/// Bytes after which the drive is asked again where the head is, when a file begins: a quarter of a
/// metre on LTO-8.
pub(crate) const ASK_PLACE_BYTES: u64 = 16 << 20;

/// Bytes in flight between disk and drive, and no more than a segment has.
const RING_BYTES: u64 = 16 << 20;

/// A file of which all is on the tape, behind a filemark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Where it is. The places of the head are what the drive told when it was last asked before
    /// the first block and first asked behind the last one, 16 MiB or a file away at most.
    pub segment: Segment,
    /// XXH3 of what was written.
    pub sum: Sum,
}

/// A segment that was closed.
#[derive(Debug)]
pub struct Written {
    /// The files of the first entries that were taken, in their order. All that were taken behind
    /// them are not on the tape: the caller gives them again.
    pub files: Vec<Placed>,
    /// Why the entry behind the last of these files could not be stored, when its contents were the
    /// reason: unreadable, longer, shorter or other than said.
    pub failed: Option<Error>,
    /// The end of the tape is reached: the volume takes no more.
    pub is_full: bool,
    /// First block behind the segment's filemark: the volume's [`Volume::next_block`].
    pub next_block: u64,
    /// Bytes of the blocks written.
    pub bytes: u64,
    /// Bytes that were on the tape when no more were taken: more than [`Written::bytes`] where what
    /// came last did not fit.
    pub reached_bytes: u64,
}

fn ring(segment_bytes: u64, block_bytes: usize) -> Ring {
    let bytes = RING_BYTES.min(segment_bytes) as usize;
    Ring::new(bytes / block_bytes, block_bytes)
}

/// Writes the segments of one volume. The drive is lent to it for each.
#[derive(Debug)]
pub struct VolumeWriter {
    block_bytes: usize,
    segment_bytes: u64,
    next_block: u64,
    ring: Ring,
}

impl VolumeWriter {
    fn new(block_bytes: u32, next_block: u64) -> Result<VolumeWriter, VolumeError> {
        if !is_block_length(block_bytes) {
            return Err(VolumeError::BlockLength { bytes: block_bytes });
        }
        let block_bytes = block_bytes as usize;
        Ok(VolumeWriter {
            block_bytes,
            segment_bytes: SEGMENT_BYTES,
            next_block,
            ring: ring(SEGMENT_BYTES, block_bytes),
        })
    }

    /// Makes the cartridge in the drive a new volume: writes its label and reads it back.
    ///
    /// # Errors
    /// [`VolumeError::WriteOnce`] if the cartridge is WORM,
    /// [`VolumeError::NotBlank`] when something is recorded and is not to be overwritten,
    /// [`VolumeError::BlockLength`], those of the drive.
    pub fn label(
        recorder: &mut Recorder<'_>,
        label: &Label,
        blank: Blank,
    ) -> Result<VolumeWriter, VolumeError> {
        let block = label.block()?;
        require_own_filemarks(recorder)?;
        if recorder.drive().is_write_once().map_err(RunError::from)? == Some(true) {
            return Err(VolumeError::WriteOnce);
        }
        if blank == Blank::Required {
            require_blank(recorder)?;
        }
        recorder.rewind()?;
        recorder.write_blocks(1, &|_| block.as_slice())?;
        recorder.write_filemark()?;
        let found = read_label(recorder)?;
        require_uuid(&found, &label.uuid)?;
        VolumeWriter::new(label.block_bytes, 2)
    }

    /// Goes on with a volume: checks that the cartridge is the one of the catalogue, that a segment ends
    /// where the catalogue has the volume end, and that nothing follows which `is_safe` does not give up.
    ///
    /// # Errors
    /// [`VolumeError::NoLabel`], [`VolumeError::OtherVolume`], [`VolumeError::NotAtEnd`],
    /// [`VolumeError::Ahead`], those of the drive. Nothing was written.
    pub fn resume(
        recorder: &mut Recorder<'_>,
        volume: &Volume,
        is_safe: &IsSafe<'_>,
    ) -> Result<VolumeWriter, VolumeError> {
        require_own_filemarks(recorder)?;
        let label = read_label(recorder)?;
        require_uuid(&label, &volume.uuid)?;
        let writer = VolumeWriter::new(label.block_bytes, volume.next_block)?;
        recorder.expect_blocks(writer.block_bytes);
        require_end(recorder, writer.next_block)?;
        let at = (writer.next_block, writer.block_bytes);
        require_nothing_closed(recorder, at, is_safe)?;
        Ok(writer)
    }

    /// Sets after how many bytes a segment is closed.
    #[must_use]
    pub fn with_segments_of(mut self, bytes: u64) -> VolumeWriter {
        self.segment_bytes = bytes;
        self.ring = ring(bytes, self.block_bytes);
        self
    }

    /// Makes blocks only while the drive waits for one: see [`Ring::alone`].
    #[must_use]
    pub fn in_turns(mut self, is_so: bool) -> VolumeWriter {
        if is_so {
            self.ring = self.ring.alone();
        }
        self
    }

    /// First block behind what is closed.
    pub fn next_block(&self) -> u64 {
        self.next_block
    }

    /// Sees that the drive still stands after the last filemark: look before what was written is committed. Where the
    /// drive does not tell, the filemark is looked for from the beginning of the tape.
    ///
    /// # Errors
    /// [`VolumeError::Moved`], [`VolumeError::NotAtEnd`], those of the drive.
    pub fn confirm(&self, recorder: &mut Recorder<'_>) -> Result<(), VolumeError> {
        if require_position(recorder, self.next_block)? == PositionSource::Counted {
            recorder.rewind()?;
            require_end(recorder, self.next_block)?;
        }
        Ok(())
    }

    /// Writes one segment: takes entries until it is long enough or there are no more, closes it
    /// with a filemark, and waits until all of it is on the tape. Without entries nothing is
    /// written.
    ///
    /// An entry that is an error, or whose contents fail, ends the segment behind the entry before
    /// it; so does the end of the tape.
    ///
    /// # Errors
    /// [`VolumeError::Abandoned`], [`VolumeError::Moved`], [`VolumeError::NotReadBack`] and [`VolumeError::NoThread`]:
    /// nothing of the segment counts, and [`VolumeWriter::next_block`] is where it was. The next segment is written over it; a
    /// volume whose medium failed should rather take no more.
    pub fn write_segment<'c>(
        &mut self,
        recorder: &mut Recorder<'_>,
        entries: &mut (dyn Iterator<Item = IoResult<Entry<'c>>> + Send),
    ) -> Result<Written, VolumeError> {
        let first_block = self.next_block;
        let result = self.write_and_close(recorder, entries);
        if result.is_err() {
            self.next_block = first_block;
        }
        result.map_err(|error| match error {
            VolumeError::Run(source) => VolumeError::Abandoned {
                first_block,
                source,
            },
            error => error,
        })
    }

    fn write_and_close<'c>(
        &mut self,
        recorder: &mut Recorder<'_>,
        entries: &mut (dyn Iterator<Item = IoResult<Entry<'c>>> + Send),
    ) -> Result<Written, VolumeError> {
        let first_block = self.next_block;
        go_to(recorder, first_block)?;
        require_position(recorder, first_block)?;
        let (block_bytes, segment_bytes) = (self.block_bytes, self.segment_bytes);
        let (mut manifest, drained) = write_behind(
            &mut self.ring,
            ASK_PLACE_BYTES,
            move |filling| pack(entries, block_bytes, segment_bytes, filling),
            |draining| drain(recorder, first_block, draining),
        )
        .map_err(VolumeError::NoThread)?;
        let mut drained = drained?;
        let (whole, blocks) = self.close(recorder, &manifest, &mut drained)?;
        if whole < manifest.members.len() {
            // It did not fit, and whether its successors can be read does not matter here.
            manifest.failed = None;
        }
        if blocks > 0 {
            drained.places.push(told(recorder));
            self.next_block = first_block + blocks + 1;
        }
        let files = manifest.members[..whole].iter();
        let files = files.map(|packed| placed(packed, first_block, block_bytes as u64, &drained));
        Ok(Written {
            files: files.collect(),
            failed: manifest.failed,
            is_full: drained.is_full,
            next_block: self.next_block,
            bytes: blocks * block_bytes as u64,
            reached_bytes: drained.blocks * block_bytes as u64,
        })
    }

    /// Ends the segment with a filemark behind the members that are whole on the tape, as many as
    /// leave room for it; gives their number and the blocks of the segment, none where not even an
    /// empty archive fits.
    fn close(
        &self,
        recorder: &mut Recorder<'_>,
        manifest: &Manifest,
        drained: &mut Drained,
    ) -> Result<(usize, u64), VolumeError> {
        let block_bytes = self.block_bytes as u64;
        let members = &manifest.members;
        let within = |bytes: u64| members.partition_point(|packed| packed.ends_at <= bytes);
        let mut blocks = drained.blocks;
        let mut is_ended = manifest.blocks == Some(blocks);
        let mut whole = within(blocks * block_bytes);
        while blocks > 0 {
            let ended = if is_ended {
                Ok(blocks)
            } else {
                self.end_archive(recorder, members[..whole].last())
            };
            let closed = ended.and_then(|blocks| {
                let mark = self.next_block + blocks;
                require_position(recorder, mark)?;
                recorder.write_filemark()?;
                require_position(recorder, mark + 1)?;
                Ok((whole, blocks))
            });
            match closed {
                Err(VolumeError::Run(RunError::EndOfMedium)) => {
                    // A block less, the archive's two empty records in it.
                    drained.is_full = true;
                    is_ended = false;
                    blocks -= 1;
                    let room = (blocks * block_bytes).saturating_sub(2 * RECORD_BYTES as u64);
                    whole = within(room);
                }
                closed => return closed,
            }
        }
        Ok((0, 0))
    }

    /// Ends the archive behind its last member: reads back what the block has before it, writes that and the end of an
    /// archive over what stands there. Gives the segment's blocks.
    fn end_archive(
        &self,
        recorder: &mut Recorder<'_>,
        last: Option<&Packed>,
    ) -> Result<u64, VolumeError> {
        let block_bytes = self.block_bytes as u64;
        let end = last.map_or(0, |packed| packed.ends_at);
        let (kept_blocks, keep) = (end / block_bytes, (end % block_bytes) as usize);
        let block = self.next_block + kept_blocks;
        let kept = match last {
            Some(packed) if keep > 0 => {
                self.read_back(recorder, block, (keep, packed.block_xxh3))?
            }
            _ => Vec::new(),
        };
        go_to(recorder, block)?;
        let ending = ending(&kept, self.block_bytes);
        // One by one: each of them may meet early warning, which is known by now.
        for block in ending.chunks(self.block_bytes) {
            let run = recorder.write_blocks(1, &|_| block)?;
            if run.blocks == 0 {
                return Err(RunError::EndOfMedium.into());
            }
        }
        Ok(kept_blocks + (ending.len() / self.block_bytes) as u64)
    }

    /// The first bytes of a block, as they were written: what is read wrongly is read once more, and never written.
    fn read_back(
        &self,
        recorder: &mut Recorder<'_>,
        block: u64,
        (keep, xxh3): (usize, u64),
    ) -> Result<Vec<u8>, VolumeError> {
        for _ in 0..2 {
            let mut kept = Vec::new();
            go_to(recorder, block)?;
            recorder.read(Action::Read, 1, &mut |_, item| {
                if let Item::Block(buffer) = item {
                    kept.extend_from_slice(&buffer[..keep.min(buffer.len())]);
                }
                Ok(())
            })?;
            if xxh3_64(&kept) == xxh3 {
                return Ok(kept);
            }
        }
        Err(VolumeError::NotReadBack {
            first_block: self.next_block,
            block,
        })
    }
}

fn require_uuid(found: &Label, expected: &str) -> Result<(), VolumeError> {
    if found.uuid == expected {
        Ok(())
    } else {
        Err(VolumeError::OtherVolume {
            expected: expected.to_owned(),
            found: found.uuid.clone(),
            found_barcode: found.barcode.clone(),
        })
    }
}

/// Refuses a way to the drive that writes filemarks by itself: a segment whose writing was interrupted would look closed.
fn require_own_filemarks(recorder: &mut Recorder<'_>) -> Result<(), RunError> {
    let drive = recorder.drive();
    if !drive.closes_with_filemark() {
        return Ok(());
    }
    Err(RunError::Unsuitable(format!(
        "{}: the kernel's tape driver closes what was interrupted with a filemark, as if it were whole, so tapewise does not \
         write an archive through it; load the sg module (modprobe sg). Nothing was written",
        drive.transport().name()
    )))
}

/// Looks at the first block and wants none. That the drive finds none is not enough, it has to find the end of data: of a
/// cartridge whose end of data is missing, because power failed while it was written, drives say BLANK CHECK too
/// (08/14/03). HP's say the same of one that is new, which its memory tells apart: nothing was ever written to it.
fn require_blank(recorder: &mut Recorder<'_>) -> Result<(), VolumeError> {
    recorder.rewind()?;
    let mut what = String::new();
    let run = recorder.read_file(Action::Read, 1, &mut |_, item| {
        what = match item {
            Item::Filemark => "it begins with a filemark".to_owned(),
            Item::Block(block) => match Label::in_block(block) {
                Ok(label) => format!("it is volume {} ({})", label.uuid, label.barcode),
                Err(_) => format!("it begins with a block of {} bytes", block.len()),
            },
        };
        Ok(())
    })?;
    match run.met {
        Some(Met::EndOfData) => {
            let drive = recorder.drive();
            if drive.found_end_of_data()
                || drive.was_ever_written().map_err(RunError::from)? == Some(false)
            {
                return Ok(());
            }
            let what = "the drive finds no end of data on it: what was written to it may be there"
                .to_owned();
            Err(VolumeError::NotBlank { what })
        }
        _ => Err(VolumeError::NotBlank { what }),
    }
}

/// Brings the head to a block, unless it stands there.
fn go_to(recorder: &mut Recorder<'_>, block: u64) -> Result<(), RunError> {
    let is_there = |head: Spot| head.partition == 0 && head.block == Some(block);
    if !recorder.head().is_some_and(is_there) {
        recorder.locate(0, block)?;
    }
    Ok(())
}

/// What was written, and where the head was on the way.
struct Drained {
    blocks: u64,
    is_full: bool,
    /// By block.
    places: Vec<(u64, Option<WrapLpos>)>,
}

/// Where the drive says it is.
fn told(recorder: &Recorder<'_>) -> (u64, Option<WrapLpos>) {
    let head = recorder.head().unwrap_or_default();
    let place = head
        .wrap
        .zip(head.lpos)
        .map(|(wrap, lpos)| WrapLpos { wrap, lpos });
    (head.block.unwrap_or(0), place)
}

/// Writes what is made until there is no more or the tape ends.
fn drain(
    recorder: &mut Recorder<'_>,
    first_block: u64,
    draining: &mut Draining,
) -> Result<Drained, VolumeError> {
    let mut drained = Drained {
        blocks: 0,
        is_full: false,
        places: vec![told(recorder)],
    };
    debug_assert_eq!(drained.places[0].0, first_block);
    while !drained.is_full && !draining.has_ended() {
        require_position(recorder, first_block + drained.blocks)?;
        let run = recorder.write_from(draining)?;
        drained.blocks += run.blocks;
        drained.is_full = run.is_full;
        drained.places.push(told(recorder));
    }
    Ok(drained)
}

fn placed(packed: &Packed, first_block: u64, block_bytes: u64, drained: &Drained) -> Placed {
    // An empty file has no first byte; its position is recorded as the end of its header.
    let first = match packed.bytes {
        0 => packed.contents_at - 1,
        _ => packed.contents_at,
    };
    let last = packed.contents_at + packed.bytes - 1;
    let from = first_block + first / block_bytes;
    let to = first_block + last / block_bytes;
    let places = &drained.places;
    let before = places.partition_point(|(block, _)| *block <= from);
    let behind = places.partition_point(|(block, _)| *block <= to);
    let place = |index: Option<usize>| index.and_then(|index| places.get(index)?.1);
    Placed {
        segment: Segment {
            partition: 0,
            first_block: from,
            last_block: to,
            byte_offset: packed.contents_at - (from - first_block) * block_bytes,
            bytes: packed.bytes,
            file_offset: packed.file_offset,
            start: place(before.checked_sub(1)),
            end: place(Some(behind)),
        },
        sum: Sum {
            kind: Kind::Xxh3,
            value: packed.xxh3.to_be_bytes().to_vec(),
        },
    }
}
