//! What a move costs, linear in coefficients once both its ends are placed.

use tapewise_model::locate::LtoCoefficients;
use tapewise_model::{Direction, Geometry};

/// The most terms a cost may have.
pub const MAX_TERMS: usize = 16;

/// A place on the tape, finer than drives report it, because it is searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Physical wrap.
    pub wrap: u16,
    /// Longitudinal position in LPOS units.
    pub lpos: f64,
}

/// One term of a cost, with what is believed of its coefficient before any move is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The name of the coefficient, with its unit.
    pub name: &'static str,
    /// The coefficient expected.
    pub expected: f64,
    /// How far from that it may be, one standard deviation; it decides only where moves say nothing.
    pub spread: f64,
}

/// A cost of moves that is linear in its coefficients when the map is given.
///
/// This is the hook for other models: the terms may depend on both places in any way, also through
/// a locate model with all its own structure, whose time is then one term.
pub trait LinearCost {
    /// The terms, at most [`MAX_TERMS`], always the same.
    fn terms(&self) -> &[Term];

    /// Writes the value of each term for one move, in the order of [`LinearCost::terms`].
    fn fill(&self, from: &Place, to: &Place, values: &mut [f64]);
}

/// The regression of CERN 2018 (annex): see [`tapewise_model::locate::LtoRegression`].
#[derive(Clone, Debug)]
pub struct CernCost {
    geometry: Geometry,
    middle: f64,
    terms: [Term; 7],
}

impl CernCost {
    /// The regression on cartridges of this geometry, expected near `expected`.
    ///
    /// The intercept may be far from it, because times from logs include reading a header; the pace
    /// may be half or twice as much; the rest may be off by ten seconds.
    pub fn new(geometry: &Geometry, expected: &LtoCoefficients) -> CernCost {
        let term = |name, expected, spread| Term {
            name,
            expected,
            spread,
        };
        CernCost {
            middle: f64::from(geometry.lpos_middle()),
            geometry: geometry.clone(),
            terms: [
                term("intercept_s", expected.intercept_s, 20.0),
                term("wrap_change_s", expected.wrap_change_s, 10.0),
                term("band_change_s", expected.band_change_s, 10.0),
                term("mid_cross_s", expected.mid_cross_s, 10.0),
                term("direction_change_s", expected.direction_change_s, 10.0),
                term("step_back_s", expected.step_back_s, 10.0),
                term(
                    "per_lpos_s",
                    expected.per_lpos_s,
                    0.5 * expected.per_lpos_s.abs(),
                ),
            ],
        }
    }

    /// Coefficients in the order of the terms as those of the regression.
    pub fn coefficients(values: &[f64; 7], residual_s: f64) -> LtoCoefficients {
        let [
            intercept_s,
            wrap_change_s,
            band_change_s,
            mid_cross_s,
            direction_change_s,
            step_back_s,
            per_lpos_s,
        ] = *values;
        LtoCoefficients {
            intercept_s,
            wrap_change_s,
            band_change_s,
            mid_cross_s,
            direction_change_s,
            step_back_s,
            per_lpos_s,
            residual_s,
        }
    }
}

impl LinearCost for CernCost {
    fn terms(&self) -> &[Term] {
        &self.terms
    }

    #[inline]
    fn fill(&self, from: &Place, to: &Place, values: &mut [f64]) {
        let flag = |yes: bool| f64::from(u8::from(yes));
        let geometry = &self.geometry;
        let distance = to.lpos - from.lpos;
        let ahead = match geometry.direction(to.wrap) {
            Direction::Forward => distance >= 0.0,
            Direction::Reverse => distance <= 0.0,
        };
        let other_wrap = from.wrap != to.wrap;
        let other_half = (from.lpos >= self.middle) != (to.lpos >= self.middle);
        values.copy_from_slice(&[
            1.0,
            flag(other_wrap),
            flag(geometry.band(from.wrap) != geometry.band(to.wrap)),
            flag(other_half),
            flag(geometry.direction(from.wrap) != geometry.direction(to.wrap)),
            flag(!other_wrap && !ahead),
            distance.abs(),
        ]);
    }
}
