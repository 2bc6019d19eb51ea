//! Whether anybody is there who carries out what waits.

use crate::catalogue::{Catalogue, CatalogueError, Resource};

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
