//! The drive for us alone: reserved before anything is written, released when the [`TapeDrive`] goes.
//!
//! A drive with persistent reservations gets one for exclusive access; others get RESERVE(6). What a
//! process of this host that has ended left behind is cleared; any other reservation is respected.

use super::heard::Held;
use super::{MOST_ATTENTIONS, TapeDrive};
use crate::command::Command;
use crate::commands::{
    PersistentReserveOut, ReadKeys, ReadReservation, ReservationType, ReserveUnit,
};
use crate::device::Host;
use crate::error::ScsiError;
use crate::holder::Holder;
use crate::sense::Condition;
use crate::transport::Status;

/// How a drive is reserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The kind of reservation.
    pub kind: Exclusivity,
    /// Keys of processes that have ended, which were still registered.
    pub cleared: Vec<u64>,
}

/// What keeps others from using a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusivity {
    /// A persistent reservation, exclusive access.
    Persistent,
    /// RESERVE(6).
    Unit,
    /// Nothing: the drive knows neither.
    Nothing,
}

/// The keys that are registered with a drive, and its reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registrations {
    /// Registered keys, each once.
    pub keys: Vec<u64>,
    /// The holder's key, and what it allows others.
    pub held: Option<(u64, ReservationType)>,
}

pub(super) const EXCLUSIVE: ReservationType = ReservationType::ExclusiveAccess;

impl TapeDrive {
    /// Reserves the drive for this process, until [`TapeDrive::release`] or until the drive is
    /// dropped. Registrations of processes of `host` that have ended are cleared. Unit attentions
    /// that wait in the drive are taken.
    ///
    /// # Errors
    /// [`ScsiError::Reserved`] when somebody else holds the drive, and those of the commands.
    pub fn reserve(&mut self, host: &Host) -> Result<Reserved, ScsiError> {
        let key = host.reservation_key();
        let has_it = self.past_attentions(|drive| drive.supports(0x5f, None))?;
        let registrations = match has_it {
            Some(false) => None,
            _ => self.registrations()?,
        };
        let Some(registrations) = registrations else {
            return self.reserve_unit();
        };
        let is_gone = |other: u64| host.owner_of(other).is_gone();
        if let Some((holder, kind)) = registrations.held
            && holder != key
            && !is_gone(holder)
        {
            return Err(reserved(host, Some((holder, kind))));
        }
        let left: Vec<u64> = registrations
            .keys
            .into_iter()
            .filter(|&other| other != key && is_gone(other))
            .collect();
        self.send_reserve(&PersistentReserveOut::register(key))
            .map_err(|error| conflict(host, error))?;
        self.transport.set_held(Some(Held::Persistent { key }));
        match self.take_reservation(key, &left) {
            Ok(()) => Ok(Reserved {
                kind: Exclusivity::Persistent,
                cleared: left,
            }),
            Err(error) => {
                self.release();
                Err(conflict(host, error))
            }
        }
    }

    /// Ends the reservation of [`TapeDrive::reserve`], if there is one. That a drive which was reset
    /// knows nothing of it is no error.
    pub fn release(&mut self) {
        self.transport.release();
    }

    /// Reserves the drive as before, after a reset that may have ended the reservation.
    pub(super) fn reserve_again(&mut self) -> Result<(), ScsiError> {
        match self.transport.held() {
            None => Ok(()),
            Some(Held::Unit) => self.reserve_unit().map(|_| ()),
            Some(Held::Persistent { key }) => {
                self.refuse_later_lease(key)?;
                self.send_reserve(&PersistentReserveOut::register(key))?;
                self.send_reserve(&PersistentReserveOut::reserve(key, EXCLUSIVE))
            }
        }
    }

    /// Who else than this process has reserved the drive. Unit attentions that wait in the drive are
    /// taken. A drive that knows no persistent reservations has none.
    ///
    /// # Errors
    /// [`ScsiError`] when the drive does not answer.
    pub fn reserved_by_others(&mut self, host: &Host) -> Result<Option<Holder>, ScsiError> {
        let asked = self.past_attentions(|drive| drive.if_known(&ReadReservation));
        let held = match asked {
            Err(ScsiError::Status {
                status: Status::ReservationConflict,
                ..
            }) => return Ok(Some(Holder::unknown())),
            asked => asked?.and_then(|answer| answer.held),
        };
        let others = held.filter(|&(key, _)| !self.transport.holds(key));
        Ok(others.map(|(key, kind)| host.holder_of(key, kind)))
    }

