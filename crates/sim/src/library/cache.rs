//! The disk in front: it keeps what was read last.

use super::ids::CartridgeId;
use crate::scenario::Cache;
use std::collections::{BTreeMap, VecDeque};

/// A disk that keeps what was used last, by size. Without a size it keeps nothing.
pub(super) struct Disk {
    size_mb: f64,
    used_mb: f64,
    /// When each was used last, and its size.
    kept: BTreeMap<Key, (u64, f64)>,
    /// Uses in their order; one that was used again since stands here twice.
    uses: VecDeque<(Key, u64)>,
    clock: u64,
}

/// Cartridge, and the bits of the place on it.
type Key = (CartridgeId, u64);

impl Disk {
    pub(super) fn new(cache: Option<&Cache>) -> Disk {
        Disk {
            size_mb: cache.and_then(|cache| cache.size_gb).unwrap_or(0.0) * 1e3,
            used_mb: 0.0,
            kept: BTreeMap::new(),
            uses: VecDeque::new(),
            clock: 0,
        }
    }

    /// Whether it has what begins at a place; that counts as a use.
    pub(super) fn finds(&mut self, cartridge: CartridgeId, place: f64) -> bool {
        let key = (cartridge, place.to_bits());
        let clock = self.clock;
        let Some((used, _)) = self.kept.get_mut(&key) else {
            return false;
        };
        *used = clock;
        self.uses.push_back((key, clock));
        self.clock += 1;
        true
    }

    /// Keeps what was read, and lets go of what was used longest ago.
    pub(super) fn keep(&mut self, cartridge: CartridgeId, place: f64, size_mb: f64) {
        if size_mb > self.size_mb || self.size_mb == 0.0 {
            return;
        }
        let key = (cartridge, place.to_bits());
        let clock = self.clock;
        self.clock += 1;
        self.uses.push_back((key, clock));
        if let Some((_, old)) = self.kept.insert(key, (clock, size_mb)) {
            self.used_mb -= old;
        }
        self.used_mb += size_mb;
        while self.used_mb > self.size_mb {
            let Some((key, used)) = self.uses.pop_front() else {
                return;
            };
            if let Some(&(last, size)) = self.kept.get(&key)
                && last == used
            {
                self.kept.remove(&key);
                self.used_mb -= size;
            }
        }
    }
}
