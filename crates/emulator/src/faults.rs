//! What goes wrong, by seed.
//!
//! - **Medium errors.** A block is bad or it is not: whether it is follows from the seed, the
//!   cartridge's barcode, the partition and the block's number, so a bad block stays bad whoever
//!   reads it, and when. Listed blocks are bad in any case. Writing a block anew does not heal it.
//!   The same of blocks that cannot be written: 03h/0Ch/00h, nothing is on the tape.
//! - **Resets.** Before a command that needs a ready medium the drive may lose its state: removal
//!   is allowed again, the tape stands at the beginning, each initiator finds unit attention
//!   29h/00h.
//! - **Not ready.** Before such a command the drive may become busy with itself for a while:
//!   02h/04h/01h until the time is over.
//! - **Broken drives.** A drive that is listed carries out so many commands that need a ready medium
//!   after its power came on; each of them after that fails with 04h/44h/00h, until its power comes on
//!   again.
//! - **Power loss.** While a block is written the power may fail. Of what was written since the
//!   last flush an uncertain part, always from the front, is on tape; the rest is gone. The drive
//!   then comes back as after a reset.
//! - **Robot errors.** A move may fail with 04h/15h/01h: the cartridge stays where it was, or, if
//!   it is dropped, lies on the floor: in no element until somebody puts it back.
//! - **A small adapter.** A command with more data than the adapter carries never gets to the drive.
//! - **Few segments.** An adapter that takes a command in only so many pieces of a page: what is longer never gets
//!   to the drive either, and nobody says how long it may be.
//! - **No residue.** An adapter that does not tell how many bytes a drive has left of the room for them: every
//!   answer looks as long as its room.
//! - **Sense that stays.** A drive that goes on telling the sense of the last failed command.
//! - **Late attentions.** TEST UNIT READY does not tell unit attentions: what comes after it does.
//! - **A reservation left behind.** Somebody who is gone has reserved every drive.
//! - **Short tapes.** Every partition is full after so many bytes, and the drive warns of it early.
//! - **Cleaning.** After so many metres the drive asks for it: the cleaning bit in sense bytes and
//!   TapeAlert flag 20 stay on until a cleaning cartridge was in the drive.
//!
//! - **Unkind devices.** Nothing is broken, and yet not as in the book: an adapter that carries little at once,
//!   commands that a drive does not have, unit attentions out of nowhere, sense data that stays, a slow load, a
//!   library that does not name the drives, cartridges that are write-protected or WORM, a persistent reservation
//!   of a host that is gone.
//!
//! Each drive and the robot draw from a stream of their own, one draw for each command and kind of
//! fault, so one seed and the same commands give the same faults.

use serde::{Deserialize, Serialize};
use std::fmt;
use tapewise_model::{Micros, Random};

/// The longest time that a fault may last: ten years.
const MOST_SECONDS: f64 = 315_360_000.0;

/// Why the value of a key is refused.
fn wrong(key: &str, value: &dyn fmt::Debug, allowed: &str) -> Result<(), String> {
    Err(format!("faults: {key} = {value:?}: {allowed}"))
}

