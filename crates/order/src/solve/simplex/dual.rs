//! The dual method: prices stay feasible, values become so.

use super::pivot::jitter;
use super::{NONBASIC, Outcome, PIVOT_TOLERANCE, Simplex, Stop};

/// Pivots without gain after which costs are disturbed.
const MOST_IDLE: usize = 30;

/// By how much costs are disturbed, in dual tolerances.
const DISTURBANCE: f64 = 1e4;

impl Simplex {
    /// Pivots until values are feasible (`None`), or there is another reason to stop.
    pub(super) fn dual_simplex(&mut self, stop: &Stop) -> Option<Outcome> {
        let mut objective = self.objective();
        let mut cutoff = stop.cutoff;
        let mut idle = 0;
        loop {
            if objective >= cutoff {
                return Some(Outcome::Cutoff);
            }
            if self.pivots >= stop.max_pivots {
                return Some(Outcome::PivotLimit);
            }
            if self.inverse.is_worn() && !self.refresh() {
                return None;
            }
            let position = self.steepest_violation()?;
            self.load_inverse_row(position);
            self.load_pivot_row();
            let Some(entering) = self.dual_ratio_test(self.x[position].signum()) else {
                if self.inverse.is_fresh() {
                    self.keep_ray(self.x[position].signum());
                    return Some(Outcome::Infeasible);
                }
                self.refresh().then_some(())?;
                continue;
            };
            self.load_pivot_column(entering);
            if self.is_unstable(position, entering) {
                if self.inverse.is_fresh() {
                    return Some(Outcome::Trouble);
                }
                self.refresh().then_some(())?;
                continue;
            }
            if self.reduced[entering as usize] < 0.0 {
                self.shift_cost(entering, -self.reduced[entering as usize]);
            }
            let price = self.reduced[entering as usize];
            idle = if price > self.dual_tolerance {
                0
            } else {
                idle + 1
            };
            self.pivot(position, entering);
            objective += price * self.x[position];
            if idle > MOST_IDLE {
                self.disturb_costs();
                // The objective is no longer that of the true costs.
                cutoff = f64::INFINITY;
                idle = 0;
            }
        }
    }

    /// The position farthest out of its bounds, in the norm of the dual steepest edge.
    fn steepest_violation(&self) -> Option<usize> {
        let mut best = (0.0, None);
        for position in 0..self.head.len() {
            let violation = self.violation(position);
            if violation != 0.0 {
                let merit = violation * violation / self.steepness[position];
                if merit > best.0 {
                    best = (merit, Some(position));
                }
            }
        }
        best.1
    }

    /// The variable whose reduced cost is the first to reach 0 when the one at the pivot row
    /// leaves, above its bound (`side` 1) or below (-1); among those within the tolerance, the one
    /// with the largest pivot (Harris 1973).
    fn dual_ratio_test(&self, side: f64) -> Option<u32> {
        let candidates = || {
            let signed = self
                .pivot_row
                .iter()
                .map(move |(v, value)| (v, side * value));
            signed.filter(|&(variable, value)| {
                value > PIVOT_TOLERANCE
                    && self.position[variable] == NONBASIC
                    && !self.fixed[variable]
            })
        };
        let within = |(v, value): (usize, f64)| (self.reduced[v] + self.dual_tolerance) / value;
        let step = candidates().map(within).fold(f64::INFINITY, f64::min);
        let mut best = (0.0, None);
        for (variable, value) in candidates() {
            if self.reduced[variable] <= step * value && value > best.0 {
                best = (value, Some(variable as u32));
            }
        }
        best.1
    }

    /// Keeps the row of the inverse that shows that the rows contradict each other.
    fn keep_ray(&mut self, side: f64) {
        self.ray.clear();
        let weights = self.inverse_row.values.iter().map(|weight| side * weight);
        self.ray.extend(weights);
    }

    /// Raises the costs of all variables out of the basis a little, so that no two tie.
    fn disturb_costs(&mut self) {
        let size = DISTURBANCE * self.dual_tolerance;
        for variable in 0..self.cost.len() {
            if self.position[variable] == NONBASIC && !self.fixed[variable] {
                self.shift_cost(variable as u32, size * jitter(variable));
            }
        }
    }
}
