//! Rows to values and back.

use super::{Row, Transaction, all, params, run};
use crate::catalogue::{CatalogueError, FileId, Result, VolumeId};
use crate::record::{Segment, Volume};
use crate::sums::Sum;
use tapewise_formats::WrapLpos;

/// The columns of a volume behind its number.
pub const VOLUME: &str = "label, uuid, format, state, block_bytes, next_block, written_bytes";

/// A volume whose columns begin at `at`.
pub fn volume(row: &Row<'_>, at: usize) -> Result<Volume> {
    Ok(Volume {
        label: row.get(at)?,
        uuid: row.get(at + 1)?,
        format: row.get(at + 2)?,
        state: row.get(at + 3)?,
        block_bytes: row.get(at + 4)?,
        next_block: row.get(at + 5)?,
        written_bytes: row.get(at + 6)?,
    })
}

/// The columns of a segment.
pub const SEGMENT: &str = "segment.partition, segment.first_block, segment.last_block, \
    segment.byte_offset, segment.bytes, segment.file_offset, \
    segment.start_wrap, segment.start_lpos, segment.end_wrap, segment.end_lpos";

/// A segment whose columns begin at `at`.
pub fn segment(row: &Row<'_>, at: usize) -> Result<Segment> {
    let place = |wrap: usize| -> Result<Option<WrapLpos>> {
        let both = (row.get(wrap)?, row.get(wrap + 1)?);
        Ok(match both {
            (Some(wrap), Some(lpos)) => Some(WrapLpos { wrap, lpos }),
            _ => None,
        })
    };
    Ok(Segment {
        partition: row.get(at)?,
        first_block: row.get(at + 1)?,
        last_block: row.get(at + 2)?,
        byte_offset: row.get(at + 3)?,
        bytes: row.get(at + 4)?,
        file_offset: row.get(at + 5)?,
        start: place(at + 6)?,
        end: place(at + 8)?,
    })
}

/// Enters a segment of a copy.
pub fn insert_segment(
    transaction: &Transaction<'_>,
    volume: VolumeId,
    copy: i64,
    segment: &Segment,
) -> Result<()> {
    let sql = "INSERT INTO segment (volume, copy, partition, first_block, last_block, byte_offset, \
        bytes, file_offset, start_wrap, start_lpos, end_wrap, end_lpos) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let params = params![
        volume,
        copy,
        segment.partition,
        segment.first_block,
        segment.last_block,
        segment.byte_offset,
        segment.bytes,
        segment.file_offset,
        segment.start.map(|place| place.wrap),
        segment.start.map(|place| place.lpos),
        segment.end.map(|place| place.wrap),
        segment.end.map(|place| place.lpos),
    ];
    run(transaction, sql, params)?;
    Ok(())
}

/// What a file sums up to, by name of the kind.
pub fn sums(transaction: &Transaction<'_>, file: FileId) -> Result<Vec<Sum>> {
    let sql = "SELECT kind, value FROM sum WHERE file = ?1 ORDER BY kind";
    all(transaction, sql, [file], |row| {
        Ok(Sum {
            kind: row.get(0)?,
            value: row.get(1)?,
        })
    })
}

/// A length of the archive fits the integers of databases.
pub fn checked(path: &[u8], what: &str, number: u64) -> Result<()> {
    if i64::try_from(number).is_ok() {
        return Ok(());
    }
    Err(CatalogueError::Impossible {
        path: path.to_vec(),
        what: format!("{what} {number} is beyond 2^63"),
    })
}
