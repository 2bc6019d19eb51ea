//! Mounts that end early: for what is overdue elsewhere, and before anybody needs the drive.

use super::World;
use crate::library::drive::State;
use crate::library::ids::{CartridgeId, DriveId, HallId, Id};
use crate::library::parts::Part;
use crate::mounts::{MountPolicy, Pace, cuts, take_home};

impl World<'_> {
    /// Whether a drive ends its mount for a cartridge that waits.
    pub(super) fn is_cut(&self, number: DriveId) -> bool {
        let policy = self.policy();
        if policy.mount != MountPolicy::Ahead {
            return false;
        }
        let drive = &self.drives[number];
        let hall = &self.halls[drive.hall];
        let Some(cartridge) = drive.cartridge.filter(|_| hall.free == 0) else {
            return false;
        };
        let legs = drive.round.legs.get(drive.leg);
        let unread = legs.map_or(&[][..], |leg| &drive.round.sequence[leg.answers.start..]);
        let mut left = self.cartridges[cartridge].known;
        for &index in unread {
            let pending = &self.pending[drive.batch[index as usize]];
            let answer = &pending.answer;
            left.add(
                answer.number,
                answer.arrived,
                pending.size_mb,
                answer.priority,
            );
        }
        let kind = self.kind(number);
        let waiting = hall
            .ready
            .iter()
            .map(|&ready| &self.cartridges[ready].known);
        let readable = waiting.filter(|waiting| kind.reads[waiting.medium.0]);
        cuts(policy.mount, self.now(), &left, readable, &policy.rules)
    }

    /// What a drive has not read yet goes back to where it waited, and the cartridge goes home.
    pub(super) fn cut(&mut self, number: DriveId) {
        let now = self.now();
        let drive = &mut self.drives[number];
        let lost = self.halls[drive.hall].lost.map(|loss| loss.sum(now));
        let first = drive.round.legs.get(drive.leg).map(|leg| leg.answers.start);
        let unread = drive
            .round
            .sequence
            .split_off(first.unwrap_or(drive.round.sequence.len()));
        let (spent, hall) = (drive.spent, drive.hall);
        let mut back: Vec<_> = unread
            .iter()
            .map(|&index| drive.batch[index as usize])
            .collect();
        drive.batch.clear();
        drive.round.legs.clear();
        drive.round.sequence.clear();
        let Some(cartridge) = drive.cartridge else {
            return;
        };
        back.sort_by_key(|&request| self.pending[request].answer.number);
        for &request in &back {
            let pending = &mut self.pending[request];
            let mut grown = spent.since(&pending.joined);
            // The drive worked for others of its mount.
            for part in [Part::Search, Part::Read] {
                let time = std::mem::take(&mut grown[part]);
                grown[Part::Behind] += time;
            }
            pending.answer.parts.add(&grown);
            (pending.since, pending.lost) = (now, lost);
        }
        self.cartridges[cartridge].waiting.splice(0..0, back);
        self.recount(cartridge);
        self.halls[hall].usage.cuts += 1;
        self.dismount(number);
    }

    /// Takes cartridges home that nobody asks for, if their drives will be needed.
    pub(super) fn tidy(&mut self, hall: HallId) {
        let policy = self.policy();
        if policy.mount != MountPolicy::Ahead {
            return;
        }
        loop {
            let drives: Vec<_> = self.free_drives_of(hall).collect();
            let pace = self.pace(hall);
            let Some(place) = take_home(policy.mount, &drives, &pace) else {
                return;
            };
            self.halls[hall].free -= 1;
            self.dismount(DriveId(drives[place].drive));
        }
    }

    /// What the library has seen so far.
    fn pace(&self, hall: HallId) -> Pace {
        let state = &self.halls[hall];
        let built = &self.site.halls[hall.index()];
        let first = state.first_drive;
        let drives = (first..first + built.drives.len() as u32).map(|n| &self.drives[DriveId(n)]);
        let goes_home = |state: State| {
            matches!(
                state,
                State::Rewinding { unload: true }
                    | State::Unloading
                    | State::WaitsForPut
                    | State::Putting
            )
        };
        let soon_empty = drives.filter(|drive| goes_home(drive.state) && drive.next.is_none());
        let seconds = self.now().as_secs_f64().max(1.0);
        Pace {
            mounts: state.usage.mounts as f64 / seconds,
            again: state.left.again_per_s(),
            before_s: built.before_s,
            after_s: built.after_s,
            soon_empty: soon_empty.count(),
        }
    }

    /// Puts down that nothing is left to be read of a cartridge.
    pub(super) fn leave(&mut self, hall: HallId, cartridge: Option<CartridgeId>) {
        let now = self.now();
        let Some(cartridge) = cartridge else { return };
        let state = &mut self.cartridges[cartridge];
        if state.waiting.is_empty() {
            state.left = Some(now);
            self.halls[hall].left.left += 1;
        }
    }
}
