//! The catalogue in a file of SQLite.
//!
//! A write-ahead log with synchronous commits: what an operation has returned survives power loss.
//! One connection behind a lock; several processes may share the file, each waits for the other's
//! transaction up to [`BUSY_LIMIT`].

mod failure;
mod file;
mod integrity;
mod schema;
mod transaction;

use super::sql::{Database, Transaction, broken_rules, must_hold, refuse_moved};
use super::{Catalogue, CatalogueError, FULL_IN_BACKUP, Lease, Result, ServerState};
pub use file::BUSY_LIMIT;
pub(super) use file::{appear, appear_alone, end_log};
use file::{copy_to, pragma, read_only, refuse_lost};
use integrity::{KeysLater, check_keys, damages};
use rusqlite::{Connection, TransactionBehavior};
pub use schema::KNOWN;
pub(super) use schema::refuse_to_replace;
use schema::{check_identity, migrate, migrate_to};
use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

impl From<rusqlite::Error> for CatalogueError {
    fn from(error: rusqlite::Error) -> CatalogueError {
        match error {
            rusqlite::Error::ToSqlConversionFailure(_) => CatalogueError::NumberTooLarge,
            error => CatalogueError::Database(Box::new(failure::Failure(error))),
        }
    }
}

/// Statements that a connection keeps ready.
const STATEMENTS: usize = 64;

/// KiB of pages that a connection keeps, as SQLite has it (`-KiB`): its default of 2 MB reads a large catalogue from the file
/// again and again.
const CACHE_KIB: i64 = -65_536;

/// A catalogue in one file.
pub struct SqliteCatalogue {
    connection: Arc<Mutex<Connection>>,
    /// The lease without which nothing is written; none where whoever writes has all of the archive.
    lease: Option<Lease>,
}

impl SqliteCatalogue {
    /// Opens the catalogue in a file, or makes one, and brings its schema up to date.
    ///
    /// Fails where the file is a database of something else or of a newer program, and where its
    /// file system allows no write-ahead log.
    pub fn open(path: &Path) -> Result<SqliteCatalogue> {
        if !path.exists() {
            // Names of files are nobody else's business. What SQLite makes beside it has its mode.
            let mut options = OpenOptions::new();
            let options = options.create(true).append(true).mode(0o600);
            options.open(path).map_err(|source| CatalogueError::Io {
                path: path.to_owned(),
                source,
            })?;
        }
        SqliteCatalogue::of_file(path)
    }

    /// Opens the catalogue in a file that must be one. Where it is missing or empty it was lost, and a new one
    /// would not know what the old one knew.
    pub fn open_existing(path: &Path) -> Result<SqliteCatalogue> {
        refuse_lost(path)?;
        SqliteCatalogue::of_file(path)
    }

    /// Opens a catalogue and changes nothing, not even files beside it, where they cannot be made.
    pub fn open_to_read(path: &Path) -> Result<SqliteCatalogue> {
        refuse_lost(path)?;
        let connection = read_only(path)?;
        connection.busy_timeout(BUSY_LIMIT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        check_identity(&connection, path)?;
        let found = pragma(&connection, "user_version")?;
        if found < i64::from(KNOWN) {
            return Err(CatalogueError::Older {
                path: path.to_owned(),
                found,
                known: KNOWN,
            });
        }
        Ok(SqliteCatalogue::of(connection))
    }

    fn of_file(path: &Path) -> Result<SqliteCatalogue> {
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

    /// A new catalogue in a file that is empty, with this schema: an older one takes what an older catalogue held. It
    /// is not on the disk before the file is synced.
    pub(super) fn of_schema(path: &Path, schema: u32) -> Result<SqliteCatalogue> {
        let mut connection = Connection::open(path)?;
        // A log in a file might outlive a kill, and be taken for that of the file of this name.
        connection.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        migrate_to(&mut connection, path, schema)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        Ok(SqliteCatalogue::of(connection))
    }

    /// Ends the making of such a catalogue. It has a write-ahead log from now on, as whoever opens it wants: with another
    /// journal a change that is killed would keep those out who only read.
    pub(super) fn with_log(self) -> Result<()> {
        self.connection()
            .query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        Ok(())
    }

    /// A catalogue that nobody opens because a move has marked it, to look at the marks and at what it holds.
    pub(super) fn marked_to_read(path: &Path) -> Result<SqliteCatalogue> {
        refuse_lost(path)?;
        Ok(SqliteCatalogue::of(read_only(path)?))
    }

    /// The same, to change the marks.
    pub(super) fn marked(path: &Path) -> Result<SqliteCatalogue> {
        refuse_lost(path)?;
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_LIMIT)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(SqliteCatalogue::of(connection))
    }

    /// A catalogue in memory: gone with the process, for tests and rehearsals.
    pub fn in_memory() -> Result<SqliteCatalogue> {
        SqliteCatalogue::with(Connection::open_in_memory()?, Path::new(":memory:"))
    }

    fn with(mut connection: Connection, path: &Path) -> Result<SqliteCatalogue> {
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "cache_size", CACHE_KIB)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        migrate(&mut connection, path)?;
        Ok(SqliteCatalogue::of(connection))
    }

