//! One emulated tape drive: what it is, what is in it, and the table of its commands (SSC-4).
//!
//! A command is looked up in the table, checked against what it needs, and run. Whatever moves tape
//! goes through the mechanics, which say how long it takes and how far the tape moved; the time
//! passes on the library's clock, the metres are counted for drive and cartridge.

mod access_order;
mod attributes;
mod commands;
mod end_of_wrap;
mod erase;
mod host_disk;
mod life;
mod loading;
mod log;
mod mode;
mod mode_values;
mod partitioning;
mod position;
mod reservation;
mod reserved;
mod sense;
mod status;
mod transfer;
mod wrap_end;

use crate::attention::{Attentions, MEDIUM_CHANGED, MODE_CHANGED, POWER_ON, UNIT_RESET};
use crate::check::Check;
use crate::error::LibraryError;
use crate::exchange::{Exchange, Needs, Stop, find};
use crate::faults::{DriveFault, FaultStream, Faults};
use crate::gzip::Gauge;
use crate::inquiry::{self, Identity};
use crate::kind::{DriveKind, Family};
use crate::mechanics::{Mechanics, Motion};
use crate::medium::Medium;
use crate::snapshot::{DriveSnapshot, Head, History};
use crate::tape::Tape;
use life::DriveLife;
use mode_values::Mode;
use reserved::Reservations;
use std::path::Path;
use tapewise_model::Micros;
use wrap_end::WrapEnd;

/// A cartridge on its way into a drive.
pub(crate) struct InsertedCartridge {
    pub barcode: String,
    /// The kind of drive it is made for.
    pub kind: String,
    pub tape: Tape,
    pub medium: Medium,
}

/// One drive.
pub(crate) struct Drive {
    kind: DriveKind,
    serial: String,
    seed: u64,
    life: DriveLife,
    attentions: Attentions,
    faults: FaultStream,
    mode: Mode,
    reservations: Reservations,
    /// Initiators that prevent the cartridge from being taken out.
    prevented: Vec<usize>,
    loaded: Option<Loaded>,
    /// Until then the drive is at a command whose status has been sent (IMMED).
    busy_until: Micros,
    /// Until then the drive is not ready, for reasons of its own.
    not_ready_until: Micros,
    /// Tells how compressible data is.
    gauge: Gauge,
    /// What it did last.
    pub history: History,
    /// The last list of segments that a host wanted ordered, in the order found.
    access_order: Vec<u8>,
    /// What the last command failed with, of a drive whose sense stays.
    last_check: Option<Check>,
    /// What the disk of the cartridges refused at the last command.
    pub host_error: Option<std::io::Error>,
}

/// A cartridge in the drive.
struct Loaded {
    barcode: String,
    medium: Medium,
    tape: Tape,
    /// The tape on the head, except while it is unloaded.
    mechanics: Option<Mechanics>,
    is_compatible: bool,
    state: Threading,
    /// The partition under the head, and the logical object next to be read or written.
    partition: u8,
    object: u64,
    /// A read has met end of data, and no command has positioned since.
    has_met_end: bool,
    /// The position was lost: only a command that finds it anew may follow.
    is_lost: bool,
    /// The wrap ends as they were when the cartridge was loaded.
    wrap_ends: Vec<WrapEnd>,
}

impl Loaded {
    /// The mechanics.
    ///
    /// # Errors
    /// Initializing command required, while the tape is not on the head.
    fn mechanics(&mut self) -> Result<&mut Mechanics, Check> {
        self.mechanics.as_mut().ok_or(Check::LOAD_NEEDED)
    }

    /// The head is at the beginning of the tape, and the drive knows it.
    fn at_beginning(&mut self) {
        self.partition = 0;
        self.object = 0;
        self.has_met_end = false;
        self.is_lost = false;
    }
}

/// How far a cartridge is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Threading {
    /// In the drive, the tape not on the head.
    Unloaded,
    /// Ready from then on.
    Loading(Micros),
    /// A cleaning cartridge, at work until then.
    Cleaning(Micros),
    Ready,
}

impl Drive {
    /// A drive that is switched on, without a cartridge.
    ///
    /// # Errors
    /// [`LibraryError`] when the file of its life cannot be read.
    pub fn power_on(
        kind: DriveKind,
        serial: &str,
        seed: u64,
        faults: FaultStream,
        life: &Path,
    ) -> Result<Drive, LibraryError> {
        let wrong = &faults.faults;
        let is_held = wrong
            .reserved_drive
            .as_ref()
            .is_none_or(|one| one == serial);
        let held_by = wrong.reserved_by.as_deref().filter(|_| is_held);
        Ok(Drive {
            mode: Mode::new(&kind),
            kind,
            serial: serial.to_owned(),
            seed,
            life: DriveLife::open(life)?,
            attentions: Attentions::default(),
            reservations: Reservations::left_behind(held_by),
            faults,
            prevented: Vec::new(),
            loaded: None,
            busy_until: Micros::ZERO,
            not_ready_until: Micros::ZERO,
            gauge: Gauge::default(),
            history: History::default(),
            access_order: Vec::new(),
            last_check: None,
            host_error: None,
        })
    }

