//! Virtual time that several threads have in common: it passes only while all of them wait.
//!
//! A thread that lets time pass waits until that time has come. It comes when every other thread of the process sleeps:
//! they wait for time too, or for each other. So threads that drive emulated devices work beside each other as they
//! would in life, and however long a busy machine takes for their work, no virtual time passes meanwhile. Linux tells
//! which threads sleep.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tapewise_model::Micros;

/// How often the thread that is next looks whether the others sleep.
const LOOK: Duration = Duration::from_micros(20);

/// A time, and the threads that wait for later ones.
#[derive(Debug, Default)]
pub(crate) struct CommonTime {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    now: Micros,
    /// The times that are waited for; those of one moment are told apart by a number.
    awaited: BTreeSet<(Micros, u64)>,
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
        let mut state = self.state();
        let own = (state.now + time, state.waits);
        state.waits += 1;
        state.awaited.insert(own);
        loop {
            if state.awaited.first() != Some(&own) {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            let sleep = others_sleep();
            state = self.state();
            if sleep && state.awaited.first() == Some(&own) {
                break;
            }
            drop(state);
            thread::sleep(LOOK);
            state = self.state();
        }
        state.now = state.now.max(own.0);
        state.awaited.remove(&own);
        drop(state);
        self.changed.notify_all();
    }

    /// Lets this much time pass at once, whoever works.
    pub fn skip(&self, time: Micros) {
        self.state().now += time;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
