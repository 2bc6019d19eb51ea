//! Cleaning: a drive that asks for it gets a cleaning cartridge, which is waited for and brought back.

use super::bay::{Bay, Site, past_attentions};
use super::desk::Desk;
use super::error::PoolError;
use super::{Pool, lock};
use std::collections::BTreeMap;
use std::time::Duration;
use tapewise_run::{Log, RunError};
use tapewise_scsi::commands::ElementKind;
use tapewise_scsi::{Changer, Condition, NotReady, ScsiError};

/// Labels of cleaning cartridges begin so, by the custom of all makers.
const PREFIX: &str = "CLN";

/// The makers say "up to five minutes"; three times that.
const LIMIT: Duration = Duration::from_secs(900);

/// How long a drive may take to notice the cartridge.
const SEEN_LIMIT: Duration = Duration::from_secs(120);

const POLL: Duration = Duration::from_secs(1);

impl Pool {
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
        self.dismount(index, log)?;
        let before = self.cleanings();
        let bay = &mut self.bays[index];
        lock(&self.desk).clean(bay)?;
        let after = self.cleanings().into_iter();
        let mut used = after.filter(|(cleaner, uses)| before.get(cleaner) != Some(uses));
        used.next()
            .map(|(cleaner, _)| cleaner)
            .ok_or_else(|| PoolError::NoCleaner {
                drive: self.bays[index].name(),
            })
    }
}

impl Desk {
    /// Cleans an empty drive that asked for it. Where no cleaning cartridge is left that is said, once
    /// for each time the drive asks, and the drive goes on.
    ///
    /// # Errors
    /// [`PoolError`] of the robot and of a drive that fails meanwhile.
    pub(super) fn clean(&mut self, bay: &mut Bay) -> Result<(), PoolError> {
        bay.is_dirty = false;
        let name = bay.name();
        let Site::Element { library, address } = bay.site else {
            self.say(&format!(
                "{name} asks to be cleaned: put a cleaning cartridge into it"
            ));
            return Ok(());
        };
        loop {
            let Some(cleaner) = self.cleaner(library) else {
                self.say(&format!(
                    "{name} asks to be cleaned, and no cleaning cartridge ({PREFIX}...) is left in \
                     the library: import one"
                ));
                return Ok(());
            };
            self.say(&format!("{name} is to be cleaned"));
            self.move_cleaner(library, &cleaner, address)?;
            let cleaned = wait_for_cleaning(bay);
            let slot = self.libraries[library].slot_for(&cleaner)?;
            self.move_cleaner(library, &cleaner, slot)?;
            match cleaned {
                Ok(()) => {
                    *self.cleanings.entry(cleaner).or_default() += 1;
                    return Ok(());
                }
                Err(Refusal::Cleaner(error)) => {
                    self.say(&format!("{name} refuses {cleaner}: {error}"));
                    self.worn_cleaners.insert(cleaner);
                }
                Err(Refusal::Drive(error)) => return Err(bay.blamed(RunError::Scsi(error))),
            }
        }
    }

    /// A cleaning cartridge that is on its shelf and was not refused.
    fn cleaner(&self, library: usize) -> Option<String> {
        let library = &self.libraries[library];
        let is_cleaner = |&(label, at): &(&str, u16)| {
            is_cleaner(label)
                && library.kind(at) == Some(ElementKind::Slot)
                && !self.worn_cleaners.contains(label)
        };
        let mut places = library.places();
        places.find(is_cleaner).map(|(label, _)| label.to_owned())
    }

    fn move_cleaner(&mut self, library: usize, label: &str, to: u16) -> Result<(), PoolError> {
        let attempt = |changer: &mut Changer, from| Ok(changer.move_medium(from, to)?);
        self.libraries[library].carry(label, to, &mut self.listener, attempt)
    }
}

/// Whether this is the label of a cleaning cartridge.
pub(super) fn is_cleaner(label: &str) -> bool {
    label.starts_with(PREFIX)
}

/// Why a drive was not cleaned.
enum Refusal {
    /// The cartridge cleans no more, or is none for this drive.
    Cleaner(ScsiError),
    Drive(ScsiError),
}

/// Waits until the drive has done with a cleaning cartridge: then it has given it out, or wants to be
/// told to load it.
fn wait_for_cleaning(bay: &mut Bay) -> Result<(), Refusal> {
    let began = bay.drive.now();
    let mut was_seen = false;
    loop {
        let asked = past_attentions(&mut bay.drive, |drive| {
            drive.wait_until_ready(Duration::ZERO)
        });
        let waited = bay.drive.now().saturating_sub(began);
        let error = match asked {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        match error.condition() {
            Some(Condition::NotReady(NotReady::NoMedium)) if was_seen => return Ok(()),
            Some(Condition::NotReady(NotReady::NoMedium)) if waited < SEEN_LIMIT => {}
            Some(Condition::NotReady(NotReady::NeedsLoad)) => return Ok(()),
            Some(Condition::NotReady(NotReady::Cleaning | NotReady::BecomingReady))
                if waited < LIMIT =>
            {
                was_seen = true;
            }
            Some(Condition::NotReady(NotReady::Incompatible) | Condition::Medium) => {
                return Err(Refusal::Cleaner(error));
            }
            _ => return Err(Refusal::Drive(error)),
        }
        bay.drive.wait(POLL);
    }
}
