//! What serves: libraries with drives, robots and cartridges, software, policy, disk.

use crate::distribution::{Distribution, Way};
use crate::mounts::{MountPolicy, MountRules};
use serde::Deserialize;

/// A library.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// Its name in results.
    pub name: String,
    /// Libraries like this one; they are named with a number behind.
    #[serde(default = "one")]
    pub count: u32,
    /// Weight among the libraries: how many of the requests it gets, or they get together.
    #[serde(default = "whole")]
    pub share: f64,
    /// Its robots.
    pub robot: RobotGroup,
    /// Its drives, in groups of one kind.
    #[serde(rename = "drive")]
    pub drives: Vec<DriveGroup>,
    /// Its cartridges, in groups of one kind.
    #[serde(rename = "cartridge")]
    pub cartridges: Vec<CartridgeGroup>,
    /// What software adds.
    #[serde(default)]
    pub software: Software,
}

fn whole() -> f64 {
    1.0
}

fn one() -> u32 {
    1
}

fn at_once() -> Distribution {
    Distribution::constant(0.0)
}

/// The robots of a library, each of which carries one cartridge at a time for any drive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RobotGroup {
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// A profile that knows the times.
    pub profile: Option<String>,
    /// From slot to drive; near and far are the first and last cartridge's slots.
    pub get_s: Option<Way>,
    /// From drive to slot.
    pub put_s: Option<Way>,
    /// From one move to the next, at least: reporting, moving off.
    #[serde(default = "at_once")]
    pub settle_s: Distribution,
    /// Whether software takes hold of a robot before it asks a drive to unload, so that the robot
    /// stands by meanwhile; else the drive unloads first.
    #[serde(default)]
    pub waits_for_unload: bool,
    /// Whether what waits to be read goes before what is to be put back.
    #[serde(default)]
    pub gets_first: bool,
}

/// Drives of one kind. A time that is given here goes before the profile's.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveGroup {
    /// How many.
    pub count: u32,
    /// A profile that knows the times; locates then follow its model.
    pub profile: Option<String>,
    /// Media that they read; without it, all.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Cartridge in the drive until ready.
    pub load_s: Option<Distribution>,
    /// Request until the cartridge can be taken, tape rewound.
    pub unload_s: Option<Distribution>,
    /// From place to place; near and far are no way and the whole tape.
    pub search_s: Option<Way>,
    /// To the beginning of tape; near and far as in `search_s`.
    pub rewind_s: Option<Way>,
    /// Native rate of reading.
    pub rate_mb_s: Option<f64>,
    /// Cleaning cycles.
    pub cleaning: Option<Cleaning>,
    /// Failures.
    pub failures: Option<Failures>,
}

/// Cleaning cycles, in the drive once it is empty.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cleaning {
    /// Mounts from one to the next; drives begin at places of their own within the first interval.
    pub every_mounts: u32,
    /// How long one takes.
    pub takes_s: Distribution,
}

/// Failures: what the drive does is lost, and its cartridge stays in it until it is repaired.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failures {
    /// From a repair to the next failure.
    pub after_hours: Distribution,
    /// From the failure to the end of the repair.
    pub repair_hours: Distribution,
}

/// Cartridges of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CartridgeGroup {
    /// How many.
    pub count: u32,
    /// The medium, as drives' `reads` name it; without it, every drive reads them.
    pub media: Option<String>,
    /// The part of the tape that is written.
    #[serde(default = "whole")]
    pub filled: f64,
}

/// What software adds to what the hardware takes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Software {
    /// From the request to the first move: looking it up, queueing it.
    pub request_s: Distribution,
    /// From the end of the read to the answer.
    pub answer_s: Distribution,
    /// How often a loading drive is asked whether it is ready: it is seen to be at the next asking.
    /// Zero is at once.
    pub poll_s: f64,
}

impl Default for Software {
    fn default() -> Software {
        Software {
            request_s: at_once(),
            answer_s: at_once(),
            poll_s: 0.0,
        }
    }
}

/// What is mounted when, and in which order it is read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Which cartridge a free drive gets.
    pub mount: MountPolicy,
    /// The numbers of that choice.
    pub rules: MountRules,
    /// Requests of one mount, at most; without it, as many as there are. Counted anew when an idle
    /// cartridge is asked for again.
    pub most_per_mount: Option<u32>,
    /// Whether a request for a cartridge in a drive is read there before that is taken out.
    pub affinity: bool,
    /// How long the first request for a cartridge waits for others before it is mounted.
    pub window_s: f64,
    /// As many requests end the wait.
    pub window_requests: Option<u32>,
    /// The order in which the requests of a mount are read, by its name on the command line.
    pub order: String,
    /// What that order is good for: `total`, the drive's time; or `mean`, the time until a request is read, on
    /// average, for at most a little more of the drive's time.
    pub objective: String,
    /// When an idle cartridge is taken out.
    pub dismount: Dismount,
    /// For [`Dismount::AfterIdle`].
    pub idle_s: Option<f64>,
    /// When tape is rewound.
    pub rewind: Rewind,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            mount: MountPolicy::Fifo,
            rules: MountRules::default(),
            most_per_mount: None,
            affinity: true,
            window_s: 0.0,
            window_requests: None,
            order: "sort".to_owned(),
            objective: "total".to_owned(),
            dismount: Dismount::AtOnce,
            idle_s: None,
            rewind: Rewind::AtDismount,
        }
    }
}

/// When an idle cartridge is taken out of its drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dismount {
    /// Behind the last answer, before anybody needs the drive.
    AtOnce,
    /// When the drive is needed: unload and put then stand before the answer.
    WhenNeeded,
    /// After `idle_s`, or when the drive is needed.
    AfterIdle,
}

/// When tape is rewound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rewind {
    /// Behind each mount's last answer.
    AfterAnswer,
    /// Before the cartridge is taken out.
    AtDismount,
}

/// The disk in front: what it has is answered without tape.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The share of requests that it answers, drawn at random.
    pub hit_share: Option<f64>,
    /// Or: its size; it keeps what was read last, and finds what is asked for again.
    pub size_gb: Option<f64>,
    /// How long it takes to answer.
    pub answer_s: Distribution,
}
