//! Whether anybody is there who carries out what waits, and whether a cartridge is.

use crate::catalogue::{Catalogue, CatalogueError, CopyState, Entry, OutOfUse, Outage, Resource};

/// Why nobody begins what waits, in words; none if a mover that may is there, or somebody has begun something.
///
/// A mover has a lease on itself while it is idle, so one that works is seen. Leases whose time is over end first: what a
/// mover had begun when it was killed waits again, although no other one is there to put it back.
///
/// # Errors
/// [`CatalogueError`].
pub fn why_nobody_begins(
    catalogue: &dyn Catalogue,
    at_ns: i64,
) -> Result<Option<String>, CatalogueError> {
    catalogue.end_expired(at_ns)?;
    let leases = catalogue.leases()?;
    let mut hosts = catalogue.out_of_use()?;
    hosts.retain(|what| what.resource == Resource::Host);
    let out_of_use = |host: &str| hosts.iter().find(|what| what.name == host);
    // A host that is out of use finishes what it has.
    let works = |host: &str, has_drive: bool| has_drive || out_of_use(host).is_none();
    let mut movers = leases.iter();
    if movers.any(|lease| works(&lease.holder.host, !lease.is_desk())) {
        return Ok(None);
    }
    // A process that has the archive to itself has no lease.
    if catalogue.open_recalls()?.started > 0 {
        return Ok(None);
    }
    let mut movers = leases.iter();
    Ok(Some(
        match movers.find_map(|lease| out_of_use(&lease.holder.host)) {
            Some(host) => format!("no mover may begin anything: {host}"),
            None => "no mover works for this archive: start `tapewise mover` on a host that reaches the drives"
                .to_owned(),
        },
    ))
}

/// Of a file all of whose whole copies are on cartridges that are broken, at least in part: one of these. None if a copy
/// can be read, or none is whole.
///
/// # Errors
/// [`CatalogueError`].
pub fn broken_volume_of(
    catalogue: &dyn Catalogue,
    entry: &Entry,
    out_of_use: &[OutOfUse],
) -> Result<Option<OutOfUse>, CatalogueError> {
    let is_broken = |what: &&OutOfUse| what.outage == Outage::Broken;
    let mut found = None;
    if !out_of_use.iter().any(|what| is_broken(&what)) {
        return Ok(found);
    }
    let copies = entry.copies.iter();
    for copy in copies.filter(|copy| copy.state == CopyState::Whole) {
        let mut of_copy = None;
        for (volume, _) in &copy.segments {
            let label = catalogue.volume(*volume)?.label;
            let mut broken = out_of_use.iter().filter(is_broken);
            of_copy = of_copy.or(broken.find(|what| what.is_volume(&label)).cloned());
        }
        if of_copy.is_none() {
            return Ok(None);
        }
        found = found.or(of_copy);
    }
    Ok(found)
}
