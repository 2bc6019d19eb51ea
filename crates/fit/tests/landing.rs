//! The landing-point model on drives whose mechanics are not its own, judged on cartridges it was
//! not fitted to.

use crate::common;

use common::{Drive, Landing, ground, lto8, scattered};
use tapewise_fit::{
    Candidate, Coefficients, Comparison, FitError, Folding, Sample, Score, Structure, compare,
};
use tapewise_model::locate::{LocateModel, LtoCoefficients, LtoRegression};
use tapewise_model::{Micros, Random};

/// Scores of CERN's regression and of ours, and what was found.
fn judged(drive: &Drive, records: usize) -> (Score, Score, Comparison) {
    let comparison = compare(&drive.log(records, 10, 5), &ground()).unwrap();
    assert_eq!(comparison.folding, Folding::Cartridges);
    let score = |candidate| comparison.of(candidate).unwrap().overall;
    let scores = [Candidate::LtoRegression, Candidate::LandingPoint].map(score);
    (scores[0], scores[1], comparison)
}

fn structure(comparison: &Comparison) -> Structure {
    let ours = comparison.of(Candidate::LandingPoint).unwrap();
    ours.fitted.landed.as_ref().unwrap().structure
}

#[test]
fn five_hundred_records_of_a_drive_with_regular_landing_points_come_down_to_its_noise() {
    let (cern, ours, found) = judged(&Drive::new(Landing::Even(60.0, [0.3, 0.0])), 500);
    assert_eq!(structure(&found), Structure::Lattice);
    assert_eq!(found.choice().candidate, Candidate::LandingPoint);
    assert!(ours.residual_s < cern.residual_s / 3.0, "{ours:?} {cern:?}");
    // The noise is 0.4 s; two of the records are next to a landing point, on its wrong side.
    assert!(ours.bulk_s < 0.6, "{ours:?}");
}

#[test]
fn a_few_landing_points_anywhere_are_found() {
    let (cern, ours, found) = judged(&Drive::new(scattered(6, 3)), 500);
    assert_eq!(structure(&found), Structure::EachDirection);
    assert!(ours.residual_s < cern.residual_s / 3.0, "{ours:?} {cern:?}");
    assert!(ours.residual_s < 2.0, "{ours:?}");
}

#[test]
fn a_drive_that_lands_anywhere_is_said_to_and_ramps_are_still_better_than_a_straight_line() {
    let (cern, ours, found) = judged(&Drive::new(Landing::Anywhere), 500);
    assert_eq!(structure(&found), Structure::Anywhere);
    assert!(ours.residual_s < cern.residual_s / 3.0, "{ours:?} {cern:?}");
}

#[test]
fn retries_count_as_outliers_and_spoil_nothing_else() {
    let drive = Drive {
        retries: 0.01,
        ..Drive::new(Landing::Even(60.0, [0.3, 0.0]))
    };
    let (_, ours, found) = judged(&drive, 500);
    let fitted = &found.of(Candidate::LandingPoint).unwrap().fitted;
    assert!((3..=12).contains(&fitted.outliers));
    assert!((2..=9).contains(&found.outliers), "{}", found.outliers);
    assert!(ours.median_s < 0.35, "{ours:?}");
}

/// The log with every so many records longer by 20 to 200 s, as by retries and cleaning.
fn disturbed(log: &[Sample], every: usize) -> Vec<Sample> {
    let mut random = Random::new(77, 0);
    let mut disturbed = log.to_vec();
    for sample in disturbed.iter_mut().skip(3).step_by(every) {
        let extra_s = 20.0 + 180.0 * random.unit();
        sample.time = Micros::from_secs_f64(sample.time.as_secs_f64() + extra_s);
    }
    disturbed
}

