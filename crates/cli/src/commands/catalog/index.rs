//! `tapewise catalog index`: make searches for a part of a name quick.

use crate::archive::Archive;
use crate::error::CliError;
use crate::json;
use crate::output::print;
use crate::units;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::PART_NAMES;

/// Index the names of an archive of millions of files, so that `find` looks into few of them.
///
/// The index takes 262,144 names at a time; what is newer than that is looked at one by one. Run it after many files
/// were stored, once a day or so: it goes on from where it ended. It can be stopped at any time.
#[derive(clap::Args, Debug)]
pub struct Index {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Take the index away, and make it from the first file on.
    #[arg(long)]
    anew: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: &Index) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    if args.anew {
        archive.catalogue.drop_name_index()?;
    }
    let mut names = 0;
    while archive.catalogue.index_names(PART_NAMES)? {
        names += PART_NAMES;
        if !args.json {
            print(&format!("{}\n", units::count(names, "name")))?;
        }
    }
    if args.json {
        json::print("catalog-index", &json!({ "names": names }))?;
    } else if names == 0 {
        print(&format!(
            "nothing to do: fewer than {PART_NAMES} files are newer than the index\n"
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
