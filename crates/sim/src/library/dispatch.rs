//! Which free drive gets which cartridge.

use super::drive::State;
use super::parts::Part;
use super::world::{Whereabouts, World};
use crate::scenario::MountPolicy;
use std::cmp::Reverse;

/// What goes first goes by the smallest of these: by policy, then by age.
type Rank = (Reverse<u64>, u64);

impl World<'_> {
    /// Gives drives to cartridges as long as there are both.
    pub(super) fn dispatch(&mut self, hall: u16) {
        while let Some((place, drive)) = self.choose(hall) {
            let state = &mut self.halls[usize::from(hall)];
            let cartridge = state.ready.remove(place);
            state.free -= 1;
            self.cartridges[cartridge as usize].ready = None;
            self.cartridges[cartridge as usize].place = Whereabouts::Drive(drive);
            self.mount(drive, cartridge);
        }
    }

    /// The next of the cartridges that are ready, by its place in the list, and its drive.
    fn choose(&mut self, hall: u16) -> Option<(usize, u32)> {
        let state = &self.halls[usize::from(hall)];
        if state.free == 0 || state.ready.is_empty() {
            return None;
        }
        let built = &self.site.halls[usize::from(hall)];
        self.free_drives.clear();
        for medium in 0..built.media {
            let drive = self.free_drive(hall, medium);
            self.free_drives.push(drive);
        }
        let first = self.cartridges[..].get(state.first_cartridge as usize..)?;
        let in_order = self.policy().mount == MountPolicy::Fifo;
        let mut best: Option<(Rank, usize, u32)> = None;
        for (place, &number) in state.ready.iter().enumerate() {
            let index = number - state.first_cartridge;
            let (medium, _) = built.cartridges[index as usize];
            let Some(drive) = self.free_drives[medium] else {
                continue;
            };
            let rank = self.rank(&first[index as usize]);
            if best.is_none_or(|(least, ..)| rank < least) {
                best = Some((rank, place, drive));
            }
            // The list is in that order: none behind it is before it.
            if in_order {
                break;
            }
        }
        best.map(|(_, place, drive)| (place, drive))
    }

    /// The drive that reads a medium and has been free for longest; an empty one before one whose
    /// cartridge would have to go first.
    fn free_drive(&self, hall: u16, medium: usize) -> Option<u32> {
        let built = &self.site.halls[usize::from(hall)];
        let first = self.halls[usize::from(hall)].first_drive;
        let numbers = first..first + built.drives.len() as u32;
        numbers
            .filter(|&number| {
                let drive = &self.drives[number as usize];
                let free = matches!(drive.state, State::Empty | State::Idle);
                free && built.kinds[drive.kind].reads[medium]
            })
            .min_by_key(|&number| {
                let drive = &self.drives[number as usize];
                (drive.state == State::Idle, drive.since, number)
            })
    }

    fn rank(&self, cartridge: &super::world::CartridgeState) -> Rank {
        let numbers = cartridge
            .waiting
            .iter()
            .map(|&r| self.pending[r as usize].answer.number);
        let oldest = || numbers.min().unwrap_or(u64::MAX);
        match self.policy().mount {
            MountPolicy::Fifo => (Reverse(0), cartridge.ready.unwrap_or(u64::MAX)),
            MountPolicy::Oldest => (Reverse(0), oldest()),
            MountPolicy::MostRequests => (Reverse(cartridge.waiting.len() as u64), oldest()),
            MountPolicy::Priority => {
                let urgency = |&r: &u32| u64::from(self.pending[r as usize].answer.priority);
                let most = cartridge.waiting.iter().map(urgency).max();
                (Reverse(most.unwrap_or(0)), oldest())
            }
        }
    }

    /// A drive is to serve a cartridge: its own goes first, if it has one.
    fn mount(&mut self, number: u32, cartridge: u32) {
        let drive = &mut self.drives[number as usize];
        drive.chosen_for(cartridge);
        let occupied = drive.cartridge.is_some();
        self.join(number, Part::DriveWait);
        match occupied {
            true => self.dismount(number),
            false => self.ask_robot(number, true),
        }
    }
}