    /// Registered keys and the reservation; `None` for a drive without persistent reservations. Unit
    /// attentions that wait in the drive are taken.
    ///
    /// # Errors
    /// [`ScsiError`] when the drive does not answer.
    pub fn registrations(&mut self) -> Result<Option<Registrations>, ScsiError> {
        let Some(keys) = self.past_attentions(|drive| drive.if_known(&ReadKeys))? else {
            return Ok(None);
        };
        let held = self.past_attentions(|drive| drive.if_known(&ReadReservation))?;
        let mut keys = keys.keys;
        keys.sort_unstable();
        keys.dedup();
        Ok(Some(Registrations {
            keys,
            held: held.and_then(|answer| answer.held),
        }))
    }

    /// Ends the registration of another initiator, and its reservation with it.
    ///
    /// # Errors
    /// [`ScsiError`] when the drive refuses, as it does for a key that is not registered.
    pub fn clear_registration(&mut self, host: &Host, other: u64) -> Result<(), ScsiError> {
        let key = host.reservation_key();
        self.send_reserve(&PersistentReserveOut::register(key))?;
        self.transport.set_held(Some(Held::Persistent { key }));
        let done = self.preempt(key, &[other]);
        self.release();
        done
    }

    /// Takes the reservation, once this nexus is registered with `key`.
    fn take_reservation(&mut self, key: u64, left: &[u64]) -> Result<(), ScsiError> {
        self.preempt(key, left)?;
        let held = self.registrations()?.and_then(|found| found.held);
        if let Some((holder, kind)) = held
            && holder == key
            && kind != EXCLUSIVE
        {
            self.send_reserve(&PersistentReserveOut::release(key, kind))?;
        }
        self.send_reserve(&PersistentReserveOut::reserve(key, EXCLUSIVE))
    }

    /// Removes the registrations with these keys. On one path to the drive registering has replaced
    /// the key already: then there is nothing left to remove.
    fn preempt(&mut self, key: u64, others: &[u64]) -> Result<(), ScsiError> {
        for &other in others {
            let found = self.registrations()?;
            if found.is_some_and(|found| found.keys.contains(&other)) {
                self.send_reserve(&PersistentReserveOut::preempt(key, other, EXCLUSIVE))?;
            }
        }
        Ok(())
    }

    pub(super) fn reserve_unit(&mut self) -> Result<Reserved, ScsiError> {
        let taken = self.past_attentions(|drive| drive.if_known(&ReserveUnit));
        let kind = match taken {
            Ok(Some(())) => {
                self.transport.set_held(Some(Held::Unit));
                Exclusivity::Unit
            }
            Ok(None) => Exclusivity::Nothing,
            Err(ScsiError::Status {
                status: Status::ReservationConflict,
                ..
            }) => {
                return Err(ScsiError::Reserved {
                    holder: Box::new(Holder::unknown()),
                });
            }
            Err(error) => return Err(error),
        };
        Ok(Reserved {
            kind,
            cleared: Vec::new(),
        })
    }

    pub(super) fn send_reserve(&mut self, command: &PersistentReserveOut) -> Result<(), ScsiError> {
        self.past_attentions(|drive| drive.perform(command))
    }

    /// Sends a command that the drive may not have at all, or not with these fields.
    fn if_known<C: Command>(&mut self, command: &C) -> Result<Option<C::Answer>, ScsiError> {
        match self.perform(command) {
            Err(error) if error.condition() == Some(Condition::IllegalRequest) => Ok(None),
            Err(error) if error.is_unsupported() => Ok(None),
            other => other.map(Some),
        }
    }

    /// Asks again as long as the drive answers with a unit attention.
    fn past_attentions<T>(
        &mut self,
        mut ask: impl FnMut(&mut TapeDrive) -> Result<T, ScsiError>,
    ) -> Result<T, ScsiError> {
        for _ in 0..MOST_ATTENTIONS {
            match ask(self) {
                Err(error) if is_attention(&error) => {}
                other => return other,
            }
        }
        ask(self)
    }
}

fn is_attention(error: &ScsiError) -> bool {
    matches!(error.condition(), Some(Condition::UnitAttention(_)))
}

pub(super) fn reserved(host: &Host, held: Option<(u64, ReservationType)>) -> ScsiError {
    let holder = match held {
        Some((key, kind)) => host.holder_of(key, kind),
        None => Holder::unknown(),
    };
    ScsiError::Reserved {
        holder: Box::new(holder),
    }
}

/// A conflict says that somebody was quicker than we; anything else stays what it is.
pub(super) fn conflict(host: &Host, error: ScsiError) -> ScsiError {
    match error {
        ScsiError::Status {
            status: Status::ReservationConflict,
            ..
        } => reserved(host, None),
        other => other,
    }
}
