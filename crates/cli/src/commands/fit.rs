//! `tapewise fit`: a log of locates to a profile that predicts them.

mod key_points;
pub mod log_kind;
mod maps;
mod maps_report;
pub mod pictures;
mod records;
mod report;

use crate::error::{CliError, Exit};
use crate::json;
use crate::output::{self, say};
use crate::profiles;
use crate::progress;
use crate::quantity;
use crate::units;
use key_points::Learned;
use log_kind::LogFormat;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_fit::blind::BlindError;
use tapewise_fit::log::Records;
use tapewise_fit::{
    FitError, FitOptions, FitRefusal, Outcome, Places, Trust, document, fit_records, fitted_profile,
};
use tapewise_formats::map_file::{MapFile, read_map};
use tapewise_model::Profile;

/// Fit a profile to the log of a drive.
///
/// LOG is an event log of tapewise, or CSV with the columns from_wrap, from_lpos, to_wrap, to_lpos and
/// locate_us (or locate_ms, locate_s). Each line is one locate: where the last read ended, where the
/// next one began, and how long it took. 500 records make a good fit. tapewise fits several models and
/// judges them on records they were not fitted to (on whole cartridges if there are at least five in
/// the column `volume`). The simplest model within 2 % of the best goes into the profile, which
/// `tapewise order --profile FILE` uses.
///
/// Some logs have only block numbers: event logs of drives that do not report positions, logs of CTA's
/// tape daemon, and CSV with the columns volume, from_block, to_block and locate_us. Then the profile's
/// geometry, its key points or --map place the blocks, or tapewise finds from the times where the blocks
/// lie on each cartridge. This takes at least 40 moves on a volume; 100 make a good map. The report names
/// the way that was used.
///
/// If the best model explains less than half of the differences between the times of moves it was not
/// fitted to, tapewise writes no profile and the exit code is 3.
#[derive(clap::Args, Debug)]
pub struct Fit {
    /// Logs of any kind; `-` is standard input.
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// The profile to begin with: geometry, rates and everything else that is not fitted.
    #[arg(long, value_name = "PROFILE")]
    base: String,
    /// What the logs are.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,
    /// Bytes that a block takes on the tape, for CSV with block numbers; CTA's format fixes its own,
    /// and event logs tell it.
    #[arg(long, value_name = "BYTES", value_parser = quantity::size_in::<u64>(1..=u64::MAX))]
    block_size: Option<u64>,
    /// For an event log with block numbers: the map of its cartridge, as `measure --map` writes it (key points or a
    /// table of wrap ends). If `measure` found key points, its log has them already.
    #[arg(long, value_name = "MAP")]
    map: Option<PathBuf>,
    /// Where to write the fitted profile; its name is that of the file.
    #[arg(short, long, alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
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
    crate::threads::prepare();
    let inputs = args.logs.iter().chain(&args.map).map(PathBuf::as_path);
    output::refuse_clashes([("--output", args.output.as_deref())], inputs)?;
    let read = || records::read(&args.logs, args.log_format);
    let (records, notices) = progress::during("read the logs", None, read)?;
    for notice in &notices {
        say(format_args!("{notice}\n"));
    }
    if args.maps.is_some() && !records.samples.is_empty() {
        let why = "--maps is for logs with block numbers; these have positions";
        return Err(CliError::input(why));
    }
    let mut text = String::new();
    let answered = answer(args, records, &mut text);
    if !text.is_empty() {
        output::print(&text)?;
    }
    answered.map(|()| ExitCode::SUCCESS)
}

