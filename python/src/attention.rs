//! Long work beside Python: other threads go on, Ctrl-C is answered at once, and a panic is an error of ours.

use crate::errors::TapewiseError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tapewise::Effort;
use tapewise::model::Micros;

/// How long Python's signals may wait.
const SLICE: Duration = Duration::from_millis(20);

/// Does work on a thread of its own, without holding the interpreter. On Ctrl-C, KeyboardInterrupt is raised at once:
/// the flag goes up, and nobody waits for what the work still does until it looks at the flag.
pub fn attended<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (send, done) = channel();
    let seen = stop.clone();
    std::thread::Builder::new()
        .stack_size(8 << 20)
        .spawn(move || {
            // Nobody listens any more after Ctrl-C.
            let _ = send.send(work(&seen));
        })?;
    // A receiver is for one thread at a time, which a lock tells the compiler.
    let done = Mutex::new(done);
    loop {
        match py.detach(|| wait(&done)) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Disconnected) => return Err(defect()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(interrupt) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            return Err(interrupt);
        }
    }
}

fn wait<T>(done: &Mutex<Receiver<T>>) -> Result<T, RecvTimeoutError> {
    match done.lock() {
        Ok(done) => done.recv_timeout(SLICE),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    }
}

/// Does short work here and now, without holding the interpreter.
pub fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .map_err(|_| defect())
}

/// A panic, whose words are on standard error already.
fn defect() -> PyErr {
    TapewiseError::new_err("a defect of tapewise: the work was given up")
}

/// Does work that is divided over threads, as many as the machine has if no number is given. They end with the work:
/// a process that Python forks later would not have them.
pub fn on_threads<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, String> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build();
    pool.map(|pool| pool.install(work))
        .map_err(|error| error.to_string())
}

/// How hard to look.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub seed: u64,
    pub prove: bool,
    pub work: Option<u64>,
    pub budget_s: Option<f64>,
}

/// Does something with an effort that ends when the flag goes up.
pub fn with_effort<T>(wish: Wish, stop: &AtomicBool, work: impl FnOnce(&Effort) -> T) -> T {
    let begin = Instant::now();
    work(&Effort {
        seed: wish.seed,
        prove: wish.prove,
        work: wish.work,
        budget: wish.budget_s.map(Micros::from_secs_f64),
        clock: &|| Micros(begin.elapsed().as_micros() as i64),
        is_stopped: &|| stop.load(Ordering::Relaxed),
    })
}
