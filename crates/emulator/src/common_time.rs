//! Virtual time that several threads have in common: it passes only while all of them wait.
//!
//! A thread that lets time pass waits until that time has come. It comes when every other thread of the process sleeps:
//! they wait for time too, or for each other. So threads that drive emulated devices work beside each other as they
//! would in life, and however long a busy machine takes for their work, no virtual time passes meanwhile. Linux tells
//! which threads sleep.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;
use tapewise_model::Micros;

/// How often the thread that is next looks whether the others sleep.
const LOOK: Duration = Duration::from_micros(20);

/// A time, and the threads that wait for later ones.
#[derive(Debug, Default)]
pub(crate) struct CommonTime(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    now: Micros,
    /// Who waits for which time. Those who wait for the same one are told apart by a number.
    awaited: BTreeMap<(Micros, u64), Thread>,
    waits: u64,
}

impl CommonTime {
    pub fn now(&self) -> Micros {
        self.state().now
    }

    /// Waits until this much time has passed.
    pub fn advance(&self, time: Micros) {
        if time <= Micros::ZERO {
            return;
        }
        let own = self.state().await_in(time);
        loop {
            if !self.state().is_next(own) {
                thread::park();
            } else if others_sleep() && self.state().is_next(own) {
                break;
            } else {
                thread::sleep(LOOK);
            }
        }
        let mut state = self.state();
        state.now = state.now.max(own.0);
        state.awaited.remove(&own);
        if let Some((_, next)) = state.awaited.first_key_value() {
            next.unpark();
        }
    }

    /// Lets this much time pass at once, whoever works.
    pub fn skip(&self, time: Micros) {
        self.state().now += time;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// This thread waits until so much time has passed.
    fn await_in(&mut self, time: Micros) -> (Micros, u64) {
        let own = (self.now + time, self.waits);
        self.waits += 1;
        self.awaited.insert(own, thread::current());
        own
    }

    fn is_next(&self, waits: (Micros, u64)) -> bool {
        self.awaited.first_key_value().map(|(first, _)| *first) == Some(waits)
    }
}

/// Whether every other thread of this process sleeps. Two looks have to see the same: between them nobody has run,
/// so nobody was woken by one whom the first look had not come to yet.
fn others_sleep() -> bool {
    let look = || sleepers().ok().flatten();
    look().is_some_and(|first| look() == Some(first))
}

/// The other threads and how often each has run, if all of them sleep.
fn sleepers() -> io::Result<Option<Vec<(String, String)>>> {
    let own = fs::read_link("/proc/thread-self")?;
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc/self/task")? {
        let entry = entry?;
        if Some(entry.file_name().as_os_str()) == own.file_name() {
            continue;
        }
        let read = |what| fs::read_to_string(entry.path().join(what));
        let (Ok(stat), Ok(runs)) = (read("stat"), read("schedstat")) else {
            // It has just ended.
            return Ok(None);
        };
        // The state follows the name, which may hold anything.
        let state = stat
            .rsplit_once(')')
            .map_or("", |(_, rest)| rest.trim_start());
        if !state.starts_with('S') {
            return Ok(None);
        }
        found.push((entry.file_name().to_string_lossy().into_owned(), runs));
    }
    Ok(Some(found))
}
