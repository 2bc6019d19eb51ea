//! Who may use the drive: RESERVE and RELEASE of SCSI-2, persistent reservations of SPC-5.

use super::Drive;
use crate::attention::RESERVATIONS_PREEMPTED;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};

/// Persistent reservation type: exclusive access.
const EXCLUSIVE: u8 = 3;
/// Persistent reservation type: exclusive access, registrants only.
const REGISTRANTS_ONLY: u8 = 6;

/// Reservations, of one kind or the other.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    /// The initiator of RESERVE(6).
    unit: Option<usize>,
    /// Registered keys, by initiator.
    keys: Vec<(usize, u64)>,
    /// The initiator that holds the persistent reservation, and its type.
    holder: Option<(usize, u8)>,
    generation: u32,
}

/// An initiator that will never send a command.
const GONE: usize = usize::MAX;

impl Reservations {
    /// What an initiator with this key, in hexadecimal digits, left behind; none without a key.
    pub fn left_behind(key: Option<&str>) -> Reservations {
        let key = key.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        Reservations {
            keys: key.map(|key| (GONE, key)).into_iter().collect(),
            holder: key.map(|_| (GONE, EXCLUSIVE)),
            ..Reservations::default()
        }
    }

    /// What a reset ends: the reservation of SCSI-2, and the persistent ones, which here do not
    /// survive loss of power (APTPL is not supported).
    pub fn reset(&mut self) {
        *self = Reservations::default();
    }

    /// What a reset of the unit ends.
    pub fn reset_unit(&mut self) {
        self.unit = None;
    }

    /// An initiator is gone, and RESERVE(6) with it. Returns whether it has registered a key, which stays.
    pub fn lose(&mut self, nexus: usize) -> bool {
        if self.unit == Some(nexus) {
            self.unit = None;
        }
        self.key(nexus).is_some()
    }

    fn key(&self, nexus: usize) -> Option<u64> {
        let mut keys = self.keys.iter();
        keys.find_map(|&(one, key)| (one == nexus).then_some(key))
    }

    /// Whether the command conflicts with a reservation of another initiator. What only asks, and
    /// what changes reservations, never does.
    pub fn refuses(&self, exchange: &Exchange<'_>) -> bool {
        const ALWAYS: &[u8] = &[0x03, 0x12, 0xa0, 0x5e, 0x5f, 0x17];
        // Allowed beside a persistent reservation only (SPC-5, Table 67 and SSC-4, Table 9).
        const BESIDE_PERSISTENT: &[u8] = &[0x00, 0x05, 0x1a, 0x5a, 0x34, 0x44, 0x4d, 0x8c, 0xa3];
        let (nexus, opcode) = (exchange.nexus, exchange.opcode());
        if ALWAYS.contains(&opcode) {
            return false;
        }
        if self.unit.is_some_and(|holder| holder != nexus) {
            return true;
        }
        match self.holder {
            None => false,
            Some((holder, _)) if holder == nexus => false,
            Some((_, REGISTRANTS_ONLY)) if self.key(nexus).is_some() => false,
            Some(_) => !BESIDE_PERSISTENT.contains(&opcode),
        }
    }

    /// Registers a key, replaces it, or with key 0 gives it up, and a reservation with it.
    fn register(&mut self, nexus: usize, key: u64) {
        self.keys.retain(|&(one, _)| one != nexus);
        if key != 0 {
            self.keys.push((nexus, key));
        } else if self.holder.is_some_and(|(holder, _)| holder == nexus) {
            self.holder = None;
        }
        self.generation += 1;
    }
}

/// RESERVE(6).
pub(super) fn reserve_unit(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    if !drive.reservations.keys.is_empty() {
        return Err(Stop::ReservationConflict);
    }
    drive.reservations.unit = Some(exchange.nexus);
    Ok(())
}

/// RELEASE(6): of another initiator's reservation it does nothing, and says nothing.
pub(super) fn release_unit(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    if drive.reservations.unit == Some(exchange.nexus) {
        drive.reservations.unit = None;
    }
    Ok(())
}

