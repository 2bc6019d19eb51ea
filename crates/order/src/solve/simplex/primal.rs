//! The primal method: values stay feasible, prices become so.

use super::pivot::jitter;
use super::{NONBASIC, Outcome, PIVOT_TOLERANCE, PRIMAL_TOLERANCE, Simplex, Stop};

/// Pivots without gain after which values are disturbed.
const MOST_IDLE: usize = 30;

/// By how much values are disturbed.
const DISTURBANCE: f64 = 1e-6;

impl Simplex {
    /// Pivots until prices are feasible (`None`), or there is another reason to stop.
    pub(super) fn primal_simplex(&mut self, stop: &Stop) -> Option<Outcome> {
        self.list_attractive();
        let mut idle = 0;
        loop {
            if self.pivots >= stop.max_pivots {
                return Some(Outcome::PivotLimit);
            }
            if self.inverse.is_worn() && !self.refresh() {
                return None;
            }
            let entering = self.most_attractive()?;
            self.load_pivot_column(entering);
            let Some(position) = self.primal_ratio_test() else {
                if self.inverse.is_fresh() {
                    return Some(Outcome::Unbounded);
                }
                self.refresh().then_some(())?;
                continue;
            };
            self.load_inverse_row(position);
            self.load_pivot_row();
            if self.is_unstable(position, entering) {
                if self.inverse.is_fresh() {
                    return Some(Outcome::Trouble);
                }
                self.refresh().then_some(())?;
                continue;
            }
            self.update_devex(position, entering);
            self.pivot(position, entering);
            self.list_newly_attractive();
            idle = if self.x[position] > PRIMAL_TOLERANCE {
                0
            } else {
                idle + 1
            };
            if idle > MOST_IDLE {
                self.disturb_values();
                idle = 0;
            }
        }
    }

    fn list_attractive(&mut self) {
        self.devex.fill(1.0);
        self.attractive.clear();
        for variable in 0..self.cost.len() as u32 {
            let listed = self.is_attractive(variable);
            self.is_listed[variable as usize] = listed;
            if listed {
                self.attractive.push(variable);
            }
        }
    }

    fn list_newly_attractive(&mut self) {
        for at in 0..self.pivot_row.nonzeros.len() {
            let variable = self.pivot_row.nonzeros[at];
            if !self.is_listed[variable as usize] && self.is_attractive(variable) {
                self.is_listed[variable as usize] = true;
                self.attractive.push(variable);
            }
        }
    }

    /// The variable with the most negative reduced cost in its Devex norm; forgets those whose
    /// reduced cost is negative no more.
    fn most_attractive(&mut self) -> Option<u32> {
        let mut best = (0.0, None);
        let mut at = 0;
        while let Some(&variable) = self.attractive.get(at) {
            if !self.is_attractive(variable) {
                self.is_listed[variable as usize] = false;
                self.attractive.swap_remove(at);
                continue;
            }
            let reduced = self.reduced[variable as usize];
            let merit = reduced * reduced / self.devex[variable as usize];
            if merit > best.0 {
                best = (merit, Some(variable));
            }
            at += 1;
        }
        best.1
    }

    /// The position whose variable is the first to reach a bound when the pivot column enters;
    /// among those within the tolerance, the one with the largest pivot (Harris 1973).
    fn primal_ratio_test(&self) -> Option<usize> {
        // A value falls to 0, or rises from 0 where it is fixed there.
        let candidates = || {
            self.pivot_column.iter().filter_map(|(at, value)| {
                let blocks =
                    value > PIVOT_TOLERANCE || (value < -PIVOT_TOLERANCE && self.is_fixed_at(at));
                blocks.then(|| (at, self.x[at] * value.signum(), value.abs()))
            })
        };
        let within = |(_, room, value): (usize, f64, f64)| (room + PRIMAL_TOLERANCE) / value;
        let step = candidates().map(within).fold(f64::INFINITY, f64::min);
        let mut best = (0.0, None);
        for (at, room, value) in candidates() {
            if room <= step * value && value > best.0 {
                best = (value, Some(at));
            }
        }
        best.1
    }

    /// Devex reference weights after the pivot that is loaded.
    fn update_devex(&mut self, position: usize, entering: u32) {
        let pivot = self.pivot_column.values[position];
        let weight = self.devex[entering as usize];
        for (variable, value) in self.pivot_row.iter() {
            if self.position[variable] == NONBASIC {
                let ratio = value / pivot;
                self.devex[variable] = self.devex[variable].max(ratio * ratio * weight);
            }
        }
        let leaving = self.head[position] as usize;
        self.devex[leaving] = (weight / (pivot * pivot)).max(1.0);
    }

    /// Raises all values in the basis a little, for as long as this phase lasts, so that no two
    /// reach 0 at once.
    fn disturb_values(&mut self) {
        for position in 0..self.head.len() {
            if self.is_fixed_at(position) {
                continue;
            }
            let amount = DISTURBANCE * jitter(self.pivots + position);
            self.x[position] += amount;
            for &(row, value) in self.matrix.column(self.head[position] as usize) {
                self.work_rhs[row as usize] += amount * value;
            }
        }
    }
}
