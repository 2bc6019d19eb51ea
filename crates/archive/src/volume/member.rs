//! One file, or a part of one, in a tar segment: what its pax header says.

use crate::record::File;
use crate::sums::{Kind, Sum};
use std::io::Write;
use std::ops::Range;

/// Bytes of a tar record: headers and contents are filled up to it.
pub(crate) const RECORD_BYTES: usize = 512;

/// The name of the extended header with which every segment of ours begins.
pub(super) const FIRST_HEADER: &[u8] = b"PaxHeaders.tapewise/next";

/// What a volume says of a file, or of the part of it that follows.
///
/// | pax record | what it says |
/// |---|---|
/// | `path`, `mtime`, `size` | as POSIX has them; names that are not UTF-8 after `hdrcharset=BINARY` |
/// | `TAPEWISE.xxh3` | XXH3 (64 bits, seed 0) of the contents as they stand on the tape |
/// | `TAPEWISE.zstd` | the contents are a zstd frame of a file of so many bytes |
/// | `TAPEWISE.part` | `2/3`: the second of three parts |
/// | `TAPEWISE.offset` | where the part begins in the whole |
/// | `TAPEWISE.file.xxh3` | XXH3 of the file as it was: before compression, all parts |
/// | `TAPEWISE.stored` | when the file was stored, in seconds since 1970, to the nanosecond |
/// | `TAPEWISE.copies` | on how many volumes the file is to lie |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The file's path in the archive, as bytes, without what [`Member::name`] adds.
    pub path: Vec<u8>,
    /// Bytes of its contents on the tape.
    pub bytes: u64,
    /// Modification time in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Permission bits.
    pub mode: u32,
    /// XXH3 of its contents on the tape. What is written is checked against it.
    pub xxh3: Option<u64>,
    /// Which part of the file it is, when it is not all of it.
    pub part: Option<Part>,
    /// The file's length before compression, when the contents are a zstd frame.
    pub zstd_of: Option<u64>,
    /// XXH3 of the file as it was, when the contents are a part or a frame of it.
    pub file_xxh3: Option<u64>,
    /// When the file was stored, nanoseconds since 1970: of two versions of a path the later one counts.
    pub stored_ns: Option<i64>,
    /// On how many volumes the file is to lie.
    pub copies: Option<u32>,
}

/// A part of a file that spans volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    /// Where it begins in the whole, in bytes.
    pub offset: u64,
}

/// Why a file cannot be a member.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} cannot be the name of a file in an archive: {why}")]
pub struct NoMember {
    path: String,
    why: &'static str,
}

impl Member {
    /// The whole of a file as it is. Its XXH3 is told if it is among the file's sums.
    pub fn of(file: &File) -> Member {
        Member {
            path: file.path.clone(),
            bytes: file.bytes,
            modified_ns: file.modified_ns,
            mode: file.mode,
            xxh3: file.sums.iter().find_map(xxh3),
            part: None,
            zstd_of: None,
            file_xxh3: None,
            stored_ns: None,
            copies: None,
        }
    }

    /// XXH3 of the whole file, if the tape says it.
    pub fn sum_of_file(&self) -> Option<u64> {
        if self.part.is_some() || self.zstd_of.is_some() {
            self.file_xxh3
        } else {
            self.xxh3
        }
    }

    /// A part of what this is, of so many bytes. The sum of the part is not known.
    #[must_use]
    pub fn cut(mut self, part: Part, bytes: u64) -> Member {
        self.file_xxh3 = self.file_xxh3.or(self.xxh3);
        self.xxh3 = None;
        self.part = Some(part);
        self.bytes = bytes;
        self
    }

    /// A zstd frame of what this is, of so many bytes with this sum.
    #[must_use]
    pub fn compressed(mut self, bytes: u64, frame_xxh3: u64) -> Member {
        self.zstd_of = Some(self.bytes);
        self.file_xxh3 = self.xxh3;
        self.xxh3 = Some(frame_xxh3);
        self.bytes = bytes;
        self
    }

    /// The name under which tar lists and restores it: `PATH`, `PATH.zst` for a frame, and
    /// `PATH.tapewise-part-0001-of-0003` for a part; `cat` joins parts, in the order of their names.
    pub fn name(&self) -> Vec<u8> {
        let mut name = self.path.clone();
        name.extend_from_slice(self.suffix().as_bytes());
        name
    }

    fn suffix(&self) -> String {
        let zstd = if self.zstd_of.is_some() { ".zst" } else { "" };
        match self.part {
            Some(Part { number, of, .. }) => {
                format!("{zstd}.tapewise-part-{number:04}-of-{of:04}")
            }
            None => zstd.to_owned(),
        }
    }

    /// The path of the file behind a member of this name with our records: the reverse of
    /// [`Member::name`].
    pub(super) fn with_name(mut self, name: Vec<u8>) -> Member {
        self.path = name;
        let suffix = self.suffix();
        if self.path.ends_with(suffix.as_bytes()) {
            self.path.truncate(self.path.len() - suffix.len());
        }
        self
    }

    /// Whether its name may stand in an archive: relative, without `..`, restored below the place
    /// where tar is started.
    ///
    /// # Errors
    /// [`NoMember`].
    pub fn check(&self) -> Result<(), NoMember> {
        let parts = || self.path.split(|byte| *byte == b'/');
        let why = if self.path.is_empty() {
            "it is empty"
        } else if self.path.contains(&0) {
            "it has a zero byte in it"
        } else if self.path[0] == b'/' {
            "it is absolute"
        } else if parts().any(|part| part == b"..") {
            "it climbs out with .."
        } else if parts().any(|part| part.is_empty() || part == b".") {
            "it has empty or needless parts"
        } else {
            return Ok(());
        };
        Err(NoMember {
            path: String::from_utf8_lossy(&self.path)
                .chars()
                .take(200)
                .collect(),
            why,
        })
    }

