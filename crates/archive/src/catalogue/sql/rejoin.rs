//! What was read from cartridges of ours, joined to what the catalogue knows.
//!
//! A file that the tape tells when it was stored is the one of the catalogue that was stored then, with the
//! same length and sum. Of two versions of a path the one that was stored later is live, in whatever order
//! their cartridges are read; the other is kept as a retired version with its copies. So it is with a file and those
//! that need a directory in its place.

use super::files::{below, insert_file, retire, settle, versions};
use super::rows::{insert_segment, sums};
use super::volume_rows::{check_segments, insert_volume, refuse_open_writes, volume};
use super::{Row, Transaction, all, many, new_row, one, params, run};
use crate::catalogue::{
    CopyState, FULL_IN_BACKUP, FileId, FileState, Recorded, Rediscovered, Rejoined, Result,
    VolumeId,
};
use crate::record::{Owner, Segment, Volume, VolumeFormat, VolumeState};
use std::collections::{BTreeMap, BTreeSet};

/// Joins volumes and the whole copies that were found on them.
pub fn rejoin(
    transaction: &Transaction<'_>,
    on: &[Volume],
    copies: &[Rediscovered],
    at_ns: i64,
) -> Result<Rejoined> {
    let mut joined = Rejoined::default();
    let mut ids = Vec::with_capacity(on.len());
    for volume in on {
        ids.push(renew(transaction, volume, &mut joined, at_ns)?);
    }
    for copy in copies {
        join(transaction, &ids, copy, &mut joined, at_ns)?;
    }
    Ok(joined)
}

/// Enters a volume, or brings one that is known to where its tape ends.
fn renew(
    transaction: &Transaction<'_>,
    read: &Volume,
    joined: &mut Rejoined,
    at_ns: i64,
) -> Result<VolumeId> {
    make_way(transaction, read, joined, at_ns)?;
    let sql = "SELECT id FROM volume WHERE lower(uuid) = lower(?1)";
    let Some(id) = one(transaction, sql, [&read.uuid], |row| row.get(0))? else {
        return insert_volume(transaction, read, at_ns);
    };
    refuse_open_writes(transaction, id)?;
    let known = volume(transaction, id)?;
    // Nothing new on it: what made it full or suspect holds, unless that was the backup.
    let takes_more = matches!(known.state, VolumeState::Empty | VolumeState::Filling)
        || was_full_in_backup(transaction, id)?;
    let state = if known.next_block == read.next_block && !takes_more {
        known.state
    } else {
        read.state
    };
    let sql = "UPDATE volume SET label = ?2, state = ?3, next_block = ?4, written_bytes = ?5 WHERE id = ?1";
    let (next, bytes) = (read.next_block, read.written_bytes);
    run(
        transaction,
        sql,
        params![id, read.label, state, next, bytes],
    )?;
    displace_from(transaction, id, next, joined, at_ns)?;
    Ok(id)
}

/// Whether a volume was full only because the catalogue was a backup; from now on it is as its state says.
pub fn was_full_in_backup(transaction: &Transaction<'_>, id: VolumeId) -> Result<bool> {
    let sql = "DELETE FROM fact WHERE volume = ?1 AND name = ?2";
    Ok(run(transaction, sql, params![id, FULL_IN_BACKUP])? > 0)
}

/// Another volume that has this label is not the one under this barcode any more: its cartridge was used again, or went
/// to another place. Its copies are lost until its cartridge is read, and it gets a label that no cartridge has.
fn make_way(
    transaction: &Transaction<'_>,
    read: &Volume,
    joined: &mut Rejoined,
    at_ns: i64,
) -> Result<()> {
    let sql = "SELECT id FROM volume WHERE label = ?1 AND lower(uuid) != lower(?2)";
    let label = params![read.label, read.uuid];
    let Some(other) = one(transaction, sql, label, |row| row.get::<VolumeId>(0))? else {
        return Ok(());
    };
    refuse_open_writes(transaction, other)?;
    displace_from(transaction, other, 0, joined, at_ns)?;
    let sql = "UPDATE volume SET label = label || ' (' || uuid || ')' WHERE id = ?1";
    run(transaction, sql, [other]).map(|_| ())
}

