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

use super::Point;
use super::times::Times;
use crate::geometry::{Direction, Geometry};
use crate::micros::{Micros, Pace};
use crate::position::Position;

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

/// The regression for a cartridge of one geometry.
#[derive(Clone, Debug)]
pub struct LtoRegression {
    /// Fixed part by what changes: bit 0 half, bit 1 direction, bit 2 band, bit 3 wrap.
    fixed: [Micros; 16],
    pub(super) step_back: Micros,
    pub(super) pace: Pace,
    pub(super) geometry: Geometry,
    pub(super) residual: Micros,
}

/// Bits of a zone: the half of the tape in bit 0, the direction in bit 1, the band above.
pub(super) const HALF: u16 = 1;
pub(super) const DIRECTION: u16 = 2;
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
    pub(super) fn zones(&self) -> usize {
        usize::from(self.geometry.bands) << BAND_SHIFT
    }

    /// The number of a point's band, direction and half.
    pub(super) fn zone(&self, point: &Point) -> usize {
        usize::from(point.zone)
    }

    /// The number of a band and a direction and half.
    pub(super) fn zone_of(&self, band: u16, corner: u16) -> u16 {
        band << BAND_SHIFT | corner
    }

    /// The band of a point.
    pub(super) fn band(&self, point: &Point) -> u16 {
        point.zone >> BAND_SHIFT
    }

    /// The part of a move that does not grow with distance, by what it changes: `change` tells of
    /// [`HALF`] and [`DIRECTION`].
    #[inline(always)]
    pub(super) fn fixed_time(&self, change: u16, other_band: bool, other_wrap: bool) -> Micros {
        let change = change | u16::from(other_band) << 2 | u16::from(other_wrap) << 3;
        self.fixed[usize::from(change)]
    }

    /// The middle of the tape.
    pub(super) fn middle(&self) -> i32 {
        self.geometry.lpos_middle() as i32
    }
}

impl Times for LtoRegression {
    fn name(&self) -> &'static str {
        "lto-regression"
    }

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
