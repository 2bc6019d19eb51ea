//! Where a volume ends: what has to stand there before anything is written, and whether the drive is where
//! it should be while it writes.
//!
//! An archive's directory may be older than its tapes: a snapshot that came back from rsync, ZFS or a
//! virtual machine's image. So what lies on the tape at and after the recorded end is compared with what one
//! interrupted write of ours can leave there:
//!
//! | what is found | what it is | what happens |
//! |---|---|---|
//! | the end of data | the usual case | the next segment is written |
//! | blocks of ours that no filemark closes | a write that was killed | written over |
//! | one closed segment, all of it safe elsewhere | killed between filemark and commit | written over |
//! | anything else | closed segments, or another program's data | [`VolumeError::Ahead`] |

use super::member::{FIRST_HEADER, Member, RECORD_BYTES};
use super::tar::{Found, TarReader, is_header};
use super::tar_kind::Kind;
use super::{VolumeError, printable};
use tapewise_formats::event::Action;
use tapewise_run::{Item, Met, Recorder, RunError};
use tapewise_scsi::{Condition, PositionSource, Sense};

/// Says of a member of a closed segment whether its file is safe elsewhere, so that the segment may be
/// written over.
pub type IsSafe<'f> = dyn Fn(&Member) -> bool + 'f;

/// Bytes that are read as one event.
const RUN_BYTES: u64 = 64 << 20;

/// Goes to where the volume ends, and sees a filemark before it.
pub(super) fn require_end(recorder: &mut Recorder<'_>, next_block: u64) -> Result<(), VolumeError> {
    let not_at_end = |found: String| VolumeError::NotAtEnd { next_block, found };
    let Some(mark) = next_block.checked_sub(1).filter(|mark| *mark > 0) else {
        return Err(not_at_end("that is where the label stands".to_owned()));
    };
    let mut is_mark = false;
    let seen = recorder.locate(0, mark).and_then(|_| {
        recorder.read(Action::Read, 1, &mut |_, item| {
            is_mark = matches!(item, Item::Filemark);
            Ok(())
        })
    });
    match seen {
        Ok(_) if is_mark => {}
        Ok(_) => return Err(not_at_end(format!("block {mark} is data"))),
        Err(RunError::Scsi(error)) if ends_before(&error) => {
            return Err(not_at_end(format!("the data ends before block {mark}")));
        }
        Err(RunError::EndOfData { block, .. }) => {
            return Err(not_at_end(format!("the data ends before block {block}")));
        }
        Err(error) => return Err(error.into()),
    }
    let position = recorder.drive().position().map_err(RunError::from)?;
    if position.partition == 0 && position.block == next_block {
        Ok(())
    } else {
        Err(not_at_end(format!(
            "after the filemark the drive says it is at block {}",
            position.block
        )))
    }
}

fn ends_before(error: &tapewise_scsi::ScsiError) -> bool {
    error.sense().map(Sense::condition) == Some(Condition::EndOfData)
}

/// Sees that the drive is at a block of partition 0. Whoever else moved the tape has destroyed what was
/// written last, or would. Gives how the position is known: one that we have counted ourselves shows nothing of others.
///
/// # Errors
/// [`VolumeError::Moved`], those of the drive.
pub(super) fn require_position(
    recorder: &mut Recorder<'_>,
    block: u64,
) -> Result<PositionSource, VolumeError> {
    let position = recorder.drive().position().map_err(RunError::from)?;
    if position.partition == 0 && position.block == block {
        return Ok(position.source);
    }
    recorder.forget_head();
    Err(VolumeError::Moved {
        expected: block,
        partition: position.partition,
        block: position.block,
    })
}

/// What lies after the recorded end.
struct Tail {
    block_bytes: usize,
    next_block: u64,
    reader: TarReader,
    /// Members of the segment that is read.
    members: Vec<Member>,
    /// What is not a member, or not as its header says.
    trouble: Option<String>,
    /// A block that no write of ours leaves.
    foreign: Option<String>,
    /// Blocks and filemarks seen.
    items: u64,
    /// A filemark was seen.
    is_closed: bool,
    /// Something follows that filemark.
    goes_on: bool,
}

/// Sees that nothing but an interrupted write of ours lies after the end, where the head is, and stays there. What is
/// too much is read once more before it is refused: a bit may have been wrong on the way.
///
/// # Errors
/// [`VolumeError::Ahead`], those of the drive.
pub(super) fn require_nothing_closed(
    recorder: &mut Recorder<'_>,
    end: (u64, usize),
    is_safe: &IsSafe<'_>,
) -> Result<(), VolumeError> {
    match look_behind(recorder, end, is_safe) {
        Err(VolumeError::Ahead { next_block, .. }) => {
            recorder.locate(0, next_block)?;
            look_behind(recorder, end, is_safe)
        }
        looked => looked,
    }
}

