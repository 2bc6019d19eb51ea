//! For whom a drive is reserved.

use crate::exchange::Exchange;

/// Persistent reservation type: exclusive access.
pub(super) const EXCLUSIVE: u8 = 3;
/// Persistent reservation type: exclusive access, registrants only.
pub(super) const REGISTRANTS_ONLY: u8 = 6;

/// Reservations, of one kind or the other.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    /// The initiator of RESERVE(6).
    pub(super) unit: Option<usize>,
    /// Registered keys, by initiator.
    pub(super) keys: Vec<(usize, u64)>,
    /// The initiator that holds the persistent reservation, and its type.
    pub(super) holder: Option<(usize, u8)>,
    pub(super) generation: u32,
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

    pub(super) fn key(&self, nexus: usize) -> Option<u64> {
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
    pub(super) fn register(&mut self, nexus: usize, key: u64) {
        self.keys.retain(|&(one, _)| one != nexus);
        if key != 0 {
            self.keys.push((nexus, key));
        } else if self.holder.is_some_and(|(holder, _)| holder == nexus) {
            self.holder = None;
        }
        self.generation += 1;
    }
}
