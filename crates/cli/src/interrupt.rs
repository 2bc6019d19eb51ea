//! Ctrl-C: the first ends the work where it can be taken up again, the second ends it at once. Work that keeps nothing of
//! itself ends at the first, and tells the person so.

use crate::error::{CliError, Exit};
use crate::{output, progress};
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// A flag that the first interrupt sets, so that a log or a file ends whole; the second one ends the program at once.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    register(&stop)?;
    Ok(stop)
}

fn register(stop: &Arc<AtomicBool>) -> Result<(), CliError> {
    let at_once = Exit::Interrupted as i32;
    // In this order: the first interrupt finds the flag not yet set.
    flag::register_conditional_shutdown(SIGINT, at_once, Arc::clone(stop))
        .and_then(|_| flag::register(SIGINT, Arc::clone(stop)))
        .map_err(CliError::failed)?;
    Ok(())
}

/// How often a thread looks whether there was an interrupt. Printing is not allowed in the signal's own handler.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// From now on the first interrupt ends the program, which then gives this hint. A file that is being written is
/// completed first.
pub fn end_on_interrupt(hint: &'static str) -> Result<(), CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let watch = move || {
        while !is_set(&seen) {
            thread::sleep(LOOK_EVERY);
        }
        let _whole = output::no_file_half_written();
        let ended = CliError::with(Exit::Interrupted, "interrupted").hint(hint);
        output::say_error(&ended);
        progress::end(&Err(ended));
        std::process::exit(Exit::Interrupted as i32);
    };
    // A machine that has no thread to spare ends the program without a word.
    match thread::Builder::new().spawn(watch) {
        Ok(_) => register(&stop),
        Err(_) => Ok(()),
    }
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

/// The exit code of a verb that searched: whether the search was ended by an interrupt.
pub fn exit_of_search() -> ExitCode {
    if is_search_stopped() {
        ExitCode::from(Exit::Interrupted as u8)
    } else {
        ExitCode::SUCCESS
    }
}