/// Reads what lies after the end, where the head is, and goes back there.
fn look_behind(
    recorder: &mut Recorder<'_>,
    (next_block, block_bytes): (u64, usize),
    is_safe: &IsSafe<'_>,
) -> Result<(), VolumeError> {
    let mut tail = Tail::new(next_block, block_bytes);
    let most = (RUN_BYTES / block_bytes as u64).max(1);
    // The first block tells already whether there is anything.
    let mut count = 1;
    loop {
        let run = recorder.read_file(Action::Read, count, &mut |block, item| {
            tail.item(block, item);
            Ok(())
        })?;
        count = most;
        let has_ended = run.met == Some(Met::EndOfData);
        if let Some(found) = tail.is_too_much(has_ended, is_safe) {
            return Err(VolumeError::Ahead { next_block, found });
        }
        if has_ended {
            break;
        }
    }
    if tail.items > 0 {
        recorder.locate(0, next_block)?;
    }
    Ok(())
}

impl Tail {
    fn new(next_block: u64, block_bytes: usize) -> Tail {
        Tail {
            block_bytes,
            next_block,
            reader: TarReader::new(0),
            members: Vec::new(),
            trouble: None,
            foreign: None,
            items: 0,
            is_closed: false,
            goes_on: false,
        }
    }

    fn item(&mut self, block: u64, item: Item<'_>) {
        self.goes_on = self.is_closed;
        self.items += 1;
        let Tail {
            members, trouble, ..
        } = self;
        let mut each = |found: Found| match found {
            Found::Member(located) if located.kind == Kind::File => members.push(located.member),
            Found::Member(located) => {
                let name = printable(&located.member.name());
                trouble.get_or_insert(format!("{name:?} is not a file of an archive"));
            }
            Found::Trouble(found) => {
                trouble.get_or_insert(format!("block {}: {}", found.block, found.what));
            }
        };
        match item {
            Item::Filemark => {
                self.is_closed = true;
                self.reader.filemark(block, &mut each);
            }
            Item::Block(bytes) => {
                let begins = self.items > 1 || begins_as_ours(bytes);
                if begins && bytes.len() == self.block_bytes {
                    self.reader.block(block, bytes, &mut each);
                } else {
                    let bytes = bytes.len();
                    self.foreign.get_or_insert(format!(
                        "block {block} has {bytes} bytes and is not of a segment of tapewise"
                    ));
                }
            }
        }
    }

    /// Why what was read so far is more than one interrupted write of ours can leave.
    fn is_too_much(&self, has_ended: bool, is_safe: &IsSafe<'_>) -> Option<String> {
        if self.foreign.is_some() {
            return self.foreign.clone();
        }
        let first = self.next_block;
        if self.goes_on {
            return Some(format!(
                "a closed segment begins at block {first}, and more follows it"
            ));
        }
        if !has_ended || !self.is_closed {
            return None;
        }
        if let Some(trouble) = &self.trouble {
            return Some(format!(
                "a closed segment begins at block {first}, and in it {trouble}"
            ));
        }
        let lost = self.members.iter().find(|member| !is_safe(member))?;
        Some(format!(
            "a closed segment begins at block {first}, and {:?} in it is known nowhere else",
            printable(&lost.path)
        ))
    }
}

/// Whether a block begins as the first one of a segment does. One of zeros is the end of a segment whose first file was
/// damaged in the cache, so that nothing of it was kept.
fn begins_as_ours(block: &[u8]) -> bool {
    let begins = block
        .first_chunk::<RECORD_BYTES>()
        .is_some_and(|record| is_header(record) && record.starts_with(FIRST_HEADER));
    begins || block.iter().all(|&byte| byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_run::Buffer;

    /// What is too much of what lies after the end.
    fn found(blocks: &[&[u8]], is_closed: bool) -> Option<String> {
        let mut tail = Tail::new(16, 2048);
        let mut block = 16;
        for bytes in blocks {
            let mut buffer = Buffer::new(bytes.len());
            buffer.room().copy_from_slice(bytes);
            buffer.fill(bytes.len());
            tail.item(block, Item::Block(&mut buffer));
            block += 1;
        }
        if is_closed {
            tail.item(block, Item::Filemark);
        }
        tail.is_too_much(true, &|_| false)
    }

    #[test]
    fn the_end_of_a_segment_without_a_file_is_written_over() {
        assert_eq!(found(&[&[0; 2048]], false), None);
        assert_eq!(found(&[&[0; 2048]], true), None);
    }

    #[test]
    fn what_another_program_wrote_is_not() {
        assert!(found(&[&[7; 2048]], false).is_some());
        assert!(found(&[&[0; 512]], false).is_some());
    }
}
