//! Ours: the cartridge that serves most waiting per second of the drive.
//!
//! Of jobs that keep a machine busy for `p` and are worth `w`, the one of greatest `w / p` goes
//! first: then the weighted sum of waits is least (Smith 1956). Here the job is a mount, with all
//! that it costs (the robot's two ways, load, plan, rewind, unload, and the drive's last cartridge
//! if that is still there), and its worth is the weight of its requests, which counts more
//! the longer they have waited:
//!
//! ```text
//! index = weight * (1 + waited / overdue) / cost
//! ```
//!
//! with the mean wait of its requests, each of which weighs one, twice as much for each step of urgency. A cartridge whose oldest request has waited for `overdue_s` goes before
//! all that have not, and among these the oldest first. So no request waits for longer than that and
//! what is overdue before it.

use super::{FreeDrive, PolicyKind, Rank, Situation, Waiting, Why};
use std::cmp::Reverse;
use tapewise_model::Micros;

/// As the list of policies knows it.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "index",
    rank,
    why: Why::Worth,
};

fn rank(situation: &Situation, waiting: &Waiting, drive: &FreeDrive) -> Result<Rank, Micros> {
    let overdue = Micros::from_secs_f64(situation.rules.overdue_s);
    if waiting.is_overdue(situation.now, situation.rules) {
        return Ok((Reverse(u64::MAX), waiting.oldest));
    }
    let waited = waiting.waited(situation.now).0 as f64 / f64::from(waiting.requests.max(1));
    let worth = waiting.weight * (1.0 + waited / overdue.0.max(1) as f64);
    let cost = (situation.cost)(waiting, drive).0.max(1) as f64;
    // Of positive numbers the greater has the greater bits.
    Ok((Reverse((worth / cost).to_bits()), waiting.oldest))
}
