//! Rows to values and back.

use super::{Row, Transaction, Value, all, params, run};
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

/// The names of the columns of [`segment_row`].
pub const SEGMENT_ROW: [&str; 12] = [
    "volume",
    "copy",
    "partition",
    "first_block",
    "last_block",
    "byte_offset",
    "bytes",
    "file_offset",
    "start_wrap",
    "start_lpos",
    "end_wrap",
    "end_lpos",
];

/// A segment of a copy as a row.
pub fn segment_row(volume: VolumeId, copy: i64, segment: &Segment) -> Result<[Value<'static>; 12]> {
    let number = |number: u64| {
        let number = i64::try_from(number).map_err(|_| CatalogueError::NumberTooLarge);
        number.map(Value::Integer)
    };
    let place = |place: Option<WrapLpos>| match place {
        Some(place) => [u64::from(place.wrap), u64::from(place.lpos)].map(number),
        None => [Ok(Value::Null), Ok(Value::Null)],
    };
    let ([start_wrap, start_lpos], [end_wrap, end_lpos]) =
        (place(segment.start), place(segment.end));
    Ok([
        Value::Integer(volume.0),
        Value::Integer(copy),
        number(segment.partition.into())?,
        number(segment.first_block)?,
        number(segment.last_block)?,
        number(segment.byte_offset)?,
        number(segment.bytes)?,
        number(segment.file_offset)?,
        start_wrap?,
        start_lpos?,
        end_wrap?,
        end_lpos?,
    ])
}

/// Enters a segment of a copy.
pub fn insert_segment(
    transaction: &Transaction<'_>,
    volume: VolumeId,
    copy: i64,
    segment: &Segment,
) -> Result<()> {
    let sql = format!(
        "INSERT INTO segment ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        SEGMENT_ROW.join(", ")
    );
    transaction.run(&sql, &segment_row(volume, copy, segment)?)?;
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

/// Enters sums of a file; one that is known must be the same.
pub fn insert_sums(transaction: &Transaction<'_>, id: FileId, new: &[Sum]) -> Result<()> {
    let sql = "INSERT INTO sum (file, kind, value) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    for sum in new {
        if run(transaction, sql, params![id, sum.kind, sum.value])? > 0 {
            continue;
        }
        let all_known = sums(transaction, id)?;
        let known = all_known.iter().find(|known| known.kind == sum.kind);
        if let Some(known) = known.filter(|known| *known != sum) {
            return Err(CatalogueError::OtherSum {
                file: id,
                known: known.to_string(),
                given: sum.to_string(),
            });
        }
    }
    Ok(())
}

/// Refuses a path that the database has no room for.
pub fn check_path(transaction: &Transaction<'_>, path: &[u8]) -> Result<()> {
    match transaction.longest_path() {
        Some(most) if path.len() > most => Err(CatalogueError::PathTooLong {
            path: path.to_vec(),
            most,
        }),
        _ => Ok(()),
    }
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
