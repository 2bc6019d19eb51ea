//! `tapewise recall`: files back from tape.

mod archive;
mod common;
mod copy;
mod ltfs;
mod mount;
mod report;

use crate::error::CliError;
use crate::placement::PlacementArgs;
use crate::search::SearchArgs;
use crate::units;
use clap::ArgGroup;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Bring files back from tape, in the order in which they are there soonest.
///
/// Names in, files out: each appears in --to under its path, whole and compared with the checksums that
/// are known of it. What is there already is not read again, so the same command goes on after Ctrl-C.
#[derive(clap::Args, Debug)]
#[command(
    group(ArgGroup::new("source").required(true).args(["ltfs", "ltfs_mount", "archive"])),
    mut_arg("profile", |arg| {
        arg.required(false).default_value(BY_NAME).help(
            "Drive profile: a name from `tapewise profile list`, or a TOML file; with --ltfs it is found by the drive's name",
        )
    }),
)]
pub struct Recall {
    /// Drive with an LTFS tape in it: label, index and files are read from the tape, without a mount,
    /// and nothing is written to it. The drive is read in our order, and the tape learned meanwhile.
    #[arg(long, value_name = "DEVICE", conflicts_with_all = OF_A_MOUNT)]
    ltfs: Option<String>,
    /// Mounted LTFS volume: files are copied from it, in the order of their places on the tape, which
    /// their extended attributes say.
    #[arg(long, value_name = "DIR")]
    ltfs_mount: Option<PathBuf>,
    /// Archive made by `tapewise catalog init`: its files come from its cache and from its tapes. Several
    /// may ask at once: one process works, for all. Where drives have no robot, the pull list is
    /// printed, and each cartridge asked for at the terminal.
    #[arg(long, value_name = "DIR", conflicts_with_all = OF_A_MOUNT, conflicts_with_all = ["profile", "sums", "replace", "no_mhl"])]
    archive: Option<PathBuf>,
    /// With --archive: only print the pull list: which cartridges are needed, in the order in which
    /// they go into the drives, and how long each is read.
    #[arg(long, requires = "archive")]
    pull_list: bool,
    /// With --archive: before a cartridge is mounted, wait until the oldest request is so old, so that
    /// requests of others are read together with it [default: batch_window_s of archive.toml].
    #[arg(long, value_name = "TIME", requires = "archive", conflicts_with_all = ["pull_list", "dry_run"],
        value_parser = units::duration)]
    batch_window: Option<Duration>,
    /// Label of the same volume: its block size and partitions.
    #[arg(long, value_name = "XML")]
    ltfs_label: Option<PathBuf>,
    /// With --ltfs: index to read by; it must be of the volume in the drive and of its generation.
    #[arg(long, value_name = "XML", requires = "ltfs")]
    ltfs_index: Option<PathBuf>,
    /// With --ltfs-index: take it though the tape is at another generation.
    #[arg(long, requires = "ltfs_index")]
    any_generation: bool,
    /// With --ltfs: everything in the index instead of a list of names.
    #[arg(long, requires = "ltfs", conflicts_with = "files_from")]
    all_files: bool,
    /// With --ltfs: every name ends with #OFFSET+LENGTH, in bytes, and only those are read.
    #[arg(long, requires = "ltfs", conflicts_with = "all_files")]
    ranges: bool,
    /// With --ltfs: go on without names that the index does not have; they are said.
    #[arg(long, requires = "ltfs")]
    ignore_missing: bool,
    /// With --ltfs: print what became of every file as JSON; with --dry-run the plan. With
    /// --pull-list: print the list as JSON.
    #[arg(long, conflicts_with = "ltfs_mount")]
    json: bool,
    /// With --ltfs: append everything that the drive does to this event log.
    #[arg(long, value_name = "LOG", requires = "ltfs")]
    events: Option<PathBuf>,
    /// Directory in which the files appear; it is made if it is not there.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Names of files, one a line; "-" or nothing is standard input.
    #[arg(long, value_name = "LIST")]
    files_from: Option<PathBuf>,
    /// Names in the list end with a zero byte, not a line feed.
    #[arg(short = '0', long)]
    null: bool,
    /// Checksums to compare with: a list of md5sum, sha256sum or xxhsum, an MHL, a BagIt manifest;
    /// its names are below its own directory if that is on the volume, else below the top of it. May
    /// be given several times.
    #[arg(long, value_name = "LIST")]
    sums: Vec<PathBuf>,
    /// Replace files in --to that are others.
    #[arg(long)]
    replace: bool,
    /// Write no media hash list (MHL) into --to.
    #[arg(long)]
    no_mhl: bool,
    /// Only print what would be read, in which order and when, and what would go wrong.
    #[arg(long)]
    dry_run: bool,
    /// Say nothing on standard error but errors.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    placement: PlacementArgs,
    #[command(flatten)]
    search: SearchArgs,
}

/// What --profile says where the drive is to be known by its name.
const BY_NAME: &str = "auto";

/// Options that a drive answers itself, or that have no meaning where the order follows the tape.
const OF_A_MOUNT: [&str; 11] = [
    "ltfs_label",
    "map",
    "layout",
    "head",
    "end",
    "extents",
    "coalesce",
    "no_read_through",
    "time_budget",
    "prove",
    "seed",
];

impl Recall {
    /// The profile that was asked for.
    fn profile(&self) -> Option<&str> {
        Some(self.placement.profile.as_str()).filter(|name| *name != BY_NAME)
    }
}

/// Runs the verb.
pub fn run(args: &Recall) -> Result<ExitCode, CliError> {
    if let Some(directory) = &args.archive {
        return archive::run(args, directory);
    }
    match (&args.ltfs, &args.ltfs_mount) {
        (Some(device), _) => ltfs::run(args, device),
        (None, Some(_)) if args.profile().is_none() => Err(CliError::input(
            "which drive the mounted volume is in cannot be seen",
        )
        .hint("name its profile with --profile; `tapewise profile list` shows them")),
        (None, Some(directory)) => mount::run(args, directory),
        (None, None) => Err(CliError::input(
            "give --ltfs DEVICE, --ltfs-mount DIR or --archive DIR",
        )),
    }
}
