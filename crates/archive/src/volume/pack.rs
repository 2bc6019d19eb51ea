//! Makes the blocks of a segment from files: on a thread of its own, while the drive writes.

use super::member::{Member, RECORD_BYTES, padded};
use crate::stream::Filling;
use std::io::{Error, ErrorKind, Read};
use tapewise_run::Buffer;
use xxhash_rust::xxh3::Xxh3;

/// A file to be written: what is said of it, and where its contents come from.
pub struct Entry<'c> {
    /// What the tape will say of it.
    pub member: Member,
    /// Its contents: exactly as many bytes as the member has.
    pub contents: Box<dyn Read + Send + 'c>,
}

/// A member that was made. All places count bytes from the beginning of the segment.
pub(super) struct Packed {
    pub contents_at: u64,
    pub bytes: u64,
    /// Where the padding ends, and the next header may begin.
    pub ends_at: u64,
    pub xxh3: u64,
    /// XXH3 of the block in which it ends, up to there.
    pub block_xxh3: u64,
    /// Where the contents begin in the file.
    pub file_offset: u64,
}

/// The entries of a segment.
#[derive(Default)]
pub(super) struct Manifest {
    pub members: Vec<Packed>,
    /// Why the entry behind the last member is not one.
    pub failed: Option<Error>,
    /// Blocks of the whole segment; none when it was not brought to its end.
    pub blocks: Option<u64>,
}

/// Why a member was not made.
enum Stop {
    /// Its contents are not what was said.
    Contents(Error),
    /// Nobody writes any more.
    NoWriter,
}

/// Packs entries until the segment has so many bytes or there are no more.
pub(super) fn pack<'c>(
    entries: &mut dyn Iterator<Item = std::io::Result<Entry<'c>>>,
    block_bytes: usize,
    segment_bytes: u64,
    filling: &mut Filling,
) -> Manifest {
    let mut packer = Packer {
        filling,
        block_bytes,
        buffer: None,
        is_beginning: false,
        summed: (Xxh3::new(), 0),
        at: 0,
    };
    let mut manifest = Manifest::default();
    let mut headers = Vec::new();
    while packer.at < segment_bytes {
        let Some(entry) = entries.next() else {
            break;
        };
        let packed = entry
            .map_err(Stop::Contents)
            .and_then(|entry| packer.entry(entry, &mut headers));
        match packed {
            Ok(packed) => manifest.members.push(packed),
            Err(Stop::Contents(error)) => {
                // What came before goes to the tape; the writer cuts off what has begun.
                manifest.failed = Some(error);
                let _ = packer.flush();
                return manifest;
            }
            Err(Stop::NoWriter) => return manifest,
        }
    }
    if packer.at > 0 {
        manifest.blocks = packer.finish();
    }
    manifest
}

struct Packer<'f> {
    filling: &'f mut Filling,
    block_bytes: usize,
    buffer: Option<Buffer>,
    /// Whether a member begins in the buffer.
    is_beginning: bool,
    /// The sum of the buffer up to the last member that ends in it, and how many bytes that are.
    summed: (Xxh3, usize),
    /// Bytes made.
    at: u64,
}

