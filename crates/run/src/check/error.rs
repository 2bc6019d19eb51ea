//! What can keep a drive from being checked.

use crate::error::RunError;
use tapewise_model::MapError;
use tapewise_model::profile::ProfileError;
use tapewise_scsi::question::QuestionError;

/// Why a drive cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The drive, its cartridge or the way to it failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is no place to go to.
    #[error("the cartridge has no data: there is nowhere to go")]
    NoData,
    /// The profile has no geometry.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The drive's table of wrap ends contradicts the profile.
    #[error(transparent)]
    Map(#[from] MapError),
    /// A question that there is not.
    #[error(transparent)]
    Question(#[from] QuestionError),
}
