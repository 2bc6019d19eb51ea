//! What becomes of the queue as it stands: which cartridge is mounted when, and when each recall is likely to be
//! answered.

use crate::catalogue::{Catalogue, FileId, Holds, Lease, OutOfUse, RequestId, VolumeQueue};
use crate::mover::{MoveError, OwnerShare, Settings};
use crate::pull_list::{Asking, Busy, Left, Planned, Pull, Schedule, Start, disabled, range};
use std::collections::{HashMap, HashSet};
use tapewise_model::Micros;
use tapewise_model::units::bytes;
use tapewise_sim::mounts::Owner;

/// What a plan may cost, in looks at a volume: a few seconds at most. That is enough for 10,000 recalls of few cartridges, or
/// for a thousand mounts if 5,000 cartridges are waited for.
const MOST_WORK: u64 = 5_000_000;

/// What becomes of the queue, if nothing joins it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forecast {
    /// What drives read now.
    pub busy: Vec<BusyDrive>,
    /// The cartridges, in the order in which they are mounted after that. If a drive is busy, it is until all that it
    /// has begun has been read.
    pub pulls: Vec<Pull>,
    /// The recalls that need a cartridge, in the order in which they are likely to be answered.
    pub recalls: Vec<Awaited>,
    /// Recalls that come after these: so long a queue is not planned to its end.
    pub beyond: usize,
    /// Volumes that are disabled, each with the recalls that wait until it is put into use again.
    pub disabled: Vec<(OutOfUse, Vec<RequestId>)>,
    /// Recalls into the cache that find no room there, as it is filled by those before them, until somebody releases files.
    pub without_room: HashSet<RequestId>,
    /// What keeps the cache full, in words; none if all find room.
    pub no_room: Option<String>,
    /// What each owner has of the drives now, and what holds some of the queue back.
    pub shares: Vec<OwnerShare>,
}

/// A cartridge that is being read. It stays in its drive until then, and nothing else is mounted there.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyDrive {
    /// The mover's lease on the drive; none where a process works alone, which does not tell its drives.
    pub lease: Option<Lease>,
    /// The cartridge's label.
    pub label: String,
    /// Whom it is read for.
    pub owner: Owner,
    /// Recalls that were begun and have no answer yet.
    pub recalls: usize,
    /// Bytes of these on this cartridge.
    pub bytes: u64,
    /// When the cartridge can be taken out of the drive, from now on, at most: as if a robot were about to fetch it.
    pub most: Micros,
}

/// When a recall is likely to be answered, from now on. It is planned twice: as if all drives were free now and no robot in
/// the way; and with the drives that work, all that they have begun still to be fetched and read, and each robot carrying
/// one cartridge after the other. How far drives are is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The recall.
    pub request: RequestId,
    /// The sooner of both plans, if everything goes faster than predicted; for what a drive has begun, now.
    pub soonest: Micros,
    /// The later of both, if everything takes longer.
    pub latest: Micros,
    /// The file and its bytes, if it goes into the cache and nowhere else.
    pub to_cache: Option<(FileId, u64)>,
}

impl Forecast {
    /// The forecast for the queue, as the mover goes about it. `asking` names no files, and the cache holds at most
    /// `cache_bytes`.
    ///
    /// # Errors
    /// As for [`pull_list`](crate::pull_list::pull_list).
    pub fn of(
        catalogue: &dyn Catalogue,
        asking: Asking<'_>,
        cache_bytes: u64,
        settings: &Settings,
    ) -> Result<Forecast, MoveError> {
        let of_all = Forecast::within(MOST_WORK, catalogue, asking, settings, &HashSet::new())?;
        let cache = catalogue.cache_holds(asking.now_ns)?;
        let without_room = of_all.without_room(cache_bytes, &cache);
        if without_room.is_empty() {
            return Ok(of_all);
        }
        let no_room = format!(
            "the cache of {} will be full until files are released; now it keeps {} for requests, and {} that are not on \
             tape yet",
            bytes(cache_bytes),
            bytes(cache.pinned_bytes),
            bytes(cache.dirty_bytes)
        );
        // No cartridge is mounted for these.
        let forecast = Forecast::within(MOST_WORK, catalogue, asking, settings, &without_room)?;
        Ok(Forecast {
            without_room,
            no_room: Some(no_room),
            // They wait all the same.
            shares: of_all.shares,
            ..forecast
        })
    }

