//! One cartridge from place to place: into a drive, out of it, in and out of the station.
//!
//! Each function looks at an inventory and says what the robot would have to do; [`Errand::carry_out`] does it.

use tapewise_scsi::commands::{Element, ElementKind};
use tapewise_scsi::{Changer, Inventory, ScsiError};

/// What the robot has to do.
#[derive(Clone, Copy, Debug)]
pub enum Errand<'a> {
    /// Nothing: the cartridge is there already.
    None {
        /// Where.
        at: &'a Element,
    },
    /// A move.
    Move {
        /// From here.
        from: &'a Element,
        /// To here, which is empty.
        to: &'a Element,
    },
}

/// Why a cartridge is not moved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrandError {
    /// There is no such cartridge.
    #[error("no cartridge labelled {label} is in the library")]
    NoSuchCartridge {
        /// Its label.
        label: String,
    },
    /// The drive that was asked for is full.
    #[error("drive {serial} holds a cartridge")]
    DriveFull {
        /// Its serial number.
        serial: String,
    },
    /// The cartridge is in another drive than the one that was asked for.
    #[error("{label} is in {place}, not in drive {serial}")]
    OtherDrive {
        /// The cartridge's label.
        label: String,
        /// The drive that it is in.
        place: String,
        /// Serial number of the drive that was asked for.
        serial: String,
    },
    /// The cartridge is in a drive.
    #[error("{label} is in {place}")]
    InDrive {
        /// The cartridge's label.
        label: String,
        /// The drive that it is in.
        place: String,
    },
    /// There is no room.
    #[error("every {what} holds a cartridge")]
    Full {
        /// Of what kind.
        what: &'static str,
    },
    /// The library failed, or has no such drive.
    #[error(transparent)]
    Scsi(#[from] ScsiError),
}

/// Into the drive with a serial number, or into the first that is empty.
///
/// # Errors
/// [`ErrandError`].
pub fn mount<'a>(
    inventory: &'a Inventory,
    label: &str,
    serial: Option<&str>,
) -> Result<Errand<'a>, ErrandError> {
    let from = holding(inventory, label)?;
    if from.kind == ElementKind::Drive {
        return match serial {
            Some(serial) if inventory.element_of(serial)? != from.address => {
                Err(ErrandError::OtherDrive {
                    label: label.to_owned(),
                    place: drive_name(from),
                    serial: serial.to_owned(),
                })
            }
            _ => Ok(Errand::None { at: from }),
        };
    }
    let to = match serial {
        Some(serial) => {
            let address = inventory.element_of(serial)?;
            let drive = inventory.element(address).filter(|drive| !drive.is_full);
            drive.ok_or_else(|| ErrandError::DriveFull {
                serial: serial.to_owned(),
            })?
        }
        None => free(inventory, &inventory.drives, "drive")?,
    };
    Ok(Errand::Move { from, to })
}

/// Out of its drive, to the slot that it came from, or to another that is empty.
///
/// # Errors
/// [`ErrandError`].
pub fn dismount<'a>(inventory: &'a Inventory, label: &str) -> Result<Errand<'a>, ErrandError> {
    let from = holding(inventory, label)?;
    if from.kind != ElementKind::Drive {
        return Ok(Errand::None { at: from });
    }
    let home = from.source.and_then(|address| inventory.element(address));
    let to = match home.filter(|slot| !slot.is_full) {
        Some(slot) => slot,
        None => free(inventory, &inventory.slots, "slot")?,
    };
    Ok(Errand::Move { from, to })
}

/// From the station to an empty slot.
///
/// # Errors
/// [`ErrandError`].
pub fn import<'a>(inventory: &'a Inventory, label: &str) -> Result<Errand<'a>, ErrandError> {
    let from = holding(inventory, label)?;
    match from.kind {
        ElementKind::Station => {}
        ElementKind::Drive => return Err(in_drive(label, from)),
        ElementKind::Slot | ElementKind::Robot => return Ok(Errand::None { at: from }),
    }
    let to = free(inventory, &inventory.slots, "slot")?;
    Ok(Errand::Move { from, to })
}

/// From its slot to an empty place of the station.
///
/// # Errors
/// [`ErrandError`].
pub fn export<'a>(inventory: &'a Inventory, label: &str) -> Result<Errand<'a>, ErrandError> {
    let from = holding(inventory, label)?;
    match from.kind {
        ElementKind::Slot | ElementKind::Robot => {}
        ElementKind::Drive => return Err(in_drive(label, from)),
        ElementKind::Station => return Ok(Errand::None { at: from }),
    }
    let to = free(inventory, &inventory.stations, "place of the station")?;
    Ok(Errand::Move { from, to })
}

impl Errand<'_> {
    /// Moves the cartridge, if there is anything to move.
    ///
    /// # Errors
    /// [`ScsiError`].
    pub fn carry_out(&self, changer: &mut Changer) -> Result<(), ScsiError> {
        match self {
            Errand::None { .. } => Ok(()),
            Errand::Move { from, to } => changer.move_medium(from.address, to.address),
        }
    }
}

/// A drive by its serial number, as people call it, and its element.
pub fn drive_name(place: &Element) -> String {
    let serial = place.device_id.as_ref().and_then(|id| id.serial.as_ref());
    match serial {
        Some(serial) => format!("drive {serial} (element {})", place.address),
        None => format!("drive element {}", place.address),
    }
}

fn in_drive(label: &str, place: &Element) -> ErrandError {
    ErrandError::InDrive {
        label: label.to_owned(),
        place: drive_name(place),
    }
}

fn holding<'a>(inventory: &'a Inventory, label: &str) -> Result<&'a Element, ErrandError> {
    inventory
        .find(label)
        .ok_or_else(|| ErrandError::NoSuchCartridge {
            label: label.to_owned(),
        })
}

fn free<'a>(
    inventory: &Inventory,
    elements: &'a [Element],
    what: &'static str,
) -> Result<&'a Element, ErrandError> {
    elements
        .iter()
        .find(|element| !element.is_full && !inventory.is_blocked(element))
        .ok_or(ErrandError::Full { what })
}
