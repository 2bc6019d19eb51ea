//! `tapewise fit`: a log of locates to a profile that predicts them.

pub mod log_kind;
mod maps;
mod maps_report;
pub mod pictures;
mod profile;
mod records;
mod report;

use crate::error::CliError;
use crate::output::{self, say};
use crate::profiles;
use log_kind::LogFormat;
use maps::Maps;
use records::Records;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_fit::{Comparison, Ground, compare};
use tapewise_model::{Geometry, Profile};

/// Fit a drive's locate times from its log, and write a profile.
///
/// LOG is an event log of tapewise, or CSV with the columns from_wrap, from_lpos, to_wrap, to_lpos
/// and locate_us (locate_ms, locate_s), one line for each locate: where the last read ended, where
/// the next one began. 500 records make a good fit. Several models are fitted and judged on records
/// they were not fitted to, whole cartridges where there are five (column `volume`); the simplest
/// that is within 2 % of the best goes into the profile. `tapewise order --profile FILE` uses it.
///
/// Logs without positions do as well: that of CTA's tape daemon, or CSV with the columns volume,
/// from_block, to_block and locate_us. Where the blocks lie on each cartridge is then found together
/// with what a move costs, from 40 moves a volume on; 100 make a good map.
#[derive(clap::Args, Debug)]
pub struct Fit {
    /// Logs of any kind; `-` is standard input.
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// The profile of such drives: geometry, rates and all else that is not fitted.
    #[arg(long, value_name = "PROFILE")]
    base: String,
    /// What the logs are.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,
    /// Bytes that a block takes on the tape, for CSV with block numbers; CTA's format fixes its own.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    block_size: Option<u64>,
    /// Where to write the fitted profile; its name is that of the file.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the maps found from a log with block numbers as VOLUME.csv, as `order --map` reads them.
    #[arg(long, value_name = "DIR")]
    maps: Option<PathBuf>,
    /// Draw expected against observed times, the breakdown over distance, crossing mid-tape, and
    /// the beginning of tape to reverse wraps, as SVG files.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Fit) -> Result<ExitCode, CliError> {
    let records = records::read(&args.logs, args.log_format)?;
    for notice in &records.notices {
        say(format_args!("{notice}\n"));
    }
    let fitted = carry_out(args, records)?;
    let (records, comparison) = (&fitted.records, &fitted.comparison);
    let maps = fitted.maps.as_ref();
    if let (Some(directory), Some(maps)) = (&args.maps, maps) {
        maps.write(directory, &fitted.geometry)?;
    }
    if let Some(directory) = &args.plot {
        pictures::draw(directory, &records.samples, &fitted.geometry, comparison)?;
    }
    let text = match args.json {
        true => report::json(records, maps, comparison)?,
        false => {
            let maps = maps.map(maps_report::text).unwrap_or_default();
            maps + &report::text(records, comparison, args.out.as_deref())
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What came of a fit.
pub struct Outcome {
    records: Records,
    geometry: Geometry,
    maps: Option<Maps>,
    /// The models, judged on records they were not fitted to.
    pub comparison: Comparison,
}

impl Outcome {
    /// Records that were fitted.
    pub fn locates(&self) -> usize {
        self.records.samples.len()
    }
}

/// Fits logs over a base profile, and writes the fitted profile where it is wanted.
pub fn fit(logs: &[PathBuf], base: &str, out: Option<&Path>) -> Result<Outcome, CliError> {
    let args = Fit {
        logs: logs.to_vec(),
        base: base.to_owned(),
        log_format: LogFormat::Auto,
        block_size: None,
        out: out.map(Path::to_owned),
        maps: None,
        plot: None,
        json: false,
    };
    let records = records::read(logs, args.log_format)?;
    carry_out(&args, records)
}

/// Finds maps where they are not known, fits, and writes the profile.
fn carry_out(args: &Fit, mut records: Records) -> Result<Outcome, CliError> {
    let source = profiles::source(&args.base)?;
    let drive = profiles::load_drive(&args.base)?;
    let ground = ground(&drive)?;
    let maps = place(args, &mut records, &drive, &ground)?;
    let comparison =
        compare(&records.samples, &ground).map_err(|error| refused(&error, &records))?;
    if let Some(path) = &args.out {
        let text = profile::text(&source, &records, &comparison, path)?;
        output::write(Some(path), |out| {
            out.write_all(text.as_bytes()).map_err(CliError::failed)
        })?;
    }
    Ok(Outcome {
        records,
        geometry: ground.geometry,
        maps,
        comparison,
    })
}

/// What the profile knows of the tape.
fn ground(drive: &Profile) -> Result<Ground, CliError> {
    let geometry = drive.geometry()?;
    let rate = drive.transfer.rate_mb_s.as_ref().map(|rate| rate.value);
    let wrap_gb = drive.cartridge.wrap_gb.as_ref().map(|wrap| wrap.value);
    Ok(Ground {
        read_per_lpos_s: rate
            .zip(wrap_gb)
            .map(|(rate, gb)| gb * 1e3 / rate / f64::from(geometry.wrap_lpos())),
        geometry,
    })
}

/// Finds the maps of volumes that are known by block numbers only, and places their moves.
fn place(
    args: &Fit,
    records: &mut Records,
    drive: &Profile,
    ground: &Ground,
) -> Result<Option<Maps>, CliError> {
    if records.moves.is_empty() {
        let unused = [
            ("--maps", args.maps.is_some()),
            ("--block-size", args.block_size.is_some()),
        ];
        return match unused.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(CliError::input(format!(
                "{option} is for logs with block numbers; these have positions"
            ))),
            None => Ok(None),
        };
    }
    let block_bytes = maps::block_bytes(records, args.block_size)?;
    let maps = Maps::find(records.volumes(), drive, ground, block_bytes)?;
    records.samples = maps.samples(&ground.geometry);
    Ok(Some(maps))
}

/// An error that names a record by its file and line.
fn refused(error: &tapewise_fit::FitError, records: &Records) -> CliError {
    use tapewise_fit::FitError;
    if !records.moves.is_empty() {
        return CliError::input(error).hint(
            "only moves on volumes that could be placed count; give the logs of a longer time",
        );
    }
    let index = match error {
        FitError::Negative { index, .. } | FitError::NoSuchWrap { index, .. } => Some(index - 1),
        _ => None,
    };
    let at = index.and_then(|index| records.origins.get(index));
    match at {
        Some(origin) => CliError::input(error).of(origin),
        None => CliError::input(error),
    }
    .hint("is --base the profile of this drive and cartridge? docs/how-to/fit-a-profile.md says what a log needs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use tapewise_model::{Position, PositionSource, Random, profile};

    /// A log as CSV of moves that LTO-8 makes in the time of its profile's regression, give or take
    /// a quarter of a second.
    fn log(records: usize) -> String {
        let model = profile::find("lto8").unwrap().locate_model(None).unwrap();
        let mut random = Random::new(2, 0);
        let mut text = "from_wrap,from_lpos,to_wrap,to_lpos,locate_s\n".to_owned();
        for record in 0..records {
            let [from, to] = [0, 1].map(|end| Position {
                partition: 0,
                // Every fifth move stays on its wrap.
                wrap: if end == 1 && record % 5 == 0 {
                    40
                } else {
                    random.below(208) as u16
                },
                lpos: 2_696 + random.below(168_402) as u32,
                source: PositionSource::Recorded,
                error_lpos: 0,
            });
            let from = if record % 5 == 0 {
                Position { wrap: 40, ..from }
            } else {
                from
            };
            let time_s = model.locate(&from, &to).as_secs_f64() + 0.25 * random.normal();
            let time_s = time_s.max(0.0);
            let (a, b, c, d) = (from.wrap, from.lpos, to.wrap, to.lpos);
            writeln!(text, "{a},{b},{c},{d},{time_s:.6}").unwrap();
        }
        text
    }

    fn args(directory: &std::path::Path, text: &str) -> Fit {
        let path = directory.join("log.csv");
        std::fs::write(&path, text).unwrap();
        Fit {
            logs: vec![path],
            base: "lto8".to_owned(),
            out: Some(directory.join("mine.toml")),
            log_format: LogFormat::Auto,
            block_size: None,
            maps: None,
            plot: Some(directory.join("pictures")),
            json: true,
        }
    }

    #[test]
    fn a_log_becomes_a_profile_that_predicts_it_and_says_where_it_comes_from() {
        let directory = tempfile::tempdir().unwrap();
        let args = args(directory.path(), &log(150));
        run(&args).unwrap();
        let text = std::fs::read_to_string(directory.path().join("mine.toml")).unwrap();
        let fitted = Profile::from_toml("mine.toml", &text).unwrap();
        assert_eq!(fitted.name, "mine");
        assert!(fitted.sources["LOG"].ends_with("log.csv"));
        assert!(
            fitted.summary.contains("fitted to 150 locates"),
            "{}",
            fitted.summary
        );
        let found = fitted
            .lto_coefficients()
            .expect("the simpler model for its own data");
        assert!((found.step_back_s - 11.3157622).abs() < 0.3, "{found:?}");
        // A profile that was fitted can be the base of another fit.
        let again = Fit {
            base: args.out.clone().unwrap().display().to_string(),
            ..args
        };
        run(&again).unwrap();
        assert!(
            directory
                .path()
                .join("pictures/expected-observed.svg")
                .is_file()
        );
    }

    #[test]
    fn what_cannot_be_fitted_names_file_and_line() {
        let directory = tempfile::tempdir().unwrap();
        let error = |text: &str| format!("{:?}", run(&args(directory.path(), text)).unwrap_err());
        assert!(error(&log(60)).contains("60 locates are too few"));
        let beyond = log(120).replacen("\n40,", "\n999,", 1);
        assert!(
            error(&beyond).contains("log.csv, line 2: "),
            "{}",
            error(&beyond)
        );
        assert!(error("a,b\n1,2\n").contains("no column from_wrap, from_lpos"));
    }
}
