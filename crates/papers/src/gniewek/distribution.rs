//! Response time distributions: fitted (Table 2, Figures 2 to 5), by moments (Table 5), by
//! percentiles (Figure 6).

use super::bench::{Band, Bench, Case, Runs};
use crate::PaperError;
use crate::claims::{Ours, number};
use tapewise_model::Micros;
use tapewise_plot::{Drawn, Figure, Table};
use tapewise_sim::library::Run;
use tapewise_sim::statistics::{Bins, Fitted, Histogram, ShiftedErlang};

/// Width of the paper's bins, in seconds; a bin is named by its right edge.
const BIN_S: f64 = 5.0;

/// Bins of a histogram: up to ten minutes.
const BINS: usize = 120;

/// Requests of a run, which the paper's histograms count.
const REQUESTS: f64 = 1_000.0;

/// Figures of one case each.
const FIGURES: [(&str, &str); 3] = [
    ("figure-03", "150-6"),
    ("figure-04", "50-6"),
    ("figure-05", "200-6"),
];

/// "Several of the test cases", of Figure 6; the paper's text does not name them.
const SEVERAL: [&str; 5] = ["50-6", "150-6", "150-4", "200-6", "250-6"];

/// "Cumulative percentiles ranging from 10% to 95%".
const PERCENTS: [f64; 10] = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0];

/// Tables 2 and 5, Figures 3 to 6.
pub fn tables(bench: &Bench, ours: &mut Ours) -> Result<(Vec<Table>, Vec<Drawn>), PaperError> {
    let mut figures = Vec::new();
    for (name, case) in FIGURES {
        figures.push(histogram(name, bench.case(case)?)?);
    }
    claim_variances(bench, ours);
    let (percentiles, figure_6) = percentiles(bench)?;
    figures.push(figure_6);
    let tables = vec![
        fits(bench, ours)?,
        bar(bench)?,
        moments(bench)?,
        percentiles,
    ];
    Ok((tables, figures))
}

/// Runs of each case that are fitted one by one: a fit takes some milliseconds.
const FITTED: u64 = 100;

/// Table 2: the shifted Erlang distribution that fits best.
fn fits(bench: &Bench, ours: &mut Ours) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Table 2: shifted Erlang by least squares over bins of 5 s: theirs, ours of one run (95 of 100), and of all",
        &[
            "case",
            "F",
            "ours",
            "k",
            "ours",
            "FM",
            "ours",
            "inside",
            "all runs F",
            "k",
            "FM",
            "misses",
            "theirs misses",
        ],
    );
    let mut inside_of_all = 0;
    for case in &bench.cases {
        let theirs = case.theirs;
        let found = case.runs.first(FITTED, |run| fit(&counts(run)))?;
        let found = found
            .into_iter()
            .collect::<Result<Vec<Fitted>, PaperError>>()?;
        let band = |of: &dyn Fn(&ShiftedErlang) -> f64| {
            let values: Vec<f64> = found.iter().map(|fit| of(&fit.distribution)).collect();
            Band::of(&values)
        };
        let shift = band(&|fit| fit.shift_s);
        let phases = band(&|fit| f64::from(fit.phases));
        let mean = band(&|fit| fit.mean_s);
        let inside = u32::from(shift.contains_rounded(theirs.shift))
            + u32::from(phases.contains(f64::from(theirs.phases)))
            + u32::from(mean.contains_rounded(theirs.fitted_mean));
        inside_of_all += inside;
        let all = counts_of_all(&case.runs);
        let together = fit(&all)?;
        let ShiftedErlang {
            shift_s,
            phases: k,
            mean_s,
        } = together.distribution;
        table.row([
            case.runs.name.clone(),
            theirs.shift.to_string(),
            shift.to_string(),
            theirs.phases.to_string(),
            format!("{phases:.0}"),
            theirs.fitted_mean.to_string(),
            mean.to_string(),
            format!("{inside} of 3"),
            format!("{shift_s:.1}"),
            k.to_string(),
            format!("{mean_s:.1}"),
            format!("{:.1}", together.residual),
            format!("{:.1}", misses(&all, &their_fit(case)?)),
        ]);
    }
    let how = format!("{FITTED} runs of each case fitted one by one");
    ours.set("erlang-fits", f64::from(inside_of_all), how);
    table.note(format!(
        "{inside_of_all} of their 27 values are what 95 of 100 of our runs have; F and FM are printed in whole seconds"
    ));
    table.note(
        "misses: root mean square over the bins, in requests of 1,000; theirs misses: the paper's distribution \
         on all our runs. Quite different F and k miss by nearly the same, as the paper remarks",
    );
    Ok(table)
}

