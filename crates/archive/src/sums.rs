//! Checksums of contents, computed on the way, and the lists that people keep of them.
//!
//! [`read_sums`] reads a list of any form, a [`Ledger`] knows what all lists say of a file and where they contradict
//! each other, and [`list_line`] and [`mhl_element`] are what lists are written with.

mod ledger;
mod lists;

pub(crate) use ledger::base64_decoded;
pub use ledger::{Added, Conflict, Ledger, ltfs_index_sum, ltfs_sum};
pub use lists::{Listed, SumList, SumListError, list_line, mhl_element, read_sums};

use std::fmt;
use std::str::FromStr;

/// How a checksum is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// CRC-32 as in zip and `ltfs.hash.crc32sum`.
    Crc32,
    /// CRC-32C (Castagnoli), which processors have an instruction for.
    Crc32c,
    /// CRC-64/NVME, which S3 computes of whole objects.
    Crc64Nvme,
    /// Adler-32, as dCache, EOS and CTA use it.
    Adler32,
    /// xxHash, 64 bits, seed 0.
    Xxh64,
    /// XXH3, 64 bits, seed 0.
    Xxh3,
    /// MD5: against accidents only.
    Md5,
    /// SHA-1: against accidents only.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 10] = [
        Kind::Crc32,
        Kind::Crc32c,
        Kind::Crc64Nvme,
        Kind::Adler32,
        Kind::Xxh64,
        Kind::Xxh3,
        Kind::Md5,
        Kind::Sha1,
        Kind::Sha256,
        Kind::Sha512,
    ];

    /// Its name in lists and options.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Crc32 => "crc32",
            Kind::Crc32c => "crc32c",
            Kind::Crc64Nvme => "crc64nvme",
            Kind::Adler32 => "adler32",
            Kind::Xxh64 => "xxh64",
            Kind::Xxh3 => "xxh3",
            Kind::Md5 => "md5",
            Kind::Sha1 => "sha1",
            Kind::Sha256 => "sha256",
            Kind::Sha512 => "sha512",
        }
    }

    /// Bytes of a sum.
    pub fn bytes(self) -> usize {
        match self {
            Kind::Crc32 | Kind::Crc32c | Kind::Adler32 => 4,
            Kind::Crc64Nvme | Kind::Xxh64 | Kind::Xxh3 => 8,
            Kind::Md5 => 16,
            Kind::Sha1 => 20,
            Kind::Sha256 => 32,
            Kind::Sha512 => 64,
        }
    }
}

/// A checksum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sum {
    /// How it was computed.
    pub kind: Kind,
    /// Its bytes as they are printed, the most significant first.
    pub value: Vec<u8>,
}

impl Sum {
    /// The sum of some bytes.
    pub fn of(kind: Kind, bytes: &[u8]) -> Sum {
        let mut summer = Summer::new([kind]);
        summer.update(bytes);
        summer.finish().remove(0)
    }

    /// The sum that hexadecimal digits in either case stand for; `None` where they are too few, too many or others.
    pub fn from_hex(kind: Kind, digits: &str) -> Option<Sum> {
        let nibble = |digit: char| digit.to_digit(16).map(|nibble| nibble as u8);
        let nibbles: Vec<u8> = digits.chars().map(nibble).collect::<Option<_>>()?;
        let value = nibbles.chunks(2).map(|pair| match *pair {
            [high, low] => Some(high << 4 | low),
            _ => None,
        });
        let value: Vec<u8> = value.collect::<Option<_>>()?;
        (value.len() == kind.bytes()).then_some(Sum { kind, value })
    }

    /// The sum in hexadecimal digits, without its kind.
    pub fn hex(&self) -> String {
        self.value
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.name(), self.hex())
    }
}

/// Why a text is no checksum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a checksum: give KIND:DIGITS, the kinds are crc32, crc32c, crc64nvme, adler32, xxh64, xxh3, md5, sha1, sha256, sha512"
)]
pub struct NoSum(String);

impl FromStr for Sum {
    type Err = NoSum;

    fn from_str(text: &str) -> Result<Sum, NoSum> {
        let wrong = || NoSum(text.chars().take(160).collect());
        let (name, digits) = text.split_once(':').ok_or_else(wrong)?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        let kind = kind.ok_or_else(wrong)?;
        Sum::from_hex(kind, digits).ok_or_else(wrong)
    }
}

