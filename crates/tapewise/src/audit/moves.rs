//! How a model does on the moves that a log has: each of them, not only their sum.

use super::mounts::Read;
use crate::place::Placed;
use tapewise_model::Micros;
use tapewise_order::{Action, Plan};

/// Moves as a model has them beside what was measured.
///
/// A sum can be right by chance, when what is too long and what is too short are as much. Whether a model tells one
/// move from another shows in the moves only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moves {
    measured_s: Vec<f32>,
    model_s: Vec<f32>,
}

/// What a model is good for, by the moves of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It knows how long each move takes.
    Knows,
    /// It tells which of two orders is shorter, but not by how much.
    Ranks,
    /// What it says of other orders is worth nothing.
    Worthless,
}

/// A model explains at least this share of the differences between moves that it knows well.
const GOOD_R_SQUARED: f64 = 0.9;

/// A model explains at least this share of the differences, or it says nothing of single moves.
const ROUGH_R_SQUARED: f64 = 0.5;

/// Where moves hardly differ there is little to explain: then the usual error counts, as a share of the mean move.
const GOOD_ERROR: f64 = 0.1;
const ROUGH_ERROR: f64 = 0.25;

/// Fewer moves than this say nothing of a model.
pub const FEWEST: usize = 8;

impl Moves {
    /// Adds the moves of reads, which were placed and carried out in the order of the log.
    pub(super) fn add(&mut self, placed: &Placed, plan: &Plan, reads: &[Read]) {
        let mut ways = vec![Micros::ZERO; placed.problem.len()];
        for step in &plan.steps {
            if matches!(step.action, Action::Locate | Action::ReadThrough) {
                ways[step.visit as usize] += step.duration;
            }
        }
        for (visit, way) in placed.problem.visits().iter().zip(ways) {
            let Some(&request) = visit.requests.first() else {
                continue;
            };
            let (read, _) = placed.owners[request as usize];
            if let Some(read) = reads.get(read).filter(|read| read.way > Micros::ZERO) {
                self.push(read.way, way);
            }
        }
    }

    fn push(&mut self, measured: Micros, model: Micros) {
        self.measured_s.push(measured.as_secs_f64() as f32);
        self.model_s.push(model.as_secs_f64() as f32);
    }

    /// Takes in the moves of another mount.
    pub fn extend(&mut self, other: &Moves) {
        self.measured_s.extend(&other.measured_s);
        self.model_s.extend(&other.model_s);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.measured_s.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.measured_s.is_empty()
    }

    fn pairs(&self) -> impl Iterator<Item = (f64, f64)> {
        let pairs = self.measured_s.iter().zip(&self.model_s);
        pairs.map(|(&measured, &model)| (f64::from(measured), f64::from(model)))
    }

    fn mean_s(&self) -> f64 {
        let sum: f64 = self.pairs().map(|(measured, _)| measured).sum();
        sum / self.len() as f64
    }

    /// The share of the differences between the moves that the model explains; none without differences.
    pub fn r_squared(&self) -> Option<f64> {
        let mean = self.mean_s();
        let all: f64 = self
            .pairs()
            .map(|(measured, _)| (measured - mean).powi(2))
            .sum();
        let off: f64 = self
            .pairs()
            .map(|(measured, model)| (measured - model).powi(2))
            .sum();
        (all > 0.0).then(|| 1.0 - off / all)
    }

    /// Half of the moves are off by no more than this many seconds.
    pub fn median_error_s(&self) -> Option<f64> {
        let mut errors: Vec<f64> = self.pairs().map(|(a, b)| (a - b).abs()).collect();
        errors.sort_by(f64::total_cmp);
        errors.get(errors.len().saturating_sub(1) / 2).copied()
    }

    /// How far the model can be trusted; nothing where there are too few moves to tell.
    pub fn verdict(&self) -> Option<Verdict> {
        if self.len() < FEWEST {
            return None;
        }
        let explained = self.r_squared().unwrap_or(0.0);
        let error = self.median_error_s()? / self.mean_s();
        Some(if explained >= GOOD_R_SQUARED || error <= GOOD_ERROR {
            Verdict::Knows
        } else if explained >= ROUGH_R_SQUARED || error <= ROUGH_ERROR {
            Verdict::Ranks
        } else {
            Verdict::Worthless
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(pairs: &[(f64, f64)]) -> Moves {
        let mut moves = Moves::default();
        for (measured, model) in pairs {
            moves.push(
                Micros::from_secs_f64(*measured),
                Micros::from_secs_f64(*model),
            );
        }
        moves
    }

    #[test]
    fn a_sum_that_is_right_by_chance_is_not_trusted() {
        let pairs: Vec<(f64, f64)> = (0..20)
            .map(|n| (f64::from(n) * 5.0 + 2.0, 97.0 - f64::from(n) * 5.0))
            .collect();
        let wrong = moves(&pairs);
        assert!(wrong.r_squared().unwrap() < 0.0);
        assert_eq!(wrong.verdict(), Some(Verdict::Worthless));
        let right: Vec<(f64, f64)> = pairs.iter().map(|(a, _)| (*a, a * 1.02)).collect();
        assert_eq!(moves(&right).verdict(), Some(Verdict::Knows));
        let rough: Vec<(f64, f64)> = (1i32..)
            .zip(&pairs)
            .map(|(n, (a, _))| (*a, a + f64::from(n % 2) * 30.0 - 15.0))
            .collect();
        assert_eq!(moves(&rough).verdict(), Some(Verdict::Ranks));
    }

    #[test]
    fn moves_that_hardly_differ_are_judged_by_their_error() {
        let alike: Vec<(f64, f64)> = (0..20)
            .map(|n| (10.0 + f64::from(n % 3) * 0.01, 10.3))
            .collect();
        assert_eq!(moves(&alike).verdict(), Some(Verdict::Knows));
        assert_eq!(moves(&alike[..5]).verdict(), None);
    }
}
