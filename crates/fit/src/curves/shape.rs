//! What a drive's curves are made of: which of them there are, and the columns of their coefficients.

use super::moves::{Move, Moves};
use tapewise_model::band_pairs;

/// When the head steps to another wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    /// In no time that depends on how far.
    Even,
    /// Before the tape is wound, or after.
    After,
    /// While the tape runs: the slower of both counts.
    Beside,
}

/// Two sides of a cartridge, and the place between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sides {
    pub station: f64,
    /// By wrap: whether it is on the second side.
    pub far: Vec<bool>,
}

/// Which curves there are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    /// Stretches of the tape with a pace of their own.
    pub stretches: usize,
    /// Whether winding away from the beginning of tape and towards it have curves of their own.
    pub each_way: bool,
    pub steps: Steps,
    /// How far ahead on its wrap the drive reads on at most.
    pub reach: f64,
    pub sides: Option<Sides>,
}

/// Distances at which travel may bend, in lengths of the tape: the time to wind is a sum of parts that grow up to one of
/// them each, so it rises, and ever more slowly. The root of the distance, which acceleration makes of it, is met to a
/// hundredth.
const BENDS: [f64; 15] = [
    0.707, 0.5, 0.354, 0.25, 0.177, 0.125, 0.088, 0.0625, 0.0442, 0.0313, 0.0156, 0.0078, 0.0039,
    0.002, 0.001,
];
/// Parts of travel: one that grows without end, and the bends.
pub(super) const PARTS: usize = 1 + BENDS.len();

/// Columns of the coefficients that every shape has; pairs of bands, travel and steps follow.
pub(super) const KINDS: usize = 6;
pub(super) const READ: usize = 6;
pub(super) const READ_ON: usize = 7;
pub(super) const PAIRS: usize = 8;

/// The part of a distance up to a bend.
pub(super) fn part(part: usize, distance: f64) -> f64 {
    part.checked_sub(1)
        .map_or(distance, |bend| distance.min(BENDS[bend]))
}

/// Where a part of travel ends.
pub(super) fn end(part: usize) -> f64 {
    part.checked_sub(1)
        .map_or(f64::INFINITY, |bend| BENDS[bend])
}

impl Shape {
    /// An even pace, and nothing else.
    pub fn plain() -> Shape {
        Shape {
            stretches: 1,
            each_way: false,
            steps: Steps::Even,
            reach: f64::INFINITY,
            sides: None,
        }
    }

    pub fn travel(&self, moves: &Moves) -> usize {
        PAIRS + band_pairs(moves.geometry.bands)
    }

    /// Where steps begin: a constant, which counts beside travel only, and what each doubling of wraps adds.
    pub fn stepping(&self, moves: &Moves) -> usize {
        self.travel(moves) + PARTS * (1 + usize::from(self.each_way))
    }

    pub fn columns(&self, moves: &Moves) -> usize {
        let steps = if self.steps == Steps::Even {
            0
        } else {
            1 + doublings(moves.geometry.wraps)
        };
        self.stepping(moves) + steps
    }

    /// Where a move begins that ends on another side: at the station, after the way to it.
    pub fn start(&self, each: &Move) -> (f64, Option<f64>) {
        let across = |sides: &&Sides| {
            let [from, to] = each.wraps.map(|wrap| sides.far[usize::from(wrap)]);
            from != to
        };
        match self.sides.as_ref().filter(across) {
            Some(sides) => (sides.station, Some(each.from)),
            None => (each.from, None),
        }
    }
}

/// Doublings from 1 until all wraps are reached.
pub(super) fn doublings(wraps: u16) -> usize {
    usize::from(wraps).next_power_of_two().trailing_zeros() as usize
}

/// How much of a doubling, from `2^at` wraps to twice as many, a number of wraps has.
pub(super) fn doubling(at: usize, wraps: u16) -> f64 {
    let begin = (1u32 << at) as f64;
    ((f64::from(wraps) - begin) / begin).clamp(0.0, 1.0)
}
