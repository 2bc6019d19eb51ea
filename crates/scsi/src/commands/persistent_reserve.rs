//! PERSISTENT RESERVE IN and OUT (5Eh, 5Fh): who may use the drive (SPC-5, 6.16 and 6.17).

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use crate::reservation_type::ReservationType;
use std::time::Duration;

/// Asks for the keys that are registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadKeys;

/// Asks for the reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadReservation;

/// The keys that are registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// PRGENERATION: it rises with each change.
    pub generation: u32,
    /// The keys, one for each registered nexus.
    pub keys: Vec<u64>,
}

/// The reservation, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// PRGENERATION.
    pub generation: u32,
    /// The key of the holder, and what he holds.
    pub held: Option<(u64, ReservationType)>,
}

/// Changes registrations or the reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersistentReserveOut {
    action: u8,
    kind: ReservationType,
    parameters: [u8; 24],
}

/// Room for a thousand keys.
const LENGTH: u16 = 8 + 8 * 1000;

fn cdb(service_action: u8) -> Cdb {
    let [a, b] = LENGTH.to_be_bytes();
    Cdb::new([0x5e, service_action, 0, 0, 0, 0, 0, a, b, 0])
}

impl Command for ReadKeys {
    type Answer = Keys;

    fn name(&self) -> &'static str {
        "PERSISTENT RESERVE IN (keys)"
    }

    fn cdb(&self) -> Cdb {
        cdb(0x00)
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(usize::from(LENGTH))
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<Keys, DecodeError> {
        let header = Fields::new("registered keys", answer);
        let list = header.part("registered keys", 8, header.u32(4)? as usize)?;
        let keys = (0..list.len()).step_by(8).map(|at| list.u64(at));
        Ok(Keys {
            generation: header.u32(0)?,
            keys: keys.collect::<Result<_, _>>()?,
        })
    }
}

impl Command for ReadReservation {
    type Answer = Reservation;

    fn name(&self) -> &'static str {
        "PERSISTENT RESERVE IN (reservation)"
    }

    fn cdb(&self) -> Cdb {
        cdb(0x01)
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(usize::from(LENGTH))
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<Reservation, DecodeError> {
        let header = Fields::new("reservation", answer);
        let descriptor = header.part("reservation", 8, header.u32(4)? as usize)?;
        let held = (descriptor.len() > 0)
            .then(|| {
                let kind = ReservationType::from_bits(descriptor.u8(13)?);
                Ok((descriptor.u64(0)?, kind))
            })
            .transpose()?;
        Ok(Reservation {
            generation: header.u32(0)?,
            held,
        })
    }
}

impl PersistentReserveOut {
    fn new(action: u8, kind: ReservationType, key: u64, new_key: u64) -> PersistentReserveOut {
        let mut parameters = [0; 24];
        parameters[..8].copy_from_slice(&key.to_be_bytes());
        parameters[8..16].copy_from_slice(&new_key.to_be_bytes());
        PersistentReserveOut {
            action,
            kind,
            parameters,
        }
    }

    /// REGISTER AND IGNORE EXISTING KEY: this nexus has this key now; key 0 ends its registration.
    pub fn register(key: u64) -> PersistentReserveOut {
        PersistentReserveOut::new(0x06, ReservationType::Other(0), 0, key)
    }

    /// RESERVE for the nexus that is registered with this key.
    pub fn reserve(key: u64, kind: ReservationType) -> PersistentReserveOut {
        PersistentReserveOut::new(0x01, kind, key, 0)
    }

    /// RELEASE what [`PersistentReserveOut::reserve`] took; the type must be the same.
    pub fn release(key: u64, kind: ReservationType) -> PersistentReserveOut {
        PersistentReserveOut::new(0x02, kind, key, 0)
    }

    /// CLEAR: ends the reservation and all registrations.
    pub fn clear(key: u64) -> PersistentReserveOut {
        PersistentReserveOut::new(0x03, ReservationType::Other(0), key, 0)
    }

    /// PREEMPT: takes the reservation from the nexus with the key `from`.
    pub fn preempt(key: u64, from: u64, kind: ReservationType) -> PersistentReserveOut {
        PersistentReserveOut::new(0x04, kind, key, from)
    }

    /// PREEMPT AND ABORT: the same, and what the other one has sent and is not carried out yet never will be.
    pub fn preempt_and_abort(key: u64, from: u64, kind: ReservationType) -> PersistentReserveOut {
        PersistentReserveOut::new(0x05, kind, key, from)
    }
}

impl Command for PersistentReserveOut {
    type Answer = ();

    fn name(&self) -> &'static str {
        "PERSISTENT RESERVE OUT"
    }

    fn cdb(&self) -> Cdb {
        let length = self.parameters.len() as u8;
        let kind = self.kind.bits();
        Cdb::new([0x5f, self.action, kind, 0, 0, 0, 0, 0, length, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::Out(&self.parameters)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl Describe for Keys {
    fn describe(&self, report: &mut Report) {
        report.line("generation", self.generation);
        for key in &self.keys {
            report.line("key", format_args!("{key:016x}h"));
        }
    }
}

impl Describe for Reservation {
    fn describe(&self, report: &mut Report) {
        report.line("generation", self.generation);
        match self.held {
            None => report.line("reservation", "none"),
            Some((key, kind)) => {
                report.line("reservation", kind);
                report.line("holder", format_args!("{key:016x}h"));
            }
        }
    }
}
