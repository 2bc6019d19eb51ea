//! The drives and robots that one piece of work has: alone, or beside other movers.

use crate::device::{Devices, refuse_twice, say_if_of_another_kind};
use crate::error::{CliError, Exit};
use crate::log::About;
use crate::now::{awake_or_asleep_ns, now_ns};
use crate::output::{say, say_about};
use crate::person::Terminal;
use crate::socket::host_name;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_archive::cache::Cache;
use tapewise_archive::catalogue::Holder;
use tapewise_archive::mover::{Denied, Lessee, MoveError, random_uuid};
use tapewise_archive::open::Archive;
use tapewise_library::pool::{Person, Pool, Said};
use tapewise_scsi::TapeDrive;

/// How long a claim lasts that is not renewed, if nobody says otherwise.
pub const LEASE: Duration = Duration::from_secs(60);

/// This process among the movers of the archive.
pub fn lessee(archive: &Archive, host: String, lease: Duration) -> Result<Lessee, CliError> {
    let holder = Holder {
        host,
        process: std::process::id(),
        run: random_uuid(),
    };
    let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    // To read a long queue takes longer than a lease may wait to be renewed.
    Ok(Lessee::new(
        archive.catalogue_apart()?,
        holder,
        nanoseconds(lease),
        Arc::new(now_ns),
        Arc::new(awake_or_asleep_ns),
    )?)
}

/// Drives and robots for one piece of work.
pub struct Crew<'a> {
    /// Names of drives.
    pub drives: &'a [String],
    /// Names of robots.
    pub changers: &'a [String],
    /// What it may use of them, where other movers work for the same archive.
    pub lessee: Option<&'a Lessee>,
    /// Drives that it uses at most.
    pub most_drives: usize,
}

impl Crew<'_> {
    /// Its drives, with whoever loads them.
    pub fn pool(
        &self,
        devices: &mut Devices,
        archive: &Archive,
        cache: &Cache,
        stop: &Arc<AtomicBool>,
        quiet: bool,
    ) -> Result<Pool, CliError> {
        refuse_twice(self.drives)?;
        let drives = match self.lessee {
            Some(lessee) => leased(devices, self, lessee)?,
            None => alone(devices, self.drives, archive, cache)?,
        };
        if !quiet {
            let profile = crate::profiles::load_drive(&archive.settings.profile)?;
            for drive in &drives {
                let product = &drive.identity().product;
                let name = devices.name(drive).unwrap_or(product);
                say_if_of_another_kind(name, drive, &profile);
            }
        }
        let robots = self.changers.iter().map(|name| devices.changer(name));
        let robots = robots.collect::<Result<_, _>>()?;
        let listener = Box::new(move |Said { words, volume }: Said<'_>| {
            if !quiet {
                let about = About {
                    volume,
                    ..About::default()
                };
                say_about(about, format_args!("{words}\n"));
            }
        });
        let person: Option<Box<dyn Person>> = if self.changers.is_empty() {
            Some(Box::new(Terminal::new(stop)))
        } else {
            None
        };
        let mut pool = Pool::new(drives, robots, person, listener)?;
        pool.set_pace(devices.pace());
        Ok(pool)
    }
}

/// The drives that no other mover has, up to as many as it uses.
fn leased(
    devices: &mut Devices,
    crew: &Crew<'_>,
    lessee: &Lessee,
) -> Result<Vec<TapeDrive>, CliError> {
    let mut drives = Vec::new();
    let mut denied = None;
    for name in crew.drives {
        if drives.len() == crew.most_drives {
            break;
        }
        let mut drive = match devices.tape_beside_others(name) {
            Ok(drive) => drive,
            Err(error) => {
                denied.get_or_insert(error);
                continue;
            }
        };
        devices.refuse_another_name(name, &drive)?;
        match lessee.claim(&mut drive, None) {
            Ok(Ok(_)) => drives.push(drive),
            Ok(Err(Denied::Drive(why) | Denied::Volume(why))) => {
                denied.get_or_insert(CliError::with(Exit::Busy, why));
            }
            Err(error @ MoveError::Pool(_)) => {
                denied.get_or_insert(error.into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    match denied {
        Some(error) if drives.is_empty() => Err(error),
        _ => Ok(drives),
    }
}

/// The drives that nobody else uses, for this process alone. Those that somebody uses are left out, with words, while
/// there are others.
fn alone(
    devices: &mut Devices,
    names: &[String],
    archive: &Archive,
    cache: &Cache,
) -> Result<Vec<TapeDrive>, CliError> {
    let (mut drives, mut in_use) = (Vec::new(), Vec::new());
    for name in names {
        let mut drive = devices.tape_alone(name);
        if drive.as_ref().is_err_and(is_busy) && take_over(devices, name, archive, cache)? {
            drive = devices.tape_alone(name);
        }
        match drive {
            Ok(drive) => drives.push(drive),
            Err(error) if is_busy(&error) => in_use.push(error),
            Err(error) => return Err(error),
        }
    }
    if drives.is_empty()
        && let Some(error) = in_use.drain(..).next()
    {
        return Err(error);
    }
    for error in in_use {
        say(format_args!(
            "tapewise: {}; goes on with the other drives\n",
            error.message()
        ));
    }
    Ok(drives)
}

/// Ends the reservation that a mover of this archive has left on a drive, if the mover is gone; whether it did. Whoever
/// has the cache alone knows that no process of this host works; of other hosts the leases tell.
fn take_over(
    devices: &mut Devices,
    name: &str,
    archive: &Archive,
    cache: &Cache,
) -> Result<bool, CliError> {
    let lessee = lessee(archive, host_name(), LEASE)?;
    lessee.succeed(cache)?;
    // A drive that a program has open cannot be asked.
    let Ok(mut drive) = devices.tape_beside_others(name) else {
        return Ok(false);
    };
    match lessee.claim(&mut drive, None) {
        Ok(Ok(leased)) => {
            drive.release();
            lessee.give_back(&leased.lease)?;
            say(format_args!(
                "tapewise: {name}: a mover that is gone left its reservation on the drive; tapewise ends it\n"
            ));
            Ok(true)
        }
        Ok(Err(_)) | Err(MoveError::Pool(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn is_busy(error: &CliError) -> bool {
    error.exit() == Exit::Busy
}
