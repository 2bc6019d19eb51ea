//! A robot and its shelves: where every cartridge is, and how it gets elsewhere.

use super::error::PoolError;
use super::listener::{Listener, Said};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tapewise_run::RunError;
use tapewise_scsi::commands::{ElementAddresses, ElementKind, ElementRange};
use tapewise_scsi::{Changer, Condition, Inventory, ScsiError};

/// A library that is starting looks at its shelves first.
const READY_LIMIT: Duration = Duration::from_secs(1800);

/// Labels of cleaning cartridges begin so, by the custom of all makers.
pub(super) const CLEANERS: &str = "CLN";

/// A robot with its shelves.
pub(super) struct Library {
    pub changer: Changer,
    /// When the pool was made, on the robot's clock.
    pub began: Duration,
    name: String,
    addresses: ElementAddresses,
    /// Where the cartridges with a label are.
    places: BTreeMap<String, u16>,
    /// Elements with a cartridge, whether its label can be read or not.
    full: BTreeSet<u16>,
    /// Slots that the robot cannot reach.
    blocked: BTreeSet<u16>,
    /// The slots of cartridges that are out of them.
    homes: BTreeMap<String, u16>,
    /// Cartridges that are in no element any more, and where they were last.
    missing: BTreeMap<String, String>,
}

/// What a library said of its drives when it was opened.
pub(super) struct Drives {
    /// Element and serial number.
    pub serials: Vec<(u16, String)>,
    /// The element whose serial number the answer cuts short.
    pub cut: Option<u16>,
}

