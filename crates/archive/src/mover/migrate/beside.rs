//! Groups that grow: several volumes are filled side by side, and files that come later join their group's.

use super::super::MoveError;
use super::Writing;
use super::spread::{Spread, Target};
use super::state::State;
use crate::catalogue::{Migration, VolumeId};
use crate::placement::{Coming, Item, Supply, assign, groups};
use crate::record::Volume;
use std::collections::{BTreeMap, HashSet};

/// A volume that is being filled.
struct Open<'a> {
    id: VolumeId,
    volume: &'a Volume,
    room: u64,
    stems: HashSet<&'a [u8]>,
}

impl Writing<'_> {
    /// Where what waits goes if several volumes are filled side by side; nothing if one after the other is, or no group
    /// has a place. `writable` are those that this drive could fill and those that others fill.
    pub(super) fn spread(
        &self,
        waiting: &[Migration],
        state: &mut State,
        writable: &[(VolumeId, &Volume)],
        blanks: usize,
    ) -> Result<Option<Spread>, MoveError> {
        let settings = self.with.settings;
        let grows = self.group_by.stem(b"").is_some() && settings.open_volumes > 1;
        let Some(cartridge) = settings.cartridge_bytes().filter(|_| grows) else {
            return Ok(None);
        };
        let items: Vec<Item<'_>> = waiting.iter().map(Writing::item).collect();
        let least = items.iter().map(|item| item.bytes).min().unwrap_or(0);
        let mut begun = Vec::new();
        for &(id, volume) in writable {
            let claimed = state.claimed_bytes(&volume.label);
            let room = self.room(volume).saturating_sub(claimed);
            if volume.written_bytes + claimed > 0 && room >= least {
                self.look_at(id, volume, state)?;
                begun.push((id, volume, room));
            }
        }
        let open = begun.into_iter().map(|(id, volume, room)| Open {
            id,
            volume,
            room,
            stems: self.stems_on(id, volume, state),
        });
        let open: Vec<Open<'_>> = open.collect();
        let supply = Supply {
            side_by_side: settings.open_volumes as usize,
            blanks,
            cartridge,
        };
        let spread = self.spread_over(&open, waiting, &items, state, &supply);
        Ok(Some(spread).filter(|spread| !spread.0.is_empty()))
    }

    /// Finds out which groups lie on a volume, unless nothing was written there since that was done.
    fn look_at(&self, id: VolumeId, volume: &Volume, state: &mut State) -> Result<(), MoveError> {
        let known = state.stems.entry(id).or_default();
        if known.next_block != volume.next_block {
            let contents = self.with.catalogue.contents(id)?;
            let live = contents.iter().filter(|on| on.live);
            let stems = live.filter_map(|on| self.group_by.stem(&on.path));
            known.on = stems.map(<[u8]>::to_vec).collect();
            known.next_block = volume.next_block;
        }
        Ok(())
    }

    /// The groups on a volume, those among them that are about to be written.
    fn stems_on<'s>(&self, id: VolumeId, volume: &Volume, state: &'s State) -> HashSet<&'s [u8]> {
        let known = state.stems.get(&id).into_iter();
        let known = known.flat_map(|stems| stems.on.iter().map(Vec::as_slice));
        let claim = state.claimed.get(&volume.label).into_iter();
        let claimed = claim.flat_map(|claim| &claim.waiting);
        known
            .chain(claimed.filter_map(|one| self.group_by.stem(&one.path)))
            .collect()
    }

    fn spread_over(
        &self,
        open: &[Open<'_>],
        waiting: &[Migration],
        items: &[Item<'_>],
        state: &State,
        supply: &Supply,
    ) -> Spread {
        let may_go = |file: usize| -> Vec<usize> {
            let may = |at: &usize| {
                let Open { id, volume, .. } = open[*at];
                self.may_go_onto((id, volume), &waiting[file], state)
            };
            (0..open.len()).filter(may).collect()
        };
        let mut files_of: Vec<Vec<usize>> = Vec::new();
        let mut coming = Vec::new();
        for group in groups(items, self.group_by) {
            // Files of a group that may go onto the same volumes stay together.
            let mut alike: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
            for file in group.items {
                alike.entry(may_go(file)).or_default().push(file);
            }
            for (may, files) in alike {
                let stem = self.group_by.stem(items[files[0]].path);
                let lies_on = |at: &usize| stem.is_some_and(|stem| open[*at].stems.contains(stem));
                coming.push(Coming {
                    bytes: files.iter().map(|&file| items[file].bytes).sum(),
                    homes: may.iter().copied().filter(lies_on).collect(),
                    may,
                });
                files_of.push(files);
            }
        }
        let rooms: Vec<u64> = open.iter().map(|one| one.room).collect();
        let assigned = assign(&coming, &rooms, supply);
        let target = |at: usize| match open.get(at) {
            Some(one) => Target::Volume(one.id),
            None if at == open.len() => Target::Blank,
            None => Target::Later,
        };
        let placed = files_of.into_iter().zip(assigned);
        Spread(
            placed
                .filter_map(|(files, at)| Some((files, target(at?))))
                .collect(),
        )
    }
}
