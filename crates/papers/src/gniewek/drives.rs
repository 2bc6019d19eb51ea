//! Drives added or removed: the same requests with more drives, and how many a rate needs.

use super::bench::{Band, Bench, Runs};
use crate::PaperError;
use crate::claims::number;
use tapewise_model::Micros;
use tapewise_plot::Table;
use tapewise_sim::queue::nested::RobotArrivals;

/// Libraries that are tried: from the paper's least to two more than its most.
const DRIVES: std::ops::RangeInclusive<u32> = 2..=8;

/// Of the mean response from the second quarter of the runs to the last, by which more than steady
/// queues differ.
const GROWTH: f64 = 1.2;

/// The paper's pairs of cases at one rate: the same requests, more drives.
pub fn added(bench: &Bench) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Drives added: the change of the mean response in seconds for the same requests, theirs and ours",
        &["from", "to", "theirs", "ours", "within", "formula"],
    );
    for (at, few) in bench.cases.iter().enumerate() {
        let more = bench.cases[at + 1..]
            .iter()
            .find(|case| case.runs.per_hour == few.runs.per_hour);
        let Some(more) = more else { continue };
        let theirs = more.theirs.measured - few.theirs.measured;
        let pairs = more.runs.means().into_iter().zip(few.runs.means());
        let changes: Vec<f64> = pairs.map(|(more, few)| more - few).collect();
        let band = Band::of(&changes);
        let formula =
            |runs: &Runs| bench.predict(runs.per_hour, runs.drives, RobotArrivals::FromDrives);
        table.row([
            few.runs.name.clone(),
            more.runs.name.clone(),
            format!("{theirs:+.1}"),
            band.to_string(),
            if band.contains(theirs) { "yes" } else { "no" }.to_owned(),
            format!(
                "{:+.1}",
                formula(&more.runs)?.response_s - formula(&few.runs)?.response_s
            ),
        ]);
    }
    table.note("ours: run by run, because both see the same arrivals; median, and what 95 of 100 lie between");
    Ok(table)
}

/// Mean and 95th percentile by rate and number of drives.
pub fn chosen(bench: &Bench) -> Result<Table, PaperError> {
    let mut columns = vec!["an hour".to_owned()];
    columns.extend(DRIVES.map(|drives| format!("{drives} drives")));
    let mut table = Table {
        title: "Mean response and 95th percentile in seconds, by requests an hour and drives: simulated".to_owned(),
        columns,
        ..Table::default()
    };
    let mut rates: Vec<&Runs> = bench.cases.iter().map(|case| &case.runs).collect();
    rates.dedup_by_key(|runs| runs.per_hour as u64);
    for rate in rates {
        let mut row = vec![number(rate.per_hour)];
        for drives in DRIVES {
            row.push(cell(bench, rate, drives)?);
        }
        table.row(row);
    }
    table.note(format!(
        "mean / 95th percentile, {} runs of 1,000 requests each; grows: the queue has not ended with the run; -: \
         more than drives that wait for the robot can do",
        bench.fewer()
    ));
    Ok(table)
}

fn cell(bench: &Bench, rate: &Runs, drives: u32) -> Result<String, PaperError> {
    // Drives that wait for the robot cannot do so much: there is no steady response.
    if bench
        .predict(rate.per_hour, drives, RobotArrivals::FromDrives)
        .is_err()
    {
        return Ok("-".to_owned());
    }
    let mut scenario = bench.scenario(&rate.name)?;
    for group in scenario
        .libraries
        .iter_mut()
        .flat_map(|library| &mut library.drives)
    {
        group.count = drives;
    }
    let runs = bench.study(scenario, bench.fewer())?;
    let means = runs.means();
    let mean_s = means.iter().sum::<f64>() / means.len() as f64;
    let p95 = runs.study.histogram.quantile(0.95)?;
    let p95_s = p95.map_or(f64::NAN, Micros::as_secs_f64);
    let quarter = |number: usize| -> f64 {
        let summaries = runs.study.summaries.iter();
        summaries
            .map(|summary| summary.quarters[number].as_secs_f64())
            .sum()
    };
    let grows = if quarter(3) > GROWTH * quarter(1) {
        ", grows"
    } else {
        ""
    };
    Ok(format!("{mean_s:.1} / {p95_s:.0}{grows}"))
}
