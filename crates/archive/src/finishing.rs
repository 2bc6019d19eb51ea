//! Files are synced and named on threads of their own, while others come.
//!
//! A sync waits for the disk: with one after the other, hundreds of small files take seconds in which
//! nothing is read. Several at once are one write of the file system's journal. Whoever gave a file is told
//! what became of it in the order in which the files were given, so that what is answered keeps its order.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Files finished at once.
const THREADS: usize = 16;

/// Files of which the result is not told yet: each may keep a file and a directory open.
const MOST_UNDER_WAY: usize = 4 * THREADS;

/// A file on its way, with its place in the order, and what became of it.
type Given<T> = (u64, usize, T);

/// Files on their way to their names: `T` is a file, `R` what became of it.
pub(crate) struct Finishing<T, R> {
    /// Syncs a file and names it.
    work: fn(T) -> R,
    /// None when nothing more is taken.
    pass: Option<Sender<Given<T>>>,
    passed: Arc<Mutex<Receiver<Given<T>>>>,
    say: Sender<Given<R>>,
    done: Receiver<Given<R>>,
    threads: Vec<JoinHandle<()>>,
    most_threads: usize,
    /// What was done before others that were given earlier.
    ahead: BTreeMap<u64, (usize, R)>,
    /// Files given so far, and those of them whose result was told.
    given: u64,
    told: u64,
}

impl<T: Send + 'static, R: Send + 'static> Finishing<T, R> {
    /// Nothing is under way.
    pub fn new(work: fn(T) -> R) -> Finishing<T, R> {
        let (pass, passed) = channel();
        let (say, done) = channel();
        Finishing {
            work,
            pass: Some(pass),
            passed: Arc::new(Mutex::new(passed)),
            say,
            done,
            threads: Vec::new(),
            most_threads: THREADS,
            ahead: BTreeMap::new(),
            given: 0,
            told: 0,
        }
    }

    /// The same on the caller's own thread, one file after the other, where `is_so`.
    pub fn in_turns(mut self, is_so: bool) -> Finishing<T, R> {
        if is_so {
            self.most_threads = 0;
        }
        self
    }

    fn under_way(&self) -> usize {
        (self.given - self.told) as usize
    }

    /// Another thread, if there is work for one. Fewer than wanted are enough.
    fn start_thread(&mut self) {
        if self.threads.len() >= self.most_threads.min(self.under_way() + 1) {
            return;
        }
        let (passed, say, work) = (Arc::clone(&self.passed), self.say.clone(), self.work);
        let next = move || passed.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let thread = Builder::new().spawn(move || {
            while let Ok((at, number, file)) = next() {
                // Nobody listens any more when the run has ended by a panic.
                let _ = say.send((at, number, work(file)));
            }
        });
        self.threads.extend(thread);
    }

    /// Finishes a file soon; what has become of files, in the order in which they were given. Without threads
    /// the caller's own finishes it.
    pub fn finish(&mut self, number: usize, file: T) -> Vec<(usize, R)> {
        self.start_thread();
        let at = self.given;
        self.given += 1;
        let unsent = match &self.pass {
            Some(pass) if !self.threads.is_empty() => pass.send((at, number, file)).err(),
            _ => Some(std::sync::mpsc::SendError((at, number, file))),
        };
        if let Some(unsent) = unsent {
            let (at, number, file) = unsent.0;
            self.ahead.insert(at, (number, (self.work)(file)));
        }
        let mut finished = self.in_order();
        while self.under_way() >= MOST_UNDER_WAY {
            let Ok((at, number, result)) = self.done.recv() else {
                break;
            };
            self.ahead.insert(at, (number, result));
            finished.extend(self.in_order());
        }
        finished
    }

    /// What is done, up to the first file that is not.
    fn in_order(&mut self) -> Vec<(usize, R)> {
        while let Ok((at, number, result)) = self.done.try_recv() {
            self.ahead.insert(at, (number, result));
        }
        let mut finished = Vec::new();
        while let Some(one) = self.ahead.remove(&self.told) {
            finished.push(one);
            self.told += 1;
        }
        finished
    }

    /// Waits until nothing is under way; what has become of what was. Nothing may be given after it.
    pub fn rest(&mut self) -> Vec<(usize, R)> {
        drop(self.pass.take());
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
        self.in_order()
    }
}

impl<T, R> Drop for Finishing<T, R> {
    fn drop(&mut self) {
        drop(self.pass.take());
        // What was on its way has its name, or is removed, when this returns.
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Condvar;
    use std::time::Duration;

    #[test]
    fn results_come_in_the_order_of_the_files_whichever_is_done_first() {
        let mut finishing = Finishing::new(|number: u64| {
            // Every third takes longest.
            std::thread::sleep(Duration::from_millis(if number.is_multiple_of(3) {
                5
            } else {
                0
            }));
            number * 2
        });
        let mut told = Vec::new();
        for number in 0..200 {
            told.extend(finishing.finish(number as usize, number));
            assert!(finishing.under_way() < MOST_UNDER_WAY);
        }
        told.extend(finishing.rest());
        let expected: Vec<_> = (0..200)
            .map(|number| (number as usize, number * 2))
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn a_file_is_finished_while_another_one_waits_for_the_disk() {
        type Meeting = Arc<(Mutex<usize>, Condvar)>;
        let meeting = Meeting::default();
        let mut finishing = Finishing::new(|meeting: Meeting| {
            let (here, came) = &*meeting;
            *here.lock().unwrap() += 1;
            came.notify_all();
            let limit = Duration::from_secs(60);
            let waited = came.wait_timeout_while(here.lock().unwrap(), limit, |here| *here < 2);
            !waited.unwrap().1.timed_out()
        });
        let mut told = finishing.finish(0, Arc::clone(&meeting));
        told.extend(finishing.finish(1, meeting));
        told.extend(finishing.rest());
        assert_eq!(told, [(0, true), (1, true)]);
    }

    #[test]
    fn what_is_dropped_is_finished_first() {
        let count = Arc::new(Mutex::new(0));
        let mut finishing = Finishing::new(|count: Arc<Mutex<i32>>| *count.lock().unwrap() += 1);
        for number in 0..20 {
            let _ = finishing.finish(number, Arc::clone(&count));
        }
        drop(finishing);
        assert_eq!(*count.lock().unwrap(), 20);
    }
}
