//! Which cartridges a recall needs, in the order in which they are mounted, how long each is read, and when each file
//! is likely to be there.
//!
//! Where drives have no robot this is the list by which a person pulls cartridges from the shelf.

mod drive_times;

use crate::at_work::{Reading, readings};
use crate::catalogue::{
    Catalogue, CatalogueError, CopyState, Entry, FileId, OutOfUse, Outage, RequestId, Resource,
    VolumeId, VolumeQueue, Waiting,
};
use crate::mover::{
    Chooser, Floor, MoveError, Next, OwnerShare, ROBOT_S, Settings, WantedVolume, WantedVolumes,
    owner_shares,
};
use crate::record::Segment;
use drive_times::DriveTimes;
use std::collections::{BTreeMap, HashMap, HashSet, btree_map};
use tapewise_model::Micros;
use tapewise_sim::mounts::{Owner, Reason};

/// By how much a predicted time may be off, as a share of it. On our emulated drives, which know nothing of the
/// models, every file of a recall is there within this; tests hold it there. A real drive with a profile of its own
/// differs as the profile's report says.
const SPREAD: f64 = 0.2;

/// By how much it may be off at least: about as much as one locate.
const LEAST_SPREAD: Micros = Micros(10_000_000);

/// A cartridge that is to be mounted.
#[derive(Clone, Debug, PartialEq)]
pub struct Pull {
    /// Its label.
    pub label: String,
    /// Files of which it holds all or a part.
    pub files: usize,
    /// Bytes that are read of it.
    pub bytes: u64,
    /// When the robot goes for it, from now on.
    pub begins: Micros,
    /// From the cartridge in the drive until it can be taken, on nominal geometry, what was recorded at
    /// writing, and as the profile has it.
    pub drive_time: Micros,
    /// Whom it is read for.
    pub owner: Owner,
    /// The drives that work for the owner when it is mounted, and those that are due.
    pub has_and_due: (usize, f64),
    /// Why it is next.
    pub why: Reason,
}

/// When a file is likely to be there, from now on. It is planned twice: as if the queue were empty and all drives free,
/// and with all that waits now or has been begun, in the order in which the archive would read it. What joins the queue
/// later is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The file.
    pub file: FileId,
    /// The sooner of both plans, if everything goes faster than predicted.
    pub soonest: Micros,
    /// The later of both, if everything takes longer.
    pub latest: Micros,
}

/// What a recall needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PullList {
    /// The cartridges, in the order in which they are mounted.
    pub pulls: Vec<Pull>,
    /// When each file that needs a cartridge is likely to be there, in the order in which they come.
    pub expected: Vec<Expected>,
    /// Files that need no cartridge: the cache has them, or they are empty.
    pub at_hand: usize,
    /// Files of which no copy is whole.
    pub stranded: Vec<FileId>,
    /// Volumes that are disabled, each with the files that wait until it is put into use again.
    pub disabled: Vec<(OutOfUse, Vec<FileId>)>,
}

/// Who asks for what, when, of how many drives.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The files.
    pub files: &'a [FileId],
    /// The time, nanoseconds since 1970.
    pub now_ns: i64,
    /// Drives of the archive.
    pub drives: usize,
    /// Its robots: each carries one cartridge at a time.
    pub robots: usize,
}

