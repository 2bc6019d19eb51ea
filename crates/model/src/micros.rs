//! Time as an integer number of microseconds.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// A time or a difference of times, in whole microseconds.
///
/// Integers make an incrementally computed gain equal to a full recomputation, and a result the
/// same on every machine. The range is ±292,000 years.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub i64);

impl Micros {
    /// No time at all.
    pub const ZERO: Micros = Micros(0);
    /// Longer than any real move; sums of a few thousand of these do not overflow.
    pub const FAR: Micros = Micros(i64::MAX / 1_000_000);

    /// The nearest whole microsecond to `seconds`; what is out of range is clamped, NaN is zero.
    #[inline]
    pub fn from_secs_f64(seconds: f64) -> Micros {
        let micros = seconds * 1e6;
        // As `round`, which is a call into the C library where the processor may be an old one.
        let whole = micros as i64;
        let rest = micros - whole as f64;
        Micros(whole.saturating_add(i64::from(rest >= 0.5) - i64::from(rest <= -0.5)))
    }

    /// The time in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The smaller of two times.
    pub fn min(self, other: Micros) -> Micros {
        Micros(self.0.min(other.0))
    }

    /// The larger of two times.
    pub fn max(self, other: Micros) -> Micros {
        Micros(self.0.max(other.0))
    }
}

impl Add for Micros {
    type Output = Micros;
    fn add(self, other: Micros) -> Micros {
        Micros(self.0 + other.0)
    }
}

impl Sub for Micros {
    type Output = Micros;
    fn sub(self, other: Micros) -> Micros {
        Micros(self.0 - other.0)
    }
}

impl Neg for Micros {
    type Output = Micros;
    fn neg(self) -> Micros {
        Micros(-self.0)
    }
}

impl AddAssign for Micros {
    fn add_assign(&mut self, other: Micros) {
        self.0 += other.0;
    }
}

impl SubAssign for Micros {
    fn sub_assign(&mut self, other: Micros) {
        self.0 -= other.0;
    }
}

impl Sum for Micros {
    fn sum<I: Iterator<Item = Micros>>(times: I) -> Micros {
        times.fold(Micros::ZERO, Add::add)
    }
}

impl fmt::Display for Micros {
    /// `45.3 s` below a minute, `11m05` below an hour, then `1h24`, and `4d 4h` from a hundred hours on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let micros = self.0.unsigned_abs();
        let seconds = (micros + 500_000) / 1_000_000;
        let minutes = (seconds + 30) / 60;
        let hours = (minutes + 30) / 60;
        let text = if minutes >= 6000 {
            format!("{sign}{}d {}h", hours / 24, hours % 24)
        } else if seconds >= 3600 {
            format!("{sign}{}h{:02}", minutes / 60, minutes % 60)
        } else if micros >= 59_950_000 {
            format!("{sign}{}m{:02}", seconds / 60, seconds % 60)
        } else {
            format!("{sign}{:.1} s", micros as f64 / 1e6)
        };
        f.pad(&text)
    }
}

/// A steady speed as microseconds for each LPOS unit, in 44.20 fixed point.
///
/// Fixed point because a division in the innermost loop costs more than the rest of a locate
/// time, and because a float sum would depend on the order of additions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace(i64);

impl Pace {
    /// Fine time is counted in parts of a microsecond: two to this power of them.
    pub const FRACTION_BITS: u32 = 20;

    /// The pace of `seconds` for `distance_lpos` units of tape.
    pub fn over(seconds: f64, distance_lpos: f64) -> Pace {
        Pace(
            (seconds * 1e6 / distance_lpos * f64::from(1u32 << Self::FRACTION_BITS)).round() as i64,
        )
    }

    /// The time for a distance in LPOS units, to the nearest microsecond.
    #[inline(always)]
    pub fn time(self, distance_lpos: i64) -> Micros {
        Micros((distance_lpos * self.0 + (1 << (Self::FRACTION_BITS - 1))) >> Self::FRACTION_BITS)
    }

    /// Fine time for each LPOS unit: see [`Pace::FRACTION_BITS`].
    pub fn fine(self) -> i64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_print_as_people_say_them() {
        assert_eq!(Micros::from_secs_f64(12_780.0).to_string(), "3h33");
        assert_eq!(Micros::from_secs_f64(599.4).to_string(), "9m59");
        assert_eq!(Micros::from_secs_f64(665.0).to_string(), "11m05");
        assert_eq!(Micros::from_secs_f64(59.96).to_string(), "1m00");
        assert_eq!(Micros::from_secs_f64(3_599.7).to_string(), "1h00");
        assert_eq!(Micros::from_secs_f64(99.0 * 3600.0).to_string(), "99h00");
        assert_eq!(Micros::from_secs_f64(100.0 * 3600.0).to_string(), "4d 4h");
        assert_eq!(Micros::from_secs_f64(41.23).to_string(), "41.2 s");
        assert_eq!(Micros::from_secs_f64(-41.23).to_string(), "-41.2 s");
    }

    #[test]
    fn seconds_are_rounded_as_the_standard_library_rounds() {
        let below_half = 0.499_999_999_999_999_94;
        let edges = [
            0.5,
            below_half,
            1.5,
            2.5,
            4503599627370495.5,
            9007199254740993.0,
            9.3e18,
            f64::INFINITY,
        ];
        let mut random = crate::Random::new(1, 0);
        let drawn = (0..1000).map(|_| (random.unit() - 0.5) * 1e7);
        let values: Vec<f64> = edges.into_iter().chain(drawn).collect();
        for micros in values.iter().flat_map(|value| [*value, -value]) {
            let seconds = micros / 1e6;
            assert_eq!(
                Micros::from_secs_f64(seconds).0,
                (seconds * 1e6).round() as i64,
                "{micros}"
            );
        }
        assert_eq!(Micros::from_secs_f64(f64::NAN), Micros::ZERO);
    }

    #[test]
    fn pace_agrees_with_real_arithmetic_to_a_microsecond() {
        let pace = Pace::over(0.0006192, 1.0);
        for distance in [0i64, 1, 7, 1_000, 168_401, 10_000_000] {
            let exact = distance as f64 * 619.2;
            assert!((pace.time(distance).0 as f64 - exact).abs() <= 0.5 + distance as f64 * 1e-6);
        }
    }
}
