//! What was read of cartridges of ours becomes files: whole ones at once, those in parts when all of their
//! parts have been read.

use crate::catalogue::Rediscovered;
use crate::deliver::InnerPath;
use crate::record::{File, Segment};
use crate::sums::{Kind, Sum};
use crate::volume::{Kind as MemberKind, Located, Member, Part};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::iter::successors;

/// What is the same for all parts of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Whole {
    path: Vec<u8>,
    file_xxh3: Option<u64>,
    stored_ns: i64,
    modified_ns: i64,
}

/// A part of a file that spans segments or volumes.
#[derive(Clone, Debug)]
struct FoundPart {
    /// The place of its volume among those that were read.
    volume: usize,
    part: Part,
    member: Member,
    segment: Segment,
}

impl FoundPart {
    fn from(&self) -> u64 {
        self.segment.file_offset
    }

    fn to(&self) -> u64 {
        self.from().saturating_add(self.segment.bytes)
    }

    /// Whether it can be a part of a file of this length: of as many parts as its header says if each is as long as it
    /// is, or longer where it is the last one. Its number tells no more: part_bytes may have been another one when the
    /// copy was begun. The sum of the whole file is compared when it is read.
    fn can_be_of(&self, bytes: u64) -> bool {
        let parts = bytes.div_ceil(self.segment.bytes);
        let of = self.part.of.into();
        parts == of || self.to() == bytes && parts > of
    }
}

/// The parts of files that were read so far.
#[derive(Debug, Default)]
pub(super) struct FoundParts(BTreeMap<Whole, Vec<FoundPart>>);

/// What became of the parts of files.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// Copies all of whose parts were read.
    pub copies: Vec<Rediscovered>,
    /// Copies that are no files of the archive, and why.
    pub left_out: Vec<LeftOut>,
    /// Parts without the others.
    pub rest: Vec<Rest>,
}

/// Parts of a version of a file without the others.
#[derive(Debug)]
pub(super) struct Rest {
    /// One of them.
    pub member: Member,
    /// Which are missing.
    pub why: String,
    /// The volumes that they are on, one for each.
    pub on: Vec<usize>,
    /// No copy of the file is among those that were joined.
    pub is_alone: bool,
}

/// A path, and why what was found under it is not in the catalogue.
pub(super) type LeftOut = (Vec<u8>, String);

impl FoundParts {
    /// Keeps a part until the others have come.
    pub fn add(&mut self, volume: usize, located: &Located) -> Result<(), String> {
        let member = located.member.clone();
        let Some(part) = member.part else {
            return Err("it is not a part of a file".to_owned());
        };
        if member.bytes == 0 {
            return Err("a part without contents".to_owned());
        }
        if member.zstd_of.is_some() {
            return Err("a part of a compressed copy: restore it with tar and zstd".to_owned());
        }
        let whole = Whole {
            path: member.path.clone(),
            file_xxh3: member.file_xxh3,
            stored_ns: stored_ns(&member)?,
            modified_ns: member.modified_ns,
        };
        let parts = self.0.entry(whole).or_default();
        // What was written again on the same cartridge counts there.
        let found = FoundPart {
            volume,
            part,
            member,
            segment: located.segment,
        };
        let place = |part: &FoundPart| (part.volume, part.from(), part.to());
        parts.retain(|other| place(other) != place(&found));
        parts.push(found);
        Ok(())
    }

    /// The copies all of whose parts were read, and what lacks parts. Parts of volumes that could not be added do not count.
    pub fn join(
        self,
        copies_wanted: u32,
        labels: &[String],
        is_added: &dyn Fn(usize) -> bool,
    ) -> Joined {
        let mut joined = Joined::default();
        for (whole, mut parts) in self.0 {
            parts.retain(|part| is_added(part.volume));
            let mut is_first = true;
            parts.sort_by_key(|part| Reverse(part.from()));
            let bytes = parts.iter().map(FoundPart::to).max().unwrap_or(0);
            while let Some(copy) = take_copy(&whole, bytes, &mut parts, copies_wanted) {
                match copy {
                    Ok(copy) => joined.copies.push(copy),
                    Err(why) => joined.left_out.push((whole.path.clone(), why)),
                }
                is_first = false;
            }
            if let Some(one) = parts.first() {
                joined.rest.push(Rest {
                    member: one.member.clone(),
                    why: lacking(&parts, labels, is_first),
                    on: parts.iter().map(|part| part.volume).collect(),
                    is_alone: is_first,
                });
            }
        }
        joined
    }
}

