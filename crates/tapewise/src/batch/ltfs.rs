//! Requests by name, from the index of an LTFS volume.

use super::error::{not_found, shown};
use super::{Batch, BatchError};
use crate::units;
use std::io::BufRead;
use tapewise_formats::list::Name;
use tapewise_formats::ltfs_extent::{LtfsLayout, ltfs_requests};
use tapewise_formats::ltfs_index::{LtfsFile, LtfsIndex, read_ltfs_index};
use tapewise_formats::ltfs_label::LtfsLabel;
use tapewise_formats::ltfs_select::select;

/// Which files of a volume are wanted.
#[derive(Clone, Copy, Debug)]
pub enum Chosen<'a> {
    /// All of them, in the order of the index.
    All,
    /// Those of a list, in its order.
    Names {
        /// What messages call the list.
        list: &'a str,
        /// Paths in the volume, byte for byte.
        names: &'a [Name],
        /// Whether to go on without names that the index does not have; the notices list them.
        ignore_missing: bool,
    },
}

/// The index of an LTFS volume.
#[derive(Debug)]
pub struct LtfsVolume {
    name: String,
    index: LtfsIndex,
    files: Vec<LtfsFile>,
}

/// Sees that a label is of the volume with this UUID. `name` is what messages call the label.
///
/// # Errors
/// [`BatchError::OtherVolume`].
pub fn check_label(name: &str, label: &LtfsLabel, volume_uuid: &str) -> Result<(), BatchError> {
    if label.volume_uuid == volume_uuid {
        Ok(())
    } else {
        Err(BatchError::OtherVolume {
            label: name.to_owned(),
            labelled: label.volume_uuid.clone(),
            indexed: volume_uuid.to_owned(),
        })
    }
}

impl LtfsVolume {
    /// Reads an index (XML). `name` is what messages call it.
    ///
    /// # Errors
    /// [`BatchError::Unreadable`].
    pub fn read(name: &str, reader: impl BufRead) -> Result<LtfsVolume, BatchError> {
        let read = read_ltfs_index(reader);
        let (index, files) = read.map_err(|error| BatchError::unreadable(name, error))?;
        Ok(LtfsVolume {
            name: name.to_owned(),
            index,
            files,
        })
    }

    /// The volume's UUID.
    pub fn uuid(&self) -> &str {
        &self.index.volume_uuid
    }

    /// Requests for the files that are wanted. `layout` tells the size of a block and which partition
    /// is which.
    ///
    /// # Errors
    /// [`BatchError::NotFound`] and [`BatchError::Ambiguous`] for names,
    /// [`BatchError::Unreadable`] for extents that cannot be.
    pub fn batch(&self, chosen: Chosen, layout: &LtfsLayout) -> Result<Batch, BatchError> {
        let (chosen, mut notices) = self.choose(chosen)?;
        let volume = Some(self.index.volume_name.as_str()).filter(|name| !name.is_empty());
        let files = chosen.iter().map(|&at| &self.files[at]);
        let read = ltfs_requests(files, layout, volume);
        let read = read.map_err(|error| BatchError::unreadable(&self.name, error))?;
        let odd = self.index.notices.iter().chain(&read.notices);
        notices.extend(odd.map(|notice| format!("{}: {notice}", self.name)));
        Ok(Batch {
            recognised: self.describe(chosen.len()),
            notices,
            requests: read.requests,
            block_size: Some(layout.block_size),
            is_ltfs: true,
        })
    }

    /// The files that are wanted, by index, and what is odd about the list.
    fn choose(&self, chosen: Chosen) -> Result<(Vec<usize>, Vec<String>), BatchError> {
        let Chosen::Names {
            list,
            names,
            ignore_missing,
        } = chosen
        else {
            return Ok(((0..self.files.len()).collect(), Vec::new()));
        };
        let selection = select(&self.files, names, None);
        let selection = selection.map_err(|error| BatchError::unreadable(list, error))?;
        let (name, list) = (self.name.clone(), list.to_owned());
        if !selection.ambiguous.is_empty() {
            return Err(BatchError::Ambiguous {
                name,
                list,
                names: selection.ambiguous,
            });
        }
        let mut notices = Vec::new();
        if !selection.not_found.is_empty() {
            let names = selection.not_found;
            if !ignore_missing {
                return Err(BatchError::NotFound { name, list, names });
            }
            notices.push(not_found(&name, &list, &names));
        }
        if !selection.duplicates.is_empty() {
            let count = selection.duplicates.len();
            let names = shown(&selection.duplicates);
            notices.push(format!(
                "{list}: names listed before, {count} of them: {names}"
            ));
        }
        Ok((selection.files, notices))
    }

    fn describe(&self, chosen: usize) -> String {
        let (index, files) = (&self.index, &self.files);
        let bytes: u64 = files
            .iter()
            .map(|file| file.length)
            .fold(0, u64::saturating_add);
        let volume = match index.volume_name.as_str() {
            "" => &index.volume_uuid,
            name => name,
        };
        format!(
            "{chosen} of {}; {} on the volume {volume} (LTFS {}, generation {})",
            units::count(files.len(), "file"),
            units::bytes(bytes),
            index.version,
            index.generation,
        )
    }
}
