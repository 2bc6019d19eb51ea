//! One replication: the library at work, event by event.
//!
//! A request is looked up, waits on its cartridge (for others, while a window is open; then for a
//! drive), joins a drive when that is chosen for its cartridge, and is answered after its read. Which
//! part of a response every moment belongs to is kept by drive: each adds up what it did, a request
//! notes the sums when it joins, and the difference when it is answered is what it waited for.

mod dispatch;
mod drives;
mod failures;
mod robots;
mod stops;

use super::cache::Disk;
use super::cartridges::{Cartridges, Whereabouts};
use super::demand::Demand;
use super::drive::{Drive, State};
use super::ids::{CartridgeId, DriveId, HallId, Id, RequestId, RobotId, Table};
use super::mechanics::Target;
use super::parts::{Part, Parts};
use super::record::{Answer, Record, Run, Usage};
use super::robots::Robots;
use super::site::{Hall, Site};
use crate::kernel::Agenda;
use crate::mounts::{FreeDrive, Left, Waiting};
use crate::scenario::{Arrivals, Policy};
use crate::stream::{Purpose, stream};
use tapewise_model::{Micros, Random};

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A request comes.
    Arrival,
    /// A request has been looked up and goes to its cartridge.
    Queue(RequestId),
    /// The window of a cartridge closes, unless it has been opened anew.
    Window { cartridge: CartridgeId, opened: u32 },
    /// A drive is through with what it does, unless that was cut short.
    Drive { drive: DriveId, epoch: u32 },
    /// A robot has delivered.
    Robot { hall: HallId, robot: RobotId },
    /// A drive fails.
    Failure { drive: DriveId },
    /// It is repaired.
    Repaired { drive: DriveId },
    /// An answer arrives.
    Answered(RequestId),
    /// The mount policy wants to be asked again.
    Decide { hall: HallId },
}

/// So many failures without an answer between them will have no end.
const MOST_FAILURES: u64 = 10_000;

/// Drive time of a library that something takes: how many drives now, and the sum so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loss {
    count: i64,
    since: Micros,
    sum: Micros,
}

impl Loss {
    pub(super) fn change(&mut self, now: Micros, by: i64) {
        *self = Loss {
            count: self.count + by,
            since: now,
            sum: self.sum(now),
        };
    }

    pub(super) fn sum(&self, now: Micros) -> Micros {
        self.sum + Micros(self.count * (now - self.since).0)
    }
}

/// What a library is doing.
pub(super) struct HallState {
    /// Its first drive, over all libraries.
    pub first_drive: u32,
    /// Its first cartridge, over all libraries.
    pub first_cartridge: u32,
    pub robots: Robots,
    /// Cartridges that could be mounted, in the order in which they became ready.
    pub ready: Vec<CartridgeId>,
    /// Drives that could be given a cartridge.
    pub free: usize,
    /// When the mount policy is asked again, if it waits.
    pub decides: Option<Micros>,
    pub lost: [Loss; 2],
    pub left: Left,
    pub usage: Usage,
}

/// One replication.
pub(super) struct World<'a> {
    pub site: &'a Site,
    pub agenda: Agenda<Event>,
    demand: Demand<'a>,
    pub cartridges: Cartridges,
    pub drives: Table<DriveId, Drive<'a>>,
    pub halls: Table<HallId, HallState>,
    disk: Disk,
    /// Of all requests that have come; a request's is complete once it is answered.
    pub answers: Table<RequestId, Answer>,
    answered: u64,
    /// Users that have asked so far: one more than the highest number.
    pub owners: u32,
    pub failures_since_answer: u64,
    pub next_ready: u64,
    /// Windows opened so far.
    windows: u32,
    pub service: Random,
    pub robot_times: Random,
    pub failure_times: Random,
    pub log: Option<Vec<Record>>,
    /// Room for what is planned and chosen from, kept so that nothing is allocated for it.
    pub targets: Vec<Target>,
    pub free_drives: Vec<FreeDrive>,
    pub waiting: Vec<Waiting>,
}

