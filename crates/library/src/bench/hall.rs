//! What the drives of a benchmark share: cartridges, robot, queue and log.

use super::queue::Queue;
use crate::stress::Failure;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_formats::bench_csv::Stocked;
use tapewise_run::Log;
use tapewise_scsi::Changer;

/// A cartridge with the slot it stands in, and is brought back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelved {
    /// What is on it.
    pub stocked: Stocked,
    /// Its slot's element address.
    pub slot: u16,
}

/// What came of a benchmark, beside its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Retrievals that were answered.
    pub answered: u64,
    /// What failed.
    pub failures: Vec<Failure>,
    /// Cartridges that are not in their slots.
    pub left: Vec<String>,
    /// Somebody stopped it.
    pub interrupted: bool,
}

/// What all drives share.
pub(super) struct Hall<'a> {
    pub(super) shelved: &'a [Shelved],
    pub(super) robot: Mutex<Robot<'a>>,
    pub(super) queue: Mutex<Queue<'a>>,
    pub(super) record: Mutex<Record<'a>>,
    pub(super) stop: &'a AtomicBool,
}

pub(super) struct Robot<'a> {
    pub(super) changer: &'a mut Changer,
    pub(super) began: Duration,
}

pub(super) struct Record<'a> {
    pub(super) log: &'a mut (dyn Log + Send),
    pub(super) tally: Tally,
}

/// What the events of a retrieval say that they were for: `request 17`.
pub fn purpose(number: u64) -> String {
    format!("{PURPOSE}{number}")
}

/// The retrieval that an event was for, by its purpose.
pub fn number_of(purpose: &str) -> Option<u64> {
    purpose.strip_prefix(PURPOSE)?.parse().ok()
}

const PURPOSE: &str = "request ";
