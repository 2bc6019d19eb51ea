//! Response times as an Erlang distribution behind a shift: density, quantiles, and two fits.
//!
//! Gniewek (1999) describes measured response times so: nothing comes before `F`, what no request
//! is spared, and behind it come `k` phases of equal exponential times. `k` is whole and `t > F`,
//! as in the paper.

use super::{StatisticsError, all_finite, at_least, inside, positive};

/// Most phases that a fit tries: at 200 the distribution is normal but for its first 7 %.
const MOST_PHASES: u32 = 200;

/// So many more phases without a better fit, and the search ends.
const PATIENCE: u32 = 8;

/// Steps of a golden-section search: the interval shrinks to 1e-8 of what it was.
const GOLDEN_STEPS: u32 = 40;

/// The shifted Erlang distribution.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ShiftedErlang {
    /// Nothing is earlier, in seconds (the paper's F).
    pub shift_s: f64,
    /// Phases, at least 1 (k).
    pub phases: u32,
    /// The mean, shift included, in seconds (FM); `1 / lambda` of the paper is `mean - shift`.
    pub mean_s: f64,
}

/// Counts of times in bins of equal width, named by their right edges as in the paper's figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bins<'a> {
    /// Right edge of the first bin, in seconds.
    pub first_edge_s: f64,
    /// Width of every bin, in seconds.
    pub width_s: f64,
    /// How many times fell into each bin; what is outside is none.
    pub counts: &'a [u64],
}

/// A fit and what it leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// The distribution found.
    pub distribution: ShiftedErlang,
    /// What was minimised: root mean square of count less expected count over the bins (least
    /// squares), or the negative logarithm of the likelihood, for each value (maximum likelihood).
    pub residual: f64,
}

impl ShiftedErlang {
    /// A distribution of these parameters.
    ///
    /// # Errors
    /// [`StatisticsError::Parameter`] where there is no phase, or the mean is not above the shift.
    pub fn new(shift_s: f64, phases: u32, mean_s: f64) -> Result<ShiftedErlang, StatisticsError> {
        positive("the number of phases", f64::from(phases))?;
        positive("the mean above the shift", mean_s - shift_s)?;
        Ok(ShiftedErlang {
            shift_s,
            phases,
            mean_s,
        })
    }

    /// The density at a time, for each second.
    pub fn density(&self, time_s: f64) -> f64 {
        if time_s <= self.shift_s {
            return 0.0;
        }
        let done = self.phases_by(time_s);
        let log_phase = log_power_over_factorial(done, self.phases - 1);
        (log_phase - done).exp() * done / (time_s - self.shift_s)
    }

    /// Share of times that are not longer than this.
    pub fn cumulative(&self, time_s: f64) -> f64 {
        if time_s <= self.shift_s {
            return 0.0;
        }
        // Fewer than `phases` events of a Poisson process: the tail. Logarithms, because both
        // factors of its first term may be out of range.
        let done = self.phases_by(time_s);
        let mut term = (-done).exp();
        if term > 0.0 {
            let mut tail = 0.0;
            for phase in 0..self.phases {
                tail += term;
                term *= done / f64::from(phase + 1);
            }
            return (1.0 - tail).max(0.0);
        }
        let tail: f64 = (0..self.phases)
            .map(|phase| (log_power_over_factorial(done, phase) - done).exp())
            .sum();
        1.0 - tail
    }

