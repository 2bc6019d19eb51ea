//! `tapewise catalog find` and `volumes`: which file is on which tape.

use crate::archive::Archive;
use crate::error::CliError;
use crate::output::{print, say};
use crate::units;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::{Files, Found, Pattern, Volumes};
use tapewise_archive::deliver::shown;
use tapewise_plot::Table;

/// Files listed by one question.
const AT_ONCE: usize = 10_000;

/// Show which tapes files are on, by path or pattern.
#[derive(clap::Args, Debug)]
pub struct Find {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// A path, a directory with / at its end, or a pattern with * ? [a-z], which match / too.
    #[arg(value_name = "PATTERN", default_value = "*")]
    pattern: String,
    /// As JSON Lines.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: &Find) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    let bytes = args.pattern.as_bytes().to_vec();
    let pattern = match (
        args.pattern.contains(['*', '?', '[']),
        args.pattern.ends_with('/'),
    ) {
        (true, _) => Pattern::Glob(bytes),
        (false, true) => Pattern::Prefix(bytes),
        (false, false) => Pattern::Path(bytes),
    };
    let mut after: Option<Vec<u8>> = None;
    let mut count = 0;
    loop {
        let found = archive
            .catalogue
            .find(&pattern, after.as_deref(), AT_ONCE)?;
        let Some(last) = found.last() else {
            break;
        };
        after = Some(last.path.clone());
        count += found.len();
        let lines: String = found.iter().map(|found| line(found, args.json)).collect();
        print(&lines)?;
    }
    if count == 0 {
        say(format_args!(
            "tapewise: nothing in the archive matches {}\n",
            args.pattern
        ));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

fn line(found: &Found, json: bool) -> String {
    if json {
        let value = serde_json::json!({
            "path": String::from_utf8_lossy(&found.path),
            "bytes": found.bytes,
            "cached": found.cached,
            "volumes": found.volumes,
        });
        return format!("{value}\n");
    }
    let mut places = found.volumes.clone();
    if found.cached {
        places.push("cache".to_owned());
    }
    format!(
        "{}\t{}\t{}\n",
        shown(&found.path),
        units::bytes(found.bytes),
        places.join(" ")
    )
}

/// List the volumes of an archive.
#[derive(clap::Args, Debug)]
pub struct VolumesArgs {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
}

/// Runs it.
pub fn volumes(args: &VolumesArgs) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    let mut table = Table::new(
        "",
        &[
            "volume",
            "format",
            "state",
            "recorded",
            "next block",
            "uuid",
        ],
    );
    for (_, volume) in archive.catalogue.volumes()? {
        table.row([
            volume.label.clone(),
            volume.format.name().to_owned(),
            volume.state.name().to_owned(),
            units::bytes(volume.written_bytes),
            volume.next_block.to_string(),
            volume.uuid.clone(),
        ]);
    }
    print(&crate::output::table(&table))?;
    Ok(ExitCode::SUCCESS)
}
