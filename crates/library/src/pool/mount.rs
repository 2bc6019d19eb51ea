//! One drive and what is in it: cartridges that come, and go home.

use super::bay::{Bay, Holds, Presence, Site, State};
use super::clean::clean;
use super::desk::{Desk, lock};
use super::error::PoolError;
use std::sync::Mutex;
use std::time::Duration;
use tapewise_run::Log;
use tapewise_scsi::Condition;

/// How long a cartridge that was put in may go unnoticed by the drive.
const SEEN_LIMIT: Duration = Duration::from_secs(600);

/// Mounts a volume in this drive, which is in use then. The robots are held for moves, so that other
/// drives load meanwhile, and for as long as a person is asked for a cartridge.
pub(super) fn mount_in(
    bay: &mut Bay,
    desk: &Mutex<Desk>,
    volume: &str,
    log: &mut dyn Log,
) -> Result<(), PoolError> {
    make_room(bay, volume, log)?;
    bring(bay, desk, volume, log)?;
    load(bay, desk, volume, log)
}

/// Unloads what is in a drive, unless it is this volume.
pub(super) fn make_room(bay: &mut Bay, volume: &str, log: &mut dyn Log) -> Result<(), PoolError> {
    bay.check_reservation()?;
    if bay.volume() == Some(volume) {
        // It was asked for: from now on it is ours to bring back.
        bay.is_left = false;
        return Ok(());
    }
    unload(bay, log)
}

/// Takes home what was unloaded, and brings a volume, unless that is in the drive.
pub(super) fn bring(
    bay: &mut Bay,
    desk: &Mutex<Desk>,
    volume: &str,
    log: &mut dyn Log,
) -> Result<(), PoolError> {
    if bay.volume() == Some(volume) {
        return Ok(());
    }
    match take_home(bay, desk, log) {
        // The cartridge that was in the drive is lost, and that was said. But the drive is empty.
        Err(PoolError::Missing { .. }) => {}
        other => other?,
    }
    lock(desk).fetch(bay, volume, log)
}

/// Loads the volume that was brought into the drive. A drive that does not see it for a while may be right: what another
/// host told a robot before its network failed is carried out late, and takes the cartridge out.
pub(super) fn load(
    bay: &mut Bay,
    desk: &Mutex<Desk>,
    volume: &str,
    log: &mut dyn Log,
) -> Result<(), PoolError> {
    let began = bay.drive.now();
    while !bay.sees_one()? {
        lock(desk).look_after(bay, volume)?;
        if bay.drive.now() >= began + SEEN_LIMIT {
            return Err(bay.failed("it does not see the cartridge that was put into it"));
        }
    }
    let state = bay.state.clone();
    let loaded = bay.load(volume, log);
    if loaded.is_err()
        && bay.presence().is_ok_and(|now| now == Presence::Empty)
        && let Err(taken) = lock(desk).look_after(bay, volume)
    {
        // That is no fault of the drive.
        bay.state = state;
        return Err(taken);
    }
    loaded?;
    bay.state = State::InUse;
    Ok(())
}

/// Unloads a drive, brings its cartridge back, and cleans the drive if it asks for it.
pub(super) fn dismount(
    bay: &mut Bay,
    desk: &Mutex<Desk>,
    log: &mut dyn Log,
) -> Result<(), PoolError> {
    unload(bay, log)?;
    take_home(bay, desk, log)
}

/// Unloads a drive; its cartridge stays in it.
fn unload(bay: &mut Bay, log: &mut dyn Log) -> Result<(), PoolError> {
    match bay.volume().map(str::to_owned) {
        Some(volume) if !bay.is_left => bay.unload(&volume, log),
        _ => Ok(()),
    }
}

/// Brings the cartridge of a drive that was unloaded back, and cleans the drive if it asks for it.
fn take_home(bay: &mut Bay, desk: &Mutex<Desk>, log: &mut dyn Log) -> Result<(), PoolError> {
    if bay.is_left {
        return Ok(());
    }
    if let Some(volume) = bay.volume().map(str::to_owned) {
        let back = lock(desk).put_back(bay, &volume, log);
        back.map_err(|error| match error {
            // The drive does not give it out: whatever comes next has to go into another one.
            PoolError::Robot { source, .. }
                if source.condition() == Some(Condition::Medium)
                    && bay.volume() == Some(&volume) =>
            {
                bay.failed(&format!("it does not give out {volume}: {source}"))
            }
            error => error,
        })?;
    }
    if bay.is_dirty {
        clean(bay, desk)
    } else {
        Ok(())
    }
}

/// Gives out or brings back a cartridge that is not the volume it was taken for.
pub(super) fn reject(
    bay: &mut Bay,
    desk: &Mutex<Desk>,
    found: &str,
    log: &mut dyn Log,
) -> Result<(), PoolError> {
    let expected = bay.volume().unwrap_or("nothing").to_owned();
    let name = bay.name();
    let line = format!("{name}: {expected} was asked for, the label on tape says {found}");
    lock(desk).say_of(&expected, &line);
    if bay.site == Site::ByHand && bay.volume().is_some() {
        bay.holds = Holds::Volume(found.to_owned());
    }
    dismount(bay, desk, log)
}

/// Brings back what is in a drive that failed, or that cannot use it.
pub(super) fn give_back(bay: &mut Bay, desk: &Mutex<Desk>, log: &mut dyn Log) {
    let state = bay.state.clone();
    let volume = bay.volume().map(str::to_owned);
    if let State::Aside { why } = &state {
        let line = format!("{} is set aside: {why}", bay.name());
        match &volume {
            Some(volume) => lock(desk).say_of(volume, &line),
            None => lock(desk).say(&line),
        }
    }
    let Some(volume) = volume else {
        return;
    };
    // A drive that does not unload when it is told may do so for its library.
    let gave = match bay.unload(&volume, log) {
        Err(error) if bay.site == Site::ByHand => Err(error),
        _ => lock(desk).put_back(bay, &volume, log),
    };
    // The first reason is the one to be told.
    bay.state = state;
    if let (Err(error), Some(volume)) = (gave, bay.volume()) {
        let line = format!("{} holds {volume}: {error}", bay.name());
        lock(desk).say_of(volume, &line);
    }
}
