//! What waits, as it was read a moment ago, with what has come since.
//!
//! Where very much waits, to read the whole queue takes longer than anything else that a choice needs. So it is kept for
//! some times as long as it took to be read: a short queue is read nearly each time. What a drive is to read is looked
//! up again before it is claimed ([`Kept::still_waits`]).

use crate::catalogue::{FileId, RecallQueue, RequestId, Requests, Result, VolumeQueue, Waiting};
use crate::mover::wanted::{WantedVolume, WantedVolumes};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// For how many times as long as it took to be read a queue is kept, and for how long at most. Until then what other movers
/// put back is not seen.
const TIMES: i64 = 10;
const LONGEST_NS: i64 = 600_000_000_000;

/// The queue of recalls, for all drives of a mover.
pub(super) struct Kept<'a> {
    catalogue: &'a dyn Requests,
    now_ns: &'a (dyn Fn() -> i64 + Sync),
    reading: Mutex<Option<Reading>>,
}

/// What was read.
struct Reading {
    wanted: WantedVolumes,
    /// What needs no tape, and what cannot be served.
    at_hand: Vec<(RequestId, FileId)>,
    stranded: Vec<(RequestId, FileId)>,
    /// The newest request that was seen.
    newest: RequestId,
    began_ns: i64,
    until_ns: i64,
    /// It has been used before.
    is_old: bool,
}

impl<'a> Kept<'a> {
    /// Nothing has been read yet.
    pub fn new(catalogue: &'a dyn Requests, now_ns: &'a (dyn Fn() -> i64 + Sync)) -> Kept<'a> {
        Kept {
            catalogue,
            now_ns,
            reading: Mutex::default(),
        }
    }

    /// The newest request that was seen so far; what came until then is among what waits.
    pub fn newest(&self) -> RequestId {
        let kept = self.lock();
        kept.as_ref().map_or(RequestId(0), |reading| reading.newest)
    }

    /// What waits for volumes.
    pub fn volumes(&self) -> Result<Vec<WantedVolume>> {
        self.with(|reading| reading.wanted.volumes().cloned().collect())
    }

    /// What needs no tape or cannot be served, which is given only once.
    pub fn take_at_hand(&self) -> Result<RecallQueue> {
        self.with(|reading| RecallQueue {
            at_hand: std::mem::take(&mut reading.at_hand),
            stranded: std::mem::take(&mut reading.stranded),
            ..RecallQueue::default()
        })
    }

    /// Whether all of a queue still waits as it stands there. Else what is kept is corrected.
    pub fn still_waits(&self, chosen: &VolumeQueue) -> Result<bool> {
        let mut kept = self.lock();
        let Some(reading) = kept.as_mut().filter(|reading| reading.is_old) else {
            return Ok(true);
        };
        let asked = chosen.requests();
        let now = self.catalogue.recalls_among(&asked)?;
        let mut waits: HashMap<RequestId, Vec<&Waiting>> = HashMap::new();
        let of_volume = now.volumes.iter().find(|one| one.volume == chosen.volume);
        for one in of_volume.iter().flat_map(|queue| &queue.waiting) {
            waits.entry(one.request).or_default().push(one);
        }
        let waits = |one: &Waiting| {
            waits
                .get(&one.request)
                .is_some_and(|now| now.contains(&one))
        };
        let still = chosen.waiting.iter().all(waits);
        if !still {
            reading.replace(&asked, now);
        }
        Ok(still)
    }

    /// Some of these recalls may wait again.
    pub fn look_again(&self, requests: &[RequestId]) -> Result<()> {
        if let Some(reading) = &mut *self.lock() {
            let now = self.catalogue.recalls_among(requests)?;
            reading.replace(requests, now);
        }
        Ok(())
    }

    /// Recalls that are begun with wait no more.
    pub fn remove(&self, begun: &[RequestId]) {
        if let Some(reading) = &mut *self.lock() {
            reading.remove(begun);
        }
    }

    /// All is read again the next time.
    pub fn forget(&self) {
        *self.lock() = None;
    }

    /// As [`Kept::forget`], unless it has just been read; whether it was.
    pub fn forget_old(&self) -> bool {
        let mut kept = self.lock();
        kept.take_if(|reading| reading.is_old).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Reading>> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses the queue, with what has come since it was read.
    fn with<T>(&self, used: impl FnOnce(&mut Reading) -> T) -> Result<T> {
        let mut kept = self.lock();
        let now_ns = (self.now_ns)();
        let is_kept = |reading: &Reading| (reading.began_ns..reading.until_ns).contains(&now_ns);
        if kept.as_ref().is_some_and(is_kept)
            && let Some(reading) = &mut *kept
        {
            let newer = self.catalogue.recalls_after(reading.newest)?;
            reading.newest = newer.newest;
            reading.add(newer);
            reading.is_old = true;
            return Ok(used(reading));
        }
        // If it cannot be read, nothing is kept.
        *kept = None;
        let queue = self.catalogue.recall_queue()?;
        let read_ns = (self.now_ns)();
        let took_ns = read_ns.saturating_sub(now_ns);
        let reading = kept.insert(Reading {
            wanted: WantedVolumes::default(),
            at_hand: Vec::new(),
            stranded: Vec::new(),
            newest: queue.newest,
            began_ns: now_ns,
            until_ns: read_ns.saturating_add(took_ns.saturating_mul(TIMES).min(LONGEST_NS)),
            is_old: false,
        });
        reading.add(queue);
        Ok(used(reading))
    }
}

