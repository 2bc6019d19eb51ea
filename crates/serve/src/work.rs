//! What the drives' side is doing: said by whoever moves files, read by whoever asks.

use crate::drives::Drives;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tapewise_archive::mover::Recalled;
use tapewise_formats::event::Event;
use tapewise_model::Profile;

/// What is being done now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// Nothing waits.
    #[default]
    Idle,
    /// Drives are at work.
    Recalling,
    /// What lies in the cache goes to tape.
    Writing,
    /// Something waits that cannot be read now, and why; it is tried again.
    Waiting(String),
}

/// What was done since the program began. Counters start at 0 with it, as Prometheus expects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files delivered.
    pub delivered: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Files that could not be delivered.
    pub failed: u64,
    /// Times a volume was read.
    pub mounts: u64,
    /// Times the work could not go on.
    pub troubles: u64,
}

/// What the drives' side is doing, and a bell that tells it of new requests.
#[derive(Debug, Default)]
pub struct Work {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Debug)]
struct State {
    doing: Doing,
    counts: Counts,
    drives: Drives,
    has_rung: bool,
    /// Why nobody begins what waits, where movers have the drives.
    unattended: Option<String>,
    /// When the drives' side last gave a sign of life.
    beat: Instant,
}

impl Default for State {
    fn default() -> State {
        State {
            doing: Doing::default(),
            counts: Counts::default(),
            drives: Drives::default(),
            has_rung: false,
            unattended: None,
            beat: Instant::now(),
        }
    }
}

impl Work {
    /// Nothing is done yet, by drives of a profile. If it does not say how its tape is laid out, wear is not known.
    pub fn of(profile: &Profile) -> Work {
        let work = Work::default();
        if let Ok(geometry) = profile.geometry() {
            work.state().drives = Drives::with(geometry);
        }
        work
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn beat(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        state.beat = Instant::now();
        state
    }

    /// How long the drives' side has given no sign of life.
    pub fn silence(&self) -> Duration {
        self.state().beat.elapsed()
    }

    /// Says what is being done now.
    pub fn say(&self, doing: Doing) {
        self.beat().doing = doing;
    }

    /// What is being done now.
    pub fn doing(&self) -> Doing {
        self.state().doing.clone()
    }

    /// Adds what came of recalls.
    pub fn did(&self, recalled: &Recalled) {
        let counts = &mut self.beat().counts;
        counts.delivered += recalled.delivered;
        counts.bytes = counts.bytes.saturating_add(recalled.bytes);
        counts.failed += recalled.failed.len() as u64;
        counts.mounts += recalled.reads;
    }

    /// Says what came of recalls altogether, where others carry them out.
    pub fn counted(&self, counts: Counts) {
        self.beat().counts = counts;
    }

    /// Says that the work could not go on, and why.
    pub fn is_stuck(&self, why: String) {
        let mut state = self.beat();
        state.counts.troubles += 1;
        state.doing = Doing::Waiting(why);
    }

    /// Says why nobody begins what waits, where movers have the drives; none if one is there.
    pub fn is_unattended(&self, why: Option<String>) {
        self.beat().unattended = why;
    }

    /// Why nobody begins what waits.
    pub fn unattended(&self) -> Option<String> {
        self.state().unattended.clone()
    }

    /// What was done.
    pub fn counts(&self) -> Counts {
        self.state().counts.clone()
    }

    /// Tells what a drive did, as it is known at a time. Whether it goes on with the cartridge that it has loaded: the
    /// log calls that a mount too.
    pub fn saw(&self, event: &Event, now_ns: i64) -> bool {
        self.beat().drives.saw(event, now_ns)
    }

    /// What drives did.
    pub fn drives(&self) -> Drives {
        self.state().drives.clone()
    }

    /// Tells of a new request, of room that the cache has got, or that everything ends.
    pub fn ring(&self) {
        self.state().has_rung = true;
        self.bell.notify_all();
    }

    /// Waits until somebody rings, at most so long; whether somebody did.
    pub fn wait(&self, most: Duration) -> bool {
        let state = self.beat();
        let waited = self
            .bell
            .wait_timeout_while(state, most, |state| !state.has_rung);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.has_rung)
    }
}
