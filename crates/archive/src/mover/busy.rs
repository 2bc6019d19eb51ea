//! What drives do while one is free: those of this mover, and those of the others.

use super::MoveError;
use super::session::DriveContext;
use crate::catalogue::{RequestId, VolumeQueue};
use std::collections::{BTreeMap, HashMap, HashSet};
use tapewise_sim::mounts::Owner;

/// What is known when a drive is free.
pub(crate) struct Floor<'a> {
    /// The time, nanoseconds since 1970.
    pub now_ns: i64,
    /// Drives of the archive.
    pub drives: usize,
    /// Labels of what is in the drive that is free.
    pub here: &'a HashSet<String>,
    /// For whom the drive has read what is in it.
    pub read_for: Option<&'a ReadFor>,
    /// Whom the other drives work for.
    pub at_work: &'a [Owner],
    /// Recalls that drives have begun, by the directory that they go to.
    pub begun: &'a BTreeMap<Vec<u8>, u64>,
    /// How many bytes of a copy have been read; where another copy was begun, an offset that no part has. None where
    /// nothing was read of any file that has more parts.
    pub come: Option<&'a dyn Fn(RequestId, u32) -> u64>,
}

/// What drives do while one is free.
#[derive(Default)]
pub(super) struct Busy {
    /// All drives.
    pub drives: usize,
    /// For whom the free one has read what is in it.
    pub read_for: Option<ReadFor>,
    /// Whom the others work for.
    pub at_work: Vec<Owner>,
    /// Recalls that they have begun, by the directory that they go to.
    pub begun: BTreeMap<Vec<u8>, u64>,
}

/// For whom a drive has read what is in it, since it was mounted.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadFor {
    rounds: u32,
    /// The last round in which something was read for each.
    of_owners: HashMap<Owner, u32>,
}

impl ReadFor {
    /// The drive has read what it had begun with, for these.
    pub fn add_round(&mut self, owners: impl Iterator<Item = Owner>) {
        self.rounds += 1;
        self.of_owners
            .extend(owners.map(|owner| (owner, self.rounds)));
    }

    /// The last round for an owner, counted from 1; 0 if there was none.
    pub fn last_round(&self, owner: &Owner) -> u32 {
        self.of_owners.get(owner).copied().unwrap_or(0)
    }

    /// Whether the drive has just read for an owner.
    pub fn is_last(&self, owner: &Owner) -> bool {
        self.rounds > 0 && self.last_round(owner) == self.rounds
    }
}

/// A mount of this mover.
pub(super) struct OwnMount<'a> {
    /// Whom it is for.
    pub owner: &'a Owner,
    /// What is read.
    pub queue: &'a VolumeQueue,
    /// The epoch of its lease; none where it has none, or not yet.
    pub epoch: Option<u64>,
}

impl Busy {
    /// What this many drives of the mover do, and those of others as the catalogue knows them.
    pub fn of(
        with: &DriveContext<'_>,
        drives: usize,
        own: &[OwnMount<'_>],
    ) -> Result<Busy, MoveError> {
        let mut busy = Busy {
            drives,
            read_for: None,
            at_work: own.iter().map(|mount| mount.owner.clone()).collect(),
            begun: BTreeMap::new(),
        };
        let is_alone = with.lessee.is_none();
        if is_alone && with.settings.mounts.recalls_per_destination.is_none() {
            return Ok(busy);
        }
        let begun = with.catalogue.begun()?;
        busy.begun = begun.places;
        if is_alone {
            return Ok(busy);
        }
        let is_own = |epoch| own.iter().any(|mount| mount.epoch == epoch);
        let others = begun.mounts.into_iter();
        let others = others.filter(|mount| !is_own(mount.epoch));
        busy.at_work.extend(others.map(|mount| mount.owner));
        busy.drives = drives.max(with.catalogue.leased_drives()?);
        // What was claimed a moment ago is begun with when the drive has its lease.
        let claimed = own.iter().filter(|mount| mount.epoch.is_none());
        let claimed = claimed.flat_map(|mount| &mount.queue.waiting);
        for place in claimed.filter_map(|one| one.place.as_ref()) {
            *busy.begun.entry(place.clone()).or_default() += 1;
        }
        Ok(busy)
    }
}