impl Library {
    /// Waits until the library is ready, and asks what stands where.
    pub fn open(mut changer: Changer) -> Result<(Library, Drives), PoolError> {
        let identity = changer.identity();
        let serial = identity
            .serial
            .as_deref()
            .unwrap_or("without serial number");
        let name = format!("{} {serial}", identity.product);
        let failed = |source| PoolError::Library {
            library: name.clone(),
            source,
        };
        changer.wait_until_ready(READY_LIMIT).map_err(failed)?;
        let addresses = changer.addresses().map_err(failed)?;
        let inventory = changer.inventory().map_err(failed)?;
        let serial_of = |element: &tapewise_scsi::commands::Element| {
            Some((element.address, element.device_id.as_ref()?.serial.clone()?))
        };
        let serials: Vec<_> = inventory.drives.iter().filter_map(serial_of).collect();
        if serials.is_empty() {
            return Err(failed(ScsiError::NoDriveSerials));
        }
        let mut library = Library {
            began: changer.now(),
            changer,
            name,
            addresses,
            places: BTreeMap::new(),
            full: BTreeSet::new(),
            blocked: BTreeSet::new(),
            homes: BTreeMap::new(),
            missing: BTreeMap::new(),
        };
        library.learn(&inventory);
        let is_cut = |element: &&tapewise_scsi::commands::Element| {
            element.device_id.as_ref().is_some_and(|id| id.is_cut)
        };
        let cut = inventory.drives.iter().find(is_cut);
        let cut = cut.map(|element| element.address);
        Ok((library, Drives { serials, cut }))
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Asks again what stands where: after a failure, or when somebody was at the station.
    pub fn refresh(&mut self) -> Result<(), PoolError> {
        let asked = self
            .changer
            .wait_until_ready(READY_LIMIT)
            .and_then(|()| self.changer.inventory());
        let inventory = asked.map_err(|source| self.failed(source))?;
        self.learn(&inventory);
        Ok(())
    }

    fn failed(&self, source: ScsiError) -> PoolError {
        PoolError::Library {
            library: self.name.clone(),
            source,
        }
    }

    fn learn(&mut self, inventory: &Inventory) {
        let before = std::mem::take(&mut self.places);
        self.full.clear();
        self.blocked.clear();
        for element in inventory.elements() {
            if element.kind == ElementKind::Slot && inventory.is_blocked(element) {
                self.blocked.insert(element.address);
            }
            if !element.is_full {
                continue;
            }
            self.full.insert(element.address);
            let Some(label) = &element.volume_tag else {
                continue;
            };
            self.places.insert(label.clone(), element.address);
            self.missing.remove(label);
            if element.kind == ElementKind::Slot {
                self.homes.remove(label);
            } else if let Some(source) = element.source
                && self.kind(source) == Some(ElementKind::Slot)
            {
                self.homes.entry(label.clone()).or_insert(source);
            }
        }
        for (label, place) in before {
            // What was in the station a person may have taken.
            let taken = self.kind(place) == Some(ElementKind::Station);
            if !self.places.contains_key(&label) && !taken {
                let last_seen = self.words(place);
                self.missing.insert(label, last_seen);
            }
        }
    }

    /// What the element at an address is.
    pub fn kind(&self, address: u16) -> Option<ElementKind> {
        let ElementAddresses {
            robots,
            slots,
            stations,
            drives,
        } = self.addresses;
        let is_in = |range: ElementRange| {
            (u32::from(range.first)..u32::from(range.first) + u32::from(range.count))
                .contains(&u32::from(address))
        };
        [
            (robots, ElementKind::Robot),
            (slots, ElementKind::Slot),
            (stations, ElementKind::Station),
            (drives, ElementKind::Drive),
        ]
        .into_iter()
        .find_map(|(range, kind)| is_in(range).then_some(kind))
    }

    /// An element as people call it: "slot 1025".
    pub fn words(&self, address: u16) -> String {
        match self.kind(address) {
            Some(ElementKind::Robot) => "the robot's hand".to_owned(),
            Some(kind) => format!("{kind} {address}"),
            None => format!("element {address}"),
        }
    }

    /// Where this cartridge is.
    pub fn place_of(&self, label: &str) -> Option<u16> {
        self.places.get(label).copied()
    }

    /// The label of what is in an element.
    pub fn label_at(&self, address: u16) -> Option<&str> {
        let mut places = self.places.iter();
        places.find_map(|(label, &place)| (place == address).then_some(label.as_str()))
    }

    /// Whether there is a cartridge in an element.
    pub fn is_full(&self, address: u16) -> bool {
        self.full.contains(&address)
    }

    /// All cartridges with their places, by label.
    pub fn places(&self) -> impl Iterator<Item = (&str, u16)> {
        self.places.iter().map(|(label, &at)| (label.as_str(), at))
    }

    /// Cartridges that are in no element any more, and where they were last.
    pub fn missing(&self) -> impl Iterator<Item = (&str, &str)> {
        let missing = self.missing.iter();
        missing.map(|(label, last)| (label.as_str(), last.as_str()))
    }

    /// The error of a cartridge that is missing; none when it is not known to be.
    pub fn missing_error(&self, label: &str) -> Option<PoolError> {
        self.missing.get(label).map(|last| PoolError::Missing {
            volume: label.to_owned(),
            last_seen: last.clone(),
        })
    }

    /// The slot a cartridge goes back to: its own, else one that is nobody's, else any that is empty.
    pub fn slot_for(&self, label: &str) -> Result<u16, PoolError> {
        let is_free = |slot: &u16| !self.full.contains(slot) && !self.blocked.contains(slot);
        if let Some(home) = self.homes.get(label).filter(|slot| is_free(slot)) {
            return Ok(*home);
        }
        let is_owned = |slot: &u16| self.homes.values().any(|home| home == slot);
        let free: Vec<u16> = addresses(self.addresses.slots).filter(is_free).collect();
        let nobodys = free.iter().find(|slot| !is_owned(slot));
        nobodys
            .or(free.first())
            .copied()
            .ok_or_else(|| PoolError::NoFreeSlot {
                volume: label.to_owned(),
            })
    }

    /// An empty place of the station.
    pub fn station_for(&self, label: &str) -> Result<u16, PoolError> {
        let mut stations = addresses(self.addresses.stations);
        stations
            .find(|place| !self.full.contains(place))
            .ok_or_else(|| PoolError::StationFull {
                volume: label.to_owned(),
                holds: match self.in_station().as_slice() {
                    [] => "what is in it".to_owned(),
                    labels => labels.join(", "),
                },
            })
    }

    /// Labels of the cartridges in the station.
    pub fn in_station(&self) -> Vec<String> {
        let is_there = |&(_, at): &(&str, u16)| self.kind(at) == Some(ElementKind::Station);
        let there = self.places().filter(is_there);
        there.map(|(label, _)| label.to_owned()).collect()
    }

    /// Moves a cartridge with `attempt`, which sends the command. A robot that fails is asked where
    /// the cartridge is; where it still is where it was, it is sent once more.
    ///
    /// # Errors
    /// [`PoolError::Missing`] when the cartridge is nowhere, [`PoolError::Elsewhere`] when somebody else has put it into a
    /// drive meanwhile, [`PoolError::Unusable`] when the library does not take a volume for a drive, [`PoolError::Robot`] when
    /// it is elsewhere than it should be, and the log's.
    pub fn carry(
        &mut self,
        label: &str,
        to: u16,
        listener: &mut Listener,
        mut attempt: impl FnMut(&mut Changer, u16) -> Result<(), RunError>,
    ) -> Result<(), PoolError> {
        let mut say = |words: &str| {
            let volume = Some(label);
            listener(Said { words, volume });
        };
        let from = self.place_of(label).ok_or_else(|| self.not_there(label))?;
        let way = format!(
            "the robot takes {label} from {} to {}",
            self.words(from),
            self.words(to)
        );
        say(&way);
        let mut is_last = false;
        loop {
            let error = match attempt(&mut self.changer, from) {
                Ok(()) => {
                    self.note_move(label, from, to);
                    return Ok(());
                }
                Err(RunError::Scsi(error)) => error,
                Err(source) => {
                    return Err(PoolError::Drive {
                        drive: self.words(to),
                        source,
                    });
                }
            };
            self.refresh()?;
            match self.place_of(label) {
                None => {
                    let missing = self.not_there(label);
                    say(&format!("{way}: {error}; {missing}"));
                    return Err(missing);
                }
                Some(at) if at == to => {
                    say(&format!("{way}: {error}; but it is there"));
                    return Ok(());
                }
                Some(at) if at == from && !is_last && may_pass(&error) => {
                    say(&format!("{way}: {error}; once more"));
                    is_last = true;
                }
                // Somebody else was quicker.
                Some(at) if at != from && self.kind(at) == Some(ElementKind::Drive) => {
                    return Err(PoolError::Elsewhere {
                        volume: label.to_owned(),
                        place: self.words(at),
                    });
                }
                // The cartridge is no fault of the robot: another one may well be carried.
                Some(at) if at == from && self.is_refused(label, to, &error) => {
                    return Err(PoolError::Unusable {
                        volume: label.to_owned(),
                        drive: self.words(to),
                        source: error,
                    });
                }
                Some(at) => return Err(self.stranded(label, &way, at, from, error, &mut say)),
            }
        }
    }

    /// A cartridge that did not get where it should: out of the robot's hand, if it is there, so that
    /// the robot can go on.
    fn stranded(
        &mut self,
        label: &str,
        way: &str,
        at: u16,
        from: u16,
        source: ScsiError,
        say: &mut dyn FnMut(&str),
    ) -> PoolError {
        let mut at = at;
        if self.kind(at) == Some(ElementKind::Robot) {
            let slot = match self.kind(from) {
                Some(ElementKind::Slot) => Ok(from),
                _ => self.slot_for(label),
            };
            if let Ok(slot) = slot {
                say(&format!("the robot puts {label} into {}", self.words(slot)));
                if self.changer.move_medium(at, slot).is_ok() {
                    self.note_move(label, at, slot);
                    at = slot;
                }
            }
        }
        PoolError::Robot {
            what: format!("{way}; it is in {}", self.words(at)),
            source,
        }
    }

    /// Whether a drive cannot have a volume, by the volume itself. Of one that does not come out of a drive, whoever waits for
    /// the drive would be blamed; so would he for a cleaning cartridge.
    fn is_refused(&self, label: &str, to: u16, error: &ScsiError) -> bool {
        self.kind(to) == Some(ElementKind::Drive)
            && !is_cleaner(label)
            && error.condition() == Some(Condition::Medium)
    }

    /// The error of a cartridge that is in no element.
    pub fn not_there(&self, label: &str) -> PoolError {
        let unknown = || PoolError::NoSuchVolume {
            volume: label.to_owned(),
        };
        self.missing_error(label).unwrap_or_else(unknown)
    }

    fn note_move(&mut self, label: &str, from: u16, to: u16) {
        self.full.remove(&from);
        self.full.insert(to);
        self.places.insert(label.to_owned(), to);
        match (self.kind(from), self.kind(to)) {
            (_, Some(ElementKind::Slot)) => {
                self.homes.remove(label);
            }
            (Some(ElementKind::Slot), _) => {
                self.homes.insert(label.to_owned(), from);
            }
            _ => {}
        }
    }
}

/// Whether this is the label of a cleaning cartridge.
pub(crate) fn is_cleaner(label: &str) -> bool {
    label.starts_with(CLEANERS)
}

/// The addresses of a range.
fn addresses(range: ElementRange) -> impl Iterator<Item = u16> {
    (0..range.count).map(move |number| range.first.saturating_add(number))
}

/// Whether the same move may go well a second time: mechanics may, and what only said that something
/// had changed.
fn may_pass(error: &ScsiError) -> bool {
    error.is_retryable()
        || matches!(
            error.condition(),
            Some(Condition::Hardware | Condition::UnitAttention(_) | Condition::Element)
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{library, robot};
    use tapewise_scsi::Sense;

    #[test]
    fn only_a_volume_that_a_drive_is_to_have_is_refused_for_itself() {
        let emulated = library(1);
        let (mut library, told) = Library::open(robot(&emulated)).unwrap();
        let drive = told.serials[0].0;
        let mut listener: Listener = Box::new(|_| {});
        let mut carry = |label: &str, to, works| {
            let attempt = |changer: &mut Changer, from| {
                if works {
                    return Ok(changer.move_medium(from, to)?);
                }
                let sense = Sense::decode(&[0x70, 0, 3, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0x53, 0]);
                Err(RunError::Scsi(ScsiError::Sense {
                    command: "MOVE MEDIUM",
                    sense: Box::new(sense.unwrap()),
                }))
            };
            library.carry(label, to, &mut listener, attempt)
        };
        let refused = carry("TW0001", drive, false);
        assert!(
            matches!(refused, Err(PoolError::Unusable { .. })),
            "{refused:?}"
        );
        carry("TW0001", drive, true).unwrap();
        for (label, to) in [("TW0001", 1025), ("CLN001", drive)] {
            let failed = carry(label, to, false);
            assert!(
                matches!(failed, Err(PoolError::Robot { .. })),
                "{label}: {failed:?}"
            );
        }
    }
}
