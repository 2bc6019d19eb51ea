//! Which cartridges a recall needs, in the order in which they are mounted, and how long each is read.
//!
//! Where drives have no robot this is the list by which a person pulls cartridges from the shelf.

use crate::catalogue::{
    Catalogue, CatalogueError, CopyState, Entry, FileId, RequestId, VolumeId, VolumeQueue, Waiting,
};
use crate::mover::{MoveError, Settings, next_volume};
use crate::read::{Known, MappedTape, TapeRead};
use crate::record::{Segment, Volume};
use std::collections::{BTreeMap, HashMap, HashSet, btree_map};
use tapewise_model::{Micros, Position};

/// A cartridge that is to be mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Its label.
    pub label: String,
    /// Files of which it holds all or a part.
    pub files: usize,
    /// Bytes that are read of it.
    pub bytes: u64,
    /// From the cartridge in the drive until it can be taken, on nominal geometry, what was recorded at
    /// writing, and as the profile has it.
    pub drive_time: Micros,
}

/// What a recall needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullList {
    /// The cartridges, in the order in which they are mounted.
    pub pulls: Vec<Pull>,
    /// Files that need no cartridge: the cache has them, or they are empty.
    pub at_hand: usize,
    /// Files of which no copy is whole.
    pub stranded: Vec<FileId>,
}

/// What the recall of these files needs, as the mover would go about it with nothing mounted.
///
/// # Errors
/// [`MoveError::Catalogue`], and [`MoveError::NoMap`] where the profile does not tell enough.
pub fn pull_list(
    catalogue: &dyn Catalogue,
    files: &[FileId],
    settings: &Settings,
) -> Result<PullList, MoveError> {
    let mut list = PullList::default();
    let mut left = Left::default();
    for &file in files {
        let entry = catalogue.file(file)?;
        if entry.cached.is_some() || entry.file.bytes == 0 {
            list.at_hand += 1;
        } else if !left.add(catalogue, file, &entry)? {
            list.stranded.push(file);
        }
    }
    while let Some(queue) = left.take() {
        let volume = catalogue.volume(queue.volume)?;
        let wants: Vec<Vec<Segment>> = queue
            .waiting
            .iter()
            .map(|waiting| waiting.segments.clone())
            .collect();
        list.pulls.push(Pull {
            label: queue.label,
            files: wants.len(),
            bytes: wants.iter().flatten().map(|segment| segment.bytes).sum(),
            drive_time: settings.drive_time(&volume, &wants)?,
        });
    }
    Ok(list)
}

/// What is still to be read.
#[derive(Default)]
struct Left {
    volumes: BTreeMap<VolumeId, VolumeQueue>,
    /// Which copy of each file is being read, and its bytes, as they stand on the tapes, that have been.
    come: HashMap<RequestId, (u32, u64)>,
    whole: HashSet<RequestId>,
    /// Bytes that each copy has, as they stand on the tapes.
    of: HashMap<(RequestId, u32), u64>,
}

impl Left {
    /// Adds the whole copies of a file; false where there is none.
    fn add(
        &mut self,
        catalogue: &dyn Catalogue,
        file: FileId,
        entry: &Entry,
    ) -> Result<bool, CatalogueError> {
        // Nobody has asked yet: a file stands for its request.
        let request = RequestId(file.0);
        let mut is_there = false;
        for copy in &entry.copies {
            if copy.state != CopyState::Whole {
                continue;
            }
            is_there = true;
            let bytes = copy.segments.iter().map(|(_, segment)| segment.bytes).sum();
            self.of.insert((request, copy.number), bytes);
            let mut by_volume: BTreeMap<VolumeId, Vec<Segment>> = BTreeMap::new();
            for (volume, segment) in &copy.segments {
                by_volume.entry(*volume).or_default().push(*segment);
            }
            let runs = by_volume.iter().flat_map(|(volume, segments)| {
                let runs = segments.chunk_by(Segment::is_followed_by);
                runs.map(|run| (*volume, run.to_vec()))
            });
            for (volume, segments) in runs {
                let queue = match self.volumes.entry(volume) {
                    btree_map::Entry::Occupied(there) => there.into_mut(),
                    btree_map::Entry::Vacant(new) => new.insert(VolumeQueue {
                        volume,
                        label: catalogue.volume(volume)?.label,
                        waiting: Vec::new(),
                    }),
                };
                queue.waiting.push(Waiting {
                    request,
                    file,
                    number: copy.number,
                    priority: 0,
                    deadline_ns: None,
                    created_ns: 0,
                    zstd_bytes: copy.zstd_bytes,
                    segments,
                });
            }
        }
        Ok(is_there)
    }

    /// The volume that is mounted next, with what is read of it.
    fn take(&mut self) -> Option<VolumeQueue> {
        let volumes = self.volumes.values().map(|queue| {
            let waiting = queue.waiting.iter();
            let left = waiting.filter(|waiting| !self.whole.contains(&waiting.request));
            VolumeQueue {
                waiting: left.cloned().collect(),
                ..queue.clone()
            }
        });
        let come = |request, number| match self.come.get(&request) {
            Some(&(of, bytes)) if of == number => bytes,
            Some(_) => u64::MAX,
            None => 0,
        };
        let next = next_volume(volumes.collect(), &come, &HashSet::new())?;
        for waiting in &next.waiting {
            let here: u64 = waiting.segments.iter().map(|segment| segment.bytes).sum();
            let begun = (waiting.number, 0);
            let (_, come) = self.come.entry(waiting.request).or_insert(begun);
            *come += here;
            if *come >= self.of[&(waiting.request, waiting.number)] {
                self.whole.insert(waiting.request);
            }
        }
        Some(next)
    }
}

impl Settings {
    /// How long a volume is in a drive that reads this of it: loaded, read in our order, rewound.
    fn drive_time(&self, volume: &Volume, wants: &[Vec<Segment>]) -> Result<Micros, MoveError> {
        let no_map = |what: String| MoveError::NoMap {
            label: volume.label.clone(),
            what,
        };
        let known = Known {
            profile: &self.profile,
            format: volume.format,
            block_bytes: u64::from(volume.block_bytes),
            byte_scale: self.byte_scale,
            written: wants,
        };
        let (cartridge, _) =
            MappedTape::on_shelf(&known).map_err(|error| no_map(error.to_string()))?;
        let cartridge = MappedTape {
            algorithm: self.algorithm,
            ..cartridge
        };
        let head = Position::beginning_of_tape(cartridge.tape.geometry.lpos_min);
        let read = TapeRead::new(&cartridge, head, wants, false);
        let (_, plan) = read.map_err(|error| no_map(error.to_string()))?.plan();
        let seconds = |known: &tapewise_model::profile::Known<f64>| {
            known.as_ref().map_or(0.0, |known| known.value)
        };
        let handling = &self.profile.handling;
        let handled = seconds(&handling.mount_s)
            + seconds(&handling.rewind_mean_s)
            + seconds(&handling.unmount_s);
        Ok(plan.totals.total + Micros::from_secs_f64(handled))
    }
}
