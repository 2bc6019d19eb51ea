//! A mover among others: what it may use, and for how long that is sure.
//!
//! A mover that shares its archive claims every drive that it opens, and for each mount the cartridge too. It renews
//! what it has; by its own clock, which never goes back, it knows until when each lease is in force for sure, and sends
//! no write after that. If it was stopped for longer than it can know, the drive refuses it, because whoever claimed
//! the drive since has fenced it, and so does the catalogue: the next thing that it would write there fails.

use super::MoveError;
use crate::cache::Cache;
use crate::catalogue::{
    Catalogue, CatalogueError, Claim, Holder, Lease, OutOfUse, RequestId, Resource, VolumeId,
    Wanted,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tapewise_library::pool::{Admission, PoolError};
use tapewise_run::RunError;
use tapewise_scsi::device::Host;
use tapewise_scsi::{LeaseKey, Permit, ScsiError, TapeDrive};

/// A clock in nanoseconds.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Until when each lease is in force for sure, by epoch, on the mover's own clock.
type Sure = Arc<Mutex<HashMap<u64, i64>>>;

/// A mover that shares its archive with others.
pub struct Lessee {
    catalogue: Arc<dyn Catalogue>,
    holder: Holder,
    archive: u16,
    for_ns: i64,
    /// The time of day, for catalogues that have no clock.
    now_ns: Clock,
    /// Its own clock: it never goes back, and goes on while the process is stopped and while the host sleeps.
    own_ns: Clock,
    /// Whether drives are told whose they are. Only a simulation that is to show what happens otherwise says no.
    fences: bool,
    /// Whether what it writes to the catalogue carries the lease: as above.
    has_epochs: bool,
    sure: Sure,
    /// What it needs no drive for.
    desk: Mutex<Option<Leased>>,
    /// Cartridges that cannot be written, and when that was found, on its own clock.
    unwritable: Mutex<HashMap<String, i64>>,
}

/// How long a cartridge that cannot be written is left alone: whoever works all day would mount it again and again.
const LEFT_ALONE_NS: i64 = 86_400_000_000_000;

/// A lease, and the catalogue as its holder may use it.
#[derive(Clone)]
pub struct Leased {
    /// The lease.
    pub lease: Lease,
    /// Fails to write once the lease is lost.
    pub catalogue: Arc<dyn Catalogue>,
}

/// Why a mover does not get what it claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Somebody has the drive, or it is out of use: it is left alone for now.
    Drive(String),
    /// Somebody has the cartridge, or it is out of use.
    Volume(String),
}