    /// The time that a share `p` does not exceed, in seconds.
    ///
    /// # Errors
    /// [`StatisticsError::Parameter`] where `p` is not between 0 and 1.
    pub fn quantile_s(&self, p: f64) -> Result<f64, StatisticsError> {
        inside("the share of a quantile", p)?;
        let mut reach_s = self.mean_s - self.shift_s;
        while self.cumulative(self.shift_s + reach_s) < p {
            reach_s *= 2.0;
        }
        let (mut low, mut high) = (self.shift_s, self.shift_s + reach_s);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.cumulative(middle) < p {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(high)
    }

    /// The variance, in s^2.
    pub fn variance_s2(&self) -> f64 {
        (self.mean_s - self.shift_s).powi(2) / f64::from(self.phases)
    }

    /// Fits counts in bins by least squares, as the paper does: the sum over bins of squared
    /// differences between count and expected count.
    ///
    /// For every `k` the scale is searched, and within it the shift, by golden sections. The search
    /// ends when more phases have stopped to help; where many `k` fit nearly alike, as the paper
    /// remarks, the least sum wins. Shifts below zero are not tried.
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] for fewer than four bins, [`StatisticsError::NoFit`] where fewer
    /// than two are filled, [`StatisticsError::Parameter`] where the width is not positive.
    pub fn fit_bins(bins: &Bins) -> Result<Fitted, StatisticsError> {
        bins.check()?;
        let (mean_s, deviation_s) = bins.mean_and_deviation_s();
        let first_s = bins.left_of_first_filled_s();
        let (phases, squares, (shift_s, scale_s)) = best_phases(|phases| {
            // The scale: what is left above the shift. By moments it is deviation sqrt(k).
            let by_moments_s = deviation_s * f64::from(phases).sqrt();
            let squares = |shift_s: f64, scale_s: f64| {
                bins.squares(&ShiftedErlang {
                    shift_s,
                    phases,
                    mean_s: shift_s + scale_s,
                })
            };
            let shift_for = |scale_s: f64| {
                let centre_s = mean_s - scale_s;
                let low_s = (centre_s - 3.0 * deviation_s).max(0.0);
                let high_s = (centre_s + 3.0 * deviation_s).max(low_s);
                // Some of the first bin that is filled must be behind the shift.
                golden(
                    low_s,
                    high_s.min(first_s + bins.width_s).max(low_s),
                    |shift_s| squares(shift_s, scale_s),
                )
            };
            let (scale_s, least) = golden(0.3 * by_moments_s, 3.0 * by_moments_s, |scale_s| {
                shift_for(scale_s).1
            });
            (least, (shift_for(scale_s).0, scale_s))
        });
        Ok(Fitted {
            distribution: ShiftedErlang::new(shift_s, phases, shift_s + scale_s)?,
            residual: (squares / bins.counts.len() as f64).sqrt(),
        })
    }

    /// Fits times by maximum likelihood.
    ///
    /// For given `k` and shift the likeliest mean is that of the times, in closed form; the shift
    /// is searched below the least of them, on a logarithmic scale because that is how the
    /// likelihood bends there. A single phase has its greatest likelihood with the shift at the
    /// least time itself.
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] for fewer than four times, [`StatisticsError::NotFinite`],
    /// [`StatisticsError::NoFit`] where all are equal or one is not positive.
    pub fn fit_times_s(times_s: &[f64]) -> Result<Fitted, StatisticsError> {
        at_least(4, times_s, "a shifted Erlang distribution")?;
        all_finite(times_s)?;
        let least_s = times_s.iter().copied().fold(f64::INFINITY, f64::min);
        let mean_s = times_s.iter().sum::<f64>() / times_s.len() as f64;
        if least_s <= 0.0 {
            return Err(StatisticsError::NoFit {
                why: "a time is zero or less",
            });
        }
        if mean_s - least_s <= 1e-9 * mean_s {
            return Err(StatisticsError::NoFit {
                why: "all times are equal",
            });
        }
        let (phases, unlikely, shift_s) = best_phases(|phases| {
            if phases == 1 {
                return (
                    negative_log_likelihood(times_s, 1, least_s, mean_s),
                    least_s,
                );
            }
            let unlikely = |log_gap: f64| {
                negative_log_likelihood(times_s, phases, least_s - log_gap.exp(), mean_s)
            };
            let far = least_s.ln();
            let near = far.min((mean_s - least_s).ln()) - 12.0;
            let (log_gap, value) = golden(near, far, unlikely);
            (value, least_s - log_gap.exp())
        });
        Ok(Fitted {
            distribution: ShiftedErlang::new(shift_s, phases, mean_s)?,
            residual: unlikely,
        })
    }

    /// Time in mean phases.
    fn phases_by(&self, time_s: f64) -> f64 {
        f64::from(self.phases) * (time_s - self.shift_s) / (self.mean_s - self.shift_s)
    }
}

