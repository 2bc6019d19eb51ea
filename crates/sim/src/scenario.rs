//! A scenario: what arrives at which libraries, and how long one looks.
//!
//! A scenario file is TOML; docs/reference/scenario.md lists every key. Nothing is guessed: a key
//! that is not known, a time that cannot be and a load that nothing could bear are refused.

pub mod builtin;
mod cases;
pub(crate) mod check;
mod demand;
mod error;
mod owners;
mod setting;
mod site;

pub use crate::mounts::{MountPolicy, MountRules};
pub use demand::{Arrivals, CartridgePick, Listed, PlacePick, PriorityClass, Requests};
pub use error::{Overload, ScenarioError};
pub use setting::{SHORT_KEYS, Setting, SettingError};
pub use site::{
    Cache, CartridgeGroup, Cleaning, Dismount, DriveGroup, Failures, Library, Policy, Rewind,
    RobotGroup, Software,
};

use serde::Deserialize;

/// A scenario as its TOML text states it. Times are in seconds, sizes in decimal MB.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name in tables.
    pub name: String,
    /// What it is of, with its source.
    #[serde(default)]
    pub about: String,
    /// Seed of all random numbers.
    #[serde(default = "one")]
    pub seed: u64,
    /// Requests that arrive in one replication.
    pub requests: u64,
    /// Replications, at least.
    #[serde(default = "ten")]
    pub replications: u64,
    /// How the beginning is cut off.
    #[serde(default)]
    pub warm_up: WarmUp,
    /// How sure the mean is to be; without it, `replications` are made and no more.
    pub precision: Option<Precision>,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// What they ask for.
    #[serde(default, rename = "request")]
    pub what: Requests,
    /// The disk in front.
    pub cache: Option<Cache>,
    /// What is mounted when, and in which order it is read.
    #[serde(default)]
    pub policy: Policy,
    /// The libraries.
    #[serde(rename = "library")]
    pub libraries: Vec<Library>,
}

/// How the beginning of a replication, when the library is still empty, is cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUp {
    /// Where the mean of the rest is surest (White's marginal standard error rule, MSER-5).
    #[default]
    Automatic,
    /// Nothing is cut off: the beginning is part of what is asked for.
    Keep,
}

/// How sure the mean response is to be.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Precision {
    /// Half the width of the 95 % interval, as a share of the mean.
    pub share: f64,
    /// Replications, at most.
    #[serde(default = "thousand")]
    pub most: u64,
}

fn one() -> u64 {
    1
}

fn ten() -> u64 {
    10
}

fn thousand() -> u64 {
    1000
}

impl Scenario {
    /// Reads a scenario without cases.
    ///
    /// # Errors
    /// [`ScenarioError`] names the key and the reason. A text with `[[case]]` is refused too: see
    /// [`Scenario::cases`].
    pub fn from_toml(text: &str) -> Result<Scenario, ScenarioError> {
        match <[Scenario; 1]>::try_from(Scenario::cases(text)?) {
            Ok([scenario]) => Ok(scenario),
            Err(cases) => Err(ScenarioError::Cases { cases: cases.len() }),
        }
    }

    /// Reads a scenario with its cases: each `[[case]]` is laid over the rest of the text, so that
    /// it states only what is different. Without cases, there is the one scenario.
    ///
    /// # Errors
    /// [`ScenarioError`] names the case, the key and the reason.
    pub fn cases(text: &str) -> Result<Vec<Scenario>, ScenarioError> {
        cases::cases(text)
    }

    /// Refuses values that parse but cannot be, those that a program has set among them.
    ///
    /// # Errors
    /// [`ScenarioError::Value`] names the key and the reason.
    pub fn check(&self) -> Result<(), ScenarioError> {
        check::check(self)
    }

    /// Whether every request is of no size: its read takes no time, and fills no disk.
    pub(crate) fn reads_nothing(&self) -> bool {
        match &self.arrivals {
            Arrivals::Trace { list } => list.iter().all(|listed| listed.size_mb == 0.0),
            _ => self.what.size_mb.mean() == 0.0,
        }
    }
}
