//! What the disk cache holds.

use super::files::{Directories, insert_store, settle};
use super::rows::sums;
use super::{AT_ONCE, Database, Row, ToValue as _, Transaction, all, many, one, params, run, walk};
use crate::catalogue::{
    CacheKey, CacheRecords, Cached, CatalogueError, Evicted, FileId, FileState, Holds, NewStore,
    RequestId, Result, Tie,
};
use crate::sums::Sum;
use std::ops::ControlFlow;

const CACHED: &str = "SELECT key, file, bytes, dirty, entered_ns, used_ns FROM cached";

fn cached_of(row: &Row<'_>) -> Result<Cached> {
    Ok(Cached {
        key: row.get(0)?,
        file: row.get(1)?,
        bytes: row.get(2)?,
        dirty: row.get(3)?,
        entered_ns: row.get(4)?,
        used_ns: row.get(5)?,
    })
}

fn cached(transaction: &Transaction<'_>, file: FileId) -> Result<Option<Cached>> {
    one(
        transaction,
        &format!("{CACHED} WHERE file = ?1"),
        [file],
        cached_of,
    )
}

/// Enters a file into the cache's records; `settle` says whether it must be kept.
fn insert(transaction: &Transaction<'_>, key: CacheKey, file: FileId, at_ns: i64) -> Result<()> {
    if cached(transaction, file)?.is_some() {
        return Err(CatalogueError::IsCached(file));
    }
    let sql = "INSERT INTO cached (key, file, bytes, dirty, entered_ns, used_ns) \
        SELECT ?1, id, bytes, 1, ?3, ?3 FROM file WHERE id = ?2";
    if run(transaction, sql, params![key, file, at_ns])? == 0 {
        return Err(CatalogueError::NoFile(file));
    }
    settle(transaction, file, at_ns).map(|_| ())
}

