//! What drives do with their cartridges, step by step.

use super::{Event, World};
use crate::library::cartridges::Whereabouts;
use crate::library::drive::{Joined, State};
use crate::library::ids::{CartridgeId, DriveId, Id, RequestId};
use crate::library::mechanics::{Head, Target};
use crate::library::parts::Part;
use crate::library::record::{Action, Record};
use crate::library::site::Kind;
use crate::mounts::OwnerId;
use crate::scenario::{Dismount, MountPolicy, Rewind};
use std::cmp::Reverse;
use tapewise_model::Micros;

impl<'a> World<'a> {
    #[inline(always)]
    pub(super) fn kind(&self, drive: DriveId) -> &'a Kind {
        self.drives[drive].what
    }

    /// A drive is through with its state and goes over to another.
    #[inline(always)]
    pub(super) fn enter(&mut self, drive: DriveId, state: State) {
        self.write_log(drive);
        let now = self.now();
        self.drives[drive].turn_to(state, now);
    }

    /// A drive goes over to a state that lasts for a time.
    fn begin(&mut self, number: DriveId, state: State, takes: Micros) {
        self.write_log(number);
        let now = self.now();
        let drive = &mut self.drives[number];
        drive.turn_to(state, now);
        let over = Event::Drive {
            drive: number,
            epoch: drive.epoch,
        };
        self.agenda.after(takes, over);
    }

    /// Writes down what a drive has done in the state that it leaves.
    #[inline(always)]
    fn write_log(&mut self, drive: DriveId) {
        if self.log.is_some() {
            let record = self.record(drive);
            self.log.iter_mut().for_each(|log| log.extend(record));
        }
    }

    /// What stands in the log of the state that a drive leaves.
    #[cold]
    fn record(&self, number: DriveId) -> Option<Record> {
        let (now, kind, drive) = (self.now(), self.kind(number), &self.drives[number]);
        let action = drive.state.action()?;
        let at = match action {
            Action::Mount => drive.load_began,
            _ => drive.since,
        };
        let leg = drive
            .round
            .legs
            .get(drive.leg)
            .filter(|_| action == Action::Locate);
        let position = |head: &Head| head.position(&kind.mechanics);
        let bytes = match (action, drive.round.legs.get(drive.leg)) {
            (Action::Read, Some(leg)) => drive.round.sequence[leg.answers.clone()]
                .iter()
                .map(|&index| self.answers[drive.batch[index as usize].request].size_mb)
                .map(|size_mb| (size_mb * 1e6) as u64)
                .sum(),
            _ => 0,
        };
        let cartridge = drive.cartridge.map(|number| self.cartridges[number].index);
        Some(Record {
            action,
            at,
            took: now - at,
            library: drive.hall.0,
            drive: drive.index,
            robot: None,
            cartridge,
            // The head counts as gone there when it has read.
            from: leg.and_then(|_| position(&drive.head)),
            to: leg.and_then(|leg| position(&leg.to)),
            bytes,
        })
    }

    /// A drive has done what it did.
    pub(super) fn drive_done(&mut self, drive: DriveId) {
        match self.drives[drive].state {
            State::Loading => {
                let hall = self.drives[drive].hall;
                let poll_s = self.site.scenario.libraries[hall.index()].software.poll_s;
                // The asking does not begin with the load: how long until the next one is chance.
                let until = if poll_s > 0.0 {
                    Micros::from_secs_f64(poll_s * self.service.unit())
                } else {
                    Micros::ZERO
                };
                if self.is_next(until) {
                    self.enter(drive, State::Polling);
                    return self.loaded(drive);
                }
                self.begin(drive, State::Polling, until);
            }
            State::Polling => self.loaded(drive),
            State::Searching => {
                let leg = self.drives[drive].leg;
                let read = self.drives[drive].round.legs[leg].read;
                if self.is_next(read) {
                    self.enter(drive, State::Reading);
                    return self.leg_done(drive);
                }
                self.begin(drive, State::Reading, read);
            }
            State::Reading => self.leg_done(drive),
            State::Rewinding => {
                self.rewound(drive);
                self.settle(drive)
            }
            State::RewindingHome => {
                self.rewound(drive);
                self.dismount(drive)
            }
            State::Unloading => {
                if self.waits_for_unload(self.drives[drive].hall) {
                    self.carry(drive, false)
                } else {
                    self.ask_robot(drive, false)
                }
            }
            State::Cleaning => {
                let (now, hall) = (self.now(), self.drives[drive].hall);
                self.halls[hall].lost[0].change(now, -1);
                self.emptied(drive);
            }
            State::Idle => {
                let hall = self.drives[drive].hall;
                self.halls[hall].free -= 1;
                self.dismount(drive);
            }
            // No end of these is put down: robots end them, or a request, or a repair.
            State::Empty
            | State::WaitsForGet
            | State::Getting
            | State::WaitsForPut
            | State::Putting
            | State::Failed => {}
        }
    }

    /// A robot has brought the cartridge.
    pub(super) fn got(&mut self, drive: DriveId) {
        let (now, kind) = (self.now(), self.kind(drive));
        let takes = kind.mechanics.load.time(&mut self.service);
        let state = &mut self.drives[drive];
        state.cartridge = state.next.take();
        state.mounts_since_cleaning += 1;
        state.load_began = now;
        let (hall, fails) = (state.hall, state.fails);
        self.halls[hall].usage.mounts += 1;
        if fails {
            self.fail(drive)
        } else {
            self.begin(drive, State::Loading, takes)
        }
    }

    /// The head is where it is after a load and after a rewind.
    fn rewound(&mut self, drive: DriveId) {
        let rewound = self.kind(drive).mechanics.rewound;
        let state = &mut self.drives[drive];
        (state.rewound, state.head) = (true, rewound);
    }

    fn loaded(&mut self, drive: DriveId) {
        self.rewound(drive);
        if self.policy().affinity {
            if self.turns(drive) {
                self.put_unread_back(drive);
            }
            self.join(drive, Part::DriveWait);
        }
        self.start_round(drive);
    }

    /// A drive that was idle is asked for its own cartridge.
    pub(super) fn take_up(&mut self, drive: DriveId) {
        let hall = self.drives[drive].hall;
        self.halls[hall].free -= 1;
        self.read_on(drive);
    }

    /// A drive begins a mount of the cartridge that it has.
    pub(super) fn read_on(&mut self, drive: DriveId) {
        self.drives[drive].served = 0;
        self.join(drive, Part::DriveWait);
        self.start_round(drive);
    }

    /// Puts the requests of the owners that go first by their shares before those of others, and counts the others:
    /// they are read after them.
    fn served_last(&mut self, number: DriveId, cartridge: CartridgeId) -> usize {
        if !self.has_shares() {
            return 0;
        }
        let shares = self.shares_without(number, cartridge);
        let drive = &self.drives[number];
        let answers = &self.answers;
        let standing = |request: &RequestId| shares.standing(OwnerId(answers[*request].owner));
        let waiting = &mut self.cartridges[cartridge].waiting;
        waiting.sort_by_key(|request| (standing(request), *request));
        let joined = drive.batch.iter().map(|joined| &joined.request);
        let first = joined.chain(waiting.iter()).map(standing).min();
        let others = waiting.iter().rev();
        others
            .take_while(|&request| Some(standing(request)) != first)
            .count()
    }

    /// Requests for the drive's cartridge, or the next one, join it, as many as one mount may have.
    pub(super) fn join(&mut self, number: DriveId, waited: Part) {
        let (now, policy) = (self.agenda.now(), self.policy());
        let drive = &mut self.drives[number];
        drive.account(now);
        let Some(cartridge) = drive.next.or(drive.cartridge) else {
            return;
        };
        let hall = drive.hall;
        let served = self.served_last(number, cartridge);
        let drive = &mut self.drives[number];
        let waiting = &mut self.cartridges[cartridge].waiting;
        let room = policy
            .most_per_mount
            .map_or(u32::MAX, |most| most.saturating_sub(drive.served));
        let count = (waiting.len() - served).min(room as usize);
        if let Some(&first) = waiting.first().filter(|_| count > 0) {
            drive.owner = OwnerId(self.answers[first].owner);
        }
        if policy.mount == MountPolicy::Priority {
            let answers = &self.answers;
            waiting.sort_by_key(|&request| (Reverse(answers[request].priority), request));
        }
        let lost = self.halls[hall].lost.map(|loss| loss.sum(now));
        for request in waiting.drain(..count) {
            let answer = &mut self.answers[request];
            answer.count(waited, now);
            answer.join(drive.index, lost);
            let spent = drive.spent;
            drive.batch.push(Joined { request, spent });
        }
        drive.served += count as u32;
        self.recount(cartridge);
    }

    fn start_round(&mut self, number: DriveId) {
        let (mechanics, order) = (&self.kind(number).mechanics, self.site.order);
        let drive = &mut self.drives[number];
        let answers = &self.answers;
        self.targets.clear();
        self.targets.extend(drive.batch.iter().map(|joined| {
            let answer = &answers[joined.request];
            Target {
                place: answer.place,
                size_mb: answer.size_mb,
            }
        }));
        let random = &mut self.service;
        mechanics.plan(drive.head, &self.targets, order, random, &mut drive.round);
        drive.leg = 0;
        self.next_leg(number);
    }

    fn next_leg(&mut self, number: DriveId) {
        let now = self.now();
        let drive = &mut self.drives[number];
        drive.account(now);
        let Some(leg) = drive.round.legs.get(drive.leg) else {
            drive.batch.clear();
            drive.round.legs.clear();
            drive.round.sequence.clear();
            return self.round_over(number);
        };
        // Until now the drive worked for others of its mount.
        for &index in &drive.round.sequence[leg.answers.clone()] {
            let joined = &mut drive.batch[index as usize];
            let answer = &mut self.answers[joined.request];
            joined.was_behind(&drive.spent, &mut answer.parts);
        }
        let search = leg.search;
        self.begin(number, State::Searching, search);
    }

    fn leg_done(&mut self, number: DriveId) {
        let now = self.now();
        let drive = &mut self.drives[number];
        drive.account(now);
        let leg = &drive.round.legs[drive.leg];
        (drive.head, drive.rewound) = (leg.to, false);
        let hall = drive.hall;
        for index in leg.answers.clone() {
            let drive = &self.drives[number];
            let joined = &drive.batch[drive.round.sequence[index] as usize];
            let request = joined.request;
            let parts = &mut self.answers[request].parts;
            parts.add_growth(&drive.spent, &joined.spent);
            self.halls[hall].usage.reads += 1;
            self.read_over(request);
        }
        // The log's line of the read needs the leg that is over.
        self.write_log(number);
        let drive = &mut self.drives[number];
        drive.state = State::Idle;
        drive.since = now;
        drive.leg += 1;
        if drive.leg < drive.round.legs.len() {
            if self.is_cut(number) {
                return self.cut(number);
            }
            if self.turns(number) {
                self.put_unread_back(number);
                self.join(number, Part::Behind);
                return self.start_round(number);
            }
        }
        self.next_leg(number);
    }

    /// Whether a drive may go on with requests that have come since its cartridge was mounted.
    fn goes_on(&self, drive: DriveId) -> bool {
        let state = &self.drives[drive];
        let policy = self.policy();
        let room = policy.most_per_mount.is_none_or(|most| state.served < most);
        let is_wanted = room && policy.affinity && self.is_waited_for(state.cartridge);
        is_wanted && !self.is_cut(drive) && !self.yields(drive)
    }

    fn is_waited_for(&self, cartridge: Option<CartridgeId>) -> bool {
        cartridge.is_some_and(|number| !self.cartridges[number].waiting.is_empty())
    }

    fn round_over(&mut self, drive: DriveId) {
        match self.policy().rewind {
            Rewind::AfterAnswer if !self.goes_on(drive) => self.rewind(drive, State::Rewinding),
            Rewind::AfterAnswer | Rewind::AtDismount => self.settle(drive),
        }
    }

    fn rewind(&mut self, drive: DriveId, state: State) {
        let mechanics = &self.kind(drive).mechanics;
        let takes = mechanics.rewind(&self.drives[drive].head, &mut self.service);
        self.begin(drive, state, takes);
    }

    /// Nothing is left to be read: the cartridge goes, or stays until the drive is needed.
    fn settle(&mut self, drive: DriveId) {
        if self.goes_on(drive) {
            self.join(drive, Part::Behind);
            return self.start_round(drive);
        }
        let policy = self.policy();
        let state = &self.drives[drive];
        let (hall, cartridge) = (state.hall, state.cartridge);
        self.leave(hall, cartridge);
        if let Some(cartridge) = cartridge.filter(|_| self.may_be_chosen_again(drive)) {
            return self.offer(drive, cartridge);
        }
        if policy.dismount == Dismount::AtOnce || self.is_waited_for(cartridge) {
            return self.dismount(drive);
        }
        match (policy.dismount, policy.idle_s) {
            (Dismount::AfterIdle, Some(idle)) => {
                self.begin(drive, State::Idle, Micros::from_secs_f64(idle));
            }
            _ => self.enter(drive, State::Idle),
        }
        self.halls[hall].free += 1;
        self.dispatch(hall);
    }

    /// Whether a cartridge is still wanted that was read as much as a mount may. Who chooses before it is unloaded need not
    /// fetch it again.
    fn may_be_chosen_again(&self, drive: DriveId) -> bool {
        let (policy, state) = (self.policy(), &self.drives[drive]);
        let chooses_first =
            policy.mount == MountPolicy::Ahead && policy.dismount != Dismount::AtOnce;
        let is_full = policy
            .most_per_mount
            .is_some_and(|most| state.served >= most);
        chooses_first && policy.affinity && is_full && self.is_waited_for(state.cartridge)
    }

    /// A drive is given away with its cartridge in it, which goes home unless it is chosen again.
    fn offer(&mut self, drive: DriveId, cartridge: CartridgeId) {
        let hall = self.drives[drive].hall;
        self.enter(drive, State::Idle);
        self.halls[hall].free += 1;
        self.make_ready(cartridge);
        if self.cartridges[cartridge].ready.take().is_some() {
            self.halls[hall].ready.retain(|&ready| ready != cartridge);
        }
        if self.drives[drive].state == State::Idle {
            self.halls[hall].free -= 1;
            self.dismount(drive);
        }
    }

    pub(super) fn dismount(&mut self, drive: DriveId) {
        let state = &self.drives[drive];
        if !state.rewound {
            return self.rewind(drive, State::RewindingHome);
        }
        if self.waits_for_unload(state.hall) {
            self.ask_robot(drive, false)
        } else {
            self.unload(drive)
        }
    }

    pub(super) fn unload(&mut self, drive: DriveId) {
        let takes = self.kind(drive).mechanics.unload.time(&mut self.service);
        self.begin(drive, State::Unloading, takes);
    }

    /// A robot has taken the cartridge back to its slot.
    pub(super) fn put_back(&mut self, number: DriveId) {
        let kind = self.kind(number);
        let drive = &mut self.drives[number];
        let cartridge = drive.cartridge.take();
        let due = kind.cleaning.as_ref();
        let due = due.filter(|cleaning| drive.mounts_since_cleaning >= cleaning.every_mounts);
        if drive.fails {
            self.fail(number);
        } else if let Some(cleaning) = due {
            drive.mounts_since_cleaning = 0;
            let hall = drive.hall;
            let (now, takes) = (self.agenda.now(), cleaning.takes_s.time(&mut self.service));
            self.halls[hall].lost[0].change(now, 1);
            self.halls[hall].usage.cleanings += 1;
            self.begin(number, State::Cleaning, takes);
        } else {
            self.emptied(number);
        }
        self.shelve(cartridge);
    }

    /// A cartridge is in its slot again.
    pub(super) fn shelve(&mut self, cartridge: Option<CartridgeId>) {
        let Some(number) = cartridge else { return };
        self.cartridges[number].place = Whereabouts::Slot;
        if self.is_waited_for(cartridge) {
            self.make_ready(number);
        } else {
            self.cartridges.rest(number);
        }
    }

    /// A drive without cartridge gets the one it was chosen for, or becomes free.
    pub(super) fn emptied(&mut self, drive: DriveId) {
        if self.drives[drive].next.is_some() {
            return self.ask_robot(drive, true);
        }
        self.enter(drive, State::Empty);
        let hall = self.drives[drive].hall;
        self.halls[hall].free += 1;
        self.dispatch(hall);
    }
}
