//! Linear regression on LTO (CERN 2018, annex).
//!
//! ```text
//! t = intercept + wrap_change * [wrap differs] + band_change * [band differs]
//!   + mid_cross * [other half of the tape] + direction_change * [direction differs]
//!   + step_back * [same wrap, destination behind] + per_lpos * |LPOS' - LPOS|
//! ```
//!
//! Fitted on 886,035 positionings on LTO-7 M8 media; residual standard error 8.193 s. The
//! mid-tape term is negative, so the sum can fall below zero for a short move on one wrap across
//! the middle: it is clamped at zero. Short moves are its weakness (slide "Modeling positioning
//! cost III"). That stepping back is meant on the same wrap only is how CERN's own recall code
//! reads it.

use super::neighbours::{Groups, OwnWrap, TurningPoints};
use super::point::Point;
use super::rays::{Destination, Look, Slopes, Straight, base};
use super::stated::{Shape, Stated};
use super::times::Times;
use crate::geometry::{Direction, Geometry};
use crate::micros::{Micros, Pace};
use crate::position::Position;
use crate::sourced::Sourced;
use serde::{Deserialize, Serialize};

/// Coefficients of the regression, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LtoCoefficients {
    /// Every positioning.
    pub intercept_s: f64,
    /// The destination lies on another wrap.
    pub wrap_change_s: f64,
    /// The destination lies in another band, on top of the wrap change.
    pub band_change_s: f64,
    /// The destination lies in the other half of the tape.
    pub mid_cross_s: f64,
    /// The destination is read in the other direction.
    pub direction_change_s: f64,
    /// The destination lies behind, on the same wrap.
    pub step_back_s: f64,
    /// Each LPOS unit of distance.
    pub per_lpos_s: f64,
    /// Residual standard error.
    pub residual_s: f64,
}

/// What a profile states of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // each field is documented where its equation stands
pub struct LtoValues {
    pub intercept_s: Sourced<f64>,
    pub wrap_change_s: Sourced<f64>,
    pub band_change_s: Sourced<f64>,
    pub mid_cross_s: Sourced<f64>,
    pub direction_change_s: Sourced<f64>,
    pub step_back_s: Sourced<f64>,
    pub per_lpos_s: Sourced<f64>,
    pub residual_s: Sourced<f64>,
}

impl LtoValues {
    /// The coefficients without their sources.
    pub fn coefficients(&self) -> LtoCoefficients {
        LtoCoefficients {
            intercept_s: self.intercept_s.value,
            wrap_change_s: self.wrap_change_s.value,
            band_change_s: self.band_change_s.value,
            mid_cross_s: self.mid_cross_s.value,
            direction_change_s: self.direction_change_s.value,
            step_back_s: self.step_back_s.value,
            per_lpos_s: self.per_lpos_s.value,
            residual_s: self.residual_s.value,
        }
    }
}

impl Stated for LtoValues {
    const NAME: &'static str = "lto-regression";
    type Model = LtoRegression;

    fn model(&self, shape: &Shape<'_>) -> Option<LtoRegression> {
        Some(LtoRegression::new(&self.coefficients(), shape.geometry))
    }

    /// Intercept and wrap change, which is the least locate to another wrap (the same band, half and
    /// direction, no distance), and `per_lpos_s` times the length of a wrap.
    fn startup_and_full_s(&self, shape: &Shape<'_>) -> Option<(f64, f64)> {
        let length = f64::from(shape.geometry.wrap_lpos());
        let startup_s = self.intercept_s.value + self.wrap_change_s.value;
        Some((startup_s, self.per_lpos_s.value * length))
    }
}

/// The regression for a cartridge of one geometry.
#[derive(Clone, Debug)]
pub struct LtoRegression {
    /// Fixed part by what changes: bit 0 half, bit 1 direction, bit 2 band, bit 3 wrap.
    fixed: [Micros; 16],
    step_back: Micros,
    pace: Pace,
    geometry: Geometry,
    residual: Micros,
}

/// Bits of a zone: the half of the tape in bit 0, the direction in bit 1, the band above.
const HALF: u16 = 1;
const DIRECTION: u16 = 2;
const BAND_SHIFT: u16 = 2;