/// Of which parts a copy can be made.
struct Cover<'p> {
    /// The last ones first.
    parts: &'p [FoundPart],
    bytes: u64,
    /// From where the other parts up to the end are there.
    leads_on: HashSet<u64>,
    /// Where the parts of each volume begin, the first one first.
    on: HashMap<usize, Vec<u64>>,
    /// How often a further volume may still be tried.
    tries: u32,
    chosen: Vec<&'p FoundPart>,
    volumes: Vec<usize>,
}

impl<'p> Cover<'p> {
    /// Tries after which any parts will do.
    const TRIES: u32 = 1000;

    /// The parts of a copy on volumes that have few others: on its own volumes a copy leaves nothing, and on those of
    /// another copy what that needs.
    fn of(parts: &'p [FoundPart], bytes: u64) -> Option<Vec<&'p FoundPart>> {
        let mut leads_on = HashSet::from([bytes]);
        for part in parts.iter().filter(|part| part.can_be_of(bytes)) {
            if leads_on.contains(&part.to()) {
                leads_on.insert(part.from());
            }
        }
        let mut on: HashMap<usize, Vec<u64>> = HashMap::new();
        for part in parts.iter().rev() {
            on.entry(part.volume).or_default().push(part.from());
        }
        let mut cover = Cover {
            parts,
            bytes,
            leads_on,
            on,
            tries: Cover::TRIES,
            chosen: Vec::new(),
            volumes: Vec::new(),
        };
        let mut left = successors(Some(0), |left| Some((2 * left).max(1)));
        let is_covered = left.find(|&left| cover.goes_on(left) || left > parts.len());
        is_covered.filter(|_| !cover.chosen.is_empty() || cover.goes_on(usize::MAX))?;
        Some(cover.chosen)
    }

    /// Chooses parts that lead on to the end, and says whether there are any. The volumes of all that is chosen may have at
    /// most `left` other parts.
    fn goes_on(&mut self, left: usize) -> bool {
        let before = (self.chosen.len(), self.volumes.len());
        loop {
            let at = self.chosen.last().map_or(0, |part| part.to());
            let passed = |volume| self.on[volume].partition_point(|from| *from < at);
            let passed: usize = self.volumes.iter().map(passed).sum();
            if passed - self.chosen.len() > left {
                break;
            }
            if at == self.bytes {
                return true;
            }
            let next = self.next(at);
            let is_known = |part: &&&FoundPart| self.volumes.contains(&part.volume);
            if let Some(here) = next.iter().find(is_known) {
                self.chosen.push(here);
                continue;
            }
            let known = (self.chosen.len(), self.volumes.len());
            for part in next {
                if self.tries == 0 && left < usize::MAX {
                    break;
                }
                self.tries = self.tries.saturating_sub(1);
                self.chosen.push(part);
                self.volumes.push(part.volume);
                if self.goes_on(left) {
                    return true;
                }
                self.chosen.truncate(known.0);
                self.volumes.truncate(known.1);
            }
            break;
        }
        self.chosen.truncate(before.0);
        self.volumes.truncate(before.1);
        false
    }

    /// The parts that begin here and lead on to the end: first those that are cut as the first one, on volumes that have
    /// nothing before them.
    fn next(&self, at: u64) -> Vec<&'p FoundPart> {
        let first = self.parts.partition_point(|part| part.from() > at);
        let here = self.parts[first..].iter();
        let here = here.take_while(|part| part.from() == at);
        let mut here: Vec<&FoundPart> = here
            .filter(|part| part.can_be_of(self.bytes) && self.leads_on.contains(&part.to()))
            .collect();
        let cut = self.chosen.first().map(|part| part.segment.bytes);
        here.sort_by_key(|part| {
            let is_cut_so = Some(part.segment.bytes) == cut;
            (!is_cut_so, self.on[&part.volume][0] < at, part.volume)
        });
        here
    }
}

/// Takes the parts of one copy, each of which begins where the one before ends: those that lie on volumes which hold
/// nothing of another one.
fn take_copy(
    whole: &Whole,
    bytes: u64,
    parts: &mut Vec<FoundPart>,
    copies_wanted: u32,
) -> Option<Result<Rediscovered, String>> {
    let member = parts.last()?.member.clone();
    let chosen = Cover::of(parts, bytes)?.into_iter();
    let segments: Vec<(usize, Segment)> = chosen.map(|part| (part.volume, part.segment)).collect();
    // No other copy may lie on these volumes: two copies on one volume are one.
    let used: HashSet<usize> = segments.iter().map(|(volume, _)| *volume).collect();
    parts.retain(|part| !used.contains(&part.volume));
    let file = match file_of(&member, bytes) {
        Ok(file) => file,
        Err(why) => return Some(Err(why)),
    };
    Some(Ok(Rediscovered {
        file,
        stored_ns: whole.stored_ns,
        copies_wanted: member.copies.unwrap_or(copies_wanted).max(1),
        zstd_bytes: None,
        segments,
    }))
}

