//! Cartridges that are asked for or in a drive. All others are at rest: they have no state, so that a library of a
//! hundred thousand cartridges keeps only the few at hand that something happens to.

use super::ids::{CartridgeId, DriveId, HallId, Id, RequestId};
use crate::mounts::{MediumId, Waiting};
use std::ops::{Index, IndexMut};
use tapewise_model::Micros;

/// Where a cartridge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    /// In its slot, and nobody is on the way to it.
    Slot,
    /// In a drive, or on the way to or from one.
    Drive(DriveId),
    /// In a drive that failed.
    Stuck,
}

/// A cartridge with the requests that wait for it.
#[derive(Clone, Debug)]
pub(super) struct CartridgeState {
    pub hall: HallId,
    /// Within its library.
    pub index: u32,
    pub place: Whereabouts,
    pub waiting: Vec<RequestId>,
    /// What is known of them together.
    pub known: Waiting,
    /// Searches and rewind of a mount that reads what waits, for each kind of drive; empty if that is not known.
    pub motion: Vec<Micros>,
    /// When it became ready to be mounted, counted.
    pub ready: Option<u64>,
    /// The window that is open, by its number.
    pub window: Option<u32>,
}

/// The cartridges of all libraries.
pub(super) struct Cartridges {
    /// The place of each one's state, or [`AT_REST`].
    places: Vec<u32>,
    states: Vec<CartridgeState>,
    /// Places of cartridges that went to rest.
    unused: Vec<u32>,
}

const AT_REST: u32 = u32::MAX;

impl Cartridges {
    pub(super) fn at_rest(count: usize) -> Cartridges {
        Cartridges {
            places: vec![AT_REST; count],
            states: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// A cartridge is asked for: from now on it has a state.
    pub(super) fn wake(&mut self, number: CartridgeId, hall: HallId, index: u32, medium: MediumId) {
        let place = &mut self.places[number.index()];
        if *place != AT_REST {
            return;
        }
        let known = Waiting::nobody(number.0, medium);
        if let Some(unused) = self.unused.pop() {
            *place = unused;
            // In its place, with the room of its lists.
            let state = &mut self.states[unused as usize];
            (state.hall, state.index, state.known) = (hall, index, known);
            (state.place, state.ready, state.window) = (Whereabouts::Slot, None, None);
            state.waiting.clear();
            state.motion.clear();
            return;
        }
        *place = self.states.len() as u32;
        self.states.push(CartridgeState {
            hall,
            index,
            place: Whereabouts::Slot,
            waiting: Vec::new(),
            known,
            motion: Vec::new(),
            ready: None,
            window: None,
        });
    }

    /// A cartridge is in its slot, and nobody asks for it.
    pub(super) fn rest(&mut self, number: CartridgeId) {
        debug_assert!(self[number].waiting.is_empty() && self[number].ready.is_none());
        self.unused
            .push(std::mem::replace(&mut self.places[number.index()], AT_REST));
    }

    /// A cartridge, unless it is at rest.
    pub(super) fn get(&self, number: CartridgeId) -> Option<&CartridgeState> {
        self.states.get(self.places[number.index()] as usize)
    }
}

impl Index<CartridgeId> for Cartridges {
    type Output = CartridgeState;

    #[inline(always)]
    fn index(&self, number: CartridgeId) -> &CartridgeState {
        &self.states[self.places[number.index()] as usize]
    }
}

impl IndexMut<CartridgeId> for Cartridges {
    #[inline(always)]
    fn index_mut(&mut self, number: CartridgeId) -> &mut CartridgeState {
        &mut self.states[self.places[number.index()] as usize]
    }
}