    /// A new initiator.
    pub fn open_nexus(&mut self) -> usize {
        self.attentions.open()
    }

    /// An initiator with a name, which it keeps from session to session.
    pub fn open_port(&mut self, name: &str) -> usize {
        self.attentions.open_port(name)
    }

    /// A way of an initiator is gone. With the last one goes what holds only while it is there; a persistent
    /// reservation stays, and its holder is remembered.
    pub fn lose_nexus(&mut self, nexus: usize) {
        if !self.attentions.close(nexus) {
            return;
        }
        self.prevented.retain(|&one| one != nexus);
        if !self.reservations.lose(nexus) {
            self.attentions.forget(nexus);
        }
    }

    /// LOGICAL UNIT RESET (SAM-5, 7.7): what initiators set is gone, the tape and persistent reservations stay.
    pub fn reset_unit(&mut self) {
        self.mode = Mode::new(&self.kind);
        self.prevented.clear();
        self.reservations.reset_unit();
        self.access_order.clear();
        self.attentions.raise(UNIT_RESET, None);
    }

    /// The drive's names.
    pub fn identity(&self) -> Identity<'_> {
        Identity {
            device_type: inquiry::TAPE,
            vendor: &self.kind.identity.vendor,
            product: &self.kind.identity.product,
            revision: &self.kind.identity.revision,
            serial: &self.serial,
        }
    }

    /// Where the head is, while tape is on it.
    pub fn head(&self) -> Option<Head> {
        let loaded = self.loaded.as_ref()?;
        let spot = loaded.mechanics.as_ref()?.head();
        Some(Head {
            partition: loaded.partition,
            block: loaded.object,
            wrap: spot.wrap,
            lpos: spot.lpos,
        })
    }

    /// What the drive is doing, for whoever looks on.
    pub fn snapshot(&self, number: usize, now: Micros) -> DriveSnapshot {
        let loaded = self.loaded.as_ref();
        let state = match loaded.map(|loaded| loaded.state) {
            None => "empty",
            Some(Threading::Unloaded) => "unloaded",
            Some(Threading::Loading(ready)) if now < ready => "loading",
            Some(Threading::Cleaning(done)) if now < done => "cleaning",
            Some(_) if now < self.busy_until.max(self.not_ready_until) => "busy",
            Some(_) => "ready",
        };
        DriveSnapshot {
            number,
            serial: self.serial.clone(),
            kind: self.kind.name.clone(),
            cartridge: loaded.map(|loaded| loaded.barcode.clone()),
            state: state.to_owned(),
            head: self.head(),
            metres: self.life.metres,
            last: self.history.lines(),
        }
    }

    /// Whether tape is on the head, or on its way there.
    pub fn is_threaded(&self) -> bool {
        let loaded = self.loaded.as_ref();
        loaded.is_some_and(|loaded| loaded.state != Threading::Unloaded)
    }

    /// From when on the drive is ready, or has finished what it was told to do.
    pub fn ready_at(&self) -> Micros {
        let state = self.loaded.as_ref().map(|loaded| loaded.state);
        let loaded = match state {
            Some(Threading::Loading(ready) | Threading::Cleaning(ready)) => ready,
            _ => Micros::ZERO,
        };
        loaded.max(self.busy_until).max(self.not_ready_until)
    }

    /// The cartridge's barcode, if it is in this list.
    fn is_among(&self, barcodes: &[String]) -> bool {
        let loaded = self.loaded.as_ref();
        loaded.is_some_and(|loaded| barcodes.contains(&loaded.barcode))
    }

    /// Whether the cartridge is write-protected.
    fn is_write_protected(&self) -> bool {
        self.is_among(&self.faults.faults.write_protected)
    }

    /// Whether the cartridge can be written only once.
    fn is_worm(&self) -> bool {
        self.is_among(&self.faults.faults.worm)
    }

    /// Whether what is under the head may be written on.
    fn require_writable(&mut self) -> Result<(), Check> {
        if self.is_write_protected() {
            return Err(Check::WRITE_PROTECTED);
        }
        let is_worm = self.is_worm();
        let loaded = self.ready()?;
        if is_worm && loaded.object < loaded.current()?.end_of_data() {
            Err(Check::WORM_OVERWRITE)
        } else {
            Ok(())
        }
    }

    /// Whether an initiator wants the cartridge to stay.
    pub fn is_removal_prevented(&self) -> bool {
        self.loaded.is_some() && !self.prevented.is_empty()
    }

    /// What is wrong with it and with the adapter before it.
    pub fn faults(&self) -> &Faults {
        &self.faults.faults
    }

    /// Carries out one command.
    pub fn execute(&mut self, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
        let done = self.carry_out(exchange);
        if let Err(Stop::Check(check)) = &done {
            self.last_check = self.faults.faults.sense_stays.then_some(*check);
        }
        done
    }

    fn carry_out(&mut self, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
        const TEST_UNIT_READY: u8 = 0x00;
        self.settle(exchange.now());
        let entry = find(commands::TABLE, self, exchange)?;
        if self.faults.faults.missing_commands.contains(&entry.opcode) {
            return Err(Check::INVALID_OPCODE.into());
        }
        if entry.needs != Needs::Nothing && self.faults.attention() {
            self.attentions.raise_for(MODE_CHANGED, exchange.nexus);
        }
        let is_silent = self.faults.faults.late_attentions && entry.opcode == TEST_UNIT_READY;
        if entry.needs != Needs::Nothing
            && !is_silent
            && let Some(attention) = self.attentions.take(exchange.nexus)
        {
            return Err(attention.into());
        }
        if self.reservations.refuses(exchange) {
            return Err(Stop::ReservationConflict);
        }
        if matches!(entry.needs, Needs::Medium | Needs::Position) {
            self.fail_by_chance(exchange)?;
            self.require_ready(exchange)?;
        }
        if entry.needs == Needs::Position && self.ready()?.is_lost {
            return Err(Check::SEQUENCE.into());
        }
        (entry.run)(self, exchange)
    }

    /// What has become true by time alone: a cartridge is loaded, a drive ready again.
    fn settle(&mut self, now: Micros) {
        let Some(loaded) = &mut self.loaded else {
            return;
        };
        match loaded.state {
            Threading::Loading(ready) if now >= ready => {
                loaded.state = Threading::Ready;
                self.attentions.raise(MEDIUM_CHANGED, None);
            }
            Threading::Cleaning(done) if now >= done => {
                loaded.state = Threading::Unloaded;
                self.life.cleanings += 1;
                self.life.metres_since_cleaning = 0.0;
            }
            _ => {}
        }
    }

    fn fail_by_chance(&mut self, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
        match self.faults.before_command() {
            None => Ok(()),
            Some(DriveFault::Broken) => Err(Check::INTERNAL_FAILURE.into()),
            Some(DriveFault::Reset) => {
                self.reset(exchange);
                let attention = self.attentions.take(exchange.nexus);
                Err(attention.unwrap_or(Check::unit_attention(POWER_ON)).into())
            }
            Some(DriveFault::NotReady(time)) => {
                self.not_ready_until = exchange.now() + time;
                Ok(())
            }
        }
    }

    fn require_ready(&self, exchange: &Exchange<'_>) -> Result<(), Check> {
        let Some(loaded) = &self.loaded else {
            return Err(Check::NO_MEDIUM);
        };
        match loaded.state {
            // An unload that was answered at once goes on.
            Threading::Unloaded if exchange.now() < self.busy_until => {
                return Err(Check::OPERATION_IN_PROGRESS);
            }
            Threading::Unloaded => return Err(Check::LOAD_NEEDED),
            Threading::Loading(_) => return Err(Check::BECOMING_READY),
            Threading::Cleaning(_) => return Err(Check::CLEANING),
            Threading::Ready => {}
        }
        if exchange.now() < self.not_ready_until {
            return Err(Check::BECOMING_READY);
        }
        if exchange.now() < self.busy_until {
            return Err(Check::OPERATION_IN_PROGRESS);
        }
        if !loaded.is_compatible {
            return Err(Check::INCOMPATIBLE_MEDIUM);
        }
        Ok(())
    }

    /// The drive loses its state, as when power comes back: the tape stands at its beginning.
    fn reset(&mut self, exchange: &mut Exchange<'_>) {
        self.mode = Mode::new(&self.kind);
        self.prevented.clear();
        self.reservations.reset();
        self.access_order.clear();
        if let Some(loaded) = &mut self.loaded {
            let motion = loaded.mechanics.as_mut().map(Mechanics::rewind);
            loaded.at_beginning();
            loaded.is_lost = true;
            if let Some(motion) = motion {
                self.moved(motion, exchange);
            }
        }
        self.attentions.raise(POWER_ON, None);
    }

    /// The cartridge in the drive.
    ///
    /// # Errors
    /// No medium.
    fn ready(&mut self) -> Result<&mut Loaded, Check> {
        self.loaded.as_mut().ok_or(Check::NO_MEDIUM)
    }

    /// The tape has moved: the time passes, the metres count.
    fn moved(&mut self, motion: Motion, exchange: &mut Exchange<'_>) {
        exchange.spend(motion.time);
        self.count(motion);
    }

    fn count(&mut self, motion: Motion) {
        self.life.metres += motion.metres;
        self.life.motion_s += motion.time.as_secs_f64();
        self.life.metres_since_cleaning += motion.metres;
        if let Some(loaded) = &mut self.loaded {
            loaded.medium.memory.metres += motion.metres;
        }
    }

    /// Whether the drive asks to be cleaned.
    fn wants_cleaning(&self) -> bool {
        let most = self.faults.faults.cleaning_after_m;
        most.is_some_and(|most| self.life.metres_since_cleaning > most)
    }

    /// Drives of this century: LOCATE(16), long positions, attributes, log pages.
    fn is_modern(&self) -> bool {
        matches!(
            self.kind.family,
            Family::Lto | Family::Ibm3592 | Family::T10000
        )
    }
}
