//! `tapewise audit`: where the drive-hours went, and what other orders would have cost.

mod cartridges;
mod input;
mod policies;
mod report;
#[cfg(test)]
mod tests;

use crate::commands::capacity::mount_policy;
use crate::commands::fit::log_kind::LogFormat;
use crate::error::CliError;
use crate::html;
use crate::interrupt;
use crate::json;
use crate::output::{self, say};
use crate::placement::load_map;
use crate::progress::{Meter, State};
use crate::quantity::count_in;
use crate::search::SearchArgs;
use cartridges::Cartridges;
use input::LogTerms;
use policies::ByPolicy;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise::audit::{Findings, Hours, Mount, PricedMount};
use tapewise_model::Micros;
use tapewise_plot::audit_picture;
use tapewise_sim::mounts::MountPolicy;

/// Show where the drive-hours of a log went, and what other orders would have cost.
///
/// LOG is an event log of tapewise, CSV with one row for each thing that a drive did (columns action and
/// duration_s; also time, drive, volume, user, from_block, to_block and bytes if known), or the log of
/// CTA's tape daemon. For each mount, tapewise predicts the time to locate its reads in four orders:
/// sorted by block, as CTA orders them, as a drive with RAO might, and in tapewise's own order. Beside
/// them are the measured time, and what the same model predicts for the order that was really read. The
/// line `trust` compares the two, move by move.
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("drawn").args(["plot", "html"]).multiple(true)))]
pub struct Audit {
    /// Logs of any kind; `-` is standard input.
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// What the logs are.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,
    /// Count only what began on this day or later, such as 2026-11-01 (UTC). The logs must have dates: CSV with a column
    /// `time`, or the log of CTA.
    #[arg(long, value_name = "DAY", value_parser = day)]
    since: Option<Micros>,
    /// Year of the first line of CTA's log: its lines have none, unless they are JSON.
    #[arg(long, value_name = "YEAR", value_parser = count_in::<i16>(1970..=2200))]
    year: Option<i16>,
    /// Drive profile to predict with: a name from `tapewise profile list`, or a TOML file [default: the one that an
    /// event log names].
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,
    /// Map of a cartridge, for reads whose positions the log does not have; may be given several
    /// times.
    #[arg(long, value_name = "VOLUME=CSV", value_parser = volume_map)]
    map: Vec<(String, PathBuf)>,
    /// Directory of maps by volume (VOLUME.csv), as `fit --maps` writes them.
    #[arg(long, value_name = "DIR")]
    maps: Option<PathBuf>,
    /// Show what the same requests would have cost and waited under these mount policies: oldest,ahead. A twin of the
    /// site, made from the logs, runs each of them.
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', value_parser = mount_policy, conflicts_with = "since")]
    policy: Vec<MountPolicy>,
    /// Table of requests (CSV with arrived_s and cartridge; also response_s, size_mb, owner if known): when files were
    /// asked for and how long they took, for --policy. May be given several times.
    #[arg(long, value_name = "CSV", requires = "policy")]
    requests: Vec<PathBuf>,
    #[command(flatten)]
    pub search: SearchArgs,
    /// Show every drive, volume, user and mount, not only the ten that took longest.
    #[arg(long)]
    all: bool,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Draw where the hours went, and what other orders would have cost, as SVG into this file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write everything as one page for a browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// How the picture divides the hours.
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        default_value_t,
        requires = "drawn"
    )]
    plot_by: By,
}

fn day(text: &str) -> Result<Micros, String> {
    let day: jiff::civil::Date = text
        .parse()
        .map_err(|_| format!("`{text}` is not a day, such as 2026-11-01"))?;
    let midnight = day.to_zoned(jiff::tz::TimeZone::UTC);
    let midnight = midnight.map_err(|error| error.to_string())?;
    Ok(Micros(midnight.timestamp().as_microsecond()))
}

fn volume_map(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((volume, file)) if !volume.is_empty() && !file.is_empty() => {
            Ok((volume.to_owned(), PathBuf::from(file)))
        }
        _ => Err("expected VOLUME=FILE".to_owned()),
    }
}