/// PERSISTENT RESERVE IN: keys, reservation, capabilities.
pub(super) fn report(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let all = &drive.reservations;
    let mut answer = all.generation.to_be_bytes().to_vec();
    match exchange.service_action() {
        0 => {
            answer.extend((8 * all.keys.len() as u32).to_be_bytes());
            answer.extend(all.keys.iter().flat_map(|(_, key)| key.to_be_bytes()));
        }
        1 => match all.holder {
            None => answer.extend([0; 4]),
            Some((holder, kind)) => {
                answer.extend(16u32.to_be_bytes());
                answer.extend(all.key(holder).unwrap_or(0).to_be_bytes());
                answer.extend([0, 0, 0, 0, 0, kind, 0, 0]);
            }
        },
        // Length, no capability bits, type mask valid, exclusive and registrants-only.
        _ => answer = vec![0, 8, 0, 0x80, 0x48, 0, 0, 0],
    }
    let allocation = exchange.number::<2>(7);
    exchange.answer(&answer, allocation);
    Ok(())
}

/// PERSISTENT RESERVE OUT: register, reserve, release, clear, preempt, register and ignore.
pub(super) fn change(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let nexus = exchange.nexus;
    let kind = exchange.byte(2) & 0x0f;
    let length = exchange.number::<4>(5);
    if length != 24 {
        return Err(Check::PARAMETER_LIST_LENGTH.into());
    }
    let list = exchange.received(length)?;
    let number = |at: usize| {
        list[at..at + 8]
            .iter()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    };
    let (key, new_key) = (number(0), number(8));
    if drive.reservations.unit.is_some() {
        return Err(Stop::ReservationConflict);
    }
    let action = exchange.service_action();
    let registered = drive.reservations.key(nexus);
    let is_known = match action {
        0 => registered.unwrap_or(0) == key,
        6 => true,
        _ => registered == Some(key),
    };
    if !is_known {
        return Err(Stop::ReservationConflict);
    }
    if matches!(action, 1 | 2 | 4) && kind != EXCLUSIVE && kind != REGISTRANTS_ONLY {
        return Err(Check::invalid_cdb_bits(2, 3).into());
    }
    let all = &mut drive.reservations;
    match action {
        0 | 6 => all.register(nexus, new_key),
        1 => match all.holder {
            None => all.holder = Some((nexus, kind)),
            Some(same) if same == (nexus, kind) => {}
            Some(_) => return Err(Stop::ReservationConflict),
        },
        2 => match all.holder {
            Some((holder, held)) if holder == nexus && held == kind => all.holder = None,
            Some((holder, _)) if holder == nexus => {
                // Invalid release of persistent reservation.
                let code = 0x2604;
                let key = tapewise_scsi::SenseKey::IllegalRequest;
                return Err(Check::new(key, code).into());
            }
            _ => {}
        },
        3 => {
            all.keys.clear();
            all.holder = None;
            all.generation += 1;
            drive.attentions.raise(RESERVATIONS_PREEMPTED, Some(nexus));
        }
        _ => preempt(drive, nexus, kind, new_key)?,
    }
    Ok(())
}

/// Removes the registrations of a key, and takes over the reservation if it was theirs.
fn preempt(drive: &mut Drive, nexus: usize, kind: u8, key: u64) -> Result<(), Stop> {
    let all = &mut drive.reservations;
    let removed: Vec<usize> = all
        .keys
        .iter()
        .filter(|&&(one, other)| other == key && one != nexus)
        .map(|&(one, _)| one)
        .collect();
    let held_key = all.holder.and_then(|(holder, _)| all.key(holder));
    if removed.is_empty() && held_key != Some(key) {
        return Err(Stop::ReservationConflict);
    }
    all.keys.retain(|(one, _)| !removed.contains(one));
    if held_key == Some(key) {
        all.holder = Some((nexus, kind));
    }
    all.generation += 1;
    for one in removed {
        drive.attentions.raise_for(RESERVATIONS_PREEMPTED, one);
    }
    Ok(())
}
