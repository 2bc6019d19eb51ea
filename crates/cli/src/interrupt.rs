//! Ctrl-C: the first ends the work where it can be taken up again, the second ends it at once.

use crate::error::{CliError, Exit};
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A flag that the first interrupt sets, so that a log or a file ends whole; the second one ends the program at once.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let at_once = Exit::Interrupted as i32;
    // In this order: the first interrupt finds the flag not yet set.
    flag::register_conditional_shutdown(SIGINT, at_once, Arc::clone(&stop))
        .and_then(|_| flag::register(SIGINT, Arc::clone(&stop)))
        .map_err(CliError::failed)?;
    Ok(stop)
}

/// Whether it was interrupted.
pub fn is_set(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

/// Set by the first interrupt, once [`stop_search_on_interrupt`] was called.
static SEARCH_STOPPED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on the first interrupt ends searches for an order, which then give the best one so far.
pub fn stop_search_on_interrupt() -> Result<(), CliError> {
    let stop = stop_on_interrupt()?;
    SEARCH_STOPPED.get_or_init(|| stop);
    Ok(())
}

/// Whether searches are to end.
pub fn is_search_stopped() -> bool {
    SEARCH_STOPPED.get().is_some_and(|stop| is_set(stop))
}
