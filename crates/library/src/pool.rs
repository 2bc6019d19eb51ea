//! Drives and robots as a pool: who mounts what, and what happens when one of them fails.
//!
//! A drive is matched to its element by its serial number, because the numbers of device nodes change;
//! a volume is found by its barcode. A volume that is in a drive is used there. Otherwise it goes into
//! an empty drive, and where there is none into the one that has been idle for longest, whose
//! cartridge goes back to its slot first.
//!
//! **What fails** does not end the work on the rest:
//! - A *drive* that fails (hardware, path, time-out) is set aside with the reason; its cartridge is
//!   brought back where that can be done, and another drive takes it.
//! - A *cartridge* that a drive cannot use goes back; another drive may try.
//! - A *robot* that fails is asked where the cartridge is, because its answer says little about that.
//!   Where it still is where it was, the move is repeated once; where it is nowhere, the volume is
//!   missing, and it is said where it was last.
//! - A drive that another initiator has *reserved* is left alone, and asked again next time.
//!
//! Before a robot moves it is said. Drives without a robot are loaded by a [`Person`].

mod ask;
mod bay;
mod clean;
mod desk;
mod error;
mod library;
mod list;
mod listener;
mod mount;
mod person;
mod station;
mod work;

pub use bay::Stamp;
pub use error::{Blame, PoolError};
pub(crate) use library::is_cleaner;
pub use listener::{Listener, Said};
pub use person::{Answer, Person};
pub use work::{Admission, Fit, Pace, Trouble, Work, WorkError};

use bay::{Bay, Holds, Site, State};
use clean::clean;
use desk::{Desk, lock};
use library::Library;
use mount::{dismount, give_back, mount_in, reject};
use std::collections::BTreeMap;
use std::sync::Mutex;
use tapewise_run::Log;
use tapewise_scsi::{Changer, TapeDrive};

/// How many drives a volume is tried in before it is given up: one that fails in two is more likely
/// to be the cause.
const TRIES: usize = 2;

/// Drives with the robots and persons that load them.
pub struct Pool {
    bays: Vec<Bay>,
    desk: Mutex<Desk>,
    pace: Pace,
}

/// Where a volume is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// In this element of a library, in words: "slot 1025".
    Element(String),
    /// In this drive of the pool.
    Drive(usize),
    /// In no element any more; last seen here.
    Missing(String),
}

/// What a drive of the pool is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveStatus {
    /// The drive as people call it: element and serial number.
    pub name: String,
    /// The volume in it.
    pub volume: Option<String>,
    /// Somebody uses it.
    pub in_use: bool,
    /// Why it was set aside, if it was.
    pub set_aside: Option<String>,
    /// Cartridges mounted since the pool was made.
    pub mounts: u64,
}

/// A drive as its library names it.
struct KnownSite {
    serial: String,
    /// The serial number is only the beginning of the drive's.
    is_cut: bool,
    site: Site,
}

/// Where the drive of this serial number is: the one that is named so, or the only one that may be named so as far as
/// its library tells the serial number.
fn site_of(sites: &[KnownSite], serial: &str) -> Option<Site> {
    if let Some(known) = sites.iter().find(|known| known.serial == serial) {
        return Some(known.site);
    }
    let may_be = |known: &&KnownSite| known.is_cut && serial.starts_with(&known.serial);
    let mut found = sites.iter().filter(may_be);
    match (found.next(), found.next()) {
        (Some(known), None) => Some(known.site),
        _ => None,
    }
}

