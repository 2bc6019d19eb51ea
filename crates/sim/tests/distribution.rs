//! Distributions have the mean and the variation that is asked of them.

use tapewise_model::Random;
use tapewise_sim::{Distribution, Way};

#[derive(serde::Deserialize)]
struct Holder {
    x: Distribution,
}

#[derive(serde::Deserialize)]
struct WayHolder {
    x: Way,
}

fn parse(text: &str) -> Result<Distribution, String> {
    let holder: Result<Holder, _> = toml::from_str(&format!("x = {text}"));
    holder
        .map(|holder| holder.x)
        .map_err(|error| error.to_string())
}

/// Mean and coefficient of variation of many samples.
fn sampled(distribution: &Distribution) -> (f64, f64) {
    let mut random = Random::new(3, 0);
    let samples: Vec<f64> = (0..200_000)
        .map(|_| distribution.sample(&mut random))
        .collect();
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    let square = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / samples.len() as f64;
    (mean, square.sqrt() / mean)
}

#[test]
fn mean_and_variation_are_those_asked_for_from_constant_to_wild() {
    for cv in [0.0, 0.05, 0.1, 0.3, 0.5, 0.62, 0.8, 1.0, 1.5, 3.0] {
        let distribution = Distribution::with_variation(7.0, cv);
        assert!((distribution.mean() - 7.0).abs() < 1e-9, "cv {cv}");
        let (mean, found) = sampled(&distribution);
        assert!(
            (mean / 7.0 - 1.0).abs() < 0.02 * cv.max(0.01),
            "cv {cv}: mean {mean}"
        );
        assert!((found - cv).abs() < 0.03 * cv.max(0.01), "cv {cv}: {found}");
    }
}

#[test]
fn a_shift_is_part_of_the_mean() {
    let shifted = parse("{ shift = 20, mean = 43, cv = 0.7 }").expect("a distribution");
    let (mean, cv) = sampled(&shifted);
    assert!((mean - 43.0).abs() < 0.2);
    assert!((cv - 0.7 * 23.0 / 43.0).abs() < 0.01);
}

#[test]
fn uniform_and_listed_values_have_their_means() {
    let uniform = parse("{ least = 3, most = 7 }").expect("uniform");
    assert!((sampled(&uniform).0 - 5.0).abs() < 0.02);
    let listed = parse("{ values = [1, 2, 6] }").expect("listed");
    assert_eq!(listed.mean(), 3.0);
    assert!((sampled(&listed).0 - 3.0).abs() < 0.03);
}

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    for (text, reason) in [
        ("-1", "`mean` is -1"),
        ("{ mean = 3 }", "`mean` needs `cv`"),
        ("{ mean = 3, cv = -1 }", "`cv` is -1"),
        ("{ mean = 3, cv = 1e9 }", "at most 100"),
        ("{ mean = 3, cv = 1, shift = 4 }", "less than `shift`"),
        ("{ least = 3, most = 2 }", "more than `most`"),
        ("{ least = 3 }", "`least` and `most`"),
        ("{ values = [] }", "at least one"),
        ("{ values = [1, -2] }", "`values` is -2"),
        ("{ near = 1, far = 2 }", "`values`"),
        ("{ meen = 1 }", "unknown field `meen`"),
        ("\"fast\"", "a number, or a table"),
        ("inf", "`mean` is inf"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.contains(reason), "{text}: {error}");
    }
    let ways: Result<WayHolder, _> = toml::from_str("x = { near = 1 }");
    let error = ways.err().expect("half a line").to_string();
    assert!(error.contains("go together"), "{error}");
}

/// Two wraps on either half: the middle and both ends are met again and again.
#[test]
fn a_search_from_the_middle_goes_by_the_distance_along_the_tape() {
    let text = "x = { start_s = 5, speed_m_s = 5, tape_m = 160, wraps = 4 }";
    let way: WayHolder = toml::from_str(text).expect("a way from the middle");
    let mut random = Random::new(1, 0);
    let mut search_s = |from, to| way.x.search(from, to, &mut random).as_secs_f64();
    // A quarter of what is written is a wrap: out to one end, back to the middle, out to the other end and back.
    for (to, seconds) in [
        (0.0, 5.0),
        (0.125, 13.0),
        (0.25, 21.0),
        (0.375, 13.0),
        (0.5, 5.0),
        (0.75, 21.0),
        (1.0, 5.0),
    ] {
        assert!((search_s(0.0, to) - seconds).abs() < 1e-6, "{to}");
        assert!((search_s(to, 0.0) - seconds).abs() < 1e-6, "{to}");
    }
    // Wraps beside each other, and from end to end: 160 m.
    assert!((search_s(0.125, 0.375) - 5.0).abs() < 1e-6);
    assert!((search_s(0.25, 0.75) - 37.0).abs() < 1e-6);
    assert_eq!(way.x.mean(0.3), 13.0);
    assert_eq!(way.x.least(), 5.0);
}

#[test]
fn what_is_no_tape_is_refused() {
    for (text, reason) in [
        ("{ start_s = 5, tape_m = 160, wraps = 4 }", "go together"),
        (
            "{ start_s = 5, speed_m_s = 5, tape_m = 160, wraps = 4, far = 9 }",
            "go together",
        ),
        (
            "{ start_s = 5, speed_m_s = 0, tape_m = 160, wraps = 4 }",
            "`speed_m_s` is 0",
        ),
        (
            "{ start_s = 5, speed_m_s = 5, tape_m = 160, wraps = 3 }",
            "even number",
        ),
        (
            "{ start_s = -5, speed_m_s = 5, tape_m = 160, wraps = 4 }",
            "`start_s` is -5",
        ),
    ] {
        let way: Result<WayHolder, _> = toml::from_str(&format!("x = {text}"));
        let error = way.err().expect(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    let error = parse("{ start_s = 5, speed_m_s = 5, tape_m = 160, wraps = 4 }")
        .expect_err("no distribution");
    assert!(error.contains("no distribution"), "{error}");
}
