//! `tapewise reproduce`: the papers' tables and figures, ours beside theirs.

use crate::error::CliError;
use crate::json;
use crate::output::{self, say};
use crate::plot;
use crate::progress::{Meter, State};
use crate::quantity;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use tapewise_papers::{PaperError, Report, Study, page};

/// Compute the tables and figures of five papers again, ours beside theirs.
///
/// tapewise prints every table, then every claim of the paper with our number, how far off it is, and
/// whether it holds. Each claim has a kind: `evidence` could have failed, `fitted` was fitted to the
/// claim, `arithmetic` is recomputed from printed numbers, `report` is only shown. The exit code is 1 if
/// a claim that should hold does not.
#[derive(clap::Args, Debug)]
pub struct Reproduce {
    /// Which paper.
    paper: Paper,
    /// The paper's own number of trials: more than an hour for hillyer, a minute for cern and nersc; ten times as many
    /// runs for gniewek; johnson-miller has none.
    #[arg(long)]
    full: bool,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1, value_parser = quantity::count::<u64>)]
    seed: u64,
    /// Compute the claims with each of these seeds, from the first to the last (1..3), and show the worst and the
    /// spread. Tables and figures show the first seed.
    #[arg(long, value_name = "SEEDS", value_parser = seeds, conflicts_with = "seed")]
    seeds: Option<Seeds>,
    /// Draw the paper's figures from what was computed, as SVG files in this directory.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Write everything as one page for a browser, with its figures inside.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Paper {
    /// Hillyer & Silberschatz 1996: random I/O scheduling on the DLT4000.
    Hillyer,
    /// CERN 2018: LTO performance.
    Cern,
    /// Johnson & Miller 1998: measurements of tertiary storage.
    JohnsonMiller,
    /// NERSC 2001: a beta test of LTO, library and drive.
    Nersc,
    /// Gniewek, Davidson & Caldwell 1999: response times of a library under load.
    Gniewek,
    /// All five, one after the other.
    All,
}

impl Paper {
    fn studies(self) -> &'static [Study] {
        match self {
            Paper::Hillyer => &[Study::Hillyer],
            Paper::Cern => &[Study::Cern],
            Paper::JohnsonMiller => &[Study::JohnsonMiller],
            Paper::Nersc => &[Study::Nersc],
            Paper::Gniewek => &[Study::Gniewek],
            Paper::All => &Study::ALL,
        }
    }
}

impl From<PaperError> for CliError {
    fn from(error: PaperError) -> CliError {
        CliError::failed(error)
    }
}

/// Seeds from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seeds {
    first: u64,
    last: u64,
}

/// More seeds than this are a mistake.
const MOST_SEEDS: u64 = 1_000;

fn seeds(text: &str) -> Result<Seeds, String> {
    let form = || format!("`{text}` is not of the form 1..3");
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| text.parse::<u64>().map_err(|_| form());
    let seeds = Seeds {
        first: number(first)?,
        last: number(last)?,
    };
    match seeds.last.checked_sub(seeds.first) {
        None => Err(format!("{} comes before {}", seeds.last, seeds.first)),
        Some(more) if more >= MOST_SEEDS => Err(format!("more than {MOST_SEEDS} seeds")),
        Some(_) => Ok(seeds),
    }
}

/// Runs the verb.
pub fn run(args: &Reproduce) -> Result<ExitCode, CliError> {
    crate::threads::prepare();
    let begin = Instant::now();
    let studies = args.paper.studies();
    let meter = Meter::new();
    let step = |at: usize, what: &dyn std::fmt::Display| {
        let papers = studies.len() as u64;
        meter.show(State::counted("paper", at as u64, Some(papers)).doing(what));
    };
    let progress = |at: usize, done: &dyn std::fmt::Display| {
        step(at, done);
        if args.full {
            let seconds = begin.elapsed().as_secs_f64();
            say(format_args!("{seconds:6.0} s  {done}\n"));
        }
    };
    let one = Seeds {
        first: args.seed,
        last: args.seed,
    };
    let Seeds { first, last } = args.seeds.unwrap_or(one);
    let seeds: Vec<u64> = (first..=last).collect();
    let mut reports: Vec<Report> = Vec::new();
    for (at, study) in studies.iter().enumerate() {
        step(at, &study.name());
        reports.push(study.report(&seeds, args.full, &|done| progress(at, done))?);
    }
    step(studies.len(), &"done");
    drop(meter);
    for report in &reports {
        if let Some(directory) = &args.plot {
            // Figures of several papers have the same names.
            let directory = match reports.len() {
                1 => directory.clone(),
                _ => directory.join(report.name),
            };
            plot::write(&directory, &report.figures)?;
        }
    }
    if let Some(path) = &args.html {
        let html = page::html(&reports);
        output::write(Some(path), |out| {
            out.write_all(html.as_bytes()).map_err(CliError::failed)
        })?;
    }
    if args.json {
        json::print("reproduce", &serde_json::json!({ "papers": reports }))?;
    } else {
        let texts: Vec<String> = reports.iter().map(Report::to_string).collect();
        output::print(&texts.join("\n"))?;
    }
    Ok(if reports.iter().any(Report::failed) {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_number_or_a_range_with_both_ends() {
        let of = |first, last| Ok(Seeds { first, last });
        assert_eq!(seeds("1..3"), of(1, 3));
        assert_eq!(seeds("7"), of(7, 7));
        for wrong in ["3..1", "1..", "..", "a", "1..9999", "-1"] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }
}
