//! The way over the tape, whose every move is timed.

use super::answers::Answers;
use super::hidden;
use super::report::Ended;
use super::sample::{Move, sample};
use crate::error::RunError;
use crate::facts::{Heed, Notice};
use crate::recorder::Recorder;
use std::time::Duration;
use tapewise_model::{EndOfWrap, Micros};
use tapewise_scsi::Sense;
use tapewise_scsi::commands::RequestSense;
use tapewise_scsi::question::Question;

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
    heed: Heed<'w>,
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
        heed: Heed<'w>,
        limit: Micros,
    ) -> Walk<'w, 'r> {
        Walk {
            answers,
            recorder,
            heed,
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
    ) -> Result<Vec<u64>, RunError> {
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
    pub fn locates(
        &mut self,
        partition: u8,
        blocks: u64,
        most: usize,
        watch: &mut dyn FnMut(usize),
    ) -> Ended {
        // Where it begins: the first locate of the sample is from the first block.
        let mut in_a_row = self.count_failure(0, |walk| walk.go(partition, 0));
        let mut ended = Ended::Done;
        for (done, (kind, block)) in sample(blocks, most).into_iter().enumerate() {
            if self.recorder.clock() >= self.limit {
                ended = Ended::TimeOut;
                break;
            }
            watch(done + 1);
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
        let heed = &mut self.heed;
        let transport = self.recorder.drive().transport();
        let question = Question::of(&RequestSense);
        let bytes = question.send(transport, &mut |error| heed(Notice::Message(error)))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;
    use tapewise_emulator::{Clock, Library};
    use tapewise_formats::event::{Event, Outcome};
    use tapewise_scsi::{Cdb, Completion, Data, TapeDrive, Transport, TransportError};

    const BLOCKS: u64 = 100;

    /// A drive that answers some of its LOCATE(16) commands with a medium error.
    struct Failing<T> {
        drive: T,
        located: usize,
        fails: fn(usize) -> bool,
    }

    impl<T: Transport> Transport for Failing<T> {
        fn name(&self) -> &str {
            self.drive.name()
        }

        fn execute(
            &mut self,
            cdb: &Cdb,
            data: Data<'_>,
            timeout: Duration,
        ) -> Result<Completion, TransportError> {
            const LOCATE_16: u8 = 0x92;
            if cdb.opcode() == LOCATE_16 {
                self.located += 1;
                if (self.fails)(self.located) {
                    let mut sense = [0; 18];
                    // Medium error: positioning error detected by read of medium.
                    [sense[0], sense[2], sense[7], sense[12], sense[13]] = [0x70, 3, 10, 0x15, 2];
                    return Ok(Completion::check_condition(0, &sense));
                }
            }
            self.drive.execute(cdb, data, timeout)
        }

        fn now(&self) -> Duration {
            self.drive.now()
        }

        fn wait(&mut self, duration: Duration) {
            self.drive.wait(duration);
        }
    }

    fn drive(directory: &Path, fails: fn(usize) -> bool) -> TapeDrive {
        let path = directory.join("library");
        let library = Library::fresh_drive("lto8", 1, &path, Clock::virtual_time()).unwrap();
        let transport = Failing {
            drive: library.transport_to_drive(0).unwrap(),
            located: 0,
            fails,
        };
        let mut drive = TapeDrive::open(Box::new(transport)).unwrap();
        drive.wait_until_ready(Duration::from_secs(600)).unwrap();
        for _ in 0..BLOCKS {
            drive.write(&[7; 64]).unwrap();
        }
        drive
    }

    /// The way over a tape: its locates of the sample, why it ended, and the last failure.
    fn walk(fails: fn(usize) -> bool, most: usize) -> (Vec<Event>, Ended, Option<RunError>) {
        let directory = tempfile::tempdir().unwrap();
        let mut drive = drive(directory.path(), fails);
        let mut answers = Answers::new(&drive);
        let mut events: Vec<Event> = Vec::new();
        let stop = AtomicBool::new(false);
        let mut recorder = Recorder::new(&mut drive, &mut events, &stop);
        let limit = Micros::from_secs_f64(36_000.0);
        let mut heed = |_: Notice| ();
        let mut walk = Walk::new(&mut answers, &mut recorder, &mut heed, limit);
        walk.begin().unwrap();
        let ended = walk.locates(0, BLOCKS, most, &mut |_| ());
        let (_, failure) = walk.end();
        events.retain(|event| event.purpose.is_some());
        (events, ended, failure)
    }

    #[test]
    fn a_locate_that_fails_is_recorded_and_the_next_one_is_tried() {
        let (events, ended, failure) = walk(|nth| nth % 5 == 0, 30);
        assert_eq!(ended, Ended::Done);
        assert_eq!(events.len(), 30);
        let failed: Vec<&Event> = events
            .iter()
            .filter(|event| event.outcome == Outcome::Failed)
            .collect();
        // The first locate goes to where the sample begins and is not one of it.
        assert_eq!(failed.len(), 31 / 5);
        for event in failed {
            assert!(event.sense.as_deref().unwrap().contains("(03/15/02)"));
        }
        assert!(matches!(failure, Some(RunError::Scsi(_))));
    }

    #[test]
    fn after_three_failures_in_a_row_it_ends_with_what_there_is() {
        let (events, ended, failure) = walk(|nth| nth > 11, 30);
        assert_eq!(ended, Ended::Failures);
        assert_eq!(events.len(), 10 + MOST_FAILURES_IN_A_ROW);
        assert!(failure.is_some());
    }

    #[test]
    fn a_walk_without_failures_has_none() {
        let (events, ended, failure) = walk(|_| false, 30);
        assert_eq!((events.len(), ended), (30, Ended::Done));
        assert!(failure.is_none());
    }
}
