//! What is still wanted of a volume goes onto others.

use super::tiers::Moved;
use super::{MoveError, Mover};
use crate::catalogue::{FileId, Forgotten, Loss, VolumeId};
use crate::record::VolumeState;
use std::collections::HashSet;

/// What a repack did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repacked {
    /// What was read, and written elsewhere.
    pub moved: Moved,
    /// What the catalogue forgot with the volume; none where it is kept, because files could not be moved.
    pub forgotten: Option<Forgotten>,
}

impl Mover<'_> {
    /// Writes what is still wanted of a volume onto others, in portions that the cache has room for, then
    /// takes the volume out of the catalogue.
    ///
    /// The cartridge itself is not touched: until it is labelled anew what it held can be read.
    ///
    /// # Errors
    /// [`MoveError`]; the volume is then still in the catalogue, and takes no more.
    pub fn repack(&mut self, volume: VolumeId) -> Result<Repacked, MoveError> {
        self.catalogue.set_volume_state(volume, VolumeState::Full)?;
        let mut seen = HashSet::new();
        // Lost copies too: they are made again from their sisters.
        let contents = self.catalogue.all_contents(volume)?.into_iter();
        let live: Vec<FileId> = contents
            .filter(|on| on.live && seen.insert(on.file))
            .map(|on| on.file)
            .collect();
        let mut moved = Moved::default();
        self.move_off(live, &|id, _| id != volume, &mut moved)?;
        let forgotten = match moved.failed.is_empty() && moved.migrated.refused.is_empty() {
            true => {
                let now_ns = (self.now_ns)();
                Some(
                    self.catalogue
                        .forget_volume(volume, Loss::Refused, now_ns)?,
                )
            }
            false => None,
        };
        Ok(Repacked { moved, forgotten })
    }
}
