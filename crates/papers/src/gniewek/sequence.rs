//! Table 1: fifteen requests in a row, replayed with six drives and with four.

use super::bench::{Band, Bench};
use crate::PaperError;
use crate::claims::Ours;
use rayon::prelude::*;
use tapewise_model::profile;
use tapewise_plot::Table;
use tapewise_sim::library::Site;
use tapewise_sim::scenario::{Arrivals, Listed};

/// Locations on a cartridge.
const LOCATIONS: f64 = 100.0;

/// Runs of the fifteen requests from each cartridge: all that chance does here is when a drive is
/// asked whether it is ready.
const RUNS_FROM_EACH: u64 = 40;

/// Runs that are cut into fifteen requests each: 66 pieces of a run.
const WINDOWED: u64 = 100;

/// How far from a run the one is that it is held against: other cartridges, drives asked at other
/// times.
const OTHER: usize = RUNS_FROM_EACH as usize + 1;

/// Each request beside ours.
pub fn table(bench: &Bench) -> Result<Table, PaperError> {
    let theirs = &bench.facts.table_1;
    let six = replay(bench, "150-6")?;
    let four = replay(bench, "150-4")?;
    let mut table = Table::new(
        "Table 1: fifteen requests at 150 an hour, response in seconds, theirs and ours",
        &[
            "request", "location", "after s", "6 drives", "ours", "4 drives", "ours",
        ],
    );
    let printed = theirs.location.iter().zip(&theirs.interarrival_s);
    let measured = theirs.six_drives_s.iter().zip(&theirs.four_drives_s);
    for (at, ((location, gap_s), (six_s, four_s))) in printed.zip(measured).enumerate() {
        table.row([
            (at + 1).to_string(),
            format!("{location:.0}"),
            format!("{gap_s:.0}"),
            format!("{six_s:.0}"),
            Band::of(&of_request(&six, at)).to_string(),
            format!("{four_s:.0}"),
            Band::of(&of_request(&four, at)).to_string(),
        ]);
    }
    let means = |runs: &[Vec<f64>]| runs.iter().map(|run| mean(run)).collect::<Vec<_>>();
    table.row([
        "mean".to_owned(),
        String::new(),
        String::new(),
        format!("{:.1}", mean(&theirs.six_drives_s)),
        Band::of(&means(&six)).to_string(),
        format!("{:.1}", mean(&theirs.four_drives_s)),
        Band::of(&means(&four)).to_string(),
    ]);
    table.note(format!(
        "ours: median of {} runs, and what 95 of 100 lie between; the paper's excerpt begins amid a run, \
         ours with empty drives, from each of the ten cartridges",
        six.len()
    ));
    let along = |responses: &[f64]| correlation(&theirs.location, responses);
    let replayed: Vec<f64> = six.iter().map(|run| along(run)).collect();
    table.note(format!(
        "correlation of response with location: theirs {:+.2} and {:+.2}, ours {:.2} with six drives",
        along(&theirs.six_drives_s),
        along(&theirs.four_drives_s),
        Band::of(&replayed),
    ));
    let [[like_six, six_all], [like_four, four_all]] = correlations(bench)?;
    table.note(format!(
        "the same of any fifteen requests in a row of our runs: {like_six:.2} with six drives, {like_four:.2} with four; \
         of all requests of a run: {six_all:.2} and {four_all:.2}",
    ));
    let apart = theirs.six_drives_s.iter().zip(&theirs.four_drives_s);
    let ours_apart = six
        .iter()
        .zip(four.iter().cycle().skip(OTHER))
        .flat_map(|(six, four)| six.iter().zip(four));
    table.note(format!(
        "the same request with six and with four drives, median difference: theirs {:.1} s, ours {:.1} s between \
         runs that ask their drives at other times and begin at another cartridge",
        median_difference(apart),
        median_difference(ours_apart),
    ));
    Ok(table)
}

