//! A library's robot: what stands where, and moves.

use crate::command::Command;
use crate::commands::{
    DeviceId, DeviceKind, Element, ElementAddresses, ElementKind, ElementRange, ExchangeMedium,
    InitializeElementStatus, InitializeElementStatusRange, ModePage, ModeSense6, MoveMedium,
    PositionToElement, ReadElementStatus,
};
use crate::error::ScsiError;
use crate::identity::Identity;
use crate::ready::wait_until_ready;
use crate::sense::Sense;
use crate::transport::Transport;
use std::time::Duration;

/// Elements asked for at once: some 60 KB, which every path can carry.
const AT_ONCE: usize = 400;

/// A changer behind a transport.
pub struct Changer {
    transport: Box<dyn Transport>,
    identity: Identity,
    addresses: Option<ElementAddresses>,
    /// Whether it tells its drives' serial numbers: not known until asked.
    tells_device_ids: Option<bool>,
    /// Drives that a person has tied to their elements: address and serial number.
    ties: Vec<(u16, String)>,
    notices: Vec<Sense>,
}

/// What stands where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The robots.
    pub robots: Vec<Element>,
    /// The slots.
    pub slots: Vec<Element>,
    /// The import/export station.
    pub stations: Vec<Element>,
    /// The drives.
    pub drives: Vec<Element>,
}

impl Changer {
    /// Opens a changer: asks who it is and nothing more.
    ///
    /// # Errors
    /// [`ScsiError::WrongDevice`], and those of INQUIRY.
    pub fn open(mut transport: Box<dyn Transport>) -> Result<Changer, ScsiError> {
        let identity = Identity::ask(transport.as_mut(), DeviceKind::Changer)?;
        Ok(Changer {
            transport,
            identity,
            addresses: None,
            tells_device_ids: None,
            ties: Vec::new(),
            notices: Vec::new(),
        })
    }

    /// Says which drives are in which elements, by address and serial number, where the library does
    /// not tell or tells it wrong.
    pub fn tie(&mut self, ties: Vec<(u16, String)>) {
        self.ties = ties;
    }

    /// Who it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The transport, for commands that have no method here.
    pub fn transport(&mut self) -> &mut dyn Transport {
        self.transport.as_mut()
    }

    /// The time since the transport was opened, on the library's clock.
    pub fn now(&self) -> Duration {
        self.transport.now()
    }

    /// Lets so much time pass on the library's clock.
    pub fn wait(&mut self, duration: Duration) {
        self.transport.wait(duration);
    }

    /// What the library said of commands that it carried out all the same. Each is given once.
    pub fn take_notices(&mut self) -> Vec<Sense> {
        std::mem::take(&mut self.notices)
    }

    /// Waits until the library is ready, which after a door was open takes minutes.
    ///
    /// # Errors
    /// [`ScsiError::StillNotReady`] after the limit, and at once what waiting does not cure.
    pub fn wait_until_ready(&mut self, limit: Duration) -> Result<(), ScsiError> {
        let notices = &mut self.notices;
        wait_until_ready(self.transport.as_mut(), limit, false, &mut |sense| {
            notices.push(sense);
        })
    }

    /// The addresses of its elements, asked once.
    ///
    /// # Errors
    /// Those of MODE SENSE, and [`ScsiError::NoElementAddresses`].
    pub fn addresses(&mut self) -> Result<ElementAddresses, ScsiError> {
        if let Some(addresses) = self.addresses {
            return Ok(addresses);
        }
        let sense = ModeSense6 {
            page: 0x1d,
            subpage: 0,
        };
        let data = self.perform(&sense)?;
        let addresses = data
            .pages
            .into_iter()
            .find_map(|page| match page {
                ModePage::ElementAddresses(addresses) => Some(addresses),
                _ => None,
            })
            .ok_or(ScsiError::NoElementAddresses)?;
        self.addresses = Some(addresses);
        Ok(addresses)
    }

    /// What stands where, with labels and the drives' serial numbers, asked type by type. The library
    /// answers from memory; [`Changer::initialize`] makes it look.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command. That a library refuses to name its drives is no error.
    pub fn inventory(&mut self) -> Result<Inventory, ScsiError> {
        let addresses = self.addresses()?;
        Ok(Inventory {
            robots: self.elements(ElementKind::Robot, addresses.robots)?,
            slots: self.elements(ElementKind::Slot, addresses.slots)?,
            stations: self.elements(ElementKind::Station, addresses.stations)?,
            drives: self.elements(ElementKind::Drive, addresses.drives)?,
        })
    }

    /// The elements of one type and range, in the order of their addresses.
    fn elements(
        &mut self,
        kind: ElementKind,
        range: ElementRange,
    ) -> Result<Vec<Element>, ScsiError> {
        let mut found = Vec::new();
        for done in (0..usize::from(range.count)).step_by(AT_ONCE) {
            let count = AT_ONCE.min(usize::from(range.count) - done) as u16;
            let first = range.first.saturating_add(done as u16);
            let part = self.some_elements(ReadElementStatus {
                kind,
                first,
                count,
                volume_tags: true,
                device_ids: kind == ElementKind::Drive && self.tells_device_ids != Some(false),
            })?;
            // There are targets that answer more than was asked for.
            let last = first.saturating_add(count - 1);
            found.extend(part.into_iter().filter(|element| {
                element.kind == kind && (first..=last).contains(&element.address)
            }));
        }
        found.sort_by_key(|element| element.address);
        if kind == ElementKind::Drive {
            self.name_tied(&mut found)?;
        }
        Ok(found)
    }

