//! What is asked of the libraries: when, on which cartridge, where on it, how much.

use crate::distribution::Distribution;
use crate::mounts::Owner;
use serde::Deserialize;

/// When requests arrive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "pattern", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrivals {
    /// Independently of each other, at a steady rate.
    Poisson {
        /// Mean rate.
        per_hour: f64,
    },
    /// With gaps of a chosen variation.
    Renewal {
        /// Mean rate.
        per_hour: f64,
        /// Coefficient of variation of the gaps: 0 is a clock, 1 is Poisson.
        cv: f64,
    },
    /// A Poisson stream whose rate follows the hours of the day.
    Daily {
        /// Mean rate over the day.
        per_hour: f64,
        /// Weights of equal parts of the day, from midnight; 24 of them are hours.
        shape: Vec<f64>,
    },
    /// Bursts upon a Poisson stream: each begins at random and brings its requests at its own rate.
    Bursts {
        /// Mean rate of the stream below.
        per_hour: f64,
        /// Bursts that begin in a day, on average.
        a_day: f64,
        /// Requests of a burst.
        size: u64,
        /// Mean rate within a burst.
        burst_per_hour: f64,
    },
    /// A number of users who each wait for the answer, think, and ask again.
    Closed {
        /// Users.
        users: u64,
        /// From an answer to the same user's next request, in seconds.
        think_s: Distribution,
    },
    /// As recorded.
    Trace {
        /// The requests, by time.
        list: Vec<Listed>,
    },
}

/// A recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// When it arrived, in seconds from the beginning.
    pub at_s: f64,
    /// Which library, by its place in the file from 0.
    #[serde(default)]
    pub library: u32,
    /// Which cartridge, from 0.
    pub cartridge: u32,
    /// Where on it, as a share of what is written: 0 to 1.
    pub place: f64,
    /// How much.
    #[serde(default)]
    pub size_mb: f64,
    /// How urgent; higher is sooner.
    #[serde(default)]
    pub priority: u8,
    /// Who asks, by a number from 0.
    #[serde(default)]
    pub owner: u32,
}

/// What requests ask for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Requests {
    /// Which cartridge.
    pub cartridges: CartridgePick,
    /// Where on it.
    pub places: PlacePick,
    /// How much.
    pub size_mb: Distribution,
    /// Classes of urgency; without them all are alike.
    pub priorities: Vec<PriorityClass>,
    /// How many users ask, each as often as any other. A burst is asked for by one more: owner 0 where this is more
    /// than 1; the others are numbered from 1.
    pub owners: u32,
    /// Their names and activities, by number, for a policy that names users.
    pub names: Vec<Owner>,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests {
            cartridges: CartridgePick::Uniform,
            places: PlacePick::Uniform,
            size_mb: Distribution::constant(0.0),
            priorities: Vec::new(),
            owners: 1,
            names: Vec::new(),
        }
    }
}

/// Which cartridge a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "pick", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CartridgePick {
    /// All alike.
    Uniform,
    /// The cartridge numbered k from 1 in proportion to k to the power of minus the exponent.
    Zipf {
        /// The exponent.
        exponent: f64,
    },
    /// The same as the request before for a while, then one drawn among all: requests of one job.
    Clustered {
        /// Mean number of requests from draw to draw. The same cartridge can be drawn again: of `n`
        /// they stay on one for `n / (n - 1)` times as many.
        run: f64,
    },
    /// One after the other, round and round.
    InTurn,
}

/// Where on the cartridge a request lies, as a share of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "pick", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PlacePick {
    /// Anywhere.
    Uniform,
    /// At one of so many places, all alike, in the middle of equal parts.
    Steps {
        /// How many places there are.
        count: u32,
    },
    /// Most in one part of the tape: Zipf over equal parts from the beginning.
    Zipf {
        /// Equal parts.
        parts: u32,
        /// The exponent.
        exponent: f64,
    },
}

/// A class of urgency.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorityClass {
    /// Higher is sooner.
    pub priority: u8,
    /// Weight among the classes.
    pub share: f64,
}
