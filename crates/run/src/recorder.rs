//! A drive whose every action is timed and written to the event log.

mod blocks;

pub use blocks::{Item, Met, ReadRun, Source};

use crate::buffer::Buffer;
use crate::error::RunError;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tapewise_formats::event::{Action, Event, Outcome, PlanBegun, Spot};
use tapewise_formats::event_log::EventWriter;
use tapewise_model::Micros;
use tapewise_scsi::commands::{Compression, ModePage, ModeSelect6, WriteOutcome};
use tapewise_scsi::{Changer, Command, ScsiError, TapeDrive};

/// Where events go.
pub trait Log {
    /// Takes the next event.
    ///
    /// # Errors
    /// What the output says.
    fn event(&mut self, event: &Event) -> std::io::Result<()>;
}

impl<W: Write> Log for EventWriter<W> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.write(event)
    }
}

impl Log for Vec<Event> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.push(event.clone());
        Ok(())
    }
}

/// A log that nobody reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl Log for NoLog {
    fn event(&mut self, _: &Event) -> std::io::Result<()> {
        Ok(())
    }
}

/// A drive, its log, and what is known of where the head is.
pub struct Recorder<'a> {
    drive: &'a mut TapeDrive,
    log: &'a mut dyn Log,
    stop: &'a AtomicBool,
    began: Duration,
    head: Option<Spot>,
    tells_place: bool,
    buffer: Buffer,
    purpose: Option<String>,
    parameter: Option<i64>,
    predicted: Option<Micros>,
    plan: Option<PlanBegun>,
    kept: Option<Vec<Event>>,
}

/// How long a cartridge may take until the drive is ready: media optimisation of an LTO-9 cartridge
/// takes up to two hours.
pub const READY_LIMIT: Duration = Duration::from_secs(3 * 3600);

impl<'a> Recorder<'a> {
    /// Records what `drive` does in `log`, its clock beginning now, until `stop` is set. The
    /// first locate or rewind tells where the head is.
    pub fn new(drive: &'a mut TapeDrive, log: &'a mut dyn Log, stop: &'a AtomicBool) -> Self {
        let began = drive.now();
        // A longer block makes room for itself.
        let buffer = Buffer::new(drive.first_read_bytes());
        Recorder {
            drive,
            log,
            stop,
            began,
            head: None,
            tells_place: true,
            buffer,
            purpose: None,
            parameter: None,
            predicted: None,
            plan: None,
            kept: None,
        }
    }

    /// Keeps the events from now on, until they are asked for.
    pub(crate) fn keep_events(&mut self) {
        self.kept = Some(Vec::new());
    }

    /// The events kept, and no more from now on.
    pub(crate) fn kept_events(&mut self) -> Vec<Event> {
        self.kept.take().unwrap_or_default()
    }

    /// What the following actions are for: see [`Event::purpose`] and [`Event::parameter`].
    pub fn set_purpose(&mut self, purpose: Option<String>, parameter: Option<i64>) {
        self.purpose = purpose;
        self.parameter = parameter;
    }

    /// How long the next action takes by its plan: see [`Event::predicted_us`].
    pub fn predict(&mut self, takes: Micros) {
        self.predicted = Some(takes);
    }

    /// The next action begins a plan: see [`Event::plan`].
    pub fn begin_plan(&mut self, plan: PlanBegun) {
        self.plan = Some(plan);
    }

    /// The drive itself, for what is neither timed nor logged. Whoever moves the tape with it must
    /// call [`Recorder::forget_head`].
    pub fn drive(&mut self) -> &mut TapeDrive {
        self.drive
    }

    /// Where the head is, as far as known.
    pub fn head(&self) -> Option<Spot> {
        self.head
    }

    /// Says that the head may be anywhere.
    pub fn forget_head(&mut self) {
        self.head = None;
    }

    /// The time on the device's clock since the record began.
    pub fn clock(&self) -> Micros {
        micros(self.drive.now().saturating_sub(self.began))
    }

