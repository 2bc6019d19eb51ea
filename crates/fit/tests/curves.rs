//! Curves on transports whose laws are written here, none of which is the model's own: what is found is known.

use crate::common;

use common::{ground, lto8, place};
use tapewise_fit::{Candidate, Coefficients, Lack, Sample, compare};
use tapewise_model::locate::CurvesCoefficients;
use tapewise_model::{Micros, Random};

/// Seconds of standard deviation that no fit can know.
const NOISE_S: f64 = 0.3;
/// The length of the tape in LPOS.
const LENGTH: f64 = 168_401.0;

/// A log of a law, with `records` moves on ten cartridges; the law takes the two places, as shares of the tape, the wraps
/// and how far the log has come.
fn log(records: usize, seed: u64, law: impl Fn([f64; 2], [u16; 2], f64) -> f64) -> Vec<Sample> {
    let mut random = Random::new(seed, 0);
    let mut from = place(0, 2_696);
    let log = (0..records).map(|at| {
        let lpos = 2_696 + random.below(168_402) as u32;
        let near = (f64::from(from.lpos) + 0.1 * LENGTH * random.normal()).clamp(2_696.0, 171_097.0)
            as u32;
        let to = match random.below(4) {
            0 => place(from.wrap, near),
            1 => place(random.below(208) as u16, near),
            _ => place(random.below(208) as u16, lpos),
        };
        let along = [from, to].map(|place| (f64::from(place.lpos) - 2_696.0) / LENGTH);
        let age = at as f64 / records as f64;
        let seconds = law(along, [from.wrap, to.wrap], age) + NOISE_S * random.normal();
        let sample = Sample {
            cartridge: (at * 10 / records) as u32,
            from,
            to,
            time: Micros::from_secs_f64(seconds.max(0.05)),
        };
        from = to;
        sample
    });
    log.collect()
}

/// Four seconds, two for another wrap, and a hundred for the length of the tape.
fn plain(along: [f64; 2], wraps: [u16; 2]) -> f64 {
    4.0 + 2.0 * f64::from(u8::from(wraps[0] != wraps[1])) + 100.0 * (along[1] - along[0]).abs()
}

