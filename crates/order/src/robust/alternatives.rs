//! What an order costs when the map or the model is wrong.
//!
//! A predicted total is a range. The map's error is explored with a handful of other maps that are
//! as likely as the one at hand; the model's, by the published standard error of one locate.

use crate::order::Order;
use crate::problem::Problem;
use crate::robust::Misfit;
use crate::tape::Tape;
use tapewise_model::{BlockMap, LearnedMap, Micros, Position, PositionSource, Random};

/// The same batch as it may really lie on the tape.
#[derive(Clone, Debug)]
pub struct Alternatives(Vec<Problem>);

/// Share of the map's error at which it is tried: both ways, in full and by half.
const SHARES: [f64; 4] = [-1.0, -0.5, 0.5, 1.0];

/// Maps drawn for an error along the wrap.
const DRAWN: u64 = 4;

impl Alternatives {
    /// None: the batch lies where it is said to lie.
    pub const fn none() -> Alternatives {
        Alternatives(Vec::new())
    }

    /// Alternatives for a batch that was placed by `map`; none where every position is recorded.
    pub fn new(problem: &Problem, map: Option<&BlockMap>) -> Alternatives {
        let Some(map) = map else {
            return Alternatives::none();
        };
        let mut alternatives = Vec::new();
        if map.share_error() > 0.0 {
            for share in SHARES {
                let scaled = map.scaled(1.0 + share * map.share_error());
                alternatives.push(moved(problem, |old, block, after| {
                    scaled.nearest_position(old.partition, block, after)
                }));
            }
        }
        if map.lpos_error() > 0 {
            let geometry = &problem.tape().geometry;
            for stream in 0..DRAWN {
                // Interpolation within a wrap errs the same way for all that lies close together.
                let mut random = Random::new(0, stream);
                let shifts: Vec<i64> = (0..geometry.wraps)
                    .map(|_| (random.normal() * f64::from(map.lpos_error())) as i64)
                    .collect();
                alternatives.push(moved(problem, |old, _, _| {
                    let shift = shifts.get(usize::from(old.wrap)).copied().unwrap_or(0);
                    let lpos = (i64::from(old.lpos) + shift)
                        .clamp(i64::from(geometry.lpos_min), i64::from(geometry.lpos_max));
                    Some(Position {
                        lpos: lpos as u32,
                        ..*old
                    })
                }));
            }
        }
        Alternatives(alternatives)
    }

    /// The same with `tapes` cartridges more, drawn from all that agree with a learned map: wraps
    /// that differ by chance as well as all together.
    pub fn with_drawn(mut self, problem: &Problem, map: &LearnedMap, tapes: u64) -> Alternatives {
        for stream in 0..tapes {
            let drawn = map.drawn(&mut Random::new(0, stream));
            self.0.push(moved(problem, |old, block, after| {
                drawn.position(old.partition, block, after)
            }));
        }
        self
    }

    /// The same with the batch under another model on top.
    ///
    /// # Errors
    /// [`Misfit`] where the other tape's geometry differs.
    pub fn with_model(mut self, problem: &Problem, tape: &Tape) -> Result<Alternatives, Misfit> {
        self.0.push(problem.under(tape)?);
        Ok(self)
    }

    /// The batch on each of the other maps.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }

    /// Number of other maps tried.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the positions leave nothing to try.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The total of an order as predicted, and in every alternative.
    pub fn totals(&self, problem: &Problem, order: &Order) -> Vec<Micros> {
        let tapes = std::iter::once(problem).chain(&self.0);
        tapes.map(|tape| order.total_time(tape)).collect()
    }

    /// The longest total of an order over the batch as predicted and all alternatives, with twice the
    /// standard error of its locates, taken as independent, on top.
    pub fn worst_total(&self, problem: &Problem, order: &Order) -> Micros {
        self.worst_of(problem, order, &self.totals(problem, order))
    }

    /// The same where the totals are known.
    pub(crate) fn worst_of(&self, problem: &Problem, order: &Order, totals: &[Micros]) -> Micros {
        let longest = totals.iter().copied().fold(totals[0], Micros::max);
        let locates = order.locates(problem) as f64;
        let one = problem.tape().model.residual().unwrap_or(Micros::ZERO);
        longest + Micros::from_secs_f64(2.0 * one.as_secs_f64() * locates.sqrt())
    }
}

/// The same batch on another tape: what was recorded stays, the rest is placed anew where that is
/// possible.
pub(crate) fn moved(
    problem: &Problem,
    place: impl Fn(&Position, u64, bool) -> Option<Position>,
) -> Problem {
    problem.replaced(|old, block, after| match old.source {
        PositionSource::Recorded | PositionSource::Exact => *old,
        _ => place(old, block, after).unwrap_or(*old),
    })
}