/// The one bar that the paper's text names.
fn bar(bench: &Bench) -> Result<Table, PaperError> {
    let theirs = &bench.facts.figure_4;
    let (_, case) = FIGURES[1];
    let at = (theirs.right_edge_s / BIN_S) as usize - 1;
    let found = bench.case(case)?.runs.each(|run| counts(run)[at] as f64)?;
    let mut table = Table::new(
        "Figure 4: the bar that the text names",
        &["case", "responses, s", "theirs", "ours"],
    );
    table.row([
        case.to_owned(),
        format!(
            "{:.0}-{:.0}",
            theirs.right_edge_s - BIN_S,
            theirs.right_edge_s
        ),
        theirs.retrievals.to_string(),
        Band::of(&found).to_string(),
    ]);
    Ok(table)
}

/// Table 5: mean, median and variance.
fn moments(bench: &Bench) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Table 5: responses in seconds, theirs and one run of ours (median, and what 95 of 100 lie between)",
        &[
            "case", "mean", "ours", "median", "ours", "variance", "ours", "inside",
        ],
    );
    for case in &bench.cases {
        let theirs = case.theirs;
        let median = |summary: &tapewise_sim::Summary| {
            let at = tapewise_sim::PERCENTILES
                .iter()
                .position(|&percent| percent == 50);
            at.map_or(f64::NAN, |at| summary.percentiles[at].as_secs_f64())
        };
        let medians: Vec<f64> = case.runs.study.summaries.iter().map(median).collect();
        let bands =
            [case.runs.means(), medians, case.runs.variances()].map(|values| Band::of(&values));
        let printed = [theirs.measured, theirs.median, theirs.variance];
        let [mean, median, variance] = &bands;
        let inside = u32::from(mean.contains(theirs.measured))
            + u32::from(median.contains_rounded(theirs.median))
            + u32::from(variance.contains(theirs.variance));
        let mut row = vec![case.runs.name.clone()];
        for (band, value) in bands.iter().zip(printed) {
            row.extend([value.to_string(), band.to_string()]);
        }
        row.push(format!("{inside} of 3"));
        table.row(row);
    }
    table.note("their medians are whole seconds: half a second outside counts as inside");
    Ok(table)
}

/// In how many cases the variance that was measured is one that 95 of 100 of our runs have.
fn claim_variances(bench: &Bench, ours: &mut Ours) {
    let is_inside = |case: &&Case| Band::of(&case.runs.variances()).contains(case.theirs.variance);
    let (inside, outside): (Vec<&Case>, Vec<&Case>) = bench.cases.iter().partition(is_inside);
    let names: Vec<&str> = outside.iter().map(|case| case.runs.name.as_str()).collect();
    let outside = match names.as_slice() {
        [] => "all inside".to_owned(),
        names => format!("outside: {}", names.join(", ")),
    };
    ours.set("variances", inside.len() as f64, outside);
}

/// Figure 6: the times in which so many per cent are answered.
fn percentiles(bench: &Bench) -> Result<(Table, Drawn), PaperError> {
    let mut columns = vec!["case".to_owned()];
    columns.extend(PERCENTS.map(|percent| format!("{percent:.0} %")));
    let mut table = Table {
        title: "Figure 6: seconds in which so many per cent are answered, all our runs; below each case, by \
                the paper's fit (Table 2)"
            .to_owned(),
        columns,
        ..Table::default()
    };
    let mut figure = Figure::new(
        "figure-06",
        "Response by percentile, simulated, beside the paper's fits and medians",
        "% of the requests",
        "response, s",
    );
    let mut medians = Vec::new();
    for (at, name) in SEVERAL.into_iter().enumerate() {
        let case = bench.case(name)?;
        let theirs = their_fit(case)?;
        let mut places = [Vec::new(), Vec::new()];
        for percent in PERCENTS {
            let ours = case.runs.study.histogram.quantile(percent / 100.0)?;
            places[0].push((percent, ours.map_or(f64::NAN, Micros::as_secs_f64)));
            places[1].push((percent, theirs.quantile_s(percent / 100.0)?));
        }
        for (name, places) in [
            (name.to_owned(), &places[0]),
            (format!("{name} fit"), &places[1]),
        ] {
            let mut row = vec![name];
            row.extend(places.iter().map(|(_, s)| number(*s)));
            table.row(row);
        }
        let [ours, fitted] = places;
        medians.push((50.0, case.theirs.median));
        figure = figure
            .guide(if at == 0 { "their fits" } else { "" }, fitted)
            .line(name, ours);
    }
    Ok((table, figure.dots("their medians", medians).draw()?))
}