/// Says which parts are missing.
fn lacking(parts: &[FoundPart], labels: &[String], is_only: bool) -> String {
    let here: BTreeSet<u32> = parts.iter().map(|found| found.part.number).collect();
    let here: Vec<String> = here.iter().map(u32::to_string).collect();
    let of = parts.iter().map(|found| found.part.of).max();
    let on: BTreeSet<usize> = parts.iter().map(|found| found.volume).collect();
    let on = on
        .iter()
        .filter_map(|&at| labels.get(at).map(String::as_str));
    let what = if is_only { "" } else { "of a further copy " };
    format!(
        "{what}part {} of {} is on {}, and the other parts are on no cartridge that was read",
        here.join(", "),
        of.unwrap_or(0),
        on.collect::<Vec<_>>().join(", ")
    )
}

/// A whole file that a member is.
pub(super) fn whole(
    located: &Located,
    volume: usize,
    copies_wanted: u32,
) -> Result<Rediscovered, String> {
    let member = &located.member;
    let file = file_of(member, member.zstd_of.unwrap_or(member.bytes))?;
    Ok(Rediscovered {
        file,
        stored_ns: stored_ns(member)?,
        copies_wanted: member.copies.unwrap_or(copies_wanted).max(1),
        zstd_bytes: member.zstd_of.map(|_| member.bytes),
        segments: vec![(volume, located.segment)],
    })
}

/// When a member's file was stored. All that we write says so; a member that does not may stand in the contents of a file.
fn stored_ns(member: &Member) -> Result<i64, String> {
    let why = "its header does not say when it was stored, so tapewise did not write it";
    member.stored_ns.ok_or_else(|| why.to_owned())
}

/// The file of a member, with its length in bytes.
pub(super) fn file_of(member: &Member, bytes: u64) -> Result<File, String> {
    let path = InnerPath::new(&member.path).map_err(|error| error.to_string())?;
    let sum = member.sum_of_file().map(|sum| Sum {
        kind: Kind::Xxh3,
        value: sum.to_be_bytes().to_vec(),
    });
    Ok(File {
        path: path.as_bytes().to_vec(),
        bytes,
        modified_ns: member.modified_ns,
        mode: member.mode,
        sums: sum.into_iter().collect(),
    })
}