impl Pool {
    /// A pool of these drives. Every drive must be in one of the libraries, by its serial number,
    /// unless there is a person to load it.
    ///
    /// # Errors
    /// [`PoolError::NotInLibrary`], [`PoolError::NoSerial`], [`PoolError::Twice`], and
    /// [`PoolError::Library`] when a library does not tell what stands where.
    pub fn new(
        drives: Vec<TapeDrive>,
        robots: Vec<Changer>,
        person: Option<Box<dyn Person>>,
        listener: Listener,
    ) -> Result<Pool, PoolError> {
        if drives.is_empty() {
            return Err(PoolError::NoDrives);
        }
        let mut libraries = Vec::new();
        let mut sites = Vec::new();
        for (number, changer) in robots.into_iter().enumerate() {
            let (library, told) = Library::open(changer)?;
            let site = |(address, serial)| KnownSite {
                serial,
                is_cut: told.cut == Some(address),
                site: Site::Element {
                    library: number,
                    address,
                },
            };
            sites.extend(told.serials.into_iter().map(site));
            libraries.push(library);
        }
        let mut bays: Vec<Bay> = Vec::new();
        for drive in drives {
            let identity = drive.identity();
            let serial = identity.serial.clone().ok_or_else(|| PoolError::NoSerial {
                model: format!("{} {}", identity.vendor, identity.product),
            })?;
            if bays.iter().any(|bay| bay.serial == serial) {
                return Err(PoolError::Twice { serial });
            }
            let site = match (site_of(&sites, serial.trim()), &person) {
                (Some(site), _) => site,
                (None, Some(_)) => Site::ByHand,
                (None, None) => {
                    let known: Vec<&str> = sites.iter().map(|one| one.serial.as_str()).collect();
                    return Err(PoolError::NotInLibrary {
                        serial,
                        known: known.join(", "),
                    });
                }
            };
            bays.push(Bay::new(drive, serial, site));
        }
        // Opening takes a while, and the clocks of all are compared.
        for library in &mut libraries {
            library.began = library.changer.now();
        }
        let desk = Desk::new(libraries, person, listener);
        for bay in &mut bays {
            bay.began = bay.drive.now();
            bay.holds = desk.held_by(bay);
        }
        Ok(Pool {
            bays,
            desk: Mutex::new(desk),
            pace: Pace::default(),
        })
    }

    /// How often each cleaning cartridge was used since the pool was made. Some fifty uses are what
    /// they are rated for.
    pub fn cleanings(&self) -> BTreeMap<String, u64> {
        lock(&self.desk).cleanings.clone()
    }

    /// Cleans a drive now, whether it asks for it or not; a volume in it goes home first. Which
    /// cartridge has cleaned it.
    ///
    /// # Errors
    /// [`PoolError::NoCleaner`], and those of [`Pool::dismount`].
    ///
    /// # Panics
    /// When there is no drive of this number.
    pub fn clean(&mut self, index: usize, log: &mut dyn Log) -> Result<String, PoolError> {
        self.bays[index].check_reservation()?;
        let before = self.cleanings();
        self.dismount(index, log)?;
        // A drive that asks for it was cleaned when it had given out its volume.
        if self.cleanings() == before {
            clean(&mut self.bays[index], &self.desk)?;
        }
        let after = self.cleanings().into_iter();
        let mut used = after.filter(|(cleaner, uses)| before.get(cleaner) != Some(uses));
        used.next()
            .map(|(cleaner, _)| cleaner)
            .ok_or_else(|| PoolError::NoCleaner {
                drive: self.bays[index].name(),
            })
    }

    /// Drives work at this pace from now on: see [`Pool::work_off`].
    pub fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    /// The pace at which drives work.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Leaves cartridges where they are that are in drives now and that somebody else wants there. Such a drive
    /// takes no other cartridge. One that is asked for is mounted as any other, and goes to its slot afterwards.
    pub fn leave(&mut self, is_others: &dyn Fn(&str) -> bool) {
        for bay in &mut self.bays {
            bay.is_left = bay.volume().is_some_and(is_others);
        }
    }

    /// Whether a drive's cartridge is left where it is: see [`Pool::leave`].
    ///
    /// # Panics
    /// When there is no drive of this number.
    pub fn is_left(&self, index: usize) -> bool {
        self.bays[index].is_left
    }

    /// Drives, counted from 0.
    pub fn drives(&self) -> usize {
        self.bays.len()
    }

    /// A drive, by the number that [`Pool::mount`] gave.
    ///
    /// # Panics
    /// When there is no drive of this number.
    pub fn drive(&mut self, index: usize) -> &mut TapeDrive {
        &mut self.bays[index].drive
    }

    /// Whether a person loads this drive.
    ///
    /// # Panics
    /// When there is no drive of this number.
    pub fn is_loaded_by_hand(&self, index: usize) -> bool {
        self.bays[index].site == Site::ByHand
    }

