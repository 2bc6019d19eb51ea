//! Cartridges that are filled side by side, so that files of a group that come later find room on its cartridge.
//!
//! A group goes onto the cartridge on which it lies already, if that has room for all that comes. Otherwise it goes onto
//! the emptiest of those that are being filled; if fewer than a set number of them have room for it, onto a blank one.
//! With one cartridge at a time there is nothing to join: it is full before the next files come.

use super::{GroupBy, Item, fill, groups};
use std::cmp::Reverse;
use std::collections::HashSet;

/// A cartridge that is being filled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begun {
    /// What it still takes, in bytes.
    pub room: u64,
    /// The groups that lie on it, by [`GroupBy::stem`].
    pub stems: HashSet<Vec<u8>>,
}

/// A group that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coming {
    /// Its bytes.
    pub bytes: u64,
    /// The cartridges being filled that may take it, by their places in the list.
    pub may: Vec<usize>,
    /// Those of them on which it lies already.
    pub homes: Vec<usize>,
}

/// Cartridges that can be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// How many are filled side by side.
    pub side_by_side: usize,
    /// How many are blank.
    pub blanks: usize,
    /// What a blank one takes, in bytes.
    pub cartridge: u64,
}

/// The cartridge of each group, in their order: a place in the list of those that are being filled, or beyond its end the
/// first, second, ... blank one; nothing if none has room for all of it.
pub fn assign(coming: &[Coming], rooms: &[u64], supply: &Supply) -> Vec<Option<usize>> {
    let mut rooms = rooms.to_vec();
    let begun = rooms.len();
    let assigned = coming.iter().map(|one| {
        let takes = |&at: &usize| (at >= begun || one.may.contains(&at)) && rooms[at] >= one.bytes;
        let emptiest = |&at: &usize| (rooms[at], Reverse(at));
        let open: Vec<usize> = (0..rooms.len()).filter(takes).collect();
        let homes = open.iter().copied().filter(|at| one.homes.contains(at));
        let is_blank_left = rooms.len() - begun < supply.blanks && one.bytes <= supply.cartridge;
        let at = match homes.max_by_key(emptiest) {
            Some(home) => home,
            None if open.len() < supply.side_by_side && is_blank_left => {
                rooms.push(supply.cartridge);
                rooms.len() - 1
            }
            None => open.into_iter().max_by_key(emptiest)?,
        };
        rooms[at] -= one.bytes;
        Some(at)
    });
    assigned.collect()
}

/// Writes these files onto cartridges, of which `side_by_side` are filled at a time: on which, and in which order along it.
/// `begun` are those that were begun, and become what is left of them and of the blank ones that were needed.
pub fn place_beside(
    items: &[Item<'_>],
    by: GroupBy,
    begun: &mut Vec<Begun>,
    cartridge: u64,
    side_by_side: usize,
) -> Vec<(usize, usize)> {
    let mut left = groups(items, by);
    let stem = |item: usize| by.stem(items[item].path);
    let coming = left.iter().map(|group| {
        let stem = stem(group.items[0]);
        let lies_on = |one: &Begun| stem.is_some_and(|stem| one.stems.contains(stem));
        Coming {
            bytes: group.bytes,
            may: (0..begun.len()).collect(),
            homes: (0..begun.len()).filter(|&at| lies_on(&begun[at])).collect(),
        }
    });
    let coming: Vec<Coming> = coming.collect();
    let rooms: Vec<u64> = begun.iter().map(|one| one.room).collect();
    let supply = Supply {
        side_by_side,
        blanks: usize::MAX,
        cartridge,
    };
    let assigned = assign(&coming, &rooms, &supply);
    let blank = || Begun {
        room: cartridge,
        ..Begun::default()
    };
    let needed = assigned.iter().flatten().map(|at| at + 1).max();
    begun.resize_with(needed.unwrap_or(0).max(begun.len()), blank);
    let mut placed = Vec::new();
    for (group, at) in left.iter_mut().zip(assigned) {
        let owned = stem(group.items[0]).map(<[u8]>::to_vec);
        if let Some(at) = at {
            begun[at].room -= group.bytes;
            begun[at].stems.extend(owned);
            placed.extend(group.items.iter().map(|&item| (at, item)));
            continue;
        }
        while !group.items.is_empty() {
            begun.push(blank());
            let at = begun.len() - 1;
            begun[at].stems.extend(owned.clone());
            let put = |number| placed.push((at, number));
            fill(group, items, &mut begun[at].room, put);
        }
    }
    placed
}
