//! Which cartridges go home before anybody needs their drive.
//!
//! A cartridge that stays in its drive saves a mount if it is asked for again, and costs whoever needs the drive its
//! rewind, unload and way home. Which is more follows from what has been seen: how often mounts begin, and how often a
//! cartridge that stayed was asked for again.

use super::{FreeDrive, MountPolicy};

/// What a library has seen so far, and what its mounts take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Mounts a second.
    pub mounts: f64,
    /// How often a cartridge that stays in its drive is asked for again, for each second that it stays.
    pub again: f64,
    /// From the drive to the first search, in seconds.
    pub before_s: f64,
    /// From the last read to an empty drive, in seconds.
    pub after_s: f64,
    /// Drives on their way to be empty.
    pub soon_empty: usize,
}

/// The drive whose cartridge goes home now, by its place in the list.
///
/// Enough drives are kept empty for the mounts that begin while one is emptied, and twice the standard
/// deviation of their number. Of the others the cartridge that has been idle for longest goes first.
pub fn take_home(policy: MountPolicy, drives: &[FreeDrive], pace: &Pace) -> Option<usize> {
    if policy != MountPolicy::Ahead {
        return None;
    }
    let empty = drives.iter().filter(|drive| !drive.loaded).count() + pace.soon_empty;
    let meanwhile = pace.mounts * pace.after_s;
    let enough = (meanwhile + 2.0 * meanwhile.sqrt()).ceil().max(1.0);
    if empty as f64 >= enough {
        return None;
    }
    let loaded = || (0..drives.len()).filter(|&place| drives[place].loaded);
    // The next mount takes one of these drives.
    let saved = pace.mounts * pace.after_s / loaded().count().max(1) as f64;
    if saved <= pace.again * pace.before_s {
        return None;
    }
    loaded().min_by_key(|&place| (drives[place].since, drives[place].drive))
}