    /// Gives the drives that were tied by hand their serial numbers.
    fn name_tied(&self, drives: &mut [Element]) -> Result<(), ScsiError> {
        for (address, serial) in &self.ties {
            let drive = drives.iter_mut().find(|drive| drive.address == *address);
            let drive = drive.ok_or(ScsiError::NoDriveElement { address: *address })?;
            drive.device_id = Some(DeviceId {
                shown: serial.clone(),
                serial: Some(serial.clone()),
                is_cut: false,
            });
        }
        Ok(())
    }

    /// One command; where the drives' identifiers are refused, once more without them.
    fn some_elements(&mut self, command: ReadElementStatus) -> Result<Vec<Element>, ScsiError> {
        match self.perform(&command) {
            Ok(elements) => {
                if command.device_ids {
                    self.tells_device_ids = Some(true);
                }
                Ok(elements)
            }
            Err(error) if command.device_ids && error.is_unsupported() => {
                self.tells_device_ids = Some(false);
                self.perform(&ReadElementStatus {
                    device_ids: false,
                    ..command
                })
            }
            Err(error) => Err(error),
        }
    }

    /// The element that holds the drive of this serial number: device names are given by chance, so
    /// that a drive is matched to its element by nothing else.
    ///
    /// # Errors
    /// [`ScsiError::NoDriveSerials`] when the library does not tell them, [`ScsiError::NoSuchDrive`]
    /// when none is this one.
    pub fn element_of(&mut self, serial: &str) -> Result<u16, ScsiError> {
        let range = self.addresses()?.drives;
        self.elements(ElementKind::Drive, range)
            .and_then(|drives| drive_element(&drives, serial))
    }

    /// Moves a cartridge from one element to another. A drive loads it by itself afterwards: wait for
    /// it with `TapeDrive::wait_until_loaded`.
    ///
    /// # Errors
    /// Sense of `Condition::Element` for an empty source, a full destination or no such address, and
    /// those of every command.
    pub fn move_medium(&mut self, from: u16, to: u16) -> Result<(), ScsiError> {
        let robot = self.robot()?;
        self.perform(&MoveMedium { robot, from, to })
    }

    /// Moves the cartridge of `from` to `to`, and the one that was there to `then`.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command; many libraries do not have it.
    pub fn exchange(&mut self, from: u16, to: u16, then: u16) -> Result<(), ScsiError> {
        let robot = self.robot()?;
        self.perform(&ExchangeMedium {
            robot,
            from,
            to,
            then,
        })
    }

    /// Makes the library look at its elements, all or a range of them.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command.
    pub fn initialize(&mut self, range: Option<ElementRange>) -> Result<(), ScsiError> {
        match range {
            None => self.perform(&InitializeElementStatus),
            Some(ElementRange { first, count }) => {
                self.perform(&InitializeElementStatusRange { first, count })
            }
        }
    }

    /// Sends the robot to an element.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command; many libraries do not have it.
    pub fn position_to(&mut self, element: u16) -> Result<(), ScsiError> {
        let robot = self.robot()?;
        self.perform(&PositionToElement { robot, element })
    }

    /// The first robot. There are targets that refuse address 0, the library's own choice.
    fn robot(&mut self) -> Result<u16, ScsiError> {
        Ok(self.addresses()?.robots.first)
    }

    fn perform<C: Command>(&mut self, command: &C) -> Result<C::Answer, ScsiError> {
        let (answer, note) = command.send_noting(self.transport.as_mut())?;
        self.notices.extend(note);
        Ok(answer)
    }
}

/// The address of the drive of this serial number.
fn drive_element(drives: &[Element], serial: &str) -> Result<u16, ScsiError> {
    let serial_of = |element: &Element| element.device_id.as_ref()?.serial.clone();
    let known: Vec<String> = drives.iter().filter_map(serial_of).collect();
    if known.is_empty() {
        return Err(ScsiError::NoDriveSerials);
    }
    let serial = serial.trim();
    let is_it = |element: &&Element| serial_of(element).as_deref() == Some(serial);
    // A target that leaves out the end of its answer cuts the last drive's serial number.
    let begins_so = |element: &&Element| {
        let id = element.device_id.as_ref().filter(|id| id.is_cut);
        id.and_then(|id| id.serial.as_deref())
            .is_some_and(|cut| serial.starts_with(cut))
    };
    drives
        .iter()
        .find(is_it)
        .or_else(|| drives.iter().find(begins_so))
        .map(|element| element.address)
        .ok_or_else(|| ScsiError::NoSuchDrive {
            serial: serial.to_owned(),
            known: known.join(", "),
        })
}

impl Inventory {
    /// All elements, robots first.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        let rest = self.slots.iter().chain(&self.stations).chain(&self.drives);
        self.robots.iter().chain(rest)
    }

    /// The element at an address.
    pub fn element(&self, address: u16) -> Option<&Element> {
        self.elements().find(|element| element.address == address)
    }

    /// Where the cartridge of this label is.
    pub fn find(&self, volume_tag: &str) -> Option<&Element> {
        self.elements()
            .find(|element| element.volume_tag.as_deref() == Some(volume_tag))
    }

    /// Whether the robot cannot reach an element. A library that says so of every slot, place and drive
    /// has no ACCESS bit (tgt's changer); a robot that reaches none says so when it is to move.
    pub fn is_blocked(&self, element: &Element) -> bool {
        let mut all = self.slots.iter().chain(&self.stations).chain(&self.drives);
        !element.is_accessible && all.any(|one| one.is_accessible)
    }

    /// The element that holds the drive of this serial number.
    ///
    /// # Errors
    /// As [`Changer::element_of`].
    pub fn element_of(&self, serial: &str) -> Result<u16, ScsiError> {
        drive_element(&self.drives, serial)
    }
}