    /// Writes its headers, which begin `at` bytes behind the beginning of a block, into `headers`.
    ///
    /// Contents and the header before them share a block of `block_bytes`, so that whoever reads
    /// just these blocks can see whose they are.
    pub(super) fn encode(&self, at: usize, block_bytes: usize, headers: &mut Vec<u8>) {
        headers.clear();
        let name = self.name();
        let mut records = self.records(&name);
        let total = |records: &[u8]| 2 * RECORD_BYTES + padded(records.len());
        if (at + total(&records)).is_multiple_of(block_bytes) {
            // A comment, which tar ignores, pushes the contents on by exactly one record.
            push_record(&mut records, "comment", &[b' '; RECORD_BYTES - 13]);
        }
        let mut extended = header(FIRST_HEADER, b'x', 0o644, 0);
        extended.set_size(records.len() as u64);
        extended.set_cksum();
        headers.extend_from_slice(extended.as_bytes());
        headers.extend_from_slice(&records);
        headers.resize(RECORD_BYTES + padded(records.len()), 0);
        let seconds = self.modified_ns.div_euclid(1_000_000_000);
        let mut own = header(&name, b'0', self.mode & 0o7777, seconds);
        own.set_size(self.bytes);
        own.set_cksum();
        headers.extend_from_slice(own.as_bytes());
    }

    fn records(&self, name: &[u8]) -> Vec<u8> {
        let mut records = Vec::new();
        if std::str::from_utf8(name).is_err() {
            push_record(&mut records, "hdrcharset", b"BINARY");
        }
        if name.len() > USTAR_NAME_BYTES || !name.is_ascii() {
            push_record(&mut records, "path", name);
        }
        if self.bytes >> 33 != 0 {
            push_record(&mut records, "size", self.bytes.to_string().as_bytes());
        }
        push_record(&mut records, "mtime", seconds(self.modified_ns).as_bytes());
        let mut ours = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                push_record(&mut records, key, value.as_bytes());
            }
        };
        let hex = |sum: Option<u64>| sum.map(|sum| format!("{sum:016x}"));
        ours("TAPEWISE.xxh3", hex(self.xxh3));
        ours("TAPEWISE.zstd", self.zstd_of.map(|bytes| bytes.to_string()));
        let part = self.part;
        ours(
            "TAPEWISE.part",
            part.map(|part| format!("{}/{}", part.number, part.of)),
        );
        ours("TAPEWISE.offset", part.map(|part| part.offset.to_string()));
        ours("TAPEWISE.file.xxh3", hex(self.file_xxh3));
        ours("TAPEWISE.stored", self.stored_ns.map(seconds));
        ours(
            "TAPEWISE.copies",
            self.copies.map(|count| count.to_string()),
        );
        records
    }
}

/// Cuts a whole of so many bytes into parts: the first one fits `first_room_bytes`, the others
/// `part_bytes`. One range when it fits as it is.
pub fn parts(bytes: u64, first_room_bytes: u64, part_bytes: u64) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while from < bytes || ranges.is_empty() {
        let room = if ranges.is_empty() {
            first_room_bytes
        } else {
            part_bytes
        };
        let to = from.saturating_add(room.max(1)).min(bytes);
        ranges.push(from..to);
        from = to;
    }
    ranges
}

/// The XXH3 among sums.
pub(super) fn xxh3(sum: &Sum) -> Option<u64> {
    let value = <[u8; 8]>::try_from(sum.value.as_slice()).ok()?;
    (sum.kind == Kind::Xxh3).then_some(u64::from_be_bytes(value))
}

/// Bytes filled up to whole records.
pub(super) fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(RECORD_BYTES)
}

/// What the name field of a header has room for.
pub(super) const USTAR_NAME_BYTES: usize = 100;

/// A header of the original POSIX form. Owners are not kept: whoever restores owns the files.
pub(super) fn header(name: &[u8], kind: u8, mode: u32, seconds: i64) -> ::tar::Header {
    let mut header = ::tar::Header::new_ustar();
    header.set_entry_type(::tar::EntryType::new(kind));
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    // 33 bits is what the field's octal digits hold; the exact time stands in the pax header.
    header.set_mtime(seconds.clamp(0, (1 << 33) - 1) as u64);
    let field = &mut header.as_old_mut().name;
    let count = name.len().min(USTAR_NAME_BYTES);
    field[..count].copy_from_slice(&name[..count]);
    header
}

/// A record `LENGTH KEY=VALUE\n`, whose length counts its own digits.
fn push_record(records: &mut Vec<u8>, key: &str, value: &[u8]) {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while rest + digits(length) != length {
        length = rest + digits(length);
    }
    // Writing to a vector does not fail.
    let _ = write!(records, "{length} {key}=");
    records.extend_from_slice(value);
    records.push(b'\n');
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Nanoseconds as decimal seconds, exactly.
fn seconds(ns: i64) -> String {
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Decimal seconds as nanoseconds, the rest cut off; none for what is no number or too large.
pub(super) fn nanoseconds(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !whole
        .bytes()
        .chain(fraction.bytes())
        .all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let fraction: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let ns = i128::from(whole.parse::<i64>().ok()?) * 1_000_000_000
        + i128::from(fraction.parse::<i64>().ok()?);
    i64::try_from(sign * ns).ok()
}