/// What the recall of these files needs, as the mover would go about it with nothing mounted.
///
/// # Errors
/// [`MoveError::Catalogue`], and [`MoveError::NoMap`] where the profile does not tell enough.
pub fn pull_list(
    catalogue: &dyn Catalogue,
    asking: Asking<'_>,
    settings: &Settings,
) -> Result<PullList, MoveError> {
    let mut list = PullList::default();
    let mut volumes = BTreeMap::new();
    let mut out_of_use = HashMap::new();
    for what in catalogue.out_of_use()? {
        if what.resource == Resource::Volume
            && let Some((id, _)) = catalogue.find_volume(&what.name)?
        {
            out_of_use.insert(id, what);
        }
    }
    let mut wait = Vec::new();
    for &file in asking.files {
        let mut entry = catalogue.file(file)?;
        if entry.cached.is_some() || entry.file.bytes == 0 {
            list.at_hand += 1;
            continue;
        }
        let label = leave_out(&mut entry, &out_of_use);
        if add_copies(&mut volumes, catalogue, file, &entry, asking.now_ns)? {
            continue;
        }
        match label {
            Some(label) => wait.push((file, label)),
            None => list.stranded.push(file),
        }
    }
    list.disabled = disabled(catalogue, wait)?;
    let mut left = Left::default();
    left.add(volumes.into_values().collect());
    let schedule = Schedule {
        catalogue,
        settings,
        asking,
        most_work: u64::MAX,
    };
    let mut beside_others = left.clone();
    beside_others.add(catalogue.recall_queue()?.volumes);
    let busy = schedule.add_begun(&mut beside_others)?;
    let Planned {
        pulls,
        answered: alone,
        ..
    } = schedule.of(left, Start::AllFree)?;
    let beside = schedule.of(beside_others, Start::AsNow(&busy))?.answered;
    list.pulls = pulls;
    let expected = asking.files.iter().filter_map(|&file| {
        let (soonest, latest) = range(*alone.get(&of(file))?, *beside.get(&of(file))?);
        Some(Expected {
            file,
            soonest,
            latest,
        })
    });
    list.expected = expected.collect();
    list.expected.sort_by_key(|expected| expected.latest);
    Ok(list)
}

/// What is known of disabled volumes that something waits for, each by its label, in order of labels.
///
/// # Errors
/// [`CatalogueError`].
pub fn disabled<T>(
    catalogue: &dyn Catalogue,
    waiting: Vec<(T, String)>,
) -> Result<Vec<(OutOfUse, Vec<T>)>, CatalogueError> {
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let mut of_volumes: HashMap<String, Vec<T>> = HashMap::new();
    for (one, label) in waiting {
        of_volumes.entry(label).or_default().push(one);
    }
    let volumes = catalogue.out_of_use()?.into_iter();
    let mut volumes: Vec<OutOfUse> = volumes
        .filter(|what| what.resource == Resource::Volume)
        .collect();
    volumes.sort_by(|one, other| one.name.cmp(&other.name));
    let with_waiting = |what: OutOfUse| {
        let waiting = of_volumes.remove(&what.name)?;
        Some((what, waiting))
    };
    Ok(volumes.into_iter().filter_map(with_waiting).collect())
}

/// The soonest and the latest of two predicted times.
pub(crate) fn range(one: Micros, other: Micros) -> (Micros, Micros) {
    let spread = |at: Micros| Micros((at.0 as f64 * SPREAD) as i64).max(LEAST_SPREAD);
    let (first, last) = (one.min(other), one.max(other));
    let soonest = (first - spread(first)).max(Micros::ZERO);
    (soonest, last + spread(last))
}

/// The request that a file stands for while nobody has asked: none of the queue's.
fn of(file: FileId) -> RequestId {
    RequestId(-1 - file.0)
}

/// What all drives do, on paper.
pub(crate) struct Schedule<'a> {
    pub catalogue: &'a dyn Catalogue,
    pub settings: &'a Settings,
    pub asking: Asking<'a>,
    /// A plan ends when it has cost so much: a recall costs [`A_RECALL`], a look at a volume 1.
    pub most_work: u64,
}

/// What it takes to plan a recall, in looks at a volume: as much if few files of a full cartridge are read, and a tenth of
/// that if all are.
const A_RECALL: u64 = 500;

/// What becomes of a queue.
pub(crate) struct Planned {
    /// The cartridges, in the order in which they are mounted.
    pub pulls: Vec<Pull>,
    /// When each recall is answered.
    pub answered: HashMap<RequestId, Micros>,
    /// Recalls that come after the end of the plan.
    pub beyond: usize,
}

