//! Ctrl-C: the first ends the work where it can be taken up again, the second ends it at once.

use crate::error::{CliError, Exit};
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
