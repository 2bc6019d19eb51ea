//! Where files that wait are written, if several volumes are filled side by side.

use crate::catalogue::{Migration, VolumeId};

/// Where a group goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Onto this volume, which is being filled.
    Volume(VolumeId),
    /// Onto the next blank one.
    Blank,
    /// Onto a blank one after that.
    Later,
}

/// Where what waits goes: the files of each group, by their places among those that wait. Groups that no volume has room
/// for are left out.
pub(super) struct Spread(pub(super) Vec<(Vec<usize>, Target)>);

impl Spread {
    /// Whether a group goes there.
    pub(super) fn has(&self, target: Target) -> bool {
        self.0.iter().any(|(_, to)| *to == target)
    }

    /// What goes onto a volume, group by group; what goes onto the next blank one if nothing does.
    pub(super) fn onto(&self, volume: VolumeId, waiting: Vec<Migration>) -> Vec<Migration> {
        let known = Target::Volume(volume);
        let target = if self.has(known) {
            known
        } else {
            Target::Blank
        };
        let mut waiting: Vec<Option<Migration>> = waiting.into_iter().map(Some).collect();
        let there = self.0.iter().filter(|(_, to)| *to == target);
        let files = there.flat_map(|(files, _)| files);
        files.filter_map(|&file| waiting[file].take()).collect()
    }
}