/// Fits records, and writes all files that were asked for. The text that is printed is there also if the fit is refused.
fn answer(args: &Fit, records: Records, text: &mut String) -> Result<(), CliError> {
    let (found, learned) = carry_out(args, records)?;
    match (&args.maps, &learned, &found.maps) {
        (None, ..) => {}
        (Some(directory), Some(learned), _) => learned.write(directory)?,
        (Some(directory), _, Some(maps)) => {
            maps::write(maps, directory, &found.ground.geometry)?;
        }
        (Some(_), None, None) => {
            return Err(CliError::input(
                "--maps: no maps were found from times, because the moves could be placed without them",
            ));
        }
    }
    let (samples, comparison) = (&found.records.samples, &found.comparison);
    if let Some(directory) = &args.plot {
        pictures::draw(directory, samples, &found.ground.geometry, comparison)?;
    }
    *text += &if args.json {
        json::text("fit", &document(&found))?
    } else {
        let maps = found.maps.as_ref().map(maps_report::text);
        maps.unwrap_or_default() + &report::text(&found)
    };
    refuse_hopeless(&found)?;
    if let Some(path) = &args.output {
        write(args, &found, path)?;
        if !args.json {
            *text += &report::written(path);
        }
    }
    Ok(())
}

/// Fits logs over a base profile, and writes the fitted profile if a path is given.
pub fn fit(logs: &[PathBuf], base: &str, output: Option<&Path>) -> Result<Outcome, CliError> {
    let args = Fit {
        logs: logs.to_vec(),
        base: base.to_owned(),
        log_format: LogFormat::Auto,
        block_size: None,
        map: None,
        output: output.map(Path::to_owned),
        maps: None,
        plot: None,
        json: false,
    };
    let (records, _) = records::read(logs, args.log_format)?;
    let (found, _) = carry_out(&args, records)?;
    refuse_hopeless(&found)?;
    if let Some(path) = output {
        write(&args, &found, path)?;
    }
    Ok(found)
}

/// Places the moves and fits them; what was learned of key points on the way.
fn carry_out(args: &Fit, mut records: Records) -> Result<(Outcome, Option<Learned>), CliError> {
    let drive = profiles::load_drive(&args.base)?;
    let mut map = match &args.map {
        Some(path) => Some(map(path)?),
        None if records.block_locates.is_empty() => None,
        None => key_points::in_log(&args.logs, &drive)?,
    };
    let mut learned = None;
    if map.is_none() {
        let learn = || Learned::of(&records, &drive, args.block_size);
        learned = progress::during("learn the key points", None, learn);
        map = learned.as_ref().map(|learned| learned.map(&mut records));
    }
    let options = FitOptions {
        block_bytes: args.block_size,
        map: map.as_ref(),
    };
    let by_blocks = !records.moves.is_empty();
    let origins = records.origins.clone();
    let found = progress::during("fit the models", None, || {
        fit_records(records, &drive, options)
    });
    let found = found.map_err(|error| refused(&error, &origins, by_blocks))?;
    Ok((found, learned))
}

fn map(path: &Path) -> Result<MapFile, CliError> {
    let bytes = crate::batch::read_bytes(path)?;
    read_map(&bytes[..]).map_err(|error| CliError::input(error).of(path.display()))
}

/// A fit that predicts nothing makes no profile.
fn refuse_hopeless(found: &Outcome) -> Result<(), CliError> {
    let choice = found.comparison.choice();
    let hint = match found.places {
        Places::NominalKeyPoints => {
            "give the key points of the cartridge with --map; `tapewise measure --map FILE` writes them"
        }
        _ => {
            "is --base the profile of this drive and cartridge, and are the positions those of the moves?"
        }
    };
    let times = || found.records.samples.iter().map(|sample| sample.time);
    match found.comparison.trust() {
        Trust::Good | Trust::Rough => Ok(()),
        Trust::None if times().min() == times().max() => Err(CliError::with(
            Exit::Refused,
            format!(
                "no profile is made: all {} took the same time, {:.1} s, so the log does not tell how times depend on \
                 places",
                units::count(times().len(), "locate"),
                times().next().unwrap_or_default().as_secs_f64(),
            ),
        )
        .hint("are the values in the log's column of times those that the drive took?")),
        Trust::None => Err(CliError::with(
            Exit::Refused,
            format!(
                "no profile is made: the best model ({}) is off by {:.1} s on moves it was not fitted to, and explains \
                 {:.0} % of the differences between their times; at least 50 % are needed",
                choice.candidate.name(),
                choice.overall.bulk_s,
                100.0 * choice.overall.bulk_r_squared.max(0.0),
            ),
        )
        .hint(hint)),
    }
}