/// Which faults happen, and how often. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// Seed of all streams.
    pub seed: u64,
    /// Probability that a block cannot be read.
    pub bad_block: f64,
    /// Blocks that cannot be read.
    pub bad_blocks: Vec<BadBlock>,
    /// Probability that a block cannot be written.
    pub bad_write: f64,
    /// Probability of a reset, for each command that needs a medium.
    pub reset: f64,
    /// Probability of a not-ready period, for each command that needs a medium.
    pub not_ready: f64,
    /// How long such a period is, in seconds.
    pub not_ready_s: f64,
    /// Drives that break down.
    pub broken_drives: Vec<BrokenDrive>,
    /// Probability that power fails, for each block written.
    pub power_loss: f64,
    /// Probability that a move of the robot fails.
    pub robot_error: f64,
    /// Probability that a move that failed has dropped the cartridge.
    pub dropped: f64,
    /// Metres of tape after which the drive asks for cleaning.
    pub cleaning_after_m: Option<f64>,
    /// Operation codes that the drives do not have, whatever their kind has.
    pub missing_commands: Vec<u8>,
    /// Probability of a unit attention (mode parameters changed), for each command that reports them.
    pub attention: f64,
    /// Seconds that a drive takes longer to become ready.
    pub slow_load_s: f64,
    /// READ ELEMENT STATUS does not tell the serial numbers of the drives.
    pub no_drive_serials: bool,
    /// The answer to READ ELEMENT STATUS ends this many bytes early, whatever its header announces.
    #[serde(skip_serializing_if = "is_zero")]
    pub element_status_cut_bytes: usize,
    /// Barcodes of cartridges that are write-protected.
    pub write_protected: Vec<String>,
    /// Bytes that a partition takes before it is full, whatever its tape would take; the drive warns in the last
    /// quarter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_after_bytes: Option<u64>,
    /// Barcodes of cartridges that can be written only once.
    pub worm: Vec<String>,
    /// Bytes that the adapter carries with one command to or from a drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter_bytes: Option<u64>,
    /// Pages of memory that the adapter takes for one command: it refuses longer ones and does not tell why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter_segments: Option<u64>,
    /// The adapter does not tell how much of the room for an answer was left over.
    #[serde(skip_serializing_if = "is_false")]
    pub no_residue: bool,
    /// REQUEST SENSE repeats the sense of the last command that failed.
    #[serde(skip_serializing_if = "is_false")]
    pub sense_stays: bool,
    /// TEST UNIT READY does not tell unit attentions.
    #[serde(skip_serializing_if = "is_false")]
    pub late_attentions: bool,
    /// Key of an initiator that is gone and holds every drive, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_by: Option<String>,
    /// Serial number of the only drive that this initiator holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_drive: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference.
fn is_false(flag: &bool) -> bool {
    !flag
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference.
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A block that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BadBlock {
    /// The cartridge.
    pub barcode: String,
    /// The partition.
    pub partition: u8,
    /// Logical object number in it.
    pub block: u64,
}

/// A drive that breaks down each time its power is on for long enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrokenDrive {
    /// The drive, counted from 0.
    pub drive: u64,
    /// Commands that need a ready medium which it carries out before.
    pub after_commands: u64,
}

impl Faults {
    /// Nothing goes wrong.
    pub fn none() -> Faults {
        Faults::default()
    }

