//! What is known of every file's sums, from several lists, and where they contradict each other.

use super::{Kind, Listed, Sum};
use crate::deliver::InnerPath;
use std::collections::HashMap;
use tapewise_formats::ltfs_index::LtfsHash;

/// Sums of files by their paths, with the list that each came from.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    sources: Vec<String>,
    known: HashMap<InnerPath, Known>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    sums: Vec<(Sum, usize)>,
    bytes: Option<(u64, usize)>,
}

/// Two lists, or two lines of one, that say different things of a file: at least one of them is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {first} according to {first_source}, {second} according to {second_source}")]
pub struct Conflict {
    /// The file.
    pub path: InnerPath,
    /// What was known.
    pub first: String,
    /// Who said it.
    pub first_source: String,
    /// What came then.
    pub second: String,
    /// Who said that.
    pub second_source: String,
}

/// What became of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Number of sums that were taken.
    pub taken: usize,
    /// Names that cannot be below the directory: absolute ones, or such that climb out.
    pub outside: Vec<Vec<u8>>,
    /// Every contradiction with what was known; what was said first of a file stays.
    pub conflicts: Vec<Conflict>,
}

impl Ledger {
    /// Takes the sums of a list whose names are relative to a directory, empty for the top.
    pub fn add_list(&mut self, source: &str, directory: &[u8], list: &[Listed]) -> Added {
        let mut added = Added::default();
        for listed in list {
            let full = if directory.is_empty() {
                listed.name.clone()
            } else {
                [directory, b"/", &listed.name].concat()
            };
            let Ok(path) = InnerPath::new(&full) else {
                added.outside.push(listed.name.clone());
                continue;
            };
            match self.add(source, &path, listed.bytes, &listed.sum) {
                Ok(()) => added.taken += 1,
                Err(conflict) => added.conflicts.push(*conflict),
            }
        }
        added
    }

    /// Takes a sum of a file, and its length where that is known.
    ///
    /// # Errors
    /// When it contradicts what is known, which stays.
    pub fn add(
        &mut self,
        source: &str,
        path: &InnerPath,
        bytes: Option<u64>,
        sum: &Sum,
    ) -> Result<(), Box<Conflict>> {
        let source_at = self.sources.iter().position(|known| known == source);
        let source_at = source_at.unwrap_or_else(|| {
            self.sources.push(source.to_owned());
            self.sources.len() - 1
        });
        let known = self.known.entry(path.clone()).or_default();
        let conflict = |first: String, first_source: usize, second: String| {
            Err(Box::new(Conflict {
                path: path.clone(),
                first,
                first_source: self.sources[first_source].clone(),
                second,
                second_source: source.to_owned(),
            }))
        };
        match (known.bytes, bytes) {
            (Some((first, from)), Some(second)) if first != second => {
                return conflict(format!("{first} bytes"), from, format!("{second} bytes"));
            }
            (None, Some(bytes)) => known.bytes = Some((bytes, source_at)),
            _ => {}
        }
        match known.sums.iter().find(|(first, _)| first.kind == sum.kind) {
            Some((first, from)) if first != sum => {
                conflict(first.to_string(), *from, sum.to_string())
            }
            Some(_) => Ok(()),
            None => {
                known.sums.push((sum.clone(), source_at));
                Ok(())
            }
        }
    }

    /// The sums that are known of a file, one of a kind; none where nobody ever said.
    ///
    /// # Errors
    /// When a list has another length for it: then the file is not the one that was summed up.
    pub fn of(&self, path: &InnerPath, bytes: u64) -> Result<Vec<Sum>, Box<Conflict>> {
        let Some(known) = self.known.get(path) else {
            return Ok(Vec::new());
        };
        match known.bytes {
            Some((listed, from)) if listed != bytes => Err(Box::new(Conflict {
                path: path.clone(),
                first: format!("{listed} bytes"),
                first_source: self.sources[from].clone(),
                second: format!("{bytes} bytes"),
                second_source: "the volume".to_owned(),
            })),
            _ => Ok(known.sums.iter().map(|(sum, _)| sum.clone()).collect()),
        }
    }

    /// Number of files of which something is known.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// The sum in an attribute `ltfs.hash.NAME` of a file, as LTFS shows it; `None` where the kind is not known here or
/// the value is none.
///
/// LTFS 2.4 and later name `crc32sum`, `md5sum`, `sha1sum`, `sha256sum` and `sha512sum`, with hexadecimal digits;
/// some programs store the bytes themselves.
pub fn ltfs_sum(name: &str, value: &[u8]) -> Option<Sum> {
    let kind = match name {
        "crc32sum" => Kind::Crc32,
        "md5sum" => Kind::Md5,
        "sha1sum" => Kind::Sha1,
        "sha256sum" => Kind::Sha256,
        "sha512sum" => Kind::Sha512,
        _ => return None,
    };
    let text = value.strip_suffix(b"\0").unwrap_or(value).trim_ascii();
    let by_digits = std::str::from_utf8(text)
        .ok()
        .and_then(|digits| Sum::from_hex(kind, digits));
    by_digits.or_else(|| {
        let value = value.to_vec();
        (value.len() == kind.bytes()).then_some(Sum { kind, value })
    })
}

/// The sum that an index stores with a file; `None` as [`ltfs_sum`].
pub fn ltfs_index_sum(hash: &LtfsHash) -> Option<Sum> {
    if hash.base64 {
        ltfs_sum(&hash.name, &base64_decoded(&hash.value)?)
    } else {
        ltfs_sum(&hash.name, hash.value.as_bytes())
    }
}

/// The bytes that base64 text stands for; line breaks in it are allowed, as XML may have them.
pub(crate) fn base64_decoded(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let text: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let digits = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"="));
    let digits = digits.unwrap_or(&text);
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for &byte in digits {
        held = held << 6 | u32::from(digit(byte)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits & 0xff) as u8);
        }
    }
    Some(out)
}
