//! Where a catalogue is: in a file of SQLite, or in a database of PostgreSQL.

use super::postgres::LONGEST_PATH;
use super::{Catalogue, PostgresCatalogue, PostgresUrl, Result, SqliteCatalogue, Upgrade};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The place of a catalogue.
#[derive(Clone, Debug)]
pub enum Place {
    /// This file.
    File(PathBuf),
    /// This database. A copy that is made before an upgrade goes to the directory.
    Database {
        /// The database.
        url: PostgresUrl,
        /// The directory.
        copies: PathBuf,
    },
}

impl Place {
    /// The longest path of a file that a catalogue there takes, in bytes; none where any length goes.
    pub(super) fn longest_path(&self) -> Option<usize> {
        match self {
            Place::File(_) => None,
            Place::Database { .. } => Some(LONGEST_PATH),
        }
    }

    /// Opens the catalogue, or makes one where there is none, and brings its schema up to date.
    pub fn open(&self) -> Result<Arc<dyn Catalogue>> {
        Ok(match self {
            Place::File(path) => Arc::new(SqliteCatalogue::open(path)?),
            Place::Database { url, copies } => Arc::new(PostgresCatalogue::open(url, copies)?),
        })
    }

    /// Opens a catalogue that must be there, and brings its schema up to date.
    pub fn open_existing(&self) -> Result<Arc<dyn Catalogue>> {
        Ok(match self {
            Place::File(path) => Arc::new(SqliteCatalogue::open_existing(path)?),
            Place::Database { url, copies } => {
                Arc::new(PostgresCatalogue::open_existing(url, copies)?)
            }
        })
    }

    /// Opens a catalogue and changes nothing.
    pub fn open_to_read(&self) -> Result<Arc<dyn Catalogue>> {
        Ok(match self {
            Place::File(path) => Arc::new(SqliteCatalogue::open_to_read(path)?),
            Place::Database { url, .. } => Arc::new(PostgresCatalogue::open_to_read(url)?),
        })
    }

    /// What opening it to write would do to its schema; nothing is changed. `None` where it is this program's.
    pub fn pending_upgrade(&self) -> Result<Option<Upgrade>> {
        match self {
            Place::File(path) => Upgrade::of_file(path),
            Place::Database { url, copies } => PostgresCatalogue::pending_upgrade(url, copies),
        }
    }
}

/// As messages name it, without a password.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => write!(f, "{}", path.display()),
            Place::Database { url, .. } => write!(f, "{url}"),
        }
    }
}
