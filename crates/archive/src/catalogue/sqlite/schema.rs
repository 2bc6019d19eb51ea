//! The schema of a catalogue: which version a file has, and how an older one is brought up to date.
//!
//! Each version is one migration in one transaction, so a killed process leaves the old schema or the new one. A copy
//! of the old catalogue is complete on the disk, beside the catalogue, before the first of them begins.

use super::file::{copy_to, pragma, read_only, refuse_lost};
use crate::catalogue::{CatalogueError, Result};
use rusqlite::{Connection, TransactionBehavior};
use std::path::{Path, PathBuf};

/// Says that a database is one of ours: "tape" in ASCII.
const APPLICATION_ID: i64 = 0x7461_7065;

/// Each brings the schema up by one version; what was released is never changed.
const MIGRATIONS: [&str; 6] = [
    include_str!("../migrations/001_archive.sql"),
    include_str!("../migrations/002_versions.sql"),
    include_str!("../migrations/003_identity.sql"),
    include_str!("../migrations/004_stages.sql"),
    include_str!("../migrations/005_line.sql"),
    include_str!("../migrations/006_leases.sql"),
];

/// The schema that this program reads and writes.
pub const KNOWN: u32 = MIGRATIONS.len() as u32;

/// What opening a catalogue to write would do to its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The schema of the file.
    pub found: u32,
    /// For each version above it up to [`KNOWN`]: what it brings, in a sentence.
    pub brings: Vec<(u32, &'static str)>,
    /// The copy of the catalogue as it is, which is made first.
    pub copy: PathBuf,
}

impl Upgrade {
    /// Looks at a catalogue, and changes nothing. `None` where it has this program's schema.
    ///
    /// # Errors
    /// Where there is no catalogue, or it is one of a newer program.
    pub fn of(path: &Path) -> Result<Option<Upgrade>> {
        refuse_lost(path)?;
        let connection = read_only(path)?;
        check_identity(&connection, path)?;
        let found = pragma(&connection, "user_version")? as u32;
        Ok((found < KNOWN).then(|| Upgrade {
            found,
            brings: (1..)
                .zip(MIGRATIONS)
                .skip(found as usize)
                .map(|(version, migration)| (version, first_sentence(migration)))
                .collect(),
            copy: copy_of(path, found),
        }))
    }
}

/// The file beside a catalogue that keeps it as it was with an older schema.
fn copy_of(path: &Path, schema: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".schema-{schema}"));
    PathBuf::from(name)
}

/// A migration says in its first comment what it is for.
fn first_sentence(migration: &'static str) -> &'static str {
    let text = migration.trim_start_matches("-- ");
    text.split_inclusive('.').next().unwrap_or_default()
}

/// Brings the schema of an open catalogue up to date; a new file gets it whole.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    let found = pragma(connection, "user_version")?;
    if 0 < found && found < i64::from(KNOWN) {
        copy_to(connection, &copy_of(path, found as u32), |_| Ok(()))?;
    }
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

/// Refuses databases that are not ours, and those of newer programs.
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
