//! What a cache is made of, and how full it is.

use super::disk::Disk;
use crate::catalogue::{CacheRecords, FileId, Holds};
use crate::kept::Kept;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How full a cache gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Water {
    /// It never holds more, reservations included.
    pub high_bytes: u64,
    /// When it would, files go until it holds no more than this, as far as there are any that may.
    pub low_bytes: u64,
}

pub(super) struct Inner {
    pub(super) disk: Box<dyn Disk>,
    pub(super) records: Arc<dyn CacheRecords>,
    pub(super) water: Water,
    pub(super) state: Mutex<State>,
    /// What transfers under way have reserved and not written yet: the disk does not know of it.
    pub(super) unwritten_bytes: AtomicU64,
    /// What the catalogue said that the cache holds.
    pub(super) holds: Kept<Holds>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) held_bytes: u64,
    pub(super) reserved_bytes: u64,
    pub(super) next_key: u64,
    /// When the catalogue was last asked how much is held, where others have the cache too.
    pub(super) looked_ns: Option<i64>,
    /// When files were last read: noted in the catalogue many at once, for a transaction per read would cost more than
    /// the read.
    pub(super) used_ns: HashMap<FileId, i64>,
}

impl Inner {
    /// Its numbers are changed last and at once, so a thread that panicked left them as they were.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
