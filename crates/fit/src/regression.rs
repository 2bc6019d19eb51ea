//! The regressions of the literature: helical (Johnson & Miller 1998, section 5.4), four regions
//! (their Table 3) and CERN's (2018, annex).

use crate::fitted::{Coefficients, Fitted};
use crate::least_squares::{Table, least_squares};
use crate::robust::{Kept, without_outliers};
use crate::sample::{FitError, Ground, Sample};
use crate::undetermined::Undetermined;
use std::sync::Arc;
use tapewise_model::Geometry;
use tapewise_model::locate::{KeyPointCoefficients, KeyPointModel, LtoCoefficients};

fn times(samples: &[Sample]) -> Vec<f64> {
    let seconds = samples.iter().map(|sample| sample.time.as_secs_f64());
    seconds.collect()
}

fn distance(sample: &Sample) -> f64 {
    f64::from(sample.to.lpos.abs_diff(sample.from.lpos))
}

fn indicator(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// A seek takes its startup and a time for each unit of distance. Where the drive has a line of its own for short
/// seeks ahead, the moves that fall below it say nothing of the long one.
pub(crate) fn helical(samples: &[Sample], ground: &Ground) -> Result<Fitted, FitError> {
    let length = f64::from(ground.geometry.wrap_lpos());
    let is_long = |sample: &&Sample| {
        sample.to.lpos < sample.from.lpos || distance(sample) > ground.short_lpos
    };
    let long: Vec<Sample> = samples.iter().filter(is_long).copied().collect();
    let rows: Vec<[f64; 2]> = long
        .iter()
        .map(|sample| [1.0, distance(sample) / length])
        .collect();
    let fit = without_outliers(&["(Intercept)", "distance"], &rows, &times(&long))?;
    let [startup_s, full_s] = [0, 1].map(|column| fit.table.estimate(column).max(0.0));
    Ok(Fitted {
        coefficients: Coefficients::HelicalLinear {
            startup_s,
            full_s,
            short: ground.short,
        },
        outliers: fit.outliers(),
        undetermined: Undetermined::of_table(&fit.table),
        table: Some(fit.table),
        landed: None,
    })
}

/// The columns of the key-point model, as its cases are numbered in the paper.
const KEY_POINT_COLUMNS: [&str; 9] = [
    "case 1", "case 2", "case 3", "case 4", "case 5", "case 6", "case 7", "scanned", "read",
];

/// The two speeds and the seven constants of the DLT4000, given its key points.
pub(crate) fn key_point(samples: &[Sample], ground: &Ground) -> Result<Fitted, FitError> {
    let Some((base, key_points)) = &ground.key_points else {
        return Err(FitError::NoKeyPoints);
    };
    let model = KeyPointModel::new(base, key_points);
    let section = f64::from(base.section_segments);
    let row = |sample: &Sample| {
        let motion = model.motion(&sample.from, &sample.to);
        let mut row = [0.0; 9];
        row[motion.case - 1] = 1.0;
        row[7] = f64::from(motion.scanned) / section;
        row[8] = f64::from(motion.read) / section;
        row
    };
    let rows: Vec<[f64; 9]> = samples.iter().map(row).collect();
    let fit = without_outliers(&KEY_POINT_COLUMNS, &rows, &times(samples))?;
    // What no record tells stays as it is known.
    let known = |column: usize, known: f64| match fit.table.terms[column].estimate {
        Some(estimate) => estimate.max(0.0),
        None => known,
    };
    Ok(Fitted {
        coefficients: Coefficients::KeyPoint {
            coefficients: KeyPointCoefficients {
                read_s_per_section: known(8, base.read_s_per_section),
                scan_s_per_section: known(7, base.scan_s_per_section),
                section_segments: base.section_segments,
                case_s: std::array::from_fn(|case| known(case, base.case_s[case])),
                residual_s: Some(fit.table.residual),
            },
            key_points: Arc::clone(key_points),
        },
        outliers: fit.outliers(),
        undetermined: Undetermined::of_table(&fit.table),
        table: Some(fit.table),
        landed: None,
    })
}

/// Steps of the offset that are tried, in parts of a track.
const OFFSETS: i32 = 60;
const FURTHEST_OFFSET: f64 = 0.15;

/// Two lines, ahead of a target and behind it; the offset of the target is the one that fits best,
/// all tried with the same records: those that are no outliers without an offset.
pub(crate) fn four_region(samples: &[Sample], ground: &Ground) -> Result<Fitted, FitError> {
    let times = times(samples);
    let names = ["ahead", "ahead per track", "behind", "backwards, per track"];
    let rows = |offset: f64| -> Vec<[f64; 4]> {
        let rows = samples.iter();
        rows.map(|sample| four_region_row(sample, &ground.geometry, offset))
            .collect()
    };
    let centred = without_outliers(&names, &rows(0.0), &times)?;
    let kept = |at: &usize| centred.kept[*at];
    let kept: Vec<usize> = (0..samples.len()).filter(kept).collect();
    let times: Vec<f64> = kept.iter().map(|&at| times[at]).collect();
    let mut best: Option<(f64, Table)> = None;
    for step in -OFFSETS..=OFFSETS {
        let offset = FURTHEST_OFFSET * f64::from(step) / f64::from(OFFSETS);
        let rows = rows(offset);
        let rows: Vec<[f64; 4]> = kept.iter().map(|&at| rows[at]).collect();
        let table = least_squares(&names, &rows, &times)?;
        if best
            .as_ref()
            .is_none_or(|(_, least)| table.residual < least.residual)
        {
            best = Some((offset, table));
        }
    }
    let (offset_tracks, table) = best.ok_or(FitError::OnePlace {
        found: samples.len(),
    })?;
    let [ahead, ahead_per_track, behind, behind_per_track] =
        [0, 1, 2, 3].map(|column| table.estimate(column).max(0.0));
    Ok(Fitted {
        coefficients: Coefficients::FourRegion {
            ahead_s: [ahead, ahead_per_track],
            behind_s: [behind, behind_per_track],
            offset_tracks,
        },
        outliers: centred.outliers(),
        undetermined: Undetermined::of_table(&table),
        table: Some(table),
        landed: None,
    })
}

fn four_region_row(sample: &Sample, geometry: &Geometry, offset: f64) -> [f64; 4] {
    let along = |lpos: u32, wrap: u16| {
        let share =
            (f64::from(lpos) - f64::from(geometry.lpos_min)) / f64::from(geometry.wrap_lpos());
        if wrap & 1 == 0 { share } else { 1.0 - share }
    };
    let start = along(sample.from.lpos, sample.from.wrap) + offset;
    let turns = (sample.from.wrap ^ sample.to.wrap) & 1 == 1;
    let target = if turns { 1.0 - start } else { start };
    let ahead = along(sample.to.lpos, sample.to.wrap) - target;
    if ahead > 0.0 {
        [1.0, ahead, 0.0, 0.0]
    } else {
        [0.0, 0.0, 1.0, -ahead]
    }
}

/// The names of CERN's columns, as its annex prints them.
const CERN_COLUMNS: [&str; 7] = [
    "(Intercept)",
    "WRAPCHANGE",
    "BANDCHANGE",
    "MID_CROSS",
    "DIRCHANGE",
    "STEPBACK",
    "distance",
];

/// CERN's regression.
pub(crate) fn lto(samples: &[Sample], ground: &Ground) -> Result<Fitted, FitError> {
    let (coefficients, fit) = lto_coefficients(samples, ground)?;
    Ok(Fitted {
        coefficients: Coefficients::LtoRegression(coefficients),
        outliers: fit.outliers(),
        undetermined: Undetermined::of_table(&fit.table),
        table: Some(fit.table),
        landed: None,
    })
}

/// The coefficients of CERN's regression, and the records they rest on.
pub(crate) fn lto_coefficients(
    samples: &[Sample],
    ground: &Ground,
) -> Result<(LtoCoefficients, Kept), FitError> {
    let rows: Vec<[f64; 7]> = samples
        .iter()
        .map(|sample| cern_row(sample, &ground.geometry))
        .collect();
    let fit = without_outliers(&CERN_COLUMNS, &rows, &times(samples))?;
    let of = |column: usize| fit.table.estimate(column);
    // A few records of a kind may say that something saves time which cannot. Only crossing the
    // middle can: the model takes nothing else below zero, the table shows what was estimated.
    let cost = |column: usize| of(column).max(0.0);
    let coefficients = LtoCoefficients {
        intercept_s: cost(0),
        wrap_change_s: cost(1),
        band_change_s: cost(2),
        mid_cross_s: of(3),
        direction_change_s: cost(4),
        step_back_s: cost(5),
        per_lpos_s: cost(6),
        residual_s: fit.table.residual,
    };
    Ok((coefficients, fit))
}

fn cern_row(sample: &Sample, geometry: &Geometry) -> [f64; 7] {
    let (from, to) = (&sample.from, &sample.to);
    let same_wrap = from.wrap == to.wrap;
    let up = i64::from(to.lpos) - i64::from(from.lpos);
    let backward = if to.wrap & 1 == 0 { up < 0 } else { up > 0 };
    let far = |lpos: u32| lpos >= geometry.lpos_middle();
    [
        1.0,
        indicator(!same_wrap),
        indicator(geometry.band(from.wrap) != geometry.band(to.wrap)),
        indicator(far(from.lpos) != far(to.lpos)),
        indicator((from.wrap ^ to.wrap) & 1 == 1),
        indicator(same_wrap && backward),
        distance(sample),
    ]
}
