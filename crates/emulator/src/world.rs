//! Everything a library consists of while it is open: devices, cartridges, the clock.

use crate::attention::STATION_ACCESSED;
use crate::check::Check;
use crate::clock::Clock;
use crate::drive::{Drive, InsertedCartridge};
use crate::elements::{Element, Elements};
use crate::error::LibraryError;
use crate::exchange::Stop;
use crate::faults::FaultStream;
use crate::files::write_whole;
use crate::lock::Lock;
use crate::medium::Medium;
use crate::robot::{Controller, Robot};
use crate::shelf::{Held, Shelf};
use crate::snapshot::Watcher;
use crate::spec::LibrarySpec;
use crate::tape::Tape;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The file that says which element holds which cartridge.
const PLACES: &str = "places.toml";

/// The stream of faults that is the robot's; drives have the streams from 1.
const ROBOT_STREAM: u64 = 0;

pub(crate) struct World {
    directory: PathBuf,
    pub spec: LibrarySpec,
    pub clock: Clock,
    pub drives: Vec<Drive>,
    pub changer: Controller,
    /// Told of every command.
    pub watcher: Option<Watcher>,
    pub shelf: Shelf,
    pub robot_faults: FaultStream,
    robot: Option<Robot>,
    /// Held until the library is closed.
    _lock: Lock,
    /// The directory, where it is to go with the library: after all that is in it was closed.
    pub temporary: Option<TempDir>,
}

impl World {
    pub fn new(
        directory: &Path,
        spec: LibrarySpec,
        clock: Clock,
        lock: Lock,
    ) -> Result<World, LibraryError> {
        let mut drives = Vec::with_capacity(spec.drives.len());
        for (number, drive) in spec.drives.iter().enumerate() {
            let life = directory
                .join("drives")
                .join(format!("{}.toml", drive.serial));
            let stream = number as u64 + 1;
            drives.push(Drive::power_on(
                spec.kind(&drive.kind)?,
                &drive.serial,
                spec.seed ^ stream << 32,
                spec.faults.stream(stream),
                &life,
            )?);
        }
        Ok(World {
            directory: directory.to_owned(),
            robot: spec
                .robot
                .as_deref()
                .and_then(|name| Robot::find(name, spec.seed)),
            robot_faults: spec.faults.stream(ROBOT_STREAM),
            spec,
            clock,
            drives,
            changer: Controller::default(),
            watcher: None,
            shelf: Shelf::default(),
            _lock: lock,
            temporary: None,
        })
    }

    /// Puts the cartridges of the specification into the first slots.
    pub fn fill_slots(&mut self) -> Result<(), LibraryError> {
        let elements = self.elements();
        if self.spec.cartridges.len() > usize::from(elements.slots) {
            return Err(LibraryError::Spec {
                what: format!(
                    "{} cartridges, {} slots",
                    self.spec.cartridges.len(),
                    elements.slots
                ),
            });
        }
        for (slot, cartridge) in self.spec.cartridges.iter().enumerate() {
            let held = Held {
                barcode: cartridge.barcode.clone(),
                source: None,
            };
            self.shelf
                .put(elements.address(Element::Slot(slot as u16)), held);
        }
        self.write_places()
    }

    /// Puts cartridges where they were when the library was last open.
    pub fn restore_places(&mut self) -> Result<(), LibraryError> {
        let path = self.directory.join(PLACES);
        if path.exists() {
            let text = fs::read_to_string(&path).map_err(|source| LibraryError::Io {
                path: path.clone(),
                source,
            })?;
            self.shelf = Shelf::from_toml(&text).map_err(|error| LibraryError::Format {
                path,
                what: error.to_string(),
            })?;
        }
        for number in 0..self.drives.len() {
            let element = self.elements().address(Element::Drive(number as u16));
            if let Some(held) = self.shelf.at(element) {
                let cartridge = self.open_cartridge(&held.barcode)?;
                self.drives[number].insert(cartridge, self.clock.now());
            }
        }
        Ok(())
    }

    pub fn elements(&self) -> Elements {
        Elements {
            slots: self.spec.slots,
            stations: self.spec.stations,
            drives: self.drives.len() as u16,
        }
    }

    /// The robot.
    ///
    /// # Errors
    /// An internal failure without a robot: only its own commands come here.
    pub fn robot(&mut self) -> Result<&mut Robot, Check> {
        self.robot.as_mut().ok_or(Check::INTERNAL_FAILURE)
    }

    /// The drive in this element.
    pub fn drive_at(&self, address: u16) -> Option<&Drive> {
        match self.elements().element(address)? {
            Element::Drive(number) => self.drives.get(usize::from(number)),
            _ => None,
        }
    }

