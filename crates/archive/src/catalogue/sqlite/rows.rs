//! Rows to values and back.

use crate::catalogue::{
    CacheKey, CatalogueError, Cause, CopyState, FileId, FileState, Outage, RequestId, RequestKind,
    RequestState, Resource, Result, VolumeId, WriteId,
};
use crate::record::{Segment, Volume, VolumeFormat, VolumeState};
use crate::sums::{Kind, Sum};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Params, Row, Transaction};
use tapewise_formats::WrapLpos;

/// Numbers of ours are integers in the database.
macro_rules! numbers {
    ($($number:ident($inner:ty)),*) => {$(
        impl ToSql for $number {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }
        impl FromSql for $number {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <$inner>::column_result(value).map($number)
            }
        }
    )*};
}

numbers!(
    FileId(i64),
    VolumeId(i64),
    WriteId(i64),
    RequestId(i64),
    CacheKey(u64)
);

/// States and kinds are their names in the database.
macro_rules! words {
    ($($word:ident),*) => {$(
        impl ToSql for $word {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.name().to_sql()
            }
        }
        impl FromSql for $word {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let name = value.as_str()?;
                let found = $word::ALL.into_iter().find(|word| word.name() == name);
                found.ok_or(FromSqlError::InvalidType)
            }
        }
    )*};
}

words!(
    VolumeFormat,
    VolumeState,
    FileState,
    CopyState,
    RequestKind,
    RequestState,
    Cause,
    Kind,
    Outage,
    Resource
);

/// All rows of a query.
pub fn all<T>(
    transaction: &Transaction<'_>,
    sql: &str,
    params: impl Params,
    value: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = transaction.prepare_cached(sql)?;
    let rows = statement.query_map(params, value)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Carries out a statement that is used again; the number of rows it changed.
pub fn run(transaction: &Transaction<'_>, sql: &str, params: impl Params) -> Result<usize> {
    Ok(transaction.prepare_cached(sql)?.execute(params)?)
}

/// The one row of a query that is used again.
pub fn one<T>(
    transaction: &Transaction<'_>,
    sql: &str,
    params: impl Params,
    value: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    super::optional(transaction.prepare_cached(sql)?.query_row(params, value))
}

/// The columns of a volume behind its number.
pub const VOLUME: &str = "label, uuid, format, state, block_bytes, next_block, written_bytes";

/// A volume whose columns begin at `at`.
pub fn volume(row: &Row<'_>, at: usize) -> rusqlite::Result<Volume> {
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
pub fn segment(row: &Row<'_>, at: usize) -> rusqlite::Result<Segment> {
    let place = |wrap: usize| -> rusqlite::Result<Option<WrapLpos>> {
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
    let params = rusqlite::params![
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
