//! `tapewise catalog move`: the catalogue to PostgreSQL and back.

use crate::archive::Archive;
use crate::error::CliError;
use crate::json::Answer;
use crate::units::count;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Move the catalogue to a PostgreSQL database, or back to a file in the archive's directory.
///
/// The database must be empty, or hold what an earlier move left there. Every table is compared after it arrived: the
/// number of its rows, and a checksum over all of them. The old catalogue is left where it is, marked as moved, and
/// every command refuses it. archive.toml then names the new one. Nothing may be under way meanwhile. If the program is
/// killed, the same command continues.
#[derive(clap::Args, Debug)]
pub struct Move {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// The database: postgresql://user@host/database. It goes into archive.toml, which only its owner can read.
    #[arg(
        long,
        value_name = "URL",
        required_unless_present = "to_file",
        conflicts_with = "to_file"
    )]
    to: Option<String>,
    /// Move it back, to catalogue.db in the archive's directory.
    #[arg(long)]
    to_file: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: &Move) -> Result<ExitCode, CliError> {
    let moved = Archive::move_catalogue(&args.archive, args.to.as_deref())?;
    let is_moved = moved.is_some();
    let held = moved.unwrap_or_default();
    let mut answer = Answer::new("catalog-move", args.json);
    let tables = held.iter().map(|held| {
        json!({ "table": held.table, "rows": held.rows, "checksum": format!("{:032x}", held.sum) })
    });
    answer.set("tables", tables.collect::<Vec<_>>());
    let rows: u64 = held.iter().map(|held| held.rows).sum();
    answer.line(&if is_moved {
        format!(
            "{} of {} moved, each table compared; archive.toml names the new place",
            count(rows as usize, "row"),
            count(held.len(), "table")
        )
    } else {
        "the catalogue is there already, and archive.toml names the place: nothing was moved"
            .to_owned()
    })?;
    answer.end()?;
    Ok(ExitCode::SUCCESS)
}
