//! The cartridges of a list of files and blocks, however long it is.

use super::sorted::{ListError, PORTION, Row, Sorted};
use super::{LeftOut, of_pieces};
use crate::catalogue::{ListItem, Recorded};
use crate::record::{Volume, VolumeFormat, VolumeState};
use tapewise_formats::csv_requests::CsvError;
use tapewise_formats::request::Request;

/// A list of files and blocks, in order of cartridges and files. Memory does not grow with it.
pub struct BlockList {
    sorted: Sorted,
    block_bytes: u64,
}

/// What a list says of a cartridge.
#[derive(Debug)]
pub struct Listed {
    /// The cartridge.
    pub volume: Volume,
    /// Files that are on it.
    pub files: u64,
    /// Paths that are left out.
    pub left_out: u64,
}

/// A file of a list: its cartridge, its path there, and what the catalogue takes of it.
type ListedFile = (String, String, Result<Recorded, LeftOut>);

impl BlockList {
    /// Reads a list. A row without a volume is of the cartridge that the list is named like.
    ///
    /// # Errors
    /// [`ListError`].
    pub fn read(
        requests: impl Iterator<Item = Result<Request, CsvError>>,
        named_like: Option<&str>,
        block_bytes: u64,
    ) -> Result<BlockList, ListError> {
        let rows = requests.map(|request| {
            let request = request?;
            let volume = request.volume.or(named_like.map(str::to_owned));
            let inner = request.path.as_ref().unwrap_or(&request.id);
            Ok(Row {
                inner: inner.trim_start_matches('/').to_owned(),
                volume: volume.ok_or(ListError::NoVolumeNamed { id: request.id })?,
                extents: request.extents,
            })
        });
        Ok(BlockList {
            sorted: Sorted::new(rows, PORTION)?,
            block_bytes,
        })
    }

    /// The cartridges, in order of labels; tells which paths are left out, and why.
    ///
    /// # Errors
    /// [`ListError`].
    pub fn volumes(
        &self,
        mut left_out: impl FnMut(&str, &str, &LeftOut),
    ) -> Result<Vec<Listed>, ListError> {
        let mut volumes: Vec<Listed> = Vec::new();
        for file in self.files()? {
            let (label, inner, file) = file?;
            if volumes.last().is_none_or(|last| last.volume.label != label) {
                volumes.push(Listed {
                    volume: volume(&label, self.block_bytes),
                    files: 0,
                    left_out: 0,
                });
            }
            let Some(listed) = volumes.last_mut() else {
                continue;
            };
            match file {
                Ok(recorded) => {
                    listed.files += 1;
                    let written = &mut listed.volume.written_bytes;
                    *written = written.saturating_add(recorded.file.bytes);
                }
                Err(why) => {
                    listed.left_out += 1;
                    left_out(&label, &inner, &why);
                }
            }
        }
        Ok(volumes)
    }

    /// What the catalogue takes: each of the [volumes](BlockList::volumes), followed by its files.
    ///
    /// # Errors
    /// [`ListError`].
    pub fn items<'a>(
        &'a self,
        volumes: &'a [Listed],
    ) -> Result<impl Iterator<Item = Result<ListItem, ListError>> + 'a, ListError> {
        let mut volumes = volumes.iter().map(|listed| &listed.volume);
        let mut on: Option<&Volume> = None;
        Ok(self.files()?.flat_map(move |file| {
            let (label, _, file) = match file {
                Ok(file) => file,
                Err(error) => return [Some(Err(error)), None].into_iter().flatten(),
            };
            let is_next = on.is_none_or(|volume| volume.label != label);
            if is_next {
                on = volumes.next();
            }
            let volume = on.filter(|_| is_next).cloned().map(ListItem::Volume);
            let file = file.ok().map(ListItem::File);
            [volume.map(Ok), file.map(Ok)].into_iter().flatten()
        }))
    }

    fn files(&self) -> Result<impl Iterator<Item = Result<ListedFile, ListError>>, ListError> {
        let mut rows = self.sorted.rows()?.peekable();
        Ok(std::iter::from_fn(move || {
            let mut first = match rows.next()? {
                Ok(first) => first,
                Err(error) => return Some(Err(error)),
            };
            // A file in several pieces has several rows.
            let is_piece = |row: &Result<Row, ListError>| {
                row.as_ref()
                    .is_ok_and(|row| row.volume == first.volume && row.inner == first.inner)
            };
            let mut pieces = Vec::new();
            while let Some(Ok(piece)) = rows.next_if(is_piece) {
                pieces.extend(piece.extents);
            }
            first.extents.extend(pieces);
            let Row {
                volume,
                inner,
                extents,
            } = first;
            let file = of_pieces(&volume, &inner, extents, self.block_bytes);
            Some(Ok((volume, inner, file)))
        }))
    }
}

/// A cartridge of which a list says what lies where.
fn volume(label: &str, block_bytes: u64) -> Volume {
    Volume {
        label: label.to_owned(),
        // Nothing on such a cartridge says which one it is: its barcode is all that it can be known by.
        uuid: format!("blocks:{label}"),
        format: VolumeFormat::Blocks,
        state: VolumeState::Full,
        // The option is at most 16,777,215.
        block_bytes: block_bytes as u32,
        next_block: 0,
        written_bytes: 0,
    }
}
