//! What a move costs, linear in coefficients once both its ends are placed.

use tapewise_model::locate::LtoCoefficients;
use tapewise_model::{Direction, Geometry};

/// The most terms a cost may have.
pub const MAX_TERMS: usize = 16;

/// A place on the tape, finer than drives report it, because it is searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FinePosition {
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
    fn fill(&self, from: &FinePosition, to: &FinePosition, values: &mut [f64]);
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

    /// Whether the destination lies in its own reading direction from where the head is.
    fn is_ahead(&self, from: &FinePosition, to: &FinePosition) -> bool {
        match self.geometry.direction(to.wrap) {
            Direction::Forward => to.lpos >= from.lpos,
            Direction::Reverse => to.lpos <= from.lpos,
        }
    }
}

impl LinearCost for CernCost {
    fn terms(&self) -> &[Term] {
        &self.terms
    }

    #[inline]
    fn fill(&self, from: &FinePosition, to: &FinePosition, values: &mut [f64]) {
        let geometry = &self.geometry;
        let ahead = self.is_ahead(from, to);
        let other_wrap = from.wrap != to.wrap;
        let other_half = (from.lpos >= self.middle) != (to.lpos >= self.middle);
        values.copy_from_slice(&[
            1.0,
            flag(other_wrap),
            flag(geometry.band(from.wrap) != geometry.band(to.wrap)),
            flag(other_half),
            flag(geometry.direction(from.wrap) != geometry.direction(to.wrap)),
            flag(!other_wrap && !ahead),
            (to.lpos - from.lpos).abs(),
        ]);
    }
}

/// The regression with one term more: the destination lies against its reading direction from where
/// the head is, on another wrap, so that the head has to pass it and turn.
///
/// Drives that read up to a destination from a landing point before it have this. Without the term
/// places on forward and reverse wraps shift against each other until they have it: on synthetic
/// drives of that kind by a hundredth of a wrap.
#[derive(Clone, Debug)]
pub struct ApproachCost {
    regression: CernCost,
    terms: [Term; 8],
}

impl ApproachCost {
    /// The regression on cartridges of this geometry, expected near `expected`, with approach.
    pub fn new(geometry: &Geometry, expected: &LtoCoefficients) -> ApproachCost {
        let regression = CernCost::new(geometry, expected);
        let approach = Term {
            name: "approach_s",
            expected: 0.0,
            spread: 10.0,
        };
        let terms = std::array::from_fn(|at| regression.terms.get(at).copied().unwrap_or(approach));
        ApproachCost { regression, terms }
    }
}

impl LinearCost for ApproachCost {
    fn terms(&self) -> &[Term] {
        &self.terms
    }

    #[inline]
    fn fill(&self, from: &FinePosition, to: &FinePosition, values: &mut [f64]) {
        let (regression, approach) = values.split_at_mut(self.regression.terms.len());
        self.regression.fill(from, to, regression);
        approach[0] = flag(from.wrap != to.wrap && !self.regression.is_ahead(from, to));
    }
}

fn flag(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}
