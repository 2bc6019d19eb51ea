//! What an order costs when the map or the model is wrong.
//!
//! A predicted total is a range. The map's error is explored with a handful of other maps that are
//! as likely as the one at hand; the model's, by the published standard error of one locate.

use crate::order::Order;
use crate::problem::Problem;
use tapewise_model::{BlockMap, Micros, Position, PositionSource, Random};

/// The same batch as it may really lie on the tape.
#[derive(Clone, Debug)]
pub struct Scenarios(Vec<Problem>);

/// Share of the map's error at which it is tried: both ways, in full and by half.
const SHARES: [f64; 4] = [-1.0, -0.5, 0.5, 1.0];

/// Maps drawn for an error along the wrap.
const DRAWN: u64 = 4;

impl Scenarios {
    /// Scenarios for a batch that was placed by `map`; none where every position is recorded.
    pub fn new(problem: &Problem, map: Option<&BlockMap>) -> Scenarios {
        let Some(map) = map else {
            return Scenarios(Vec::new());
        };
        let mut scenarios = Vec::new();
        if map.share_error() > 0.0 {
            for share in SHARES {
                let scaled = map.scaled(1.0 + share * map.share_error());
                scenarios.push(problem.replaced(|old, block, after| {
                    keep_recorded(old, || scaled.nearest_position(old.partition, block, after))
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
                scenarios.push(problem.replaced(|old, _, _| {
                    let shift = shifts.get(usize::from(old.wrap)).copied().unwrap_or(0);
                    let lpos = (i64::from(old.lpos) + shift)
                        .clamp(i64::from(geometry.lpos_min), i64::from(geometry.lpos_max));
                    keep_recorded(old, || {
                        Some(Position {
                            lpos: lpos as u32,
                            ..*old
                        })
                    })
                }));
            }
        }
        Scenarios(scenarios)
    }

    /// Number of other maps tried.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the positions leave nothing to try.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The longest total of an order over the batch as predicted and all scenarios, with twice the
    /// standard error of its locates, taken as independent, on top.
    pub fn worst_total(&self, problem: &Problem, order: &Order) -> Micros {
        let totals = self.0.iter().map(|scenario| order.total_time(scenario));
        let longest = totals.fold(order.total_time(problem), Micros::max);
        let locates = order.locates(problem) as f64;
        let one = problem.tape().model.residual().unwrap_or(Micros::ZERO);
        longest + Micros::from_secs_f64(2.0 * one.as_secs_f64() * locates.sqrt())
    }
}

fn keep_recorded(old: &Position, place: impl FnOnce() -> Option<Position>) -> Position {
    match old.source {
        PositionSource::Recorded | PositionSource::Exact => *old,
        _ => place().unwrap_or(*old),
    }
}