/// Curves alone, drawn through one log of a law, and judged by it on another one.
fn curves(records: usize, law: impl Fn([f64; 2], [u16; 2], f64) -> f64) -> CurvesCoefficients {
    let fitted = Candidate::Curves
        .fit(&log(records, 41, &law), &ground())
        .unwrap();
    let model = fitted.coefficients.model(&lto8());
    let off = |sample: &Sample| {
        let error = model.locate(&sample.from, &sample.to) - sample.time;
        error.as_secs_f64().powi(2)
    };
    let other = log(1_000, 42, &law);
    let error_s = (other.iter().map(off).sum::<f64>() / other.len() as f64).sqrt();
    assert!(error_s < 1.2 * NOISE_S, "{error_s}");
    match fitted.coefficients {
        Coefficients::Curves(found) => found,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tape_that_is_slow_in_its_second_half_is_found_so() {
    let pace = |place: f64| place + (place - 0.5).max(0.0);
    let law = |[from, to]: [f64; 2], wraps, _| plain([pace(from), pace(to)], wraps);
    let pace = curves(800, law).pace;
    let half = |stretches: &[f64]| stretches.iter().sum::<f64>() / stretches.len() as f64;
    let (first, second) = pace.split_at(pace.len() / 2);
    let ratio = half(second) / half(first);
    assert!((ratio - 2.0).abs() < 0.1, "{pace:?}");
}

#[test]
fn a_head_that_steps_while_the_tape_runs_is_told_from_one_that_steps_after() {
    for beside in [true, false] {
        let law = |along: [f64; 2], wraps: [u16; 2], _| {
            let (wound, stepped) = (
                100.0 * (along[1] - along[0]).abs(),
                0.2 * f64::from(wraps[0].abs_diff(wraps[1])),
            );
            5.0 + if beside {
                wound.max(stepped)
            } else {
                wound + stepped
            }
        };
        let found = curves(1_000, law);
        assert_eq!(found.steps_beside, beside);
        let over = |wraps: u16| {
            found.step_s[found
                .step_wraps
                .iter()
                .position(|&each| each == wraps)
                .unwrap()]
        };
        assert!(
            (over(128) - over(64) - 0.2 * 64.0).abs() < 0.6,
            "{:?}",
            found.step_s
        );
    }
}

#[test]
fn wraps_on_two_sides_of_a_station_are_told_apart() {
    let far = |wrap: u16| wrap % 6 < 3;
    let law = |[from, to]: [f64; 2], wraps: [u16; 2], _| {
        let station = 0.4;
        if far(wraps[0]) == far(wraps[1]) {
            plain([from, to], wraps)
        } else {
            plain([0.0, (from - station).abs() + (to - station).abs()], wraps)
        }
    };
    let found = curves(2_000, law);
    let station = (f64::from(found.station_lpos.unwrap()) - 2_696.0) / LENGTH;
    assert!((station - 0.4).abs() < 0.002, "{station}");
    let side: Vec<bool> = (0..lto8().wraps)
        .map(|wrap| found.far_wraps.contains(&wrap))
        .collect();
    let same = (0..208)
        .filter(|&wrap| side[usize::from(wrap)] == far(wrap))
        .count();
    assert!(
        same == 0 || same == 208,
        "{same} wraps of 208 on their side"
    );
}

#[test]
fn retries_do_not_bend_the_curves() {
    let law = |along: [f64; 2], wraps: [u16; 2], _: f64| {
        plain(along, wraps) + f64::from(wraps[0].abs_diff(wraps[1])).sqrt()
    };
    let clean = log(500, 41, law);
    let mut random = Random::new(43, 0);
    let mut dirty = clean.clone();
    for sample in dirty.iter_mut().step_by(25) {
        sample.time += Micros::from_secs_f64(80.0 + 100.0 * random.unit());
    }
    let [clean, dirty] = [&clean, &dirty].map(|log| Candidate::Curves.fit(log, &ground()).unwrap());
    assert!((20..=24).contains(&dirty.outliers), "{}", dirty.outliers);
    let (Coefficients::Curves(clean), Coefficients::Curves(dirty)) =
        (clean.coefficients, dirty.coefficients)
    else {
        panic!("no curves");
    };
    for (clean, dirty) in std::iter::zip(&clean.step_s, &dirty.step_s) {
        assert!((clean - dirty).abs() < 0.4, "{clean} {dirty}");
    }
    assert_eq!(clean.step_s.len(), dirty.step_s.len());
}

#[test]
fn a_drift_is_told_and_followed_evenly_or_all_at_once() {
    let evenly = log(500, 41, |along, wraps, age| {
        plain(along, wraps) * (1.0 + 0.06 * age)
    });
    let found = compare(&evenly, &ground()).unwrap();
    let drift = found.drift.unwrap();
    assert!(
        (drift.share - 0.06).abs() < 4.0 * drift.std_error + 0.002,
        "{drift:?}"
    );
    assert_eq!(drift.from_record, None);
    assert!(
        found.choice().overall.bulk_s < 1.1 * NOISE_S,
        "{:?}",
        found.choice().overall
    );
    // The fit is that of the end of the log.
    let model = found.choice().fitted.coefficients.model(&lto8());
    let whole = model
        .locate(&place(0, 2_696), &place(2, 171_097))
        .as_secs_f64();
    assert!((whole - 106.0 * 1.06).abs() < 0.5, "{whole}");

    let at_once = log(500, 41, |along, wraps, age| {
        plain(along, wraps) * if age < 0.3 { 1.0 } else { 0.95 }
    });
    let drift = compare(&at_once, &ground()).unwrap().drift.unwrap();
    assert!(
        (drift.share + 0.05).abs() < 4.0 * drift.std_error + 0.002,
        "{drift:?}"
    );
    assert!(drift.from_record.unwrap().abs_diff(150) < 10, "{drift:?}");

    let cartridges_differ = log(500, 41, |along, wraps, age| {
        let off = Random::new(43, (age * 10.0) as u64).normal();
        plain(along, wraps) * (1.0 + 0.005 * off)
    });
    assert_eq!(
        compare(&cartridges_differ, &ground()).unwrap().drift,
        None,
        "half a per cent, by cartridge"
    );
}

#[test]
fn terms_that_no_record_tells_are_named() {
    // All on forward wraps of the first two bands: nothing turns, and nothing goes to the other bands.
    let law = |along, wraps, _| plain(along, wraps);
    let mut records = log(500, 41, law);
    for sample in &mut records {
        let forward = |wrap: u16| wrap / 4 * 2;
        let law_s = plain([0.0; 2], [sample.from.wrap, sample.to.wrap]);
        (sample.from.wrap, sample.to.wrap) = (forward(sample.from.wrap), forward(sample.to.wrap));
        let now_s = plain([0.0; 2], [sample.from.wrap, sample.to.wrap]);
        sample.time += Micros::from_secs_f64(now_s - law_s);
    }
    let found = compare(&records, &ground()).unwrap();
    for scored in found
        .scored
        .iter()
        .filter(|scored| scored.candidate != Candidate::FourRegion)
    {
        let lacking: Vec<&str> = scored
            .fitted
            .undetermined
            .iter()
            .filter(|each| matches!(each.lack, Lack::Records(0)))
            .map(|each| each.term.as_str())
            .collect();
        let turning = match scored.candidate {
            Candidate::LtoRegression => "DIRCHANGE",
            _ => "other wrap, turning, ahead",
        };
        assert!(
            lacking.contains(&turning),
            "{:?}: {lacking:?}",
            scored.candidate
        );
        if scored.candidate == Candidate::Curves {
            assert!(lacking.contains(&"band 2 to 3 or back"), "{lacking:?}");
            assert!(!lacking.contains(&"other wrap, ahead"), "{lacking:?}");
        }
    }
}
