//! Mounts that end early: for what is overdue elsewhere, and before anybody needs the drive.

use super::World;
use crate::library::drive::{Joined, State};
use crate::library::ids::{CartridgeId, DriveId, HallId, Id, RequestId};
use crate::mounts::{
    Elsewhere, MediumId, MountPolicy, OwnerId, Pace, Shares, Waiting, cuts, take_home, yields,
};

impl World<'_> {
    /// Whether a drive ends its mount for a cartridge that waits.
    pub(super) fn is_cut(&self, number: DriveId) -> bool {
        let policy = self.policy();
        let drive = &self.drives[number];
        let hall = &self.halls[drive.hall];
        let asks = policy.mount == MountPolicy::Ahead && hall.free == 0 && !hall.ready.is_empty();
        let Some(cartridge) = drive.cartridge.filter(|_| asks) else {
            return false;
        };
        let kind = self.kind(number);
        let shares = self.shares_without(number, cartridge);
        let readable = hall.ready.iter().filter_map(|&ready| {
            let known = self.known(&shares, ready);
            kind.reads[known.medium.0].then_some(known)
        });
        let elsewhere = Elsewhere {
            waiting: readable,
            soon_empty: self.soon_empty(drive.hall),
            rules: &policy.rules,
        };
        cuts(policy.mount, self.now(), &self.left_on(number), elsewhere)
    }

    /// Whether a drive reads something else of its cartridge first: for an owner that goes before the one for whom the
    /// drive works, by their shares.
    pub(super) fn turns(&self, number: DriveId) -> bool {
        let drive = &self.drives[number];
        let Some(cartridge) = drive.cartridge.filter(|_| self.has_shares()) else {
            return false;
        };
        let waiting = &self.cartridges[cartridge].waiting;
        let shares = self.shares_without(number, cartridge);
        let standing = |&request: &RequestId| shares.standing(OwnerId(self.answers[request].owner));
        let first = waiting.iter().map(standing).min();
        first.is_some_and(|first| first < shares.standing(drive.owner))
            && !self
                .left_on(number)
                .is_overdue(self.now(), &self.policy().rules)
    }

    /// Whether a drive that has read what it was mounted for is given away, and does not go on with what others want of
    /// its cartridge. It goes on if that is short.
    pub(super) fn yields(&self, number: DriveId) -> bool {
        let drive = &self.drives[number];
        let hall = &self.halls[drive.hall];
        let asks = self.has_shares() && hall.free == 0;
        let Some(cartridge) = drive.cartridge.filter(|_| asks) else {
            return false;
        };
        let shares = self.shares_without(number, cartridge);
        let left = self.known(&shares, cartridge);
        let most = self.policy().most_per_mount;
        let room = most.map_or(u32::MAX, |most| most - drive.served);
        if self.site.halls[drive.hall.index()].is_short(&left, room, drive.kind) {
            return false;
        }
        let kind = self.kind(number);
        let ready = hall.ready.iter().map(|&ready| self.known(&shares, ready));
        let readable = ready.filter(|known| kind.reads[known.medium.0]);
        yields(&shares, &left, readable, self.soon_empty(drive.hall))
    }

    /// Who has how many drives, as if this one were free and what is wanted of a cartridge waited for it.
    pub(super) fn shares_without(&self, number: DriveId, cartridge: CartridgeId) -> Shares {
        let mut shares = self.shares(self.drives[number].hall, Some(number));
        if self.has_shares() {
            self.count_waiting(cartridge, &mut shares);
        }
        shares
    }

    /// What a drive has not read yet of its cartridge, and what waits for that since.
    fn left_on(&self, number: DriveId) -> Waiting {
        let drive = &self.drives[number];
        let medium = MediumId(0);
        let known = drive
            .cartridge
            .map(|cartridge| self.cartridges[cartridge].known);
        let mut left = known.unwrap_or(Waiting::nobody(u32::MAX, medium));
        left.owner = drive.owner;
        for joined in drive.unread() {
            left.add_asked(&self.answers[joined.request].asked());
        }
        left
    }

    /// What a drive has not read yet goes back to where it waited, and the cartridge goes home.
    pub(super) fn cut(&mut self, number: DriveId) {
        self.put_unread_back(number);
        let hall = self.drives[number].hall;
        self.halls[hall].usage.cuts += 1;
        self.dismount(number);
    }

    /// What a drive has not read yet goes back to where it waited.
    pub(super) fn put_unread_back(&mut self, number: DriveId) {
        let now = self.now();
        let drive = &mut self.drives[number];
        drive.account(now);
        let lost = self.halls[drive.hall].lost.map(|loss| loss.sum(now));
        let mut back: Vec<Joined> = drive.unread().collect();
        drive.served -= back.len() as u32;
        let spent = drive.spent;
        drive.batch.clear();
        drive.round.legs.clear();
        drive.round.sequence.clear();
        let Some(cartridge) = drive.cartridge else {
            return;
        };
        back.sort_by_key(|joined| joined.request);
        for joined in &mut back {
            let answer = &mut self.answers[joined.request];
            joined.was_behind(&spent, &mut answer.parts);
            answer.parts.add_growth(&spent, &joined.spent);
            answer.begin_to_wait(now, lost);
        }
        let back = back.iter().map(|joined| joined.request);
        self.cartridges[cartridge].waiting.splice(0..0, back);
        self.recount(cartridge);
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
        let (state, built) = (&self.halls[hall], &self.site.halls[hall.index()]);
        let seconds = self.now().as_secs_f64().max(1.0);
        Pace {
            mounts: state.usage.mounts as f64 / seconds,
            again: state.left.again_per_s(),
            before_s: built.before_s,
            after_s: built.after_s,
            soon_empty: self.soon_empty(hall),
        }
    }

    /// Drives on their way to be empty, which nobody has been given yet.
    fn soon_empty(&self, hall: HallId) -> usize {
        let goes_home = |state: State| {
            matches!(
                state,
                State::RewindingHome | State::Unloading | State::WaitsForPut | State::Putting
            )
        };
        self.drives_of(hall)
            .filter(|(_, drive)| goes_home(drive.state) && drive.next.is_none())
            .count()
    }

    /// Puts down that nothing is left to be read of a cartridge.
    pub(super) fn leave(&mut self, hall: HallId, cartridge: Option<CartridgeId>) {
        // Only who takes cartridges home early asks.
        if self.policy().mount != MountPolicy::Ahead {
            return;
        }
        let now = self.now();
        let state = cartridge.map(|cartridge| &self.cartridges[cartridge]);
        if let Some(state) = state.filter(|state| state.waiting.is_empty()) {
            self.halls[hall].left.leave(state.index, now);
        }
    }
}