impl LtoRegression {
    /// The model for cartridges of this geometry.
    pub fn new(coefficients: &LtoCoefficients, geometry: &Geometry) -> LtoRegression {
        let c = coefficients;
        let fixed = std::array::from_fn(|change| {
            let part =
                |bit: usize, seconds: f64| if change >> bit & 1 == 1 { seconds } else { 0.0 };
            Micros::from_secs_f64(
                c.intercept_s
                    + part(0, c.mid_cross_s)
                    + part(1, c.direction_change_s)
                    + part(2, c.band_change_s)
                    + part(3, c.wrap_change_s),
            )
        });
        LtoRegression {
            fixed,
            step_back: Micros::from_secs_f64(c.step_back_s),
            pace: Pace::over(c.per_lpos_s, 1.0),
            geometry: geometry.clone(),
            residual: Micros::from_secs_f64(c.residual_s),
        }
    }

    /// Bands, directions and halves, numbered together.
    fn zones(&self) -> usize {
        usize::from(self.geometry.bands) << BAND_SHIFT
    }

    /// The number of a point's band, direction and half.
    fn zone(&self, point: &Point) -> usize {
        usize::from(point.zone)
    }

    /// The number of a band and a direction and half.
    fn zone_of(&self, band: u16, corner: u16) -> u16 {
        band << BAND_SHIFT | corner
    }

    /// The band of a point.
    fn band(&self, point: &Point) -> u16 {
        point.zone >> BAND_SHIFT
    }

    /// The part of a move that does not grow with distance, by what it changes: `change` tells of
    /// [`HALF`] and [`DIRECTION`].
    #[inline(always)]
    fn fixed_time(&self, change: u16, other_band: bool, other_wrap: bool) -> Micros {
        let change = change | u16::from(other_band) << 2 | u16::from(other_wrap) << 3;
        self.fixed[usize::from(change)]
    }

    /// The middle of the tape.
    fn middle(&self) -> i32 {
        self.geometry.lpos_middle() as i32
    }
}

impl Times for LtoRegression {
    fn point(&self, position: &Position) -> Point {
        let half = u16::from(position.lpos >= self.geometry.lpos_middle());
        let reverse = self.geometry.direction(position.wrap) == Direction::Reverse;
        let direction = if reverse { DIRECTION } else { 0 };
        let band = self.geometry.band(position.wrap) << BAND_SHIFT;
        Point {
            lpos: position.lpos as i32,
            wrap: position.wrap,
            zone: band | direction | half,
            ..Point::default()
        }
    }

    #[inline(always)]
    fn time(&self, from: &Point, to: &Point) -> Micros {
        let differs = from.zone ^ to.zone;
        let distance = to.lpos - from.lpos;
        let fixed = self.fixed_time(
            differs & (HALF | DIRECTION),
            differs >> BAND_SHIFT != 0,
            from.wrap != to.wrap,
        );
        let mut time = fixed + self.pace.time(i64::from(distance.abs()));
        let backward = if to.wrap & 1 == 0 {
            distance < 0
        } else {
            distance > 0
        };
        if from.wrap == to.wrap && backward {
            time += self.step_back;
        }
        time.max(Micros::ZERO)
    }

    /// Intercept and distance: gives 56 s as a mean where IBM states 59 s (LTO-8, half height).
    fn rewind(&self, from: &Point) -> Micros {
        self.fixed[0]
            + self
                .pace
                .time(i64::from(from.lpos) - i64::from(self.geometry.lpos_min))
    }

    fn residual(&self) -> Option<Micros> {
        Some(self.residual)
    }
}

impl Groups for LtoRegression {
    fn groups(&self) -> usize {
        self.zones()
    }

    fn group(&self, to: &Point) -> usize {
        self.zone(to)
    }

    fn turning_points(&self, from: &Point, _group: usize) -> TurningPoints {
        TurningPoints::one(from.lpos)
    }

    fn own_wrap(&self, from: &Point) -> Option<OwnWrap> {
        Some(OwnWrap::Turns(TurningPoints {
            first: from.lpos,
            // The middle itself belongs to the upper half.
            second: Some(self.middle() - 1),
        }))
    }
}

