//! The drive for the holder of a lease: whoever had it by an older lease of the same archive is kept out.
//!
//! The epoch stands in the reservation's key. Taking over is register, then preempt and abort with the older key: from
//! then on the drive answers the other host with RESERVATION CONFLICT, whatever that host believes. Nobody else's key
//! is touched. Where two processes of one host share a path to the drive they are one initiator to it, and it cannot
//! tell them apart: there whoever has the device open keeps others out.

use super::TapeDrive;
use super::heard::Held;
use super::reserve::{EXCLUSIVE, Exclusivity, conflict, reserved};
use crate::commands::PersistentReserveOut;
use crate::device::Host;
use crate::error::ScsiError;
use crate::holder::Holder;
use crate::lease_key::LeaseKey;
use std::sync::Arc;

/// Whether a host may still write: false as soon as its lease may be over.
pub type Permit = Arc<dyn Fn() -> bool + Send + Sync>;

/// How a drive is fenced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fenced {
    /// The kind of reservation. RESERVE(6) has no key: such a drive is not taken from a host that lives.
    pub kind: Exclusivity,
    /// Older leases of the same archive that were still in force in the drive, and are not any more.
    pub taken_from: Vec<LeaseKey>,
}

impl TapeDrive {
    /// Reserves the drive under a lease, until [`TapeDrive::release`], the next lease, or until it is dropped. Takes it
    /// from older leases of the same archive, and from processes of `host` that have ended. From now on nothing is
    /// written where `permit` says no. Unit attentions that wait in the drive are taken.
    ///
    /// # Errors
    /// [`ScsiError::Reserved`] when somebody else holds the drive, a later lease among them, and those of the commands.
    pub fn fence(
        &mut self,
        host: &Host,
        lease: LeaseKey,
        permit: Permit,
    ) -> Result<Fenced, ScsiError> {
        self.permit = Some(permit);
        let Some(found) = self.registrations()? else {
            let reserved = self.reserve_unit()?;
            return Ok(Fenced {
                kind: reserved.kind,
                taken_from: Vec::new(),
            });
        };
        let key = lease.key();
        let is_own = |other: u64| other == key || self.transport.holds(other);
        let is_older = |other: u64| LeaseKey::of_key(other).is_some_and(|one| lease.is_after(one));
        let is_over = |other: u64| is_older(other) || host.owner_of(other).is_gone();
        if let Some((holder, kind)) = found.held
            && !is_own(holder)
            && !is_over(holder)
        {
            return Err(reserved(host, Some((holder, kind))));
        }
        let over = |other: &u64| !is_own(*other) && is_over(*other);
        let over: Vec<u64> = found.keys.into_iter().filter(over).collect();
        self.send_reserve(&PersistentReserveOut::register(key))
            .map_err(|error| conflict(host, error))?;
        self.transport.set_held(Some(Held::Persistent { key }));
        match self.take_from(key, &over) {
            Ok(()) => Ok(Fenced {
                kind: Exclusivity::Persistent,
                taken_from: over.into_iter().filter_map(LeaseKey::of_key).collect(),
            }),
            Err(error) => {
                self.release();
                Err(conflict(host, error))
            }
        }
    }

    /// Takes the reservation, once this nexus is registered with `key`.
    fn take_from(&mut self, key: u64, over: &[u64]) -> Result<(), ScsiError> {
        for &other in over {
            let found = self.registrations()?;
            if found.is_some_and(|found| found.keys.contains(&other)) {
                let preempt = PersistentReserveOut::preempt_and_abort(key, other, EXCLUSIVE);
                self.send_reserve(&preempt)?;
            }
        }
        self.send_reserve(&PersistentReserveOut::reserve(key, EXCLUSIVE))
    }

    /// Fails where a later lease of the archive than that of `key` is registered: after a reset, the host that was
    /// fenced does not come back.
    pub(super) fn refuse_later_lease(&mut self, key: u64) -> Result<(), ScsiError> {
        let Some(lease) = LeaseKey::of_key(key) else {
            return Ok(());
        };
        let found = self.registrations()?;
        let mut keys = found.into_iter().flat_map(|found| found.keys);
        let is_later =
            |other: &u64| LeaseKey::of_key(*other).is_some_and(|one| one.is_after(lease));
        match keys.find(is_later) {
            None => Ok(()),
            Some(later) => Err(ScsiError::Reserved {
                holder: Box::new(Holder::Reservation {
                    held: Some((later, EXCLUSIVE)),
                    owner: crate::holder::Owner::Mover(LeaseKey::of_key(later).unwrap_or(lease)),
                }),
            }),
        }
    }

    pub(super) fn check_permit(&self) -> Result<(), ScsiError> {
        match &self.permit {
            Some(permit) if !permit() => Err(ScsiError::LeaseOver),
            _ => Ok(()),
        }
    }
}
