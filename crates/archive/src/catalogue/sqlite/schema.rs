//! The schema of a catalogue: which version a file has, and how an older one is brought up to date.
//!
//! Each version is one migration in one transaction, so a killed process leaves the old schema or the new one. A copy
//! of the old catalogue is complete on the disk, beside the catalogue, before the first of them begins.

use super::file::{copy_to, pragma, read_only, refuse_lost};
use crate::catalogue::{CatalogueError, Result, Upgrade};
use rusqlite::{Connection, TransactionBehavior};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Says that a database is one of ours: "tape" in ASCII.
const APPLICATION_ID: i64 = 0x7461_7065;

/// Each brings the schema up by one version; what was released is never changed.
const MIGRATIONS: [&str; 11] = [
    include_str!("../migrations/001_archive.sql"),
    include_str!("../migrations/002_versions.sql"),
    include_str!("../migrations/003_identity.sql"),
    include_str!("../migrations/004_stages.sql"),
    include_str!("../migrations/005_line.sql"),
    include_str!("../migrations/006_leases.sql"),
    include_str!("../migrations/007_desk.sql"),
    include_str!("../migrations/008_activity.sql"),
    include_str!("../migrations/009_lease_times.sql"),
    include_str!("../migrations/010_started.sql"),
    include_str!("../migrations/011_names.sql"),
];

/// The schema that this program reads and writes.
pub const KNOWN: u32 = MIGRATIONS.len() as u32;

impl Upgrade {
    /// Looks at the catalogue in a file, and changes nothing. `None` where it has this program's schema.
    ///
    /// # Errors
    /// Where there is no catalogue, or it is one of a newer program.
    pub(in crate::catalogue) fn of_file(path: &Path) -> Result<Option<Upgrade>> {
        refuse_lost(path)?;
        let connection = read_only(path)?;
        check_identity(&connection, path)?;
        let found = pragma(&connection, "user_version")? as u32;
        let migrations = (1..).zip(MIGRATIONS);
        Ok((found < KNOWN).then(|| Upgrade::new(found, migrations, copy_of(path, found))))
    }
}

/// The file beside a catalogue that keeps it as it was with an older schema.
fn copy_of(path: &Path, schema: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".schema-{schema}"));
    PathBuf::from(name)
}

/// A backup replaces only backups: not what is no catalogue, nor the catalogue of an archive.
pub(in crate::catalogue) fn refuse_to_replace(path: &Path) -> Result<()> {
    let Ok(metadata) = path.metadata() else {
        return Ok(());
    };
    // The file format of SQLite: 100 bytes of header, the application in the last but 32.
    let mut header = [0; 100];
    // Opening a pipe would wait for whoever writes it.
    let is_ours = metadata.is_file()
        && File::open(path).is_ok_and(|mut there| there.read_exact(&mut header).is_ok())
        && header.starts_with(b"SQLite format 3\0")
        && header[68..72] == (APPLICATION_ID as u32).to_be_bytes();
    let what = if !is_ours {
        "there, and is no catalogue"
    } else if path.ends_with("catalogue.db") && path.with_file_name("archive.toml").is_file() {
        "the catalogue of another archive"
    } else {
        return Ok(());
    };
    Err(CatalogueError::BackupOntoOther {
        path: path.to_owned(),
        what,
    })
}

/// Brings the schema of an open catalogue up to date; a new file gets it whole.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    let found = pragma(connection, "user_version")?;
    if 0 < found && found < i64::from(KNOWN) {
        copy_to(connection, &copy_of(path, found as u32), |_| Ok(()))?;
    }
    migrate_to(connection, path, KNOWN)
}

/// Brings the schema up to a version.
pub(super) fn migrate_to(connection: &mut Connection, path: &Path, schema: u32) -> Result<()> {
    for (version, migration) in (1..=i64::from(schema)).zip(MIGRATIONS) {
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

/// Refuses databases that are not ours, those of newer programs, and what a move has marked.
pub(super) fn check_identity(connection: &Connection, path: &Path) -> Result<()> {
    let application_id = pragma(connection, "application_id")?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application_id != APPLICATION_ID && (application_id != 0 || tables > 0) {
        return Err(CatalogueError::NotACatalogue {
            path: path.to_owned(),
            application_id,
        });
    }
    let moved = "SELECT count(*) FROM sqlite_schema WHERE name = 'moved_to'";
    if connection.query_row(moved, [], |row| row.get::<_, i64>(0))? > 0 {
        let sql = "SELECT place FROM moved_to";
        return Err(CatalogueError::Moved {
            path: path.to_owned(),
            to: connection.query_row(sql, [], |row| row.get(0))?,
        });
    }
    let arriving = "SELECT count(*) FROM sqlite_schema WHERE name = 'arriving'";
    if connection.query_row(arriving, [], |row| row.get::<_, i64>(0))? > 0 {
        let sql = "SELECT origin FROM arriving";
        return Err(CatalogueError::Arriving {
            path: path.to_owned(),
            from: connection.query_row(sql, [], |row| row.get(0))?,
        });
    }
    let found = pragma(connection, "user_version")?;
    if found < 0 || found > i64::from(KNOWN) {
        return Err(CatalogueError::Newer {
            path: path.to_owned(),
            found,
            known: KNOWN,
        });
    }
    Ok(())
}
