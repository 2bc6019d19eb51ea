//! `tapewise mover drain` and `mover resume`: hosts, drives and cartridges out of use, and into use again.

use super::known;
use crate::archive::Archive;
use crate::error::{CliError, Exit};
use crate::gather::LOOK;
use crate::interrupt::{is_set, stop_on_interrupt};
use crate::json::Answer;
use crate::now::now_ns;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::{Lease, OutOfUse, Outage, Resource};

/// Take a host, a drive or a cartridge out of use: what it has is finished, and nothing more is begun.
///
/// What waits for the cartridge keeps waiting; with --broken it is read from other copies, and fails if there is none.
#[derive(clap::Args, Debug)]
pub struct Drain {
    #[command(flatten)]
    which: Which,
    /// Why, for whoever sees it later.
    #[arg(long, value_name = "TEXT", default_value = "drained by hand")]
    why: String,
    /// Out of use for good.
    #[arg(long)]
    broken: bool,
    /// Wait until no mover has it any more.
    #[arg(long)]
    wait: bool,
    /// Accept a host or a drive that no mover has been seen with, such as a host that has been off for long.
    #[arg(long, conflicts_with = "volume")]
    unseen: bool,
}

/// Put a host, a drive or a cartridge into use again.
#[derive(clap::Args, Debug)]
pub struct Resume {
    #[command(flatten)]
    which: Which,
}

/// What is meant.
#[derive(clap::Args, Debug)]
#[group(skip)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["host", "drive", "volume"])))]
struct Which {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// A host, by the name that `mover status` shows, or that its mover had as `--host`.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// A drive, by its serial number.
    #[arg(long, value_name = "SERIAL")]
    drive: Option<String>,
    /// A cartridge, by its label.
    #[arg(long, value_name = "LABEL")]
    volume: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Which {
    fn resource(&self) -> (Resource, &str) {
        match (&self.host, &self.drive, &self.volume) {
            (Some(name), ..) => (Resource::Host, name),
            (_, Some(name), _) => (Resource::Drive, name),
            (_, _, name) => (Resource::Volume, name.as_deref().unwrap_or_default()),
        }
    }

    /// The leases on it.
    fn leases(&self, archive: &Archive) -> Result<Vec<Lease>, CliError> {
        let (resource, name) = self.resource();
        let mut leases = archive.catalogue.leases()?;
        let id = archive.catalogue.find_volume(name)?.map(|(id, _)| id);
        leases.retain(|lease| match resource {
            Resource::Host => lease.holder.host == name && !lease.is_desk(),
            Resource::Drive => lease.drive == name,
            Resource::Volume => lease.volume.is_some() && lease.volume == id,
        });
        Ok(leases)
    }
}

/// Runs `mover drain`.
pub fn drain(args: &Drain) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.which.archive)?;
    let (resource, name) = args.which.resource();
    if !args.unseen {
        known::check(&archive, resource, name)?;
    }
    let outage = if args.broken {
        Outage::Broken
    } else {
        Outage::Disabled
    };
    archive.catalogue.take_out_of_use(&OutOfUse {
        resource,
        name: name.to_owned(),
        outage,
        why: args.why.clone(),
        since_ns: now_ns(),
    })?;
    let stop = stop_on_interrupt()?;
    let mut leases = args.which.leases(&archive)?;
    while args.wait && !leases.is_empty() {
        if is_set(&stop) {
            return Err(CliError::with(
                Exit::Interrupted,
                "interrupted: it is out of use, and a mover still has it",
            ));
        }
        std::thread::sleep(LOOK);
        archive.catalogue.end_expired(now_ns())?;
        leases = args.which.leases(&archive)?;
    }
    let mut answer = Answer::new("mover-drain", args.which.json);
    answer.line(&format!(
        "{} {name}: {}{}",
        resource.name(),
        outage.name(),
        match leases.first() {
            None if resource != Resource::Volume => "; no mover has it now".to_owned(),
            None => String::new(),
            Some(lease) => format!("; {} still has it", lease.holder),
        }
    ))?;
    answer.set("resource", json!(resource.name()));
    answer.set("name", json!(name));
    answer.set("outage", json!(outage.name()));
    answer.set("in_use", json!(!leases.is_empty()));
    answer.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `mover resume`.
pub fn resume(args: &Resume) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.which.archive)?;
    let (resource, name) = args.which.resource();
    if !archive.catalogue.put_into_use(resource, name)? {
        let said = format!("{} {name} is not out of use", resource.name());
        return Err(CliError::input(said).hint("`tapewise mover status` lists what is"));
    }
    let mut answer = Answer::new("mover-resume", args.which.json);
    answer.line(&format!("{} {name}: in use again", resource.name()))?;
    answer.set("resource", json!(resource.name()));
    answer.set("name", json!(name));
    answer.end()?;
    Ok(ExitCode::SUCCESS)
}
