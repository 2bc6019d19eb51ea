//! How many replications it takes to know several things well enough.

use super::{
    StatisticsError, all_finite, at_least, inside, mean_and_variance, positive, student_t_quantile,
};

/// A metric as the first replications gave it, and how well it is to be known.
#[derive(Clone, Debug, PartialEq)]
pub struct Pilot<'a> {
    /// Its name, for messages.
    pub metric: &'a str,
    /// One value from each replication so far.
    pub values: &'a [f64],
    /// Half-width that is wanted, in the unit of the values.
    pub half_width: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Replications in all, those already made included.
    pub replications: usize,
    /// Which of the pilots asks for the most.
    pub decided_by: usize,
}

/// The least number of replications, up to `most`, at which every metric's interval is expected to
/// be as narrow as wanted, all of them holding together with the confidence `level`.
///
/// For each the least `n` with `t s / sqrt(n) <= half_width`, `s` from the replications so far (A.
/// M. Law, *Simulation Modeling and Analysis*, 5th ed. 2015, section 9.4.1); `k` metrics share what
/// may be missed, `(1 - level) / k` each (Bonferroni). An expectation: `s` is itself an estimate,
/// so the intervals are looked at again when the runs are made.
///
/// # Errors
/// [`StatisticsError::OutOfReach`]; [`StatisticsError::TooFew`] without metrics or with fewer than
/// two values of one; [`StatisticsError::NotFinite`], [`StatisticsError::Parameter`].
pub fn replications_needed(
    pilots: &[Pilot],
    level: f64,
    most: usize,
) -> Result<Needed, StatisticsError> {
    inside("the confidence level", level)?;
    if pilots.is_empty() {
        return Err(StatisticsError::TooFew {
            purpose: "a number of replications (metrics)",
            found: 0,
            least: 1,
        });
    }
    let missed = (1.0 - level) / pilots.len() as f64;
    let mut needed = Needed {
        replications: 0,
        decided_by: 0,
    };
    for (at, pilot) in pilots.iter().enumerate() {
        let replications = for_one(pilot, missed, most)?;
        if replications > needed.replications {
            needed = Needed {
                replications,
                decided_by: at,
            };
        }
    }
    Ok(needed)
}

fn for_one(pilot: &Pilot, missed: f64, most: usize) -> Result<usize, StatisticsError> {
    at_least(2, pilot.values, "a number of replications")?;
    all_finite(pilot.values)?;
    positive("the wanted half-width", pilot.half_width)?;
    let deviation = mean_and_variance(pilot.values).1.sqrt();
    let enough = |n: usize| -> Result<bool, StatisticsError> {
        let t = student_t_quantile(1.0 - missed / 2.0, n as u64 - 1)?;
        Ok(t * deviation <= pilot.half_width * (n as f64).sqrt())
    };
    let (mut low, mut high) = (pilot.values.len(), most);
    if enough(low)? {
        return Ok(low);
    }
    if high <= low || !enough(high)? {
        return Err(StatisticsError::OutOfReach {
            metric: pilot.metric.to_owned(),
            wanted: pilot.half_width,
            most,
            pilots: pilot.values.len(),
            deviation,
        });
    }
    // t falls and the root grows: where `n` is enough, so is everything above.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}
