//! What a device still has to tell each initiator.

use crate::check::Check;
use std::collections::BTreeMap;

/// Unit attention: power on, reset or bus device reset.
pub(crate) const POWER_ON: u16 = 0x2900;
/// Unit attention: the unit was reset by a task management function.
pub(crate) const UNIT_RESET: u16 = 0x2903;
/// Unit attention: the connection of this initiator was lost.
pub(crate) const NEXUS_LOST: u16 = 0x2907;
/// Unit attention: not ready to ready change, medium may have changed.
pub(crate) const MEDIUM_CHANGED: u16 = 0x2800;
/// Unit attention: import or export element accessed.
pub(crate) const STATION_ACCESSED: u16 = 0x2801;
/// Unit attention: mode parameters changed.
pub(crate) const MODE_CHANGED: u16 = 0x2a01;
/// Unit attention: reservations preempted.
pub(crate) const RESERVATIONS_PREEMPTED: u16 = 0x2a03;

/// The initiators of a device, numbered as they came, with their pending unit attentions.
#[derive(Debug, Default)]
pub(crate) struct Attentions {
    pending: Vec<Vec<u16>>,
    /// Numbers that nobody uses any more.
    free: Vec<usize>,
    /// Initiators that have a name: their numbers, and how many ways they have to the device now.
    ports: BTreeMap<String, (usize, usize)>,
}

impl Attentions {
    /// A new initiator: the first thing it hears is that the power came on.
    pub fn open(&mut self) -> usize {
        if let Some(nexus) = self.free.pop() {
            self.pending[nexus] = vec![POWER_ON];
            return nexus;
        }
        self.pending.push(vec![POWER_ON]);
        self.pending.len() - 1
    }

    /// An initiator with a name: one that was here before and is remembered keeps its number.
    pub fn open_port(&mut self, name: &str) -> usize {
        if let Some((nexus, ways)) = self.ports.get_mut(name) {
            *ways += 1;
            let nexus = *nexus;
            self.raise_for(NEXUS_LOST, nexus);
            return nexus;
        }
        let nexus = self.open();
        self.ports.insert(name.to_owned(), (nexus, 1));
        nexus
    }

    /// A way of this initiator is gone. Returns whether it was the last one.
    pub fn close(&mut self, nexus: usize) -> bool {
        let mut ports = self.ports.values_mut();
        match ports.find(|(one, _)| *one == nexus) {
            Some((_, ways)) => {
                *ways = ways.saturating_sub(1);
                *ways == 0
            }
            None => true,
        }
    }

    /// Nothing of this initiator is to be remembered: its number may be another's.
    pub fn forget(&mut self, nexus: usize) {
        self.ports.retain(|_, (one, _)| *one != nexus);
        if let Some(pending) = self.pending.get_mut(nexus) {
            pending.clear();
            self.free.push(nexus);
        }
    }

    /// Puts a unit attention up for every initiator but `except`.
    pub fn raise(&mut self, code: u16, except: Option<usize>) {
        for nexus in (0..self.pending.len()).filter(|&nexus| Some(nexus) != except) {
            self.raise_for(code, nexus);
        }
    }

    /// Puts a unit attention up for one initiator: one of each code, and in the order of rank.
    pub fn raise_for(&mut self, code: u16, nexus: usize) {
        let Some(pending) = self.pending.get_mut(nexus) else {
            return;
        };
        if !pending.contains(&code) {
            pending.push(code);
            pending.sort_by_key(|&code| rank(code));
        }
    }

    /// The next unit attention of this initiator, which now knows it.
    pub fn take(&mut self, nexus: usize) -> Option<Check> {
        let pending = self.pending.get_mut(nexus)?;
        (!pending.is_empty()).then(|| Check::unit_attention(pending.remove(0)))
    }
}

/// Reset before medium before mode parameters before the rest: the order IBM's LTO drives keep.
fn rank(code: u16) -> u8 {
    match code >> 8 {
        0x29 => 0,
        0x28 => 1,
        0x2a => 2,
        _ => 3,
    }
}
