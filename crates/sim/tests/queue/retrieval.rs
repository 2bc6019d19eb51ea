use tapewise_sim::queue::nested::RobotArrivals;
use tapewise_sim::queue::retrieval::{Prediction, Times, predict};

use crate::queue::assert_close;

/// Requests an hour, drives, and Table 3: the mean measured and the paper's own model, in seconds.
const TABLE_3: [(u32, u32, f64, f64); 9] = [
    (50, 2, 34.6, 36.0),
    (50, 4, 30.6, 30.0),
    (50, 6, 30.4, 30.0),
    (100, 4, 31.8, 32.0),
    (100, 6, 31.2, 31.0),
    (150, 4, 37.5, 39.0),
    (150, 6, 32.5, 33.0),
    (200, 6, 38.6, 37.0),
    (250, 6, 47.3, 51.0),
];

fn predicted(rate: u32, drives: u32, view: RobotArrivals) -> Prediction {
    predict(&Times::GNIEWEK_1999, f64::from(rate) / 3600.0, drives, view).unwrap()
}

#[test]
fn all_nine_cases_are_within_a_second_and_a_half_of_the_papers_model() {
    for (rate, drives, _, model_s) in TABLE_3 {
        let found = predicted(rate, drives, RobotArrivals::Poisson);
        assert!(
            (found.response_s - model_s).abs() < 1.5,
            "{rate}-{drives}: {} s, the paper's model {model_s} s",
            found.response_s
        );
    }
}

#[test]
fn utilisations_are_those_of_the_paper() {
    let robot = |rate| {
        predicted(rate, 6, RobotArrivals::Poisson)
            .steady
            .robot_utilisation
    };
    assert_close(robot(50), 0.14, 0.05);
    assert_close(robot(250), 0.69, 0.05);
    for (rate, drives, utilisation) in [(50, 6, 0.12), (150, 4, 0.56), (250, 6, 0.62)] {
        let found = predicted(rate, drives, RobotArrivals::Poisson);
        assert_close(found.drive_utilisation, utilisation, 0.05);
        assert!(found.steady.drive_utilisation > found.drive_utilisation);
    }
}

/// Means of a thousand requests or less.
#[test]
fn measured_means_are_within_a_tenth_of_both_views() {
    for (rate, drives, measured_s, _) in TABLE_3 {
        for view in [RobotArrivals::Poisson, RobotArrivals::FromDrives] {
            assert_close(predicted(rate, drives, view).response_s, measured_s, 0.1);
        }
    }
}
