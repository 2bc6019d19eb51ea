//! The nine cases of Gniewek et al. 1999 against what was measured.

use tapewise_sim::Scenario;
use tapewise_sim::library::{Part, Run, Site};

const TEXT: &str = include_str!("../../../scenarios/gniewek-1999.toml");

/// Case, measured mean and variance (Tables 3 and 5).
const MEASURED: [(&str, f64, f64); 9] = [
    ("50-2", 34.6, 192.6),
    ("50-4", 30.6, 34.0),
    ("50-6", 30.4, 33.7),
    ("100-4", 31.8, 53.6),
    ("100-6", 31.2, 34.7),
    ("150-4", 37.5, 254.8),
    ("150-6", 32.5, 52.8),
    ("200-6", 38.6, 278.1),
    ("250-6", 47.3, 576.3),
];

fn site(case: &str) -> Site {
    let cases = Scenario::cases(TEXT).expect("the nine cases");
    let scenario = cases.into_iter().find(|s| s.name == case);
    Site::new(&scenario.expect("a case"), tapewise_model::profile::find).expect("a site")
}

fn moments(run: &Run) -> (f64, f64) {
    let times = || {
        run.answers
            .iter()
            .map(|answer| answer.response.as_secs_f64())
    };
    let count = run.answers.len() as f64;
    let mean = times().sum::<f64>() / count;
    (
        mean,
        times().map(|t| (t - mean).powi(2)).sum::<f64>() / (count - 1.0),
    )
}

#[test]
fn with_little_load_the_mean_and_the_spread_are_those_measured() {
    for (case, mean, variance) in MEASURED.into_iter().filter(|(_, mean, _)| *mean < 31.0) {
        let site = site(case);
        let runs: Vec<(f64, f64)> = (0..20)
            .map(|r| moments(&site.run(r).expect("a run")))
            .collect();
        let average = |of: fn(&(f64, f64)) -> f64| runs.iter().map(of).sum::<f64>() / 20.0;
        let (found, spread) = (average(|run| run.0), average(|run| run.1));
        assert!((found - mean).abs() < 0.5, "{case}: {found} for {mean}");
        assert!(
            (spread / variance - 1.0).abs() < 0.25,
            "{case}: {spread} for {variance}"
        );
    }
}

#[test]
fn every_response_is_the_sum_of_its_parts_and_every_request_is_answered() {
    let run = site("150-4").run(1).expect("a run");
    assert_eq!(run.answers.len(), 1000);
    for (number, answer) in run.answers.iter().enumerate() {
        assert_eq!(answer.number, number as u64);
        assert_eq!(answer.parts.total(), answer.response);
        assert_eq!(
            answer.parts[Part::Unload].0,
            0,
            "unloads are behind the answer"
        );
    }
}
