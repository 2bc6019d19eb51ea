//! What takes no file for now: destinations of recalls that are full, and the cache.

use super::wanted::WantedVolume;
use crate::catalogue::Waiting;
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

impl Noted {
    fn has(&self, place: Option<&[u8]>) -> bool {
        self.places.keys().any(|full| full.as_deref() == place)
    }

    fn stops(&self, waiting: &Waiting) -> bool {
        let has_room = waiting.place.is_none() && waiting.has_begun();
        !has_room && self.has(waiting.place.as_deref())
    }
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
        self.noted().has(place)
    }

    /// Whether a recall has to wait for room. If a part of the file is on its way into the cache, its room is reserved.
    pub fn stops(&self, waiting: &Waiting) -> bool {
        self.noted().stops(waiting)
    }

    /// Takes out of a queue what has to wait for room: no cartridge is mounted for it. `too_long` are the lengths of
    /// files that the cache has no room for now.
    pub fn keep_what_has_room(
        &self,
        volumes: Vec<WantedVolume>,
        too_long: &Range<u64>,
    ) -> Vec<WantedVolume> {
        let lacks_room = |one: &Waiting| {
            one.place.is_none() && !one.has_begun() && too_long.contains(&one.file_bytes)
        };
        let mut noted = self.noted();
        let mut shortest: Option<u64> = None;
        let mut with_room = Vec::with_capacity(volumes.len());
        for wanted in volumes {
            let may_lack_room = wanted.sums().longest_to_cache >= too_long.start;
            if may_lack_room {
                let lacking = wanted.queue().waiting.iter().filter(|one| lacks_room(one));
                let here = lacking.map(|one| one.file_bytes).min();
                shortest = shortest.into_iter().chain(here).min();
            }
            if may_lack_room || !noted.places.is_empty() {
                with_room.extend(wanted.keeping(|one| !lacks_room(one) && !noted.stops(one)));
            } else {
                with_room.push(wanted);
            }
        }
        noted.too_long = shortest.map(|bytes| {
            let room = too_long.start - 1;
            format!(
                "the cache is full of files that it has to keep: {room} bytes of room, and {bytes} in the shortest file \
                 that waits for room"
            )
        });
        drop(noted);
        with_room
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
    use crate::catalogue::{FileId, RequestId, VolumeId, VolumeQueue};
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
            let volumes = volumes.iter().cloned().map(WantedVolume::from).collect();
            let left = full.keep_what_has_room(volumes, &(101..201)).into_iter();
            left.map(|wanted| {
                let requests = wanted.queue().waiting.iter().map(|one| one.request.0);
                (wanted.label().to_owned(), requests.collect())
            })
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
