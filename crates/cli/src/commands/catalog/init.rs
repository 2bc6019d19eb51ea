//! `tapewise catalog init`: an archive in a directory.

use crate::archive::Archive;
use crate::error::CliError;
use crate::json::Answer;
use crate::output::say;
use crate::{device, quantity};
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::mover::Settings;
use tapewise_archive::settings::{ArchiveSettings, TierSettings};

/// Make an archive in a new directory: settings, an empty catalogue, a cache.
#[derive(clap::Args, Debug)]
#[command(after_help = crate::device::NAMES)]
pub struct Init {
    /// The directory; it must not exist or be empty.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// A drive; may be given several times.
    #[arg(long = "drive", value_name = "DEVICE", required = true)]
    drives: Vec<String>,
    /// A robot that serves them; may be given several times.
    #[arg(long = "changer", value_name = "DEVICE")]
    changers: Vec<String>,
    /// Labels of the cartridges that the archive may write: a pattern with * ? [a-z], as 'A*L8'. No other
    /// cartridge is mounted to see whether it is blank. [default: every cartridge in the library]
    #[arg(long, value_name = "PATTERN")]
    volumes: Option<String>,
    /// Keep the catalogue in this PostgreSQL database, which is empty [default: catalogue.db in the directory].
    #[arg(long, value_name = "URL")]
    catalogue: Option<String>,
    /// Profile of the drives [default: tapewise asks the drives for their names].
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,
    /// How many cartridges get a copy of each file, unless `store --copies` says otherwise.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = quantity::count_in::<u32>(1..=8))]
    copies: u32,
    /// The most the cache holds: GB, or a size such as 2TB.
    #[arg(long, value_name = "SIZE", default_value = "100", value_parser = quantity::gigabytes)]
    cache_gb: f64,
    /// Bytes of a block on tape.
    #[arg(long, value_name = "BYTES", value_parser = quantity::size::<u32>)]
    block_size: Option<u32>,
    /// Bytes after which a segment is closed with a filemark.
    #[arg(long, value_name = "BYTES", value_parser = quantity::size::<u64>)]
    segment_size: Option<u64>,
    /// Compress files with zstd before they are written, at this level if you give one: 1 is quick, 19 slow.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "3",
        value_parser = quantity::count_in::<i32>(1..=19))]
    precompress: Option<i32>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The one tier of an archive that writes these cartridges only.
fn only(volumes: &str) -> TierSettings {
    TierSettings {
        name: "all".to_owned(),
        volumes: volumes.to_owned(),
        after_days: 0,
    }
}

/// The one profile of all drives, by the names that they give.
fn profile_of(drives: &[String]) -> Result<String, CliError> {
    const HINT: &str = "name it with --profile; `tapewise profile list` shows all";
    const UNREACHED: &str = "the archive needs this drive: `tapewise doctor` says what this host lacks, and `tapewise drive \
        status DRIVE` has to reach it";
    let mut found: Option<(String, &str)> = None;
    for drive in drives {
        let opened = device::tape(drive).map_err(|error| error.or_hint(UNREACHED))?;
        let product = &opened.identity().product;
        let Some(name) = device::profile_name(drive, product) else {
            let what = format!("{drive}: no profile is known for a {product}");
            return Err(CliError::input(what).hint(HINT));
        };
        match &found {
            Some((other, first)) if *other != name => {
                let what = format!("{first} is of profile {other}, {drive} of profile {name}");
                return Err(CliError::input(what).hint(HINT));
            }
            _ => found = Some((name, drive)),
        }
    }
    let (name, _) = found.ok_or_else(|| CliError::input("no drive").hint(HINT))?;
    say(format_args!(
        "tapewise: profile {name}, by the drive's name\n"
    ));
    Ok(name)
}

/// Runs it.
pub fn run(args: &Init) -> Result<ExitCode, CliError> {
    let profile = match &args.profile {
        Some(profile) => profile.clone(),
        None => profile_of(&args.drives)?,
    };
    let usual = Settings::of(crate::profiles::load_drive(&profile)?);
    if args.profile.is_some() {
        // As far as they can be reached.
        for drive in &args.drives {
            if let Ok(opened) = device::tape(drive) {
                device::say_if_of_another_kind(drive, &opened, &usual.profile);
            }
        }
    }
    let high_bytes = args.cache_gb * 1e9;
    if !(1e6..1e18).contains(&high_bytes) {
        return Err(CliError::input("--cache-gb: from 0.001 to 1e9"));
    }
    let settings = ArchiveSettings {
        drives: args.drives.clone(),
        changers: args.changers.clone(),
        profile,
        copies: args.copies,
        cache_high_bytes: high_bytes as u64,
        cache_low_bytes: (high_bytes * 0.8) as u64,
        block_bytes: args.block_size.unwrap_or(usual.block_bytes),
        segment_bytes: args.segment_size.unwrap_or(usual.segment_bytes),
        part_bytes: usual.part_bytes,
        volume_bytes: None,
        group_by: Default::default(),
        open_volumes: 1,
        zstd_level: args.precompress,
        batch_window_s: None,
        catalogue: args.catalogue.clone(),
        mounts: Default::default(),
        policy_file: None,
        tiers: args.volumes.iter().map(|volumes| only(volumes)).collect(),
    };
    Archive::create(&args.directory, &settings)?;
    let mut answer = Answer::new("catalog-init", args.json);
    let directory = args.directory.display().to_string();
    answer.line(&format!(
        "made the archive {directory}; its settings are in {directory}/archive.toml"
    ))?;
    answer.set("archive", directory);
    answer.end()?;
    Ok(ExitCode::SUCCESS)
}
