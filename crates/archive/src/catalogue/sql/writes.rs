//! Writes.

use super::files::settle_all;
use super::rejoin::displace_behind;
use super::rows::{SEGMENT_ROW, checked, segment_row};
use super::volume_rows::volume;
use super::{
    AT_ONCE, Database, Row, Transaction, Value, all, enter, many, new_row, one, params, run, walk,
};
use crate::catalogue::{
    CatalogueError, FileId, Migration, Missing, OpenWrite, Part, Result, VolumeId, WriteId, Writes,
    Written,
};
use crate::record::{Volume, VolumeFormat, VolumeState};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// A copy in an open write, and how much of it is on tape.
struct UnderWay {
    copy: i64,
    path: Vec<u8>,
    file_bytes: u64,
    zstd_bytes: Option<u64>,
    /// As the catalogue has it.
    zstd_before: Option<u64>,
    on_tape: u64,
    /// An empty file is on tape when its header is.
    begun: bool,
}

impl UnderWay {
    /// The length of what is written.
    fn bytes(&self) -> u64 {
        self.zstd_bytes.unwrap_or(self.file_bytes)
    }

    fn is_whole(&self) -> bool {
        self.begun && self.on_tape == self.bytes()
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

/// Puts copies under a write: new ones, or such as go on.
fn take_copies(transaction: &Transaction<'_>, write: &OpenWrite, label: &str) -> Result<()> {
    let files: Vec<FileId> = write.copies.iter().map(|(file, _)| *file).collect();
    let mut known: HashSet<FileId> = HashSet::new();
    let sql = "SELECT id FROM file WHERE id IN ({many})";
    many(transaction, sql, &[], &files, |row| {
        known.insert(row.get(0)?);
        Ok(())
    })?;
    let copies = known_copies(transaction, write.volume, &files)?;
    let (mut new, mut begun) = (Vec::new(), Vec::new());
    let mut taken: HashMap<FileId, u32> = HashMap::new();
    for &(file, number) in &write.copies {
        if !known.contains(&file) {
            return Err(CatalogueError::NoFile(file));
        }
        let copies = copies.get(&file).map_or(&[][..], |copies| copies);
        let of_this_write = taken.insert(file, number);
        let mut here = copies.iter().filter(|copy| copy.is_here);
        let on_tape = here.find(|copy| copy.number != number);
        let other = of_this_write.filter(|taken| *taken != number);
        if let Some(number) = other.or(on_tape.map(|copy| copy.number)) {
            let label = label.to_owned();
            return Err(CatalogueError::SameVolume {
                file,
                number,
                label,
            });
        }
        let copy = copies.iter().find(|copy| copy.number == number);
        let state = match of_this_write {
            Some(_) => Some("being written"),
            None => copy.and_then(|copy| copy.state.as_deref()),
        };
        if let Some(state) = state {
            let state = state.to_owned();
            return Err(CatalogueError::CopyExists {
                file,
                number,
                state,
            });
        }
        match copy {
            Some(copy) => begun.push(copy.id),
            None => new.push([
                Value::Integer(file.0),
                Value::Integer(number.into()),
                Value::Text("writing"),
                Value::Integer(write.id.0),
            ]),
        }
    }
    let sql = "UPDATE copy SET open_write = ?1 WHERE id IN ({many})";
    let id = [Value::Integer(write.id.0)];
    many(transaction, sql, &id, &begun, |_| Ok(()))?;
    let columns = ["file", "number", "state", "open_write"];
    enter(transaction, "copy", columns, &new)
}

/// The copies that files have, as a write on a volume sees them.
fn known_copies(
    transaction: &Transaction<'_>,
    volume: VolumeId,
    files: &[FileId],
) -> Result<HashMap<FileId, Vec<Known>>> {
    let mut copies: HashMap<FileId, Vec<Known>> = HashMap::new();
    let sql = "SELECT file, number, id, CASE WHEN state != 'writing' THEN state \
        WHEN open_write IS NOT NULL THEN 'being written' END, \
        state != 'lost' AND EXISTS (SELECT 1 FROM segment \
        WHERE segment.copy = copy.id AND segment.volume = ?1) \
        FROM copy WHERE file IN ({many})";
    let volume = [Value::Integer(volume.0)];
    many(transaction, sql, &volume, files, |row| {
        let copy = Known {
            number: row.get(1)?,
            id: row.get(2)?,
            state: row.get(3)?,
            is_here: row.get(4)?,
        };
        copies.entry(row.get(0)?).or_default().push(copy);
        Ok(())
    })?;
    Ok(copies)
}

/// A copy that a file has.
struct Known {
    number: u32,
    id: i64,
    /// Why it cannot be written.
    state: Option<String>,
    /// Some of it is on the volume that is to be written.
    is_here: bool,
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
            zstd_before: row.get(7)?,
        };
        Ok(((row.get(0)?, row.get(1)?), copy))
    })?;
    Ok(found.into_iter().collect())
}

