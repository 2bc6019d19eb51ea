//! `tapewise catalog find` and `volumes`: which file is on which tape.

use crate::archive::Archive;
use crate::error::CliError;
use crate::json;
use crate::names::as_text;
use crate::output::{print, say, write, write_names};
use crate::units;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::{Found, Pattern, RETIRED, VolumeId};
use tapewise_archive::deliver::shown;
use tapewise_archive::record::{Volume, VolumeState};
use tapewise_formats::list::Separator;
use tapewise_plot::Table;

/// Files listed by one question: each looks through the index of names anew.
const AT_ONCE: usize = 50_000;

/// What to do about a name with a line break.
const HINT: &str = "--null ends names with a zero byte, and `recall --null` reads them";

/// Show which tapes files are on, by path or pattern.
#[derive(clap::Args, Debug)]
pub struct Find {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// A path, a directory with / at its end, or a pattern with * ? [a-z], which match / too. A path that the archive
    /// has is found as it is, even if it contains such signs.
    #[arg(value_name = "PATTERN", default_value = "*")]
    pattern: String,
    /// Only files that have fewer copies on tape than they are to have.
    #[arg(long)]
    lacking: bool,
    /// Print only the paths, a line each, as `tapewise recall --archive` reads them.
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// End paths with a zero byte, for names with line breaks: `recall -0` reads them.
    #[arg(short = '0', long = "null", requires = "paths")]
    null: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: &Find) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    let pattern = pattern(&archive, &args.pattern)?;
    let mut after: Option<Vec<u8>> = None;
    let mut count = 0;
    let begin = || json::List::begin("catalog-find", "files");
    let mut files = args.json.then(begin).transpose()?;
    loop {
        let mut found = archive
            .catalogue
            .find(&pattern, after.as_deref(), AT_ONCE)?;
        let is_last = found.len() < AT_ONCE;
        after = found.last().map(|last| last.path.clone());
        if args.lacking {
            found.retain(|found| found.lacking > 0);
        }
        count += found.len();
        if let Some(files) = &mut files {
            files.items(found.iter().map(document))?;
        } else if args.paths {
            let separator = if args.null {
                Separator::Nul
            } else {
                Separator::Newline
            };
            let paths = found.iter().map(|found| found.path.as_slice());
            write(None, |out| write_names(out, paths, separator, HINT))?;
        } else {
            print(&found.iter().map(line).collect::<String>())?;
        }
        if is_last {
            break;
        }
    }
    if let Some(files) = files {
        files.end()?;
    }
    if count == 0 {
        let what = if args.lacking {
            "no file that lacks a copy"
        } else {
            "nothing in the archive"
        };
        say(format_args!("tapewise: {what} matches {}\n", args.pattern));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// What was asked for: a path or directory as it is, if the archive has it, and otherwise what its signs mean.
fn pattern(archive: &Archive, given: &str) -> Result<Pattern, CliError> {
    let bytes = given.as_bytes().to_vec();
    let literal = if given.ends_with('/') {
        Pattern::Prefix(bytes.clone())
    } else {
        Pattern::Path(bytes.clone())
    };
    let is_glob = given.contains(['*', '?', '[']);
    Ok(
        if is_glob && archive.catalogue.find(&literal, None, 1)?.is_empty() {
            Pattern::Glob(bytes)
        } else {
            literal
        },
    )
}

/// A file for a program.
fn document(found: &Found) -> Value {
    let mut document = json!({
        "path": as_text(&found.path),
        "bytes": found.bytes,
        "cached": found.cached,
        "volumes": found.volumes,
        "copies_lacking": found.lacking,
    });
    if std::str::from_utf8(&found.path).is_err() {
        let bytes = found.path.iter().map(|byte| format!("{byte:02x}"));
        document["path_hex"] = bytes.collect::<String>().into();
    }
    document
}

fn line(found: &Found) -> String {
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
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn volumes(args: &VolumesArgs) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    let retired = archive.catalogue.with_fact(RETIRED)?;
    let state = |id: VolumeId, volume: &Volume| match volume.state {
        VolumeState::Full if retired.binary_search(&id).is_ok() => RETIRED,
        state => state.name(),
    };
    if args.json {
        let volumes = archive.catalogue.volumes()?.into_iter();
        let volumes = volumes.map(|(id, volume)| {
            json!({
                "volume": volume.label,
                "format": volume.format.name(),
                "state": state(id, &volume),
                "recorded_bytes": volume.written_bytes,
                "next_block": volume.next_block,
                "uuid": volume.uuid,
            })
        });
        let volumes: Vec<Value> = volumes.collect();
        json::print("catalog-volumes", &json!({ "volumes": volumes }))?;
        return Ok(ExitCode::SUCCESS);
    }
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
    for (id, volume) in archive.catalogue.volumes()? {
        table.row([
            volume.label.clone(),
            volume.format.name().to_owned(),
            state(id, &volume).to_owned(),
            units::bytes(volume.written_bytes),
            volume.next_block.to_string(),
            volume.uuid.clone(),
        ]);
    }
    print(&crate::output::table(&table))?;
    Ok(ExitCode::SUCCESS)
}