/// The half of the tape in which a source on a wrap of the same band, and of another one, differs
/// from its own wrap: classes for all bands, for each band, and for each wrap. Crossing the middle
/// on the own wrap can come to less than nothing, which is clamped: a level piece near the middle.
impl Straight for LtoRegression {
    fn slopes(&self, class: usize) -> Slopes {
        let valley = Slopes::valley(self.pace);
        let level = Some(0);
        match class.checked_sub(self.of_wrap(0, 0, false)) {
            Some(own_wrap) if own_wrap & 3 == 2 => Slopes {
                above: level,
                ..valley
            },
            Some(own_wrap) if own_wrap & 3 == 3 => Slopes {
                below: level,
                ..valley
            },
            _ => valley,
        }
    }

    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination)) {
        let half = to.zone & HALF;
        let mut give = |class, group| {
            give(Destination {
                class,
                along: to.lpos,
                weight: Micros::ZERO,
                group,
            })
        };
        let corner = to.zone & (DIRECTION | HALF);
        give(usize::from(corner), Some(u32::from(self.band(to))));
        give(self.of_band(to.zone), Some(u32::from(to.wrap)));
        for crossing in [false, true] {
            give(self.of_wrap(to.wrap, half, crossing), None);
        }
    }

    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look)) {
        let slope = self.pace.fine();
        let band = self.band(from);
        for corner in 0..Self::CORNERS {
            let change = (from.zone ^ corner) & (DIRECTION | HALF);
            let elsewhere = [
                (usize::from(corner), true, u32::from(band)),
                (
                    self.of_band(self.zone_of(band, corner)),
                    false,
                    u32::from(from.wrap),
                ),
            ];
            for (class, other_band, except) in elsewhere {
                let fixed = self.fixed_time(change, other_band, true);
                give(Look {
                    class,
                    pivot: from.lpos,
                    below: Some(base(fixed, -slope, from.lpos)),
                    above: Some(base(fixed, slope, from.lpos)),
                    except: Some(except),
                });
            }
        }
        give(self.own_half(from));
        give(self.own_wrap_across(from));
    }

    fn free_stretch(&self) -> Option<std::ops::Range<i32>> {
        let reach = self.free_distance(self.fixed_time(HALF, false, false));
        let middle = self.middle();
        (reach > 0).then(|| middle - reach..middle + reach)
    }
}

impl LtoRegression {
    /// The four combinations of direction and half.
    const CORNERS: u16 = 4;

    fn of_band(&self, zone: u16) -> usize {
        usize::from(Self::CORNERS + zone)
    }

    fn of_wrap(&self, wrap: u16, half: u16, crossing: bool) -> usize {
        let before = Self::CORNERS * (1 + self.geometry.bands);
        usize::from(before) + 4 * usize::from(wrap) + 2 * usize::from(crossing) + usize::from(half)
    }

    /// The own wrap on this side of the middle: backward there is a step.
    fn own_half(&self, from: &Point) -> Look {
        let slope = self.pace.fine();
        let forward = from.wrap & 1 == 0;
        let ahead = self.fixed_time(0, false, false);
        let behind = ahead + self.step_back;
        let (below, above) = if forward {
            (behind, ahead)
        } else {
            (ahead, behind)
        };
        Look {
            class: self.of_wrap(from.wrap, from.zone & HALF, false),
            // The source's own place is ahead of it.
            pivot: from.lpos - i32::from(forward),
            below: Some(base(below, -slope, from.lpos)),
            above: Some(base(above, slope, from.lpos)),
            except: None,
        }
    }

    /// The furthest distance that takes no time on top of this, in LPOS units; -1 where none does.
    fn free_distance(&self, fixed: Micros) -> i32 {
        let room = (1 << Pace::FRACTION_BITS) - 1 - base(fixed, 0, 0);
        room.div_euclid(self.pace.fine().max(1)).clamp(-1, 1 << 30) as i32
    }

    /// The own wrap across the middle: free as far as the time would be less than nothing.
    fn own_wrap_across(&self, from: &Point) -> Look {
        let slope = self.pace.fine();
        let half = from.zone & HALF ^ HALF;
        let upward = half == HALF;
        let backward = upward != (from.wrap & 1 == 0);
        let mut fixed = self.fixed_time(HALF, false, false);
        if backward {
            fixed += self.step_back;
        }
        let free = self.free_distance(fixed);
        let level = Some(base(Micros::ZERO, 0, 0));
        let (pivot, below, above) = if upward {
            let pivot = from.lpos.saturating_add(free);
            (pivot, level, Some(base(fixed, slope, from.lpos)))
        } else {
            let pivot = from.lpos.saturating_sub(free).saturating_sub(1);
            (pivot, Some(base(fixed, -slope, from.lpos)), level)
        };
        Look {
            class: self.of_wrap(from.wrap, half, true),
            pivot,
            below,
            above,
            except: None,
        }
    }
}
