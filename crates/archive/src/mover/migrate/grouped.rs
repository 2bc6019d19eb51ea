//! Files that belong together go onto one volume, if one has room for all of them: see [`crate::placement`].

use super::super::job::HEADER_BYTES;
use super::super::{MoveError, Mover};
use super::{State, Writing};
use crate::catalogue::{Migration, VolumeId};
use crate::placement::{Group, GroupBy, Item, Learned, fitting, groups, learn};
use crate::record::Volume;

/// Recalls that are learned from: the latest.
const LATEST: usize = 100_000;

impl Mover<'_> {
    /// What the recalls so far teach, if that is asked.
    pub(super) fn learn(&self) -> Result<Option<Learned>, MoveError> {
        if self.settings.group_by != GroupBy::Learned {
            return Ok(None);
        }
        let asked = self.catalogue.asked(LATEST)?;
        let cartridge = self.settings.cartridge_bytes().unwrap_or(u64::MAX);
        Ok(Some(learn(&asked, cartridge)))
    }
}

impl Writing<'_> {
    /// A file that waits, as it takes room on tape.
    pub(super) fn item(migration: &Migration) -> Item<'_> {
        let from = migration.missing.first().map_or(0, |missing| missing.from);
        Item {
            path: &migration.path,
            bytes: migration.bytes.saturating_sub(from) + HEADER_BYTES,
            modified_ns: migration.modified_ns,
        }
    }

    /// The files that may go onto a volume, in their groups.
    fn groups(
        &self,
        volume: (VolumeId, &Volume),
        waiting: &[Migration],
        state: &State,
    ) -> Vec<Group> {
        let may_go: Vec<usize> = (0..waiting.len())
            .filter(|&number| self.may_go_onto(volume, &waiting[number], state))
            .collect();
        let items = may_go.iter().map(|&number| Writing::item(&waiting[number]));
        let items: Vec<Item<'_>> = items.collect();
        let mut groups = groups(&items, self.group_by);
        for number in groups.iter_mut().flat_map(|group| &mut group.items) {
            *number = may_go[*number];
        }
        groups
    }

    /// What a volume still takes, about. Where files are written as they came only its end ends it.
    pub(super) fn room(&self, volume: &Volume) -> u64 {
        match self.with.settings.cartridge_bytes() {
            Some(bytes) if self.group_by != GroupBy::None => {
                bytes.saturating_sub(volume.written_bytes)
            }
            _ => u64::MAX,
        }
    }

    /// Whether all of a group that waits goes onto a volume. A blank one takes as much as any.
    pub(super) fn has_room_for_a_group(
        &self,
        (id, volume): (VolumeId, &Volume),
        waiting: &[Migration],
        state: &State,
    ) -> bool {
        let room = self.room(volume);
        let fits = || {
            let groups = self.groups((id, volume), waiting, state);
            groups.iter().any(|group| group.bytes <= room)
        };
        volume.written_bytes == 0 || room == u64::MAX || fits()
    }

    /// What may go onto a volume, in groups: those that fit it, else the first one, which is divided.
    pub(super) fn groups_onto(
        &self,
        (id, volume): (VolumeId, &Volume),
        waiting: Vec<Migration>,
        state: &State,
    ) -> Vec<Vec<Migration>> {
        let groups = self.groups((id, volume), &waiting, state);
        let mut taken = fitting(&groups, self.room(volume));
        if taken.is_empty() && !groups.is_empty() {
            taken.push(0);
        }
        let mut waiting: Vec<Option<Migration>> = waiting.into_iter().map(Some).collect();
        let mut take = |number: &usize| waiting[*number].take();
        let taken = taken.iter().map(|&group| groups[group].items.iter());
        taken
            .map(|items| items.filter_map(&mut take).collect())
            .collect()
    }
}
