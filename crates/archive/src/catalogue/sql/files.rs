//! Files.

use super::found::find;
use super::names;
use super::rows::{SEGMENT, check_path, checked, insert_sums, segment, sums};
use super::{Database, Row, ToValue, Transaction, Value, all, many, new_row, one, params, run};
use crate::catalogue::{
    CatalogueError, Copy, Entry, FileId, FileState, Files, Found, NewFile, NewStore, PART_NAMES,
    Pattern, Placed, RequestId, Result,
};
use crate::record::{File, Owner};
use crate::sums::Sum;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// The number of the live file of a path.
pub const LIVE_AT: &str = "SELECT id FROM file WHERE path = ?1 AND state = 'live'";

/// The number of the file that arrives at a path.
pub const ARRIVING_AT: &str = "SELECT id FROM file WHERE path = ?1 AND state = 'arriving'";

/// The file that one of the queries above finds.
pub fn file_at(transaction: &Transaction<'_>, sql: &str, path: &[u8]) -> Result<Option<FileId>> {
    one(transaction, sql, [path], |row| row.get(0))
}

/// The numbers of all files that have or had a path, the oldest first.
pub fn versions(transaction: &Transaction<'_>, path: &[u8]) -> Result<Vec<FileId>> {
    let all = all_at(transaction, path)?.into_iter();
    Ok(all.map(|(id, ..)| id).collect())
}

/// The same, with what each is and when it was stored.
fn all_at(transaction: &Transaction<'_>, path: &[u8]) -> Result<Vec<(FileId, FileState, i64)>> {
    // Each state has an index of its own.
    let sql = "SELECT id, state, created_ns FROM file WHERE path = ?1 AND state = 'live' \
        UNION ALL SELECT id, state, created_ns FROM file WHERE path = ?1 AND state = 'arriving' \
        UNION ALL SELECT id, state, created_ns FROM file WHERE path = ?1 AND state = 'retired' ORDER BY id";
    all(transaction, sql, [path], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })
}

/// Fails where no file has this number.
pub fn must_exist(transaction: &Transaction<'_>, id: FileId) -> Result<()> {
    let known = one(
        transaction,
        "SELECT 1 FROM file WHERE id = ?1",
        [id],
        |_| Ok(()),
    )?;
    known.ok_or(CatalogueError::NoFile(id))
}

/// Enters a file that takes its path, or says who has it.
pub fn insert_file(
    transaction: &Transaction<'_>,
    file: &File,
    owner: &Owner,
    (copies, state): (u32, FileState),
    at_ns: i64,
) -> Result<FileId> {
    let wrong = |what: &str| CatalogueError::Impossible {
        path: file.path.clone(),
        what: what.to_owned(),
    };
    if file.path.is_empty() || file.path.contains(&0) {
        return Err(wrong("a path has at least one byte, and none that is zero"));
    }
    check_path(transaction, &file.path)?;
    if copies == 0 {
        return Err(wrong("at least one copy must be wanted"));
    }
    checked(&file.path, "a length of", file.bytes)?;
    let sql = "INSERT INTO file (path, bytes, modified_ns, mode, user_name, group_name, account, \
        copies_wanted, state, created_ns, retired_ns) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) RETURNING id";
    let retired_ns = (state == FileState::Retired).then_some(at_ns);
    let (user, group, account) = (&owner.user, &owner.group, &owner.account);
    let params = params![
        file.path,
        file.bytes,
        file.modified_ns,
        file.mode,
        user,
        group,
        account,
        copies,
        state,
        at_ns,
        retired_ns
    ];
    let id = FileId(new_row(transaction, sql, params)?);
    insert_sums(transaction, id, &file.sums)?;
    Ok(id)
}

/// Directories in whose place no live file is, as far as one transaction has looked, and when the last file was stored
/// that was there.
pub type Directories = HashMap<Vec<u8>, i64>;

