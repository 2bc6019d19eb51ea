//! Hosts at once, and yet the same each time: one of them has the turn, and passes it on at its steps.
//!
//! Each host is a thread, and all but one of them wait. Whoever has the turn draws from the seed who has it next.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tapewise_emulator::Clock;
use tapewise_model::{Micros, Random};

/// The stream of a seed that the order of turns is drawn from.
const TURNS: u64 = 7;

/// A host gives up its turn after one step in this many.
const STEPS_IN_A_TURN: u64 = 12;

/// Whose turn it is.
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
    clock: Clock,
}

struct State {
    random: Random,
    /// Who has the turn.
    now: usize,
    /// The hosts; none for one that has ended.
    hosts: Vec<Option<Waits>>,
}

/// What a host waits for.
#[derive(Clone, Copy)]
struct Waits {
    /// It does nothing before.
    until: Micros,
    /// From then on it comes before the others: it has leases to renew.
    due: Micros,
}

impl Turns {
    /// Turns of this many hosts; the first one begins.
    pub fn new(clock: Clock, seed: u64, hosts: usize) -> Turns {
        let waits = Waits {
            until: Micros::ZERO,
            due: Micros(i64::MAX),
        };
        Turns {
            state: Mutex::new(State {
                random: Random::new(seed, TURNS),
                now: 0,
                hosts: vec![Some(waits); hosts],
            }),
            changed: Condvar::new(),
            clock,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who has the turn.
    pub fn now(&self) -> usize {
        self.state().now
    }

    /// Waits for the first turn of a host.
    pub fn begin(&self, host: usize) {
        self.wait(self.state(), host);
    }

    /// Lets the others do something, and comes back when it is this host's turn again, not before `until`.
    pub fn pass(&self, host: usize, until: Micros) {
        let mut state = self.state();
        if let Some(waits) = &mut state.hosts[host] {
            waits.until = until;
        }
        self.give(&mut state, host);
        self.wait(state, host);
    }

    /// A host does nothing more.
    pub fn end(&self, host: usize) {
        let mut state = self.state();
        state.hosts[host] = None;
        self.give(&mut state, host);
    }

    /// When a host has to renew its leases.
    pub fn set_due(&self, host: usize, due: Micros) {
        if let Some(waits) = &mut self.state().hosts[host] {
            waits.due = due;
        }
    }

    fn wait(&self, state: MutexGuard<'_, State>, host: usize) {
        let is_its_turn = self.changed.wait_while(state, |state| state.now != host);
        drop(is_its_turn.unwrap_or_else(PoisonError::into_inner));
    }

    /// Gives the turn to somebody who can use it. If all rest, time passes until one of them does not.
    fn give(&self, state: &mut State, from: usize) {
        let all = || {
            (0..)
                .zip(&state.hosts)
                .filter_map(|(n, one)| Some((n, (*one)?)))
        };
        let Some(first) = all().map(|(_, waits)| waits.until).min() else {
            return;
        };
        self.clock.skip(first - self.clock.now());
        let now = self.clock.now();
        let ready: Vec<(usize, Waits)> = all().filter(|(_, one)| one.until <= now).collect();
        let due = ready.iter().find(|(_, waits)| waits.due <= now);
        let stays = ready.iter().find(|(host, _)| *host == from);
        let next = match (due, stays) {
            (Some((host, _)), _) => *host,
            (None, Some(_)) if state.random.below(STEPS_IN_A_TURN) > 0 => from,
            (None, _) => ready[state.random.below(ready.len() as u64) as usize].0,
        };
        state.now = next;
        self.changed.notify_all();
    }
}