fn lock<K>(times: &Mutex<HashMap<K, i64>>) -> MutexGuard<'_, HashMap<K, i64>> {
    times.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lessee {
    /// A mover of a catalogue, whose leases last `for_ns` unless they are renewed.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`].
    pub fn new(
        catalogue: Arc<dyn Catalogue>,
        holder: Holder,
        for_ns: i64,
        now_ns: Clock,
        own_ns: Clock,
    ) -> Result<Lessee, MoveError> {
        let archive = LeaseKey::archive(&catalogue.tie()?.id);
        Ok(Lessee {
            catalogue,
            holder,
            archive,
            for_ns,
            now_ns,
            own_ns,
            fences: true,
            has_epochs: true,
            sure: Sure::default(),
            desk: Mutex::default(),
            unwritable: Mutex::default(),
        })
    }

    /// Without the fence: to show what it is for.
    pub fn without_fence(self) -> Lessee {
        Lessee {
            fences: false,
            ..self
        }
    }

    /// Without the lease in all that it writes to the catalogue: as above.
    pub fn without_epochs(self) -> Lessee {
        Lessee {
            has_epochs: false,
            ..self
        }
    }

    /// Who it is.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Claims a drive, and a cartridge with it, and reserves the drive under the lease.
    ///
    /// # Errors
    /// [`MoveError`] of the catalogue, and of the drive: one that somebody else has reserved among them.
    pub fn claim(
        &self,
        drive: &mut TapeDrive,
        volume: Option<VolumeId>,
    ) -> Result<Result<Leased, Denied>, MoveError> {
        let serial = drive.identity().serial.clone().unwrap_or_default();
        let mut is_first = true;
        loop {
            let leased = match self.claim_as(&serial, volume)? {
                Err(denied) => return Ok(Err(denied)),
                Ok(leased) => leased,
            };
            let Err(error) = self.fence(drive, &leased.lease) else {
                return Ok(Ok(leased));
            };
            let skips = is_first && self.skips_epochs(&leased.lease, &error)?;
            self.give_back(&leased.lease)?;
            if !skips {
                return Err(MoveError::of_scsi(&serial, error));
            }
            is_first = false;
        }
    }

    /// The key under which a drive knows a lease.
    fn key(&self, lease: &Lease) -> LeaseKey {
        LeaseKey {
            archive: self.archive,
            epoch: lease.epoch as u32,
        }
    }

    fn fence(&self, drive: &mut TapeDrive, lease: &Lease) -> Result<(), ScsiError> {
        if self.fences {
            drive.fence(&Host::local(), self.key(lease), self.permit(lease))?;
        }
        Ok(())
    }

    /// A lease that is in force is the last one of its drive. If the drive knows a later one of the archive nevertheless,
    /// the catalogue was restored from a copy that is older than it: from now on its epochs are later ones.
    fn skips_epochs(&self, lease: &Lease, error: &ScsiError) -> Result<bool, MoveError> {
        let ScsiError::Reserved { holder } = error else {
            return Ok(false);
        };
        let later = holder.lease().filter(|one| one.is_after(self.key(lease)));
        let Some(later) = later else {
            return Ok(false);
        };
        match self.catalogue.skip_epochs(lease, later.epoch.into()) {
            Err(CatalogueError::LeaseLost { .. }) => Ok(false),
            skipped => Ok(skipped.map(|()| true)?),
        }
    }

    /// Claims a drive by its serial number.
    fn claim_as(
        &self,
        drive: &str,
        volume: Option<VolumeId>,
    ) -> Result<Result<Leased, Denied>, MoveError> {
        let wanted = Wanted {
            drive,
            volume,
            holder: &self.holder,
            for_ns: self.for_ns,
        };
        let asked_ns = (self.own_ns)();
        let lease = match self.catalogue.claim(&wanted, (self.now_ns)())? {
            Claim::Got(lease) => lease,
            Claim::Taken(other) if other.drive == drive => {
                let why = format!("{} has drive {drive}", other.holder);
                return Ok(Err(Denied::Drive(why)));
            }
            Claim::Taken(other) => {
                let why = format!("{} has it in drive {}", other.holder, other.drive);
                return Ok(Err(Denied::Volume(why)));
            }
            Claim::OutOfUse(what) => return Ok(Err(Denied::by(&what))),
        };
        lock(&self.sure).insert(lease.epoch, self.sure_until(asked_ns));
        let catalogue = if self.has_epochs {
            self.catalogue.under(&lease)
        } else {
            Arc::clone(&self.catalogue)
        };
        Ok(Ok(Leased { lease, catalogue }))
    }

    /// What this mover does without a drive, it does under a lease on itself: so it is seen while it is idle, and two
    /// movers do not hand over the same file.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`].
    pub fn desk(&self) -> Result<Result<Leased, Denied>, MoveError> {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        match desk.as_ref().filter(|one| self.permit(&one.lease)()) {
            Some(leased) => Ok(Ok(leased.clone())),
            None => self.claim_desk(&mut desk),
        }
    }

    /// The same with an epoch that nobody had before: for [`Archive::shared_cache`](crate::open::Archive::shared_cache),
    /// which takes one for each opening.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`].
    pub fn desk_anew(&self) -> Result<Result<Leased, Denied>, MoveError> {
        self.claim_desk(&mut self.desk.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn claim_desk(&self, desk: &mut Option<Leased>) -> Result<Result<Leased, Denied>, MoveError> {
        let claimed = self.claim_as(&self.holder.desk(), None)?;
        *desk = claimed.as_ref().ok().cloned();
        Ok(claimed)
    }

    /// Claims its lease on itself anew the next time: with that, what it had begun there and not answered waits again.
    pub(super) fn leave_desk(&self) {
        *self.desk.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A tenth of a lease is left for clocks that do not go alike.
    fn sure_until(&self, asked_ns: i64) -> i64 {
        asked_ns.saturating_add(self.for_ns - self.for_ns / 10)
    }

    /// Whether a lease is in force for sure.
    fn permit(&self, lease: &Lease) -> Permit {
        let (sure, own_ns, epoch) = (
            Arc::clone(&self.sure),
            Arc::clone(&self.own_ns),
            lease.epoch,
        );
        Arc::new(move || {
            lock(&sure)
                .get(&epoch)
                .is_some_and(|until| own_ns() < *until)
        })
    }

    /// Renews all that this mover has; how many leases that are.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`]. What could not be renewed runs out by itself.
    pub fn renew(&self) -> Result<usize, MoveError> {
        let asked_ns = (self.own_ns)();
        let known: Vec<u64> = lock(&self.sure).keys().copied().collect();
        let kept = self
            .catalogue
            .renew(&self.holder, self.for_ns, (self.now_ns)())?;
        let until_ns = self.sure_until(asked_ns);
        note_renewed(&mut lock(&self.sure), &known, &kept, until_ns);
        Ok(kept.len())
    }

    /// Leaves a cartridge alone that cannot be written.
    pub(super) fn leave_alone(&self, label: &str) {
        lock(&self.unwritable).insert(label.to_owned(), (self.own_ns)());
    }

    /// Whether a cartridge is left alone, because it could not be written a while ago.
    pub(super) fn leaves_alone(&self, label: &str) -> bool {
        let unwritable = lock(&self.unwritable);
        let since = unwritable.get(label);
        since.is_some_and(|since| (self.own_ns)() - since < LEFT_ALONE_NS)
    }

    /// Gives a lease back.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`].
    pub fn give_back(&self, lease: &Lease) -> Result<(), MoveError> {
        lock(&self.sure).remove(&lease.epoch);
        self.catalogue.give_back(lease)?;
        Ok(())
    }

    /// Gives back all drives and cartridges that this mover has.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`].
    pub fn give_back_drives(&self) -> Result<(), MoveError> {
        self.give_back_if(|lease| !lease.is_desk())
    }

    /// Gives back all that this mover has: nothing of it is left.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`].
    pub fn give_back_all(&self) -> Result<(), MoveError> {
        self.give_back_if(|_| true)
    }

    fn give_back_if(&self, is_due: impl Fn(&Lease) -> bool) -> Result<(), MoveError> {
        for lease in self.catalogue.leases()? {
            if lease.holder == self.holder && is_due(&lease) {
                self.give_back(&lease)?;
            }
        }
        Ok(())
    }

    /// Ends the leases of other processes on this host, so that nobody waits until those of a killed one have run out. The
    /// caller has the cache alone: whoever works has it too. A mover that is idle claims its desk anew.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`].
    pub fn succeed(&self, _alone: &Cache) -> Result<(), MoveError> {
        for lease in self.catalogue.leases()? {
            if lease.holder.host == self.holder.host && lease.holder != self.holder {
                self.catalogue.give_back(&lease)?;
            }
        }
        Ok(())
    }

    /// Begins with those of these requests that nobody has begun with.
    ///
    /// # Errors
    /// [`MoveError::Catalogue`], also where the lease is lost.
    pub(super) fn take(
        &self,
        leased: &Leased,
        requests: &[RequestId],
    ) -> Result<Vec<RequestId>, MoveError> {
        Ok(self
            .catalogue
            .take(&leased.lease, requests, (self.now_ns)())?)
    }
}

/// Notes which leases were renewed. Those that were known when the catalogue was asked, and that it does not name, are lost.
/// Of others, which were claimed since, its answer may know nothing.
fn note_renewed(sure: &mut HashMap<u64, i64>, known: &[u64], kept: &[Lease], until_ns: i64) {
    sure.retain(|epoch, until| {
        let is_kept = kept.iter().any(|lease| lease.epoch == *epoch);
        if is_kept {
            *until = until_ns;
        }
        is_kept || !known.contains(epoch)
    });
}

/// What a claim means for the drive: an error of its own is told to the pool, any other one ends the work.
pub(super) fn admission(
    claimed: Result<Admission, MoveError>,
    end: impl FnOnce(MoveError),
) -> Result<Admission, RunError> {
    match claimed {
        Err(MoveError::Pool(PoolError::Drive { source, .. })) => Err(source),
        Err(error) => {
            end(error);
            Ok(Admission::NotNow)
        }
        Ok(admission) => Ok(admission),
    }
}

impl Denied {
    fn by(what: &OutOfUse) -> Denied {
        let why = what.to_string();
        match what.resource {
            Resource::Volume => Denied::Volume(why),
            Resource::Host | Resource::Drive => Denied::Drive(why),
        }
    }
}

impl MoveError {
    /// What a drive said where no cartridge is meant.
    fn of_scsi(serial: &str, source: ScsiError) -> MoveError {
        MoveError::Pool(PoolError::Drive {
            drive: format!("drive {serial}"),
            source: source.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_is_claimed_while_others_are_renewed_stays_in_force() {
        let lease = |epoch| Lease {
            epoch,
            drive: format!("drive {epoch}"),
            volume: None,
            holder: Holder {
                host: "here".to_owned(),
                process: 1,
                run: "this".to_owned(),
            },
            until_ns: 0,
        };
        // 3 and 5 are held when the catalogue is asked; 3 is lost; 7 is claimed before, and 8 after the answer.
        let mut sure = HashMap::from([(3, 10), (5, 10), (7, 20), (8, 20)]);
        note_renewed(&mut sure, &[3, 5], &[lease(5), lease(7)], 30);
        assert_eq!(sure, HashMap::from([(5, 30), (7, 30), (8, 20)]));
    }
}
