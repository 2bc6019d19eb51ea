//! Random numbers that come out the same on every machine and after every upgrade.
//!
//! The generator is ChaCha with 8 rounds; seeding and sampling are our own, by inverse transform,
//! so that no library's change of method can change a published result.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of random numbers: one seed has as many independent streams as one likes.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream numbered `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(stream);
        Random(generator)
    }

    /// A number from 0 to `n - 1`, all equally likely; 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        // Multiply-shift with rejection (Lemire 2019): exact, and one multiplication as a rule.
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(n);
            let low = wide as u64;
            if low >= n || low >= n.wrapping_neg() % n.max(1) {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A number strictly between 0 and 1, with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A normal deviate with mean 0 and standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        normal_quantile(self.unit())
    }

    /// Puts `items` in random order, every order equally likely (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// The quantile of the standard normal distribution (P. J. Acklam's rational approximation,
/// relative error below 1.2e-9), for 0 < p < 1.
pub fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e+01,
        2.209460984245205e+02,
        -2.759285104469687e+02,
        1.38357751867269e+02,
        -3.066479806614716e+01,
        2.506628277459239e+00,
    ];
    const B: [f64; 5] = [
        -5.447609879822406e+01,
        1.615858368580409e+02,
        -1.556989798598866e+02,
        6.680131188771972e+01,
        -1.328068155288572e+01,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-03,
        -3.223964580411365e-01,
        -2.400758277161838e+00,
        -2.549732539343734e+00,
        4.374664141464968e+00,
        2.938163982698783e+00,
    ];
    const D: [f64; 4] = [
        7.784695709041462e-03,
        3.224671290700398e-01,
        2.445134137142996e+00,
        3.754408661907416e+00,
    ];
    let polynomial = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, k| sum * x + k);
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&C, q) / (polynomial(&D, q) * q + 1.0)
    };
    if p < 0.02425 {
        tail(p)
    } else if p > 1.0 - 0.02425 {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        let r = q * q;
        polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_of_seed_one_never_change() {
        let mut random = Random::new(1, 0);
        let first: Vec<u64> = (0..4).map(|_| random.below(1_000_000)).collect();
        assert_eq!(first, [381_489, 294_927, 798_254, 916_153]);
    }

    #[test]
    fn quantiles_agree_with_tables() {
        for (p, z) in [
            (0.5, 0.0),
            (0.975, 1.959963984540054),
            (0.001, -3.090232306167813),
        ] {
            assert!((normal_quantile(p) - z).abs() < 1e-8, "{p}");
        }
    }

    #[test]
    fn below_reaches_every_number_about_equally_often() {
        let mut random = Random::new(7, 3);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[random.below(6) as usize] += 1;
        }
        assert!(
            seen.iter().all(|count| (9_600..10_400).contains(count)),
            "{seen:?}"
        );
    }
}
