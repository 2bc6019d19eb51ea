//! Long work beside Python: other threads go on, and Ctrl-C ends it.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tapewise::Effort;
use tapewise::model::Micros;

/// How long Python's signals may wait.
const SLICE: Duration = Duration::from_millis(20);

/// Longer than any search, and a sum of two of them is still a time.
const FOREVER: Micros = Micros(i64::MAX / 4);

/// Does work on a thread of its own, without holding the interpreter. On Ctrl-C the flag goes up, and when the work has
/// seen it, KeyboardInterrupt is raised.
pub fn attended<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let (send, done) = channel();
    std::thread::scope(|scope| {
        let stop = &stop;
        let worker = std::thread::Builder::new()
            .stack_size(8 << 20)
            .spawn_scoped(scope, move || {
                // Nobody listens any more after Ctrl-C.
                let _ = send.send(work(stop));
            })?;
        // A receiver is for one thread at a time, which a lock tells the compiler.
        let done = std::sync::Mutex::new(done);
        loop {
            let got = py.detach(|| match done.lock() {
                Ok(done) => done.recv_timeout(SLICE),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            });
            match got {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => {
                    // Joined here, or its panic would be the caller's.
                    let _ = worker.join();
                    return Err(super::errors::TapewiseError::new_err(
                        "a defect of tapewise: the search was given up",
                    ));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(interrupt) = py.check_signals() {
                stop.store(true, Ordering::Relaxed);
                // The scope waits for the worker; others may run meanwhile.
                py.detach(|| {
                    if let Ok(done) = done.lock() {
                        let _ = done.recv();
                    }
                });
                return Err(interrupt);
            }
        }
    })
}

/// How hard to look.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub seed: u64,
    pub prove: bool,
    pub work: Option<u64>,
    pub budget_s: Option<f64>,
}

/// Does something with an effort whose clock runs out when the flag goes up.
pub fn with_effort<T>(wish: Wish, stop: &AtomicBool, work: impl FnOnce(&Effort) -> T) -> T {
    let begin = Instant::now();
    let clock = || {
        if stop.load(Ordering::Relaxed) {
            Micros(FOREVER.0 * 2)
        } else {
            Micros(begin.elapsed().as_micros() as i64)
        }
    };
    let budget = wish.budget_s.map_or(FOREVER, Micros::from_secs_f64);
    work(&Effort {
        seed: wish.seed,
        prove: wish.prove,
        work: wish.work,
        budget: Some(budget.min(FOREVER)),
        clock: &clock,
        is_stopped: &|| false,
    })
}
