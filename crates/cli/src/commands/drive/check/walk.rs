//! The way over the tape, whose every move is timed.

use super::answers::Answers;
use super::hidden;
use super::report::Ended;
use super::sample::{Move, sample};
use crate::commands::drive::question::Question;
use crate::error::CliError;
use crate::output;
use std::io::IsTerminal;
use std::time::Duration;
use tapewise_model::{EndOfWrap, Micros};
use tapewise_run::{Recorder, RunError};
use tapewise_scsi::Sense;
use tapewise_scsi::commands::RequestSense;

/// Places, besides the beginning of tape, where sense is kept byte by byte.
const SENSE_PLACES: usize = 5;

/// So many failed locates in a row, and no further one is tried.
const MOST_FAILURES_IN_A_ROW: usize = 3;

/// How long a drive may take to be ready again after a failed locate.
const RECOVERY: Duration = Duration::from_secs(60);

/// The way over the tape.
pub struct Walk<'w, 'r> {
    answers: &'w mut Answers,
    recorder: &'w mut Recorder<'r>,
    limit: Micros,
    sensed: usize,
    cartridge: Option<String>,
    failure: Option<RunError>,
}

impl<'w, 'r> Walk<'w, 'r> {
    /// No locate begins after `limit`.
    pub fn new(
        answers: &'w mut Answers,
        recorder: &'w mut Recorder<'r>,
        limit: Micros,
    ) -> Walk<'w, 'r> {
        Walk {
            answers,
            recorder,
            limit,
            sensed: 0,
            cartridge: None,
            failure: None,
        }
    }

    /// Goes to the beginning of tape.
    pub fn begin(&mut self) -> Result<(), RunError> {
        self.recorder.rewind()?;
        self.sense(0)
    }

    /// Blocks of each partition: from the table of wrap ends, else by going to the end of data.
    pub fn blocks(
        &mut self,
        partitions: u8,
        table: Option<&[EndOfWrap]>,
    ) -> Result<Vec<u64>, CliError> {
        (0..partitions)
            .map(|partition| {
                if let Some(table) = table {
                    let wraps = table.iter().filter(|end| end.partition == partition);
                    return Ok(wraps.map(|end| end.block).max().unwrap_or(0));
                }
                if partition > 0 {
                    self.recorder.locate(partition, 0)?;
                }
                let end = self.recorder.end_of_data()?;
                Ok(end.block.unwrap_or(0))
            })
            .collect()
    }

    /// Goes to the places of the sample until the time is out or locate after locate fails.
    pub fn locates(&mut self, partition: u8, blocks: u64, most: usize) -> Ended {
        let terminal = std::io::stderr().is_terminal();
        // Where it begins: the first locate of the sample is from the first block.
        let mut in_a_row = self.count_failure(0, |walk| walk.go(partition, 0));
        let mut ended = Ended::Done;
        for (done, (kind, block)) in sample(blocks, most).into_iter().enumerate() {
            if self.recorder.clock() >= self.limit {
                ended = Ended::TimeOut;
                break;
            }
            if terminal {
                output::say(format_args!("\r\x1b[Klocate {} of {most}", done + 1));
            }
            let purpose = Some(kind.name().to_owned());
            self.recorder.set_purpose(purpose, None);
            in_a_row = self.count_failure(in_a_row, |walk| {
                walk.go(partition, block)?;
                walk.sense_at(kind, block)
            });
            if in_a_row >= MOST_FAILURES_IN_A_ROW {
                ended = Ended::Failures;
                break;
            }
        }
        self.recorder.set_purpose(None, None);
        if terminal {
            output::say("\r\x1b[K");
        }
        ended
    }

    /// Rewinds. The cartridge's pseudonym, and the last failure.
    pub fn end(mut self) -> (Option<String>, Option<RunError>) {
        self.count_failure(0, |walk| walk.recorder.rewind().map(|_| ()));
        (self.cartridge, self.failure)
    }

    /// Does what may fail, and gives the number of failures in a row.
    fn count_failure(
        &mut self,
        in_a_row: usize,
        work: impl FnOnce(&mut Self) -> Result<(), RunError>,
    ) -> usize {
        match work(self) {
            Ok(()) => 0,
            Err(error) => {
                self.failure = Some(error);
                // A drive that does not come back fails the next locate too, and that is counted.
                let _ = self.recorder.drive().wait_until_ready(RECOVERY);
                in_a_row + 1
            }
        }
    }

    fn go(&mut self, partition: u8, block: u64) -> Result<(), RunError> {
        self.recorder.locate(partition, block).map(|_| ())
    }

    /// Keeps the sense of the first far places.
    fn sense_at(&mut self, kind: Move, block: u64) -> Result<(), RunError> {
        if kind != Move::Far || self.sensed >= SENSE_PLACES {
            return Ok(());
        }
        self.sensed += 1;
        self.sense(block)
    }

    /// Keeps the sense where the head stands, and learns from it whose name to strike out.
    fn sense(&mut self, block: u64) -> Result<(), RunError> {
        let bytes = Question::of(&RequestSense).send(self.recorder.drive().transport())?;
        if let Ok(sense) = Sense::decode(&bytes) {
            let device = &sense.device;
            let named = [&device.cartridge_serial, &device.volume_label];
            let name = named
                .into_iter()
                .flatten()
                .find(|name| !name.trim().is_empty());
            self.cartridge = name.map(|name| hidden::pseudonym("cartridge", name));
            self.answers.hidden.add_cartridge(&sense);
        }
        self.answers.keep_sense(block, bytes);
        Ok(())
    }
}
