//! The event log: one record for each thing a drive or a robot did, JSON Lines.
//!
//! A measurement, a recall and a simulation write the same record, so that each can refit a model,
//! be priced under another order, or be drawn. [`crate::event_log`] reads and writes files of them.

use serde::{Deserialize, Serialize};
use std::fmt;
use tapewise_model::Micros;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The robot brought a cartridge from its slot to the drive.
    Fetch,
    /// The robot took it back.
    Return,
    /// From the cartridge in the drive until the drive was ready.
    Mount,
    /// From the request until the cartridge could be taken.
    Unmount,
    /// To a block, until it could be read.
    Locate,
    /// Reading on over blocks that nobody asked for, because that is quicker than a locate.
    ReadThrough,
    /// Reading blocks.
    Read,
    /// Writing blocks.
    Write,
    /// Writing filemarks.
    WriteFilemarks,
    /// To the beginning of tape.
    Rewind,
    /// A pause that was wanted: a delay between reads that is measured.
    Pause,
}

impl fmt::Display for Action {
    /// By its name in the event log.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As it should.
    #[default]
    Done,
    /// It failed; the sense says how.
    Failed,
    /// It was given up on the way: interrupted, or the host could not take what was read or give what was to be written.
    Abandoned,
}

/// Where the head was: by block, by place on the tape, or both, as far as it was known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spot {
    /// Partition, 0 to 3.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partition: u8,
    /// Logical object identifier, filemarks counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// Physical wrap (DLT: track), as the drive reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap: Option<u16>,
    /// Longitudinal position, as the drive reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lpos: Option<u32>,
}

fn is_zero(partition: &u8) -> bool {
    *partition == 0
}

fn none<T>(count: &T) -> bool
where
    T: Default + PartialEq,
{
    *count == T::default()
}

/// A plan as it was when the drive began with it: what it is likely to take, and what no order can be below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBegun {
    /// How long all of it takes, as predicted.
    pub predicted_us: Micros,
    /// A total that no order falls below with the same times, where one was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_us: Option<Micros>,
}

/// One thing that a drive or a robot did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// What was done.
    pub action: Action,
    /// When it began, on the device's clock since the log began.
    pub at_us: Micros,
    /// How long it took.
    pub took_us: Micros,
    /// How long its plan expects it to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_us: Option<Micros>,
    /// The plan that begins with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanBegun>,
    /// The drive's or robot's serial number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The cartridge's barcode, or its serial number where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cartridge: Option<String>,
    /// Where the head was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Spot>,
    /// Where it was asked to go, or was afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Spot>,
    /// The slot's element address, for what a robot does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u16>,
    /// Blocks moved.
    #[serde(default, skip_serializing_if = "none")]
    pub blocks: u64,
    /// Bytes moved, as the host sees them.
    #[serde(default, skip_serializing_if = "none")]
    pub bytes: u64,
    /// How it ended.
    #[serde(default, skip_serializing_if = "none")]
    pub outcome: Outcome,
    /// Sense in words, where it failed; why the host gave it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sense: Option<String>,
    /// What it was for: the step of a measurement, the request of a recall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Who it was done for, where somebody accounts for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// What was set for this step: block size of a transfer, length of a delay, gzip ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<i64>,
}

impl Event {
    /// An event that ended as it should, of which nothing else is known yet.
    pub fn new(action: Action, at_us: Micros, took_us: Micros) -> Event {
        Event {
            action,
            at_us,
            took_us,
            predicted_us: None,
            plan: None,
            device: None,
            cartridge: None,
            from: None,
            to: None,
            slot: None,
            blocks: 0,
            bytes: 0,
            outcome: Outcome::Done,
            sense: None,
            purpose: None,
            user: None,
            parameter: None,
        }
    }
}
