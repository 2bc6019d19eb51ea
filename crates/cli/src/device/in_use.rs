//! Who uses a device: asked before anything is sent to it but the question who it is.

use crate::error::{CliError, Exit};
use crate::output::say;
use crate::units;
use tapewise_scsi::device::{Address, Found, Host};
use tapewise_scsi::holders::{self, Holder, Holders};
use tapewise_scsi::{Condition, ScsiError, TapeDrive};

/// Refuses a drive that somebody on this host uses.
pub fn refuse_held(name: &str) -> Result<(), CliError> {
    let holders = host_holders(name)?;
    if holders.unseen > 0 {
        say(format_args!(
            "tapewise: {name}: {} of other users cannot be looked into; root can tell whether they use the drive\n",
            units::count(holders.unseen, "process")
        ));
    }
    refuse(name, holders.found.first())
}

/// Refuses a drive that another initiator has reserved.
pub fn refuse_reserved(name: &str, drive: &mut TapeDrive) -> Result<(), CliError> {
    let reserved = reservation_of(drive).map_err(|error| CliError::from(error).of(name))?;
    refuse(name, reserved.as_ref())
}

fn refuse(name: &str, holder: Option<&Holder>) -> Result<(), CliError> {
    match holder {
        Some(holder) => Err(
            CliError::with(Exit::Busy, format!("{name} is in use: {holder}"))
                .hint("nothing was sent to it but the question who it is"),
        ),
        None => Ok(()),
    }
}

/// Asks for a reservation; messages that wait in the drive come first, one each.
fn reservation_of(drive: &mut TapeDrive) -> Result<Option<Holder>, ScsiError> {
    const MOST_MESSAGES: usize = 8;
    for _ in 0..MOST_MESSAGES {
        match holders::reservation(drive.transport()) {
            Err(error) if is_message(&error) => {}
            other => return other,
        }
    }
    holders::reservation(drive.transport())
}

/// Whether an error only says what happened before, so that the question may be asked again.
fn is_message(error: &ScsiError) -> bool {
    matches!(error.condition(), Some(Condition::UnitAttention(_)))
}

/// Who uses a drive on this host, as far as this user can see.
pub fn host_holders(name: &str) -> Result<Holders, CliError> {
    let host = Host::local();
    let path = match name.starts_with("emulated:") {
        true => None,
        false => match host.resolve(name)?.0 {
            Address::Sg(path) | Address::St(path) => Some(path),
            Address::Iscsi(_) | Address::Replay(_) => None,
        },
    };
    let Some(path) = path else {
        return Ok(Holders::default());
    };
    let is_it = |found: &Found| {
        found.path == path
            || found.generic.as_ref() == Some(&path)
            || found.driver.as_ref() == Some(&path)
    };
    let failed = |error: std::io::Error| CliError::failed(error).of(name);
    match host
        .list()
        .map_err(failed)?
        .iter()
        .find(|found| is_it(found))
    {
        Some(found) => host.holders(found).map_err(failed),
        None => Ok(Holders::default()),
    }
}
