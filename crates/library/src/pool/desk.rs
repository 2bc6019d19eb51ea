//! What all drives of a pool share: robots and the person who load them, and whoever listens.

use super::bay::{Bay, Holds, Site};
use super::error::PoolError;
use super::library::Library;
use super::listener::{Listener, Said};
use super::person::Person;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tapewise_formats::event::Action;
use tapewise_run::Log;
use tapewise_scsi::Changer;
use tapewise_scsi::commands::ElementKind;

/// What all drives share: robots, the person, whoever listens.
pub(super) struct Desk {
    pub libraries: Vec<Library>,
    pub person: Option<Box<dyn Person>>,
    pub listener: Listener,
    /// How often each cleaning cartridge was used.
    pub cleanings: BTreeMap<String, u64>,
    /// Cleaning cartridges that clean no more.
    pub worn_cleaners: BTreeSet<String>,
}

impl Desk {
    pub fn new(
        libraries: Vec<Library>,
        person: Option<Box<dyn Person>>,
        listener: Listener,
    ) -> Desk {
        Desk {
            libraries,
            person,
            listener,
            cleanings: BTreeMap::new(),
            worn_cleaners: BTreeSet::new(),
        }
    }

    pub fn say(&mut self, words: &str) {
        (self.listener)(Said {
            words,
            volume: None,
        });
    }

    /// The same of what concerns a volume.
    pub fn say_of(&mut self, volume: &str, words: &str) {
        (self.listener)(Said {
            words,
            volume: Some(volume),
        });
    }

    /// The library that holds a volume, and the element.
    pub fn place_of(&self, volume: &str) -> Option<(usize, u16)> {
        let mut libraries = self.libraries.iter().enumerate();
        libraries.find_map(|(number, library)| Some((number, library.place_of(volume)?)))
    }

    /// The library whose drives may take a volume; `None` for drives that a person loads, which take
    /// what no library holds.
    pub fn home_of(&self, volume: &str, by_hand: bool) -> Result<Option<usize>, PoolError> {
        match self.place_of(volume) {
            Some((number, address)) => {
                let library = &self.libraries[number];
                match library.kind(address) {
                    Some(ElementKind::Drive) => Err(PoolError::Elsewhere {
                        volume: volume.to_owned(),
                        place: library.words(address),
                    }),
                    _ => Ok(Some(number)),
                }
            }
            None if by_hand => Ok(None),
            None => Err(self.not_there(volume)),
        }
    }

    /// The libraries of all volumes that are in slots.
    pub fn homes(&self) -> HashMap<String, usize> {
        let libraries = self.libraries.iter().enumerate();
        let homes = libraries.flat_map(|(number, library)| {
            let places = library.places();
            let slots = places.filter(|(_, at)| library.kind(*at) != Some(ElementKind::Drive));
            slots.map(move |(label, _)| (label.to_owned(), number))
        });
        homes.collect()
    }

    /// The error of a volume that is in no library.
    pub fn not_there(&self, volume: &str) -> PoolError {
        let missing = self
            .libraries
            .iter()
            .find_map(|library| library.missing_error(volume));
        missing.unwrap_or_else(|| PoolError::NoSuchVolume {
            volume: volume.to_owned(),
        })
    }

    /// What is in a drive by what its library knows.
    pub fn held_by(&self, bay: &Bay) -> Holds {
        let Site::Element { library, address } = bay.site else {
            return bay.holds.clone();
        };
        let library = &self.libraries[library];
        match library.label_at(address) {
            Some(label) => Holds::Volume(label.to_owned()),
            None if library.is_full(address) => Holds::Unlabelled,
            None => Holds::Nothing,
        }
    }

    /// Brings a volume into an empty drive.
    pub fn fetch(
        &mut self,
        bay: &mut Bay,
        volume: &str,
        log: &mut dyn Log,
    ) -> Result<(), PoolError> {
        match bay.site {
            Site::Element { library, address } => {
                // Never out of a drive that somebody else may be using.
                self.home_of(volume, false)?;
                self.carry(bay, library, volume, address, Action::Fetch, log)?;
            }
            Site::ByHand => self.insert(bay, volume)?,
        }
        Ok(())
    }

    /// A drive does not see the volume that was brought into it: whether it is there, by what its library says now.
    pub fn look_after(&mut self, bay: &mut Bay, volume: &str) -> Result<(), PoolError> {
        let Site::Element { library, address } = bay.site else {
            return Ok(());
        };
        let library = &mut self.libraries[library];
        library.refresh()?;
        let taken = match library.place_of(volume) {
            Some(place) if place == address => return Ok(()),
            None => library.not_there(volume),
            Some(place) => PoolError::TakenOut {
                volume: volume.to_owned(),
                drive: bay.name(),
                place: library.words(place),
            },
        };
        bay.holds = self.held_by(bay);
        Err(taken)
    }

    /// Takes the cartridge of a drive that was unloaded to its slot.
    pub fn put_back(
        &mut self,
        bay: &mut Bay,
        volume: &str,
        log: &mut dyn Log,
    ) -> Result<(), PoolError> {
        match bay.site {
            Site::Element { library, .. } => {
                let slot = self.libraries[library].slot_for(volume)?;
                self.carry(bay, library, volume, slot, Action::Return, log)
            }
            Site::ByHand => {
                bay.holds = Holds::Nothing;
                bay.gave_out = Some(volume.to_owned());
                let name = bay.name();
                if let Some(person) = &mut self.person {
                    person.take(volume, &name);
                }
                Ok(())
            }
        }
    }

    /// A robot brings a volume to an element; the drive takes part in it at one end.
    fn carry(
        &mut self,
        bay: &mut Bay,
        library: usize,
        volume: &str,
        to: u16,
        action: Action,
        log: &mut dyn Log,
    ) -> Result<(), PoolError> {
        let began = self.libraries[library].began;
        let attempt = |changer: &mut Changer, from: u16| {
            let (slot, drive) = match action {
                Action::Return => (to, from),
                _ => (from, to),
            };
            bay.meet(changer, began);
            let carried = bay.recorded(volume, log, |recorder| {
                recorder.carry(changer, action, slot, drive)
            });
            carried.map(|_| ())
        };
        let carried = self.libraries[library].carry(volume, to, &mut self.listener, attempt);
        bay.holds = self.held_by(bay);
        carried?;
        match (&bay.holds, action) {
            (Holds::Volume(found), Action::Fetch) if found != volume => {
                Err(PoolError::WrongCartridge {
                    place: bay.name(),
                    expected: volume.to_owned(),
                    found: found.clone(),
                })
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}
