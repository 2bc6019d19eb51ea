//! Copies that were read wrongly, and are read again before they are given up: in the same drive, then in
//! another one where there is one. A head that needs cleaning, or a path that drops a bit, is not the tape.

use crate::catalogue::FileId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A copy: its file, and its number.
pub(super) type CopyKey = (FileId, u32);

/// How often copies were read wrongly that are not decided yet.
#[derive(Default)]
pub(super) struct Doubts(Mutex<HashMap<CopyKey, u32>>);

/// What follows from a wrong read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It is read again.
    Again,
    /// It is decided: the copy is as it was read.
    Decided,
}

impl Doubts {
    fn counts(&self) -> MutexGuard<'_, HashMap<CopyKey, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a wrong read of a copy, out of the number of times that it is read.
    pub fn wrong(&self, copy: CopyKey, reads: u32) -> Next {
        let mut counts = self.counts();
        let count = counts.entry(copy).or_insert(0);
        *count += 1;
        if *count < reads {
            return Next::Again;
        }
        counts.remove(&copy);
        Next::Decided
    }

    /// It was read right.
    pub fn right(&self, copy: CopyKey) {
        self.counts().remove(&copy);
    }

    /// The copies that nobody decided.
    pub fn left(&self) -> Vec<CopyKey> {
        let mut left: Vec<CopyKey> = self.counts().keys().copied().collect();
        left.sort_unstable();
        left
    }
}

/// Reads until a copy is decided: twice in one drive, and a third time in another one where there is one.
pub(super) fn reads(drives: usize) -> u32 {
    match drives {
        0 | 1 => 2,
        _ => 3,
    }
}
