//! A check of a drive: what it says of itself, what its locates take, and how well a profile predicts them.
//!
//! [`Asked::ask`] asks everything that needs no motion. With what it tells, the caller chooses a profile, and
//! [`Asked::walk`] goes over the tape and makes the [`DriveReport`]. Names and serial numbers are struck out of it.

mod answers;
mod error;
mod hidden;
pub(crate) mod judge;
mod report;
mod sample;
mod walk;

pub use error::CheckError;
pub use hidden::pseudonym;
pub use judge::Chosen;
pub use report::{
    Answer, Cartridge, DriveName, DriveReport, Ended, Errors, Judged, Opcode, VERSION, Way,
};
pub use sample::Move;

use crate::error::RunError;
use crate::facts::{Heed, optional, partitions};
use crate::recorder::Recorder;
use crate::wrap_ends::wrap_ends;
use answers::Answers;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_formats::event::Event;
use tapewise_model::{EndOfWrap, Micros};
use tapewise_scsi::TapeDrive;
use walk::Walk;

/// What a drive said before anything moved.
pub struct Asked {
    /// Density code of the cartridge.
    pub density: Option<u8>,
    began: Duration,
    answers: Answers,
    opcodes: Option<Vec<Opcode>>,
    table: Option<Vec<EndOfWrap>>,
}

/// How long a check may be, and what its report says of the way to the drive.
#[derive(Clone, Debug)]
pub struct Limits {
    /// No locate begins after this much drive time.
    pub time: Micros,
    /// Locates at most.
    pub locates: usize,
    /// How the drive is reached.
    pub way: Way,
    /// The program that checks, with its version.
    pub program: String,
}

/// Nobody sets it: a report is whole or there is none.
static STOP: AtomicBool = AtomicBool::new(false);

impl Asked {
    /// Asks everything that needs no motion; the drive has to be ready.
    ///
    /// # Errors
    /// Those of the commands, except that a drive may not have one.
    pub fn ask(drive: &mut TapeDrive, heed: Heed) -> Result<Asked, CheckError> {
        let began = drive.now();
        let mut answers = Answers::new(drive);
        answers.of_the_drive(drive, heed)?;
        let opcodes = answers::opcodes(drive, heed)?;
        let table = wrap_ends(drive)?;
        let mode = optional(drive.mode(0x3f), heed)?;
        Ok(Asked {
            density: mode.and_then(|mode| Some(mode.block?.density)),
            began,
            answers,
            opcodes,
            table,
        })
    }

    /// Goes over the tape, takes the time of every locate, and rewinds. `watch` is told the number of each locate.
    /// The report, and the last failure of a locate if there was one.
    ///
    /// # Errors
    /// [`CheckError`]. A locate that fails is recorded and is none.
    pub fn walk(
        mut self,
        drive: &mut TapeDrive,
        limits: &Limits,
        chosen: Option<&Chosen>,
        heed: Heed,
        watch: &mut dyn FnMut(usize),
    ) -> Result<(DriveReport, Option<RunError>), CheckError> {
        let partitions = partitions(drive)?;
        let mut events: Vec<Event> = Vec::new();
        let mut recorder = Recorder::new(drive, &mut events, &STOP);
        let mut walk = Walk::new(&mut self.answers, &mut recorder, heed, limits.time);
        walk.begin()?;
        let blocks = walk.blocks(partitions, self.table.as_deref())?;
        let partition = fullest(&blocks)?;
        let blocks_there = blocks[usize::from(partition)];
        let ended = walk.locates(partition, blocks_there, limits.locates, watch);
        let (cartridge, failure) = walk.end();
        drop(recorder);
        let judged = match chosen {
            Some(chosen) => {
                let ends = self.table.iter().flatten();
                let ends: Vec<EndOfWrap> = ends
                    .filter(|end| end.partition == partition)
                    .copied()
                    .collect();
                judge::judge(chosen, &events, &ends)?
            }
            None => None,
        };
        let report = DriveReport {
            tapewise_drive_report: VERSION,
            program: limits.program.clone(),
            way: limits.way,
            drive: DriveName::of(drive.identity()),
            cartridge: Cartridge {
                pseudonym: cartridge,
                density: self.density.map(|code| format!("{code:02x}")),
                blocks,
                partition,
            },
            answers: self.answers.list,
            opcodes: self.opcodes,
            events,
            took_us: Micros::from_secs_f64((drive.now() - self.began).as_secs_f64()),
            planned: limits.locates,
            ended,
            judged,
        };
        Ok((report, failure))
    }
}

/// The partition with the most blocks.
fn fullest(blocks: &[u64]) -> Result<u8, CheckError> {
    let fullest = (0..).zip(blocks).max_by_key(|(_, blocks)| **blocks);
    match fullest {
        Some((partition, blocks)) if *blocks > 1 => Ok(partition),
        _ => Err(CheckError::NoData),
    }
}
