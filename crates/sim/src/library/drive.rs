//! A drive: what it does with its cartridges, step by step.

use super::mechanics::{Head, Round, Target};
use super::parts::{Part, Parts};
use super::record::{Action, Record};
use super::site::Kind;
use super::world::{Event, Whereabouts, World};
use crate::scenario::{Dismount, MountPolicy, Rewind};
use std::cmp::Reverse;
use tapewise_model::Micros;

/// What a drive is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It has no cartridge and is given none.
    Empty,
    /// It has a cartridge that nobody asks for.
    Idle,
    WaitsForGet,
    Getting,
    Loading,
    Polling,
    Searching,
    Reading,
    /// With what is to follow.
    Rewinding {
        unload: bool,
    },
    Unloading,
    WaitsForPut,
    Putting,
    Cleaning,
    Failed,
}

/// A drive with what it has done.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    pub hall: u16,
    /// Within its library.
    pub index: u16,
    /// Within its library's kinds.
    pub kind: usize,
    pub state: State,
    /// Counts states, so that the end of one that was cut short is told from that of the next.
    pub epoch: u32,
    /// Since when it is in its state.
    pub since: Micros,
    /// Until when its time has been added to `spent`.
    counted: Micros,
    pub spent: Parts,
    pub cartridge: Option<u32>,
    /// The cartridge it is to get.
    pub next: Option<u32>,
    head: Head,
    pub rewound: bool,
    /// Requests that have joined, and the order in which they are read.
    pub batch: Vec<u32>,
    pub round: Round,
    pub leg: usize,
    /// Requests that have joined since the cartridge was mounted.
    served: u32,
    pub mounts_since_cleaning: u32,
    /// The robot at work on it, within its library.
    pub robot: u16,
    /// It will fail as soon as no robot is at work on it.
    pub fails: bool,
    load_began: Micros,
}

impl Drive {
    pub(super) fn new(hall: u16, index: u16, kind: usize, what: &Kind) -> Drive {
        Drive {
            hall,
            index,
            kind,
            state: State::Empty,
            epoch: 0,
            since: Micros::ZERO,
            counted: Micros::ZERO,
            spent: Parts::default(),
            cartridge: None,
            next: None,
            head: what.mechanics.rewound(),
            rewound: true,
            batch: Vec::new(),
            round: Round::default(),
            leg: 0,
            served: 0,
            mounts_since_cleaning: 0,
            robot: 0,
            fails: false,
            load_began: Micros::ZERO,
        }
    }

    /// It is to get a cartridge, of which nobody has been served yet.
    pub(super) fn chosen_for(&mut self, cartridge: u32) {
        self.next = Some(cartridge);
        self.served = 0;
    }
}

impl State {
    /// What the time in a state is counted as; nothing, where the drive could be given away.
    fn part(self) -> Option<Part> {
        match self {
            State::Empty | State::Idle => None,
            State::WaitsForGet | State::WaitsForPut => Some(Part::RobotWait),
            State::Getting => Some(Part::Get),
            State::Putting => Some(Part::Put),
            State::Loading => Some(Part::Load),
            State::Polling => Some(Part::ReadyPoll),
            State::Searching => Some(Part::Search),
            State::Reading => Some(Part::Read),
            State::Rewinding { .. } => Some(Part::Rewind),
            State::Unloading => Some(Part::Unload),
            State::Cleaning => Some(Part::Cleaning),
            State::Failed => Some(Part::Failure),
        }
    }

    /// What stands in a log when the state is over; robots write their own lines.
    fn action(self) -> Option<Action> {
        match self {
            State::Polling => Some(Action::Mount),
            State::Searching => Some(Action::Locate),
            State::Reading => Some(Action::Read),
            State::Rewinding { .. } => Some(Action::Rewind),
            State::Unloading => Some(Action::Unmount),
            State::Cleaning => Some(Action::Clean),
            State::Failed => Some(Action::Repair),
            _ => None,
        }
    }
}

