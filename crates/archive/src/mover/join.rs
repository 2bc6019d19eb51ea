//! What was read of cartridges of ours becomes files: whole ones at once, those in parts when all of their
//! parts have been read.

use crate::catalogue::Rediscovered;
use crate::deliver::InnerPath;
use crate::record::{File, Segment};
use crate::sums::{Kind, Sum};
use crate::volume::{Kind as MemberKind, Located, Member};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What is the same for all parts of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Whole {
    path: Vec<u8>,
    file_xxh3: Option<u64>,
    stored_ns: i64,
    modified_ns: i64,
    of: u32,
}

/// A part of a file that spans segments or volumes.
#[derive(Clone, Debug)]
struct FoundPart {
    /// The place of its volume among those that were read.
    volume: usize,
    member: Member,
    segment: Segment,
}

/// The parts of files that were read so far.
#[derive(Debug, Default)]
pub(super) struct FoundParts(BTreeMap<Whole, Vec<FoundPart>>);

/// A path, and why what was found under it is not in the catalogue.
pub(super) type LeftOut = (Vec<u8>, String);

impl FoundParts {
    /// Keeps a part until the others have come.
    pub fn add(&mut self, volume: usize, located: &Located) -> Result<(), String> {
        let member = located.member.clone();
        let Some(part) = member.part else {
            return Err("it is not a part of a file".to_owned());
        };
        if member.zstd_of.is_some() {
            return Err("a part of a compressed copy: restore it with tar and zstd".to_owned());
        }
        let whole = Whole {
            path: member.path.clone(),
            file_xxh3: member.file_xxh3,
            stored_ns: stored_ns(&member)?,
            modified_ns: member.modified_ns,
            of: part.of,
        };
        let parts = self.0.entry(whole).or_default();
        // What was written again on the same cartridge counts there.
        parts.retain(|other| {
            let number = other.member.part.map(|part| part.number);
            other.volume != volume || number != Some(part.number)
        });
        parts.push(FoundPart {
            volume,
            member,
            segment: located.segment,
        });
        Ok(())
    }

    /// The copies all of whose parts were read, and what lacks parts.
    pub fn join(self, copies_wanted: u32, labels: &[String]) -> (Vec<Rediscovered>, Vec<LeftOut>) {
        let (mut copies, mut left_out) = (Vec::new(), Vec::new());
        for (whole, mut parts) in self.0 {
            let mut is_first = true;
            while let Some(copy) = take_copy(&whole, &mut parts, copies_wanted) {
                match copy {
                    Ok(copy) => copies.push(copy),
                    Err(why) => left_out.push((whole.path.clone(), why)),
                }
                is_first = false;
            }
            if !parts.is_empty() {
                left_out.push((
                    whole.path.clone(),
                    lacking(&whole, &parts, labels, is_first),
                ));
            }
        }
        (copies, left_out)
    }
}

/// Takes the parts of one copy: those that lie on volumes which hold nothing of another one.
fn take_copy(
    whole: &Whole,
    parts: &mut Vec<FoundPart>,
    copies_wanted: u32,
) -> Option<Result<Rediscovered, String>> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut used: HashSet<usize> = HashSet::new();
    for number in 1..=whole.of {
        let is_it = |at: &usize| {
            parts[*at]
                .member
                .part
                .is_some_and(|part| part.number == number)
        };
        let on = |at: &usize| parts[*at].volume;
        // On a volume of this copy, else on the one that has the fewest of its parts.
        let at = (0..parts.len()).filter(is_it).min_by_key(|at| {
            let others = parts.iter().filter(|other| other.volume == on(at));
            (!used.contains(&on(at)), others.count(), on(at))
        })?;
        used.insert(parts[at].volume);
        chosen.push(at);
    }
    let mut segments = Vec::new();
    let mut bytes = 0;
    let mut is_gapless = true;
    for &at in &chosen {
        let FoundPart {
            volume, segment, ..
        } = parts[at];
        is_gapless &= segment.file_offset == bytes;
        bytes = bytes.saturating_add(segment.bytes);
        segments.push((volume, segment));
    }
    let member = parts[chosen[0]].member.clone();
    // No other copy may lie on these volumes: two copies on one volume are one.
    parts.retain(|part| !used.contains(&part.volume));
    if !is_gapless {
        return Some(Err("its parts do not follow one another".to_owned()));
    }
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
fn lacking(whole: &Whole, parts: &[FoundPart], labels: &[String], is_only: bool) -> String {
    let numbers = parts
        .iter()
        .filter_map(|found| Some(found.member.part?.number));
    let here: BTreeSet<u32> = numbers.collect();
    let here: Vec<String> = here.iter().map(u32::to_string).collect();
    let mut on: Vec<&str> = parts
        .iter()
        .filter_map(|part| labels.get(part.volume).map(String::as_str))
        .collect();
    on.dedup();
    let what = if is_only { "" } else { "of a further copy " };
    format!(
        "{what}part {} of {} is on {}, and the other parts are on no cartridge that was read",
        here.join(", "),
        whole.of,
        on.join(", ")
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
    use crate::volume::Part;

    /// Members as they were found, each on a volume of its own: number, how many there are, where they begin, bytes.
    fn joined(found: &[(u32, u32, u64, u64)]) -> (Vec<Vec<(usize, u64)>>, Vec<String>) {
        let mut parts = FoundParts::default();
        for (volume, &(number, of, offset, bytes)) in found.iter().enumerate() {
            let part = Part { number, of, offset };
            let added = parts.add(volume, &located(Some(part), bytes));
            added.expect("a part");
        }
        let labels: Vec<String> = (1..=found.len()).map(|at| format!("TW{at}")).collect();
        let (copies, left_out) = parts.join(1, &labels);
        let segments = |copy: Rediscovered| {
            let segments = copy.segments.into_iter();
            segments
                .map(|(volume, segment)| (volume, segment.file_offset))
                .collect()
        };
        let left_out = left_out.into_iter().map(|(_, why)| why);
        (
            copies.into_iter().map(segments).collect(),
            left_out.collect(),
        )
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
