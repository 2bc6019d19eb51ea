//! What is still wanted of a volume goes onto others.

use super::{MoveError, Mover, Recalled};
use crate::catalogue::{FileId, Forgotten, Loss, NewRecall, Terms, VolumeId};
use crate::record::VolumeState;
use std::collections::BTreeSet;

/// What a repack did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repacked {
    /// What was read into the cache.
    pub staged: Recalled,
    /// What the catalogue forgot with the volume.
    pub forgotten: Forgotten,
}

impl Mover<'_> {
    /// Reads what is still wanted of a volume into the cache, then takes the volume out of the catalogue: its
    /// files lack a copy from then on, and [`Mover::migrate`] writes it elsewhere.
    ///
    /// The cartridge itself is not touched: until it is labelled anew what it held can be read.
    ///
    /// # Errors
    /// [`MoveError`]; the volume is then still in the catalogue.
    pub fn repack(&mut self, volume: VolumeId) -> Result<Repacked, MoveError> {
        let now_ns = (self.now_ns)();
        self.catalogue.set_volume_state(volume, VolumeState::Full)?;
        let contents = self.catalogue.contents(volume)?;
        let live: BTreeSet<FileId> = contents
            .iter()
            .filter(|on| on.live)
            .map(|on| on.file)
            .collect();
        let holder = format!("repack of volume {}", volume.0);
        for &file in &live {
            self.catalogue.pin(file, &holder, None)?;
        }
        let recalls: Vec<NewRecall> = live
            .iter()
            .map(|&file| NewRecall {
                file,
                terms: Terms::default(),
                destination: None,
            })
            .collect();
        self.catalogue.submit(&recalls, now_ns)?;
        let staged = self.recall()?;
        let forgotten = self
            .catalogue
            .forget_volume(volume, Loss::Refused, (self.now_ns)())?;
        for &file in &live {
            self.catalogue.unpin(file, &holder)?;
        }
        Ok(Repacked { staged, forgotten })
    }
}
