//! The catalogue in a file of SQLite.
//!
//! A write-ahead log with synchronous commits: what an operation has returned survives power loss.
//! One connection behind a lock; several processes may share the file, each waits for the other's
//! transaction up to [`BUSY_LIMIT`].

mod cached;
mod files;
mod integrity;
mod rejoin;
mod requests;
mod rows;
mod volumes;
mod writes;

use super::{Catalogue, CatalogueError, Result};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long an operation waits for another process's transaction.
pub const BUSY_LIMIT: Duration = Duration::from_secs(30);

/// Says that a database is one of ours: "tape" in ASCII.
const APPLICATION_ID: i64 = 0x7461_7065;

/// Each brings the schema up by one version; what was released is never changed.
const MIGRATIONS: [&str; 2] = [
    include_str!("migrations/001_archive.sql"),
    include_str!("migrations/002_versions.sql"),
];

impl From<rusqlite::Error> for CatalogueError {
    fn from(error: rusqlite::Error) -> CatalogueError {
        CatalogueError::Database(Box::new(error))
    }
}

/// A catalogue in one file.
pub struct SqliteCatalogue {
    connection: Mutex<Connection>,
}

impl SqliteCatalogue {
    /// Opens the catalogue in a file, or makes one, and brings its schema up to date.
    ///
    /// Fails where the file is a database of something else or of a newer program, and where its
    /// file system allows no write-ahead log.
    pub fn open(path: &Path) -> Result<SqliteCatalogue> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_LIMIT)?;
        // Looked at before anything is written: not even the journal mode of another's file changes.
        check_identity(&connection, path)?;
        let mode: String =
            connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            return Err(CatalogueError::NoWriteAheadLog {
                path: path.to_owned(),
                mode,
            });
        }
        SqliteCatalogue::with(connection, path)
    }

    /// A catalogue in memory: gone with the process, for tests and rehearsals.
    pub fn in_memory() -> Result<SqliteCatalogue> {
        SqliteCatalogue::with(Connection::open_in_memory()?, Path::new(":memory:"))
    }

    fn with(mut connection: Connection, path: &Path) -> Result<SqliteCatalogue> {
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.set_prepared_statement_cache_capacity(64);
        migrate(&mut connection, path)?;
        Ok(SqliteCatalogue {
            connection: Mutex::new(connection),
        })
    }

    /// A thread that panicked has rolled its transaction back: the connection is as good as before.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Does work that changes something, as one transaction.
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.connection();
        // Immediate: a transaction that began by reading could not wait for another writer.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// Does work that only reads, all of it from one state of the catalogue.
    fn read<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        work(&transaction)
    }
}

fn pragma(connection: &Connection, name: &str) -> Result<i64> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}

/// Refuses databases that are not ours, and those of newer programs.
fn check_identity(connection: &Connection, path: &Path) -> Result<()> {
    let application_id = pragma(connection, "application_id")?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application_id != APPLICATION_ID && (application_id != 0 || tables > 0) {
        return Err(CatalogueError::NotACatalogue {
            path: path.to_owned(),
            application_id,
        });
    }
    let found = pragma(connection, "user_version")?;
    if found < 0 || found > MIGRATIONS.len() as i64 {
        return Err(CatalogueError::Newer {
            path: path.to_owned(),
            found,
            known: MIGRATIONS.len() as u32,
        });
    }
    Ok(())
}

/// Brings the schema up to date, each version in a transaction of its own.
fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    for (version, migration) in (1i64..).zip(MIGRATIONS) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Looked at again: another process may have come first.
        check_identity(&transaction, path)?;
        if pragma(&transaction, "user_version")? < version {
            transaction.execute_batch(migration)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", version)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Where a file is written before it gets its name.
fn partial(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".partial");
    path.with_file_name(name)
}

/// Says in a backup that no volume takes more: what is written from now on is not in it, and whoever
/// writes by it would begin on top of that.
fn take_no_more(backup: &Path) -> Result<()> {
    let connection = Connection::open(backup)?;
    // A journal in a file might outlive a kill, and be taken for the next backup's.
    connection.execute_batch(
        "PRAGMA journal_mode = MEMORY; \
        UPDATE volume SET state = 'full' WHERE state IN ('empty', 'filling')",
    )?;
    Ok(())
}

impl Catalogue for SqliteCatalogue {
    fn schema_version(&self) -> u32 {
        MIGRATIONS.len() as u32
    }

    fn integrity(&self) -> Result<Vec<String>> {
        self.read(integrity::findings)
    }

    fn backup(&self, path: &Path) -> Result<()> {
        let failed = |source| CatalogueError::Io {
            path: path.to_owned(),
            source,
        };
        let partial = partial(path);
        // The rest of a backup that was killed; SQLite writes into empty files only.
        match std::fs::remove_file(&partial) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            _ => {}
        }
        let name = partial.to_str().ok_or_else(|| {
            failed(std::io::Error::new(
                std::io::ErrorKind::InvalidFilename,
                "SQLite takes names in UTF-8 only",
            ))
        })?;
        self.connection().execute("VACUUM INTO ?1", [name])?;
        take_no_more(&partial)?;
        let directory = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let sync = |path: &Path| std::fs::File::open(path)?.sync_all();
        sync(&partial)
            .and_then(|()| std::fs::rename(&partial, path))
            .and_then(|()| sync(directory.unwrap_or(Path::new("."))))
            .map_err(failed)
    }
}

/// The one row of a query, if there is one.
fn optional<T>(row: rusqlite::Result<T>) -> Result<Option<T>> {
    Ok(row.optional()?)
}
