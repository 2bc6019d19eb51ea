//! What waits for volumes, as a choice among them needs it: shared instead of copied, and with sums for each owner, so
//! that a choice among millions of recalls looks at few of them.

use crate::catalogue::{RequestId, VolumeId, VolumeQueue, Waiting};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use tapewise_model::Micros;
use tapewise_sim::mounts::{self, Asked, MediumId, Owner, OwnerId};

/// What waits for a volume. A clone shares it.
#[derive(Clone, Debug)]
pub(crate) struct WantedVolume(Arc<Summed>);

#[derive(Clone, Debug)]
struct Summed {
    queue: VolumeQueue,
    /// Made when somebody asks.
    sums: OnceLock<Sums>,
}

/// What the recalls of a volume come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// Of each owner, in order of owners.
    pub of_owners: Vec<(Owner, mounts::Waiting)>,
    /// Whether some recall waits for a later part of its file.
    pub has_later_parts: bool,
    /// Length of the longest file that is to go into the cache, and of which nothing has come.
    pub longest_to_cache: u64,
}

impl Sums {
    fn of(recalls: &[Waiting]) -> Sums {
        let mut sums = Sums::default();
        recalls.iter().for_each(|one| sums.add(one));
        sums
    }

    fn add(&mut self, one: &Waiting) {
        let asked = asked(OwnerId::default(), one);
        let place = (self.of_owners).binary_search_by(|(owner, _)| owner.cmp(&one.owner));
        let place = place.unwrap_or_else(|place| {
            let nobody = mounts::Waiting::nobody(0, MediumId(0));
            self.of_owners.insert(place, (one.owner.clone(), nobody));
            place
        });
        self.of_owners[place].1.add_asked(&asked);
        if one.has_begun() {
            self.has_later_parts = true;
        } else if one.place.is_none() {
            self.longest_to_cache = self.longest_to_cache.max(one.file_bytes);
        }
    }
}

impl WantedVolume {
    /// What waits for the volume.
    pub fn queue(&self) -> &VolumeQueue {
        &self.0.queue
    }

    /// The volume's label.
    pub fn label(&self) -> &str {
        &self.0.queue.label
    }

    /// What it comes to.
    pub fn sums(&self) -> &Sums {
        (self.0.sums).get_or_init(|| Sums::of(&self.0.queue.waiting))
    }

    /// Without recalls that are not to be seen; none if none are left.
    pub fn keeping(self, keep: impl Fn(&Waiting) -> bool) -> Option<WantedVolume> {
        let mut waiting = self.0.queue.waiting.iter();
        if waiting.all(&keep) {
            return Some(self);
        }
        let waiting = self.0.queue.waiting.iter().filter(|one| keep(one));
        let waiting: Vec<Waiting> = waiting.cloned().collect();
        let queue = VolumeQueue {
            waiting,
            label: self.label().to_owned(),
            ..*self.queue()
        };
        (!queue.waiting.is_empty()).then(|| queue.into())
    }

    /// Adds recalls.
    pub fn add(&mut self, more: Vec<Waiting>) {
        let Summed { queue, sums } = Arc::make_mut(&mut self.0);
        if let Some(sums) = sums.get_mut() {
            more.iter().for_each(|one| sums.add(one));
        }
        queue.waiting.extend(more);
        let age = |one: &Waiting| (one.created_ns, one.request);
        if !queue.waiting.is_sorted_by_key(age) {
            queue.waiting.sort_by_key(age);
        }
    }

    /// Takes recalls out; whether any are left.
    fn remove(&mut self, gone: &HashSet<RequestId>) -> bool {
        let Summed { queue, sums } = Arc::make_mut(&mut self.0);
        *sums = OnceLock::new();
        queue.waiting.retain(|one| !gone.contains(&one.request));
        !queue.waiting.is_empty()
    }
}

impl From<VolumeQueue> for WantedVolume {
    fn from(queue: VolumeQueue) -> WantedVolume {
        WantedVolume(Arc::new(Summed {
            queue,
            sums: OnceLock::new(),
        }))
    }
}

