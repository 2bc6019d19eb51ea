//! Cleaning: a drive that asks for it gets a cleaning cartridge, which is waited for and brought back.

use super::bay::{Bay, Site, past_attentions};
use super::desk::{Desk, lock};
use super::error::PoolError;
use super::library::{CLEANERS, is_cleaner};
use std::sync::Mutex;
use std::time::Duration;
use tapewise_run::RunError;
use tapewise_scsi::commands::ElementKind;
use tapewise_scsi::{Changer, Condition, NotReady, ScsiError};

/// The makers say "up to five minutes"; three times that.
const LIMIT: Duration = Duration::from_secs(900);

/// How long a drive may take to notice the cartridge.
const SEEN_LIMIT: Duration = Duration::from_secs(120);

const POLL: Duration = Duration::from_secs(1);

/// Cleans an empty drive that asked for it; the robots are held for moves only. Where no cleaning
/// cartridge is left that is said, once for each time the drive asks, and the drive goes on. While
/// another drive has the last one it goes on too, and is cleaned after its next volume.
///
/// # Errors
/// [`PoolError`] of the robot and of a drive that fails meanwhile.
pub(super) fn clean(bay: &mut Bay, desk: &Mutex<Desk>) -> Result<(), PoolError> {
    bay.is_dirty = false;
    let name = bay.name();
    let Site::Element { library, address } = bay.site else {
        lock(desk).say(&format!(
            "{name} asks to be cleaned: put a cleaning cartridge into it"
        ));
        return Ok(());
    };
    loop {
        let brought = lock(desk).bring_cleaner(library, address, bay)?;
        let Some(cleaner) = brought else {
            return Ok(());
        };
        let cleaned = wait_for_cleaning(bay);
        let mut desk = lock(desk);
        let slot = desk.libraries[library].slot_for(&cleaner)?;
        desk.move_cleaner(library, &cleaner, slot)?;
        match cleaned {
            Ok(()) => {
                *desk.cleanings.entry(cleaner).or_default() += 1;
                return Ok(());
            }
            Err(Refusal::Cleaner(error)) => {
                let line = format!("{name} refuses {cleaner}: {error}");
                desk.say_of(&cleaner, &line);
                desk.worn_cleaners.insert(cleaner);
            }
            Err(Refusal::Drive(error)) => return Err(bay.blamed(RunError::Scsi(error))),
        }
    }
}

impl Desk {
    /// Brings a cleaning cartridge into a drive at this address: which one. Where none is on its shelf
    /// that is said, and the drive stays dirty while another one has it.
    fn bring_cleaner(
        &mut self,
        library: usize,
        address: u16,
        bay: &mut Bay,
    ) -> Result<Option<String>, PoolError> {
        let name = bay.name();
        let Some(cleaner) = self.cleaner(library, ElementKind::Slot) else {
            let in_drive = self.cleaner(library, ElementKind::Drive);
            bay.is_dirty = in_drive.is_some();
            self.say(&match in_drive {
                Some(cleaner) => format!(
                    "{name} asks to be cleaned; {cleaner} is in another drive, so after its next volume"
                ),
                None => format!(
                    "{name} asks to be cleaned, and no cleaning cartridge ({CLEANERS}...) is left in \
                     the library: import one"
                ),
            });
            return Ok(None);
        };
        self.say(&format!("{name} is to be cleaned"));
        self.move_cleaner(library, &cleaner, address)?;
        Ok(Some(cleaner))
    }

    /// A cleaning cartridge that is in an element of this kind and was not refused.
    fn cleaner(&self, library: usize, kind: ElementKind) -> Option<String> {
        let library = &self.libraries[library];
        let is_cleaner = |&(label, at): &(&str, u16)| {
            is_cleaner(label)
                && library.kind(at) == Some(kind)
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

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::*;
    use crate::testing::{drive, library, robot};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The desk of a library with two drives, the first of them, how often it was waited for, and the
    /// address of the second. The robot must be free whenever it is waited for.
    fn bay() -> (Arc<Mutex<Desk>>, Bay, Arc<AtomicUsize>, u16) {
        let emulated = library(2);
        let (library, told) = Library::open(robot(&emulated)).unwrap();
        let desk = Desk::new(vec![library], None, Box::new(|_| {}));
        let desk = Arc::new(Mutex::new(desk));
        let waits = Arc::new(AtomicUsize::new(0));
        let on_wait = {
            let (desk, waits) = (Arc::clone(&desk), Arc::clone(&waits));
            move || {
                assert!(desk.try_lock().is_ok(), "the robot stands still");
                waits.fetch_add(1, Ordering::SeqCst);
            }
        };
        let (address, serial) = told.serials[0].clone();
        let site = Site::Element {
            library: 0,
            address,
        };
        let bay = Bay::new(drive(&emulated, 0, on_wait), serial, site);
        (desk, bay, waits, told.serials[1].0)
    }

    #[test]
    fn the_robot_is_free_while_a_drive_is_cleaned() {
        let (desk, mut bay, waits, _) = bay();
        clean(&mut bay, &desk).unwrap();
        assert_eq!(lock(&desk).cleanings["CLN001"], 1);
        assert!(waits.load(Ordering::SeqCst) > 60, "{waits:?}");
    }

    #[test]
    fn a_drive_stays_dirty_while_another_one_has_the_cleaning_cartridge() {
        let (desk, mut bay, _, other) = bay();
        lock(&desk).move_cleaner(0, "CLN001", other).unwrap();
        clean(&mut bay, &desk).unwrap();
        assert!(bay.is_dirty && lock(&desk).cleanings.is_empty());
        let slot = lock(&desk).libraries[0].slot_for("CLN001").unwrap();
        lock(&desk).move_cleaner(0, "CLN001", slot).unwrap();
        clean(&mut bay, &desk).unwrap();
        assert!(!bay.is_dirty);
        assert_eq!(lock(&desk).cleanings["CLN001"], 1);
    }
}
