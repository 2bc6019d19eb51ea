//! What takes no file for now: destinations of recalls that are full, and the cache.

use crate::catalogue::{VolumeQueue, Waiting};
use crate::deliver::shown;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A destination that takes no file for now; what is to go there stays in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullPlace {
    /// The directory or bucket; none for the cache.
    pub place: Option<Vec<u8>>,
    /// What it said.
    pub why: String,
}

impl fmt::Display for FullPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{}: {}", shown(place), self.why),
            None => f.write_str(&self.why),
        }
    }
}

/// Destinations that take no file for now, and what they said.
#[derive(Default)]
pub(super) struct Full(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    /// By directory or bucket; none is the cache.
    places: BTreeMap<Option<Vec<u8>>, String>,
    /// The cache still takes files, but not all that wait.
    too_long: Option<String>,
}

impl Full {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place has refused a file, and may refuse the next one.
    pub fn note(&self, place: Option<Vec<u8>>, error: &impl fmt::Display) {
        let why = || error.to_string();
        self.noted().places.entry(place).or_insert_with(why);
    }

    /// Whether a place is one of them.
    pub fn has(&self, place: Option<&[u8]>) -> bool {
        let noted = self.noted();
        noted.places.keys().any(|full| full.as_deref() == place)
    }

    /// Whether a recall has to wait for room. If a part of the file is on its way into the cache, its room is reserved.
    pub fn stops(&self, waiting: &Waiting) -> bool {
        let has_room = waiting.place.is_none() && waiting.has_begun();
        !has_room && self.has(waiting.place.as_deref())
    }

    /// Takes out of a queue what has to wait for room: no cartridge is mounted for it. `too_long` are the lengths of
    /// files that the cache has no room for now.
    pub fn keep_what_has_room(&self, volumes: &mut Vec<VolumeQueue>, too_long: &Range<u64>) {
        let lacks_room = |one: &Waiting| {
            one.place.is_none() && !one.has_begun() && too_long.contains(&one.file_bytes)
        };
        let all = volumes.iter().flat_map(|queue| &queue.waiting);
        let shortest = all
            .filter(|one| lacks_room(one))
            .map(|one| one.file_bytes)
            .min();
        for queue in &mut *volumes {
            let waiting = &mut queue.waiting;
            waiting.retain(|one| !lacks_room(one) && !self.stops(one));
        }
        volumes.retain(|queue| !queue.waiting.is_empty());
        self.noted().too_long = shortest.map(|bytes| {
            let room = too_long.start - 1;
            format!(
                "the cache is full of files that it has to keep: {room} bytes of room, and {bytes} in the shortest file \
                 that waits for room"
            )
        });
    }

    pub fn into_vec(self) -> Vec<FullPlace> {
        let noted = self.0.into_inner();
        let Noted {
            mut places,
            too_long,
        } = noted.unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = too_long {
            places.entry(None).or_insert(why);
        }
        let places = places.into_iter();
        places
            .map(|(place, why)| FullPlace { place, why })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{FileId, RequestId, VolumeId};
    use crate::record::Segment;

    fn waiting(id: i64, place: Option<&[u8]>, file_bytes: u64, file_offset: u64) -> Waiting {
        Waiting {
            request: RequestId(id),
            file: FileId(id),
            number: 1,
            owner: Default::default(),
            place: place.map(<[u8]>::to_vec),
            priority: 0,
            deadline_ns: None,
            created_ns: 0,
            file_bytes,
            zstd_bytes: None,
            segments: vec![Segment {
                partition: 0,
                first_block: 0,
                last_block: 0,
                byte_offset: 0,
                bytes: 10,
                file_offset,
                start: None,
                end: None,
            }],
        }
    }

    #[test]
    fn what_has_no_room_where_it_goes_is_taken_out_and_volumes_without_more_with_it() {
        let queue = |label: &str, waiting: Vec<Waiting>| VolumeQueue {
            volume: VolumeId(1),
            label: label.to_owned(),
            waiting,
        };
        let volumes = [
            queue(
                "A",
                vec![
                    waiting(1, None, 50, 0),
                    // Its room is reserved.
                    waiting(2, None, 150, 100),
                    waiting(3, Some(b"/full"), 1, 0),
                    waiting(4, Some(b"/open"), 150, 0),
                    // Never fits, which the cache says when it is read.
                    waiting(5, None, 1000, 0),
                ],
            ),
            queue(
                "B",
                vec![waiting(6, None, 150, 0), waiting(7, None, 120, 0)],
            ),
        ];
        let full = Full::default();
        full.note(Some(b"/full".to_vec()), &"no space");
        let left = |full: &Full| -> Vec<(String, Vec<i64>)> {
            let mut volumes = volumes.to_vec();
            full.keep_what_has_room(&mut volumes, &(101..201));
            let requests =
                |queue: &VolumeQueue| queue.waiting.iter().map(|one| one.request.0).collect();
            volumes
                .iter()
                .map(|queue| (queue.label.clone(), requests(queue)))
                .collect()
        };
        assert_eq!(left(&full), [("A".to_owned(), vec![1, 2, 4, 5])]);
        full.note(None, &"the cache is full");
        assert_eq!(left(&full), [("A".to_owned(), vec![2, 4])]);
        let said: Vec<String> = full.into_vec().iter().map(FullPlace::to_string).collect();
        assert_eq!(said, ["the cache is full", "/full: no space"]);

        let full = Full::default();
        left(&full);
        let said = full.into_vec().remove(0).to_string();
        assert!(
            said.contains("100 bytes of room, and 120 in the shortest"),
            "{said}"
        );
    }
}