/// A request as the policies know it. Requests of one moment are in the order of their numbers.
pub(super) fn asked(owner: OwnerId, waiting: &Waiting) -> Asked {
    let bytes = waiting.segments.iter().map(|segment| segment.bytes);
    Asked {
        owner,
        number: waiting.request.0 as u64,
        arrived: micros(waiting.created_ns),
        size_mb: bytes.fold(0, u64::saturating_add) as f64 / 1e6,
        // Steps of urgency below zero count too; beyond a hundred none does.
        priority: (waiting.priority.clamp(-100, 100) + 100) as u8,
    }
}

pub(super) fn micros(ns: i64) -> Micros {
    Micros(ns / 1000)
}

/// What waits for all volumes, in the order in which these came into the archive.
#[derive(Clone, Debug, Default)]
pub(crate) struct WantedVolumes {
    volumes: BTreeMap<VolumeId, WantedVolume>,
    /// For which volumes each recall waits.
    of: BTreeSet<(RequestId, VolumeId)>,
}

impl WantedVolumes {
    /// By volume.
    pub fn volumes(&self) -> impl ExactSizeIterator<Item = &WantedVolume> {
        self.volumes.values()
    }

    /// How many recalls wait, each counted once.
    pub fn recalls(&self) -> usize {
        let all: Vec<RequestId> = self.of.iter().map(|(request, _)| *request).collect();
        all.chunk_by(PartialEq::eq).count()
    }

    /// Adds recalls that it does not have yet.
    pub fn add(&mut self, queues: Vec<VolumeQueue>) {
        let added = queues.iter().flat_map(|queue| {
            let requests = queue.waiting.iter().map(|one| one.request);
            requests.map(|request| (request, queue.volume))
        });
        if self.of.is_empty() {
            // From a list it is made much sooner than one by one.
            self.of = added.collect();
        } else {
            self.of.extend(added);
        }
        for queue in queues {
            match self.volumes.entry(queue.volume) {
                Entry::Occupied(mut there) => there.get_mut().add(queue.waiting),
                Entry::Vacant(new) => {
                    new.insert(queue.into());
                }
            }
        }
    }

