//! Reads a whole cartridge of tar archives, ours or of others, and says what is on it.

use super::tar::{Found, TarReader, Trouble};
use super::{LABEL_NAME, Label, VolumeError, read_label};
use tapewise_formats::WrapLpos;
use tapewise_formats::event::Action;
use tapewise_run::{Item, Met, Recorder, RunError};
use tapewise_scsi::{Condition, Sense};

/// What a scan came upon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The label, on a volume of ours.
    pub label: Option<Label>,
    /// First block behind the last filemark: on a volume of ours what follows was never
    /// acknowledged.
    pub next_block: u64,
    /// First block that is not there.
    pub end_of_data: u64,
    /// Bytes of all blocks, but for those of the label: as they are counted when they are written.
    pub bytes: u64,
    /// Bytes of the longest block.
    pub longest_block: u32,
    /// Blocks that the drive could not read.
    pub unreadable_blocks: u64,
}

/// Bytes that are read as one event, behind which the drive is asked where it is: a metre on LTO-8.
const RUN_BYTES: u64 = 64 << 20;

/// Blocks that may be unreadable before a scan is given up: each costs a drive up to minutes.
const MOST_UNREADABLE: u64 = 1_000;

/// Rewinds and reads everything, in whatever blocks, handing each member on when its contents have
/// passed, with its sum. On a volume of ours contents are checked against their headers, and what a
/// filemark closes is handed on with it: what lies behind the last one was never acknowledged and is
/// written over next. A block that cannot be read is reported and passed over, also after the last filemark: it may
/// have been one.
///
/// # Errors
/// [`VolumeError::Run`] when the drive, its log or `each` fails, or after a thousand unreadable
/// blocks.
pub fn scan(
    recorder: &mut Recorder<'_>,
    each: &mut dyn FnMut(Found) -> std::io::Result<()>,
) -> Result<Scanned, VolumeError> {
    let label = match read_label(recorder) {
        Ok(label) => Some(label),
        Err(VolumeError::NoLabel { .. }) => None,
        Err(error) if unreadable(&error).is_some() => None,
        Err(error) => return Err(error),
    };
    if let Some(label) = &label {
        recorder.expect_blocks(label.block_bytes as usize);
    }
    recorder.rewind()?;
    let mut reader = TarReader::new(0);
    reader.block_bytes = label.as_ref().map(|label| label.block_bytes.into());
    let mut scan = Scan {
        reader,
        scanned: Scanned {
            label,
            ..Scanned::default()
        },
        each,
        held: Vec::new(),
        is_end_unsure: false,
    };
    while scan.run(recorder)? != Some(Met::EndOfData) {}
    let end = scan.scanned.end_of_data;
    scan.take(|reader, found| reader.filemark(end, found))
        .map_err(RunError::Sink)?;
    // It may have been a filemark: then what is before it was acknowledged, and must not be written over.
    if scan.is_end_unsure {
        (scan.held).retain(|found| matches!(found, Found::Trouble(_)));
        scan.hand_on().map_err(RunError::Sink)?;
    }
    Ok(scan.scanned)
}

struct Scan<'e> {
    reader: TarReader,
    scanned: Scanned,
    each: &'e mut dyn FnMut(Found) -> std::io::Result<()>,
    /// What was found and not handed on yet.
    held: Vec<Found>,
    /// A block since the last filemark cannot be read.
    is_end_unsure: bool,
}

impl Scan<'_> {
    /// Reads on for a while.
    fn run(&mut self, recorder: &mut Recorder<'_>) -> Result<Option<Met>, VolumeError> {
        let longest = u64::from(self.scanned.longest_block).max(1 << 10);
        let most = (RUN_BYTES / longest).max(1);
        self.reader.place = recorder.head().and_then(|head| {
            let (wrap, lpos) = head.wrap.zip(head.lpos)?;
            Some(WrapLpos { wrap, lpos })
        });
        let run = recorder.read_file(Action::Read, most, &mut |block, item| {
            self.item(block, item)
        });
        match run {
            Ok(run) => Ok(run.met),
            Err(error) => self.step_over(recorder, error.into()),
        }
    }

    fn item(&mut self, block: u64, item: Item<'_>) -> std::io::Result<()> {
        self.scanned.end_of_data = block + 1;
        match item {
            Item::Block(bytes) => {
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                self.scanned.longest_block = self.scanned.longest_block.max(length);
                self.scanned.bytes += u64::from(length);
                self.take(|reader, found| reader.block(block, bytes, found))
            }
            Item::Filemark => {
                if self.scanned.next_block == 0 && self.scanned.label.is_some() {
                    self.scanned.bytes = 0;
                }
                self.scanned.next_block = block + 1;
                self.is_end_unsure = false;
                self.take(|reader, found| reader.filemark(block, found))?;
                self.hand_on()
            }
        }
    }

    /// Lets the reader find; of a volume of ours what it finds waits for a filemark.
    fn take(
        &mut self,
        find: impl FnOnce(&mut TarReader, &mut dyn FnMut(Found)),
    ) -> std::io::Result<()> {
        let has_label = self.scanned.label.is_some();
        let held = &mut self.held;
        find(&mut self.reader, &mut |found| {
            if !(has_label && is_label(&found)) {
                held.push(found);
            }
        });
        if has_label { Ok(()) } else { self.hand_on() }
    }

    fn hand_on(&mut self) -> std::io::Result<()> {
        self.held.drain(..).try_for_each(&mut *self.each)
    }

    /// Goes behind a block that cannot be read.
    fn step_over(
        &mut self,
        recorder: &mut Recorder<'_>,
        error: VolumeError,
    ) -> Result<Option<Met>, VolumeError> {
        let Some(why) = unreadable(&error) else {
            return Err(error);
        };
        self.scanned.unreadable_blocks += 1;
        self.is_end_unsure = true;
        if self.scanned.unreadable_blocks > MOST_UNREADABLE {
            return Err(error);
        }
        let block = self.scanned.end_of_data;
        self.scanned.end_of_data = block + 1;
        self.take(|reader, found| reader.lost_block(block, &why, found))
            .map_err(RunError::Sink)?;
        match recorder.locate(0, block + 1) {
            Ok(_) => Ok(None),
            Err(RunError::Scsi(error))
                if error.sense().map(Sense::condition) == Some(Condition::EndOfData) =>
            {
                Ok(Some(Met::EndOfData))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Why the medium cannot be read there, if that is what the error says.
fn unreadable(error: &VolumeError) -> Option<String> {
    let VolumeError::Run(RunError::Scsi(error)) = error else {
        return None;
    };
    let is_medium = error.sense().map(Sense::condition) == Some(Condition::Medium);
    is_medium.then(|| error.to_string())
}

fn is_label(found: &Found) -> bool {
    match found {
        Found::Member(located) => {
            located.tape_file == 0 && located.member.path == LABEL_NAME.as_bytes()
        }
        Found::Trouble(Trouble { .. }) => false,
    }
}