#[test]
fn five_per_cent_of_outliers_change_neither_the_choice_nor_its_coefficients() {
    let log = Drive::new(Landing::Even(60.0, [0.3, 0.0])).log(500, 10, 5);
    let [clean, dirty] = [&log, &disturbed(&log, 20)].map(|log| compare(log, &ground()).unwrap());
    assert!((20..=27).contains(&dirty.outliers), "{}", dirty.outliers);
    assert_eq!(dirty.choice().candidate, clean.choice().candidate);
    // Bulk errors are those of the clean log, though mean squares are not.
    let [bulk, dirty_bulk] = [&clean, &dirty].map(|found| found.choice().overall.bulk_s);
    assert!((dirty_bulk / bulk - 1.0).abs() < 0.1, "{bulk} {dirty_bulk}");
    assert!(dirty.choice().overall.residual_s > 20.0);
    let of = |found: &Comparison| match &found.choice().fitted.coefficients {
        Coefficients::LandingPoint(landing) => landing.clone(),
        other => panic!("{other:?}"),
    };
    let [clean, dirty] = [of(&clean), of(&dirty)];
    assert_eq!(dirty.forward_lpos.len(), clean.forward_lpos.len());
    for (dirty, clean) in std::iter::zip(dirty.other_wrap_s, clean.other_wrap_s) {
        assert!((dirty - clean).abs() < 0.2, "{dirty} {clean}");
    }
    assert!((dirty.read_per_lpos_s / clean.read_per_lpos_s - 1.0).abs() < 0.02);
}

#[test]
fn the_regression_is_the_same_with_outliers_and_without() {
    let log = Drive::new(Landing::Anywhere).log(500, 10, 5);
    let fit = |log: &[Sample]| {
        let fitted = Candidate::LtoRegression.fit(log, &ground()).unwrap();
        (fitted.table.unwrap(), fitted.outliers)
    };
    let (clean, _) = fit(&log);
    let (dirty, outliers) = fit(&disturbed(&log, 50));
    assert!((10..=14).contains(&outliers), "{outliers}");
    for (dirty, clean) in std::iter::zip(&dirty.terms, &clean.terms) {
        let off = dirty.estimate.unwrap() - clean.estimate.unwrap();
        assert!(off.abs() < clean.std_error, "{dirty:?} {clean:?}");
    }
}

#[test]
fn a_drive_that_is_the_regression_gets_the_regression() {
    let truth = LtoCoefficients {
        intercept_s: 6.0,
        wrap_change_s: 6.7,
        band_change_s: 3.2,
        mid_cross_s: -5.0,
        direction_change_s: 5.2,
        step_back_s: 11.3,
        per_lpos_s: 0.000_6,
        residual_s: 0.0,
    };
    let model = LocateModel::LtoRegression(LtoRegression::new(&truth, &lto8()));
    let mut random = Random::new(8, 0);
    let mut log = Drive::new(Landing::Anywhere).log(500, 10, 5);
    for sample in &mut log {
        let exact = model.locate(&sample.from, &sample.to).as_secs_f64();
        sample.time = Micros::from_secs_f64((exact + random.normal()).max(0.0));
    }
    let comparison = compare(&log, &ground()).unwrap();
    assert_eq!(comparison.choice().candidate, Candidate::LtoRegression);
    let Coefficients::LtoRegression(found) = &comparison.choice().fitted.coefficients else {
        panic!("{:?}", comparison.choice().fitted.coefficients);
    };
    assert!((found.step_back_s - 11.3).abs() < 1.0, "{found:?}");
    assert!((found.per_lpos_s - 0.000_6).abs() < 0.000_01, "{found:?}");
}

#[test]
fn records_that_cannot_be_fitted_are_refused() {
    let log = Drive::new(Landing::Anywhere).log(200, 2, 5);
    let refused = |log: &[Sample]| compare(log, &ground()).unwrap_err();
    assert!(matches!(
        refused(&log[..99]),
        FitError::TooFew { found: 99, .. }
    ));
    assert!(matches!(refused(&[log[0]; 150]), FitError::OnePlace { .. }));
    let mut wrong = log.clone();
    wrong[7].time = Micros(-1);
    assert_eq!(
        refused(&wrong),
        FitError::Negative {
            index: 8,
            time: Micros(-1)
        }
    );
    let mut wrong = log;
    wrong[3].to.wrap = 208;
    assert!(matches!(
        refused(&wrong),
        FitError::NoSuchWrap {
            index: 4,
            wrap: 208,
            ..
        }
    ));
}