/// Sees that a new path and the live files can be delivered together. A file that would have to be a directory gives
/// way to one that replaces it. Returns when the last file was stored that was in the place of a directory.
fn make_way(
    transaction: &Transaction<'_>,
    (path, replace): (&[u8], bool),
    known: &mut Directories,
    at_ns: i64,
) -> Result<i64> {
    let in_the_way = |other: &[u8]| CatalogueError::InTheWay {
        path: path.to_vec(),
        other: other.to_vec(),
    };
    let mut last_ns = i64::MIN;
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    for (at, _) in slashes {
        let directory = &path[..at];
        let before_ns = match known.get(directory) {
            Some(&before_ns) => before_ns,
            None => {
                let mut before_ns = i64::MIN;
                for (other, state, stored_ns) in all_at(transaction, directory)? {
                    before_ns = before_ns.max(stored_ns);
                    match state {
                        FileState::Live if replace => retire(transaction, other, at_ns)?,
                        FileState::Live => return Err(in_the_way(directory)),
                        FileState::Arriving | FileState::Retired => {}
                    }
                }
                known.insert(directory.to_vec(), before_ns);
                before_ns
            }
        };
        last_ns = last_ns.max(before_ns);
    }
    let sql = "SELECT path FROM file WHERE path >= ?1 AND path < ?2 AND state = 'live' LIMIT 1";
    let other: Option<Vec<u8>> = one(transaction, sql, below(path), |row| row.get(0))?;
    other.map_or(Ok(last_ns), |other| Err(in_the_way(&other)))
}

/// What the paths below a directory begin at, and what they come before.
pub fn below(directory: &[u8]) -> [Vec<u8>; 2] {
    [[directory, b"/"].concat(), [directory, b"0"].concat()]
}

/// Enters a file that somebody stores, with the request to do so.
pub fn insert_store(
    transaction: &Transaction<'_>,
    store: &NewStore,
    state: FileState,
    known: &mut Directories,
    at_ns: i64,
) -> Result<(FileId, RequestId)> {
    let NewFile {
        file,
        owner,
        copies,
        replace,
    } = &store.new;
    let taken = || CatalogueError::PathTaken {
        path: file.path.clone(),
    };
    if file_at(transaction, ARRIVING_AT, &file.path)?.is_some() {
        return Err(taken());
    }
    let mut last_ns = i64::MIN;
    if let Some(old) = file_at(transaction, LIVE_AT, &file.path)? {
        if !replace && is_somewhere(transaction, old)? {
            return Err(taken());
        }
        // What only arrives replaces the old one when it is live itself: see `settle`.
        if state == FileState::Live {
            retire(transaction, old, at_ns)?;
        }
    } else {
        let replace = *replace && state == FileState::Live;
        last_ns = make_way(transaction, (&file.path, replace), known, at_ns)?;
    }
    // After all others that had its path or were in its way, though the clock was set back since: who makes the catalogue
    // again from the tapes knows by it which is the last one.
    for (.., other_ns) in all_at(transaction, &file.path)? {
        last_ns = last_ns.max(other_ns);
    }
    let stored_ns = at_ns.max(last_ns.saturating_add(1));
    let id = insert_file(transaction, file, owner, (*copies, state), stored_ns)?;
    let sql = "INSERT INTO request (kind, file, user_name, priority, deadline_ns, place, state, \
        created_ns, activity) VALUES ('store', ?1, ?2, ?3, ?4, ?5, 'queued', ?6, ?7) RETURNING id";
    let terms = &store.terms;
    let params = params![
        id,
        terms.user,
        terms.priority,
        terms.deadline_ns,
        store.source,
        at_ns,
        terms.activity
    ];
    Ok((id, RequestId(new_row(transaction, sql, params)?)))
}

/// Whether anything is left of a file: a whole copy, or it lies in the cache.
fn is_somewhere(transaction: &Transaction<'_>, id: FileId) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM copy WHERE file = ?1 AND state = 'whole') \
        OR EXISTS (SELECT 1 FROM cached WHERE file = ?1)";
    Ok(one(transaction, sql, [id], |row| row.get(0))?.unwrap_or(false))
}

/// Retires a file: the cache may drop it, and nobody waits for its copies.
pub fn retire(transaction: &Transaction<'_>, id: FileId, at_ns: i64) -> Result<()> {
    let sql =
        "UPDATE file SET state = 'retired', retired_ns = ?2 WHERE id = ?1 AND state != 'retired'";
    run(transaction, sql, params![id, at_ns])?;
    let sql = "UPDATE cached SET dirty = 0 WHERE file = ?1";
    run(transaction, sql, [id])?;
    let sql = "UPDATE request SET state = 'cancelled', done_ns = ?2 \
        WHERE file = ?1 AND done_ns IS NULL AND kind = 'store'";
    run(transaction, sql, params![id, at_ns])?;
    Ok(())
}