/// What the catalogue has on a volume from a block on is not there.
fn displace_from(
    transaction: &Transaction<'_>,
    volume: VolumeId,
    block: u64,
    joined: &mut Rejoined,
    at_ns: i64,
) -> Result<()> {
    let sql = "SELECT DISTINCT copy.id, copy.file FROM segment JOIN copy ON copy.id = segment.copy \
        WHERE segment.volume = ?1 AND segment.last_block >= ?2 AND copy.state != 'lost'";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    for (copy, file) in all(transaction, sql, params![volume, block], row)? {
        displace(transaction, copy, file, at_ns)?;
        joined.displaced += 1;
    }
    Ok(())
}

/// What the catalogue has on a volume and was not found there, though all of it was read.
pub fn give_up_missing(
    transaction: &Transaction<'_>,
    uuid: &str,
    found: &[Segment],
    at_ns: i64,
) -> Result<u64> {
    let found = found.iter();
    let found: BTreeSet<(u8, u64, u64)> = found
        .map(|segment| (segment.partition, segment.first_block, segment.byte_offset))
        .collect();
    let sql = "SELECT segment.partition, segment.first_block, segment.byte_offset, copy.id, copy.file \
        FROM segment JOIN copy ON copy.id = segment.copy JOIN volume ON volume.id = segment.volume \
        WHERE lower(volume.uuid) = lower(?1) AND copy.state = 'whole'";
    let row = |row: &Row<'_>| {
        let is_found = found.contains(&(row.get(0)?, row.get(1)?, row.get(2)?));
        Ok((is_found, row.get(3)?, row.get(4)?))
    };
    let known: Vec<(bool, i64, FileId)> = all(transaction, sql, [uuid], row)?;
    // A copy in several segments is missing once.
    let missing = known.into_iter().filter(|(is_found, ..)| !is_found);
    let missing: BTreeMap<i64, FileId> = missing.map(|(_, copy, file)| (copy, file)).collect();
    for (&copy, &file) in &missing {
        displace(transaction, copy, file, at_ns)?;
    }
    Ok(missing.len() as u64)
}

/// Gives up the copies that the catalogue has where a volume is about to be written. The writer has checked that each is
/// safe elsewhere.
pub(super) fn displace_behind(
    transaction: &Transaction<'_>,
    volume: VolumeId,
    next_block: u64,
    at_ns: i64,
) -> Result<()> {
    let sql = "SELECT DISTINCT copy.id, copy.file FROM segment JOIN copy ON copy.id = segment.copy \
        WHERE segment.volume = ?1 AND segment.partition = 0 AND segment.first_block >= ?2 AND copy.state = 'whole'";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let behind: Vec<(i64, FileId)> = all(transaction, sql, params![volume, next_block], row)?;
    let mut behind = behind.into_iter();
    behind.try_for_each(|(copy, file)| displace(transaction, copy, file, at_ns))
}

/// A copy is not where the catalogue has it: something else lies there, or nothing.
fn displace(transaction: &Transaction<'_>, copy: i64, file: FileId, at_ns: i64) -> Result<()> {
    let sql = "UPDATE copy SET state = 'lost', open_write = NULL WHERE id = ?1";
    run(transaction, sql, [copy])?;
    settle(transaction, file, at_ns).map(|_| ())
}

/// A copy of a file that lies where one was found, or on the same volumes.
struct Near {
    copy: i64,
    number: u32,
    state: CopyState,
    /// A part of it at least lies where one was found.
    is_there: bool,
    /// All of it lies where the found one does.
    is_same: bool,
}