    /// Opens a cartridge for a drive, as the robot needs it.
    pub fn cartridge(&self, barcode: &str) -> Result<InsertedCartridge, Stop> {
        self.open_cartridge(barcode)
            .map_err(|_| Check::INCOMPATIBLE_MEDIUM.into())
    }

    pub fn open_cartridge(&self, barcode: &str) -> Result<InsertedCartridge, LibraryError> {
        let mut cartridges = self.spec.cartridges.iter();
        let Some(spec) = cartridges.find(|one| one.barcode == barcode) else {
            return Err(LibraryError::Missing {
                what: format!("cartridge {barcode}"),
            });
        };
        let medium = Medium::open(&self.directory.join("cartridges").join(barcode))?;
        let kind = self.spec.kind(&spec.kind)?;
        let mut tape = Tape::new(&kind.shape, spec.seed).with_scale(spec.scale);
        let wraps = &medium.memory.partition_wraps;
        if !wraps.is_empty() {
            tape = tape
                .with_partitions(wraps)
                .map_err(|error| LibraryError::Spec {
                    what: format!("cartridge {barcode}: {error}"),
                })?;
        }
        Ok(InsertedCartridge {
            barcode: barcode.to_owned(),
            tape,
            kind: spec.kind.clone(),
            medium,
        })
    }

    /// Saves which element holds what, for a command.
    pub fn save_shelf(&self) -> Result<(), Stop> {
        self.write_places()
            .map_err(|_| Check::INTERNAL_FAILURE.into())
    }

    fn write_places(&self) -> Result<(), LibraryError> {
        let path = self.directory.join(PLACES);
        let text = self.shelf.to_toml().map_err(|error| LibraryError::Format {
            path: path.clone(),
            what: error.to_string(),
        })?;
        write_whole(&path, &text).map_err(|source| LibraryError::Io { path, source })
    }

    pub fn insert_by_hand(&mut self, into: Element, barcode: &str) -> Result<(), LibraryError> {
        let address = self.elements().address(into);
        if self.elements().element(address) != Some(into) {
            return Err(LibraryError::Missing {
                what: format!("{into:?}"),
            });
        }
        if let Some(held) = self.shelf.at(address) {
            let what = format!("{into:?} holds {}", held.barcode);
            return Err(LibraryError::Refused { what });
        }
        if let Some(place) = self.shelf.element_of(barcode) {
            let what = format!("{barcode} is in element {place}");
            return Err(LibraryError::Refused { what });
        }
        let cartridge = self.open_cartridge(barcode)?;
        if let Element::Drive(number) = into {
            self.drives[usize::from(number)].insert(cartridge, self.clock.now());
        }
        let held = Held {
            barcode: barcode.to_owned(),
            source: None,
        };
        self.shelf.put(address, held);
        self.note_access(into);
        self.write_places()
    }

    /// The robot's controller tells its initiators that somebody was at the station.
    fn note_access(&mut self, element: Element) {
        if let Element::Station(_) = element {
            self.changer.attentions.raise(STATION_ACCESSED, None);
        }
    }

    /// In a library without a robot, a person may leave the barcode of a cartridge in the file
    /// `insert-NUMBER`: it goes into that drive as soon as there is none or only one that was unloaded,
    /// which is taken out. The file is gone then.
    pub fn look_for_a_hand(&mut self, number: usize) -> Result<(), LibraryError> {
        if self.spec.robot.is_some() || self.drives[number].is_threaded() {
            return Ok(());
        }
        let path = self.directory.join(format!("insert-{number}"));
        let barcode = match fs::read_to_string(&path) {
            Ok(text) => text.trim().to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(LibraryError::Io { path, source }),
        };
        // It is being written.
        if barcode.is_empty() {
            return Ok(());
        }
        let drive = Element::Drive(number as u16);
        let held = self.shelf.at(self.elements().address(drive));
        if let Some(held) = held.map(|held| held.barcode.clone()) {
            self.take_by_hand(&held)?;
        }
        self.insert_by_hand(drive, &barcode)?;
        fs::remove_file(&path).map_err(|source| LibraryError::Io { path, source })
    }

    pub fn take_by_hand(&mut self, barcode: &str) -> Result<(), LibraryError> {
        let Some(address) = self.shelf.element_of(barcode) else {
            return Err(LibraryError::Missing {
                what: format!("cartridge {barcode} in the library"),
            });
        };
        let is_loaded = self.drive_at(address).is_some_and(Drive::is_threaded);
        let element = self.elements().element(address);
        match element {
            Some(Element::Drive(number)) if !is_loaded => {
                self.drives[usize::from(number)].remove();
            }
            Some(station @ Element::Station(_)) => self.note_access(station),
            _ => {
                let what = format!("{barcode} is out of reach: {element:?}, loaded: {is_loaded}");
                return Err(LibraryError::Refused { what });
            }
        }
        self.shelf.take(address);
        self.write_places()
    }
}
