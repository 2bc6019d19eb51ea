//! How a drive with serpentine tape gets from place to place: by motion, not by a formula of
//! locate times.
//!
//! A locate is a chain of motions: the head steps to another wrap, the tape runs fast to a landing
//! point before the record, stops and locks on, and reads up to the record. Between position areas
//! the tape may run at its highest speed; within the area that holds the record it runs slower, so
//! as to count. A landing point that is reached against the reading direction must be overrun, and
//! the tape turned round.

use crate::tape::{Spot, Tape, is_forward};
use serde::Deserialize;

/// What moves a serpentine drive. Seconds, metres a second, metres a second squared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serpentine {
    /// From a command to motion, and from the record found to the answer.
    pub command_s: f64,
    /// More than that from the load point.
    pub leave_bot_s: f64,
    /// The same where the drive only reads on.
    pub read_on_command_s: f64,
    /// Speed while data is read.
    pub read_m_s: f64,
    /// Speed of a search within the position area that holds the record.
    pub approach_m_s: f64,
    /// Speed of a search on the way to that area.
    pub search_m_s: f64,
    /// Speed of a rewind.
    pub rewind_m_s: f64,
    /// Acceleration of the reels.
    pub accel_m_s2: f64,
    /// Step to another wrap and find its servo track.
    pub step_s: f64,
    /// Another wrap that is read the other way: the other modules of the head take over.
    pub direction_s: f64,
    /// Another band: lock on its servo bands.
    pub band_s: f64,
    /// For each place that the other band lies farther across the tape.
    pub band_rank_s: f64,
    /// Tape turned round to land: lock on again.
    pub turn_s: f64,
    /// Landing at a wrap's very beginning: the end of tape is felt for.
    pub end_s: f64,
    /// Position areas along the tape.
    pub areas: u16,
    /// The drive lands this many landing points before the record: 1 is the last one before it.
    pub landings_before: usize,
    /// How far ahead on the same wrap the drive reads on.
    pub read_on: ReadOn,
    /// Extra time for the first landing of a reverse wrap (IBM 3590; 0 elsewhere).
    #[serde(default)]
    pub slow_reverse_start_s: f64,
}

/// When a drive reads on to a record ahead on the same wrap.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadOn {
    /// If it lies in this section or one of so many following (Hillyer & Silberschatz 1996).
    Sections(usize),
    /// If it lies less than this far ahead.
    Metres(f64),
}

/// What a motion costs before noise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Leg {
    pub seconds: f64,
    pub metres: f64,
    /// Whether the head had to find its place by a landing, and not only read on.
    pub lands: bool,
}

/// Places across the tape of the bands 0 to 3, which lie in the order 3, 1, 0, 2.
const BAND_RANK: [u16; 4] = [2, 1, 3, 0];

impl Serpentine {
    /// From rest to rest over `metres`, of which `fast_metres` may be run at search speed.
    fn run_s(&self, metres: f64, fast_metres: f64) -> f64 {
        let ramp_metres = self.approach_m_s * self.approach_m_s / self.accel_m_s2;
        if metres < ramp_metres {
            return 2.0 * (metres / self.accel_m_s2).sqrt();
        }
        let fast = fast_metres / self.search_m_s;
        let slow = (metres - fast_metres) / self.approach_m_s;
        fast + slow + self.approach_m_s / self.accel_m_s2
    }

    /// The part of the way from `from` to `to` that lies outside the position area of `to`.
    fn fast_metres(&self, tape: &Tape, from: f64, to: f64) -> f64 {
        let shape = tape.shape();
        let area = (shape.lpos_max - shape.lpos_min) / f64::from(self.areas.max(1));
        // The very end of tape, where reverse wraps begin, belongs to the last area.
        let last = f64::from(self.areas.max(1)) - 1.0;
        let number = |lpos: f64| ((lpos - shape.lpos_min) / area).floor().clamp(0.0, last);
        let low = shape.lpos_min + number(to) * area;
        let border = if from < to { low } else { low + area };
        if number(from) == number(to) {
            return 0.0;
        }
        tape.metres(from, border)
    }

