//! Writes.

use super::files::{must_exist, settle};
use super::rows::{checked, insert_segment};
use super::volume_rows::volume;
use super::{Database, Row, Transaction, all, new_row, one, params, run, walk};
use crate::catalogue::{
    CatalogueError, FileId, Migration, Missing, OpenWrite, Part, Result, VolumeId, WriteId, Writes,
    Written,
};
use crate::record::{Volume, VolumeFormat, VolumeState};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A copy in an open write, and how much of it is on tape.
struct UnderWay {
    copy: i64,
    path: Vec<u8>,
    file_bytes: u64,
    zstd_bytes: Option<u64>,
    on_tape: u64,
    /// An empty file is on tape when its header is.
    begun: bool,
}

impl UnderWay {
    /// The length of what is written.
    fn bytes(&self) -> u64 {
        self.zstd_bytes.unwrap_or(self.file_bytes)
    }
}

pub(super) fn open_write_on(
    transaction: &Transaction<'_>,
    id: VolumeId,
) -> Result<Option<WriteId>> {
    let sql = "SELECT id FROM open_write WHERE volume = ?1";
    one(transaction, sql, [id], |row| row.get(0))
}

fn check_writable(transaction: &Transaction<'_>, id: VolumeId, on: &Volume) -> Result<()> {
    let takes_more = matches!(on.state, VolumeState::Empty | VolumeState::Filling);
    if on.format != VolumeFormat::Tapewise || !takes_more {
        return Err(CatalogueError::NotWritable {
            label: on.label.clone(),
            state: on.state.name(),
            format: on.format.name(),
        });
    }
    match open_write_on(transaction, id)? {
        Some(write) => Err(CatalogueError::WriteOpen {
            write,
            label: on.label.clone(),
        }),
        None => Ok(()),
    }
}

/// Puts a copy under a write: a new one, or one that goes on.
fn take_copy(
    transaction: &Transaction<'_>,
    write: &OpenWrite,
    label: &str,
    (file, number): (FileId, u32),
) -> Result<()> {
    must_exist(transaction, file)?;
    let sql = "SELECT number FROM copy WHERE file = ?1 AND number != ?2 AND state != 'lost' \
        AND (open_write = ?3 OR EXISTS (SELECT 1 FROM segment \
        WHERE segment.copy = copy.id AND segment.volume = ?4))";
    let params = params![file, number, write.id, write.volume];
    let other: Option<u32> = one(transaction, sql, params, |row| row.get(0))?;
    if let Some(number) = other {
        return Err(CatalogueError::SameVolume {
            file,
            number,
            label: label.to_owned(),
        });
    }
    let sql = "INSERT INTO copy (file, number, state, open_write) VALUES (?1, ?2, 'writing', ?3) \
        ON CONFLICT (file, number) DO UPDATE SET open_write = ?3 \
        WHERE copy.state = 'writing' AND copy.open_write IS NULL";
    if run(transaction, sql, params![file, number, write.id])? > 0 {
        return Ok(());
    }
    let sql = "SELECT CASE state WHEN 'writing' THEN 'being written' ELSE state END \
        FROM copy WHERE file = ?1 AND number = ?2";
    let state = one(transaction, sql, params![file, number], |row| row.get(0))?;
    Err(CatalogueError::CopyExists {
        file,
        number,
        state: state.unwrap_or_default(),
    })
}

fn under_way(
    transaction: &Transaction<'_>,
    write: WriteId,
) -> Result<HashMap<(FileId, u32), UnderWay>> {
    let sql = "SELECT copy.file, copy.number, copy.id, file.path, file.bytes, \
        (SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM segment WHERE segment.copy = copy.id), \
        EXISTS (SELECT 1 FROM segment WHERE segment.copy = copy.id), copy.zstd_bytes \
        FROM copy JOIN file ON file.id = copy.file WHERE copy.open_write = ?1";
    let found = all(transaction, sql, [write], |row| {
        let copy = UnderWay {
            copy: row.get(2)?,
            path: row.get(3)?,
            file_bytes: row.get(4)?,
            on_tape: row.get(5)?,
            begun: row.get(6)?,
            zstd_bytes: row.get(7)?,
        };
        Ok(((row.get(0)?, row.get(1)?), copy))
    })?;
    Ok(found.into_iter().collect())
}

