//! One host among others: its clocks, what befalls it, and when it renews what it has.

use super::site::{LEASE, Site};
use crate::events::spread;
use crate::fate::{Dead, Kind, Steps, Wrong};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tapewise_archive::mover::Lessee;
use tapewise_model::{Micros, Random};
use tapewise_torn::{Step, Verdict};

/// In how many parts of its time a lease is renewed, as `tapewise mover` does.
const RENEWALS: i64 = 4;
/// How long whoever waits for the cache's disk waits at a time.
const MOMENT: Micros = Micros(100_000);

/// What befalls a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Befalls {
    /// It is stopped, and goes on after this time.
    Stops(Micros),
    /// What it is about to do is on its way for this time. It renews its leases meanwhile.
    IsLate(Micros),
    /// It has no way to the catalogue for this time, and goes on.
    IsCutOff(Micros),
    /// It dies. If a command of it is on its way, that arrives after this time.
    Dies(Option<Micros>),
}

impl Befalls {
    fn words(self) -> &'static str {
        match self {
            Befalls::Stops(_) => "host stopped before it",
            Befalls::IsLate(_) => "on its way for long",
            Befalls::IsCutOff(_) => "host cut off from the catalogue before it",
            Befalls::Dies(None) => "host dies before it",
            Befalls::Dies(Some(_)) => "host dies after it was sent",
        }
    }
}

/// Something that befalls a host at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The host's number.
    pub host: usize,
    /// Before a step of this kind.
    pub kind: Kind,
    /// The step with this number since the trouble before, counted from 0.
    pub nth: u64,
    /// What befalls it.
    pub what: Befalls,
}

impl Trouble {
    /// Some trouble of a host.
    pub fn draw(host: usize, random: &mut Random) -> Trouble {
        let (kind, most) = match random.below(20) {
            0..9 => (Kind::TapeWrite, 80.0),
            9..13 => (Kind::Command, 300.0),
            13..17 => (Kind::Begin, 300.0),
            17 => (Kind::Destination, 40.0),
            18 => (Kind::Name, 20.0),
            _ => (Kind::Sync, 20.0),
        };
        let for_some = |random: &mut Random| Micros(LEASE.0 / 10 * spread(random, 60.0) as i64);
        let what = match random.below(10) {
            0..4 => Befalls::Stops(for_some(random)),
            4..6 => Befalls::IsLate(for_some(random)),
            6..8 => Befalls::IsCutOff(for_some(random)),
            8 => Befalls::Dies(None),
            _ => Befalls::Dies(Some(for_some(random))),
        };
        Trouble {
            host,
            kind,
            nth: spread(random, most) - 1,
            what,
        }
    }
}

/// A host.
pub struct Host {
    /// Counted from 0.
    pub number: usize,
    /// How fast its own clock goes: 1 is right.
    rate: f64,
    /// What its time of day is off by, nanoseconds, until the end.
    shift_ns: i64,
    site: Arc<Site>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is still to befall it, the next last.
    troubles: Vec<Trouble>,
    /// Steps of the next one's kind so far.
    steps: u64,
    is_dead: bool,
    /// When a command arrives that was sent before it died.
    late: Option<Micros>,
    cut_off_until: Micros,
    lessee: Option<Arc<Lessee>>,
    renewed_ns: i64,
}

