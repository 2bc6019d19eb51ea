//! Requests by name, from the index of an LTFS volume.

use super::{Batch, BatchError, Listed};
use std::io::BufRead;
use tapewise_formats::list::{Separator, read_list};
use tapewise_formats::ltfs_extent::{LtfsLayout, ltfs_requests};
use tapewise_formats::ltfs_index::{LtfsFile, LtfsIndex, read_ltfs_index};
use tapewise_formats::ltfs_label::LtfsLabel;
use tapewise_formats::name_match::Matching;
use tapewise_model::units;

/// Which files of a volume are wanted.
#[derive(Clone, Copy, Debug)]
pub enum Chosen<'a> {
    /// All of them, in the order of the index.
    All,
    /// Those of a list, in its order.
    Names(Listed<'a>),
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

    /// Requests for the files of a list, which has one path in the volume on each line; blocks are of the size that
    /// LTFS usually has. `list` is what messages call the list.
    ///
    /// # Errors
    /// As [`LtfsVolume::batch`], and [`BatchError::Unreadable`] for the list.
    pub fn listed(&self, list: &str, reader: impl BufRead) -> Result<Batch, BatchError> {
        let read = read_list(reader, Separator::Newline);
        let read = read.map_err(|error| BatchError::unreadable(list, error))?;
        let chosen = Chosen::Names(Listed {
            list,
            names: &read.names,
            ignore_missing: false,
            matching: &Matching::default(),
        });
        self.batch(chosen, &LtfsLayout::assumed())
    }

    /// Requests for the files that are wanted. `layout` tells the size of a block and which partition
    /// is which.
    ///
    /// # Errors
    /// [`BatchError::NotFound`] and [`BatchError::Ambiguous`] for names,
    /// [`BatchError::Unreadable`] for extents that cannot be.
    pub fn batch(&self, chosen: Chosen, layout: &LtfsLayout) -> Result<Batch, BatchError> {
        let (chosen, notices) = self.choose(chosen)?;
        self.batch_of(&chosen, notices, layout)
    }

    /// Requests for some of [`LtfsVolume::files`], by their numbers; `notices` are those of the choice.
    ///
    /// # Errors
    /// [`BatchError::Unreadable`] for extents that cannot be.
    pub fn batch_of(
        &self,
        chosen: &[usize],
        mut notices: Vec<String>,
        layout: &LtfsLayout,
    ) -> Result<Batch, BatchError> {
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
        match chosen {
            Chosen::All => Ok(((0..self.files.len()).collect(), Vec::new())),
            Chosen::Names(listed) => {
                let found = listed.among_files(&self.name, &self.files)?;
                Ok((found.files, found.notices))
            }
        }
    }

    /// How often its index was written.
    pub fn generation(&self) -> u64 {
        self.index.generation
    }

    /// Its files.
    pub fn files(&self) -> &[LtfsFile] {
        &self.files
    }

    /// The name by which people know the volume, or its UUID.
    pub fn title(&self) -> &str {
        match self.index.volume_name.as_str() {
            "" => &self.index.volume_uuid,
            name => name,
        }
    }

    fn describe(&self, chosen: usize) -> String {
        let (index, files) = (&self.index, &self.files);
        let bytes: u64 = files
            .iter()
            .map(|file| file.length)
            .fold(0, u64::saturating_add);
        let volume = self.title();
        format!(
            "{chosen} of {}; {} on the volume {volume} (LTFS {}, generation {})",
            units::count(files.len(), "file"),
            units::bytes(bytes),
            index.version,
            index.generation,
        )
    }
}