/// Writes the fitted profile over the text of its base, and reads it back first.
fn write(args: &Fit, found: &Outcome, path: &Path) -> Result<(), CliError> {
    let source = profiles::source(&args.base)?;
    let base = profiles::load_drive(&args.base)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy());
    let name = name.unwrap_or_else(|| "fitted".into());
    let text = fitted_profile(&base, found, &name).to_toml(&source.text)?;
    Profile::from_toml(&path.display().to_string(), &text)?.locate_model(None)?;
    output::write(Some(path), |out| {
        out.write_all(text.as_bytes()).map_err(CliError::failed)
    })
}

/// Why nothing was fitted, with what helps; an error of one record names its file and line.
fn refused(error: &FitRefusal, origins: &[String], by_blocks: bool) -> CliError {
    let hint = match error {
        FitRefusal::Maps(BlindError::TooFewMoves { .. }) => {
            "give the logs of a longer time: 40 moves on one volume are the least, 100 make a good map"
        }
        FitRefusal::Maps(BlindError::Ambiguous { .. }) => {
            "are the times those of the locates, and --base and --block-size those of the tapes? More moves on each volume help"
        }
        FitRefusal::Maps(_) => {
            "is --base the profile of this drive and cartridge, and --block-size what a block takes on the tape?"
        }
        FitRefusal::Fit(FitError::TooFew { .. }) => {
            "give more logs, or the log of a longer time; `tapewise measure --for-fit` makes one"
        }
        FitRefusal::Fit(_) if by_blocks => {
            "only moves on volumes that could be placed count; give the logs of a longer time"
        }
        FitRefusal::Fit(_) => {
            "is --base the profile of this drive and cartridge? `tapewise help fit-a-profile` says what a log needs"
        }
        FitRefusal::NoBlockSize => {
            "add --block-size BYTES: what a block takes on the tape, after compression"
        }
        FitRefusal::OtherTape { .. } => "give the profile of this drive and cartridge with --base",
        FitRefusal::BlockSizeUnused => "leave out --block-size",
        FitRefusal::MapUnused { .. } => "leave out --map",
        FitRefusal::Map(_) => "is it the map of this cartridge?",
        _ => return CliError::input(error),
    };
    let index = match error {
        FitRefusal::Fit(FitError::Negative { index, .. } | FitError::NoSuchWrap { index, .. }) => {
            Some(index - 1)
        }
        _ => None,
    };
    let at = index.and_then(|index| origins.get(index));
    match at {
        Some(origin) => CliError::input(error).of(origin),
        None => CliError::input(error),
    }
    .hint(hint)
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
            output: Some(directory.join("mine.toml")),
            log_format: LogFormat::Auto,
            block_size: None,
            map: None,
            maps: None,
            plot: Some(directory.join("pictures")),
            json: true,
        }
    }

    /// What is printed of a fit.
    fn answered(args: &Fit) -> Result<String, CliError> {
        let (records, _) = records::read(&args.logs, args.log_format)?;
        let mut text = String::new();
        answer(args, records, &mut text)?;
        Ok(text)
    }

    #[test]
    fn a_log_becomes_a_profile_that_predicts_it_and_says_where_it_comes_from() {
        let directory = tempfile::tempdir().unwrap();
        let args = args(directory.path(), &log(150));
        assert!(answered(&args).unwrap().starts_with('{'));
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
            base: args.output.clone().unwrap().display().to_string(),
            ..args
        };
        answered(&again).unwrap();
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
        let error =
            |text: &str| format!("{:?}", answered(&args(directory.path(), text)).unwrap_err());
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
