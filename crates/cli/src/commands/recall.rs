//! `tapewise recall`: files back from tape.

mod copy;
mod mount;
mod report;

use crate::error::CliError;
use crate::placement::PlacementArgs;
use crate::search::SearchArgs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Bring files back from tape, in the order in which they are there soonest.
///
/// Names in, files out: each appears in --to under its path, whole and compared with the checksums that
/// are known of it. What is there already is not read again, so the same command goes on after Ctrl-C.
#[derive(clap::Args, Debug)]
pub struct Recall {
    /// Mounted LTFS volume: files are copied from it, in the order of their places on the tape, which
    /// their extended attributes say.
    #[arg(long, value_name = "DIR")]
    ltfs_mount: PathBuf,
    /// Label of the same volume: its block size and partitions.
    #[arg(long, value_name = "XML")]
    ltfs_label: Option<PathBuf>,
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

/// Runs the verb.
pub fn run(args: &Recall) -> Result<ExitCode, CliError> {
    mount::run(args)
}
