//! Recalling clips: what a plan reads becomes files, each of them whole and verified or not there.

use super::archive::{Clip, checksum};
use std::io::{Error, ErrorKind, Write};
use std::path::Path;
use tapewise_run::{Item, Piece, Sink};

/// Takes blocks and puts files into a directory.
pub struct Delivery<'a> {
    directory: &'a Path,
    /// The clip of each visit.
    clips: Vec<&'a Clip>,
    content: Vec<u8>,
    /// Files delivered.
    pub delivered: usize,
    /// Ends this process, as a power cut would, when so many files have been delivered and half of
    /// the next has been read.
    power_cut_after: Option<usize>,
}

impl<'a> Delivery<'a> {
    /// Delivers the clips of visits 0, 1, ... into a directory.
    pub fn new(directory: &'a Path, clips: Vec<&'a Clip>, power_cut_after: Option<usize>) -> Self {
        Delivery {
            directory,
            clips,
            content: Vec::new(),
            delivered: 0,
            power_cut_after,
        }
    }
}

impl Sink for Delivery<'_> {
    fn begin(&mut self, _: &Piece) -> std::io::Result<()> {
        self.content.clear();
        Ok(())
    }

    fn item(&mut self, piece: &Piece, block: u64, item: Item<'_>) -> std::io::Result<()> {
        let half = piece.first_block + (piece.last_block - piece.first_block) / 2;
        if self.power_cut_after == Some(self.delivered) && block >= half {
            std::process::abort();
        }
        match item {
            Item::Block(bytes) => {
                self.content.extend_from_slice(bytes);
                Ok(())
            }
            Item::Filemark => Err(Error::other(format!("block {block} is a filemark"))),
        }
    }

    fn end(&mut self, piece: &Piece) -> std::io::Result<()> {
        let clip = self.clips[piece.visit as usize];
        let expected = clip.contents();
        // The bytes themselves are compared too: here, unlike in an archive, they are known.
        if checksum(&self.content) != checksum(&expected) || self.content != expected {
            let text = format!("{}: what was read is not what was written", clip.name);
            return Err(Error::new(ErrorKind::InvalidData, text));
        }
        let path = self.directory.join(&clip.name);
        let parent = path.parent().unwrap_or(self.directory);
        std::fs::create_dir_all(parent)?;
        let mut file = tempfile::NamedTempFile::new_in(parent)?;
        file.write_all(&self.content)?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        self.delivered += 1;
        Ok(())
    }
}
