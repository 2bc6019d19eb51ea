//! Who uses a device: asked before anything is sent to it but the question who it is.

use crate::error::{CliError, Exit};
use crate::output::say;
use crate::units;
use tapewise_scsi::device::{Address, DeviceError, Found, Host};
use tapewise_scsi::holders::{Holder, Holders};
use tapewise_scsi::{Exclusivity, ScsiError, TapeDrive, TransportError};

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

/// Refuses a drive that another initiator has reserved. A reservation that tapewise left behind on
/// this host is ended, with words.
pub fn refuse_reserved(name: &str, drive: &mut TapeDrive) -> Result<(), CliError> {
    let host = Host::local();
    let at = |error: ScsiError| CliError::from(error).of(name);
    let holder = drive.reserved_by_others(&host).map_err(at)?;
    match &holder {
        Some(Holder::Reservation {
            held: Some((key, _)),
            ..
        }) if holder.as_ref().is_some_and(Holder::is_gone) => {
            drive.clear_registration(&host, *key).map_err(at)?;
            say_cleared(name, *key);
            Ok(())
        }
        _ => refuse(name, holder.as_ref()),
    }
}

/// Reserves a drive for this process until it is closed. What tapewise left behind on this host is
/// cleared, with words.
pub fn reserve(name: &str, drive: &mut TapeDrive) -> Result<(), CliError> {
    let reserved = match drive.reserve(&Host::local()) {
        Err(ScsiError::Reserved { holder }) => return refuse(name, Some(&holder)),
        reserved => reserved.map_err(|error| CliError::from(error).of(name))?,
    };
    for key in reserved.cleared {
        say_cleared(name, key);
    }
    if reserved.kind == Exclusivity::Nothing {
        say(format_args!(
            "tapewise: {name} knows no reservations: nothing keeps another host from using it meanwhile\n"
        ));
    }
    Ok(())
}

fn say_cleared(name: &str, key: u64) {
    let owner = Host::local().owner_of(key);
    say(format_args!(
        "tapewise: {name}: {owner} left its registration on the drive; tapewise clears it\n"
    ));
}

fn refuse(name: &str, holder: Option<&Holder>) -> Result<(), CliError> {
    let hint = match holder {
        None => return Ok(()),
        Some(Holder::Reservation { .. }) => format!(
            "`tapewise drive release {name}` shows who has it, with the key; with `--key KEY` it ends the reservation of a \
            holder that is gone"
        ),
        Some(_) => "nothing was sent to it but the question who it is".to_owned(),
    };
    let holder = holder.map(Holder::to_string).unwrap_or_default();
    Err(CliError::with(Exit::Busy, format!("{name} is in use: {holder}")).hint(hint))
}

/// The error of a device that cannot be opened: who has it open, where that is the reason.
pub fn cannot_open(name: &str, error: DeviceError) -> CliError {
    let is_busy = matches!(
        &error,
        DeviceError::Transport(TransportError::Io { source, .. })
            if source.kind() == std::io::ErrorKind::ResourceBusy
    );
    if !is_busy {
        return error.into();
    }
    match host_holders(name)
        .ok()
        .and_then(|holders| holders.found.into_iter().next())
    {
        Some(holder) => CliError::with(Exit::Busy, format!("{name} is in use: {holder}")),
        None => CliError::with(Exit::Busy, error)
            .hint("a program of another user has it open; `sudo tapewise doctor` names it"),
    }
}

/// Who uses a drive on this host, as far as this user can see.
pub fn host_holders(name: &str) -> Result<Holders, CliError> {
    match found(name)? {
        Some(found) => Host::local()
            .holders(&found)
            .map_err(|error| CliError::failed(error).of(name)),
        None => Ok(Holders::default()),
    }
}

/// The device of this host that a name leads to; none if it is emulated, a recording or reached over iSCSI.
pub fn found(name: &str) -> Result<Option<Found>, CliError> {
    let host = Host::local();
    let path = if name.starts_with("emulated:") {
        None
    } else {
        match host.resolve(name)?.0 {
            Address::Sg(path) | Address::St(path) => Some(path),
            Address::Iscsi(_) | Address::Replay(_) => None,
        }
    };
    let Some(path) = path else {
        return Ok(None);
    };
    let is_it = |found: &Found| {
        found.path == path
            || found.generic.as_ref() == Some(&path)
            || found.driver.as_ref() == Some(&path)
    };
    let listed = host.list();
    let listed = listed.map_err(|error| CliError::failed(error).of(name))?;
    Ok(listed.into_iter().find(is_it))
}
