//! A drive: its state, and what it has done.

use super::ids::{CartridgeId, HallId, RequestId, RobotId};
use super::mechanics::{Head, Round};
use super::parts::{Part, Parts};
use super::record::Action;
use super::site::Kind;
use crate::mounts::OwnerId;
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
    Rewinding,
    /// Rewinding, to be unloaded then.
    RewindingHome,
    Unloading,
    WaitsForPut,
    Putting,
    Cleaning,
    Failed,
}

/// A request that has joined a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    pub request: RequestId,
    /// What the drive had done when it joined.
    pub spent: Parts,
}

impl Joined {
    /// What the drive has searched and read since was for others of the mount.
    pub(super) fn was_behind(&mut self, spent: &Parts, parts: &mut Parts) {
        for part in [Part::Search, Part::Read] {
            parts[Part::Behind] += spent[part] - self.spent[part];
            self.spent[part] = spent[part];
        }
    }
}

/// A drive with what it has done.
#[derive(Clone)]
pub(super) struct Drive<'a> {
    pub hall: HallId,
    /// Within its library.
    pub index: u16,
    /// Within its library's kinds.
    pub kind: usize,
    /// What that kind does.
    pub what: &'a Kind,
    pub state: State,
    /// Counts states, so that the end of one that was cut short is told from that of the next.
    pub epoch: u32,
    /// Since when it is in its state.
    pub since: Micros,
    /// Until when its time has been added to `spent`.
    pub counted: Micros,
    pub spent: Parts,
    pub cartridge: Option<CartridgeId>,
    /// The cartridge it is to get.
    pub next: Option<CartridgeId>,
    pub head: Head,
    pub rewound: bool,
    /// For whom it works.
    pub owner: OwnerId,
    /// Requests that have joined, and the order in which they are read.
    pub batch: Vec<Joined>,
    pub round: Round,
    pub leg: usize,
    /// Requests that have joined since the cartridge was mounted.
    pub served: u32,
    pub mounts_since_cleaning: u32,
    /// The robot at work on it, within its library.
    pub robot: RobotId,
    /// It will fail as soon as no robot is at work on it.
    pub fails: bool,
    pub load_began: Micros,
}

impl<'a> Drive<'a> {
    pub(super) fn new(hall: HallId, index: u16, kind: usize, what: &'a Kind) -> Drive<'a> {
        Drive {
            hall,
            index,
            kind,
            what,
            state: State::Empty,
            epoch: 0,
            since: Micros::ZERO,
            counted: Micros::ZERO,
            spent: Parts::default(),
            cartridge: None,
            next: None,
            head: what.mechanics.rewound,
            rewound: true,
            owner: OwnerId(0),
            batch: Vec::new(),
            round: Round::default(),
            leg: 0,
            served: 0,
            mounts_since_cleaning: 0,
            robot: RobotId(0),
            fails: false,
            load_began: Micros::ZERO,
        }
    }

    /// Brings its sums up to now.
    #[inline]
    pub(super) fn account(&mut self, now: Micros) {
        if let Some(part) = self.state.part() {
            self.spent[part] += now - self.counted;
        }
        self.counted = now;
    }

    /// It goes over to another state.
    #[inline]
    pub(super) fn turn_to(&mut self, state: State, now: Micros) {
        self.account(now);
        self.state = state;
        self.since = now;
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// It is to get a cartridge, of which nobody has been served yet.
    pub(super) fn chosen_for(&mut self, cartridge: CartridgeId) {
        self.next = Some(cartridge);
        self.served = 0;
    }

    /// Of the requests that have joined, those that have not been read.
    pub(super) fn unread(&self) -> impl DoubleEndedIterator<Item = Joined> + '_ {
        let sequence = &self.round.sequence;
        let leg = self.round.legs.get(self.leg);
        let done = leg.map_or(0, |leg| leg.answers.start);
        let unread = (0..self.batch.len()).filter(move |&index| {
            // Without a plan none was read.
            sequence.is_empty() || sequence[done..].contains(&(index as u32))
        });
        unread.map(|index| self.batch[index])
    }
}

impl State {
    /// Whether the drive works for somebody.
    pub(super) fn is_at_work(self) -> bool {
        !matches!(
            self,
            State::Empty | State::Idle | State::Cleaning | State::Failed
        )
    }

    /// What the time in a state is counted as; nothing, where the drive could be given away.
    pub(super) fn part(self) -> Option<Part> {
        match self {
            State::Empty | State::Idle => None,
            State::WaitsForGet | State::WaitsForPut => Some(Part::RobotWait),
            State::Getting => Some(Part::Get),
            State::Putting => Some(Part::Put),
            State::Loading => Some(Part::Load),
            State::Polling => Some(Part::ReadyPoll),
            State::Searching => Some(Part::Search),
            State::Reading => Some(Part::Read),
            State::Rewinding | State::RewindingHome => Some(Part::Rewind),
            State::Unloading => Some(Part::Unload),
            State::Cleaning => Some(Part::Cleaning),
            State::Failed => Some(Part::Failure),
        }
    }

    /// What stands in a log when the state is over; robots write their own lines.
    pub(super) fn action(self) -> Option<Action> {
        match self {
            State::Polling => Some(Action::Mount),
            State::Searching => Some(Action::Locate),
            State::Reading => Some(Action::Read),
            State::Rewinding | State::RewindingHome => Some(Action::Rewind),
            State::Unloading => Some(Action::Unmount),
            State::Cleaning => Some(Action::Clean),
            State::Failed => Some(Action::Repair),
            _ => None,
        }
    }
}