/// Draws the conclusions when the copies of a file have changed; whether it has those it wants.
pub fn settle(transaction: &Transaction<'_>, id: FileId, at_ns: i64) -> Result<bool> {
    Ok(!settle_all(transaction, &[id], at_ns)?.is_empty())
}

/// Draws the conclusions when the copies of files have changed; those that have the copies they want, by number.
///
/// Such a file is live, its requests to be stored are delivered and the cache may drop it; another one that is wanted
/// the cache must keep.
pub fn settle_all(
    transaction: &Transaction<'_>,
    files: &[FileId],
    at_ns: i64,
) -> Result<Vec<FileId>> {
    let sql = "SELECT id, state, copies_wanted <= \
        (SELECT count(*) FROM copy WHERE file = file.id AND copy.state = 'whole'), path \
        FROM file WHERE id IN ({many})";
    let (mut found, mut complete, mut kept, mut dropped) =
        (HashSet::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut new, mut paths): (Vec<FileId>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    many(transaction, sql, &[], files, |row| {
        let (id, state, is_complete) = (row.get(0)?, row.get::<FileState>(1)?, row.get(2)?);
        found.insert(id);
        if is_complete {
            complete.push(id);
        }
        let is_needed = !is_complete && state != FileState::Retired;
        if is_needed { &mut kept } else { &mut dropped }.push(id);
        if is_complete && state == FileState::Arriving {
            new.push(id);
            paths.push(row.get(3)?);
        }
        Ok(())
    })?;
    if let Some(id) = files.iter().find(|id| !found.contains(id)) {
        return Err(CatalogueError::NoFile(*id));
    }
    let sql = "UPDATE cached SET dirty = ?1 WHERE file IN ({many})";
    let nothing = |_: &Row<'_>| Ok(());
    many(transaction, sql, &[Value::Integer(1)], &kept, nothing)?;
    many(transaction, sql, &[Value::Integer(0)], &dropped, nothing)?;
    let mut old: Vec<FileId> = Vec::new();
    let sql = "SELECT id FROM file WHERE state = 'live' AND path IN ({many})";
    many(transaction, sql, &[], &paths, |row| {
        old.push(row.get(0)?);
        Ok(())
    })?;
    for old in old {
        retire(transaction, old, at_ns)?;
    }
    let sql = "UPDATE file SET state = 'live' WHERE id IN ({many})";
    many(transaction, sql, &[], &new, nothing)?;
    let sql = "UPDATE request SET state = 'delivered', done_ns = ?1 \
        WHERE file IN ({many}) AND done_ns IS NULL AND kind = 'store'";
    let at = [Value::Integer(at_ns)];
    many(transaction, sql, &at, &complete, nothing)?;
    complete.sort_unstable();
    Ok(complete)
}

/// The copies of a file with their segments.
fn copies(transaction: &Transaction<'_>, id: FileId) -> Result<Vec<Copy>> {
    let sql = "SELECT id, number, state, written_ns, verified_ns, zstd_bytes FROM copy WHERE file = ?1 \
        ORDER BY number";
    let found: Vec<(i64, Copy)> = all(transaction, sql, [id], |row| {
        let copy = Copy {
            number: row.get(1)?,
            state: row.get(2)?,
            written_ns: row.get(3)?,
            verified_ns: row.get(4)?,
            zstd_bytes: row.get(5)?,
            segments: Vec::new(),
        };
        Ok((row.get(0)?, copy))
    })?;
    let sql = format!(
        "SELECT volume, {SEGMENT} FROM segment WHERE copy = ?1 ORDER BY file_offset, volume, first_block"
    );
    let filled = found.into_iter().map(|(copy_id, copy)| {
        let segments = all(transaction, &sql, [copy_id], |row| {
            Ok((row.get(0)?, segment(row, 1)?))
        })?;
        Ok(Copy { segments, ..copy })
    });
    filled.collect()
}

fn entry(transaction: &Transaction<'_>, id: FileId) -> Result<Entry> {
    let sql = "SELECT path, bytes, modified_ns, mode, user_name, group_name, account, state, \
        copies_wanted, created_ns, (SELECT key FROM cached WHERE file = file.id) \
        FROM file WHERE id = ?1";
    let found = one(transaction, sql, [id], |row| {
        Ok(Entry {
            file: File {
                path: row.get(0)?,
                bytes: row.get(1)?,
                modified_ns: row.get(2)?,
                mode: row.get(3)?,
                sums: Vec::new(),
            },
            owner: Owner {
                user: row.get(4)?,
                group: row.get(5)?,
                account: row.get(6)?,
            },
            state: row.get(7)?,
            copies_wanted: row.get(8)?,
            created_ns: row.get(9)?,
            copies: Vec::new(),
            cached: row.get(10)?,
        })
    })?;
    let mut entry = found.ok_or(CatalogueError::NoFile(id))?;
    entry.file.sums = sums(transaction, id)?;
    entry.copies = copies(transaction, id)?;
    Ok(entry)
}

/// Which of these paths are directories. Each question is a journey to the server, so it is about many of them.
pub(super) fn directories_among(
    transaction: &Transaction<'_>,
    paths: &[&[u8]],
) -> Result<HashSet<Vec<u8>>> {
    const IN_A_QUESTION: usize = 64;
    let is_one = |at: usize| {
        let (from, until) = (2 * at + 1, 2 * at + 2);
        format!(
            "EXISTS (SELECT 1 FROM file WHERE state = 'live' AND path > ?{from} AND path < ?{until})"
        )
    };
    let questions: Vec<String> = (0..IN_A_QUESTION).map(is_one).collect();
    let sql = format!("SELECT {}", questions.join(", "));
    let mut found = HashSet::new();
    for some in paths.chunks(IN_A_QUESTION) {
        // The last ones stand there several times, so that there is one such query to be kept prepared.
        let asked = some.iter().cycle().take(IN_A_QUESTION);
        let inside =
            asked.flat_map(|path| [b'/', b'/' + 1].map(|byte| [path, &[byte][..]].concat()));
        let inside: Vec<Vec<u8>> = inside.collect();
        let values: Vec<Value<'_>> = inside
            .iter()
            .map(ToValue::to_value)
            .collect::<Result<_>>()?;
        transaction.search(&sql, &values, &mut |row| {
            for (at, path) in some.iter().enumerate() {
                if row.get(at)? {
                    found.insert(path.to_vec());
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

impl<D: Database> Files for D {
    fn announce(&self, files: &[NewStore], at_ns: i64) -> Result<Vec<(FileId, RequestId)>> {
        self.write(|transaction| {
            let mut known = Directories::new();
            let announced = files.iter().map(|store| {
                insert_store(transaction, store, FileState::Arriving, &mut known, at_ns)
            });
            announced.collect()
        })
    }

    fn file(&self, id: FileId) -> Result<Entry> {
        self.read(|transaction| entry(transaction, id))
    }

    fn live_file(&self, path: &[u8]) -> Result<Option<FileId>> {
        self.read(|transaction| file_at(transaction, LIVE_AT, path))
    }

    fn placed(&self, paths: &[&[u8]]) -> Result<Vec<Placed>> {
        let sql = "SELECT id, path, bytes, (SELECT key FROM cached WHERE cached.file = file.id), \
            EXISTS (SELECT 1 FROM copy WHERE copy.file = file.id AND copy.state = 'whole') \
            FROM file WHERE state = 'live' AND path IN ({many})";
        self.read(|transaction| {
            let mut found = Vec::new();
            many(transaction, sql, &[], paths, |row| {
                found.push(Placed {
                    file: row.get(0)?,
                    path: row.get(1)?,
                    bytes: row.get(2)?,
                    cached: row.get(3)?,
                    is_on_tape: row.get(4)?,
                });
                Ok(())
            })?;
            Ok(found)
        })
    }

    fn directories_among(&self, paths: &[&[u8]]) -> Result<HashSet<Vec<u8>>> {
        self.read(|transaction| directories_among(transaction, paths))
    }

    fn versions(&self, path: &[u8]) -> Result<Vec<FileId>> {
        self.read(|transaction| versions(transaction, path))
    }

    fn count_lacking(&self) -> Result<u64> {
        let sql = "SELECT count(*) FROM file WHERE state = 'live' AND copies_wanted > \
            (SELECT count(*) FROM copy WHERE copy.file = file.id AND copy.state = 'whole')";
        let lacking =
            self.read(|transaction| one(transaction, sql, params![], |row| row.get(0)))?;
        Ok(lacking.unwrap_or(0))
    }

    fn find(&self, pattern: &Pattern, after: Option<&[u8]>, limit: usize) -> Result<Vec<Found>> {
        self.read(|transaction| find(transaction, pattern, after, limit))
    }

    fn index_names(&self, names: usize) -> Result<bool> {
        names::index(self, names.clamp(1, PART_NAMES))
    }

    fn drop_name_index(&self) -> Result<()> {
        self.write(|transaction| {
            for table in ["name_part", "name_gram", "name_page"] {
                run(transaction, &format!("DELETE FROM {table}"), params![])?;
            }
            Ok(())
        })
    }

    fn retire(&self, id: FileId, at_ns: i64) -> Result<()> {
        self.write(|transaction| {
            must_exist(transaction, id)?;
            retire(transaction, id, at_ns)
        })
    }

    fn add_sums(&self, id: FileId, sums: &[Sum]) -> Result<()> {
        self.write(|transaction| {
            must_exist(transaction, id)?;
            insert_sums(transaction, id, sums)
        })
    }

    fn note_verified(&self, id: FileId, number: u32, at_ns: i64) -> Result<()> {
        let sql =
            "UPDATE copy SET verified_ns = ?3 WHERE file = ?1 AND number = ?2 AND state = 'whole'";
        self.write(
            |transaction| match run(transaction, sql, params![id, number, at_ns])? {
                0 => Err(CatalogueError::NoCopy { file: id, number }),
                _ => Ok(()),
            },
        )
    }

    fn take_back(&self, id: FileId, number: u32, at_ns: i64) -> Result<()> {
        let sql = "UPDATE copy SET state = 'whole', verified_ns = ?3, \
            written_ns = coalesce(written_ns, ?3) \
            WHERE file = ?1 AND number = ?2 AND state = 'lost' AND id IN (\
                SELECT copy.id FROM copy JOIN file ON file.id = copy.file \
                JOIN segment ON segment.copy = copy.id JOIN volume ON volume.id = segment.volume \
                WHERE file.id = ?1 AND copy.number = ?2 GROUP BY copy.id, file.id \
                HAVING sum(segment.bytes) = coalesce(copy.zstd_bytes, file.bytes) \
                    OR count(*) FILTER (WHERE volume.format = 'ltfs') > 0)";
        self.write(|transaction| {
            // A copy that was given up while it was written has too few segments, or none.
            if run(transaction, sql, params![id, number, at_ns])? == 0 {
                return Err(CatalogueError::NoCopy { file: id, number });
            }
            settle(transaction, id, at_ns).map(|_| ())
        })
    }

    fn want_copies(&self, files: &[FileId], copies: u32, at_ns: i64) -> Result<()> {
        let sql = "UPDATE file SET copies_wanted = ?1 WHERE copies_wanted < ?1 AND id IN ({many})";
        self.write(|transaction| {
            let wanted = [Value::Integer(copies.into())];
            many(transaction, sql, &wanted, files, |_| Ok(()))?;
            settle_all(transaction, files, at_ns).map(drop)
        })
    }

    fn drop_copy(&self, file: FileId, number: u32) -> Result<()> {
        let sql = "SELECT copy.id, copy.state = 'writing', file.copies_wanted, \
            (SELECT count(*) FROM copy AS other WHERE other.file = file.id \
                AND other.number != copy.number AND other.state = 'whole') \
            FROM copy JOIN file ON file.id = copy.file WHERE file.id = ?1 AND copy.number = ?2";
        self.write(|transaction| {
            let found = one(transaction, sql, params![file, number], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            let (copy, is_written, wanted, others): (i64, bool, u32, u32) =
                found.ok_or(CatalogueError::NoCopy { file, number })?;
            if is_written || others < wanted {
                return Err(CatalogueError::CopyNeeded {
                    file,
                    number,
                    wanted,
                    others,
                });
            }
            run(transaction, "DELETE FROM segment WHERE copy = ?1", [copy])?;
            run(transaction, "DELETE FROM copy WHERE id = ?1", [copy])?;
            Ok(())
        })
    }

    fn mark_lost(&self, id: FileId, number: u32, at_ns: i64) -> Result<()> {
        let sql =
            "UPDATE copy SET state = 'lost', open_write = NULL WHERE file = ?1 AND number = ?2";
        self.write(|transaction| {
            if run(transaction, sql, params![id, number])? == 0 {
                return Err(CatalogueError::NoCopy { file: id, number });
            }
            settle(transaction, id, at_ns).map(|_| ())
        })
    }
}