impl Packer<'_> {
    fn entry(&mut self, mut entry: Entry<'_>, headers: &mut Vec<u8>) -> Result<Packed, Stop> {
        let member = &entry.member;
        member
            .check()
            .map_err(|error| Stop::Contents(Error::new(ErrorKind::InvalidInput, error)))?;
        let in_block = (self.at % self.block_bytes as u64) as usize;
        member.encode(in_block, self.block_bytes, headers);
        self.open()?;
        self.is_beginning = true;
        self.put(headers)?;
        let contents_at = self.at;
        let xxh3 = self.contents(&mut entry.contents, member.bytes)?;
        if let Some(told) = member.xxh3.filter(|told| *told != xxh3) {
            return Err(Stop::Contents(Error::new(
                ErrorKind::InvalidData,
                format!("its contents have xxh3:{xxh3:016x}, not xxh3:{told:016x} as was said"),
            )));
        }
        let padding = (self.at.next_multiple_of(RECORD_BYTES as u64) - self.at) as usize;
        self.put(&[0; RECORD_BYTES][..padding])?;
        Ok(Packed {
            contents_at,
            bytes: member.bytes,
            ends_at: self.at,
            xxh3,
            block_xxh3: self.sum_block(),
            file_offset: member.part.map_or(0, |part| part.offset),
        })
    }

    /// The sum of the block that is being made.
    fn sum_block(&mut self) -> u64 {
        let (sum, bytes) = &mut self.summed;
        if let Some(buffer) = &self.buffer {
            sum.update(&buffer[*bytes..]);
            *bytes = buffer.len();
        }
        sum.digest()
    }

    /// The block that is being made.
    fn open(&mut self) -> Result<&mut Buffer, Stop> {
        if self.buffer.is_none() {
            self.buffer = Some(self.filling.buffer().ok_or(Stop::NoWriter)?);
        }
        self.buffer.as_mut().ok_or(Stop::NoWriter)
    }

    /// Gives the block to the drive once it is full.
    fn close_full(&mut self) -> Result<(), Stop> {
        match &self.buffer {
            Some(buffer) if buffer.len() >= self.block_bytes => self.flush(),
            _ => Ok(()),
        }
    }

    /// Gives the block to the drive, filled up with zeros.
    fn flush(&mut self) -> Result<(), Stop> {
        let Some(mut buffer) = self.buffer.take() else {
            return Ok(());
        };
        self.summed = (Xxh3::new(), 0);
        buffer.rest().fill(0);
        self.at += buffer.rest().len() as u64;
        buffer.fill(self.block_bytes);
        let is_beginning = std::mem::take(&mut self.is_beginning);
        self.filling
            .give(buffer, is_beginning)
            .ok_or(Stop::NoWriter)
    }

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), Stop> {
        while !bytes.is_empty() {
            let count = self.open()?.push(bytes);
            self.at += count as u64;
            bytes = &bytes[count..];
            self.close_full()?;
        }
        Ok(())
    }

    /// Reads contents straight into the blocks, and sums them there.
    fn contents(&mut self, contents: &mut dyn Read, bytes: u64) -> Result<u64, Stop> {
        let mut sum = Xxh3::new();
        let mut left = bytes;
        while left > 0 {
            let buffer = self.open()?;
            let filled = buffer.len();
            let room = buffer.rest();
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(room.len());
            let count = match contents.read(&mut room[..most]) {
                Ok(0) => {
                    let what = format!("it ends {left} bytes before its {bytes} bytes");
                    return Err(Stop::Contents(Error::new(ErrorKind::UnexpectedEof, what)));
                }
                Ok(count) => count.min(most),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Stop::Contents(error)),
            };
            sum.update(&room[..count]);
            buffer.fill(filled + count);
            self.at += count as u64;
            left -= count as u64;
            self.close_full()?;
        }
        loop {
            return match contents.read(&mut [0]) {
                Ok(0) => Ok(sum.digest()),
                Ok(_) => {
                    let what = format!("it goes on after its {bytes} bytes");
                    Err(Stop::Contents(Error::new(ErrorKind::InvalidData, what)))
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(Stop::Contents(error)),
            };
        }
    }

    /// Two empty records end the archive; gives the blocks of the segment. None when nobody writes
    /// any more.
    fn finish(mut self) -> Option<u64> {
        self.put(&[0; 2 * RECORD_BYTES]).ok()?;
        self.flush().ok()?;
        Some(self.at / self.block_bytes as u64)
    }
}

/// The end of an archive whose last block keeps its first `keep` bytes: that block, and another one
/// where two empty records do not fit.
pub(super) fn ending(kept: &[u8], block_bytes: usize) -> Vec<u8> {
    let bytes = padded(kept.len()) + 2 * RECORD_BYTES;
    let mut ending = kept.to_vec();
    ending.resize(bytes.next_multiple_of(block_bytes), 0);
    ending
}