/// A histogram of one case with its fits.
fn histogram(name: &str, case: &Case) -> Result<Drawn, PaperError> {
    let one = counts(&case.runs.run(0)?);
    let all = counts_of_all(&case.runs);
    let fitted = fit(&all)?.distribution;
    let title = format!("Case {}: responses of 1,000 requests", case.runs.name);
    let figure = Figure::new(name, title, "response, s (bins of 5 s)", "requests")
        .guide("their fit", per_thousand(&their_fit(case)?))
        .line("one run", steps(&one))
        .line("mean of all runs", steps(&all))
        .line("our fit of all", per_thousand(&fitted));
    Ok(figure.draw()?)
}

fn their_fit(case: &Case) -> Result<ShiftedErlang, PaperError> {
    let theirs = case.theirs;
    ShiftedErlang::new(theirs.shift, theirs.phases, theirs.fitted_mean).map_err(PaperError::from)
}

/// Requests of a run by bin.
fn counts(run: &Run) -> Vec<u64> {
    let mut counts = vec![0; BINS];
    for answer in &run.answers {
        let bin = (answer.response.as_secs_f64() / BIN_S).ceil() as usize;
        counts[bin.clamp(1, BINS) - 1] += 1;
    }
    counts
}

/// Requests of all runs of a case by bin, for each thousand.
pub fn counts_of_all(runs: &Runs) -> Vec<u64> {
    let histogram = &runs.study.histogram;
    let above = |edge: usize| above(histogram, edge as f64 * BIN_S);
    (1..=BINS)
        .map(|bin| ((above(bin - 1) - above(bin)) * REQUESTS).round() as u64)
        .collect()
}

fn above(histogram: &Histogram, time_s: f64) -> f64 {
    histogram
        .share_above(Micros::from_secs_f64(time_s))
        .unwrap_or_default()
}

fn fit(counts: &[u64]) -> Result<Fitted, PaperError> {
    let counts = filled(counts);
    ShiftedErlang::fit_bins(&Bins {
        first_edge_s: BIN_S,
        width_s: BIN_S,
        counts,
    })
    .map_err(PaperError::from)
}

/// Root mean square of count less expected count.
fn misses(counts: &[u64], distribution: &ShiftedErlang) -> f64 {
    let counts = filled(counts);
    let total = counts.iter().sum::<u64>() as f64;
    let expected = |bin: usize| {
        let [below, up_to] = [bin as f64 * BIN_S, (bin + 1) as f64 * BIN_S];
        total * (distribution.cumulative(up_to) - distribution.cumulative(below))
    };
    let squares = counts
        .iter()
        .enumerate()
        .map(|(bin, &count)| (count as f64 - expected(bin)).powi(2));
    (squares.sum::<f64>() / counts.len() as f64).sqrt()
}

/// Bins up to the last that is not empty.
fn filled(counts: &[u64]) -> &[u64] {
    let last = counts.iter().rposition(|&count| count > 0);
    &counts[..last.map_or(0, |last| last + 1)]
}

/// The outline of a histogram.
pub fn steps(counts: &[u64]) -> Vec<(f64, f64)> {
    let counts = filled(counts);
    let edges = counts.iter().enumerate().flat_map(|(bin, &count)| {
        let left_s = bin as f64 * BIN_S;
        [(left_s, count as f64), (left_s + BIN_S, count as f64)]
    });
    let end_s = counts.len() as f64 * BIN_S;
    edges.chain([(end_s, 0.0)]).collect()
}

/// The requests of 1,000 that a distribution expects in a bin around each time.
pub fn per_thousand(distribution: &ShiftedErlang) -> Vec<(f64, f64)> {
    const UP_TO_S: u32 = 120;
    let times = (0..=2 * UP_TO_S).map(|half| f64::from(half) / 2.0);
    times
        .map(|time_s| (time_s, REQUESTS * BIN_S * distribution.density(time_s)))
        .collect()
}