/// Runs the verb.
pub fn run(args: &Audit) -> Result<ExitCode, CliError> {
    if args.search.may_be_long() {
        interrupt::stop_search_on_interrupt()?;
    }
    let maps = args.map.iter().map(|(_, path)| path);
    let inputs = args.logs.iter().chain(&args.requests).chain(maps);
    let outputs = [("--plot", &args.plot), ("--html", &args.html)];
    output::refuse_clashes(
        outputs.map(|(option, path)| (option, path.as_deref())),
        inputs.map(PathBuf::as_path),
    )?;
    let found = audit(args)?;
    let policies = policies::price(args)?;
    for notice in &found.notices {
        say(format_args!("tapewise: {notice}\n"));
    }
    if let Some(path) = &args.plot {
        let svg = picture(&found, args.plot_by)?;
        output::write(Some(path), |out| {
            out.write_all(svg.as_bytes()).map_err(CliError::failed)
        })?;
    }
    if let Some(path) = &args.html {
        let drawn = picture(&found, args.plot_by).ok();
        let mut page = report::page(&found, args.all, drawn);
        page.sheets.extend(policies.iter().map(ByPolicy::sheet));
        html::write(path, &page)?;
    }
    let text = if args.json {
        let mut document = found.to_json();
        if let Some(policies) = &policies {
            document["policies"] = policies.to_json();
        }
        json::text("audit", &document)?
    } else {
        let policies = policies.as_ref().map(ByPolicy::text);
        report::text(&found, args.all) + &policies.unwrap_or_default()
    };
    output::print(&text)?;
    Ok(interrupt::exit_of_search())
}

/// By whom or what the hours are divided.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum By {
    /// Drive.
    Drive,
    /// Cartridge.
    #[default]
    Volume,
    /// Who it was done for.
    User,
}

fn picture(found: &Findings, by: By) -> Result<String, CliError> {
    let ledger = &found.ledger;
    let (what, rows): (&str, &BTreeMap<String, Hours>) = match by {
        By::Drive => ("drive", &ledger.drives),
        By::Volume => ("volume", &ledger.volumes),
        By::User => ("user", &ledger.users),
    };
    audit_picture(found, what, rows).ok_or_else(|| {
        CliError::input("nothing in the logs took any time: there is nothing to draw")
    })
}

/// The maps of a directory, by volume, without those that were given by themselves.
fn maps_in(
    directory: &Path,
    given: &[(String, PathBuf)],
) -> Result<Vec<(String, PathBuf)>, CliError> {
    let bad = |error: std::io::Error| CliError::input(error).of(directory.display());
    let mut maps = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(bad)? {
        let path = entry.map_err(bad)?.path();
        let Some(volume) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        let is_csv = path.extension().is_some_and(|ending| ending == "csv");
        if is_csv && !given.iter().any(|(one, _)| one == volume) {
            maps.push((volume.to_owned(), path));
        }
    }
    if maps.is_empty() {
        return Err(CliError::input("has no maps (VOLUME.csv)").of(directory.display()));
    }
    maps.sort();
    Ok(maps)
}

/// Reads the logs once; each mount is priced when it ends, and its reads are forgotten.
fn audit(args: &Audit) -> Result<Findings, CliError> {
    // Those of a directory may be of other cartridges; one that is named was meant.
    for (_, file) in &args.map {
        load_map(file).map_err(|error| error.of("--map"))?;
    }
    let mut maps = args.map.clone();
    if let Some(directory) = &args.maps {
        maps.extend(maps_in(directory, &args.map)?);
    }
    let mut cartridges = Cartridges::new(args.profile.as_deref(), &maps)?;
    let effort = args.search.effort();
    let mut mounts: Vec<PricedMount> = Vec::new();
    let meter = Meter::new();
    let mut close = |mount: Mount| {
        if !mount.reads.is_empty() || mount.unplaced > 0 {
            let prices = if mount.began_before {
                Err("it began before --since".to_owned())
            } else {
                cartridges.price(&mount, &effort)
            };
            mounts.push(PricedMount::new(mount, prices));
            meter.show(State::counted("mount", mounts.len() as u64, None).doing("price"));
        }
    };
    let terms = LogTerms {
        format: args.log_format,
        since: args.since,
        year: args.year,
    };
    let mut logs = input::read(&args.logs, terms, &mut close)?;
    let read = &logs.mounts.ledger.volumes;
    for (volume, _) in args.map.iter().filter(|(one, _)| !read.contains_key(one)) {
        // What is the same command each month may name a tape that was not in a drive this month.
        if args.since.is_none() {
            return Err(CliError::input(format!(
                "--map: no log has the volume {volume}"
            )));
        }
        let unused = format!("--map: no log has the volume {volume} after --since");
        logs.notices.push(unused);
    }
    let mut found = Findings {
        ledger: logs.mounts.ledger,
        emulated: logs.emulated,
        notices: logs.notices,
        mounts,
    };
    found.sort();
    Ok(found)
}