impl Schedule<'_> {
    /// What each owner has of the drives now, and what of the queue is held back.
    pub fn shares(&self, left: &Left) -> Result<Vec<OwnerShare>, MoveError> {
        let begun = self.catalogue.begun()?;
        let at_work: Vec<Owner> = begun.mounts.into_iter().map(|mount| mount.owner).collect();
        let floor = Floor {
            now_ns: self.asking.now_ns,
            drives: self.drives_in_use()?,
            here: &HashSet::new(),
            read_for: None,
            at_work: &at_work,
            begun: &begun.places,
            come: None,
        };
        let volumes: Vec<WantedVolume> = left.wanted.volumes().cloned().collect();
        Ok(owner_shares(&self.settings.mounts, &volumes, &floor))
    }

    /// Drives that work, if movers have some: those that they have. Otherwise all that are not out of use.
    fn drives_in_use(&self) -> Result<usize, MoveError> {
        Ok(match self.catalogue.leased_drives()? {
            0 => self.drives()?,
            leased => leased,
        })
    }

    /// Drives of the archive that are not out of use, or those that movers have, if these are more.
    fn drives(&self) -> Result<usize, MoveError> {
        let out_of_use = self.catalogue.out_of_use()?.into_iter();
        let drained = out_of_use.filter(|what| what.resource == Resource::Drive);
        let left = self.asking.drives.saturating_sub(drained.count());
        Ok(left.max(self.catalogue.leased_drives()?).max(1))
    }

    /// Adds what drives have begun, and says which drives are busy with it.
    pub fn add_begun(&self, left: &mut Left) -> Result<Vec<Busy>, MoveError> {
        let begun = self.catalogue.started_recalls()?;
        let mut leases = self.catalogue.leases()?;
        leases.retain(|lease| lease.until_ns > self.asking.now_ns);
        let readings = readings(&leases, &begun, self.asking.drives);
        left.add(begun.volumes);
        let busy = readings.into_iter().map(|reading| {
            left.comes(&reading.queue);
            let volume = self.catalogue.volume(reading.queue.volume)?;
            let times = self.settings.drive_times(&volume, &wants(&reading.queue))?;
            Ok(Busy { reading, times })
        });
        let mut busy = busy.collect::<Result<Vec<Busy>, MoveError>>()?;
        // The robots may still have to bring all of them, in the order in which they were claimed.
        let mut robots = Robots::of(self.asking.robots);
        let mut in_order: Vec<&mut Busy> = busy.iter_mut().collect();
        in_order.sort_by_key(|one| one.reading.lease.as_ref().map(|lease| lease.epoch));
        for one in in_order {
            one.times.begin_at(robots.change(Micros::ZERO));
        }
        Ok(busy)
    }

    /// The cartridges in the order in which they are mounted, and when each request is answered. A drive that is busy
    /// is free when all that it has begun has been read; that is not among what is left.
    pub fn of(&self, mut left: Left, start: Start<'_>) -> Result<Planned, MoveError> {
        let chooser = Chooser::new(self.settings);
        let (drives, busy, mut robots) = match start {
            Start::AllFree => (self.drives()?, [].as_slice(), Robots::default()),
            Start::AsNow(busy) => (self.drives_in_use()?, busy, Robots::of(self.asking.robots)),
        };
        let asking = Asking {
            drives: drives.max(busy.len()),
            ..self.asking
        };
        let mut drives = vec![Drive::default(); asking.drives];
        let (mut pulls, mut answered) = (Vec::new(), HashMap::new());
        let mut work = 0_u64;
        for (drive, Busy { reading, times }) in drives.iter_mut().zip(busy) {
            let requests = reading.queue.waiting.iter().map(|one| one.request);
            answered.extend(requests.zip(times.read.iter().copied()));
            *drive = Drive::reads(&reading.queue, reading.owner(), times.all);
            robots.change(Micros::ZERO);
        }
        let beyond = loop {
            let free = (0..drives.len())
                .min_by_key(|&drive| drives[drive].until)
                .unwrap_or(0);
            let now = drives[free].until;
            let busy: Vec<&Drive> = drives.iter().filter(|drive| drive.until > now).collect();
            if work >= self.most_work {
                // Of a file in parts the last one was not planned.
                answered.retain(|request, _| !left.come.contains_key(request));
                break left.wanted.recalls();
            }
            work += left.wanted.volumes().len() as u64;
            let Some(next) = left.take(&chooser, asking, now, &busy) else {
                // It may be that a user has all drives that one alone is given.
                match busy.iter().map(|drive| drive.until).min() {
                    Some(until) => drives[free].until = until,
                    None => break 0,
                }
                continue;
            };
            let volume = self.catalogue.volume(next.queue.volume)?;
            let wants = wants(&next.queue);
            work += A_RECALL * wants.len() as u64;
            let comes = match drives[free].volume {
                Some(_) => robots.change(now),
                None => robots.bring(now),
            };
            let mut times = self.settings.drive_times(&volume, &wants)?;
            let drive_time = times.all;
            times.begin_at(comes);
            for (one, at) in next.queue.waiting.iter().zip(&times.read) {
                // Of a file in parts the last one counts.
                let answer = answered.entry(one.request).or_insert(Micros::ZERO);
                *answer = *at;
            }
            drives[free] = Drive::reads(&next.queue, next.owner.clone(), times.all);
            let bytes = wants.iter().flatten().map(|segment| segment.bytes);
            pulls.push(Pull {
                label: next.queue.label,
                files: wants.len(),
                bytes: bytes.fold(0, u64::saturating_add),
                begins: comes - get(),
                drive_time,
                owner: next.owner,
                has_and_due: next.has_and_due,
                why: next.reason,
            });
        };
        Ok(Planned {
            pulls,
            answered,
            beyond,
        })
    }
}

