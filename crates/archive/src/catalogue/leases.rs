//! Leases: which mover has which drive and which cartridge, and until when.
//!
//! Several processes work on one archive. Each claims a drive, with the cartridge that is to go into it, in one short
//! transaction, and renews what it has while it works. Whoever does not renew in time has lost the lease: the next claim
//! of anybody ends it, puts what it had begun back into the queue, and gives drive and cartridge out again.
//!
//! Every lease has an *epoch*, a number that only grows. All that a mover writes for a mount goes through
//! [`Leases::under`], where each transaction first looks whether that epoch is still in force; if it is not, the
//! transaction fails with [`CatalogueError::LeaseLost`](super::CatalogueError::LeaseLost) and nothing is written. The
//! drive is told the epoch too, in the key of its reservation, so that a host which was away has no way to the tape.
//!
//! Times come from the callers, so hosts' clocks must agree, to a small part of a lease. If one is wrong, leases end early
//! and work is done again; drive and catalogue still keep the old holder out.

use super::ids::{RequestId, VolumeId};
use super::{Catalogue, Result};
use std::fmt;
use std::sync::Arc;

/// A mover: one run of one process on one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The name of its host.
    pub host: String,
    /// The number of its process there.
    pub process: u32,
    /// What no other run has: process numbers come again.
    pub run: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.process, self.host)
    }
}

/// A drive, and the cartridge in it or on its way there, for one mover until a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Greater than that of every lease before.
    pub epoch: u64,
    /// The drive's serial number.
    pub drive: String,
    /// The cartridge; none while the drive is idle.
    pub volume: Option<VolumeId>,
    /// Who has it.
    pub holder: Holder,
    /// When it ends unless it is renewed.
    pub until_ns: i64,
}

/// What the lease of a mover on itself has in the place of a drive: this, and who it is.
const DESK: &str = "mover ";

impl Holder {
    /// What stands in the place of a drive in the lease that a mover has on itself.
    pub fn desk(&self) -> String {
        format!("{DESK}{}@{}", self.process, self.host)
    }
}

impl Lease {
    /// Whether it is a mover's lease on itself, for what needs no drive.
    pub fn is_desk(&self) -> bool {
        self.drive.starts_with(DESK)
    }
}

/// What a mover asks for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The drive's serial number.
    pub drive: &'a str,
    /// The cartridge that is to go into it; none to have the drive alone.
    pub volume: Option<VolumeId>,
    /// Who asks.
    pub holder: &'a Holder,
    /// How long the lease lasts unless it is renewed, nanoseconds.
    pub for_ns: i64,
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is the asker's.
    Got(Lease),
    /// Somebody has the drive or the cartridge.
    Taken(Lease),
    /// Host, drive or cartridge is out of use.
    OutOfUse(OutOfUse),
}

/// What a person can take out of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// A host, by its name: movers there begin nothing more.
    Host,
    /// A drive, by its serial number.
    Drive,
    /// A cartridge, by its label.
    Volume,
}

impl Resource {
    /// All of them.
    pub const ALL: [Resource; 3] = [Resource::Host, Resource::Drive, Resource::Volume];

    /// Its name in catalogues and answers.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Host => "host",
            Resource::Drive => "drive",
            Resource::Volume => "volume",
        }
    }
}

/// How something is out of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// For a while: what it has is finished, nothing more is begun, and what waits for it waits.
    Disabled,
    /// For good: what waits for it is read from another copy, and fails where there is none.
    Broken,
}

impl Outage {
    /// All of them.
    pub const ALL: [Outage; 2] = [Outage::Disabled, Outage::Broken];

    /// Its name in catalogues and answers.
    pub fn name(self) -> &'static str {
        match self {
            Outage::Disabled => "disabled",
            Outage::Broken => "broken",
        }
    }
}

/// Something that a person has taken out of use, or a mover that cannot read the label of a cartridge or found another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfUse {
    /// What it is.
    pub resource: Resource,
    /// Its name.
    pub name: String,
    /// How.
    pub outage: Outage,
    /// The reason, in the words of whoever took it out of use.
    pub why: String,
    /// Since when.
    pub since_ns: i64,
}

impl OutOfUse {
    /// Whether it is the volume with this label.
    pub fn is_volume(&self, label: &str) -> bool {
        self.resource == Resource::Volume && self.name == label
    }
}

impl fmt::Display for OutOfUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (resource, outage) = (self.resource.name(), self.outage.name());
        write!(f, "{resource} {} is {outage}: {}", self.name, self.why)
    }
}

/// Who has what.
pub trait Leases: Send + Sync {
    /// Claims a drive, and a cartridge with it. Leases whose time is over end first, whoever had them. What the
    /// same holder has of this drive is replaced.
    fn claim(&self, wanted: &Wanted<'_>, at_ns: i64) -> Result<Claim>;

    /// Begins with those of these requests that still wait in the queue, for a lease, and returns them.
    ///
    /// Fails where the lease is lost.
    fn take(&self, lease: &Lease, requests: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>>;

    /// Renews all that a holder has, and returns it. A lease that is missing in the answer is lost. Then others' leases
    /// whose time is over end, as with a claim.
    fn renew(&self, holder: &Holder, for_ns: i64, at_ns: i64) -> Result<Vec<Lease>>;

    /// Ends a lease: what it had begun and not answered waits again, what it was writing is given up. False where
    /// it was lost before.
    fn give_back(&self, lease: &Lease) -> Result<bool>;

    /// An epoch that no lease had or gets: what a process without one brings into the cache is called by it, see
    /// [`Archive::shared_cache`](crate::open::Archive::shared_cache).
    fn new_epoch(&self) -> Result<u64>;

    /// Gives no epoch up to this one any more: a drive has seen it, and the catalogue, which was restored from a copy, has
    /// not. Fails where the lease is lost, for then somebody may have been given a later one.
    fn skip_epochs(&self, lease: &Lease, up_to: u64) -> Result<()>;

    /// Ends leases whose time is over, as [`Leases::claim`] does; returns how many.
    fn end_expired(&self, at_ns: i64) -> Result<usize>;

    /// All leases, by drive.
    fn leases(&self) -> Result<Vec<Lease>>;

    /// How many drives movers have.
    fn leased_drives(&self) -> Result<usize> {
        let leases = self.leases()?;
        Ok(leases.iter().filter(|lease| !lease.is_desk()).count())
    }

    /// The same catalogue for the holder of a lease: every transaction that writes fails where the lease is lost.
    fn under(&self, lease: &Lease) -> Arc<dyn Catalogue>;

    /// Takes something out of use, or says another reason for it.
    fn take_out_of_use(&self, what: &OutOfUse) -> Result<()>;

    /// Puts something into use again; false where it was.
    fn put_into_use(&self, resource: Resource, name: &str) -> Result<bool>;

    /// All that is out of use, by kind and name.
    fn out_of_use(&self) -> Result<Vec<OutOfUse>>;
}
