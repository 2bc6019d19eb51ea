//! Placement at writing: which files that wait for tape share a cartridge, and in which order they lie along it.
//!
//! A rule makes groups of files, and a group stays on one cartridge if it fits: [`place`] puts it onto the fullest
//! cartridge with room for all of it, else onto a blank one. The mover makes the same choice with
//! real volumes. [`learn`] finds the rule under which the recalls so far would have needed the fewest mounts. Groups that
//! grow over days stay together if several cartridges are filled side by side: [`place_beside`].

mod beside;

pub use beside::{Begun, Coming, Supply, assign, place_beside};

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Which files belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupBy {
    /// None: they are written as they came.
    #[default]
    None,
    /// Those of a directory.
    Directory,
    /// Those below the same first two directories.
    Dataset,
    /// Those that were last written on the same day (UTC).
    Time,
    /// By the rule of these that suits the recalls so far best: [`learn`] finds it.
    Learned,
}

impl GroupBy {
    /// All of them.
    pub const ALL: [GroupBy; 5] = [
        GroupBy::None,
        GroupBy::Directory,
        GroupBy::Dataset,
        GroupBy::Time,
        GroupBy::Learned,
    ];

    /// Its name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            GroupBy::None => "none",
            GroupBy::Directory => "directory",
            GroupBy::Dataset => "dataset",
            GroupBy::Time => "time",
            GroupBy::Learned => "learned",
        }
    }

    /// What a path has in common with those of its group, however long ago they came; nothing if the rule makes no groups
    /// that grow. A day's files come on that day.
    pub fn stem(self, path: &[u8]) -> Option<&[u8]> {
        match self {
            GroupBy::Directory => Some(directories(path, usize::MAX)),
            GroupBy::Dataset => Some(directories(path, 2)),
            GroupBy::None | GroupBy::Time | GroupBy::Learned => None,
        }
    }

    /// What files of a group have in common. The number of a file is its own.
    fn key<'a>(self, number: usize, item: &Item<'a>) -> (&'a [u8], i64) {
        const DAY_NS: i64 = 86_400_000_000_000;
        match self {
            GroupBy::None | GroupBy::Learned => (&[], number as i64),
            GroupBy::Directory => (directories(item.path, usize::MAX), 0),
            GroupBy::Dataset => (directories(item.path, 2), 0),
            GroupBy::Time => (&[], item.modified_ns.div_euclid(DAY_NS)),
        }
    }
}

/// The first directories of a path, at most `most`.
fn directories(path: &[u8], most: usize) -> &[u8] {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let end = slashes.map(|(place, _)| place).take(most).last();
    &path[..end.unwrap_or(0)]
}

/// A file that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Its path in the archive.
    pub path: &'a [u8],
    /// What it takes on tape.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
}

/// Files that belong together, by their numbers, in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The files.
    pub items: Vec<usize>,
    /// Their bytes.
    pub bytes: u64,
}

/// Groups in the order of the first file of each. In a group files are sorted by path, those of a day by time.
pub fn groups(items: &[Item<'_>], by: GroupBy) -> Vec<Group> {
    let mut places = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let place = *places.entry(by.key(number, item)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group::default());
        }
        let group = &mut groups[place];
        group.items.push(number);
        group.bytes = group.bytes.saturating_add(item.bytes);
    }
    for group in &mut groups {
        match by {
            GroupBy::Time => group.items.sort_by_key(|number| items[*number].modified_ns),
            _ => group.items.sort_by_key(|number| items[*number].path),
        }
    }
    groups
}

/// The groups that go together onto a cartridge with this much room: in their order, each that still fits.
pub fn fitting(groups: &[Group], mut room: u64) -> Vec<usize> {
    let mut taken = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        if let Some(rest) = room.checked_sub(group.bytes) {
            room = rest;
            taken.push(number);
        }
    }
    taken
}

