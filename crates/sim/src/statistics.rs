//! What simulated times say, and how sure of it one can be.
//!
//! Within a run, times are counted exactly ([`Moments`], [`Histogram`]): whole microseconds,
//! integer sums, so that parts may be joined in any order and on any number of threads, and come
//! out the same to the bit. Between runs, each replication gives one number for each metric, and an
//! [`Interval`] says how far from it the truth may be.
//!
//! ```
//! use tapewise_model::Micros;
//! use tapewise_sim::statistics::{Interval, Moments};
//!
//! let runs = [[20, 40, 30], [10, 20, 30], [30, 30, 60]];
//! let means: Vec<f64> = runs
//!     .iter()
//!     .map(|times| {
//!         let mut moments = Moments::default();
//!         for &seconds in times {
//!             moments.push(Micros(seconds * 1_000_000))?;
//!         }
//!         Ok(moments.mean_s().unwrap_or(0.0))
//!     })
//!     .collect::<Result<_, tapewise_sim::statistics::StatisticsError>>()?;
//! let mean = Interval::of_mean(&means, 0.95)?;
//! assert_eq!(mean.estimate, 30.0);
//! assert!((mean.half_width - 24.84).abs() < 0.01);
//! # Ok::<(), tapewise_sim::statistics::StatisticsError>(())
//! ```

mod batch_means;
mod histogram;
mod interval;
mod moments;
mod replications;
mod shifted_erlang;
mod student_t;
mod warm_up;

pub use batch_means::batch_means;
pub use histogram::{Histogram, RELATIVE_ERROR};
pub use interval::{Interval, order_statistics};
pub use moments::{LONGEST, Moments};
pub use replications::{Needed, Pilot, replications_needed};
pub use shifted_erlang::{Bins, Fitted, ShiftedErlang};
pub use student_t::student_t_quantile;
pub use warm_up::{WARM_UP_BATCH, warm_up};

use tapewise_model::Micros;

/// Why numbers do not say what was asked of them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    /// A time beyond what exact sums hold.
    #[error("a time of {time} is outside ±{LONGEST}, what statistics of times hold exactly")]
    TimeOutOfRange {
        /// The time.
        time: Micros,
    },
    /// Not a number, or without end.
    #[error("value {index} of {of} is {value}, not a finite number")]
    NotFinite {
        /// Which value, from 0.
        index: usize,
        /// How many there are.
        of: usize,
        /// What it is.
        value: f64,
    },
    /// Fewer values than the question takes.
    #[error("{found} values are too few for {purpose}: at least {least}")]
    TooFew {
        /// What they were for.
        purpose: &'static str,
        /// Values there are.
        found: usize,
        /// Values it takes.
        least: usize,
    },
    /// A confidence, share or tolerance outside its range.
    #[error("{name} is {value}; it must be {wanted}")]
    Parameter {
        /// Which parameter.
        name: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// The run has not come to rest.
    #[error(
        "the run has not settled: by MSER-{WARM_UP_BATCH} the first {cut} of {values} values are \
         warm-up, more than half; simulate longer, or look for a load that is not stable"
    )]
    NotSettled {
        /// Values that would be cut.
        cut: usize,
        /// Values there are.
        values: usize,
    },
    /// Batches of one run that still know of each other.
    #[error(
        "{batches} batches are correlated ({correlation:.2} from one to the next): their interval \
         would be too narrow; take fewer and longer batches, or simulate longer"
    )]
    Correlated {
        /// Batches the run was cut into.
        batches: usize,
        /// Correlation of neighbours.
        correlation: f64,
    },
    /// No number of replications within the limit is enough.
    #[error(
        "{metric} would need more than {most} replications for ±{wanted:.4}: at {pilots} its standard \
         deviation is {deviation:.4}; accept a wider interval, or make each run longer"
    )]
    OutOfReach {
        /// The metric.
        metric: String,
        /// Half-width that was wanted.
        wanted: f64,
        /// Replications allowed.
        most: usize,
        /// Replications made so far.
        pilots: usize,
        /// Their standard deviation.
        deviation: f64,
    },
    /// Values that no distribution of the kind can have made.
    #[error("no shifted Erlang distribution fits: {why}")]
    NoFit {
        /// What is in the way.
        why: &'static str,
    },
}

/// Refuses what is not a finite number.
fn all_finite(values: &[f64]) -> Result<(), StatisticsError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(StatisticsError::NotFinite {
            index,
            of: values.len(),
            value: values[index],
        }),
    }
}

/// Refuses fewer than `least` values.
fn at_least(least: usize, values: &[f64], purpose: &'static str) -> Result<(), StatisticsError> {
    if values.len() >= least {
        return Ok(());
    }
    Err(StatisticsError::TooFew {
        purpose,
        found: values.len(),
        least,
    })
}

/// Refuses a share that is not strictly between 0 and 1.
fn inside(name: &'static str, value: f64) -> Result<(), StatisticsError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(StatisticsError::Parameter {
        name,
        value,
        wanted: "between 0 and 1",
    })
}

/// Refuses what is not a positive number.
fn positive(name: &'static str, value: f64) -> Result<(), StatisticsError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(StatisticsError::Parameter {
        name,
        value,
        wanted: "positive",
    })
}

/// Mean and sample variance of at least two values, in the order given and in two passes: the same
/// values in the same order give the same bits.
fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0))
}
