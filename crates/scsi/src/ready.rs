//! Waiting for a device: what TEST UNIT READY says until it is ready.

use crate::command::Command;
use crate::commands::TestUnitReady;
use crate::error::ScsiError;
use crate::sense::{Attention, Condition, NotReady, Sense};
use crate::transport::Transport;
use std::time::Duration;

/// How often a device is asked. A mount is timed by this, to within a fraction of a second.
pub(crate) const POLL: Duration = Duration::from_millis(200);

/// How long a drive may see no cartridge that was put in. After that it was taken out again, by another host's robot or a
/// person.
const UNSEEN: Duration = Duration::from_secs(120);

/// How long a device may be busy with something else than getting ready, which alone may take hours.
const BUSY: Duration = Duration::from_secs(600);

/// Asks until the device is ready. Unit attentions that say "there is another cartridge" or "there
/// was a reset" are what one waits for, and so are changed parameters and firmware: they are handed
/// to `noted`. With `without_medium` the wait also spans the time until a robot's cartridge is seen, or seen again: two
/// minutes at most.
///
/// # Errors
/// [`ScsiError::StillNotReady`] when the limit passes, and at once what no wait can cure: no
/// cartridge, one that must be loaded by command, a cleaning cartridge, other attentions.
pub(crate) fn wait_until_ready(
    transport: &mut dyn Transport,
    limit: Duration,
    without_medium: bool,
    noted: &mut dyn FnMut(Sense),
) -> Result<(), ScsiError> {
    let began = transport.now();
    // Since when it answers something else than that it gets ready.
    let mut other_since = began;
    loop {
        let error = match TestUnitReady.send_noting(transport) {
            Ok((_, note)) => {
                note.into_iter().for_each(noted);
                return Ok(());
            }
            Err(error) => error,
        };
        let now = transport.now();
        let waited = now.saturating_sub(began);
        let other = now.saturating_sub(other_since);
        let is_waiting = match error.condition() {
            Some(Condition::UnitAttention(attention)) if is_expected(attention) => {
                error.sense().cloned().into_iter().for_each(&mut *noted);
                other < BUSY
            }
            Some(Condition::NotReady(NotReady::NoMedium)) => without_medium && other < UNSEEN,
            Some(Condition::NotReady(_)) => {
                other_since = now;
                error.is_retryable()
            }
            _ => error.is_retryable() && other < BUSY,
        };
        if !is_waiting {
            return Err(error);
        }
        if waited >= limit {
            return Err(match error {
                ScsiError::Sense { sense, .. } => ScsiError::StillNotReady { waited, sense },
                other => other,
            });
        }
        transport.wait(POLL);
    }
}

/// Whether a mount or a reset before it causes this attention.
pub(crate) fn is_expected(attention: Attention) -> bool {
    attention.is_benign()
        || matches!(
            attention,
            Attention::MediumChanged
                | Attention::StationAccessed
                | Attention::Reset
                | Attention::EncryptionChanged
                | Attention::FirmwareChanged
        )
}
