//! Cartridges in and out of a library, through its import/export station.

use super::desk::Desk;
use super::desk::lock;
use super::error::PoolError;
use super::{Pool, Whereabouts};
use tapewise_scsi::Changer;
use tapewise_scsi::commands::ElementKind;

impl Pool {
    /// Brings all cartridges of the stations into empty slots, and gives their labels.
    ///
    /// # Errors
    /// [`PoolError`]; those that were brought in before stay in.
    pub fn import(&mut self) -> Result<Vec<String>, PoolError> {
        let mut desk = lock(&self.desk);
        let mut imported = Vec::new();
        for library in 0..desk.libraries.len() {
            desk.libraries[library].refresh()?;
            for label in desk.libraries[library].in_station() {
                let slot = desk.libraries[library].slot_for(&label)?;
                desk.shift(library, &label, slot)?;
                imported.push(label);
            }
        }
        Ok(imported)
    }

    /// Brings a volume to the station and says that a person must take it.
    ///
    /// # Errors
    /// [`PoolError::StationFull`] with what must be taken out first, [`PoolError::InUse`] while it is
    /// in a drive, and those of the robot.
    pub fn export(&mut self, volume: &str) -> Result<Whereabouts, PoolError> {
        let mut desk = lock(&self.desk);
        let at = desk.place_of(volume);
        let (library, from) = at.ok_or_else(|| desk.not_there(volume))?;
        desk.libraries[library].refresh()?;
        let shelves = &desk.libraries[library];
        let to = match shelves.kind(from) {
            Some(ElementKind::Drive) => {
                return Err(PoolError::InUse {
                    volume: volume.to_owned(),
                    drive: shelves.words(from),
                });
            }
            Some(ElementKind::Station) => from,
            _ => shelves.station_for(volume)?,
        };
        if to != from {
            desk.shift(library, volume, to)?;
        }
        let words = desk.libraries[library].words(to);
        let name = desk.libraries[library].name().to_owned();
        let line = format!("{volume} is in {words} of {name}: open the station and take it out");
        desk.say_of(volume, &line);
        Ok(Whereabouts::Element(words))
    }
}

impl Desk {
    /// A robot moves a cartridge between a slot and the station.
    fn shift(&mut self, library: usize, label: &str, to: u16) -> Result<(), PoolError> {
        let attempt = |changer: &mut Changer, from| Ok(changer.move_medium(from, to)?);
        self.libraries[library].carry(label, to, &mut self.listener, attempt)
    }
}