    /// Takes recalls out, wherever they wait.
    pub fn remove(&mut self, requests: impl IntoIterator<Item = RequestId>) {
        let mut gone: HashMap<VolumeId, HashSet<RequestId>> = HashMap::new();
        for request in requests {
            let all = (request, VolumeId(i64::MIN))..=(request, VolumeId(i64::MAX));
            let found: Vec<_> = self.of.range(all).copied().collect();
            for (request, volume) in found {
                self.of.remove(&(request, volume));
                gone.entry(volume).or_default().insert(request);
            }
        }
        for (volume, gone) in gone {
            if let Entry::Occupied(mut there) = self.volumes.entry(volume)
                && !there.get_mut().remove(&gone)
            {
                there.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::FileId;
    use crate::record::Segment;
    use proptest::prelude::*;

    fn waiting(request: i64, owner: u8, bytes: u64, file_offset: u64) -> Waiting {
        Waiting {
            request: RequestId(request),
            file: FileId(request),
            number: 1,
            owner: Owner {
                user: owner.to_string(),
                ..Owner::default()
            },
            place: (owner == 0).then(|| b"/d".to_vec()),
            priority: i64::from(owner),
            deadline_ns: None,
            created_ns: request / 2 * 1000,
            file_bytes: bytes + file_offset,
            zstd_bytes: None,
            segments: vec![Segment {
                partition: 0,
                first_block: 0,
                last_block: 0,
                byte_offset: 0,
                bytes,
                file_offset,
                start: None,
                end: None,
            }],
        }
    }

    fn queue(volume: i64, waiting: Vec<Waiting>) -> VolumeQueue {
        VolumeQueue {
            volume: VolumeId(volume),
            label: format!("T{volume:05}L8"),
            waiting,
        }
    }

    /// Sizes are whole bytes below 2^20, so that sums are the same in every order.
    fn sums(recalls: &[Waiting]) -> Vec<(String, u32, u64, u64, i128)> {
        let mut of: BTreeMap<String, (u32, u64, u64, i128)> = BTreeMap::new();
        for one in recalls {
            let (count, bytes, oldest, arrived) =
                (of.entry(one.owner.user.clone())).or_insert((0, 0, u64::MAX, 0));
            *count += 1;
            *bytes += one.segments[0].bytes;
            *oldest = (*oldest).min(one.request.0 as u64);
            *arrived += i128::from(micros(one.created_ns).0);
        }
        let of = of.into_iter();
        of.map(|(owner, (count, bytes, oldest, arrived))| (owner, count, bytes, oldest, arrived))
            .collect()
    }

    proptest! {
        /// Recalls come and go in portions; the model is a plain list.
        #[test]
        fn all_that_is_wanted_and_its_sums_are_those_of_a_plain_list(
            steps in prop::collection::vec(
                (any::<bool>(), prop::collection::vec((0..4_i64, 0..3_u8, 1..1000_u64, 0..2_u64), 1..8)),
                1..20,
            ),
        ) {
            let (mut all, mut plain) = (WantedVolumes::default(), BTreeMap::new());
            let mut next = 1;
            for (adds, portion) in steps {
                if adds {
                    let mut queues: BTreeMap<i64, Vec<Waiting>> = BTreeMap::new();
                    for (volume, owner, bytes, later) in portion {
                        // Every third has a copy on the next volume.
                        for volume in volume..volume + 1 + i64::from(next % 3 == 0) {
                            let one = waiting(next, owner, bytes, later);
                            plain.insert((volume, next), one.clone());
                            queues.entry(volume).or_default().push(one);
                        }
                        next += 1;
                    }
                    all.add(queues.into_iter().map(|(volume, waiting)| queue(volume, waiting)).collect());
                } else {
                    let gone = portion.iter().map(|(a, b, c, _)| (a * 7 + i64::from(*b) + *c as i64) % next);
                    let gone: Vec<i64> = gone.collect();
                    plain.retain(|(_, request), _| !gone.contains(request));
                    all.remove(gone.into_iter().map(RequestId));
                }
                let expected = plain.keys().map(|(volume, _)| *volume).collect::<BTreeSet<_>>();
                let volumes: Vec<i64> = all.volumes().map(|one| one.queue().volume.0).collect();
                prop_assert_eq!(&volumes, &expected.into_iter().collect::<Vec<_>>());
                for wanted in all.volumes() {
                    let volume = wanted.queue().volume.0;
                    let of_volume = plain.range((volume, 0)..(volume + 1, 0));
                    let recalls: Vec<Waiting> = of_volume.map(|(_, one)| one.clone()).collect();
                    prop_assert_eq!(&wanted.queue().waiting, &recalls);
                    let found = wanted.sums();
                    let told: Vec<_> = found.of_owners.iter().map(|(owner, sum)| {
                        let bytes = (sum.size_mb * 1e6).round() as u64;
                        (owner.user.clone(), sum.requests, bytes, sum.oldest, sum.arrived_us)
                    }).collect();
                    prop_assert_eq!(told, sums(&recalls));
                    prop_assert_eq!(found.has_later_parts, recalls.iter().any(Waiting::has_begun));
                    let to_cache = recalls.iter().filter(|one| one.place.is_none() && !one.has_begun());
                    let longest = to_cache.map(|one| one.file_bytes).max();
                    prop_assert_eq!(found.longest_to_cache, longest.unwrap_or(0));
                }
            }
        }
    }

    #[test]
    fn what_nobody_takes_out_is_shared_and_what_somebody_keeps_does_not_change() {
        let recalls = (1..4).map(|request| waiting(request, 1, 10, 0)).collect();
        let mut wanted = WantedVolume::from(queue(1, recalls));
        let same = wanted.clone().keeping(|_| true).expect("all");
        assert!(Arc::ptr_eq(&wanted.0, &same.0));
        let fewer = wanted.clone().keeping(|one| one.request.0 > 1);
        let fewer = fewer.expect("two");
        assert_eq!(fewer.queue().requests(), [2, 3].map(RequestId));
        assert_eq!(fewer.label(), "T00001L8");
        assert!(wanted.clone().keeping(|_| false).is_none());
        wanted.add(vec![waiting(4, 1, 10, 0)]);
        assert_eq!(
            (same.queue().waiting.len(), wanted.queue().waiting.len()),
            (3, 4)
        );
    }
}
