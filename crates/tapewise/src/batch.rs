//! What is to be read: requests of any format, with what was recognised on the way.
//!
//! [`Source::recognise`] says which format a reader holds; [`Source::requests`] reads requests that
//! name their blocks, [`LtfsVolume`] those that are names in the index of an LTFS volume. Opening
//! files is up to the caller.

mod error;
mod ltfs;
mod names;
mod source;

pub use error::{BatchError, UnorderableError};
pub use ltfs::{Chosen, LtfsVolume, check_label};
pub use names::{Chosen as ChosenNames, Listed};
pub use source::Source;

use std::collections::BTreeSet;
use tapewise_formats::{Extent, Request};
use tapewise_model::units;

/// Requests with what is known about their source.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// In the order of the list.
    pub requests: Vec<Request>,
    /// Bytes of tape that a block takes, if known.
    pub block_size: Option<u64>,
    /// Whether blocks are counted in the partitions of an LTFS volume.
    pub is_ltfs: bool,
    /// What was recognised, in one line.
    pub recognised: String,
    /// What was ignored, assumed or odd.
    pub notices: Vec<String>,
}

impl Batch {
    /// Number of extents.
    pub fn extents(&self) -> usize {
        let extents = self.requests.iter().map(|request| request.extents.len());
        extents.sum()
    }

    /// The bytes of an extent; `None` if neither it nor the size of a block tells.
    pub fn bytes(&self, extent: &Extent) -> Option<u64> {
        let by_blocks = || Some(extent.block_count.saturating_mul(self.block_size?));
        extent.byte_count.or_else(by_blocks)
    }

    /// Number of files that lie in several extents.
    pub fn in_parts(&self) -> usize {
        let requests = self.requests.iter();
        requests.filter(|r| r.extents.len() > 1).count()
    }

    /// Keeps the requests of one cartridge.
    ///
    /// # Errors
    /// [`BatchError::NoneOnVolume`].
    pub fn keep_volume(&mut self, volume: &str) -> Result<(), BatchError> {
        let before = self.requests.len();
        self.requests
            .retain(|request| request.volume.as_deref() == Some(volume));
        let kept = self.requests.len();
        if kept == 0 && before > 0 {
            return Err(BatchError::NoneOnVolume {
                requests: before,
                volume: volume.to_owned(),
            });
        }
        self.recognised = format!("{}, {kept} of them on volume {volume}", self.recognised);
        Ok(())
    }

    /// Sees that the requests can be ordered together: each has blocks or is empty, and either all of them name one
    /// cartridge, or none names any.
    ///
    /// # Errors
    /// [`UnorderableError`].
    pub fn check_orderable(&self) -> Result<(), UnorderableError> {
        let requests = self.requests.iter();
        let only_key = |r: &&Request| r.extents.is_empty() && r.sort_key.is_some();
        let only_keys = requests.clone().filter(only_key).count();
        if only_keys > 0 {
            return Err(UnorderableError::OnlySortKeys {
                requests: only_keys,
            });
        }
        let named = requests.filter_map(|r| r.volume.as_deref());
        let volumes: BTreeSet<&str> = named.clone().collect();
        let unnamed = self.requests.len() - named.count();
        match (volumes.len(), volumes.first()) {
            (0 | 1, Some(volume)) if unnamed > 0 => Err(UnorderableError::Unnamed {
                requests: unnamed,
                volume: (*volume).to_owned(),
            }),
            (0 | 1, _) => Ok(()),
            _ => Err(UnorderableError::Several {
                volumes: volumes.into_iter().map(str::to_owned).collect(),
            }),
        }
    }
}

/// "N requests, FORMAT", with the name of the source.
fn recognised(name: &str, requests: usize, format: &str) -> String {
    format!("{name}: {}, {format}", units::count(requests, "request"))
}
