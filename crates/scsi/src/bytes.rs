//! Reading fields of an answer by offset, as the tables of the standards give them.

use crate::decode_error::DecodeError;

/// The bytes of one answer or of one part of it. Nothing is read past their end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    what: &'static str,
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of `bytes`; `what` names them in errors.
    pub fn new(what: &'static str, bytes: &'a [u8]) -> Fields<'a> {
        Fields { what, bytes }
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// `length` bytes from offset `at`.
    pub fn slice(&self, at: usize, length: usize) -> Result<&'a [u8], DecodeError> {
        let need = at.saturating_add(length);
        self.bytes.get(at..need).ok_or(DecodeError::Short {
            what: self.what,
            have: self.bytes.len(),
            need,
        })
    }

    /// A part of `length` bytes from offset `at`, with a name of its own.
    pub fn part(
        &self,
        what: &'static str,
        at: usize,
        length: usize,
    ) -> Result<Fields<'a>, DecodeError> {
        Ok(Fields::new(what, self.slice(at, length)?))
    }

    /// A big-endian number of `length` bytes, at most eight.
    pub fn uint(&self, at: usize, length: usize) -> Result<u64, DecodeError> {
        Ok(number(self.slice(at, length)?))
    }

    /// One byte.
    pub fn u8(&self, at: usize) -> Result<u8, DecodeError> {
        Ok(self.slice(at, 1)?[0])
    }

    /// Two bytes.
    pub fn u16(&self, at: usize) -> Result<u16, DecodeError> {
        Ok(self.uint(at, 2)? as u16)
    }

    /// Three bytes.
    pub fn u24(&self, at: usize) -> Result<u32, DecodeError> {
        Ok(self.uint(at, 3)? as u32)
    }

    /// Four bytes.
    pub fn u32(&self, at: usize) -> Result<u32, DecodeError> {
        Ok(self.uint(at, 4)? as u32)
    }

    /// Eight bytes.
    pub fn u64(&self, at: usize) -> Result<u64, DecodeError> {
        self.uint(at, 8)
    }

    /// One bit of a byte, 7 the highest.
    pub fn bit(&self, at: usize, bit: u8) -> Result<bool, DecodeError> {
        Ok(self.u8(at)? >> bit & 1 == 1)
    }

    /// Text of a fixed length, without its padding.
    pub fn text(&self, at: usize, length: usize) -> Result<String, DecodeError> {
        Ok(text(self.slice(at, length)?))
    }

    /// The bytes from offset `at` on, none when there are none.
    pub fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or(&[])
    }
}

/// A big-endian number; of more than eight bytes the last eight.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// ASCII without padding by spaces or NULs; what is not printable shows as a full stop.
pub(crate) fn text(bytes: &[u8]) -> String {
    let shown: String = bytes
        .iter()
        .map(|byte| match byte {
            0 => ' ',
            0x20..=0x7e => char::from(*byte),
            _ => '.',
        })
        .collect();
    shown.trim().to_owned()
}
