//! Helical scan: seek time grows linearly with distance (Johnson & Miller 1998, section 5.4).
//!
//! `t = startup + full * |x' - x| / X`, with `x` the place along the tape and `X` its length. A
//! 4mm drive has a second, steeper line for short seeks ahead (section 5.4.3, which compares them with
//! reading on); the faster of the two is taken, which is the short one below their crossing. A seek
//! back always winds the tape, however short it is.

use super::neighbours::{Groups, TurningPoints};
use super::point::Point;
use super::rays::{Destination, Look, Slopes, Straight, base};
use super::stated::{Shape, Stated};
use super::times::Times;
use crate::micros::{Micros, Pace};
use crate::sourced::{Known, Sourced, value};
use serde::{Deserialize, Serialize};

/// The line for short seeks ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortSeek {
    /// Fixed time.
    pub startup: Micros,
    /// Additional time for each LPOS unit.
    pub pace: Pace,
}

/// Linear seek time of a helical scan drive.
#[derive(Clone, Debug)]
pub struct HelicalLinear {
    startup: Micros,
    pace: Pace,
    lpos_min: i32,
    short: Option<ShortSeek>,
    startup_hinted: Option<Micros>,
}

impl HelicalLinear {
    /// The same drive when it goes to places it has been at and is told its own positioning hints
    /// (Ampex DST 310, section 5.4.1); `None` where a drive gives none.
    pub fn hinted(&self) -> Option<HelicalLinear> {
        Some(HelicalLinear {
            startup: self.startup_hinted?,
            ..self.clone()
        })
    }

    /// Sets what a seek costs with positioning hints.
    pub fn with_hints(self, startup_s: Option<f64>) -> HelicalLinear {
        HelicalLinear {
            startup_hinted: startup_s.map(Micros::from_secs_f64),
            ..self
        }
    }

    /// A seek costs `startup_s`, and `full_s` more across the tape from `lpos_min` to `lpos_max`.
    pub fn new(
        startup_s: f64,
        full_s: f64,
        lpos_min: u32,
        lpos_max: u32,
        short: Option<ShortSeek>,
    ) -> HelicalLinear {
        HelicalLinear {
            startup: Micros::from_secs_f64(startup_s),
            pace: Pace::over(full_s, f64::from(lpos_max - lpos_min)),
            lpos_min: lpos_min as i32,
            short,
            startup_hinted: None,
        }
    }
}

/// What a profile states of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // each field is documented where its equation stands
pub struct HelicalValues {
    pub startup_s: Sourced<f64>,
    pub full_s: Sourced<f64>,
    pub startup_hinted_s: Known<f64>,
    pub short_startup_s: Known<f64>,
    pub short_s_per_gb: Known<f64>,
}

/// Longitudinal positions on helical tape count decimal kilobytes.
const LPOS_PER_GB: f64 = 1e6;

impl Stated for HelicalValues {
    const NAME: &'static str = "helical-linear";
    type Model = HelicalLinear;

    fn model(&self, shape: &Shape<'_>) -> Option<HelicalLinear> {
        let short = value(&self.short_startup_s).zip(value(&self.short_s_per_gb));
        let short = short.map(|(startup_s, s_per_gb)| ShortSeek {
            startup: Micros::from_secs_f64(startup_s),
            pace: Pace::over(s_per_gb, LPOS_PER_GB),
        });
        let (lpos_min, lpos_max) = (shape.geometry.lpos_min, shape.geometry.lpos_max);
        let (startup_s, full_s) = (self.startup_s.value, self.full_s.value);
        let seek = HelicalLinear::new(startup_s, full_s, lpos_min, lpos_max, short);
        Some(seek.with_hints(value(&self.startup_hinted_s)))
    }

    /// The coefficients themselves.
    fn startup_and_full_s(&self, _: &Shape<'_>) -> Option<(f64, f64)> {
        Some((self.startup_s.value, self.full_s.value))
    }
}

impl Times for HelicalLinear {
    #[inline(always)]
    fn time(&self, from: &Point, to: &Point) -> Micros {
        let distance = i64::from((to.lpos - from.lpos).abs());
        let long = self.startup + self.pace.time(distance);
        match self.short {
            Some(short) if to.lpos >= from.lpos => {
                long.min(short.startup + short.pace.time(distance))
            }
            _ => long,
        }
    }

    fn rewind(&self, from: &Point) -> Micros {
        self.startup + self.pace.time(i64::from(from.lpos - self.lpos_min))
    }
}

impl Groups for HelicalLinear {
    fn groups(&self) -> usize {
        1
    }

    fn group(&self, _to: &Point) -> usize {
        0
    }

    fn turning_points(&self, from: &Point, _group: usize) -> TurningPoints {
        TurningPoints::one(from.lpos)
    }
}

/// One class for the line of long seeks, one for that of short ones ahead: the faster counts.
impl Straight for HelicalLinear {
    fn slopes(&self, class: usize) -> Slopes {
        match (class, self.short) {
            (1, Some(short)) => Slopes {
                below: None,
                above: Some(short.pace.fine()),
            },
            _ => Slopes::valley(self.pace),
        }
    }

    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination)) {
        let places = self.lines().map(|(class, ..)| Destination {
            class,
            along: to.lpos,
            weight: Micros::ZERO,
            group: None,
        });
        places.for_each(give);
    }

    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look)) {
        let looks = self.lines().map(|(class, startup, pace)| {
            let is_long = class == 0;
            Look {
                class,
                // Where the head is, the short line holds.
                pivot: from.lpos - i32::from(!is_long),
                below: is_long.then(|| base(startup, -pace.fine(), from.lpos)),
                above: Some(base(startup, pace.fine(), from.lpos)),
                except: None,
            }
        });
        looks.for_each(give);
    }
}

impl HelicalLinear {
    fn lines(&self) -> impl Iterator<Item = (usize, Micros, Pace)> {
        let long = (0, self.startup, self.pace);
        let short = self.short.map(|short| (1, short.startup, short.pace));
        std::iter::once(long).chain(short)
    }
}