    /// A log for what a recorder does with a drive from now on: its events say of which drive and
    /// cartridge they are, and when on the clock that all drives of the pool share. Make it just
    /// before the recorder.
    ///
    /// # Panics
    /// When there is no drive of this number.
    pub fn stamp<'a>(&self, index: usize, log: &'a mut dyn Log) -> Stamp<'a> {
        self.bays[index].stamp(log)
    }

    /// What every drive is at.
    pub fn status(&self) -> Vec<DriveStatus> {
        let status = |bay: &Bay| DriveStatus {
            name: bay.name(),
            volume: bay.volume().map(str::to_owned),
            in_use: bay.state == State::InUse,
            set_aside: match &bay.state {
                State::Aside { why } => Some(why.clone()),
                State::Idle { .. } | State::InUse => None,
            },
            mounts: bay.mounts,
        };
        self.bays.iter().map(status).collect()
    }

    /// Every volume of the libraries and where it is, by label; those too that are missing.
    pub fn volumes(&self) -> BTreeMap<String, Whereabouts> {
        let mut volumes = BTreeMap::new();
        for (number, library) in lock(&self.desk).libraries.iter().enumerate() {
            for (label, last) in library.missing() {
                volumes.insert(label.to_owned(), Whereabouts::Missing(last.to_owned()));
            }
            for (label, address) in library.places() {
                let site = Site::Element {
                    library: number,
                    address,
                };
                let place = match self.bays.iter().position(|bay| bay.site == site) {
                    Some(index) => Whereabouts::Drive(index),
                    None => Whereabouts::Element(library.words(address)),
                };
                volumes.insert(label.to_owned(), place);
            }
        }
        volumes
    }

    /// Mounts a volume and gives the number of its drive, which stays in use until
    /// [`Pool::release`] or [`Pool::dismount`]. Whether the cartridge is the volume that its barcode
    /// says, its label on tape must tell: see [`Pool::reject`].
    ///
    /// # Errors
    /// [`PoolError`]; the pool stays usable for other volumes.
    pub fn mount(&mut self, volume: &str, log: &mut dyn Log) -> Result<usize, PoolError> {
        let mut passed_over: Vec<(usize, PoolError)> = Vec::new();
        let mut tries = 0;
        loop {
            let index = self.choose(volume, &mut passed_over)?;
            let bay = &mut self.bays[index];
            match mount_in(bay, &self.desk, volume, log) {
                Ok(()) => return Ok(index),
                Err(error @ PoolError::Reserved { .. }) => {
                    lock(&self.desk).say_of(volume, &error.to_string());
                    passed_over.push((index, error));
                }
                Err(error @ (PoolError::DriveFailed { .. } | PoolError::Unusable { .. })) => {
                    tries += 1;
                    give_back(bay, &self.desk, log);
                    if tries == TRIES {
                        return Err(error);
                    }
                    passed_over.push((index, error));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The drive is free; its cartridge stays in it until another one needs the drive.
    ///
    /// # Panics
    /// When there is no drive of this number.
    pub fn release(&mut self, index: usize) {
        self.bays[index].release();
    }

    /// Unloads a drive and brings its cartridge back to its slot. Nothing happens when it is empty, or when its
    /// cartridge is [left](Pool::leave) there.
    ///
    /// # Errors
    /// [`PoolError`]; a drive that does not give its cartridge is set aside.
    ///
    /// # Panics
    /// When there is no drive of this number.
    pub fn dismount(&mut self, index: usize, log: &mut dyn Log) -> Result<(), PoolError> {
        let bay = &mut self.bays[index];
        dismount(bay, &self.desk, log)?;
        bay.release();
        Ok(())
    }

    /// The cartridge in a drive is not the volume it was taken for: it is given out or brought back.
    /// `found` is what its label on tape says.
    ///
    /// # Errors
    /// As [`Pool::dismount`].
    ///
    /// # Panics
    /// When there is no drive of this number.
    pub fn reject(
        &mut self,
        index: usize,
        found: &str,
        log: &mut dyn Log,
    ) -> Result<(), PoolError> {
        let bay = &mut self.bays[index];
        reject(bay, &self.desk, found, log)?;
        bay.release();
        Ok(())
    }

    /// Sets a drive aside: it is used no more. Its cartridge is brought back where that can be done,
    /// and where not it is said that the drive holds it.
    ///
    /// # Panics
    /// When there is no drive of this number.
    pub fn set_aside(&mut self, index: usize, reason: &str, log: &mut dyn Log) {
        // The error only repeats the reason.
        let bay = &mut self.bays[index];
        let _ = bay.failed(reason);
        give_back(bay, &self.desk, log);
    }

    /// The drive for a volume.
    fn choose(
        &self,
        volume: &str,
        passed_over: &mut Vec<(usize, PoolError)>,
    ) -> Result<usize, PoolError> {
        let holder = self
            .bays
            .iter()
            .position(|bay| bay.volume() == Some(volume));
        if let Some(index) = holder {
            return self.choose_holder(index, volume, passed_over);
        }
        let by_hand = self.bays.iter().any(|bay| bay.site == Site::ByHand);
        let home = lock(&self.desk).home_of(volume, by_hand)?;
        let serves = |bay: &Bay| bay.library() == home;
        let is_left = |index: &usize| passed_over.iter().all(|(one, _)| one != index);
        let left = || {
            let all = (0..self.bays.len()).filter(|&index| serves(&self.bays[index]));
            all.filter(is_left)
        };
        let empty = left()
            .filter(|&index| {
                let bay = &self.bays[index];
                bay.holds == Holds::Nothing && matches!(bay.state, State::Idle { .. })
            })
            .min_by_key(|&index| (self.bays[index].mounts, index));
        let idle = || {
            let since = |index: usize| match self.bays[index].state {
                State::Idle { since } if !self.bays[index].is_left => {
                    self.bays[index].volume().map(|_| (since, index))
                }
                State::Idle { .. } | State::InUse | State::Aside { .. } => None,
            };
            left().filter_map(since).min().map(|(_, index)| index)
        };
        if let Some(index) = empty.or_else(idle) {
            return Ok(index);
        }
        if left().any(|index| self.bays[index].state == State::InUse) {
            return Err(PoolError::AllBusy {
                volume: volume.to_owned(),
            });
        }
        Err(self.none_left(volume, passed_over))
    }

    /// The drive that has the volume, if it may be used.
    fn choose_holder(
        &self,
        index: usize,
        volume: &str,
        passed_over: &mut Vec<(usize, PoolError)>,
    ) -> Result<usize, PoolError> {
        let bay = &self.bays[index];
        if let Some(at) = passed_over.iter().position(|(one, _)| *one == index) {
            return Err(passed_over.swap_remove(at).1);
        }
        let volume = volume.to_owned();
        let drive = bay.name();
        match &bay.state {
            State::Idle { .. } => Ok(index),
            State::InUse => Err(PoolError::InUse { volume, drive }),
            State::Aside { why } => Err(PoolError::HeldByFailedDrive {
                volume,
                drive,
                why: why.clone(),
            }),
        }
    }

    /// Whether every drive can take a volume, now or when it has given another one out.
    pub fn all_serve(&self) -> bool {
        self.bays.iter().all(|bay| {
            let is_aside = matches!(bay.state, State::Aside { .. });
            !is_aside && !bay.is_left && bay.holds != Holds::Unlabelled
        })
    }

    /// Why no drive is left for a volume.
    pub fn none_for(&self, volume: &str) -> PoolError {
        self.none_left(volume, &[])
    }

    /// Nobody can take the volume, and why.
    fn none_left(&self, volume: &str, passed_over: &[(usize, PoolError)]) -> PoolError {
        let is_passed = |index| passed_over.iter().any(|(one, _)| *one == index);
        let mut reasons: Vec<String> = Vec::new();
        for (index, bay) in self.bays.iter().enumerate() {
            match &bay.state {
                State::Aside { why } => {
                    reasons.push(format!("{} is set aside: {why}", bay.name()));
                }
                _ if is_passed(index) => {}
                _ if bay.is_left => reasons.push(format!(
                    "{} holds {}, which somebody else has loaded: take it out if nobody needs it there",
                    bay.name(),
                    bay.volume().unwrap_or("a cartridge")
                )),
                _ if bay.holds == Holds::Unlabelled => reasons.push(format!(
                    "{} holds a cartridge without a readable label",
                    bay.name()
                )),
                _ => {}
            }
        }
        let others = passed_over
            .iter()
            .filter(|(index, _)| !matches!(self.bays[*index].state, State::Aside { .. }));
        reasons.extend(others.map(|(_, error)| error.to_string()));
        PoolError::NoDriveLeft {
            volume: volume.to_owned(),
            reasons: reasons.join("; "),
        }
    }
}