/// Enters a segment that is what it should be: within the write, and the next bytes of its file.
fn enter_part(
    transaction: &Transaction<'_>,
    (volume, first_block, next_block): (VolumeId, u64, u64),
    copy: &mut UnderWay,
    part: &Part,
) -> Result<()> {
    let segment = &part.segment;
    let wrong = |what: String| CatalogueError::Impossible {
        path: copy.path.clone(),
        what,
    };
    let (first, last) = (segment.first_block, segment.last_block);
    if first < first_block || last < first || last >= next_block {
        return Err(wrong(format!(
            "blocks {first} to {last} are not in this write, which has {first_block} up to {next_block}"
        )));
    }
    checked(&copy.path, "an offset of", segment.byte_offset)?;
    if copy.begun && part.zstd_bytes != copy.zstd_bytes {
        let begun = copy.zstd_bytes;
        return Err(wrong(format!(
            "a zstd frame of {:?} bytes cannot go on with one of {begun:?}",
            part.zstd_bytes
        )));
    }
    checked(&copy.path, "a frame of", part.zstd_bytes.unwrap_or(0))?;
    copy.zstd_bytes = part.zstd_bytes;
    let end = segment.file_offset.checked_add(segment.bytes);
    let end = end.filter(|end| segment.file_offset == copy.on_tape && *end <= copy.bytes());
    copy.on_tape = end.ok_or_else(|| {
        wrong(format!(
            "a segment of {} bytes at byte {} of the file where {} of {} are on tape",
            segment.bytes,
            segment.file_offset,
            copy.on_tape,
            copy.bytes()
        ))
    })?;
    copy.begun = true;
    insert_segment(transaction, volume, copy.copy, segment)
}

fn commit(
    transaction: &Transaction<'_>,
    write: WriteId,
    written: &Written,
    at_ns: i64,
) -> Result<Vec<FileId>> {
    let sql = "SELECT volume, first_block FROM open_write WHERE id = ?1";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let open: Option<(VolumeId, u64)> = one(transaction, sql, [write], row)?;
    let (volume, first_block) = open.ok_or(CatalogueError::NoWrite(write))?;
    let next_block = written.next_block;
    if next_block < first_block || i64::try_from(next_block).is_err() {
        return Err(CatalogueError::WriteEnd {
            write,
            first_block,
            next_block,
        });
    }
    let mut copies = under_way(transaction, write)?;
    for part in &written.parts {
        let Part { file, number, .. } = *part;
        let copy = copies.get_mut(&(file, number));
        let copy = copy.ok_or(CatalogueError::NoCopy { file, number })?;
        enter_part(transaction, (volume, first_block, next_block), copy, part)?;
    }
    let frame = "UPDATE copy SET zstd_bytes = ?2 WHERE id = ?1";
    let whole = "UPDATE copy SET zstd_bytes = ?2, state = 'whole', written_ns = ?3, open_write = NULL WHERE id = ?1";
    let mut files: Vec<FileId> = Vec::new();
    for ((file, _), copy) in &copies {
        if copy.begun && copy.on_tape == copy.bytes() {
            run(
                transaction,
                whole,
                params![copy.copy, copy.zstd_bytes, at_ns],
            )?;
            files.push(*file);
        } else {
            run(transaction, frame, params![copy.copy, copy.zstd_bytes])?;
        }
    }
    close(transaction, write)?;
    let sql = "UPDATE volume SET next_block = ?2, written_bytes = written_bytes + ?3, state = ?4 \
        WHERE id = ?1";
    let params = params![volume, next_block, written.bytes, written.state];
    run(transaction, sql, params)?;
    files.sort_unstable();
    let mut complete = Vec::new();
    for file in files {
        if settle(transaction, file, at_ns)? {
            complete.push(file);
        }
    }
    Ok(complete)
}

/// Ends a write: copies with a part on tape wait for their next volume, those without are gone.
pub(super) fn close(transaction: &Transaction<'_>, write: WriteId) -> Result<()> {
    let sql = "DELETE FROM copy WHERE open_write = ?1 \
        AND NOT EXISTS (SELECT 1 FROM segment WHERE segment.copy = copy.id)";
    run(transaction, sql, [write])?;
    let sql = "UPDATE copy SET open_write = NULL WHERE open_write = ?1";
    run(transaction, sql, [write])?;
    match run(transaction, "DELETE FROM open_write WHERE id = ?1", [write])? {
        0 => Err(CatalogueError::NoWrite(write)),
        _ => Ok(()),
    }
}

/// The copies that a file lacks and that nobody is writing.
fn missing(transaction: &Transaction<'_>, file: FileId, wanted: u32) -> Result<Vec<Missing>> {
    let sql = "SELECT state = 'lost', state = 'writing' AND open_write IS NULL, number, \
        (SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM segment WHERE segment.copy = copy.id), zstd_bytes \
        FROM copy WHERE file = ?1 ORDER BY number";
    let copies: Vec<(bool, bool, Missing)> = all(transaction, sql, [file], |row| {
        let missing = Missing {
            number: row.get(2)?,
            from: row.get(3)?,
            zstd_bytes: row.get(4)?,
        };
        Ok((row.get(0)?, row.get(1)?, missing))
    })?;
    let last = copies.last().map_or(0, |(.., copy)| copy.number);
    // Whole, or on its way.
    let cared_for = copies.iter().filter(|(lost, waits, _)| !lost && !waits);
    let lacking = (wanted as usize).saturating_sub(cared_for.count());
    let parts = copies.iter().filter(|(_, waits, _)| *waits);
    let new = (last.saturating_add(1)..).map(|number| Missing {
        number,
        from: 0,
        zstd_bytes: None,
    });
    Ok(parts
        .map(|(.., part)| *part)
        .chain(new)
        .take(lacking)
        .collect())
}

