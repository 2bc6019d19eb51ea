//! `tapewise mover status`: which movers work for an archive, what each has, and what is out of use.

use crate::archive::Archive;
use crate::error::CliError;
use crate::json;
use crate::now::now_ns;
use crate::output::print;
use crate::units;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tapewise_archive::deliver::shown;
use tapewise_plot::Table;

/// List the movers of an archive, which drives and cartridges they have, and what is out of use.
#[derive(clap::Args, Debug)]
pub struct Status {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Print the list as JSON.
    #[arg(long)]
    json: bool,
}

/// A lease, for a program.
#[derive(Serialize)]
struct Entry {
    host: String,
    process: u32,
    drive: Option<String>,
    volume: Option<String>,
    epoch: u64,
    until_unix_ns: i64,
}

/// Something that is out of use, for a program.
#[derive(Serialize)]
struct Out {
    resource: &'static str,
    name: String,
    outage: &'static str,
    why: String,
    since_unix_ns: i64,
}

/// Runs it.
pub fn run(args: &Status) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    let catalogue = &archive.catalogue;
    let mut entries = Vec::new();
    for lease in catalogue.leases()? {
        let volume = lease.volume.map(|id| catalogue.volume(id)).transpose()?;
        entries.push(Entry {
            drive: (!lease.is_desk()).then(|| lease.drive.clone()),
            volume: volume.map(|volume| volume.label),
            epoch: lease.epoch,
            until_unix_ns: lease.until_ns,
            host: lease.holder.host,
            process: lease.holder.process,
        });
    }
    entries.sort_by(|a, b| (&a.host, a.process, &a.drive).cmp(&(&b.host, b.process, &b.drive)));
    let out = catalogue.out_of_use()?.into_iter().map(|out| Out {
        resource: out.resource.name(),
        outage: out.outage.name(),
        name: out.name,
        why: out.why,
        since_unix_ns: out.since_ns,
    });
    let out: Vec<Out> = out.collect();
    if args.json {
        let status = serde_json::json!({ "leases": entries, "out_of_use": out });
        json::print("mover-status", &status)?;
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        print("no mover has a drive or a cartridge\n")?;
    } else {
        let mut table = Table::new(
            "",
            &["host", "process", "drive", "cartridge", "lease", "ends in"],
        );
        for entry in entries {
            let left = entry.until_unix_ns.saturating_sub(now_ns());
            table.row([
                shown(entry.host.as_bytes()),
                entry.process.to_string(),
                entry.drive.unwrap_or_default(),
                entry.volume.unwrap_or_default(),
                entry.epoch.to_string(),
                match u64::try_from(left) {
                    Ok(left) => units::seconds(Duration::from_nanos(left).as_secs_f64()),
                    Err(_) => "over".to_owned(),
                },
            ]);
        }
        print(&crate::output::table(&table))?;
    }
    for out in out {
        print(&format!(
            "{} {} is {}: {}\n",
            out.resource,
            shown(out.name.as_bytes()),
            out.outage,
            shown(out.why.as_bytes())
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
