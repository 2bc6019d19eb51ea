//! Free drives get cartridges: the situation is put together, and the policy decides.

use super::{Event, World};
use crate::library::cartridges::Whereabouts;
use crate::library::drive::{Drive, State};
use crate::library::ids::{CartridgeId, DriveId, HallId, Id};
use crate::library::mechanics::Target;
use crate::library::parts::Part;
use crate::mounts::{
    Choice, FreeDrive, KindId, MediumId, OwnerId, Shares, Situation, Waiting, next,
};
use tapewise_model::Micros;

/// Requests up to which a mount is planned to know what it costs. Of more the estimate is close, as the differences
/// between searches cancel out.
const MOST_PLANNED: usize = 8;

impl World<'_> {
    /// Gives drives to cartridges as long as there are both and the policy wants to.
    pub(super) fn dispatch(&mut self, hall: HallId) {
        while let Some((place, drive)) = self.choose(hall) {
            let state = &mut self.halls[hall];
            let cartridge = state.ready.remove(place);
            state.free -= 1;
            self.cartridges[cartridge].ready = None;
            self.cartridges[cartridge].place = Whereabouts::Drive(drive);
            self.mount(drive, cartridge);
        }
        self.tidy(hall);
    }

    /// The next of the cartridges that are ready, by its place in the list, and its drive.
    fn choose(&mut self, hall: HallId) -> Option<(usize, DriveId)> {
        let state = &self.halls[hall];
        if state.free == 0 || state.ready.is_empty() {
            return None;
        }
        let built = &self.site.halls[hall.index()];
        let reads = |KindId(kind), MediumId(medium)| built.kinds[kind].reads[medium];
        // Nothing to compare, and nothing to wait for.
        if let [only] = state.ready[..]
            && self.policy().mount.takes_what_comes()
        {
            let medium = self.cartridges[only].known.medium;
            let readers = self
                .free_drives_of(hall)
                .filter(|drive| reads(drive.kind, medium));
            let drive = readers.min_by_key(FreeDrive::turn)?;
            return Some((0, DriveId(drive.drive)));
        }
        self.price(hall);
        let state = &self.halls[hall];
        let mut drives = std::mem::take(&mut self.free_drives);
        drives.clear();
        drives.extend(self.free_drives_of(hall));
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.clear();
        let shares = self.shares(hall, None);
        waiting.extend((state.ready.iter()).map(|&number| self.known(&shares, number)));
        let policy = self.policy();
        let choice = next(
            policy.mount,
            &Situation {
                now: self.now(),
                waiting: &waiting,
                drives: &drives,
                reads: &reads,
                cost: &|waiting, drive| {
                    let cartridge = &self.cartridges[CartridgeId(waiting.cartridge)];
                    // What was planned is a mount for all who wait for it.
                    let is_for_all = waiting.requests == cartridge.known.requests;
                    let motion = if is_for_all {
                        &cartridge.motion[..]
                    } else {
                        &[]
                    };
                    built.mount_cost(waiting, policy.most_per_mount, motion, drive)
                },
                rules: &policy.rules,
                shares: &shares,
            },
        );
        let chosen = match choice {
            Choice::Mount { place, drive } => {
                let drive = DriveId(drives[drive].drive);
                self.drives[drive].owner = waiting[place].owner;
                Some((place, drive))
            }
            Choice::Wait(until) => {
                self.decide_at(hall, until);
                None
            }
        };
        (self.free_drives, self.waiting) = (drives, waiting);
        chosen
    }

    /// Plans the mounts that would answer few requests, for policies that ask what they cost.
    fn price(&mut self, hall: HallId) {
        if !self.policy().mount.prices() {
            return;
        }
        let built = &self.site.halls[hall.index()];
        let most = self.policy().most_per_mount.unwrap_or(u32::MAX) as usize;
        for &number in &self.halls[hall].ready {
            let cartridge = &mut self.cartridges[number];
            let read = cartridge.waiting.len().min(most);
            if !cartridge.motion.is_empty() || read > MOST_PLANNED {
                continue;
            }
            let answers = (cartridge.waiting[..read].iter()).map(|&request| &self.answers[request]);
            self.targets.clear();
            self.targets.extend(answers.map(|answer| Target {
                place: answer.place,
                size_mb: answer.size_mb,
            }));
            let (targets, algorithm) = (&self.targets, self.site.order.algorithm);
            let kinds = built.kinds.iter();
            cartridge.motion = kinds
                .map(|kind| kind.mechanics.motion(targets, algorithm))
                .collect();
        }
    }

    /// Who of a library's users has how many drives: nobody is counted where there is one user, or the policy
    /// does not see to shares. One of the drives can be seen as free.
    #[inline]
    pub(super) fn shares(&self, hall: HallId, free: Option<DriveId>) -> Shares {
        if !self.has_shares() {
            return Shares::default();
        }
        let rules = &self.policy().rules;
        let mut shares = Shares::of(self.site.halls[hall.index()].drives.len(), rules);
        for &cartridge in &self.halls[hall].ready {
            self.count_waiting(cartridge, &mut shares);
        }
        let drives = self.drives_of(hall);
        for (_, drive) in drives.filter(|(number, _)| Some(*number) != free) {
            if drive.state.is_at_work() {
                shares.works(drive.owner, rules.share(drive.owner));
            }
        }
        shares
    }

    /// Counts those who wait for a cartridge as active.
    pub(super) fn count_waiting(&self, cartridge: CartridgeId, shares: &mut Shares) {
        for &request in &self.cartridges[cartridge].waiting {
            let owner = OwnerId(self.answers[request].owner);
            shares.waits(owner, self.policy().rules.share(owner));
        }
    }

    /// What is known of a cartridge, as its owners' shares let it be seen.
    pub(super) fn known(&self, shares: &Shares, number: CartridgeId) -> Waiting {
        let cartridge = &self.cartridges[number];
        let mut known = cartridge.known;
        known.ready = cartridge.ready.unwrap_or(u64::MAX);
        known.here = match cartridge.place {
            Whereabouts::Drive(DriveId(drive)) => cartridge.ready.map(|_| drive),
            Whereabouts::Slot | Whereabouts::Stuck => None,
        };
        if !self.has_shares() {
            return known;
        }
        let requests = cartridge.waiting.iter();
        known.for_owners(
            shares,
            requests.map(|&request| self.answers[request].asked()),
        )
    }

    /// Whether there are several users, and a policy that sees to them.
    pub(super) fn has_shares(&self) -> bool {
        self.owners > 1 && self.policy().mount.prices()
    }

    /// Puts down that a policy wants to be asked again.
    fn decide_at(&mut self, hall: HallId, until: Option<Micros>) {
        let state = &mut self.halls[hall];
        if let Some(until) = until.filter(|until| state.decides.is_none_or(|at| *until < at)) {
            state.decides = Some(until);
            self.agenda.at(until, Event::Decide { hall });
        }
    }

    /// A policy that waited is asked again.
    pub(super) fn decide(&mut self, hall: HallId) {
        if self.halls[hall].decides.is_some_and(|at| at <= self.now()) {
            self.halls[hall].decides = None;
        }
        self.dispatch(hall);
    }

    /// All drives of a library with their numbers.
    pub(super) fn drives_of(&self, hall: HallId) -> impl Iterator<Item = (DriveId, &Drive<'_>)> {
        let first = self.halls[hall].first_drive;
        let count = self.site.halls[hall.index()].drives.len();
        let drives = &self.drives.items()[first as usize..][..count];
        (first..).map(DriveId).zip(drives)
    }

    pub(super) fn free_drives_of(&self, hall: HallId) -> impl Iterator<Item = FreeDrive> + '_ {
        self.drives_of(hall).filter_map(|(DriveId(number), drive)| {
            matches!(drive.state, State::Empty | State::Idle).then_some(FreeDrive {
                drive: number,
                kind: KindId(drive.kind),
                loaded: drive.state == State::Idle,
                since: drive.since,
            })
        })
    }

    /// Counts anew what waits for a cartridge.
    pub(super) fn recount(&mut self, number: CartridgeId) {
        let cartridge = &mut self.cartridges[number];
        cartridge.known = Waiting::nobody(number.0, cartridge.known.medium);
        cartridge.motion.clear();
        for &request in &cartridge.waiting {
            (cartridge.known).add_asked(&self.answers[request].asked());
        }
    }

    /// A drive is to serve a cartridge: its own goes first, if it has one.
    fn mount(&mut self, number: DriveId, cartridge: CartridgeId) {
        let drive = &mut self.drives[number];
        if drive.cartridge == Some(cartridge) {
            return self.read_on(number);
        }
        drive.chosen_for(cartridge);
        let occupied = drive.cartridge.is_some();
        self.join(number, Part::DriveWait);
        if occupied {
            self.dismount(number);
        } else {
            self.ask_robot(number, true);
        }
    }
}