/// The volumes that hold some of a file's copies but this one.
fn elsewhere(transaction: &Transaction<'_>, file: FileId, number: u32) -> Result<Vec<VolumeId>> {
    let sql = "SELECT DISTINCT segment.volume FROM copy JOIN segment ON segment.copy = copy.id \
        WHERE copy.file = ?1 AND copy.number != ?2";
    all(transaction, sql, params![file, number], |row| row.get(0))
}

fn migrations(
    transaction: &Transaction<'_>,
    entered_until_ns: i64,
    limit: usize,
) -> Result<Vec<Migration>> {
    let sql = "SELECT cached.file, file.path, file.bytes, file.created_ns, file.copies_wanted, file.modified_ns \
        FROM cached JOIN file ON file.id = cached.file \
        WHERE cached.dirty = 1 AND cached.entered_ns <= ?1 ORDER BY cached.entered_ns, cached.key";
    let mut found = Vec::new();
    walk(transaction, sql, [entered_until_ns], |row| {
        if found.len() == limit {
            return Ok(ControlFlow::Break(()));
        }
        let file = row.get(0)?;
        let missing = missing(transaction, file, row.get(4)?)?;
        let Some(first) = missing.first() else {
            return Ok(ControlFlow::Continue(()));
        };
        found.push(Migration {
            file,
            path: row.get(1)?,
            bytes: row.get(2)?,
            stored_ns: row.get(3)?,
            modified_ns: row.get(5)?,
            elsewhere: elsewhere(transaction, file, first.number)?,
            missing,
        });
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

impl<D: Database> Writes for D {
    fn begin_write(&self, id: VolumeId, copies: &[(FileId, u32)], at_ns: i64) -> Result<OpenWrite> {
        self.write(|transaction| {
            let on = volume(transaction, id)?;
            check_writable(transaction, id, &on)?;
            let sql = "INSERT INTO open_write (volume, first_block, begun_ns) VALUES (?1, ?2, ?3) RETURNING id";
            let open = new_row(transaction, sql, params![id, on.next_block, at_ns])?;
            let write = OpenWrite {
                id: WriteId(open),
                volume: id,
                first_block: on.next_block,
                begun_ns: at_ns,
                copies: copies.to_vec(),
            };
            for copy in copies {
                take_copy(transaction, &write, &on.label, *copy)?;
            }
            Ok(write)
        })
    }

    fn commit_write(&self, write: WriteId, written: &Written, at_ns: i64) -> Result<Vec<FileId>> {
        self.write(|transaction| commit(transaction, write, written, at_ns))
    }

    fn abandon_write(&self, write: WriteId) -> Result<()> {
        self.write(|transaction| close(transaction, write))
    }

    fn open_writes(&self) -> Result<Vec<OpenWrite>> {
        let copies = "SELECT file, number FROM copy WHERE open_write = ?1 ORDER BY file, number";
        let sql = "SELECT id, volume, first_block, begun_ns FROM open_write ORDER BY id";
        self.read(|transaction| {
            let mut writes = all(transaction, sql, params![], |row| {
                Ok(OpenWrite {
                    id: row.get(0)?,
                    volume: row.get(1)?,
                    first_block: row.get(2)?,
                    begun_ns: row.get(3)?,
                    copies: Vec::new(),
                })
            })?;
            for write in &mut writes {
                let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
                write.copies = all(transaction, copies, [write.id], row)?;
            }
            Ok(writes)
        })
    }

    fn drop_part(&self, file: FileId, number: u32) -> Result<()> {
        let sql = "SELECT id FROM copy WHERE file = ?1 AND number = ?2 \
            AND state = 'writing' AND open_write IS NULL";
        self.write(|transaction| {
            let found = one(transaction, sql, params![file, number], |row| row.get(0))?;
            let copy: i64 = found.ok_or(CatalogueError::NoCopy { file, number })?;
            run(transaction, "DELETE FROM segment WHERE copy = ?1", [copy])?;
            run(transaction, "DELETE FROM copy WHERE id = ?1", [copy])?;
            Ok(())
        })
    }

    fn next_migrations(&self, entered_until_ns: i64, limit: usize) -> Result<Vec<Migration>> {
        self.read(|transaction| migrations(transaction, entered_until_ns, limit))
    }
}