    /// Stepping the head from one wrap to another.
    pub(crate) fn step_s(&self, tape: &Tape, from: u16, to: u16) -> f64 {
        if from == to {
            return 0.0;
        }
        let mut seconds = self.step_s;
        if is_forward(from) != is_forward(to) {
            seconds += self.direction_s;
        }
        let (from, to) = (tape.band(from), tape.band(to));
        if from != to {
            let rank = |band: u16| BAND_RANK.get(usize::from(band)).copied().unwrap_or(band);
            let far = rank(from).abs_diff(rank(to));
            seconds += self.band_s + self.band_rank_s * f64::from(far);
        }
        seconds
    }

    /// Whether the drive gets to a record ahead on the same wrap by reading on.
    fn reads_on(&self, tape: &Tape, from: Spot, to: Spot, ahead_metres: f64) -> bool {
        let (landing, _) = self.landing(tape, to);
        let sign = if is_forward(to.wrap) { 1.0 } else { -1.0 };
        // A landing point that lies behind the head is of no use.
        if (landing - from.lpos) * sign <= 0.0 {
            return true;
        }
        match self.read_on {
            ReadOn::Metres(most) => ahead_metres <= most,
            ReadOn::Sections(most) => {
                let section = |lpos| section(tape.landings(to.wrap), to.wrap, lpos);
                section(to.lpos) - section(from.lpos) <= most
            }
        }
    }

    /// The landing point for a record, and whether it is the wrap's beginning.
    fn landing(&self, tape: &Tape, to: Spot) -> (f64, bool) {
        let landings = tape.landings(to.wrap);
        let last = section(landings, to.wrap, to.lpos);
        let chosen = (last + 1).saturating_sub(self.landings_before);
        (
            landings.get(chosen).copied().unwrap_or(to.lpos),
            chosen == 0,
        )
    }

    /// The motions from one record to another.
    pub(crate) fn locate(&self, tape: &Tape, from: Spot, to: Spot) -> Leg {
        let sign = if is_forward(to.wrap) { 1.0 } else { -1.0 };
        let ahead = (to.lpos - from.lpos) * sign * tape.shape().metres_per_lpos;
        if from.wrap == to.wrap && ahead >= 0.0 && self.reads_on(tape, from, to, ahead) {
            return Leg {
                seconds: self.read_on_command_s + ahead / self.read_m_s,
                metres: ahead,
                lands: false,
            };
        }
        let (landing, at_beginning) = self.landing(tape, to);
        let far = tape.metres(from.lpos, landing);
        let up_to = tape.metres(landing, to.lpos);
        let mut seconds = self.command_s
            + self.step_s(tape, from.wrap, to.wrap)
            + self.run_s(far, self.fast_metres(tape, from.lpos, landing))
            + up_to / self.read_m_s;
        let mut metres = far + up_to;
        if from == tape.load_point() {
            seconds += self.leave_bot_s;
        }
        if (landing - from.lpos) * sign < 0.0 {
            // Overrun by what it takes to come up to reading speed, both ways.
            metres += self.read_m_s * self.read_m_s / self.accel_m_s2;
            seconds += self.turn_s + 2.0 * self.read_m_s / self.accel_m_s2;
            if at_beginning {
                seconds += self.end_s;
            }
        }
        if at_beginning && !is_forward(to.wrap) {
            seconds += self.slow_reverse_start_s;
        }
        Leg {
            seconds,
            metres,
            lands: true,
        }
    }

    /// The motion back to the load point.
    pub(crate) fn rewind(&self, tape: &Tape, from: Spot) -> Leg {
        let load_point = tape.load_point();
        let metres = tape.metres(from.lpos, load_point.lpos);
        let step = if from.wrap == load_point.wrap {
            0.0
        } else {
            self.step_s
        };
        let ramps =
            (self.rewind_m_s / self.accel_m_s2).min(2.0 * (metres / self.accel_m_s2).sqrt());
        Leg {
            seconds: self.command_s + step + metres / self.rewind_m_s + ramps,
            metres,
            lands: true,
        }
    }
}

/// The number of the last landing point at or before a place, in reading order.
fn section(landings: &[f64], wrap: u16, lpos: f64) -> usize {
    let forward = is_forward(wrap);
    let before = |&place: &f64| {
        if forward {
            place <= lpos
        } else {
            place >= lpos
        }
    };
    landings.partition_point(before).saturating_sub(1)
}
