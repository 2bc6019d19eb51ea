//! What was simulated, drawn: how responses spread, their percentiles, and one replication in time.

use crate::colours::{BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILLION};
use crate::figure::{Drawn, Figure, NothingToDraw, TOLD_APART};
use crate::timeline::{Kind, Row, Timeline};
use std::collections::HashSet;
use tapewise_model::Micros;
use tapewise_model::units::{count, number};
use tapewise_sim::library::{Action, Part, Record};
use tapewise_sim::statistics::{Bins, ShiftedErlang, StatisticsError};
use tapewise_sim::{Logged, Scenario, Simulated, Simulation};

/// Why what was simulated cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationPictureError {
    /// A figure has nothing in it.
    #[error(transparent)]
    Figure(#[from] NothingToDraw),
    /// A percentile cannot be told.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// A replication has no responses.
    #[error("no response to draw")]
    NoResponse,
}

/// The distribution of responses of each case, the percentiles of all, and a timeline of each replication.
///
/// # Errors
/// [`SimulationPictureError`] where one cannot be made.
pub fn simulation_pictures(
    simulations: &[Simulation],
    runs: &[Logged],
) -> Result<Vec<Drawn>, SimulationPictureError> {
    let mut drawn = Vec::new();
    for simulation in simulations {
        if let Some(simulated) = simulation.steady() {
            drawn.push(distribution(&simulation.scenario, simulated)?.draw()?);
        }
    }
    drawn.extend(percentiles(simulations)?);
    for logged in runs {
        drawn.push(timeline(logged)?);
    }
    make_distinct(&mut drawn);
    Ok(drawn)
}

/// Cases whose names differ only in what a file's name does not have get numbers.
fn make_distinct(drawn: &mut [Drawn]) {
    let mut taken = HashSet::new();
    for each in drawn {
        let name = each.name.clone();
        let mut number = 1;
        while !taken.insert(each.name.clone()) {
            number += 1;
            each.name = format!("{name}-{number}");
        }
    }
}

/// A name that any file may have.
fn file_name(kind: &str, case: &str) -> String {
    let plain = |c: char| {
        if c.is_alphanumeric() || ".-_".contains(c) {
            c
        } else {
            '-'
        }
    };
    format!("{kind}-{}", case.chars().map(plain).collect::<String>())
}

/// Bins of a histogram up to the 99.5th percentile, about.
const BINS: f64 = 60.0;

/// Widths of bins, in seconds.
const WIDTHS_S: [f64; 14] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0,
];

/// How many responses are how long, beside the shifted Erlang distribution that fits best.
fn distribution(
    scenario: &Scenario,
    simulated: &Simulated,
) -> Result<Figure, SimulationPictureError> {
    let case = &scenario.name;
    let seen = &simulated.study.histogram;
    let far = seen.quantile(0.995)?;
    let far_s = far.unwrap_or(Micros::ZERO).as_secs_f64();
    let width_s = (WIDTHS_S.into_iter())
        .find(|width_s| far_s / width_s <= BINS)
        .unwrap_or(far_s / BINS);
    let bins = (far_s / width_s).ceil().max(4.0) as usize;
    let later = |bin: usize| {
        let time = Micros::from_secs_f64(bin as f64 * width_s);
        // What takes no time at all belongs to the first bin.
        let share = if bin == 0 {
            Some(1.0)
        } else {
            seen.share_above(time)
        };
        (share.unwrap_or(0.0) * seen.count() as f64).round() as u64
    };
    let counts: Vec<u64> = (0..bins).map(|bin| later(bin) - later(bin + 1)).collect();
    let percent = |some: f64| some / seen.count() as f64 * 100.0;
    let outline = counts.iter().enumerate().flat_map(|(bin, &seen)| {
        let height = percent(seen as f64);
        [bin, bin + 1].map(|edge| (edge as f64 * width_s, height))
    });
    let mut corners: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    corners.extend(outline);
    corners.push((bins as f64 * width_s, 0.0));
    let title = format!(
        "Responses of {case}: {} in bins of {} s, drawn to the 99.5th percentile",
        seen.count(),
        number(width_s)
    );
    let name = file_name("responses", case);
    let figure = Figure::new(name, title, "response, s", "responses in a bin, %")
        .area(corners.iter().copied())
        .line("simulated", corners);
    let fitted = ShiftedErlang::fit_bins(&Bins {
        first_edge_s: width_s,
        width_s,
        counts: &counts,
    });
    // Times that no such distribution can have made are drawn alone: those of disk and tape are two.
    let (Ok(fitted), None) = (fitted, &scenario.cache) else {
        return Ok(figure);
    };
    let curve = fitted.distribution;
    let inside: u64 = counts.iter().sum();
    let steps = 4 * bins;
    let places = (0..=steps).map(|step| {
        let at_s = step as f64 / 4.0 * width_s;
        let around = [at_s - width_s / 2.0, at_s + width_s / 2.0];
        let share = curve.cumulative(around[1]) - curve.cumulative(around[0]);
        (at_s, percent(share * inside as f64))
    });
    let words = format!(
        "shifted Erlang: nothing before {} s, {}, mean {} s",
        number(curve.shift_s),
        count(curve.phases as usize, "phase"),
        number(curve.mean_s)
    );
    Ok(figure.line(&words, places))
}