/// Sums up contents as they pass, in several ways at once.
#[derive(Clone)]
pub struct Summer(Vec<State>);

impl std::io::Write for Summer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[derive(Clone)]
enum State {
    Crc32(crc32fast::Hasher),
    Crc32c(u32),
    Crc64Nvme(crc_fast::Digest),
    Adler32(adler2::Adler32),
    Xxh64(xxhash_rust::xxh64::Xxh64),
    Xxh3(Box<xxhash_rust::xxh3::Xxh3>),
    Md5(md5::Md5),
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
    Sha512(sha2::Sha512),
}

impl State {
    fn new(kind: Kind) -> State {
        match kind {
            Kind::Crc32 => State::Crc32(crc32fast::Hasher::new()),
            Kind::Crc32c => State::Crc32c(0),
            Kind::Crc64Nvme => {
                State::Crc64Nvme(crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc64Nvme))
            }
            Kind::Adler32 => State::Adler32(adler2::Adler32::new()),
            Kind::Xxh64 => State::Xxh64(xxhash_rust::xxh64::Xxh64::new(0)),
            Kind::Xxh3 => State::Xxh3(Box::default()),
            Kind::Md5 => State::Md5(md5::Md5::default()),
            Kind::Sha1 => State::Sha1(sha1::Sha1::default()),
            Kind::Sha256 => State::Sha256(sha2::Sha256::default()),
            Kind::Sha512 => State::Sha512(sha2::Sha512::default()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        use sha2::Digest as _;
        match self {
            State::Crc32(state) => state.update(bytes),
            State::Crc32c(crc) => *crc = crc32c::crc32c_append(*crc, bytes),
            State::Crc64Nvme(state) => state.update(bytes),
            State::Adler32(state) => state.write_slice(bytes),
            State::Xxh64(state) => state.update(bytes),
            State::Xxh3(state) => state.update(bytes),
            State::Md5(state) => state.update(bytes),
            State::Sha1(state) => state.update(bytes),
            State::Sha256(state) => state.update(bytes),
            State::Sha512(state) => state.update(bytes),
        }
    }

    fn finish(self) -> Sum {
        use sha2::Digest as _;
        let (kind, value) = match self {
            State::Crc32(state) => (Kind::Crc32, state.finalize().to_be_bytes().to_vec()),
            State::Crc32c(crc) => (Kind::Crc32c, crc.to_be_bytes().to_vec()),
            State::Crc64Nvme(state) => (Kind::Crc64Nvme, state.finalize().to_be_bytes().to_vec()),
            State::Adler32(state) => (Kind::Adler32, state.checksum().to_be_bytes().to_vec()),
            State::Xxh64(state) => (Kind::Xxh64, state.digest().to_be_bytes().to_vec()),
            State::Xxh3(state) => (Kind::Xxh3, state.digest().to_be_bytes().to_vec()),
            State::Md5(state) => (Kind::Md5, state.finalize().to_vec()),
            State::Sha1(state) => (Kind::Sha1, state.finalize().to_vec()),
            State::Sha256(state) => (Kind::Sha256, state.finalize().to_vec()),
            State::Sha512(state) => (Kind::Sha512, state.finalize().to_vec()),
        };
        Sum { kind, value }
    }
}

impl fmt::Debug for Summer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Summer({} sums)", self.0.len())
    }
}

impl Summer {
    /// Sums of these kinds, of nothing yet.
    pub fn new(kinds: impl IntoIterator<Item = Kind>) -> Summer {
        Summer(kinds.into_iter().map(State::new).collect())
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for state in &mut self.0 {
            state.update(bytes);
        }
    }

    /// The sums, in the order in which their kinds were given.
    pub fn finish(self) -> Vec<Sum> {
        self.0.into_iter().map(State::finish).collect()
    }
}

/// Whether contents have this length and all of these sums.
pub(crate) fn matches(
    mut contents: impl std::io::Read,
    bytes: u64,
    known: &[Sum],
) -> std::io::Result<bool> {
    let mut summer = Summer::new(known.iter().map(|sum| sum.kind));
    let read = std::io::copy(&mut contents, &mut summer)?;
    Ok(read == bytes && summer.finish() == known)
}
