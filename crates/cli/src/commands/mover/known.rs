//! Hosts and drives of which an archive has heard: a name that nobody has is a mistake.

use crate::archive::Archive;
use crate::error::CliError;
use crate::socket::host_name;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tapewise_archive::catalogue::{Lease, OutOfUse, Resource};
use tapewise_formats::event_log::{EventReader, Record};

/// The error of a name that the archive knows of no host, drive or cartridge.
pub fn check(archive: &Archive, resource: Resource, name: &str) -> Result<(), CliError> {
    let (leases, out) = (archive.catalogue.leases()?, archive.catalogue.out_of_use()?);
    let mut known = of_catalogue(resource, &leases, &out);
    match resource {
        Resource::Volume => {
            crate::commands::catalog::volume(archive, name)?;
            return Ok(());
        }
        Resource::Host => {
            known.insert(host_name());
        }
        // The log is long, and asked last.
        Resource::Drive if !known.contains(name) => known.extend(of_log(&archive.events())),
        Resource::Drive => {}
    }
    if known.contains(name) {
        return Ok(());
    }
    Err(unknown(resource, name, &known))
}

/// Names in leases, and of what is out of use already.
fn of_catalogue(resource: Resource, leases: &[Lease], out: &[OutOfUse]) -> BTreeSet<String> {
    let leases = leases.iter().filter_map(|lease| match resource {
        Resource::Host => Some(&lease.holder.host),
        Resource::Drive => Some(&lease.drive).filter(|_| !lease.is_desk()),
        Resource::Volume => None,
    });
    let out = out.iter().filter(|out| out.resource == resource);
    leases.chain(out.map(|out| &out.name)).cloned().collect()
}

/// The drives that an event log names. What cannot be read names none.
fn of_log(path: &Path) -> BTreeSet<String> {
    let mut drives = BTreeSet::new();
    let Ok(log) = File::open(path) else {
        return drives;
    };
    let mut reader = EventReader::new(BufReader::new(log));
    while let Ok(Some(record)) = reader.next_record() {
        if let Record::Event(event) = record
            && let Some(drive) = event.device
        {
            drives.insert(drive);
        }
    }
    drives
}

fn unknown(resource: Resource, name: &str, known: &BTreeSet<String>) -> CliError {
    let what = resource.name();
    let said = format!("no mover of this archive has been seen with the {what} {name}");
    let known = match known.len() {
        0 => format!("no {what} is known"),
        _ => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            format!("known: {}", known.join(", "))
        }
    };
    CliError::input(said).hint(format!(
        "{known}. If the name is right, for a {what} that is off or new, add --unseen"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_archive::catalogue::{Holder, Outage};

    #[test]
    fn names_come_from_leases_from_what_is_out_of_use_and_from_the_log() {
        let holder = |host: &str| Holder {
            host: host.to_owned(),
            process: 7,
            run: "a".to_owned(),
        };
        let lease = |drive: &str, host: &str| Lease {
            epoch: 1,
            drive: drive.to_owned(),
            volume: None,
            holder: holder(host),
            until_ns: 1,
        };
        let leases = [lease(&holder("ada").desk(), "ada"), lease("D1", "bob")];
        let out = [OutOfUse {
            resource: Resource::Drive,
            name: "D9".to_owned(),
            outage: Outage::Broken,
            why: String::new(),
            since_ns: 1,
        }];
        let names = |resource| of_catalogue(resource, &leases, &out).into_iter().collect();
        let (hosts, drives): (Vec<String>, Vec<String>) =
            (names(Resource::Host), names(Resource::Drive));
        assert_eq!(
            (hosts, drives.clone()),
            (
                vec!["ada".to_owned(), "bob".to_owned()],
                vec!["D1".to_owned(), "D9".to_owned()]
            )
        );

        let directory = tempfile::tempdir().expect("a directory");
        let log = directory.path().join("events.jsonl");
        assert!(of_log(&log).is_empty());
        let line = "{\"action\":\"mount\",\"at_us\":1,\"took_us\":1,\"device\":\"D2\"}\n";
        std::fs::write(
            &log,
            format!("{{\"tapewise_events\":1,\"tool\":\"t\"}}\n{line}{line}no"),
        )
        .expect("a log");
        assert_eq!(of_log(&log).into_iter().collect::<Vec<_>>(), ["D2"]);
        let error = unknown(Resource::Drive, "D3", &drives.into_iter().collect());
        let hint = error.to_do().expect("a hint");
        assert!(
            hint.contains("known: D1, D9") && hint.contains("--unseen"),
            "{hint}"
        );
    }
}
