//! Who may use the drive: RESERVE and RELEASE of SCSI-2, persistent reservations of SPC-5.

use super::Drive;
use super::reserved::{EXCLUSIVE, REGISTRANTS_ONLY};
use crate::attention::RESERVATIONS_PREEMPTED;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};

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

const PREEMPT_AND_ABORT: u8 = 5;

/// PERSISTENT RESERVE OUT: register, reserve, release, clear, preempt, register and ignore. Commands are carried out one
/// after the other, so that preempt and abort finds nothing to abort; but what the other prevents is over (SPC-5, 6.16).
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
    if matches!(action, 1 | 2 | 4 | 5) && kind != EXCLUSIVE && kind != REGISTRANTS_ONLY {
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
        _ => {
            let removed = preempt(drive, nexus, kind, new_key)?;
            if action == PREEMPT_AND_ABORT {
                drive.prevented.retain(|one| !removed.contains(one));
            }
        }
    }
    Ok(())
}

/// Removes the registrations of a key, and takes over the reservation if it was theirs; whose they were.
fn preempt(drive: &mut Drive, nexus: usize, kind: u8, key: u64) -> Result<Vec<usize>, Stop> {
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
    for &one in &removed {
        drive.attentions.raise_for(RESERVATIONS_PREEMPTED, one);
    }
    Ok(removed)
}
