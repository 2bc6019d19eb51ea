//! Carries out a plan: goes to each piece, reads it, hands every block on.
//!
//! A piece that cannot be read is left, and the next one is located: partial success is a state. After
//! a reset of the drive the head is anywhere: the piece is located and read once more.

use crate::error::RunError;
use crate::recorder::{Item, READY_LIMIT, Recorder};
use crate::step::{Piece, Step};
use tapewise_formats::event::{Action, Spot};
use tapewise_model::Micros;
use tapewise_scsi::{Attention, Condition, ScsiError};

/// Takes what is read.
pub trait Sink {
    /// A piece begins. It begins again, from its first block, when it is read once more.
    ///
    /// # Errors
    /// Whatever keeps it from taking the piece; the run ends.
    fn begin(&mut self, piece: &Piece) -> std::io::Result<()>;

    /// The next block or filemark of it.
    ///
    /// # Errors
    /// As for [`Sink::begin`].
    fn item(&mut self, piece: &Piece, block: u64, item: Item<'_>) -> std::io::Result<()>;

    /// The piece is whole. Only when this has returned does the log say that it was delivered.
    ///
    /// # Errors
    /// As for [`Sink::begin`].
    fn end(&mut self, piece: &Piece) -> std::io::Result<()>;
}

/// A piece that could not be read.
#[derive(Debug)]
pub struct Unread {
    /// The piece.
    pub piece: Piece,
    /// Why.
    pub error: RunError,
}

/// What a run has read.
#[derive(Debug, Default)]
pub struct Report {
    /// Pieces handed on, in the order in which they were read.
    pub delivered: Vec<Piece>,
    /// For each of them, where the head was before its first block and behind its last, as far as the
    /// drive tells.
    pub places: Vec<[Spot; 2]>,
    /// Pieces that could not be read though the run went on.
    pub unread: Vec<Unread>,
}

/// Times a piece is read before it is given up, when the drive was reset or gave the command up.
const MOST_ATTEMPTS: u32 = 3;

/// The purpose that the log states of a piece.
fn purpose(name: &str, piece: &Piece) -> String {
    match piece.segment {
        0 => format!("request {name}"),
        segment => format!("request {name} segment {segment}"),
    }
}

/// Carries out some steps more of a run whose caller sees to it that the cartridge stays, and adds
/// to its report: for plans that are made while they are carried out.
///
/// # Errors
/// [`RunError`] that ends the run; the report says what was read before.
pub fn carry_on(
    steps: &[Step],
    recorder: &mut Recorder<'_>,
    name: &dyn Fn(u32) -> String,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), RunError> {
    let mut way = Way::default();
    for step in steps {
        recorder.go_on()?;
        let (piece, reading) = match *step {
            Step::Locate(takes) => {
                way = Way {
                    takes,
                    read_through: false,
                };
                continue;
            }
            Step::ReadThrough(takes) => {
                way = Way {
                    takes,
                    read_through: true,
                };
                continue;
            }
            Step::Rewind(takes) => {
                recorder.set_purpose(None, None);
                recorder.predict(takes);
                recorder.rewind()?;
                continue;
            }
            Step::Read(ref piece, takes) => (piece, takes),
        };
        recorder.set_purpose(Some(purpose(&name(piece.visit), piece)), None);
        let result = attempts(piece, std::mem::take(&mut way), reading, recorder, sink);
        match result {
            Ok(places) => {
                report.delivered.push(*piece);
                report.places.push(places);
            }
            Err(error) if error.is_of_the_place() => {
                recorder.forget_head();
                report.unread.push(Unread {
                    piece: *piece,
                    error,
                });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How a piece is reached, by the plan.
#[derive(Clone, Copy, Default)]
struct Way {
    takes: Micros,
    read_through: bool,
}

/// Reads a piece, and once more where the drive lost it for a reason that has passed. What is done again has no
/// prediction.
fn attempts(
    piece: &Piece,
    way: Way,
    reading: Micros,
    recorder: &mut Recorder<'_>,
    sink: &mut dyn Sink,
) -> Result<[Spot; 2], RunError> {
    let mut attempt = 1;
    loop {
        let is_first = attempt == 1;
        let way = Some(way).filter(|_| is_first);
        let result = approach(piece, way, recorder).and_then(|unused| {
            if is_first {
                recorder.predict(reading + unused);
            }
            read_piece(piece, recorder, sink)
        });
        match result {
            Err(RunError::Scsi(error)) if attempt < MOST_ATTEMPTS && has_passed(&error) => {
                recorder.forget_head();
                recorder.drive().wait_until_ready(READY_LIMIT)?;
                attempt += 1;
            }
            result => return result,
        }
    }
}

/// Brings the head to the piece: not at all where it stands there, by reading on where that was
/// planned and is possible, else by a locate. Says how much of the time that the plan gave it was not used: the turn
/// from one wrap to the next is part of the read that follows.
fn approach(
    piece: &Piece,
    way: Option<Way>,
    recorder: &mut Recorder<'_>,
) -> Result<Micros, RunError> {
    let head = recorder
        .head()
        .filter(|head| head.partition == piece.partition)
        .and_then(|head| head.block);
    let is_read_through = way.is_some_and(|way| way.read_through);
    if let Some(way) = way.filter(|_| head != Some(piece.first_block)) {
        recorder.predict(way.takes);
    }
    match head {
        Some(block) if block == piece.first_block => {
            return Ok(way.map_or(Micros::ZERO, |way| way.takes));
        }
        Some(block) if is_read_through && block < piece.first_block => {
            let gap = piece.first_block - block;
            let passed = recorder.read(Action::ReadThrough, gap, &mut |_, _| Ok(()));
            match passed {
                // Nobody wants the blocks of the gap: that they cannot be read is no harm.
                Err(error) if error.is_of_the_place() => {
                    recorder.locate(piece.partition, piece.first_block)
                }
                passed => passed.map(|run| run.took),
            }
            .map(|_| ())
        }
        _ => recorder
            .locate(piece.partition, piece.first_block)
            .map(|_| ()),
    }
    .map(|()| Micros::ZERO)
}

fn read_piece(
    piece: &Piece,
    recorder: &mut Recorder<'_>,
    sink: &mut dyn Sink,
) -> Result<[Spot; 2], RunError> {
    let from = recorder.head().ok_or(RunError::Lost)?;
    sink.begin(piece).map_err(RunError::Sink)?;
    let count = (piece.last_block - piece.first_block).saturating_add(1);
    recorder.read(Action::Read, count, &mut |block, item| {
        sink.item(piece, block, item)?;
        if block == piece.last_block {
            sink.end(piece)
        } else {
            Ok(())
        }
    })?;
    let to = recorder.head().ok_or(RunError::Lost)?;
    Ok([from, to])
}

/// Whether the same may well succeed now: the drive was reset, or gave up a command by itself. That
/// the cartridge may have been changed has not passed: another one may be in the drive.
fn has_passed(error: &ScsiError) -> bool {
    let Some(sense) = error.sense() else {
        return false;
    };
    sense.is_retryable()
        || matches!(
            sense.condition(),
            Condition::UnitAttention(Attention::Reset | Attention::EncryptionChanged)
        )
}
