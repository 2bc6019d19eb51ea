//! Files that were found on volumes of others.

use super::files::{ARRIVING_AT, LIVE_AT, file_at, insert_file, settle};
use super::rows::{insert_segment, insert_sums, sums};
use super::volume_rows::check_segments;
use super::{Row, Transaction, new_row, one, params};
use crate::catalogue::{CatalogueError, FileId, FileState, Recorded, Result, VolumeId};
use crate::record::VolumeFormat;

/// The file that a recorded one is a further copy of, if sums prove it.
fn same_file(
    transaction: &Transaction<'_>,
    recorded: &Recorded,
    volume: VolumeId,
) -> Result<Option<FileId>> {
    let path = &recorded.file.path;
    let taken = || CatalogueError::PathTaken { path: path.clone() };
    if file_at(transaction, ARRIVING_AT, path)?.is_some() {
        return Err(taken());
    }
    let Some(known) = file_at(transaction, LIVE_AT, path)? else {
        return Ok(None);
    };
    let sql = "SELECT bytes, EXISTS (SELECT 1 FROM copy JOIN segment ON segment.copy = copy.id \
        WHERE copy.file = file.id AND segment.volume = ?2) FROM file WHERE id = ?1";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(u64, bool)> = one(transaction, sql, params![known, volume], row)?;
    let (bytes, here) = found.ok_or(CatalogueError::NoFile(known))?;
    let known_sums = sums(transaction, known)?;
    let proven = recorded
        .file
        .sums
        .iter()
        .any(|sum| known_sums.contains(sum));
    if here || bytes != recorded.file.bytes || !proven {
        return Err(taken());
    }
    // One that agrees does not excuse another that differs.
    insert_sums(transaction, known, &recorded.file.sums)?;
    Ok(Some(known))
}

/// Enters a file with its copy on a volume: a new file, or a further copy of one.
pub fn insert_recorded(
    transaction: &Transaction<'_>,
    (volume, format): (VolumeId, VolumeFormat),
    recorded: &Recorded,
    at_ns: i64,
) -> Result<()> {
    check_segments(recorded, format)?;
    let known = same_file(transaction, recorded, volume)?;
    let file = match known {
        Some(file) => file,
        None => {
            let live = (1, FileState::Live);
            insert_file(transaction, &recorded.file, &recorded.owner, live, at_ns)?
        }
    };
    let sql = "INSERT INTO copy (file, number, state, written_ns, zstd_bytes) \
        SELECT ?1, 1 + coalesce(max(number), 0), 'whole', ?2, ?3 FROM copy WHERE file = ?1 RETURNING id";
    let copy = new_row(transaction, sql, params![file, at_ns, recorded.zstd_bytes])?;
    for segment in &recorded.segments {
        insert_segment(transaction, volume, copy, segment)?;
    }
    if known.is_some() {
        settle(transaction, file, at_ns)?;
    }
    Ok(())
}
