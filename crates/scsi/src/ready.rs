//! Waiting for a device: what TEST UNIT READY says until it is ready.

use crate::command::Command;
use crate::commands::TestUnitReady;
use crate::error::ScsiError;
use crate::sense::{Attention, Condition, NotReady, Sense};
use crate::transport::Transport;
use std::time::Duration;

/// How often a device is asked. A mount is timed by this, to within a fraction of a second.
pub(crate) const POLL: Duration = Duration::from_millis(200);

/// Asks until the device is ready. Unit attentions that say "there is another cartridge" or "there
/// was a reset" are what one waits for, and so are changed parameters and firmware: they are handed
/// to `noted`. With `without_medium` the wait also spans the time until a robot's cartridge is seen.
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
    loop {
        let error = match TestUnitReady.send_noting(transport) {
            Ok((_, note)) => {
                note.into_iter().for_each(noted);
                return Ok(());
            }
            Err(error) => error,
        };
        let waited = transport.now().saturating_sub(began);
        let is_waiting = match error.condition() {
            Some(Condition::UnitAttention(attention)) if is_expected(attention) => {
                error.sense().cloned().into_iter().for_each(&mut *noted);
                true
            }
            Some(Condition::NotReady(NotReady::NoMedium)) => without_medium,
            _ => error.is_retryable(),
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
    matches!(
        attention,
        Attention::MediumChanged
            | Attention::StationAccessed
            | Attention::Reset
            | Attention::ParametersChanged
            | Attention::FirmwareChanged
    )
}