fn join(
    transaction: &Transaction<'_>,
    ids: &[VolumeId],
    found: &Rediscovered,
    joined: &mut Rejoined,
    at_ns: i64,
) -> Result<()> {
    let recorded = Recorded {
        file: found.file.clone(),
        owner: Owner::default(),
        zstd_bytes: found.zstd_bytes,
        segments: found.segments.iter().map(|(_, segment)| *segment).collect(),
    };
    check_segments(&recorded, VolumeFormat::Tapewise)?;
    let segments: Vec<(VolumeId, Segment)> = found
        .segments
        .iter()
        .filter_map(|(at, segment)| Some((*ids.get(*at)?, *segment)))
        .collect();
    let known = matching(transaction, found)?;
    for (on, segment) in &segments {
        let sql = "SELECT copy.id, copy.file FROM segment JOIN copy ON copy.id = segment.copy \
            WHERE segment.volume = ?1 AND segment.partition = ?2 AND segment.first_block = ?3 \
            AND segment.byte_offset = ?4 AND copy.state != 'lost'";
        let place = params![
            on,
            segment.partition,
            segment.first_block,
            segment.byte_offset
        ];
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let here: Vec<(i64, FileId)> = all(transaction, sql, place, row)?;
        for (copy, file) in here.into_iter().filter(|(_, file)| Some(*file) != known) {
            displace(transaction, copy, file, at_ns)?;
            joined.displaced += 1;
        }
    }
    let files = joined.files;
    let file = match known {
        Some(file) => {
            revive(transaction, file, joined, at_ns)?;
            file
        }
        None => insert(transaction, found, joined, at_ns)?,
    };
    let is_revived = joined.files > files;
    for near in near(transaction, file, &segments)? {
        match near.state {
            CopyState::Lost if near.is_same => {
                // All of it was read, and its sum is right.
                let sql = "UPDATE copy SET state = 'whole', written_ns = coalesce(written_ns, ?2) \
                    WHERE id = ?1";
                run(transaction, sql, params![near.copy, at_ns])?;
                joined.copies += 1;
                return settle(transaction, file, at_ns).map(|_| ());
            }
            CopyState::Lost if !near.is_there => {}
            // What is left of it belongs to the one that was found: its other parts may lie on a cartridge that
            // is gone.
            CopyState::Lost | CopyState::Writing => drop_copy(transaction, near.copy)?,
            CopyState::Whole => {
                debug_assert!(near.number > 0);
                joined.known += 1;
                return Ok(());
            }
        }
    }
    let sql = "INSERT INTO copy (file, number, state, written_ns, zstd_bytes) \
        SELECT ?1, 1 + coalesce(max(number), 0), 'whole', ?2, ?3 FROM copy WHERE file = ?1 RETURNING id";
    let copy = new_row(
        transaction,
        sql,
        params![file, found.stored_ns, found.zstd_bytes],
    )?;
    for (on, segment) in &segments {
        insert_segment(transaction, *on, copy, segment)?;
    }
    joined.copies += u64::from(known.is_some() && !is_revived);
    settle(transaction, file, at_ns).map(|_| ())
}

fn drop_copy(transaction: &Transaction<'_>, copy: i64) -> Result<()> {
    run(transaction, "DELETE FROM segment WHERE copy = ?1", [copy])?;
    run(transaction, "DELETE FROM copy WHERE id = ?1", [copy])?;
    Ok(())
}

/// Where a segment begins: volume, partition, block, byte in the block.
type Place = (VolumeId, u8, u64, u64);

/// The copies of a file with a segment on one of the volumes of a found one. One that lies exactly there comes first.
fn near(
    transaction: &Transaction<'_>,
    file: FileId,
    segments: &[(VolumeId, Segment)],
) -> Result<Vec<Near>> {
    let found: BTreeSet<Place> = segments
        .iter()
        .map(|(on, segment)| {
            let Segment {
                partition,
                first_block,
                byte_offset,
                ..
            } = *segment;
            (*on, partition, first_block, byte_offset)
        })
        .collect();
    let sql = "SELECT id, number, state FROM copy WHERE file = ?1 ORDER BY number";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let copies: Vec<(i64, u32, CopyState)> = all(transaction, sql, [file], row)?;
    let mut near = Vec::new();
    for (copy, number, state) in copies {
        let sql = "SELECT volume, partition, first_block, byte_offset FROM segment WHERE copy = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let places: BTreeSet<Place> = all(transaction, sql, [copy], row)?.into_iter().collect();
        if places
            .iter()
            .all(|(on, ..)| segments.iter().all(|(other, _)| other != on))
        {
            continue;
        }
        near.push(Near {
            copy,
            number,
            state,
            is_there: !places.is_disjoint(&found),
            is_same: places == found,
        });
    }
    near.sort_by_key(|near| (!near.is_same, !near.is_there));
    Ok(near)
}