/// Writes these files onto cartridges: on which, and in which order along it. `rooms` are those that were begun, and
/// become what is left of them and of the blank ones that were needed. A file longer than a cartridge fills one.
pub fn place(
    items: &[Item<'_>],
    by: GroupBy,
    rooms: &mut Vec<u64>,
    cartridge: u64,
) -> Vec<(usize, usize)> {
    let mut left = groups(items, by);
    let mut placed = Vec::new();
    while !left.is_empty() {
        let takes_one = |room: u64| left.iter().any(|group| group.bytes <= room);
        let begun = rooms
            .iter()
            .enumerate()
            .filter(|(_, room)| takes_one(**room));
        let fullest = begun.min_by_key(|(_, room)| **room).map(|(at, _)| at);
        let at = fullest.unwrap_or_else(|| {
            rooms.push(cartridge);
            rooms.len() - 1
        });
        let taken: BTreeSet<usize> = fitting(&left, rooms[at]).into_iter().collect();
        if taken.is_empty() {
            fill(&mut left[0], items, &mut rooms[at], |number| {
                placed.push((at, number))
            });
            continue;
        }
        for &number in &taken {
            rooms[at] -= left[number].bytes;
            placed.extend(left[number].items.iter().map(|&item| (at, item)));
        }
        let mut numbers = 0..;
        left.retain(|_| {
            numbers
                .next()
                .is_some_and(|number| !taken.contains(&number))
        });
    }
    placed
}

/// Fills a blank cartridge with the first files of a group that is longer than one.
fn fill(group: &mut Group, items: &[Item<'_>], room: &mut u64, mut put: impl FnMut(usize)) {
    let mut count = 0;
    for &number in &group.items {
        let bytes = items[number].bytes;
        if bytes > *room && count > 0 {
            break;
        }
        *room = room.saturating_sub(bytes);
        group.bytes -= bytes;
        put(number);
        count += 1;
    }
    group.items.drain(..count);
}

/// A recall of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Who asked.
    pub user: String,
    /// When.
    pub at_ns: i64,
    /// The file: a number that is higher for one that was stored later.
    pub file: i64,
    /// Its path in the archive.
    pub path: Vec<u8>,
    /// Its length.
    pub bytes: u64,
    /// When it was last written.
    pub modified_ns: i64,
}

/// What was learned of recalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The rule under which they would have needed the fewest mounts, the first one of equals; never
    /// [`GroupBy::Learned`].
    pub by: GroupBy,
    /// These mounts.
    pub mounts: usize,
    /// Mounts if the files had been written as they came.
    pub as_they_came: usize,
    /// How often somebody asked for files.
    pub askings: usize,
}

/// Recalls of a user that follow each other within this time are one asking.
const TOGETHER_NS: i64 = 600_000_000_000;

/// The rules are compared on this many cartridges at least: on one all of them are alike.
const LEAST_CARTRIDGES: u64 = 4;

/// Places the files that were asked for by each rule, and counts the mounts that these recalls need then.
pub fn learn(asked: &[Asked], cartridge: u64) -> Learned {
    let files: BTreeMap<i64, &Asked> = asked.iter().map(|one| (one.file, one)).collect();
    let numbers: HashMap<i64, usize> = files.keys().copied().zip(0..).collect();
    let items = files.values().map(|one| Item {
        path: &one.path,
        bytes: one.bytes,
        modified_ns: one.modified_ns,
    });
    let items: Vec<Item<'_>> = items.collect();
    let all = items
        .iter()
        .map(|item| item.bytes)
        .fold(0, u64::saturating_add);
    let cartridge = cartridge.min(all / LEAST_CARTRIDGES).max(1);
    let askings = askings(asked, &numbers);
    let mounts = |by: GroupBy| {
        let mut on = vec![0; items.len()];
        for (at, item) in place(&items, by, &mut Vec::new(), cartridge) {
            on[item] = at;
        }
        let mounted = askings.iter().map(|asking| {
            let cartridges: BTreeSet<usize> = asking.iter().map(|&item| on[item]).collect();
            cartridges.len()
        });
        mounted.sum::<usize>()
    };
    let rules = GroupBy::ALL
        .into_iter()
        .filter(|by| *by != GroupBy::Learned);
    let counted: Vec<(usize, GroupBy)> = rules.map(|by| (mounts(by), by)).collect();
    let as_they_came = counted[0].0;
    let (mounts, by) = counted
        .into_iter()
        .min_by_key(|(mounts, _)| *mounts)
        .unwrap_or((as_they_came, GroupBy::None));
    Learned {
        by,
        mounts,
        as_they_came,
        askings: askings.len(),
    }
}

/// Which files were asked for together.
fn askings(asked: &[Asked], numbers: &HashMap<i64, usize>) -> Vec<Vec<usize>> {
    let mut sorted: Vec<&Asked> = asked.iter().collect();
    sorted.sort_by_key(|one| (&one.user, one.at_ns, one.file));
    let goes_on =
        |a: &&Asked, b: &&Asked| a.user == b.user && b.at_ns.saturating_sub(a.at_ns) <= TOGETHER_NS;
    let askings = sorted.chunk_by(goes_on);
    askings
        .map(|asking| asking.iter().map(|one| numbers[&one.file]).collect())
        .collect()
}