/// The share of responses that are not longer, by case.
fn percentiles(simulations: &[Simulation]) -> Result<Vec<Drawn>, SimulationPictureError> {
    let steady: Vec<(&str, &Simulated)> = (simulations.iter())
        .filter_map(|each| Some((each.scenario.name.as_str(), each.steady()?)))
        .collect();
    let groups = steady.chunks(TOLD_APART);
    let several = groups.len() > 1;
    let mut drawn = Vec::new();
    for (number, group) in groups.enumerate() {
        let name = if several {
            format!("percentiles-{}", number + 1)
        } else {
            "percentiles".to_owned()
        };
        let title = "Share of responses within a given time";
        let mut figure = Figure::new(name, title, "response, s", "% of responses");
        for (case, simulated) in group {
            let mut places = Vec::new();
            for permille in 1..1000u32 {
                let p = f64::from(permille) / 1000.0;
                let seen = simulated.study.histogram.quantile(p);
                if let Some(time) = seen? {
                    places.push((time.as_secs_f64(), p * 100.0));
                }
            }
            figure = figure.line(case, places);
        }
        drawn.push(figure.draw()?);
    }
    Ok(drawn)
}

const KINDS: [Kind; 8] = [
    ("get", SKY),
    ("put", GREY),
    ("load", GREEN),
    ("search", BLUE),
    ("read", VERMILLION),
    ("rewind", ORANGE),
    ("unload", PURPLE),
    ("out of order", INK),
];

fn kind(action: Action) -> usize {
    match action {
        Action::Fetch => 0,
        Action::Return => 1,
        Action::Mount => 2,
        Action::Locate => 3,
        Action::Read => 4,
        Action::Rewind => 5,
        Action::Unmount => 6,
        Action::Clean | Action::Repair => 7,
    }
}

/// Rows that still can be read; more drives than these are left out, and that is said.
const ROWS: usize = 40;

/// A timeline is so many times as long as what is done for a request on average.
const SPAN: f64 = 24.0;

/// What drives and robots of its library did around the slowest response of a replication.
fn timeline(logged: &Logged) -> Result<Drawn, SimulationPictureError> {
    let run = &logged.run;
    let slowest = run.slowest(0, 1);
    let Some(slow) = slowest.first() else {
        return Err(SimulationPictureError::NoResponse);
    };
    let done_s = run.answers.iter().map(|answer| {
        let waited = answer.parts[Part::Window] + answer.parts[Part::DriveWait];
        (answer.response - waited).as_secs_f64()
    });
    let span_s = SPAN * done_s.sum::<f64>() / run.answers.len() as f64;
    let before = Micros::from_secs_f64(0.6 * span_s);
    let from = Micros((slow.arrived - before).0.max(0));
    let until = (slow.arrived + slow.response).max(from + Micros::from_secs_f64(span_s));
    let library = &logged.scenario.libraries[usize::from(slow.library)].name;
    let name_of = |record: &Record| match record.robot {
        Some(robot) => format!("robot {robot}"),
        None => format!("drive {}", record.drive),
    };
    let records = logged.log.iter();
    let mut order: Vec<&Record> = records.filter(|r| r.library == slow.library).collect();
    order.sort_by_key(|r| (r.robot.is_none(), r.robot, r.drive, r.at));
    let mut rows: Vec<Row> = Vec::new();
    for record in order {
        let name = name_of(record);
        if rows.last().is_none_or(|row| row.name != name) {
            rows.push(Row {
                name,
                bars: Vec::new(),
            });
        }
        if let Some(row) = rows.last_mut() {
            let until = record.at + record.took;
            row.bars.push((record.at, until, kind(record.action)));
        }
    }
    let there = rows.len();
    rows.truncate(ROWS);
    let shown = if there > ROWS {
        format!(", {ROWS} of {there} drives and robots")
    } else {
        String::new()
    };
    let title = format!(
        "{}, {library}, replication {}: around the slowest response ({}, asked for at {}){shown}",
        logged.scenario.name, run.replication, slow.response, slow.arrived
    );
    let picture = Timeline {
        title: &title,
        kinds: &KINDS,
        rows: &rows,
        inside: &inside(logged, slow.library),
        from,
        until,
    };
    Ok(Drawn {
        name: file_name("timeline", &logged.scenario.name),
        svg: picture.draw(),
    })
}

/// How many requests of a library are between arrival and answer, from each time on.
fn inside(logged: &Logged, library: u16) -> Vec<(Micros, u64)> {
    let answers = logged.run.answers.iter();
    let answers = answers.filter(|answer| answer.library == library);
    let mut changes: Vec<(Micros, i64)> = answers
        .flat_map(|answer| [(answer.arrived, 1), (answer.arrived + answer.response, -1)])
        .collect();
    changes.sort_unstable();
    let mut now = 0;
    let counted = changes.into_iter().map(|(at, by)| {
        now += by;
        (at, now.max(0) as u64)
    });
    counted.collect()
}