/// What may go, longest unused first, until `bytes` are free.
fn evictable(transaction: &Transaction<'_>, bytes: u64) -> Result<Vec<Evicted>> {
    // That it is not dirty is what the index knows; that its copies are whole is looked up all the same.
    let sql = "SELECT cached.key, cached.file, cached.bytes FROM cached \
        JOIN file ON file.id = cached.file WHERE cached.dirty = 0 \
        AND NOT EXISTS (SELECT 1 FROM pin WHERE pin.file = cached.file) \
        AND (file.state = 'retired' OR file.copies_wanted <= (SELECT count(*) FROM copy \
            WHERE copy.file = cached.file AND copy.state = 'whole')) \
        ORDER BY cached.used_ns, cached.key";
    let mut found = Vec::new();
    let mut freed = 0u64;
    walk(transaction, sql, params![], |row| {
        if freed >= bytes {
            return Ok(ControlFlow::Break(()));
        }
        let evicted = Evicted {
            key: row.get(0)?,
            file: row.get(1)?,
            bytes: row.get(2)?,
        };
        freed = freed.saturating_add(evicted.bytes);
        found.push(evicted);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Notes when files were used, many at once.
fn note_used(transaction: &Transaction<'_>, used: &[(FileId, i64)]) -> Result<()> {
    for some in used.chunks(AT_ONCE) {
        let places = (0..some.len()).map(|at| format!("(?{}, ?{})", 2 * at + 1, 2 * at + 2));
        let sql = format!(
            "WITH used (file, at) AS (VALUES {}) UPDATE cached SET used_ns = used.at FROM used \
            WHERE cached.file = used.file AND cached.used_ns < used.at",
            places.collect::<Vec<_>>().join(", ")
        );
        let values = some
            .iter()
            .flat_map(|(file, at)| [file.to_value(), at.to_value()]);
        let values = values.collect::<Result<Vec<_>>>()?;
        transaction.search(&sql, &values, &mut |_| Ok(ControlFlow::Continue(())))?;
    }
    Ok(())
}

/// Which catalogue it is.
pub fn tie(transaction: &Transaction<'_>) -> Result<Tie> {
    let row = |row: &Row<'_>| {
        Ok(Tie {
            id: row.get(0)?,
            generation: row.get(1)?,
            line: row.get(2)?,
        })
    };
    let found = one(
        transaction,
        "SELECT id, generation, line FROM identity",
        params![],
        row,
    )?;
    found.ok_or_else(|| CatalogueError::Damaged("it does not say which catalogue it is".to_owned()))
}

fn move_on(transaction: &Transaction<'_>) -> Result<()> {
    let sql = "UPDATE identity SET generation = generation + 1";
    run(transaction, sql, params![])?;
    Ok(())
}

impl<D: Database> CacheRecords for D {
    fn store_cached(
        &self,
        files: &[(CacheKey, NewStore)],
        at_ns: i64,
    ) -> Result<Vec<(FileId, RequestId)>> {
        self.write(|transaction| {
            move_on(transaction)?;
            let mut known = Directories::new();
            let stored = files.iter().map(|(key, store)| {
                let ids = insert_store(transaction, store, FileState::Live, &mut known, at_ns)?;
                insert(transaction, *key, ids.0, at_ns)?;
                Ok(ids)
            });
            stored.collect()
        })
    }

    fn stage_cached(&self, key: CacheKey, file: FileId, bytes: u64, at_ns: i64) -> Result<()> {
        let sql = "SELECT path, bytes FROM file WHERE id = ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.write(|transaction| {
            let found: Option<(Vec<u8>, u64)> = one(transaction, sql, [file], row)?;
            let (path, file_bytes) = found.ok_or(CatalogueError::NoFile(file))?;
            if file_bytes != bytes {
                let what = format!("{bytes} bytes were staged, the file has {file_bytes}");
                return Err(CatalogueError::Impossible { path, what });
            }
            insert(transaction, key, file, at_ns)
        })
    }

    fn longest_path(&self) -> Result<Option<usize>> {
        self.read(|transaction| Ok(transaction.longest_path()))
    }

    fn tie(&self) -> Result<Tie> {
        self.read(tie)
    }

    fn move_on(&self, beyond: u64, line: &str) -> Result<Tie> {
        let sql = "UPDATE identity SET \
            generation = 1 + CASE WHEN generation < ?1 THEN ?1 ELSE generation END, line = ?2";
        self.write(|transaction| {
            run(transaction, sql, params![beyond, line])?;
            tie(transaction)
        })
    }

    fn cached(&self, file: FileId) -> Result<Option<Cached>> {
        self.read(|transaction| cached(transaction, file))
    }

    fn all_cached(&self) -> Result<Vec<Cached>> {
        let sql = format!("{CACHED} ORDER BY key");
        self.read(|transaction| all(transaction, &sql, params![], cached_of))
    }

    fn pin(&self, file: FileId, holder: &str, until_ns: Option<i64>) -> Result<()> {
        let sql = "INSERT INTO pin (file, holder, until_ns) VALUES (?1, ?2, ?3) \
            ON CONFLICT (file, holder) DO UPDATE SET until_ns = ?3";
        self.write(|transaction| {
            super::files::must_exist(transaction, file)?;
            run(transaction, sql, params![file, holder, until_ns])?;
            Ok(())
        })
    }

    fn unpin(&self, file: FileId, holder: &str) -> Result<bool> {
        let sql = "DELETE FROM pin WHERE file = ?1 AND holder = ?2";
        self.write(|transaction| Ok(run(transaction, sql, params![file, holder])? > 0))
    }

    fn evict(&self, bytes: u64, used: &[(FileId, i64)], at_ns: i64) -> Result<Vec<Evicted>> {
        self.write(|transaction| {
            note_used(transaction, used)?;
            run(transaction, "DELETE FROM pin WHERE until_ns <= ?1", [at_ns])?;
            let evicted = evictable(transaction, bytes)?;
            let keys: Vec<CacheKey> = evicted.iter().map(|file| file.key).collect();
            let gone = "DELETE FROM cached WHERE key IN ({many})";
            many(transaction, gone, &[], &keys, |_| Ok(()))?;
            Ok(evicted)
        })
    }

    fn forget_cached(&self, files: &[FileId]) -> Result<Vec<FileId>> {
        const IS_LAST: &str = "(dirty = 1 AND NOT EXISTS \
            (SELECT 1 FROM copy WHERE copy.file = cached.file AND copy.state = 'whole'))";
        self.write(|transaction| {
            let mut last = Vec::new();
            let sql = format!("SELECT file FROM cached WHERE {IS_LAST} AND file IN ({{many}})");
            many(transaction, &sql, &[], files, |row| {
                last.push(row.get(0)?);
                Ok(())
            })?;
            let sql = format!("DELETE FROM cached WHERE NOT {IS_LAST} AND file IN ({{many}})");
            many(transaction, &sql, &[], files, |_| Ok(()))?;
            Ok(last)
        })
    }

    fn sums_of(&self, file: FileId) -> Result<Vec<Sum>> {
        self.read(|transaction| sums(transaction, file))
    }

    fn drop_cached(&self, file: FileId) -> Result<()> {
        let sql = "DELETE FROM cached WHERE file = ?1";
        self.write(|transaction| run(transaction, sql, [file]).map(|_| ()))
    }

    fn cache_holds(&self, at_ns: i64) -> Result<Holds> {
        // Each by itself: few files are dirty or pinned, and these are found without going through all.
        let sums = "SELECT count(*) AS files, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes FROM cached";
        let sql = format!(
            "SELECT held.files, held.bytes, dirty.files, dirty.bytes, pinned.files, pinned.bytes FROM ({sums}) AS held, \
            ({sums} WHERE dirty = 1) AS dirty, ({sums} WHERE dirty = 0 AND file IN \
            (SELECT file FROM pin WHERE until_ns IS NULL OR until_ns > ?1)) AS pinned"
        );
        self.read(|transaction| {
            let found = one(transaction, &sql, [at_ns], |row| {
                Ok(Holds {
                    files: row.get(0)?,
                    bytes: row.get(1)?,
                    dirty_files: row.get(2)?,
                    dirty_bytes: row.get(3)?,
                    pinned_files: row.get(4)?,
                    pinned_bytes: row.get(5)?,
                })
            })?;
            Ok(found.unwrap_or_default())
        })
    }
}
