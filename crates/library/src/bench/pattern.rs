//! Which retrievals the benchmark makes, and when.

use tapewise_formats::bench_csv::{LOCATIONS, Retrieval};
use tapewise_model::{Micros, Random};

/// What a pattern is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Mean rate; above 0.
    pub per_hour: f64,
    /// Retrievals.
    pub requests: u64,
    /// Cartridges, asked for in turn.
    pub cartridges: u32,
    /// Chooses gaps and places, each from a stream of its own.
    pub seed: u64,
}

const GAPS: u64 = 1;
const PLACES: u64 = 2;

/// The pattern: exponential gaps, cartridges in turn, uniform places. The first arrives at 0, as in
/// the paper's Table 1. The same seed at another rate gives the same gaps, scaled, and the same places.
pub fn pattern(terms: Terms) -> Vec<Retrieval> {
    let mut gaps = Random::new(terms.seed, GAPS);
    let mut places = Random::new(terms.seed, PLACES);
    let mean_s = 3600.0 / terms.per_hour;
    let mut at = Micros::ZERO;
    let mut retrievals = Vec::new();
    for number in 1..=terms.requests {
        retrievals.push(Retrieval {
            number,
            at,
            cartridge: ((number - 1) % u64::from(terms.cartridges.max(1))) as u32 + 1,
            location: places.below(u64::from(LOCATIONS)) as u32 + 1,
        });
        at += Micros::from_secs_f64(-gaps.unit().ln() * mean_s);
    }
    retrievals
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms {
        per_hour: 150.0,
        requests: 10_000,
        cartridges: 10,
        seed: 1,
    };

    #[test]
    fn gaps_are_exponential_cartridges_in_turn_and_places_uniform() {
        let pattern = pattern(TERMS);
        let gaps = pattern.windows(2).map(|two| two[1].at - two[0].at);
        let gaps: Vec<f64> = gaps.map(Micros::as_secs_f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        // 24 s in the mean, and a share of 1/e beyond it: within four standard errors.
        assert!((mean - 24.0).abs() < 4.0 * 0.24, "{mean}");
        let beyond = gaps.iter().filter(|&&gap| gap > 24.0).count() as f64 / gaps.len() as f64;
        assert!((beyond - (-1.0f64).exp()).abs() < 4.0 * 0.0048, "{beyond}");
        let turns = pattern.iter().map(|one| one.cartridge).take(12);
        assert_eq!(
            turns.collect::<Vec<u32>>(),
            [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2]
        );
        for location in [1, 50, 100] {
            let count = pattern.iter().filter(|one| one.location == location);
            assert!((60..140).contains(&count.count()), "{location}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_places_at_every_rate() {
        let half = Terms {
            per_hour: 75.0,
            ..TERMS
        };
        for (one, other) in pattern(TERMS).iter().zip(pattern(half)) {
            assert_eq!(one.location, other.location);
            assert!((other.at.0 - 2 * one.at.0).abs() <= 20_000);
        }
    }
}