    /// Recalls that find no room in the cache, as it is filled by those before them.
    fn without_room(&self, cache_bytes: u64, cache: &Holds) -> HashSet<RequestId> {
        let kept = cache.dirty_bytes.saturating_add(cache.pinned_bytes);
        let mut room = cache_bytes.saturating_sub(kept);
        let (mut comes, mut without_room) = (HashSet::new(), HashSet::new());
        for one in &self.recalls {
            // One that is longer than the whole cache is refused when it is read.
            let to_cache = one.to_cache.filter(|(_, length)| *length <= cache_bytes);
            let Some((file, length)) = to_cache.filter(|(file, _)| !comes.contains(file)) else {
                continue;
            };
            if length <= room {
                room -= length;
                comes.insert(file);
            } else {
                without_room.insert(one.request);
            }
        }
        without_room
    }

    /// A forecast that may cost so much, in looks at a volume, without some of the recalls.
    fn within(
        most_work: u64,
        catalogue: &dyn Catalogue,
        asking: Asking<'_>,
        settings: &Settings,
        without: &HashSet<RequestId>,
    ) -> Result<Forecast, MoveError> {
        let schedule = Schedule {
            catalogue,
            settings,
            asking,
            most_work,
        };
        let queue = catalogue.recall_queue()?;
        let disabled = disabled(catalogue, queue.disabled)?;
        let mut left = Left::default();
        let mut to_cache = HashMap::new();
        let mut note = |queue: &VolumeQueue| {
            let waiting = queue.waiting.iter().filter(|one| one.place.is_none());
            to_cache.extend(waiting.map(|one| (one.request, (one.file, one.file_bytes))));
        };
        let mut volumes = queue.volumes;
        for queue in volumes.iter_mut().filter(|_| !without.is_empty()) {
            queue.waiting.retain(|one| !without.contains(&one.request));
        }
        volumes.retain(|queue| !queue.waiting.is_empty());
        volumes.iter().for_each(&mut note);
        left.add(volumes);
        let shares = schedule.shares(&left)?;
        let free = schedule.of(left.clone(), Start::AllFree)?;
        let busy = schedule.add_begun(&mut left)?;
        let mut is_begun = HashSet::new();
        for queue in busy.iter().map(|drive| &drive.reading.queue) {
            note(queue);
            is_begun.extend(queue.requests());
        }
        let Planned {
            pulls,
            answered,
            mut beyond,
        } = schedule.of(left, Start::AsNow(&busy))?;
        let mut in_order: Vec<(RequestId, Micros)> = answered.into_iter().collect();
        in_order.sort_by_key(|&(request, at)| (at, request));
        let mut recalls = Vec::with_capacity(in_order.len());
        for (request, begun) in in_order {
            let at_best = free.answered.get(&request).copied();
            // The plan with all drives free may have ended before it.
            if at_best.is_none() && free.beyond > 0 && !is_begun.contains(&request) {
                beyond += 1;
                continue;
            }
            let (soonest, latest) = range(at_best.unwrap_or(Micros::ZERO), begun);
            recalls.push(Awaited {
                request,
                soonest,
                latest,
                to_cache: to_cache.get(&request).copied(),
            });
        }
        Ok(Forecast {
            busy: busy.into_iter().map(BusyDrive::from).collect(),
            pulls,
            recalls,
            beyond,
            disabled,
            shares,
            ..Forecast::default()
        })
    }
}