impl<'a> World<'a> {
    pub(super) fn kind(&self, drive: u32) -> &'a Kind {
        let drive = &self.drives[drive as usize];
        &self.site.halls[usize::from(drive.hall)].kinds[drive.kind]
    }

    /// Brings a drive's sums up to now.
    pub(super) fn account(&mut self, drive: u32) {
        let now = self.now();
        let drive = &mut self.drives[drive as usize];
        if let Some(part) = drive.state.part() {
            drive.spent[part] += now - drive.counted;
        }
        drive.counted = now;
    }

    /// A drive is through with its state and goes over to another.
    pub(super) fn enter(&mut self, drive: u32, state: State) {
        self.write_log(drive);
        self.turn_to(drive, state);
    }

    /// A drive goes over to another state; nothing is written of the one that it leaves.
    pub(super) fn turn_to(&mut self, drive: u32, state: State) {
        self.account(drive);
        let now = self.now();
        let drive = &mut self.drives[drive as usize];
        drive.state = state;
        drive.since = now;
        drive.epoch = drive.epoch.wrapping_add(1);
        if state == State::Loading {
            drive.load_began = now;
        }
    }

    /// A drive goes over to a state that lasts for a time.
    fn begin(&mut self, drive: u32, state: State, takes: Micros) {
        self.enter(drive, state);
        let epoch = self.drives[drive as usize].epoch;
        self.agenda.after(takes, Event::Drive { drive, epoch });
    }

    /// Writes down what a drive has done in the state that it leaves.
    fn write_log(&mut self, number: u32) {
        let (now, kind) = (self.now(), self.kind(number));
        let Some(log) = &mut self.log else { return };
        let drive = &self.drives[number as usize];
        let Some(action) = drive.state.action() else {
            return;
        };
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
                .map(|&index| self.pending[drive.batch[index as usize] as usize].size_mb)
                .map(|size_mb| (size_mb * 1e6) as u64)
                .sum(),
            _ => 0,
        };
        let cartridge = drive
            .cartridge
            .map(|number| self.cartridges[number as usize].index);
        log.push(Record {
            action,
            at,
            took: now - at,
            library: drive.hall,
            drive: drive.index,
            robot: None,
            cartridge,
            from: leg.and_then(|leg| position(&leg.from)),
            to: leg.and_then(|leg| position(&leg.to)),
            bytes,
        });
    }

    /// A drive has done what it did.
    pub(super) fn drive_done(&mut self, drive: u32) {
        match self.drives[drive as usize].state {
            State::Loading => {
                let hall = usize::from(self.drives[drive as usize].hall);
                let poll_s = self.site.scenario.libraries[hall].software.poll_s;
                // The asking does not begin with the load: how long until the next one is chance.
                let until = match poll_s > 0.0 {
                    true => Micros::from_secs_f64(poll_s * self.service.unit()),
                    false => Micros::ZERO,
                };
                self.begin(drive, State::Polling, until);
            }
            State::Polling => self.loaded(drive),
            State::Searching => {
                let leg = self.drives[drive as usize].leg;
                let read = self.drives[drive as usize].round.legs[leg].read;
                self.begin(drive, State::Reading, read);
            }
            State::Reading => self.leg_done(drive),
            State::Rewinding { unload } => {
                self.account(drive);
                let rewound = self.kind(drive).mechanics.rewound();
                let state = &mut self.drives[drive as usize];
                (state.rewound, state.head) = (true, rewound);
                match unload {
                    true => self.dismount(drive),
                    false => self.settle(drive),
                }
            }
            State::Unloading => match self.waits_for_unload(self.drives[drive as usize].hall) {
                true => self.carry(drive, false),
                false => self.ask_robot(drive, false),
            },
            State::Cleaning => {
                let (now, hall) = (self.now(), self.drives[drive as usize].hall);
                self.halls[usize::from(hall)].lost[0].change(now, -1);
                self.emptied(drive);
            }
            State::Idle => {
                let hall = self.drives[drive as usize].hall;
                self.halls[usize::from(hall)].free -= 1;
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
    pub(super) fn got(&mut self, drive: u32) {
        let takes = self.kind(drive).mechanics.load.time(&mut self.service);
        let state = &mut self.drives[drive as usize];
        state.cartridge = state.next.take();
        state.mounts_since_cleaning += 1;
        let (hall, fails) = (usize::from(state.hall), state.fails);
        self.halls[hall].usage.mounts += 1;
        match fails {
            true => self.fail(drive),
            false => self.begin(drive, State::Loading, takes),
        }
    }

    fn loaded(&mut self, drive: u32) {
        let rewound = self.kind(drive).mechanics.rewound();
        let state = &mut self.drives[drive as usize];
        (state.rewound, state.head) = (true, rewound);
        if self.policy().affinity {
            self.join(drive, Part::DriveWait);
        }
        self.start_round(drive);
    }

    /// A drive that was idle is asked for its own cartridge.
    pub(super) fn take_up(&mut self, drive: u32) {
        let state = &mut self.drives[drive as usize];
        state.served = 0;
        self.halls[usize::from(state.hall)].free -= 1;
        self.join(drive, Part::DriveWait);
        self.start_round(drive);
    }

    /// Requests for the drive's cartridge, or the next one, join it, as many as one mount may have.
    pub(super) fn join(&mut self, number: u32, waited: Part) {
        self.account(number);
        let (now, policy) = (self.agenda.now(), self.policy());
        let drive = &mut self.drives[number as usize];
        let Some(cartridge) = drive.next.or(drive.cartridge) else {
            return;
        };
        let waiting = &mut self.cartridges[cartridge as usize].waiting;
        let room = policy
            .most_per_mount
            .map_or(u32::MAX, |most| most.saturating_sub(drive.served));
        let count = waiting.len().min(room as usize);
        if policy.mount == MountPolicy::Priority {
            let pending = &self.pending;
            waiting.sort_by_key(|&request| {
                let answer = &pending[request as usize].answer;
                (Reverse(answer.priority), answer.number)
            });
        }
        let lost = self.halls[usize::from(drive.hall)]
            .lost
            .map(|loss| loss.sum(now));
        for request in waiting.drain(..count) {
            let pending = &mut self.pending[request as usize];
            pending.answer.parts[waited] += now - pending.since;
            pending.answer.drive = Some(drive.index);
            pending.answer.cleaning_meanwhile += lost[0] - pending.lost[0];
            pending.answer.failures_meanwhile += lost[1] - pending.lost[1];
            pending.joined = drive.spent;
            drive.batch.push(request);
        }
        drive.served += count as u32;
    }

    fn start_round(&mut self, number: u32) {
        let (mechanics, order) = (&self.kind(number).mechanics, self.site.order);
        let drive = &mut self.drives[number as usize];
        let pending = &self.pending;
        self.targets.clear();
        self.targets.extend(drive.batch.iter().map(|&request| {
            let pending = &pending[request as usize];
            Target {
                place: pending.place,
                size_mb: pending.size_mb,
            }
        }));
        let random = &mut self.service;
        mechanics.plan(drive.head, &self.targets, order, random, &mut drive.round);
        drive.leg = 0;
        self.next_leg(number);
    }

    fn next_leg(&mut self, number: u32) {
        self.account(number);
        let drive = &mut self.drives[number as usize];
        let Some(leg) = drive.round.legs.get(drive.leg) else {
            drive.batch.clear();
            drive.round.legs.clear();
            drive.round.sequence.clear();
            return self.round_over(number);
        };
        // Until now the drive worked for others of its mount.
        for &index in &drive.round.sequence[leg.answers.clone()] {
            let pending = &mut self.pending[drive.batch[index as usize] as usize];
            let mut grown = drive.spent.since(&pending.joined);
            for part in [Part::Search, Part::Read] {
                let time = std::mem::take(&mut grown[part]);
                grown[Part::Behind] += time;
            }
            pending.answer.parts.add(&grown);
            pending.joined = drive.spent;
        }
        let search = leg.search;
        self.begin(number, State::Searching, search);
    }

    fn leg_done(&mut self, number: u32) {
        self.account(number);
        let drive = &mut self.drives[number as usize];
        let leg = &drive.round.legs[drive.leg];
        (drive.head, drive.rewound) = (leg.to, false);
        let hall = usize::from(drive.hall);
        for index in leg.answers.clone() {
            let drive = &self.drives[number as usize];
            let request = drive.batch[drive.round.sequence[index] as usize];
            let pending = &mut self.pending[request as usize];
            pending
                .answer
                .parts
                .add(&drive.spent.since(&pending.joined));
            self.halls[hall].usage.reads += 1;
            self.read_over(request);
        }
        // The log's line of the read needs the leg that is over.
        self.write_log(number);
        let now = self.now();
        let drive = &mut self.drives[number as usize];
        drive.state = State::Idle;
        drive.since = now;
        drive.leg += 1;
        self.next_leg(number);
    }

    /// Whether a drive may go on with requests that have come since its cartridge was mounted.
    fn goes_on(&self, drive: u32) -> bool {
        let state = &self.drives[drive as usize];
        let policy = self.policy();
        let room = policy.most_per_mount.is_none_or(|most| state.served < most);
        room && policy.affinity && self.is_waited_for(state.cartridge)
    }

    fn is_waited_for(&self, cartridge: Option<u32>) -> bool {
        cartridge.is_some_and(|number| !self.cartridges[number as usize].waiting.is_empty())
    }

    fn round_over(&mut self, drive: u32) {
        if self.goes_on(drive) {
            self.join(drive, Part::Behind);
            return self.start_round(drive);
        }
        match self.policy().rewind {
            Rewind::AfterAnswer => self.rewind(drive, false),
            Rewind::AtDismount => self.settle(drive),
        }
    }

    fn rewind(&mut self, drive: u32, unload: bool) {
        let mechanics = &self.kind(drive).mechanics;
        let takes = mechanics.rewind(&self.drives[drive as usize].head, &mut self.service);
        self.begin(drive, State::Rewinding { unload }, takes);
    }

    /// Nothing is left to be read: the cartridge goes, or stays until the drive is needed.
    fn settle(&mut self, drive: u32) {
        if self.goes_on(drive) {
            self.join(drive, Part::Behind);
            return self.start_round(drive);
        }
        let policy = self.policy();
        let state = &self.drives[drive as usize];
        let (hall, cartridge) = (state.hall, state.cartridge);
        if policy.dismount == Dismount::AtOnce || self.is_waited_for(cartridge) {
            return self.dismount(drive);
        }
        match (policy.dismount, policy.idle_s) {
            (Dismount::AfterIdle, Some(idle)) => {
                self.begin(drive, State::Idle, Micros::from_secs_f64(idle));
            }
            _ => self.enter(drive, State::Idle),
        }
        self.halls[usize::from(hall)].free += 1;
        self.dispatch(hall);
    }

    pub(super) fn dismount(&mut self, drive: u32) {
        let state = &self.drives[drive as usize];
        if !state.rewound {
            return self.rewind(drive, true);
        }
        match self.waits_for_unload(state.hall) {
            true => self.ask_robot(drive, false),
            false => self.unload(drive),
        }
    }

    pub(super) fn unload(&mut self, drive: u32) {
        let takes = self.kind(drive).mechanics.unload.time(&mut self.service);
        self.begin(drive, State::Unloading, takes);
    }

    /// A robot has taken the cartridge back to its slot.
    pub(super) fn put_back(&mut self, number: u32) {
        let kind = self.kind(number);
        let drive = &mut self.drives[number as usize];
        let cartridge = drive.cartridge.take();
        let due = kind.cleaning.as_ref();
        let due = due.filter(|cleaning| drive.mounts_since_cleaning >= cleaning.every_mounts);
        if drive.fails {
            self.fail(number);
        } else if let Some(cleaning) = due {
            drive.mounts_since_cleaning = 0;
            let hall = usize::from(drive.hall);
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
    pub(super) fn shelve(&mut self, cartridge: Option<u32>) {
        let Some(number) = cartridge else { return };
        self.cartridges[number as usize].place = Whereabouts::Slot;
        if self.is_waited_for(cartridge) {
            self.make_ready(number);
        }
    }

    /// A drive without cartridge gets the one it was chosen for, or becomes free.
    pub(super) fn emptied(&mut self, drive: u32) {
        if self.drives[drive as usize].next.is_some() {
            return self.ask_robot(drive, true);
        }
        self.enter(drive, State::Empty);
        let hall = self.drives[drive as usize].hall;
        self.halls[usize::from(hall)].free += 1;
        self.dispatch(hall);
    }
}