/// The file of the catalogue of which a copy was found.
fn matching(transaction: &Transaction<'_>, found: &Rediscovered) -> Result<Option<FileId>> {
    for id in versions(transaction, &found.file.path)? {
        let sql = "SELECT bytes, created_ns FROM file WHERE id = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let known: Option<(u64, i64)> = one(transaction, sql, [id], row)?;
        let Some((bytes, created_ns)) = known else {
            continue;
        };
        let known_sums = sums(transaction, id)?;
        let has_sum = found.file.sums.iter().any(|sum| known_sums.contains(sum));
        if bytes == found.file.bytes && has_sum && created_ns == found.stored_ns {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Makes a retired file live again in whose place nothing later is: it was retired when its cartridge was forgotten.
fn revive(
    transaction: &Transaction<'_>,
    file: FileId,
    joined: &mut Rejoined,
    at_ns: i64,
) -> Result<()> {
    let sql = "SELECT path, created_ns FROM file WHERE id = ?1 AND state = 'retired'";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let Some((path, created_ns)) = one::<_, (Vec<u8>, i64), 1>(transaction, sql, [file], row)?
    else {
        return Ok(());
    };
    let rivals = rivals(transaction, &path)?;
    if rivals.iter().any(|rival| rival.created_ns >= created_ns) {
        return Ok(());
    }
    for rival in rivals {
        retire(transaction, rival.file, at_ns)?;
    }
    let sql = "UPDATE file SET state = 'live', retired_ns = NULL WHERE id = ?1";
    run(transaction, sql, [file])?;
    joined.files += 1;
    Ok(())
}

/// Enters a file that the catalogue does not know: as the live one of its path, or as an older version.
fn insert(
    transaction: &Transaction<'_>,
    found: &Rediscovered,
    joined: &mut Rejoined,
    at_ns: i64,
) -> Result<FileId> {
    let rivals = rivals(transaction, &found.file.path)?;
    joined.versions += u64::from(!rivals.is_empty());
    let is_older = |rival: &Rival| rival.created_ns < found.stored_ns;
    let state = if rivals.iter().all(is_older) {
        for rival in rivals {
            retire(transaction, rival.file, at_ns)?;
        }
        joined.files += 1;
        FileState::Live
    } else {
        FileState::Retired
    };
    let how = (found.copies_wanted, state);
    let stored_ns = found.stored_ns;
    insert_file(transaction, &found.file, &Owner::default(), how, stored_ns)
}

/// A live file that cannot be delivered beside another one.
struct Rival {
    file: FileId,
    created_ns: i64,
}

/// The live files that cannot be delivered beside one of this path: the one that has it, those where it needs a
/// directory, and those below it. Which of them were deleted, or replaced by which, no tape says; the last one stored
/// stays.
fn rivals(transaction: &Transaction<'_>, path: &[u8]) -> Result<Vec<Rival>> {
    let mut rivals = Vec::new();
    let mut enter = |row: &Row<'_>| {
        rivals.push(Rival {
            file: row.get(0)?,
            created_ns: row.get(1)?,
        });
        Ok(())
    };
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let directories = slashes.map(|(at, _)| &path[..at]);
    let at: Vec<&[u8]> = directories.chain([path]).collect();
    let sql = "SELECT id, created_ns FROM file WHERE state = 'live' AND path IN ({many})";
    many(transaction, sql, &[], &at, &mut enter)?;
    let sql = "SELECT id, created_ns FROM file WHERE state = 'live' AND path >= ?1 AND path < ?2";
    all(transaction, sql, below(path), enter)?;
    Ok(rivals)
}
