//! Threads for work that is divided. If none can be started, the program's own thread does it all.

use crate::error::CliError;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Lets what follows be divided over as many threads as the machine has processors.
pub fn prepare() {
    // The pool that rayon makes by itself ends the program if it gets no threads, so another one is tried first.
    if ThreadPoolBuilder::new().build().is_err()
        && let Ok(alone) = alone()
    {
        // This thread belongs to it from now on.
        std::mem::forget(alone);
    }
}

/// Does work on so many threads, or on as many as the machine has processors.
///
/// # Errors
/// What the work says; or as many threads as were asked for cannot be had.
pub fn on<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T, CliError> + Send,
) -> Result<T, CliError> {
    let pool = match threads {
        Some(0) => return Err(CliError::input("--threads 0: at least 1")),
        Some(threads) => ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| {
                let hint = "try again with fewer, or without --threads";
                CliError::failed(format!("--threads {threads}: {error}")).hint(hint)
            })?,
        None => {
            let pool = ThreadPoolBuilder::new().build();
            pool.or_else(|_| alone()).map_err(CliError::failed)?
        }
    };
    pool.install(work)
}

/// A pool of the thread that asks.
fn alone() -> Result<ThreadPool, ThreadPoolBuildError> {
    let pool = ThreadPoolBuilder::new().num_threads(1);
    pool.use_current_thread().build()
}