impl<'a> World<'a> {
    pub(super) fn new(site: &'a Site, replication: u64, log: bool) -> World<'a> {
        let random = |purpose| stream(site.seed(), replication, purpose);
        let mut world = World {
            site,
            agenda: Agenda::new(),
            demand: Demand::new(site, replication),
            cartridges: Cartridges::at_rest(
                site.halls.iter().map(|hall| hall.cartridges.len()).sum(),
            ),
            windows: 0,
            drives: Table::new(),
            halls: Table::new(),
            disk: Disk::new(site.scenario.cache.as_ref()),
            answers: Vec::with_capacity(site.scenario.requests as usize).into(),
            answered: 0,
            owners: 0,
            failures_since_answer: 0,
            next_ready: 0,
            service: random(Purpose::Drives),
            robot_times: random(Purpose::Robots),
            failure_times: random(Purpose::Failures),
            log: log.then(Vec::new),
            targets: Vec::new(),
            free_drives: Vec::new(),
            waiting: Vec::new(),
        };
        let mut first_cartridge = 0;
        for (number, hall) in site.halls.iter().enumerate() {
            world.furnish(number, hall, first_cartridge);
            first_cartridge += hall.cartridges.len() as u32;
        }
        world
    }

    /// Puts drives and robots of a library in their places.
    fn furnish(&mut self, number: usize, hall: &'a Hall, first_cartridge: u32) {
        self.halls.push(HallState {
            first_drive: self.drives.len() as u32,
            first_cartridge,
            robots: Robots::new(hall.robots),
            ready: Vec::new(),
            free: hall.drives.len(),
            decides: None,
            lost: [Loss::default(); 2],
            left: Left::default(),
            usage: Usage {
                drives: hall.drives.len() as u64,
                robots: hall.robots as u64,
                ..Usage::default()
            },
        });
        let count = hall.drives.len();
        for (index, &kind) in hall.drives.iter().enumerate() {
            let kind_of = &hall.kinds[kind];
            let drive = DriveId(self.drives.len() as u32);
            let mut new = Drive::new(HallId(number as u16), index as u16, kind, kind_of);
            // Drives that were cleaned on one day would all be cleaned on one day.
            if let Some(cleaning) = &kind_of.cleaning {
                let part = index as u64 * u64::from(cleaning.every_mounts) / count as u64;
                new.mounts_since_cleaning = part as u32;
            }
            self.drives.push(new);
            if let Some(failures) = &kind_of.failures {
                let after = failures.after_hours.sample(&mut self.failure_times);
                let at = Micros::from_secs_f64(after * 3600.0);
                self.agenda.after(at, Event::Failure { drive });
            }
        }
    }

    pub(super) fn policy(&self) -> &'a Policy {
        &self.site.scenario.policy
    }

    pub(super) fn now(&self) -> Micros {
        self.agenda.now()
    }

    /// Runs until every request is answered.
    ///
    /// # Errors
    /// The number of answers, and of failures since the last one, where there is no end to them.
    pub(super) fn run(mut self, replication: u64) -> Result<(Run, Vec<Record>), [u64; 2]> {
        match &self.site.scenario.arrivals {
            Arrivals::Closed { users, .. } => {
                for _ in 0..(*users).min(self.site.scenario.requests) {
                    self.next_user();
                }
            }
            _ => self.next_arrival(),
        }
        let requests = self.site.scenario.requests;
        while self.answered < requests {
            let goes_on = self.failures_since_answer < MOST_FAILURES;
            let Some(event) = self.agenda.next().filter(|_| goes_on) else {
                return Err([self.answered, self.failures_since_answer]);
            };
            self.happen(event);
            debug_assert!(self.consistent(), "after {event:?} at {:?}", self.now());
        }
        for drive in (0..self.drives.len() as u32).map(DriveId) {
            let now = self.now();
            let drive = &mut self.drives[drive];
            drive.account(now);
            let usage = &mut self.halls[drive.hall].usage;
            usage.drive_time.add(&drive.spent);
        }
        let run = Run {
            replication,
            answers: self.answers.into_items(),
            usage: self
                .halls
                .into_items()
                .into_iter()
                .map(|hall| hall.usage)
                .collect(),
            duration: self.agenda.now(),
        };
        Ok((run, self.log.unwrap_or_default()))
    }

