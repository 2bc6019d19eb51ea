//! Recalls wait for one another before a cartridge moves.

use crate::archive::Archive;
use crate::error::{CliError, Exit};
use crate::interrupt::is_set;
use crate::now::now_ns;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How often those who wait look again.
pub const LOOK: Duration = Duration::from_millis(200);

/// Waits until the oldest request that needs a tape is as old as the window, so that others may join
/// it before a cartridge moves.
pub fn gather(archive: &Archive, window: Duration, stop: &AtomicBool) -> Result<(), CliError> {
    if window.is_zero() {
        return Ok(());
    }
    let window_ns = i64::try_from(window.as_nanos()).unwrap_or(i64::MAX);
    loop {
        let waits = archive.catalogue.waits()?;
        let oldest = waits.iter().map(|wait| wait.oldest_ns).min();
        let age_ns = oldest.map(|oldest| now_ns().saturating_sub(oldest));
        // Nothing waits for a tape; or the clock was set back: nobody waits for ever.
        if age_ns.is_none_or(|age| age >= window_ns || age < 0) {
            return Ok(());
        }
        go_on(stop)?;
        std::thread::sleep(LOOK);
    }
}

/// An error once somebody has interrupted.
pub fn go_on(stop: &AtomicBool) -> Result<(), CliError> {
    if is_set(stop) {
        Err(CliError::with(Exit::Interrupted, "interrupted"))
    } else {
        Ok(())
    }
}