    /// The first key with a value that means nothing in a library with drives of these serial numbers and cartridges
    /// with these barcodes: the key, the value and what is allowed.
    pub(crate) fn check(&self, serials: &[&str], barcodes: &[&str]) -> Result<(), String> {
        for (key, value) in [
            ("bad_block", self.bad_block),
            ("bad_write", self.bad_write),
            ("reset", self.reset),
            ("not_ready", self.not_ready),
            ("power_loss", self.power_loss),
            ("robot_error", self.robot_error),
            ("dropped", self.dropped),
            ("attention", self.attention),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return wrong(key, &value, "a probability is a number from 0 to 1");
            }
        }
        let seconds = [
            ("not_ready_s", self.not_ready_s),
            ("slow_load_s", self.slow_load_s),
        ];
        for (key, value) in seconds {
            if !(0.0..=MOST_SECONDS).contains(&value) {
                let allowed = format!("a number of seconds from 0 to {MOST_SECONDS}");
                return wrong(key, &value, &allowed);
            }
        }
        if let Some(metres) = self.cleaning_after_m
            && !(metres.is_finite() && metres >= 0.0)
        {
            return wrong("cleaning_after_m", &metres, "a number of metres from 0 on");
        }
        for (key, value) in [
            ("adapter_bytes", self.adapter_bytes),
            ("adapter_segments", self.adapter_segments),
            ("full_after_bytes", self.full_after_bytes),
        ] {
            if value == Some(0) {
                return wrong(key, &0, "a number above 0, or no such line");
            }
        }
        self.check_names(serials, barcodes)
    }

    /// The same of what names drives and cartridges.
    fn check_names(&self, serials: &[&str], barcodes: &[&str]) -> Result<(), String> {
        let drives = serials.len() as u64;
        let mut broken = self.broken_drives.iter();
        if let Some(BrokenDrive { drive, .. }) = broken.find(|broken| broken.drive >= drives) {
            let allowed = format!("the {drives} drives are counted from 0");
            return wrong("broken_drives, drive", drive, &allowed);
        }
        let bad = self
            .bad_blocks
            .iter()
            .map(|bad| ("bad_blocks, barcode", &bad.barcode));
        let protected = self
            .write_protected
            .iter()
            .map(|one| ("write_protected", one));
        let worm = self.worm.iter().map(|one| ("worm", one));
        for (key, barcode) in bad.chain(protected).chain(worm) {
            if !barcodes.contains(&barcode.as_str()) {
                return wrong(
                    key,
                    barcode,
                    "the barcode of a [[cartridge]] of this library",
                );
            }
        }
        let is_key = |key: &String| u64::from_str_radix(key, 16).is_ok();
        match (&self.reserved_by, &self.reserved_drive) {
            (Some(key), _) if !is_key(key) => {
                wrong("reserved_by", key, "a key is 1 to 16 hexadecimal digits")
            }
            (_, Some(serial)) if !serials.contains(&serial.as_str()) => {
                let allowed = "the serial number of a [[drive]] of this library";
                wrong("reserved_drive", serial, allowed)
            }
            _ => Ok(()),
        }
    }

    /// Whether this block cannot be read.
    pub fn is_bad(&self, barcode: &str, partition: u8, block: u64) -> bool {
        if self
            .bad_blocks
            .iter()
            .any(|bad| bad.block == block && bad.partition == partition && bad.barcode == barcode)
        {
            return true;
        }
        self.bad_block > 0.0 && self.drawn(barcode, partition, block).unit() < self.bad_block
    }

    /// Whether this block cannot be written.
    pub fn is_unwritable(&self, barcode: &str, partition: u8, block: u64) -> bool {
        if self.bad_write <= 0.0 {
            return false;
        }
        // The second draw of the block: the first one is whether it can be read.
        let mut random = self.drawn(barcode, partition, block);
        random.unit();
        random.unit() < self.bad_write
    }

    /// What chance has for a block, always the same.
    fn drawn(&self, barcode: &str, partition: u8, block: u64) -> Random {
        let place = crc32fast::hash(barcode.as_bytes());
        let seed = self.seed ^ u64::from(place) << 32 ^ u64::from(partition) << 24;
        Random::new(seed, block)
    }

    /// The stream of a device: drives are numbered from 1 there, as the robot is not one of them.
    pub(crate) fn stream(&self, device: u64) -> FaultStream {
        let mut broken = self.broken_drives.iter();
        FaultStream {
            faults: self.clone(),
            random: Random::new(self.seed, device),
            commands_left: broken
                .find(|broken| broken.drive.checked_add(1) == Some(device))
                .map(|broken| broken.after_commands),
        }
    }
}

/// The faults of one device, as they come.
#[derive(Clone, Debug)]
pub(crate) struct FaultStream {
    pub faults: Faults,
    random: Random,
    /// Commands until the drive breaks down; none where it does not.
    commands_left: Option<u64>,
}

/// What happens to a drive before a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DriveFault {
    Broken,
    Reset,
    NotReady(Micros),
}

/// What happens to a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RobotFault {
    Stays,
    Dropped,
}

impl FaultStream {
    /// What happens to a drive before a command that needs a medium.
    pub fn before_command(&mut self) -> Option<DriveFault> {
        match &mut self.commands_left {
            Some(0) => return Some(DriveFault::Broken),
            Some(left) => *left -= 1,
            None => {}
        }
        let (reset, not_ready) = (self.random.unit(), self.random.unit());
        if reset < self.faults.reset {
            return Some(DriveFault::Reset);
        }
        (not_ready < self.faults.not_ready)
            .then(|| DriveFault::NotReady(Micros::from_secs_f64(self.faults.not_ready_s)))
    }

    /// Whether a unit attention comes out of nowhere.
    pub fn attention(&mut self) -> bool {
        self.faults.attention > 0.0 && self.random.unit() < self.faults.attention
    }

    /// How many of the blocks not yet flushed survive, if power fails now.
    pub fn power_loss(&mut self, unsafe_blocks: u64) -> Option<u64> {
        (self.faults.power_loss > 0.0 && self.random.unit() < self.faults.power_loss)
            .then(|| self.random.below(unsafe_blocks + 1))
    }

    /// What happens to a move of the robot.
    pub fn on_move(&mut self) -> Option<RobotFault> {
        let (fails, drops) = (self.random.unit(), self.random.unit());
        (fails < self.faults.robot_error).then_some(if drops < self.faults.dropped {
            RobotFault::Dropped
        } else {
            RobotFault::Stays
        })
    }
}