impl Bins<'_> {
    fn check(&self) -> Result<(), StatisticsError> {
        positive("the width of bins", self.width_s)?;
        all_finite(&[self.first_edge_s])?;
        if self.counts.len() < 4 {
            return Err(StatisticsError::TooFew {
                purpose: "a shifted Erlang distribution (bins)",
                found: self.counts.len(),
                least: 4,
            });
        }
        if self.counts.iter().filter(|&&count| count > 0).count() < 2 {
            return Err(StatisticsError::NoFit {
                why: "fewer than two bins are filled",
            });
        }
        Ok(())
    }

    fn right_edge_s(&self, bin: usize) -> f64 {
        self.first_edge_s + bin as f64 * self.width_s
    }

    fn left_of_first_filled_s(&self) -> f64 {
        let first = self.counts.iter().position(|&count| count > 0);
        self.right_edge_s(first.unwrap_or(0)) - self.width_s
    }

    fn total(&self) -> f64 {
        self.counts.iter().sum::<u64>() as f64
    }

    /// Mean and standard deviation as if all stood in the middle of their bins.
    fn mean_and_deviation_s(&self) -> (f64, f64) {
        let weighted = |value: &dyn Fn(f64) -> f64| {
            let counts = self.counts.iter().enumerate();
            let middle = |bin| self.right_edge_s(bin) - 0.5 * self.width_s;
            let sum: f64 = counts
                .map(|(bin, &count)| count as f64 * value(middle(bin)))
                .sum();
            sum / self.total()
        };
        let mean = weighted(&|middle| middle);
        let variance = weighted(&|middle| (middle - mean).powi(2));
        (mean, variance.sqrt())
    }

    /// The sum over bins of squared differences between count and expected count.
    fn squares(&self, distribution: &ShiftedErlang) -> f64 {
        let total = self.total();
        let mut below = distribution.cumulative(self.first_edge_s - self.width_s);
        let mut sum = 0.0;
        for (bin, &count) in self.counts.iter().enumerate() {
            let up_to = distribution.cumulative(self.right_edge_s(bin));
            sum += (count as f64 - total * (up_to - below)).powi(2);
            below = up_to;
        }
        sum
    }
}

/// The number of phases at which `fit` leaves the least, with what it leaves and what it found.
fn best_phases<T>(fit: impl Fn(u32) -> (f64, T)) -> (u32, f64, T) {
    let (value, found) = fit(1);
    let mut best = (1, value, found);
    for phases in 2..=MOST_PHASES {
        let (value, found) = fit(phases);
        if value < best.1 {
            best = (phases, value, found);
        } else if phases >= best.0 + PATIENCE {
            break;
        }
    }
    best
}

/// For each time: `-ln f` with the likeliest scale, `mean - shift`.
fn negative_log_likelihood(times_s: &[f64], phases: u32, shift_s: f64, mean_s: f64) -> f64 {
    let k = f64::from(phases);
    let scale_s = mean_s - shift_s;
    let logs = if phases == 1 {
        0.0
    } else {
        times_s
            .iter()
            .map(|time| (time - shift_s).ln())
            .sum::<f64>()
            / times_s.len() as f64
    };
    // k ln(k / scale) - ln (k - 1)! + (k - 1) mean of ln(t - F) - k
    let log_likelihood =
        log_power_over_factorial(k / scale_s, phases - 1) + (k / scale_s).ln() + (k - 1.0) * logs
            - k;
    -log_likelihood
}

/// `ln(x^n / n!)`.
fn log_power_over_factorial(x: f64, n: u32) -> f64 {
    (1..=n).map(|factor| (x / f64::from(factor)).ln()).sum()
}

/// Where `f` is least between `low` and `high`, and what it is there, if it has one valley.
fn golden(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let mut left = high - RATIO * (high - low);
    let mut right = low + RATIO * (high - low);
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..GOLDEN_STEPS {
        if at_left <= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - RATIO * (high - low);
            at_left = f(left);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + RATIO * (high - low);
            at_right = f(right);
        }
    }
    if at_left <= at_right {
        (left, at_left)
    } else {
        (right, at_right)
    }
}