/// The row of a segment that is what it should be: within the write, and the next bytes of its file.
fn enter_part(
    (volume, first_block, next_block): (VolumeId, u64, u64),
    copy: &mut UnderWay,
    part: &Part,
) -> Result<[Value<'static>; SEGMENT_ROW.len()]> {
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
    segment_row(volume, copy.copy, segment)
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
    let place = (volume, first_block, next_block);
    let rows = written.parts.iter().map(|part| {
        let Part { file, number, .. } = *part;
        let copy = copies.get_mut(&(file, number));
        enter_part(
            place,
            copy.ok_or(CatalogueError::NoCopy { file, number })?,
            part,
        )
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    enter(transaction, "segment", SEGMENT_ROW, &rows)?;
    let frames = copies
        .values()
        .filter(|copy| copy.zstd_bytes != copy.zstd_before);
    for copy in frames {
        let sql = "UPDATE copy SET zstd_bytes = ?2 WHERE id = ?1";
        run(transaction, sql, params![copy.copy, copy.zstd_bytes])?;
    }
    let whole = || copies.iter().filter(|(_, copy)| copy.is_whole());
    let sql =
        "UPDATE copy SET state = 'whole', written_ns = ?1, open_write = NULL WHERE id IN ({many})";
    let numbers: Vec<i64> = whole().map(|(_, copy)| copy.copy).collect();
    let at = [Value::Integer(at_ns)];
    many(transaction, sql, &at, &numbers, |_| Ok(()))?;
    let mut files: Vec<FileId> = whole().map(|((file, _), _)| *file).collect();
    files.sort_unstable();
    files.dedup();
    close(transaction, write)?;
    let sql = "UPDATE volume SET next_block = ?2, written_bytes = written_bytes + ?3, state = ?4 \
        WHERE id = ?1";
    let params = params![volume, next_block, written.bytes, written.state];
    run(transaction, sql, params)?;
    settle_all(transaction, &files, at_ns)
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

/// A copy of a file that may lack others.
struct Present {
    number: u32,
    is_lost: bool,
    /// It was begun, and nobody is writing it.
    waits: bool,
    from: u64,
    zstd_bytes: Option<u64>,
    volumes: Vec<VolumeId>,
}

/// The copies that a file lacks and that nobody is writing.
fn missing(copies: &[Present], wanted: u32) -> Vec<Missing> {
    let last = copies.iter().map(|copy| copy.number).max().unwrap_or(0);
    // Whole, or on its way.
    let cared_for = copies.iter().filter(|copy| !copy.is_lost && !copy.waits);
    let lacking = (wanted as usize).saturating_sub(cared_for.count());
    let parts = copies.iter().filter(|copy| copy.waits).map(|copy| Missing {
        number: copy.number,
        from: copy.from,
        zstd_bytes: copy.zstd_bytes,
    });
    let new = (last.saturating_add(1)..).map(|number| Missing {
        number,
        from: 0,
        zstd_bytes: None,
    });
    parts.chain(new).take(lacking).collect()
}

/// The copies of files, each file's by their numbers, with the volumes that have some of them.
fn copies_of(
    transaction: &Transaction<'_>,
    files: &[FileId],
) -> Result<HashMap<FileId, Vec<Present>>> {
    let sql = "SELECT copy.file, number, state = 'lost', state = 'writing' AND open_write IS NULL, \
        segment.bytes, zstd_bytes, segment.volume \
        FROM copy LEFT JOIN segment ON segment.copy = copy.id \
        WHERE copy.file IN ({many}) ORDER BY copy.file, number";
    let mut found: HashMap<FileId, Vec<Present>> = HashMap::new();
    many(transaction, sql, &[], files, |row| {
        let (copies, number) = (found.entry(row.get(0)?).or_default(), row.get(1)?);
        if copies.last().is_none_or(|copy| copy.number != number) {
            copies.push(Present {
                number,
                is_lost: row.get(2)?,
                waits: row.get(3)?,
                from: 0,
                zstd_bytes: row.get(5)?,
                volumes: Vec::new(),
            });
        }
        if let (Some(copy), Some(bytes)) = (copies.last_mut(), row.get::<Option<u64>>(4)?) {
            copy.from += bytes;
            let volume = row.get(6)?;
            if !copy.volumes.contains(&volume) {
                copy.volumes.push(volume);
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Adds the copies that files lack.
fn add_missing(
    transaction: &Transaction<'_>,
    listed: &mut Vec<(Migration, u32)>,
    found: &mut Vec<Migration>,
) -> Result<()> {
    let files: Vec<FileId> = listed.iter().map(|(one, _)| one.file).collect();
    let mut copies = copies_of(transaction, &files)?;
    for (mut migration, wanted) in listed.drain(..) {
        let copies = copies.remove(&migration.file).unwrap_or_default();
        migration.missing = missing(&copies, wanted);
        if let Some(first) = migration.missing.first() {
            let others = copies.iter().filter(|copy| copy.number != first.number);
            migration.elsewhere = others
                .flat_map(|copy| copy.volumes.iter().copied())
                .collect();
            found.push(migration);
        }
    }
    Ok(())
}

fn migrations(
    transaction: &Transaction<'_>,
    entered_until_ns: i64,
    limit: usize,
) -> Result<Vec<Migration>> {
    let sql = "SELECT cached.file, file.path, file.bytes, file.created_ns, file.copies_wanted, file.modified_ns \
        FROM cached JOIN file ON file.id = cached.file \
        WHERE cached.dirty = 1 AND cached.entered_ns <= ?1 ORDER BY cached.entered_ns, cached.key";
    let (mut listed, mut found) = (Vec::new(), Vec::new());
    walk(transaction, sql, [entered_until_ns], |row| {
        let migration = Migration {
            file: row.get(0)?,
            path: row.get(1)?,
            bytes: row.get(2)?,
            stored_ns: row.get(3)?,
            modified_ns: row.get(5)?,
            missing: Vec::new(),
            elsewhere: Vec::new(),
        };
        listed.push((migration, row.get(4)?));
        if found.len() + listed.len() < limit && listed.len() < AT_ONCE {
            return Ok(ControlFlow::Continue(()));
        }
        add_missing(transaction, &mut listed, &mut found)?;
        if found.len() < limit {
            return Ok(ControlFlow::Continue(()));
        }
        Ok(ControlFlow::Break(()))
    })?;
    add_missing(transaction, &mut listed, &mut found)?;
    found.truncate(limit);
    Ok(found)
}

impl<D: Database> Writes for D {
    fn begin_write(&self, id: VolumeId, copies: &[(FileId, u32)], at_ns: i64) -> Result<OpenWrite> {
        self.write(|transaction| {
            let on = volume(transaction, id)?;
            check_writable(transaction, id, &on)?;
            displace_behind(transaction, id, on.next_block, at_ns)?;
            let sql = "INSERT INTO open_write (volume, first_block, begun_ns) VALUES (?1, ?2, ?3) RETURNING id";
            let open = new_row(transaction, sql, params![id, on.next_block, at_ns])?;
            let write = OpenWrite {
                id: WriteId(open),
                volume: id,
                first_block: on.next_block,
                begun_ns: at_ns,
                copies: copies.to_vec(),
            };
            take_copies(transaction, &write, &on.label)?;
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