impl Host {
    /// A host to which all of this happens.
    pub fn new(
        site: &Arc<Site>,
        number: usize,
        (rate, shift_ns): (f64, i64),
        troubles: &[Trouble],
    ) -> Host {
        let its = troubles.iter().rev().filter(|one| one.host == number);
        Host {
            number,
            rate,
            shift_ns,
            site: Arc::clone(site),
            state: Mutex::new(State {
                troubles: its.copied().collect(),
                ..State::default()
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its own clock, which never goes back.
    pub fn own_ns(&self) -> i64 {
        (self.site.now().0 as f64 * self.rate) as i64 * 1000
    }

    /// Its time of day.
    pub fn now_ns(&self) -> i64 {
        let shift_ns = if self.site.is_calm() {
            0
        } else {
            self.shift_ns
        };
        self.site.now_ns() + shift_ns
    }

    /// Whether its process has ended.
    pub fn is_dead(&self) -> bool {
        self.state().is_dead
    }

    /// A new process runs on it; what it has is renewed from now on.
    pub fn starts(&self, lessee: Option<Arc<Lessee>>) {
        let own_ns = self.own_ns();
        let mut state = self.state();
        state.is_dead = false;
        state.lessee = lessee;
        state.renewed_ns = own_ns;
        drop(state);
        self.set_due();
    }

    /// Its life is over. What renews its leases knows it, and each would keep the other for ever, and the site with them.
    pub fn ends(&self) {
        self.state().lessee = None;
    }

    /// When the command arrives that its process was about to send when it died, if it does.
    pub fn take_late(&self) -> Option<Micros> {
        self.state().late.take()
    }

    /// Does nothing for a while, but renews what it has.
    pub fn rest(&self, time: Micros) {
        let until = self.site.now() + time;
        while self.site.now() < until && !self.site.is_over() {
            let due = self.due().unwrap_or(until);
            self.site
                .pass(self.number, until.min(due.max(self.site.now())));
            self.renew_if_due();
        }
    }

    /// What befalls it before a step of this kind.
    fn trouble(&self, kind: Kind) -> Option<Befalls> {
        let mut state = self.state();
        let next = *state.troubles.last()?;
        if next.kind != kind || self.site.is_calm() {
            return None;
        }
        state.steps += 1;
        if state.steps <= next.nth {
            return None;
        }
        state.steps = 0;
        state.troubles.pop();
        self.site.judge.note(kind.words(), next.what.words());
        Some(next.what)
    }

    /// When its leases are to be renewed, by the clock of the world.
    fn due(&self) -> Option<Micros> {
        let state = self.state();
        state.lessee.as_ref()?;
        let own_us = state.renewed_ns / 1000 + LEASE.0 / RENEWALS + 1;
        Some(Micros((own_us as f64 / self.rate) as i64 + 1))
    }

    fn set_due(&self) {
        let due = self.due().unwrap_or(Micros(i64::MAX));
        self.site.turns.set_due(self.number, due);
    }

    /// Renews what it has, if it is time.
    fn renew_if_due(&self) {
        let own_ns = self.own_ns();
        let mut state = self.state();
        let Some(lessee) = state.lessee.clone() else {
            return;
        };
        if state.is_dead || own_ns - state.renewed_ns < LEASE.0 * 1000 / RENEWALS {
            return;
        }
        state.renewed_ns = own_ns;
        drop(state);
        self.set_due();
        if lessee.renew().is_err() {
            self.site.judge.note("lease", "not renewed");
        }
    }

    /// What becomes of a step in the catalogue's file.
    pub fn in_catalogue(&self, step: Step) -> Verdict {
        let kind = match step {
            Step::Begin => Kind::Begin,
            Step::Write(_) | Step::Truncate | Step::Sync | Step::Remove => Kind::Database,
            Step::Read | Step::Open => Kind::Lookup,
        };
        let step = Steps::step(self, kind);
        let is_cut_off = self.site.now() < self.state().cut_off_until && !self.site.is_calm();
        match step {
            Ok(_) if !is_cut_off => Verdict::Go,
            _ => Verdict::Fail,
        }
    }
}

impl Steps for Host {
    fn step(&self, kind: Kind) -> Result<Option<Wrong>, Dead> {
        if self.is_dead() {
            return Err(Dead);
        }
        // Reads leave nothing behind. Within a transaction the others would wait for its end.
        if matches!(
            kind,
            Kind::Read | Kind::Lookup | Kind::Database | Kind::Source | Kind::TapeRead | Kind::Log
        ) {
            return Ok(None);
        }
        let (number, now) = (self.number, self.site.now());
        match self.trouble(kind) {
            None => self.site.pass(number, now),
            // It does not know that time has passed: its next step is done as if it had not.
            Some(Befalls::Stops(time)) => {
                self.site.pass(number, now + time);
                return Ok(None);
            }
            Some(Befalls::IsLate(time)) if kind != Kind::Begin => self.rest(time),
            Some(Befalls::IsLate(time)) => self.site.pass(number, now + time),
            Some(Befalls::IsCutOff(time)) => self.state().cut_off_until = now + time,
            Some(Befalls::Dies(late)) => {
                let mut state = self.state();
                state.is_dead = true;
                state.late = late.map(|time| now + time);
                state.lessee = None;
                return Err(Dead);
            }
        }
        if kind != Kind::Begin {
            self.renew_if_due();
        }
        Ok(None)
    }

    fn turn(&self) -> Result<Box<dyn Any>, Dead> {
        loop {
            if self.is_dead() {
                return Err(Dead);
            }
            if let Some(turn) = self.site.take_disk() {
                return Ok(Box::new(turn));
            }
            self.site.pass(self.number, self.site.now() + MOMENT);
            self.renew_if_due();
        }
    }
}