/// What is read of a volume, each recall by itself.
fn wants(queue: &VolumeQueue) -> Vec<Vec<Segment>> {
    let waiting = queue.waiting.iter();
    waiting.map(|one| one.segments.clone()).collect()
}

/// What a plan begins with.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    /// All drives are free, and no robot is in the way.
    AllFree,
    /// Those drives work that work now, busy with this, and each robot carries one cartridge after the other.
    AsNow(&'a [Busy]),
}

/// When each robot is free; none where they are in nobody's way.
#[derive(Default)]
struct Robots(Vec<Micros>);

fn get() -> Micros {
    Micros::from_secs_f64(ROBOT_S[0])
}

impl Robots {
    fn of(count: usize) -> Robots {
        Robots(vec![Micros::ZERO; count])
    }

    /// When a cartridge is in an empty drive that waits for it from a time on.
    fn bring(&mut self, from: Micros) -> Micros {
        self.work(from, get())
    }

    /// The same if another cartridge has to be taken away first.
    fn change(&mut self, from: Micros) -> Micros {
        self.work(from, Micros::from_secs_f64(ROBOT_S[1]) + get())
    }

    /// When the robot that is free first has done what takes this long.
    fn work(&mut self, from: Micros, takes: Micros) -> Micros {
        let Some(free) = self.0.iter_mut().min() else {
            return from + takes;
        };
        *free = from.max(*free) + takes;
        *free
    }
}

/// A drive that reads what it has begun.
pub(crate) struct Busy {
    /// What it reads.
    pub reading: Reading,
    /// What that takes at most: as if a robot were about to fetch the cartridge.
    pub times: DriveTimes,
}

/// A drive on paper.
#[derive(Clone, Default)]
struct Drive {
    /// When it is free.
    until: Micros,
    /// The volume in it until then.
    volume: Option<VolumeId>,
    /// Whom it works for until then.
    owner: Owner,
    /// Where what it reads goes to, each recall once.
    places: Vec<Vec<u8>>,
}

impl Drive {
    fn reads(queue: &VolumeQueue, owner: Owner, until: Micros) -> Drive {
        let places = queue.waiting.iter().filter_map(|one| one.place.clone());
        Drive {
            until,
            volume: Some(queue.volume),
            owner,
            places: places.collect(),
        }
    }
}

/// Leaves out copies of which a part is on a volume that is out of use. The label of a disabled volume with a part of a copy
/// that is on no broken one.
fn leave_out(entry: &mut Entry, out_of_use: &HashMap<VolumeId, OutOfUse>) -> Option<String> {
    let mut disabled = None;
    entry.copies.retain(|copy| {
        let parts = copy.segments.iter();
        let out: Vec<&OutOfUse> = parts
            .filter_map(|(volume, _)| out_of_use.get(volume))
            .collect();
        if let Some(first) = out.first()
            && copy.state == CopyState::Whole
            && out.iter().all(|what| what.outage == Outage::Disabled)
        {
            disabled.get_or_insert_with(|| first.name.clone());
        }
        out.is_empty()
    });
    disabled
}

