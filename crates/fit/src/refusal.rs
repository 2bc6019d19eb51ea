//! Why records are not fitted.

use crate::blind::BlindError;
use crate::sample::FitError;
use tapewise_formats::cta_tapefile::CTA_BLOCK_SIZE;
use tapewise_model::MapError;
use tapewise_model::profile::ProfileError;

/// Why records were not fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitRefusal {
    /// The profile does not know enough, or is wrong.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A log was made with a profile of another tape.
    #[error(
        "the log was made with the profile {of_log}, whose tape has {wraps} wraps, and the tape of {base} has {base_wraps}"
    )]
    OtherTape {
        /// The profile of the log.
        of_log: String,
        /// Its wraps.
        wraps: u16,
        /// The base.
        base: String,
        /// Its wraps.
        base_wraps: u16,
    },
    /// The records cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// No maps were found.
    #[error(transparent)]
    Maps(#[from] BlindError),
    /// The map does not belong to such a cartridge.
    #[error("the map does not fit the cartridge: {0}")]
    Map(#[from] MapError),
    /// A map that was given for moves that it cannot place.
    #[error("the map is not used: {why}")]
    MapUnused {
        /// Why.
        why: &'static str,
    },
    /// A block size that was given for records with positions.
    #[error("the block size is not used: these logs have positions")]
    BlockSizeUnused,
    /// A block size that is not CTA's.
    #[error("the block size is {given}, but CTA writes blocks of {CTA_BLOCK_SIZE} bytes")]
    BlockSizeOfCta {
        /// The size given.
        given: u64,
    },
    /// Block numbers without a size.
    #[error("block numbers say where on the tape only with the size of a block")]
    NoBlockSize,
    /// No serpentine tracks, so no maps from times.
    #[error("{profile}: tracks are not serpentine, so no maps are found from times")]
    NotSerpentine {
        /// The profile.
        profile: String,
    },
    /// What a wrap holds is not known.
    #[error("{profile}: the profile does not say what a wrap holds (wrap_gb)")]
    NoWrapGb {
        /// The profile.
        profile: String,
    },
}
