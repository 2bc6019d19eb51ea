//! How a helical-scan drive gets from place to place: the tape is taken off the scanner, wound, and
//! threaded on again, which is why every long seek starts with seconds that move nothing.

use super::serpentine::Leg;
use crate::tape::{Spot, Tape};
use serde::Deserialize;

/// What moves a helical drive. Seconds, metres a second, metres a second squared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Helical {
    /// Tape off the scanner and on again, with finding the track.
    pub thread_s: f64,
    /// What of it a place saves that this drive has visited since the mount (Ampex).
    pub hint_saves_s: f64,
    /// Winding speed.
    pub wind_m_s: f64,
    /// Acceleration of the reels.
    pub accel_m_s2: f64,
    /// A search with the tape on the scanner, for records not far ahead.
    pub near: Option<Near>,
    /// The first seek after a mount away from the beginning of tape (Ampex): the drive finds out
    /// where it is before it goes anywhere, so the target alone counts.
    pub lost_s: f64,
}

/// A search ahead with the tape on the scanner.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// Fixed time.
    pub start_s: f64,
    /// Speed.
    pub m_s: f64,
    /// Used up to this distance.
    pub reach_m: f64,
}

impl Helical {
    fn wind_s(&self, metres: f64) -> f64 {
        let ramps = self.wind_m_s / self.accel_m_s2;
        if metres < ramps * self.wind_m_s {
            2.0 * (metres / self.accel_m_s2).sqrt()
        } else {
            metres / self.wind_m_s + ramps
        }
    }

    /// The motions from one record to another.
    pub(crate) fn locate(&self, tape: &Tape, from: Spot, to: Spot, visited: bool) -> Leg {
        let metres = tape.metres(from.lpos, to.lpos);
        let hint = if visited { self.hint_saves_s } else { 0.0 };
        let wound = self.thread_s - hint + self.wind_s(metres);
        let seconds = match self.near {
            _ if metres == 0.0 => 0.0,
            Some(near) if to.lpos > from.lpos && metres <= near.reach_m => {
                near.start_s + metres / near.m_s
            }
            _ => wound,
        };
        Leg {
            seconds,
            metres,
            lands: true,
        }
    }

    /// The first locate after a mount away from the beginning of tape.
    pub(crate) fn locate_lost(&self, tape: &Tape, from: Spot, to: Spot) -> Leg {
        let start = tape.load_point();
        Leg {
            seconds: self.lost_s + self.thread_s + self.wind_s(tape.metres(start.lpos, to.lpos)),
            metres: tape.metres(from.lpos, start.lpos) + tape.metres(start.lpos, to.lpos),
            lands: true,
        }
    }

    /// The motion back to the beginning of tape.
    pub(crate) fn rewind(&self, tape: &Tape, from: Spot) -> Leg {
        let metres = tape.metres(from.lpos, tape.load_point().lpos);
        let seconds = if metres == 0.0 {
            0.0
        } else {
            self.thread_s + self.wind_s(metres)
        };
        Leg {
            seconds,
            metres,
            lands: true,
        }
    }
}