impl From<Busy> for BusyDrive {
    fn from(Busy { reading, times }: Busy) -> BusyDrive {
        let waiting = &reading.queue.waiting;
        let bytes = waiting.iter().flat_map(|one| &one.segments);
        let bytes = bytes.map(|segment| segment.bytes);
        BusyDrive {
            owner: reading.owner(),
            recalls: waiting.len(),
            bytes: bytes.fold(0, u64::saturating_add),
            most: times.all,
            lease: reading.lease,
            label: reading.queue.label,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{
        FileId, NewRecall, Recorded, Requests, SqliteCatalogue, Terms, Volumes,
    };
    use crate::record::{self, File, Segment, Volume, VolumeFormat, VolumeState};
    use tapewise_model::profile;

    /// Files 1 to 20, two on each of ten volumes.
    fn catalogue() -> SqliteCatalogue {
        let catalogue = SqliteCatalogue::in_memory().expect("a catalogue");
        for number in 0..10 {
            let volume = Volume {
                label: format!("T{number:05}L8"),
                uuid: number.to_string(),
                format: VolumeFormat::Tar,
                state: VolumeState::Full,
                block_bytes: 262_144,
                next_block: 1_000_000,
                written_bytes: 0,
            };
            let file = |which: u64| Recorded {
                file: File {
                    path: format!("{number}/{which}").into_bytes(),
                    bytes: 1_000_000_000,
                    modified_ns: 0,
                    mode: 0o644,
                    sums: Vec::new(),
                },
                owner: record::Owner::default(),
                zstd_bytes: None,
                segments: vec![Segment {
                    partition: 0,
                    first_block: 10_000 * (number + 20 * which),
                    last_block: 10_000 * (number + 20 * which) + 3_800,
                    byte_offset: 0,
                    bytes: 1_000_000_000,
                    file_offset: 0,
                    start: None,
                    end: None,
                }],
            };
            let added = catalogue.add_recorded(&volume, &[file(0), file(1)], 1);
            added.expect("added");
        }
        catalogue
    }

    /// Files of 1 GB: 3 wait for the cache, and one for a directory.
    #[test]
    fn recalls_that_find_no_room_in_the_cache_have_no_time() {
        let catalogue = catalogue();
        let recalls = (1..=4).map(|file| NewRecall {
            file: FileId(file),
            terms: Terms::default(),
            destination: (file == 2).then(|| b"/elsewhere".to_vec()),
        });
        let recalls: Vec<NewRecall> = recalls.collect();
        let asked = catalogue.submit(&recalls, 2).expect("asked");
        // Somebody else asks for the first one too.
        let again = catalogue.submit(&recalls[..1], 3).expect("asked")[0];
        let settings = Settings::of(profile::find("lto8").expect("a profile"));
        let asking = Asking {
            files: &[],
            now_ns: 4,
            drives: 1,
            robots: 1,
        };
        let of = |cache_bytes| {
            Forecast::of(&catalogue, asking, cache_bytes, &settings).expect("a forecast")
        };
        let all = of(3_000_000_000);
        assert_eq!((all.recalls.len(), all.without_room.len()), (5, 0));
        let some = of(2_999_999_999);
        let last = all.recalls.iter().rfind(|one| one.to_cache.is_some());
        let last = last.expect("a recall").request;
        assert_eq!(some.without_room, HashSet::from([last]));
        assert_eq!(some.recalls.len(), 4);
        assert_ne!(last, again);
        let none = of(1_000_000_000);
        let with_time: Vec<RequestId> = none.recalls.iter().map(|one| one.request).collect();
        assert_eq!(with_time.len(), 3, "one file for two, and a directory");
        assert_eq!(none.shares[0].waiting, 5);
        assert!(
            none.pulls.len() < all.pulls.len(),
            "nothing is mounted for the rest"
        );
        assert!(with_time.contains(&asked[1]));
        // A cache of no use holds nothing up: the recall fails.
        assert_eq!(of(10).without_room, HashSet::new());
    }

    #[test]
    fn a_plan_that_costs_too_much_ends_early_and_says_how_many_come_after_it() {
        let catalogue = catalogue();
        let recalls = (1..=20).map(|file| NewRecall {
            file: FileId(file),
            terms: Terms::default(),
            destination: None,
        });
        let recalls: Vec<NewRecall> = recalls.collect();
        let asked = catalogue.submit(&recalls, 2).expect("asked");
        // A drive has begun with one of them.
        catalogue.start(&asked[..1], 3).expect("begun");
        let settings = Settings::of(profile::find("lto8").expect("a profile"));
        let asking = Asking {
            files: &[],
            now_ns: 4,
            drives: 2,
            robots: 1,
        };
        let within = |most_work| {
            Forecast::within(most_work, &catalogue, asking, &settings, &HashSet::new())
                .expect("a forecast")
        };
        let all = within(u64::MAX);
        assert_eq!((all.recalls.len(), all.beyond), (20, 0));
        // A mount of two recalls costs 1,000 and a look at each volume.
        let some = within(2_500);
        assert_eq!(some.pulls[..], all.pulls[..some.pulls.len()]);
        assert!((2..5).contains(&some.pulls.len()), "{}", some.pulls.len());
        assert_eq!(some.recalls.len() + some.beyond, 20);
        for one in &some.recalls {
            assert!(all.recalls.contains(one), "{one:?}");
        }
        assert_eq!(some.recalls[0].request, asked[0], "what a drive reads");
        let none = within(0);
        assert_eq!(
            (none.pulls.len(), none.recalls.len(), none.beyond),
            (0, 1, 19)
        );
    }
}
