//! What drives have done since a recall began, for those that have nothing to do.

use crate::catalogue::{VolumeId, VolumeQueue};
use std::collections::HashMap;
use tapewise_model::Micros;
use tapewise_sim::mounts::Left;

/// What the drives have done since the recall began.
#[derive(Default)]
pub(super) struct Seen {
    mounts: u64,
    left: Left,
    numbers: HashMap<VolumeId, u32>,
}

impl Seen {
    /// A drive begins with what waits for a volume, which may be in it already.
    pub fn begin(&mut self, queue: &VolumeQueue, is_here: bool) {
        self.mounts += u64::from(!is_here);
        let oldest_ns = queue.waiting.iter().map(|one| one.created_ns).min();
        if let Some(oldest_ns) = oldest_ns {
            let number = self.number(queue.volume);
            self.left.ask(number, Micros(oldest_ns / 1000));
        }
    }

    /// A drive has read what it has begun with.
    pub fn read(&mut self, volume: VolumeId, now_ns: i64) {
        let number = self.number(volume);
        self.left.leave(number, Micros(now_ns / 1000));
    }

    /// Mounts so far.
    pub fn mounts(&self) -> u64 {
        self.mounts
    }

    /// How often a cartridge is asked for again in each second after its last read.
    pub fn again_per_s(&self) -> f64 {
        self.left.again_per_s()
    }

    fn number(&mut self, volume: VolumeId) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(volume).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{FileId, RequestId, Waiting};

    fn queue(volume: i64, created_ns: i64) -> VolumeQueue {
        let waiting = Waiting {
            request: RequestId(1),
            file: FileId(1),
            number: 1,
            owner: Default::default(),
            place: None,
            priority: 0,
            deadline_ns: None,
            created_ns,
            file_bytes: 1,
            zstd_bytes: None,
            segments: Vec::new(),
        };
        VolumeQueue {
            volume: VolumeId(volume),
            label: format!("TW{volume:04}"),
            waiting: vec![waiting],
        }
    }

    #[test]
    fn a_volume_whose_requests_waited_when_its_last_mount_ended_was_not_asked_for_again() {
        const S: i64 = 1_000_000_000;
        let mut seen = Seen::default();
        for volume in [7, 1_000_000_000_000] {
            seen.begin(&queue(volume, S), false);
            seen.read(VolumeId(volume), 100 * S);
        }
        seen.begin(&queue(7, 50 * S), true);
        assert_eq!((seen.mounts, seen.again_per_s()), (2, 0.0));
        seen.begin(&queue(1_000_000_000_000, 160 * S), false);
        assert_eq!((seen.mounts, seen.again_per_s()), (3, 1.0 / 600.0));
    }
}
