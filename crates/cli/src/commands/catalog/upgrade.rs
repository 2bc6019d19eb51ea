//! `tapewise catalog upgrade`: bring a catalogue of an older program up to date.

use crate::archive::Archive;
use crate::error::CliError;
use crate::json;
use crate::output::print;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::KNOWN_SCHEMA;

/// Bring the catalogue up to date for this program, and keep a copy of the old one.
///
/// Every command that writes does the same when it opens an older catalogue. The copy lies beside the catalogue, as
/// catalogue.db.schema-N. A program that is killed meanwhile leaves the old catalogue or a newer one, whole.
#[derive(clap::Args, Debug)]
pub struct Upgrade {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Print what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: &Upgrade) -> Result<ExitCode, CliError> {
    let upgrade = Archive::upgrade(&args.archive, args.dry_run)?;
    if args.json {
        let brings = upgrade.iter().flat_map(|upgrade| &upgrade.brings);
        let brings = brings.map(|(schema, what)| json!({ "schema": schema, "what": what }));
        let document = json!({
            "schema": upgrade.as_ref().map_or(KNOWN_SCHEMA, |upgrade| upgrade.found),
            "known_schema": KNOWN_SCHEMA,
            "dry_run": args.dry_run,
            "brings": brings.collect::<Vec<Value>>(),
            "copy": upgrade.as_ref().map(|upgrade| upgrade.copy.display().to_string()),
        });
        json::print("catalog-upgrade", &document)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(upgrade) = upgrade else {
        let text = format!(
            "the catalogue has schema {KNOWN_SCHEMA}, which is this program's: nothing to do\n"
        );
        print(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut text = format!(
        "the catalogue has schema {}, this program's is {KNOWN_SCHEMA}\n",
        upgrade.found
    );
    for (version, sentence) in &upgrade.brings {
        let _ = writeln!(text, "  {version}  {sentence}");
    }
    let copy = upgrade.copy.display();
    let _ = if args.dry_run {
        writeln!(
            text,
            "dry run: nothing was changed; the copy would be {copy}"
        )
    } else {
        writeln!(text, "done; the old catalogue is {copy}")
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