    fn of(connection: Connection) -> SqliteCatalogue {
        SqliteCatalogue {
            connection: Arc::new(Mutex::new(connection)),
            lease: None,
        }
    }

    /// Whether a file is that of the catalogue, by whatever name.
    fn is_in(&self, path: &Path) -> bool {
        let identity = |path: &Path| {
            let file = std::fs::metadata(path).ok()?;
            Some((file.dev(), file.ino()))
        };
        let own = self.connection().path().map(PathBuf::from);
        let own = own.and_then(|own| identity(&own));
        own.is_some() && identity(path) == own
    }

    fn write_on<T>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        // Immediate: a transaction that began by reading could not wait for another writer.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let place = || transaction.path().unwrap_or_default().into();
        refuse_moved(&transaction, place)?;
        if let Some(lease) = &self.lease {
            must_hold(&transaction, lease)?;
        }
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// A thread that panicked has rolled its transaction back: the connection is as good as before.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Database for SqliteCatalogue {
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.write_on(&mut self.connection(), work)
    }

    fn write_list<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.connection();
        let has_files = "SELECT EXISTS (SELECT 1 FROM file)";
        if connection.query_row(has_files, [], |row| row.get(0))? {
            return self.write_on(&mut connection, work);
        }
        let keys_later = KeysLater::of(&mut connection)?;
        self.write_on(keys_later.0, |transaction| {
            let value = work(transaction)?;
            check_keys(transaction)?;
            Ok(value)
        })
    }

    fn read<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        work(&transaction)
    }

    fn bound_to(&self, lease: &Lease) -> Arc<dyn Catalogue> {
        Arc::new(SqliteCatalogue {
            connection: Arc::clone(&self.connection),
            lease: Some(lease.clone()),
        })
    }
}

/// Says in a backup that no volume takes more: what is written from now on is not in it, and whoever
/// writes by it would begin on top of that.
pub(super) fn take_no_more(backup: &Path) -> Result<()> {
    let connection = Connection::open(backup)?;
    // A journal in a file might outlive a kill, and be taken for the next backup's.
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = MEMORY; \
        INSERT OR IGNORE INTO fact (volume, name, value, seen_ns) \
            SELECT id, '{FULL_IN_BACKUP}', state, 0 FROM volume WHERE state IN ('empty', 'filling'); \
        UPDATE volume SET state = 'full' WHERE state IN ('empty', 'filling')"
    ))?;
    Ok(())
}

impl Catalogue for SqliteCatalogue {
    fn schema_version(&self) -> u32 {
        KNOWN
    }

    fn server_state(&self) -> Result<Option<ServerState>> {
        Ok(None)
    }

    fn integrity(&self) -> Result<Vec<String>> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        let mut findings = damages(&transaction)?;
        findings.extend(broken_rules(&transaction)?);
        Ok(findings)
    }

    fn backup(&self, path: &Path) -> Result<()> {
        if self.is_in(path) {
            return Err(CatalogueError::BackupOntoItself {
                path: path.to_owned(),
            });
        }
        refuse_to_replace(path)?;
        copy_to(&self.connection(), path, take_no_more)
    }
}