impl Reading {
    /// Takes recalls out.
    fn remove(&mut self, requests: &[RequestId]) {
        let gone: HashSet<RequestId> = requests.iter().copied().collect();
        for list in [&mut self.at_hand, &mut self.stranded] {
            list.retain(|(request, _)| !gone.contains(request));
        }
        self.wanted.remove(gone);
    }

    /// What is known of some recalls now takes the place of what was.
    fn replace(&mut self, requests: &[RequestId], now: RecallQueue) {
        self.remove(requests);
        self.add(now);
    }

    /// Adds recalls that are not there yet.
    fn add(&mut self, newer: RecallQueue) {
        self.wanted.add(newer.volumes);
        self.at_hand.extend(newer.at_hand);
        self.stranded.extend(newer.stranded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{FileId, NewRecall, Recorded, SqliteCatalogue, Terms, Volumes};
    use crate::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
    use std::sync::atomic::{AtomicI64, Ordering};

    /// Files 1 to 9 on one volume.
    fn catalogue() -> SqliteCatalogue {
        let volume = Volume {
            label: "A00001L8".to_owned(),
            uuid: "a".to_owned(),
            format: VolumeFormat::Tar,
            state: VolumeState::Full,
            block_bytes: 1000,
            next_block: 2,
            written_bytes: 0,
        };
        let file = |number: u64| Recorded {
            file: File {
                path: number.to_string().into_bytes(),
                bytes: 10,
                modified_ns: 0,
                mode: 0o644,
                sums: Vec::new(),
            },
            owner: Owner::default(),
            zstd_bytes: None,
            segments: vec![Segment {
                partition: 0,
                first_block: number,
                last_block: number,
                byte_offset: 0,
                bytes: 10,
                file_offset: 0,
                start: None,
                end: None,
            }],
        };
        let files: Vec<Recorded> = (1..10).map(file).collect();
        let catalogue = SqliteCatalogue::in_memory().expect("a catalogue");
        catalogue.add_recorded(&volume, &files, 1).expect("added");
        catalogue
    }

    fn ask(catalogue: &SqliteCatalogue, file: i64) -> RequestId {
        let recall = NewRecall {
            file: FileId(file),
            terms: Terms::default(),
            destination: None,
        };
        catalogue.submit(&[recall], 2).expect("asked")[0]
    }

    fn waiting(kept: &Kept<'_>) -> Vec<RequestId> {
        let volumes = kept.volumes().expect("a queue").into_iter();
        volumes
            .flat_map(|wanted| wanted.queue().requests())
            .collect()
    }

    #[test]
    fn what_takes_no_time_to_be_read_is_read_each_time() {
        let (catalogue, now) = (catalogue(), || 7);
        let kept = Kept::new(&catalogue, &now);
        let first = ask(&catalogue, 1);
        assert_eq!(waiting(&kept), [first]);
        catalogue.start(&[first], 3).expect("begun");
        assert!(waiting(&kept).is_empty());
        catalogue.requeue(&[first]).expect("put back");
        assert_eq!(waiting(&kept), [first]);
        assert!(!kept.forget_old());
    }

    /// Each look at the clock takes a second, so that the queue takes one to be read, and is kept for ten.
    #[test]
    fn of_what_takes_long_to_be_read_only_what_is_new_is_read_for_a_while() {
        const S: i64 = 1_000_000_000;
        let (catalogue, clock) = (catalogue(), AtomicI64::new(0));
        let now = || clock.fetch_add(S, Ordering::Relaxed);
        let kept = Kept::new(&catalogue, &now);
        let [a, b] = [1, 2].map(|file| ask(&catalogue, file));
        let chosen = kept.volumes().expect("a queue")[0].queue().clone();
        assert!(kept.still_waits(&chosen).expect("an answer"));
        // Another mover takes one of them, and what is chosen by what is kept is looked up again.
        catalogue.start(&[a], 3).expect("begun");
        assert_eq!(waiting(&kept), [a, b]);
        assert!(!kept.still_waits(&chosen).expect("an answer"));
        assert_eq!(waiting(&kept), [b]);
        let chosen = kept.volumes().expect("a queue")[0].queue().clone();
        assert!(kept.still_waits(&chosen).expect("an answer"));
        // It puts it back, which is not seen yet; what is new is.
        catalogue.requeue(&[a]).expect("put back");
        let c = ask(&catalogue, 3);
        assert_eq!(waiting(&kept), [b, c]);
        kept.look_again(&[a]).expect("looked");
        assert_eq!(waiting(&kept), [a, b, c]);
        kept.remove(&[a, b]);
        assert_eq!(waiting(&kept), [c]);
        clock.store(20 * S, Ordering::Relaxed);
        assert_eq!(waiting(&kept), [a, b, c]);
        // Before somebody concludes that nothing waits all is read again, but not twice.
        assert!(!kept.forget_old());
        kept.remove(&[a, b, c]);
        assert!(waiting(&kept).is_empty());
        assert!(kept.forget_old());
        assert_eq!(waiting(&kept), [a, b, c]);
        // A clock that was set back is no reason to keep it longer.
        catalogue.start(&[a, b], 4).expect("begun");
        clock.store(0, Ordering::Relaxed);
        assert_eq!(waiting(&kept), [c]);
    }
}
