//! `tapewise reproduce`: the papers' tables and figures, ours beside theirs.

use crate::error::CliError;
use crate::output::{self, say};
use crate::plot;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use tapewise_papers::{PaperError, Study};

/// Compute the tables and figures of a paper again, ours beside theirs.
///
/// Prints every table, then every claim of the paper with our number, how far off it is and
/// whether it holds. Ends with status 1 when a claim that is to hold does not.
#[derive(clap::Args, Debug)]
pub struct Reproduce {
    /// Which paper.
    paper: Paper,
    /// The paper's own number of trials: more than an hour for hillyer, a minute for cern and nersc; ten times as many runs for gniewek; johnson-miller has none.
    #[arg(long)]
    full: bool,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw the paper's figures from what was computed, as SVG files in this directory.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
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
}

impl Paper {
    fn study(self) -> Study {
        match self {
            Paper::Hillyer => Study::Hillyer,
            Paper::Cern => Study::Cern,
            Paper::JohnsonMiller => Study::JohnsonMiller,
            Paper::Nersc => Study::Nersc,
            Paper::Gniewek => Study::Gniewek,
        }
    }
}

impl From<PaperError> for CliError {
    fn from(error: PaperError) -> CliError {
        CliError::failed(error)
    }
}

/// Runs the verb.
pub fn run(args: &Reproduce) -> Result<ExitCode, CliError> {
    let begin = Instant::now();
    let progress = |done: &dyn std::fmt::Display| {
        if args.full {
            let seconds = begin.elapsed().as_secs_f64();
            say(format_args!("{seconds:6.0} s  {done}\n"));
        }
    };
    let report = args.paper.study().report(args.seed, args.full, &progress)?;
    if let Some(directory) = &args.plot {
        plot::write(directory, &report.figures)?;
    }
    let mut text = String::new();
    if args.json {
        text = serde_json::to_string_pretty(&report).map_err(CliError::failed)?;
        text.push('\n');
    } else {
        text.push_str(&format!("{}\nseed {}\n\n", report.paper, report.seed));
        for table in report.tables.iter().chain([&report.claim_table()]) {
            text.push_str(&format!("{table}\n"));
        }
    }
    output::write(None, |out| {
        out.write_all(text.as_bytes()).map_err(CliError::failed)
    })?;
    Ok(if report.failed() {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}
