//! Which cartridges drives read now, as far as the catalogue knows it.
//!
//! A mover that shares its archive has a lease on its drive and on the cartridge in it. A process that works alone has
//! none: what it has begun is taken to be on the cartridges that hold most of it.

use crate::catalogue::{Lease, RecallQueue, RequestId, VolumeQueue};
use std::cmp::Reverse;
use std::collections::HashSet;
use tapewise_sim::mounts::Owner;

/// A cartridge in a drive, with the recalls that were begun for it and have no answer yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// The lease of the mover that has it; none of a process that works alone.
    pub lease: Option<Lease>,
    /// The recalls. How far the drive is with them is not known.
    pub queue: VolumeQueue,
}

impl Reading {
    /// Whom it is read for: who asked for the oldest of its recalls.
    pub fn owner(&self) -> Owner {
        let waiting = self.queue.waiting.iter();
        let oldest = waiting.min_by_key(|one| (one.created_ns, one.request));
        oldest.map(|one| one.owner.clone()).unwrap_or_default()
    }
}

/// What drives read of all that was `begun`: by the `leases` that are in force. If no mover has a drive, one process works
/// alone, for which idle movers wait. Each of its `drives` then reads the cartridge that holds most of what no other one reads.
pub(crate) fn readings(leases: &[Lease], begun: &RecallQueue, drives: usize) -> Vec<Reading> {
    let mut seen = HashSet::new();
    let mut readings: Vec<Reading> = Vec::new();
    let mut reads = |lease: Option<Lease>, queue: VolumeQueue, seen: &mut HashSet<RequestId>| {
        let is_one = !queue.waiting.is_empty();
        if is_one {
            seen.extend(queue.waiting.iter().map(|one| one.request));
            readings.push(Reading { lease, queue });
        }
        is_one
    };
    for lease in leases {
        let mut volumes = begun.volumes.iter();
        if let Some(queue) = volumes.find(|queue| lease.volume == Some(queue.volume)) {
            reads(Some(lease.clone()), without(queue, &seen), &mut seen);
        }
    }
    let is_alone = leases.iter().all(Lease::is_desk);
    let alone = if is_alone { drives } else { 0 };
    for _ in 0..alone {
        let queues = begun.volumes.iter().map(|queue| without(queue, &seen));
        let most = queues.min_by_key(|queue| (Reverse(queue.waiting.len()), queue.volume));
        if !most.is_some_and(|queue| reads(None, queue, &mut seen)) {
            break;
        }
    }
    readings
}

/// What of a volume no drive is known to read.
fn without(queue: &VolumeQueue, seen: &HashSet<RequestId>) -> VolumeQueue {
    let waiting = queue.waiting.iter();
    let waiting = waiting.filter(|one| !seen.contains(&one.request));
    VolumeQueue {
        waiting: waiting.cloned().collect(),
        ..queue.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{FileId, Holder, VolumeId, Waiting};

    fn lease(drive: &str, volume: Option<i64>) -> Lease {
        Lease {
            epoch: 1,
            drive: drive.to_owned(),
            volume: volume.map(VolumeId),
            holder: Holder {
                host: "one".to_owned(),
                process: 1,
                run: "a".to_owned(),
            },
            until_ns: 9,
        }
    }

    fn waiting(request: i64) -> Waiting {
        Waiting {
            request: RequestId(request),
            file: FileId(request),
            number: 1,
            owner: Owner {
                user: format!("user {request}"),
                ..Owner::default()
            },
            place: None,
            priority: 0,
            deadline_ns: None,
            created_ns: 10 - request,
            file_bytes: 1,
            zstd_bytes: None,
            segments: Vec::new(),
        }
    }

    fn begun(volumes: &[(i64, &[i64])]) -> RecallQueue {
        let volumes = volumes.iter().map(|&(volume, requests)| VolumeQueue {
            volume: VolumeId(volume),
            label: format!("T0000{volume}"),
            waiting: requests.iter().map(|&request| waiting(request)).collect(),
        });
        RecallQueue {
            volumes: volumes.collect(),
            ..RecallQueue::default()
        }
    }

    fn told(readings: &[Reading]) -> Vec<(Option<&str>, i64, Vec<i64>)> {
        let told = readings.iter().map(|Reading { lease, queue }| {
            let drive = lease.as_ref().map(|lease| lease.drive.as_str());
            let requests = queue.waiting.iter().map(|one| one.request.0);
            (drive, queue.volume.0, requests.collect())
        });
        told.collect()
    }

    #[test]
    fn leases_tell_what_is_in_which_drive_and_each_recall_counts_once() {
        let begun = begun(&[(1, &[1, 2]), (2, &[2, 3]), (3, &[4])]);
        let leases = [
            lease("D1", Some(2)),
            lease("D2", None),
            lease("D3", Some(1)),
            // It is being written.
            lease("D4", Some(7)),
        ];
        let readings = readings(&leases, &begun, 9);
        let expected = [(Some("D1"), 2, vec![2, 3]), (Some("D3"), 1, vec![1])];
        assert_eq!(told(&readings), expected);
        assert_eq!(readings[0].owner().user, "user 3", "who asked first");
    }

    #[test]
    fn without_leases_each_drive_reads_the_cartridge_with_most_of_the_rest() {
        let begun = begun(&[(1, &[1]), (2, &[1, 2, 3]), (3, &[3, 4]), (4, &[5])]);
        let two = readings(&[], &begun, 2);
        assert_eq!(told(&two), [(None, 2, vec![1, 2, 3]), (None, 3, vec![4])]);
        // An idle mover has a lease on itself.
        let idle = lease("mover 1@one", None);
        assert_eq!(readings(&[idle], &begun, 2), two);
        let nothing = readings(&[], &RecallQueue::default(), 2);
        assert_eq!(nothing, []);
    }
}
