//! `tapewise catalog forget` and `retire`: volumes that are gone, and volumes that take no more.

use super::tend::volume;
use crate::archive::Archive;
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::json::Answer;
use crate::now::now_ns;
use crate::output::say;
use crate::units;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::{Loss, RETIRED};
use tapewise_archive::record::VolumeState;

/// Remove volumes from the catalogue: cartridges that are lost, destroyed or labelled again.
///
/// The cartridges are not touched, unless you give --reuse: `catalog add --tape` reads one in again. A volume that
/// holds the only copy of a file, or what the catalogue lacks, is kept, unless the loss is accepted.
#[derive(clap::Args, Debug)]
pub struct Forget {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Labels of the volumes.
    #[arg(value_name = "VOLUME", required = true)]
    volumes: Vec<String>,
    /// Forget files too that have no other copy, and what only the cartridge has.
    #[arg(long)]
    accept_loss: bool,
    /// Label the cartridges again, so that `store` can write on them. What is on them is lost.
    #[arg(long)]
    reuse: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn forget(args: &Forget) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    let cache = archive.cache()?;
    let loss = if args.accept_loss {
        Loss::Accepted
    } else {
        Loss::Refused
    };
    let mut answer = Answer::new("catalog-forget", args.json);
    let mut is_lacking = false;
    let mut records = Vec::new();
    for label in &args.volumes {
        let id = volume(&archive, label)?;
        records.push(archive.catalogue.volume(id)?);
        let forgotten = archive.catalogue.forget_volume(id, loss, now_ns());
        let forgotten = forgotten.map_err(|error| {
            CliError::from(error).or_hint(
                "`catalog repack` brings its files onto other volumes, --accept-loss gives them up",
            )
        })?;
        let copies = units::count(forgotten.copies as usize, "copy").replace("copys", "copies");
        let lost = match forgotten.retired {
            0 => String::new(),
            files => format!(", {} lost", units::count(files as usize, "file")),
        };
        let lacking = match forgotten.lacking {
            0 => String::new(),
            1 => ", 1 file lacks a copy now".to_owned(),
            files => format!(", {files} files lack a copy now"),
        };
        answer.line(&format!("{label}: forgotten, with {copies}{lost}{lacking}"))?;
        answer.push(
            "forgotten",
            json!({
                "volume": label,
                "copies": forgotten.copies,
                "files_lost": forgotten.retired,
                "files_lacking": forgotten.lacking,
            }),
        );
        is_lacking |= forgotten.lacking > 0;
    }
    let (mut labelled, mut anew) = (Ok(()), Vec::new());
    if args.reuse {
        let stop = stop_on_interrupt()?;
        labelled = archive.with_mover(&cache, &stop, false, |mover| {
            (records.iter()).try_for_each(|record| {
                mover.reuse(record)?;
                anew.push(&record.label);
                Ok(())
            })
        });
    }
    for label in anew {
        answer.line(&format!("{label}: its cartridge has a new label"))?;
    }
    answer.set("labelled_anew", args.reuse && labelled.is_ok());
    answer.end()?;
    labelled?;
    if is_lacking {
        say(
            "tapewise: `tapewise store` makes the missing copies of files in the cache; `catalog scrub` makes the others as \
             it reads the cartridges, or `catalog verify VOLUME` those of one cartridge\n",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Stop writing to volumes. Their files can be read until `catalog repack` moves them.
#[derive(clap::Args, Debug)]
pub struct Retire {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Labels of the volumes.
    #[arg(value_name = "VOLUME", required = true)]
    volumes: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn retire(args: &Retire) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    let _cache = archive.cache()?;
    let mut answer = Answer::new("catalog-retire", args.json);
    for label in &args.volumes {
        let id = volume(&archive, label)?;
        archive.catalogue.set_volume_state(id, VolumeState::Full)?;
        archive
            .catalogue
            .note_facts(id, &[(RETIRED, "")], now_ns())?;
        answer.line(&format!(
            "{label}: retired; tapewise only reads it from now on"
        ))?;
        answer.push("retired", label.as_str());
    }
    answer.end()?;
    Ok(ExitCode::SUCCESS)
}
