//! Cartridges whose label a drive could not read: another drive tries, and then they are left alone. A label that can be
//! read and is another one is so in every drive.

use super::{Recalling, State, lock};
use crate::catalogue::{OutOfUse, Outage, Resource};
use crate::mover::MoveError;
use std::sync::atomic::Ordering;

impl Recalling<'_> {
    /// Whether another drive is to try a volume whose label one could not read. A head that needs cleaning is not the tape.
    pub(super) fn is_for_another_drive(
        &self,
        state: &State,
        volume: &str,
        error: &MoveError,
    ) -> bool {
        error.is_unreadable_label() && self.usable > 1 && !state.unread.contains_key(volume)
    }

    /// Volumes whose label one drive could not read, and which no other one has taken.
    pub(super) fn end_the_unread(&self) {
        let mut state = lock(&self.state);
        if state.is_over || self.with.stop.load(Ordering::Relaxed) {
            // Another one may have had no time for it.
            return;
        }
        for (volume, error) in std::mem::take(&mut state.unread) {
            if !state.unavailable.contains(&volume) {
                self.end(&mut state, &volume, error);
            }
        }
    }

    /// Takes a volume out of use, until somebody puts it into use again.
    pub(super) fn disable(&self, volume: &str, why: &str) -> Result<(), MoveError> {
        let what = OutOfUse {
            resource: Resource::Volume,
            name: volume.to_owned(),
            outage: Outage::Disabled,
            why: why.to_owned(),
            since_ns: self.with.now(),
        };
        Ok(self.with.catalogue.take_out_of_use(&what)?)
    }
}
