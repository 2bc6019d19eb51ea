//! `tapewise catalog verify`, `check`, `backup`: that what is kept stays right.

use crate::archive::Archive;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::output::{print, say};
use crate::units;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::{Catalogue, VolumeId, Volumes};
use tapewise_archive::deliver::shown;
use tapewise_archive::mover::Verified;

/// Read volumes whole, in the order of the tape, and compare every checksum.
#[derive(clap::Args, Debug)]
pub struct Verify {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Labels of the volumes.
    #[arg(value_name = "VOLUME", required = true)]
    volumes: Vec<String>,
    /// Say nothing on standard error but errors.
    #[arg(short, long)]
    quiet: bool,
}

/// Runs it.
pub fn verify(args: &Verify) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    let cache = archive.cache()?;
    let stop = stop_on_interrupt()?;
    let volumes = args.volumes.iter();
    let volumes = volumes.map(|label| Ok((label, volume(&archive, label)?)));
    let volumes: Vec<(&String, VolumeId)> = volumes.collect::<Result<_, CliError>>()?;
    let (mut lost, mut told) = (0, Ok(()));
    archive.with_mover(&cache, &stop, args.quiet, |mover| {
        for (label, id) in volumes {
            let found = mover.verify(id)?;
            match say_verified(label, &found) {
                Ok(more) => lost += more,
                Err(error) => told = Err(error),
            }
        }
        Ok(())
    })?;
    told?;
    Ok(match lost {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(Exit::Checksum as u8),
    })
}

/// Says what was found on a volume; how many copies are lost.
fn say_verified(label: &str, found: &Verified) -> Result<usize, CliError> {
    print(&format!(
        "{label}: {} right ({}), {} without a known checksum, {} that span volumes, {} lost\n",
        units::count(found.right as usize, "copy").replace("copys", "copies"),
        units::bytes(found.bytes),
        found.unknown,
        found.parts,
        found.lost.len()
    ))?;
    for (path, why) in &found.lost {
        say(format_args!("tapewise: {label}: {}: {why}\n", shown(path)));
    }
    Ok(found.lost.len())
}

/// Look for contradictions in the catalogue.
#[derive(clap::Args, Debug)]
pub struct Check {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
}

/// Runs it.
pub fn check(args: &Check) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    let findings = archive.catalogue.integrity()?;
    for finding in &findings {
        print(&format!("{finding}\n"))?;
    }
    match findings.is_empty() {
        true => {
            print("the catalogue does not contradict itself\n")?;
            Ok(ExitCode::SUCCESS)
        }
        false => Ok(ExitCode::from(1)),
    }
}

/// Write a copy of the catalogue; the file appears when it is whole.
#[derive(clap::Args, Debug)]
pub struct Backup {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Where to.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs it.
pub fn backup(args: &Backup) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    archive.catalogue.backup(&args.file)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn volume(archive: &Archive, label: &str) -> Result<VolumeId, CliError> {
    match archive.catalogue.find_volume(label)? {
        Some((id, _)) => Ok(id),
        None => Err(
            CliError::input(format!("the archive has no volume {label}"))
                .hint("`tapewise catalog volumes` lists them"),
        ),
    }
}