    /// An error when somebody has asked to stop.
    ///
    /// # Errors
    /// [`RunError::Interrupted`].
    pub fn go_on(&self) -> Result<(), RunError> {
        if self.stop.load(Ordering::Relaxed) {
            Err(RunError::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Goes to a block.
    ///
    /// # Errors
    /// [`RunError`]; the head is then anywhere.
    pub fn locate(&mut self, partition: u8, block: u64) -> Result<Micros, RunError> {
        let to = spot(partition, block);
        self.moved(Action::Locate, to, |drive| drive.locate(partition, block))
    }

    /// Goes to the beginning of the tape.
    ///
    /// # Errors
    /// [`RunError`]; the head is then anywhere.
    pub fn rewind(&mut self) -> Result<Micros, RunError> {
        self.moved(Action::Rewind, spot(0, 0), TapeDrive::rewind)
    }

    /// Goes behind the last block and says which number the next one would have.
    ///
    /// # Errors
    /// [`RunError`]; the head is then anywhere.
    pub fn end_of_data(&mut self) -> Result<Spot, RunError> {
        let from = self.head.take();
        let at = self.clock();
        self.drive.space_to_end_of_data()?;
        let took = self.clock() - at;
        let place = self.drive.position()?;
        let to = self.place(spot(place.partition, place.block))?;
        self.head = Some(to);
        let event = Event {
            from,
            to: Some(to),
            ..Event::new(Action::Locate, at, took)
        };
        self.write(event)?;
        Ok(to)
    }

    /// Takes the cartridge in and waits until the drive is ready.
    ///
    /// # Errors
    /// [`RunError`]; the head is then anywhere.
    pub fn mount(&mut self) -> Result<Micros, RunError> {
        self.moved(Action::Mount, spot(0, 0), |drive| {
            drive.load()?;
            drive.wait_until_ready(READY_LIMIT)
        })
    }

    /// Waits for a cartridge that a robot has put into the drive. What it takes counts from now on.
    ///
    /// # Errors
    /// [`RunError`]; the head is then anywhere.
    pub fn mount_of_robot(&mut self) -> Result<Micros, RunError> {
        self.moved(Action::Mount, spot(0, 0), |drive| {
            drive.wait_until_loaded(READY_LIMIT)
        })
    }

    /// Gives the cartridge out. The head is nowhere then; a cassette that was left in the middle
    /// begins there when it is mounted again.
    ///
    /// # Errors
    /// [`RunError`]; the head is then anywhere.
    pub fn unmount(&mut self) -> Result<Micros, RunError> {
        let from = self.head.take();
        let at = self.clock();
        let result = self.drive.unload();
        let took = self.clock() - at;
        let event = Event {
            from,
            ..Event::new(Action::Unmount, at, took)
        };
        self.finish(event, result)
    }

    /// Lets so much time pass.
    ///
    /// # Errors
    /// [`RunError::Log`].
    pub fn pause(&mut self, duration: Duration) -> Result<(), RunError> {
        let at = self.clock();
        self.drive.wait(duration);
        let took = self.clock() - at;
        self.write(Event::new(Action::Pause, at, took))
    }

    /// Switches the drive's compression of what is written. A drive without compression has none to
    /// switch off.
    ///
    /// # Errors
    /// [`RunError`], among them [`RunError::Unsuitable`] for a drive without mode page 0Fh that is to compress.
    pub fn compress(&mut self, on: bool) -> Result<(), RunError> {
        let pages = self.drive.mode(COMPRESSION_PAGE).map(|mode| mode.pages);
        let now = pages.map(|pages| {
            pages.into_iter().find_map(|page| match page {
                ModePage::Compression(compression) => Some(compression),
                _ => None,
            })
        });
        let now = match now {
            Ok(Some(now)) if now.is_capable => now,
            Err(error) if on && !error.is_unsupported() => return Err(error.into()),
            _ if on => {
                let what = "the drive has no compression to measure";
                return Err(RunError::Unsuitable(what.to_owned()));
            }
            _ => return Ok(()),
        };
        if now.is_enabled != on {
            let page = compression_page(now, on);
            ModeSelect6::page(&page).send(self.drive.transport())?;
        }
        Ok(())
    }

    /// Writes a filemark, and waits until everything is on the tape.
    ///
    /// # Errors
    /// [`RunError::EndOfMedium`] when there was no room for it, and others; the head is then
    /// anywhere.
    pub fn write_filemark(&mut self) -> Result<Micros, RunError> {
        let from = self.head.ok_or(RunError::Lost)?;
        let behind = from.block.ok_or(RunError::Lost)? + 1;
        let mut outcome = WriteOutcome::Written;
        let took = self.moved(
            Action::WriteFilemarks,
            spot(from.partition, behind),
            |drive| {
                outcome = drive.write_filemarks(1, false)?;
                Ok(())
            },
        )?;
        if outcome == WriteOutcome::EndOfMedium {
            self.head = None;
            return Err(RunError::EndOfMedium);
        }
        Ok(took)
    }

    /// A robot moves a cartridge between a slot and the drive.
    ///
    /// # Errors
    /// [`RunError`]; the head is then anywhere.
    pub fn carry(
        &mut self,
        changer: &mut Changer,
        action: Action,
        slot: u16,
        drive: u16,
    ) -> Result<Micros, RunError> {
        let (source, target) = match action {
            Action::Return => (drive, slot),
            _ => (slot, drive),
        };
        self.head = None;
        let (at, set_out) = (self.clock(), changer.now());
        let result = changer.move_medium(source, target);
        // A robot with a time of its own is ahead of the drive now, which waited for it.
        let moved = micros(changer.now().saturating_sub(set_out));
        let late = (moved - (self.clock() - at)).max(Micros::ZERO);
        self.drive
            .wait(Duration::from_micros(late.0.unsigned_abs()));
        let took = self.clock() - at;
        let event = Event {
            slot: Some(slot),
            ..Event::new(action, at, took)
        };
        self.finish(event, result)
    }

    fn moved(
        &mut self,
        action: Action,
        to: Spot,
        work: impl FnOnce(&mut TapeDrive) -> Result<(), ScsiError>,
    ) -> Result<Micros, RunError> {
        let from = self.head.take();
        let at = self.clock();
        let result = work(self.drive);
        let took = self.clock() - at;
        let to = match &result {
            Ok(()) => self.place(to)?,
            Err(_) => to,
        };
        if result.is_ok() {
            self.head = Some(to);
        }
        let event = Event {
            from,
            to: Some(to),
            ..Event::new(action, at, took)
        };
        self.finish(event, result)
    }

    /// Writes the event with how it ended, and gives its time.
    fn finish(&mut self, event: Event, result: Result<(), ScsiError>) -> Result<Micros, RunError> {
        let took = event.took_us;
        let event = match &result {
            Ok(()) => event,
            Err(error) => Event {
                outcome: Outcome::Failed,
                sense: Some(error.to_string()),
                ..event
            },
        };
        self.write(event)?;
        result?;
        Ok(took)
    }

    fn write(&mut self, event: Event) -> Result<(), RunError> {
        let event = Event {
            purpose: self.purpose.clone(),
            parameter: self.parameter,
            predicted_us: self.predicted.take(),
            plan: self.plan.take(),
            ..event
        };
        self.log.event(&event).map_err(RunError::Log)?;
        if let Some(kept) = &mut self.kept {
            kept.push(event);
        }
        Ok(())
    }

    /// The place with what the drive says of it, where it says anything: it is asked once, and when
    /// it cannot tell never again.
    fn place(&mut self, spot: Spot) -> Result<Spot, RunError> {
        if !self.tells_place {
            return Ok(spot);
        }
        let Some(physical) = self.drive.physical_position()? else {
            self.tells_place = false;
            return Ok(spot);
        };
        Ok(Spot {
            wrap: physical.wrap,
            lpos: Some(physical.lpos),
            ..spot
        })
    }
}

/// Data compression (SSC-5, 8.5.2).
const COMPRESSION_PAGE: u8 = 0x0f;

/// The page with compression on or off, and everything else as it was.
fn compression_page(now: Compression, on: bool) -> [u8; 16] {
    let mut page = [0; 16];
    page[..4].copy_from_slice(&[COMPRESSION_PAGE, 14, 0x40, u8::from(now.decompresses) << 7]);
    page[2] |= u8::from(on) << 7;
    page[4..8].copy_from_slice(&now.algorithm.to_be_bytes());
    page[8..12].copy_from_slice(&now.decompression_algorithm.to_be_bytes());
    page
}

fn spot(partition: u8, block: u64) -> Spot {
    Spot {
        partition,
        block: Some(block),
        ..Spot::default()
    }
}

fn micros(duration: Duration) -> Micros {
    Micros(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
}
