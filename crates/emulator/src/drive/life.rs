//! What a drive has done in its life.

use crate::error::LibraryError;
use crate::files::write_whole;
use crate::medium::MediumError;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The counters of a drive, kept in a file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DriveLife {
    #[serde(skip)]
    path: PathBuf,
    pub power_ons: u64,
    pub loads: u64,
    pub metres: f64,
    pub motion_s: f64,
    pub metres_since_cleaning: f64,
    pub cleanings: u64,
    pub hard_read_errors: u64,
}

impl DriveLife {
    /// The life so far, with this switching-on counted.
    pub fn open(path: &Path) -> Result<DriveLife, LibraryError> {
        let mut life = if path.exists() {
            let text = fs::read_to_string(path).map_err(|source| LibraryError::Io {
                path: path.to_owned(),
                source,
            })?;
            toml::from_str(&text).map_err(|error| LibraryError::Format {
                path: path.to_owned(),
                what: error.to_string(),
            })?
        } else {
            DriveLife::default()
        };
        life.path = path.to_owned();
        life.power_ons += 1;
        life.save()?;
        Ok(life)
    }

    /// Writes the counters down.
    pub fn save(&self) -> Result<(), MediumError> {
        let text = toml::to_string(self).map_err(std::io::Error::other);
        text.and_then(|text| write_whole(&self.path, &text))
            .map_err(MediumError::io(&self.path))
    }
}
