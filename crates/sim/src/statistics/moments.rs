//! Count, mean, variance and extremes of times, exactly.

use tapewise_model::Micros;

use super::StatisticsError;

/// The longest time that is counted, 2^47 us or four and a half years: the squares of 2^33 such
/// times still fit into 128 bits.
pub const LONGEST: Micros = Micros(1 << 47);

/// Moments of times as integer sums.
///
/// Welford's running means would do for one thread, but joining two of them rounds, and then the
/// result depends on who was joined with whom. Whole microseconds need no rounding: `join` is
/// associative and commutative to the bit, so any number of threads gives the same result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Moments {
    count: u64,
    sum_us: i128,
    sum_us2: i128,
    extremes: Option<(Micros, Micros)>,
}

impl Moments {
    /// Counts one time.
    ///
    /// # Errors
    /// [`StatisticsError::TimeOutOfRange`] beyond [`LONGEST`]; nothing is counted then.
    pub fn push(&mut self, time: Micros) -> Result<(), StatisticsError> {
        if time.0.unsigned_abs() > LONGEST.0.unsigned_abs() {
            return Err(StatisticsError::TimeOutOfRange { time });
        }
        let value = i128::from(time.0);
        self.count += 1;
        self.sum_us += value;
        self.sum_us2 += value * value;
        self.extremes = Some(match self.extremes {
            None => (time, time),
            Some((least, most)) => (least.min(time), most.max(time)),
        });
        Ok(())
    }

    /// Counts what another has counted.
    pub fn join(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum_us += other.sum_us;
        self.sum_us2 += other.sum_us2;
        self.extremes = match (self.extremes, other.extremes) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The shortest and the longest; `None` when nothing was counted.
    pub fn extremes(&self) -> Option<(Micros, Micros)> {
        self.extremes
    }

    /// The mean in seconds; `None` when nothing was counted.
    pub fn mean_s(&self) -> Option<f64> {
        // Whole part and rest by themselves: the sum may have more digits than a float.
        let count = i128::from(self.count);
        let whole = self.sum_us.checked_div_euclid(count)?;
        let rest = self.sum_us.rem_euclid(count);
        Some((whole as f64 + rest as f64 / count as f64) / 1e6)
    }

    /// The sample variance (over `count - 1`) in s^2; `None` for fewer than two times.
    pub fn variance_s2(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        // About the whole part of the mean, still in integers: nothing cancels in floating point.
        let count = i128::from(self.count);
        let centre = self.sum_us.div_euclid(count);
        let rest = self.sum_us.rem_euclid(count);
        let squares = self.sum_us2 - centre * (self.sum_us + rest);
        let rest = rest as f64;
        let about_mean = squares as f64 - rest * rest / count as f64;
        Some(about_mean.max(0.0) / (count - 1) as f64 / 1e12)
    }
}
