//! Requests by name, from the index of an LTFS volume.

use super::{Batch, BatchError, Listed};
use std::io::BufRead;
use tapewise_formats::list::{Separator, read_list};
use tapewise_formats::ltfs_extent::{LtfsLayout, ltfs_requests};
use tapewise_formats::ltfs_index::{LtfsFile, LtfsIndex, read_ltfs_index};
use tapewise_formats::ltfs_label::LtfsLabel;
use tapewise_formats::misleading::shown;
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

    /// Puts the volume beside others. Of two indexes of one volume the newer one counts, and what comes back says so.
    pub fn put_beside(self, others: &mut Vec<LtfsVolume>) -> Option<String> {
        let Some(same) = others.iter_mut().find(|other| other.uuid() == self.uuid()) else {
            others.push(self);
            return None;
        };
        let newer = same.generation().max(self.generation());
        let notice = format!(
            "{}: another index of {}; the one of generation {newer} counts",
            self.name,
            shown(self.title().as_bytes())
        );
        if self.generation() > same.generation() {
            *same = self;
        }
        Some(notice)
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
        notices.extend(self.repeated(chosen));
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

    /// That several of the chosen files have one path. No LTFS writes such an index, but damage or a hand can.
    fn repeated(&self, chosen: &[usize]) -> Option<String> {
        let mut paths: Vec<_> = chosen.iter().map(|&at| &self.files[at].path).collect();
        paths.sort();
        let mut again = paths.windows(2).filter(|two| two[0] == two[1]);
        let first = shown(String::from(again.next()?[0]).as_bytes());
        let more = match again.count() {
            0 => String::new(),
            more => format!(", and {more} more like it"),
        };
        Some(format!(
            "{}: the index has a path twice, so each of its files is a request: {first}{more}",
            self.name
        ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_the_index_has_twice_is_told_whoever_chose_it() {
        let file = |name: &str| format!("<file><name>{name}</name><length>0</length></file>");
        let xml = format!(
            "<ltfsindex version=\"2.4.0\"><volumeuuid>u</volumeuuid><directory><name>A</name><contents>\
             <directory><name>d</name><contents>{}{}{}</contents></directory></contents></directory></ltfsindex>",
            file("f1"),
            file("f2"),
            file("f1"),
        );
        let volume = LtfsVolume::read("A.xml", xml.as_bytes()).unwrap();
        let layout = LtfsLayout::assumed();
        let told = "A.xml: the index has a path twice, so each of its files is a request: d/f1";
        for batch in [
            volume.batch(Chosen::All, &layout).unwrap(),
            volume.listed("list", "d\n".as_bytes()).unwrap(),
        ] {
            assert_eq!(batch.requests.len(), 3);
            assert!(
                batch.notices.iter().any(|notice| notice == told),
                "{:?}",
                batch.notices
            );
        }
        let one = volume.listed("list", "d/f2\n".as_bytes()).unwrap();
        assert!(!one.notices.iter().any(|notice| notice.contains("twice")));
        let question = volume.listed("list", "d/f1\n".as_bytes()).unwrap_err();
        assert_eq!(
            question.to_string(),
            "1 name of list could be several files of A.xml: which one is meant?\n  \
             line 1: d/f1 is there 2 times"
        );
    }
}