/// Whether a member can be a file of an archive.
pub(super) fn is_file(located: &Located) -> Result<(), String> {
    match located.kind {
        MemberKind::File => Ok(()),
        MemberKind::Sparse => Err("a sparse file of GNU tar".to_owned()),
        MemberKind::HardLink | MemberKind::Symlink => Err("a link".to_owned()),
        MemberKind::Directory => Err("a directory".to_owned()),
        MemberKind::Other(kind) => Err(format!("type {:?}", char::from(kind))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part as it was found: its number, how many there are, where it begins, its bytes.
    type Found = (u32, u32, u64, u64);

    /// What comes of parts that are each on a volume of its own.
    fn joined(found: &[Found]) -> (Vec<Vec<(usize, u64)>>, Vec<String>) {
        joined_on(&found.iter().copied().enumerate().collect::<Vec<_>>())
    }

    /// The same, with the volumes.
    fn joined_on(found: &[(usize, Found)]) -> (Vec<Vec<(usize, u64)>>, Vec<String>) {
        let mut parts = FoundParts::default();
        for &(volume, (number, of, offset, bytes)) in found {
            let part = Part { number, of, offset };
            let added = parts.add(volume, &located(Some(part), bytes));
            added.expect("a part");
        }
        let labels: Vec<String> = (1..=found.len()).map(|at| format!("TW{at}")).collect();
        let Joined {
            copies,
            left_out,
            rest,
        } = parts.join(1, &labels, &|_| true);
        assert_eq!(left_out, []);
        let segments = |copy: Rediscovered| {
            let segments = copy.segments.into_iter();
            segments
                .map(|(volume, segment)| (volume, segment.file_offset))
                .collect()
        };
        let why = rest.into_iter().map(|rest| rest.why);
        (copies.into_iter().map(segments).collect(), why.collect())
    }

    fn located(part: Option<Part>, bytes: u64) -> Located {
        Located {
            member: Member {
                path: b"film".to_vec(),
                bytes,
                modified_ns: 0,
                mode: 0o644,
                xxh3: Some(1),
                part,
                zstd_of: None,
                file_xxh3: Some(2),
                stored_ns: Some(3),
                copies: None,
            },
            kind: MemberKind::File,
            target: None,
            tape_file: 1,
            segment: Segment {
                partition: 0,
                first_block: 2,
                last_block: 2,
                byte_offset: 0,
                bytes,
                file_offset: part.map_or(0, |part| part.offset),
                start: None,
                end: None,
            },
        }
    }

    #[test]
    fn a_member_that_does_not_say_when_it_was_stored_is_no_file_of_an_archive() {
        let part = Part {
            number: 1,
            of: 1,
            offset: 0,
        };
        let [mut one, mut part] = [None, Some(part)].map(|part| located(part, 8));
        for is_ours in [true, false] {
            assert_eq!(whole(&one, 0, 1).is_ok(), is_ours);
            assert_eq!(FoundParts::default().add(0, &part).is_ok(), is_ours);
            (one.member.stored_ns, part.member.stored_ns) = (None, None);
        }
    }

    #[test]
    fn parts_are_joined_by_where_they_begin_and_how_long_they_are() {
        let whole = |found: &[Found]| joined(found).0;
        // As any file of 24 bytes in parts, in whatever order they are found; and twice.
        let three = [(3, 3, 16, 8), (1, 3, 0, 8), (2, 3, 8, 8)];
        assert_eq!(whole(&three), [[(1, 0), (2, 8), (0, 16)]]);
        assert_eq!(whole(&[three, three].concat()).len(), 2);
        for missing in 0..3 {
            let mut two = three.to_vec();
            two.remove(missing);
            assert_eq!(whole(&two), Vec::<Vec<_>>::new(), "{two:?}");
        }
        // Begun in parts of 8, gone on with in parts of 10: of 16, 23 and 30 bytes.
        assert_eq!(whole(&[(1, 2, 0, 8), (1, 2, 8, 8)]).len(), 1);
        let longer = [(1, 3, 0, 8), (1, 3, 8, 10), (2, 3, 18, 5)];
        assert_eq!(whole(&longer), [[(0, 0), (1, 8), (2, 18)]]);
        let longest = [(1, 4, 0, 8), (1, 3, 8, 10), (2, 3, 18, 10), (3, 3, 28, 2)];
        assert_eq!(whole(&longest).len(), 1);
        for most in 1..3 {
            assert_eq!(whole(&longest[..most]), Vec::<Vec<_>>::new(), "{most}");
        }
        // Of two copies that are cut in two ways each takes its own parts, though one of them lacks the first one or the last.
        let eights = [(1, 2, 0, 8), (2, 2, 8, 8)];
        let tens = [(1, 2, 0, 10), (2, 2, 10, 6)];
        assert_eq!(whole(&[eights, tens].concat()).len(), 2);
        for lacking in 0..2 {
            assert_eq!(
                whole(&[&eights[lacking..=lacking], &tens].concat()),
                [[(1, 0), (2, 10)]]
            );
            assert_eq!(
                whole(&[&tens[lacking..=lacking], &eights].concat()),
                [[(1, 0), (2, 8)]]
            );
        }
        let endless = [(1, 2, 0, 8), (2, 2, 8, u64::MAX)];
        assert_eq!(whole(&endless), Vec::<Vec<_>>::new());
    }

    #[test]
    fn of_several_copies_each_keeps_its_own_volumes() {
        let part = |number: u32| (number, 4, u64::from(number - 1) * 8, 8);
        // Which parts each volume has.
        let whole = |volumes: &[&[u32]]| {
            let on = |(volume, numbers): (usize, &&[u32])| {
                let numbers = numbers.iter();
                numbers
                    .map(|number| (volume, part(*number)))
                    .collect::<Vec<_>>()
            };
            let found: Vec<_> = volumes.iter().enumerate().flat_map(on).collect();
            let (copies, left_out) = joined_on(&found);
            (copies.len(), left_out.len())
        };
        assert_eq!(whole(&[&[1, 2], &[1], &[3, 4], &[2, 3, 4]]), (2, 0));
        assert_eq!(whole(&[&[1, 2], &[1, 2, 4], &[3, 4], &[3]]), (2, 0));
        // What an abandoned copy left is not needed.
        assert_eq!(whole(&[&[1, 2, 3], &[1, 2], &[3, 4]]), (1, 1));
        // With this many volumes not every way can be tried.
        let many: Vec<[u32; 1]> = (0..400).map(|at| [at % 4 + 1]).collect();
        let many: Vec<&[u32]> = many.iter().map(|numbers| &numbers[..]).collect();
        assert_eq!(whole(&many), (100, 0));
    }

    #[test]
    fn of_very_many_parts_those_that_are_there_are_named() {
        let (copies, left_out) = joined(&[(2, u32::MAX, 8, 8), (7, u32::MAX, 48, 8)]);
        assert_eq!(copies, Vec::<Vec<_>>::new());
        let [why] = &left_out[..] else {
            panic!("{left_out:?}");
        };
        assert!(
            why.starts_with("part 2, 7 of 4294967295 is on TW1, TW2"),
            "{why}"
        );
    }
}