    #[inline(always)]
    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrival => self.arrive(),
            Event::Queue(request) => self.queue(request),
            Event::Window { cartridge, opened } => {
                let state = self.cartridges.get(cartridge);
                if state.is_some_and(|state| state.window == Some(opened)) {
                    self.make_ready(cartridge);
                }
            }
            Event::Drive { drive, epoch } => {
                if self.drives[drive].epoch == epoch {
                    self.drive_done(drive);
                }
            }
            Event::Robot { hall, robot } => self.robot_done(hall, robot),
            Event::Failure { drive } => self.failure(drive),
            Event::Repaired { drive } => self.repaired(drive),
            Event::Answered(request) => self.answered(request),
            Event::Decide { hall } => self.decide(hall),
        }
    }

    /// Puts the next arrival down, if there is another one.
    fn next_arrival(&mut self) {
        if (self.answers.len() as u64) < self.site.scenario.requests
            && let Some(at) = self.demand.next_arrival(self.agenda.now())
        {
            self.agenda.at(at, Event::Arrival);
        }
    }

    /// Lets a user think, where requests come from users who wait.
    fn next_user(&mut self) {
        if let Some(think) = self.demand.think() {
            self.agenda.after(think, Event::Arrival);
        }
    }

    fn arrive(&mut self) {
        let number = self.answers.len() as u64;
        if number >= self.site.scenario.requests {
            return; // a user who comes back too late
        }
        let wanted = self.demand.take();
        let hall = HallId(wanted.library);
        let (_, filled) = self.site.halls[hall.index()]
            .cartridges
            .get(wanted.cartridge);
        let place = wanted.place * filled;
        self.answers.push(Answer {
            number,
            arrived: self.now(),
            response: Micros::ZERO,
            parts: Parts::default(),
            library: wanted.library,
            cartridge: wanted.cartridge,
            place,
            size_mb: wanted.size_mb,
            drive: None,
            priority: wanted.priority,
            owner: wanted.owner,
            cleaning_meanwhile: Micros::ZERO,
            failures_meanwhile: Micros::ZERO,
        });
        let request = RequestId(number as u32);
        self.owners = self.owners.max(wanted.owner + 1);
        self.next_arrival();
        let cartridge = self.cartridge_of(request);
        let on_disk = wanted.on_disk || self.disk.finds(cartridge, place);
        if let Some(cache) = self.site.scenario.cache.as_ref().filter(|_| on_disk) {
            let takes = cache.answer_s.time(&mut self.service);
            self.answers[request].parts[Part::System] += takes;
            self.agenda.after(takes, Event::Answered(request));
        } else {
            let software = &self.site.scenario.libraries[hall.index()].software;
            let takes = software.request_s.time(&mut self.service);
            self.answers[request].parts[Part::System] += takes;
            if self.is_next(takes) {
                return self.queue(request);
            }
            self.agenda.after(takes, Event::Queue(request));
        }
    }

    /// The cartridge of a request, over all libraries.
    pub(super) fn cartridge_of(&self, request: RequestId) -> CartridgeId {
        let answer = &self.answers[request];
        CartridgeId(self.halls[HallId(answer.library)].first_cartridge + answer.cartridge)
    }

    /// A request begins to wait on its cartridge.
    fn queue(&mut self, request: RequestId) {
        let now = self.now();
        let number = self.cartridge_of(request);
        let answer = &mut self.answers[request];
        let library = HallId(answer.library);
        let hall = &mut self.halls[library];
        answer.begin_to_wait(now, hall.lost.map(|loss| loss.sum(now)));
        hall.left.ask(answer.cartridge, now);
        let (medium, _) = self.site.halls[library.index()]
            .cartridges
            .get(answer.cartridge);
        (self.cartridges).wake(number, library, answer.cartridge, medium);
        let cartridge = &mut self.cartridges[number];
        cartridge.waiting.push(request);
        cartridge.motion.clear();
        cartridge.known.add_asked(&answer.asked());
        match cartridge.place {
            Whereabouts::Slot if cartridge.ready.is_none() => self.open_window(number),
            // It may now be worth a mount.
            Whereabouts::Slot => {
                let hall = cartridge.hall;
                self.dispatch(hall);
            }
            Whereabouts::Drive(drive) if self.drives[drive].state == State::Idle => {
                self.take_up(drive);
            }
            Whereabouts::Drive(_) | Whereabouts::Stuck => {}
        }
    }

    /// Lets a cartridge wait for more requests, where the policy is to wait.
    fn open_window(&mut self, number: CartridgeId) {
        let policy = self.policy();
        let cartridge = &mut self.cartridges[number];
        let enough = policy.window_requests.unwrap_or(u32::MAX) as usize;
        if policy.window_s == 0.0 || cartridge.waiting.len() >= enough {
            return self.make_ready(number);
        }
        if cartridge.window.is_none() {
            self.windows += 1;
            cartridge.window = Some(self.windows);
            let closes = Event::Window {
                cartridge: number,
                opened: self.windows,
            };
            self.agenda
                .after(Micros::from_secs_f64(policy.window_s), closes);
        }
    }

    /// From now on a cartridge waits for a drive.
    pub(super) fn make_ready(&mut self, number: CartridgeId) {
        let now = self.now();
        let cartridge = &mut self.cartridges[number];
        if cartridge.window.take().is_some() {
            for &request in &cartridge.waiting {
                self.answers[request].count(Part::Window, now);
            }
        }
        cartridge.ready = Some(self.next_ready);
        self.next_ready += 1;
        let hall = cartridge.hall;
        self.halls[hall].ready.push(number);
        self.dispatch(hall);
    }

    /// The read of a request is over: all that is left is to send the answer.
    pub(super) fn read_over(&mut self, request: RequestId) {
        let answer = &mut self.answers[request];
        let software = &self.site.scenario.libraries[usize::from(answer.library)].software;
        let takes = software.answer_s.time(&mut self.service);
        answer.parts[Part::System] += takes;
        let answer = &self.answers[request];
        (self.disk).keep(self.cartridge_of(request), answer.place, answer.size_mb);
        if self.is_next(takes) {
            return self.answered(request);
        }
        self.agenda.after(takes, Event::Answered(request));
    }

    /// Whether what takes this time is the next to happen anyway, as it takes none and nothing else is due now. Then
    /// it need not go through the agenda.
    #[inline(always)]
    pub(super) fn is_next(&self, takes: Micros) -> bool {
        takes == Micros::ZERO && !self.agenda.is_due()
    }

    fn answered(&mut self, request: RequestId) {
        let now = self.now();
        let answer = &mut self.answers[request];
        answer.response = now - answer.arrived;
        debug_assert_eq!(answer.parts.total(), answer.response, "{answer:?}");
        self.answered += 1;
        self.failures_since_answer = 0;
        if matches!(self.site.scenario.arrivals, Arrivals::Closed { .. }) {
            self.next_user();
        }
    }

    /// What must hold after every event: no two drives have one cartridge, no robot carries two.
    fn consistent(&self) -> bool {
        // Looking at every drive after every event of a large library would take too long.
        const MOST_DRIVES: usize = 16;
        let drives = self.drives.items();
        let drives = &drives[..drives.len().min(MOST_DRIVES)];
        let alone = |index: usize| {
            let cartridge = drives[index].cartridge;
            cartridge.is_none()
                || drives[..index]
                    .iter()
                    .all(|drive| drive.cartridge != cartridge)
        };
        let halls = self.halls.iter();
        (0..drives.len()).all(alone) && halls.map(|hall| &hall.robots).all(Robots::carry_one_each)
    }
}
