//! `tapewise library bench`: Gniewek's benchmark, from its cartridges to its tables.

mod pattern;
mod prepare;
mod report;
mod run;

use crate::error::{CliError, Exit};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use tapewise_formats::bench_csv::{self, Retrieval, Stocked};

/// Measure how soon a library answers random retrievals, and how the answers are spread.
///
/// Requests arrive at random times. Each one takes a mount: fetch, load, locate, read. Then the drive
/// rewinds and unloads, and the cartridge goes back (Gniewek, Davidson & Caldwell 1999). `prepare` fills
/// cartridges with objects, `pattern` draws the requests, `run` carries them out and writes an event
/// log, and `report` reads the log.
#[derive(clap::Args, Debug)]
pub struct Bench {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Prepare(prepare::Prepare),
    Pattern(pattern::Pattern),
    Run(run::Run),
    Report(report::Report),
}

/// Runs the verb.
pub fn run(args: &Bench) -> Result<(), CliError> {
    match &args.action {
        Action::Prepare(args) => prepare::run(args),
        Action::Pattern(args) => pattern::run(args),
        Action::Run(args) => run::run(args),
        Action::Report(args) => report::run(args),
    }
}

/// An error that names a file.
fn at(path: &Path, error: &dyn std::fmt::Display) -> CliError {
    CliError::failed(format!("{}: {error}", path.display()))
}

fn open(path: &Path) -> Result<BufReader<File>, CliError> {
    let file = File::open(path).map_err(|error| CliError::input(error).of(path.display()))?;
    Ok(BufReader::new(file))
}

fn read_pattern(path: &Path) -> Result<Vec<Retrieval>, CliError> {
    let read = bench_csv::read_pattern(open(path)?);
    read.map_err(|error| CliError::input(error).of(path.display()))
}

fn read_stocked(path: &Path) -> Result<Vec<Stocked>, CliError> {
    let read = bench_csv::read_stocked(open(path)?);
    read.map_err(|error| CliError::input(error).of(path.display()))
}

/// A new file: what hours of a library's time went into is not written over.
fn create_new(path: &Path) -> Result<BufWriter<File>, CliError> {
    match File::create_new(path) {
        Ok(file) => Ok(BufWriter::new(file)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let what = format!("{} is there already", path.display());
            Err(CliError::with(Exit::Refused, what).hint("name another file, or remove it"))
        }
        Err(error) => Err(at(path, &error)),
    }
}
