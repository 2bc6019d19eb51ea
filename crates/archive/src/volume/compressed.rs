//! Contents as zstd frames, for who compresses before the drive does: plain `zstd -d` restores them.
//!
//! A tar header needs the length of what follows, so a file is compressed before it is written, into
//! whatever the caller has for that.

use super::Member;
use std::io::{Read, Result, Write};
use xxhash_rust::xxh3::Xxh3;

/// A frame that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its length.
    pub bytes: u64,
    /// Its XXH3.
    pub xxh3: u64,
    /// XXH3 of what it was made of.
    pub file_xxh3: u64,
}

impl Frame {
    /// The member that holds this frame of what `member` is.
    pub fn member(&self, member: Member) -> Member {
        let file_xxh3 = Some(self.file_xxh3);
        Member {
            xxh3: file_xxh3,
            ..member
        }
        .compressed(self.bytes, self.xxh3)
    }
}

/// Compresses `bytes` bytes of contents into one frame that tells their length and has a checksum of
/// its own. Levels are zstd's: 1 is quick, 3 usual, 19 slow.
///
/// # Errors
/// Reading, writing, or contents that are longer or shorter.
pub fn compress(
    contents: &mut dyn Read,
    bytes: u64,
    level: i32,
    to: &mut dyn Write,
) -> Result<Frame> {
    let mut summed = Summed::new(to);
    let mut encoder = zstd::stream::write::Encoder::new(&mut summed, level)?;
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(Some(bytes))?;
    let mut file = Summed::new(&mut encoder);
    std::io::copy(contents, &mut file)?;
    let file_xxh3 = file.sum.digest();
    encoder.finish()?;
    Ok(Frame {
        bytes: summed.bytes,
        xxh3: summed.sum.digest(),
        file_xxh3,
    })
}

/// Expands frames as they come; what they were made of goes to the inner writer.
pub struct Expander<'w, W: Write>(zstd::stream::write::Decoder<'w, W>);

impl<W: Write> Expander<'_, W> {
    /// Expands into this writer.
    ///
    /// # Errors
    /// No memory for the decoder.
    pub fn new(to: W) -> Result<Self> {
        zstd::stream::write::Decoder::new(to).map(Expander)
    }

    /// The next bytes of a frame.
    ///
    /// # Errors
    /// What is no frame, or the inner writer.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.write_all(bytes)
    }

    /// Ends it and gives the inner writer back. A frame that was cut off is not noticed here: the
    /// file's sum tells.
    ///
    /// # Errors
    /// As [`Expander::push`].
    pub fn finish(mut self) -> Result<W> {
        self.0.flush()?;
        Ok(self.0.into_inner())
    }
}

/// Counts and sums what passes.
struct Summed<W> {
    to: W,
    bytes: u64,
    sum: Xxh3,
}

impl<W> Summed<W> {
    fn new(to: W) -> Summed<W> {
        Summed {
            to,
            bytes: 0,
            sum: Xxh3::new(),
        }
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let count = self.to.write(bytes)?;
        self.bytes += count as u64;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> Result<()> {
        self.to.flush()
    }
}
