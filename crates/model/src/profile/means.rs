//! Mean locate times of drives that were published with a model only.

use super::Profile;
use crate::{Geometry, Point, Position, PositionSource, Random};

/// Places of the midpoint rule for the mean from the beginning of tape, all wraps together.
const PLACES: u32 = 1 << 18;

/// Pairs drawn for the mean between random places.
pub const PAIRS: u32 = 1 << 18;

/// Seed of those pairs.
pub const SEED: u64 = 1;

/// Mean locate times over a full cartridge of nominal geometry, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// From the beginning of tape to a random place.
    pub from_start_s: f64,
    /// From one random place to another.
    pub random_s: f64,
    /// Standard error of the latter.
    pub random_error_s: f64,
}

/// The mean locate times by a drive's model; `None` where it has none.
///
/// Places are uniform over wraps and along each wrap. The mean from the beginning of tape is a
/// midpoint rule over every wrap, which is as good as exact for times that are piecewise linear;
/// the mean between two places is sampled with a fixed seed.
pub fn means(profile: &Profile) -> Option<Means> {
    let model = profile.locate_model(None).ok()?;
    let nominal = profile.geometry().ok()?;
    let key_points = profile.nominal_key_points();
    let geometry = key_points.map_or(nominal.clone(), |points| points.geometry(&nominal));
    let point = |wrap: u16, lpos: u32| model.point(&place(wrap, lpos));
    let start = point(0, geometry.lpos_min);

    let steps = u64::from((PLACES / u32::from(geometry.wraps)).max(1));
    let length = u64::from(geometry.wrap_lpos());
    let mut total_us = 0i128;
    for wrap in 0..geometry.wraps {
        for step in 0..steps {
            let along = (2 * step + 1) * length / (2 * steps);
            let there = point(wrap, geometry.lpos_min + along as u32);
            total_us += i128::from(model.time(&start, &there).0);
        }
    }
    let places = steps as f64 * f64::from(geometry.wraps);

    let mut random = Random::new(SEED, 0);
    let (mut sum_s, mut squares_s) = (0.0, 0.0);
    for _ in 0..PAIRS {
        let [from, to] = [0; 2].map(|_| anywhere(&geometry, &mut random, &point));
        let time_s = model.time(&from, &to).as_secs_f64();
        sum_s += time_s;
        squares_s += time_s * time_s;
    }
    let pairs = f64::from(PAIRS);
    let mean_s = sum_s / pairs;
    Some(Means {
        from_start_s: total_us as f64 / 1e6 / places,
        random_s: mean_s,
        random_error_s: ((squares_s / pairs - mean_s * mean_s).max(0.0) / pairs).sqrt(),
    })
}

fn place(wrap: u16, lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::Nominal,
        error_lpos: 0,
    }
}

fn anywhere(geometry: &Geometry, random: &mut Random, point: &impl Fn(u16, u32) -> Point) -> Point {
    let wrap = random.below(u64::from(geometry.wraps)) as u16;
    let along = random.below(u64::from(geometry.wrap_lpos()) + 1) as u32;
    point(wrap, geometry.lpos_min + along)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    fn of(name: &str) -> Profile {
        profile::find(name).unwrap()
    }

    #[test]
    fn helical_means_are_half_and_a_third_of_the_tape() {
        let means = means(&of("sony-dtf")).unwrap();
        assert!((means.from_start_s - (10.0 + 144.0 / 2.0)).abs() < 0.001);
        assert!((means.random_s - (10.0 + 144.0 / 3.0)).abs() < 4.0 * means.random_error_s);
    }

    #[test]
    fn the_mean_of_lto8_from_the_start_is_that_of_the_formula_in_the_reference() {
        // Fixed terms (docs/reference/profiles.md) and half the tape.
        let fixed = 4.2389745 + 6.69773 * (1.0 - 1.0 / 208.0) + 0.75 * 3.1991467 - 0.5 * 6.0424286
            + 0.5 * 5.2179431;
        let half = 0.0006192 * 168_401.0 / 2.0;
        let means = means(&of("lto8")).unwrap();
        assert!(
            (means.from_start_s - fixed - half).abs() < 0.02,
            "{means:?}"
        );
    }

    #[test]
    fn sampling_is_good_to_a_tenth_of_a_second_everywhere() {
        for name in profile::names() {
            let error_s = means(&of(name)).map_or(0.0, |means| means.random_error_s);
            assert!(error_s < 0.1, "{name}: {error_s}");
        }
    }

    #[test]
    fn startup_and_full_seek_follow_from_each_model() {
        let (startup_s, full_s) = of("lto8").startup_and_full_s().unwrap();
        assert!((startup_s - 10.9367).abs() < 1e-3 && (full_s - 104.274).abs() < 1e-3);
        assert_eq!(of("dlt4000-jm98").startup_and_full_s(), Some((21.0, 154.0)));
        assert_eq!(of("dat-4mm").startup_and_full_s(), Some((13.0, 110.0)));
        let (_, full_s) = of("dlt4000").startup_and_full_s().unwrap();
        assert!((full_s - 9_720.0 / 704.0 * 10.0).abs() < 1e-9);
        assert_eq!(of("ts1170").startup_and_full_s(), None);
    }
}