/// Adds the whole copies of a file to what waits for volumes; false where there is none.
fn add_copies(
    volumes: &mut BTreeMap<VolumeId, VolumeQueue>,
    catalogue: &dyn Catalogue,
    file: FileId,
    entry: &Entry,
    now_ns: i64,
) -> Result<bool, CatalogueError> {
    let mut is_there = false;
    for copy in &entry.copies {
        if copy.state != CopyState::Whole {
            continue;
        }
        is_there = true;
        let mut by_volume: BTreeMap<VolumeId, Vec<Segment>> = BTreeMap::new();
        for (volume, segment) in &copy.segments {
            by_volume.entry(*volume).or_default().push(*segment);
        }
        let runs = by_volume.iter().flat_map(|(volume, segments)| {
            let runs = segments.chunk_by(Segment::is_followed_by);
            runs.map(|run| (*volume, run.to_vec()))
        });
        for (volume, segments) in runs {
            let queue = match volumes.entry(volume) {
                btree_map::Entry::Occupied(there) => there.into_mut(),
                btree_map::Entry::Vacant(new) => new.insert(VolumeQueue {
                    volume,
                    label: catalogue.volume(volume)?.label,
                    waiting: Vec::new(),
                }),
            };
            queue.waiting.push(Waiting {
                request: of(file),
                file,
                number: copy.number,
                owner: Owner::default(),
                place: None,
                priority: 0,
                deadline_ns: None,
                created_ns: now_ns,
                file_bytes: entry.file.bytes,
                zstd_bytes: copy.zstd_bytes,
                segments,
            });
        }
    }
    Ok(is_there)
}

/// What is still to be read.
#[derive(Clone, Default)]
pub(crate) struct Left {
    wanted: WantedVolumes,
    /// Which copy of a file is read of which more is to come, and its bytes, as they stand on the tapes, that have been.
    come: HashMap<RequestId, (u32, u64)>,
    /// Bytes that each copy has, as they stand on the tapes.
    of: HashMap<(RequestId, u32), u64>,
}

impl Left {
    /// Adds what waits for volumes.
    pub fn add(&mut self, volumes: Vec<VolumeQueue>) {
        for one in volumes.iter().flat_map(|queue| &queue.waiting) {
            let bytes = one.segments.iter().map(|segment| segment.bytes);
            let of = self.of.entry((one.request, one.number)).or_default();
            *of = bytes.fold(*of, u64::saturating_add);
        }
        self.wanted.add(volumes);
    }

    /// The volume that is mounted next, with what is read of it.
    fn take(
        &mut self,
        chooser: &Chooser<'_>,
        asking: Asking<'_>,
        now: Micros,
        busy: &[&Drive],
    ) -> Option<Next> {
        let is_free = |wanted: &&WantedVolume| {
            let mut mounted = busy.iter().filter_map(|drive| drive.volume);
            mounted.all(|volume| volume != wanted.queue().volume)
        };
        let volumes = self.wanted.volumes().filter(is_free).cloned();
        let come = |request, number| match self.come.get(&request) {
            Some(&(of, bytes)) if of == number => bytes,
            Some(_) => u64::MAX,
            None => 0,
        };
        let at_work: Vec<Owner> = busy.iter().map(|drive| drive.owner.clone()).collect();
        let mut begun = BTreeMap::new();
        for place in busy.iter().flat_map(|drive| &drive.places) {
            *begun.entry(place.clone()).or_default() += 1;
        }
        let floor = Floor {
            now_ns: asking.now_ns.saturating_add(now.0.saturating_mul(1000)),
            drives: asking.drives,
            here: &HashSet::new(),
            read_for: None,
            at_work: &at_work,
            begun: &begun,
            come: (!self.come.is_empty()).then_some(&come),
        };
        let next = chooser.next(volumes.collect(), &floor)?;
        self.comes(&next.queue);
        Some(next)
    }

    /// This of a volume is read. Parts of a file come in their order.
    pub fn comes(&mut self, queue: &VolumeQueue) {
        let mut whole = Vec::new();
        for waiting in &queue.waiting {
            let end = waiting
                .segments
                .last()
                .map_or(0, |last| last.file_offset.saturating_add(last.bytes));
            let of = self.of.get(&(waiting.request, waiting.number));
            if of.is_none_or(|of| end >= *of) {
                self.come.remove(&waiting.request);
                whole.push(waiting.request);
            } else {
                self.come.insert(waiting.request, (waiting.number, end));
            }
        }
        self.wanted.remove(whole);
    }
}
