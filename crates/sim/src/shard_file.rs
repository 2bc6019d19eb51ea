//! Replications divided over machines, as a file: the part of every case that one machine made.

use crate::library::Site;
use crate::study::Study;
use serde::{Deserialize, Serialize};

/// Version of the file; another one is refused.
const VERSION: u32 = 3;

/// A part of the replications of every case that can be stable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardFile {
    tapewise_shard: u32,
    /// One of each case that can be stable.
    pub studies: Vec<Study>,
}

/// Why a file is no part of a simulation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardFileError {
    /// It is not JSON of this form.
    #[error("not what --shard writes: {0}")]
    Json(#[from] serde_json::Error),
    /// It has another version.
    #[error("version {found}; this program reads {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// A case is missing, or another scenario has its name.
    #[error("not of this scenario {scenario}")]
    OtherScenario {
        /// The case.
        scenario: String,
    },
}

impl ShardFile {
    /// These studies, for a file.
    pub fn new(studies: Vec<Study>) -> ShardFile {
        ShardFile {
            tapewise_shard: VERSION,
            studies,
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`ShardFileError`]: no such text, or another version.
    pub fn parse(text: &str) -> Result<ShardFile, ShardFileError> {
        let file: ShardFile = serde_json::from_str(text)?;
        match file.tapewise_shard {
            VERSION => Ok(file),
            found => Err(ShardFileError::Version { found }),
        }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// What serde says.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    /// The part of one scenario.
    ///
    /// # Errors
    /// [`ShardFileError::OtherScenario`].
    pub fn study(&self, site: &Site) -> Result<&Study, ShardFileError> {
        let scenario = site.scenario();
        let mut studies = self.studies.iter();
        let study = studies.find(|study| study.scenario == scenario.name);
        study
            .filter(|study| study.fingerprint == site.fingerprint())
            .ok_or_else(|| ShardFileError::OtherScenario {
                scenario: scenario.name.clone(),
            })
    }
}
