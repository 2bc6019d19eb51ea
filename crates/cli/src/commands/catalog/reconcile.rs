//! `tapewise catalog reconcile`: go on after a catalogue was restored.

use crate::archive::Archive;
use crate::error::CliError;
use crate::json::Answer;
use std::path::PathBuf;
use std::process::ExitCode;

/// Continue with a catalogue that was restored from a backup or made again.
///
/// Files in the cache that this catalogue does not know may have been acknowledged after the backup. They are kept
/// in cache/quarantine of the archive, under the paths they were stored with, for `tapewise store` to store them
/// again. Nothing is removed. Files that went to tape after the backup are on the cartridges, and
/// `tapewise catalog rebuild` reads those.
#[derive(clap::Args, Debug)]
pub struct Reconcile {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: &Reconcile) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    let (_, found) = archive.reconcile()?;
    let mut answer = Answer::new("catalog-reconcile", args.json);
    let aside = found.set_aside.as_ref();
    answer.set("set_aside", aside.is_some());
    answer.line(match aside {
        Some(_) => {
            "the cache goes with this catalogue now; files that it does not know are set aside"
        }
        None => "the cache goes with this catalogue now; it knows every file in the cache",
    })?;
    answer.end()?;
    Ok(ExitCode::SUCCESS)
}