/// Of six drives and of four: what fifteen requests in a row come to, and what a whole run does.
fn correlations(bench: &Bench) -> Result<[[Band; 2]; 2], PaperError> {
    let length = bench.facts.table_1.location.len();
    let of = |case: &str| -> Result<[Band; 2], PaperError> {
        let runs = bench.case(case)?.runs.first(WINDOWED, |run| {
            let pairs = run
                .answers
                .iter()
                .map(|answer| (answer.place, answer.response.as_secs_f64()));
            let (places, responses): (Vec<f64>, Vec<f64>) = pairs.unzip();
            let windows = places
                .chunks_exact(length)
                .zip(responses.chunks_exact(length));
            let windows = windows.map(|(places, responses)| correlation(places, responses));
            (
                windows.collect::<Vec<f64>>(),
                correlation(&places, &responses),
            )
        })?;
        let (windows, whole): (Vec<Vec<f64>>, Vec<f64>) = runs.into_iter().unzip();
        Ok([Band::of(&windows.concat()), Band::of(&whole)])
    };
    Ok([of("150-6")?, of("150-4")?])
}

/// How many of the paper's two columns follow the location as any fifteen requests in a row of our runs do.
pub fn claim(bench: &Bench, ours: &mut Ours) -> Result<(), PaperError> {
    let theirs = &bench.facts.table_1;
    let [[six, _], [four, _]] = correlations(bench)?;
    let columns = [(six, &theirs.six_drives_s), (four, &theirs.four_drives_s)];
    let inside = columns
        .iter()
        .filter(|(band, column)| band.contains(correlation(&theirs.location, column)));
    let how = format!(
        "fifteen in a row: {:.2} with six drives, {:.2} with four",
        columns[0].0, columns[1].0
    );
    ours.set("location", inside.count() as f64, how);
    Ok(())
}

fn median_difference<'a>(pairs: impl Iterator<Item = (&'a f64, &'a f64)>) -> f64 {
    let differences: Vec<f64> = pairs.map(|(a, b)| (a - b).abs()).collect();
    Band::of(&differences).median()
}

/// Responses of the requests, in seconds, run by run.
fn replay(bench: &Bench, case: &str) -> Result<Vec<Vec<f64>>, PaperError> {
    let theirs = &bench.facts.table_1;
    let mut runs = Vec::new();
    let cartridges: u32 = {
        let scenario = bench.scenario(case)?;
        scenario
            .libraries
            .iter()
            .flat_map(|library| &library.cartridges)
            .map(|group| group.count)
            .sum()
    };
    for first in 0..cartridges {
        let mut scenario = bench.scenario(case)?;
        let mut at_s = 0.0;
        let requests = theirs
            .location
            .iter()
            .zip(&theirs.interarrival_s)
            .zip(first..);
        let list = requests.map(|((location, gap_s), cartridge)| {
            at_s += gap_s;
            Listed {
                at_s,
                library: 0,
                cartridge: cartridge % cartridges,
                place: (location - 0.5) / LOCATIONS,
                size_mb: 0.0,
                priority: 0,
                owner: 0,
            }
        });
        let list: Vec<Listed> = list.collect();
        scenario.requests = list.len() as u64;
        scenario.seed = bench.seed();
        scenario.arrivals = Arrivals::Trace { list };
        let site = Site::new(&scenario, profile::find)?;
        let numbers = (0..RUNS_FROM_EACH).into_par_iter();
        let made = numbers.map(|number| {
            let run = site.run(number)?;
            Ok(run
                .answers
                .iter()
                .map(|answer| answer.response.as_secs_f64())
                .collect())
        });
        runs.extend(made.collect::<Result<Vec<Vec<f64>>, PaperError>>()?);
    }
    Ok(runs)
}

fn of_request(runs: &[Vec<f64>], at: usize) -> Vec<f64> {
    runs.iter().filter_map(|run| run.get(at)).copied().collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Pearson's coefficient.
pub fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| of(a - mean_a, b - mean_b))
            .sum()
    };
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()
}
