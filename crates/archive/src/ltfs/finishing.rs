//! Files are compared, synced and named on threads of their own, while the tape goes on.
//!
//! A sync waits for the disk: with one after the other, hundreds of small files take seconds in which
//! nothing is read. Several at once are one write of the file system's journal.

use crate::deliver::{DeliverError, Delivered, Delivery};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Files finished at once.
const THREADS: usize = 16;

/// Files that wait or are being finished: each keeps a file and a directory open.
const MOST_UNDER_WAY: usize = 4 * THREADS;

/// What became of a want.
pub(super) type Finished = (usize, Result<Delivered, DeliverError>);

/// Deliveries on their way to their names.
pub(super) struct Finishing {
    pass: Option<Sender<(usize, Box<Delivery>)>>,
    done: Receiver<Finished>,
    threads: Vec<JoinHandle<()>>,
    under_way: usize,
}

impl Finishing {
    /// Nothing is under way.
    pub fn new() -> Finishing {
        let (pass, passed) = channel::<(usize, Box<Delivery>)>();
        let (say, done) = channel();
        let passed = Arc::new(Mutex::new(passed));
        let worker = || {
            let (passed, say) = (Arc::clone(&passed), say.clone());
            let next = move || passed.lock().unwrap_or_else(PoisonError::into_inner).recv();
            Builder::new().spawn(move || {
                while let Ok((want, delivery)) = next() {
                    // Nobody listens any more when the run has ended by a panic.
                    let _ = say.send((want, delivery.finish()));
                }
            })
        };
        // Fewer threads than wanted are enough; without any the caller's own finishes.
        let threads: Vec<JoinHandle<()>> = (0..THREADS).map_while(|_| worker().ok()).collect();
        Finishing {
            pass: (!threads.is_empty()).then_some(pass),
            done,
            threads,
            under_way: 0,
        }
    }

    /// Finishes a delivery soon; what has become of this one or of others.
    pub fn finish(&mut self, want: usize, delivery: Delivery) -> Vec<Finished> {
        let Some(pass) = &self.pass else {
            return vec![(want, delivery.finish())];
        };
        let mut finished = Vec::new();
        match pass.send((want, Box::new(delivery))) {
            Ok(()) => self.under_way += 1,
            Err(unsent) => finished.push((want, unsent.0.1.finish())),
        }
        while self.under_way >= MOST_UNDER_WAY {
            let Ok(one) = self.done.recv() else { break };
            finished.push(one);
            self.under_way -= 1;
        }
        while let Ok(one) = self.done.try_recv() {
            finished.push(one);
            self.under_way -= 1;
        }
        finished
    }

    /// Waits until nothing is under way; what has become of what was.
    pub fn rest(&mut self) -> Vec<Finished> {
        drop(self.pass.take());
        let mut finished = Vec::with_capacity(self.under_way);
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
        while let Ok(one) = self.done.try_recv() {
            finished.push(one);
        }
        self.under_way = 0;
        finished
    }
}
