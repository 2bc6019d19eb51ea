//! Streams of random numbers: one for each replication and purpose.
//!
//! A purpose draws from a stream of its own, so that two scenarios with the same seed see the same
//! arrivals, the same cartridges and the same places whatever else differs between them: common
//! random numbers, by which a difference between scenarios is seen with far fewer replications.

use tapewise_model::Random;

/// What random numbers are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// When requests arrive.
    Arrivals,
    /// Which library a request goes to.
    Libraries,
    /// Which cartridge it wants.
    Cartridges,
    /// Where on the cartridge.
    Places,
    /// How much of it.
    Sizes,
    /// How urgent it is.
    Priorities,
    /// Whether the disk has it.
    Cache,
    /// What robots take.
    Robots,
    /// What drives and software take.
    Drives,
    /// When drives fail, and for how long.
    Failures,
    /// Who asks.
    Owners,
}

/// Streams of one replication; room for purposes to come.
const PURPOSES: u64 = 64;

/// The stream of a replication for a purpose.
pub fn stream(seed: u64, replication: u64, purpose: Purpose) -> Random {
    Random::new(seed, replication * PURPOSES + purpose as u64)
}
