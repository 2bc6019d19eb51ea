//! Volumes are read whole, in the order of the tape, and summed.

use super::{MoveError, Mover};
use crate::catalogue::{Catalogue, CatalogueError, OnVolume, VolumeId};
use crate::read::{Lost, Receiver};
use crate::record::{File, Segment};
use crate::sums::{Sum, Summer};
use crate::volume::Expander;
use std::collections::HashMap;
use std::io::Error;

/// What a look at a volume found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Copies whose bytes sum up to what they should.
    pub right: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Copies that were read but no sum is known of.
    pub unknown: u64,
    /// Copies that are part of a file that spans volumes: they are summed when all of it is read.
    pub parts: u64,
    /// Copies that cannot be read or are not what they should be: path, and why.
    pub lost: Vec<(Vec<u8>, String)>,
}

/// Copies read together: they lie one behind the other, so that there is little to order.
const AT_ONCE: usize = 256;

impl Mover<'_> {
    /// Reads all copies on a volume and compares their sums. What cannot be read or is not right is
    /// marked lost in the catalogue: it is not read again, and copied again where the cache has the file.
    /// One that cannot be read stays as it is where nothing else has the file.
    ///
    /// # Errors
    /// [`MoveError`]; what was found until then is noted.
    pub fn verify(&mut self, volume: VolumeId) -> Result<Verified, MoveError> {
        let mut found = Verified::default();
        let copies = copies(self.catalogue.contents(volume)?);
        let wants: Vec<Vec<Segment>> = copies
            .iter()
            .map(|(_, segments)| segments.clone())
            .collect();
        let mut checker = Checker {
            catalogue: self.catalogue,
            now_ns: self.now_ns,
            copies: &copies,
            open: HashMap::new(),
            found: &mut found,
        };
        let name = |want: usize| format!("verify {}", copies[want].0.file.0);
        self.read_volume(volume, &wants, AT_ONCE, &name, &mut checker)?;
        Ok(found)
    }
}

/// Segments by copy, the copies in the order of the tape, the segments of each in that of the file.
fn copies(contents: Vec<OnVolume>) -> Vec<(OnVolume, Vec<Segment>)> {
    let mut at = HashMap::new();
    let mut copies: Vec<(OnVolume, Vec<Segment>)> = Vec::new();
    for on in contents {
        let index = *at.entry((on.file, on.number)).or_insert(copies.len());
        match copies.get_mut(index) {
            Some((_, segments)) => segments.push(on.segment),
            None => {
                let segments = vec![on.segment];
                copies.push((on, segments));
            }
        }
    }
    for (_, segments) in &mut copies {
        segments.sort_by_key(|segment| segment.file_offset);
    }
    copies
}

/// Sums what it is given.
struct Checker<'a> {
    catalogue: &'a dyn Catalogue,
    now_ns: &'a (dyn Fn() -> i64 + Sync),
    copies: &'a [(OnVolume, Vec<Segment>)],
    /// Copies whose bytes come: what they must sum up to, and their sums so far.
    open: HashMap<usize, (File, Contents)>,
    found: &'a mut Verified,
}

/// What a copy stands for, summed: the bytes on the tape, or what a frame of them was made of.
enum Contents {
    Plain(Summer),
    Frame(Expander<'static, Summer>),
    Broken(String),
}

impl Contents {
    fn push(&mut self, bytes: &[u8]) {
        match self {
            Contents::Plain(summer) => summer.update(bytes),
            Contents::Frame(expander) => {
                if let Err(error) = expander.push(bytes) {
                    *self = Contents::Broken(error.to_string());
                }
            }
            Contents::Broken(_) => {}
        }
    }

    fn finish(self) -> Result<Vec<Sum>, String> {
        match self {
            Contents::Plain(summer) => Ok(summer.finish()),
            Contents::Frame(expander) => match expander.finish() {
                Ok(summer) => Ok(summer.finish()),
                Err(error) => Err(error.to_string()),
            },
            Contents::Broken(why) => Err(why),
        }
    }
}

impl Checker<'_> {
    fn close(&mut self, want: usize) -> Result<(), CatalogueError> {
        let Some((file, contents)) = self.open.remove(&want) else {
            return Ok(());
        };
        let (copy, segments) = &self.copies[want];
        let bytes: u64 = segments.iter().map(|segment| segment.bytes).sum();
        self.found.bytes += bytes;
        if bytes < copy.zstd_bytes.unwrap_or(file.bytes) {
            self.found.parts += 1;
            return Ok(());
        }
        if file.sums.is_empty() {
            self.found.unknown += 1;
            return Ok(());
        }
        let sums = match contents.finish() {
            Ok(sums) => sums,
            Err(why) => return self.lose(want, format!("its zstd frame is broken: {why}")),
        };
        match file.sums.iter().find(|known| !sums.contains(known)) {
            None => {
                self.found.right += 1;
                self.catalogue
                    .note_verified(copy.file, copy.number, (self.now_ns)())
            }
            Some(known) => {
                let other = sums.iter().find(|sum| sum.kind == known.kind);
                let read = other.map_or_else(String::new, Sum::to_string);
                self.lose(want, format!("{read} was read, {known} is known"))
            }
        }
    }

    fn lose(&mut self, want: usize, why: String) -> Result<(), CatalogueError> {
        let copy = &self.copies[want].0;
        self.catalogue
            .mark_lost(copy.file, copy.number, (self.now_ns)())?;
        self.found.lost.push((copy.path.clone(), why));
        Ok(())
    }
}

impl Receiver for Checker<'_> {
    fn begin(&mut self, want: usize) -> Result<(), Error> {
        let file = self
            .catalogue
            .file(self.copies[want].0.file)
            .map_err(Error::other)?
            .file;
        let summer = Summer::new(file.sums.iter().map(|sum| sum.kind));
        let contents = match self.copies[want].0.zstd_bytes {
            Some(_) => Contents::Frame(Expander::new(summer)?),
            None => Contents::Plain(summer),
        };
        self.open.insert(want, (file, contents));
        Ok(())
    }

    fn bytes(&mut self, want: usize, _: u64, bytes: &[u8]) -> Result<(), Error> {
        if let Some((_, contents)) = self.open.get_mut(&want) {
            contents.push(bytes);
        }
        Ok(())
    }

    fn end(&mut self, want: usize) -> Result<(), Error> {
        self.close(want).map_err(Error::other)
    }

    fn lost(&mut self, want: usize, why: &Lost) -> Result<(), Error> {
        self.open.remove(&want);
        let copy = &self.copies[want].0;
        let entry = self.catalogue.file(copy.file).map_err(Error::other)?;
        if matches!(why, Lost::Unreadable(_)) && entry.is_only_in(copy.number) {
            // Another drive, or this one with a clean head, may read it.
            self.found.lost.push((copy.path.clone(), why.to_string()));
            return Ok(());
        }
        self.lose(want, why.to_string()).map_err(Error::other)
    }
}
