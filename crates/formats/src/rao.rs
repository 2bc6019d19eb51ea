//! The drive's own order: what GENERATE RECOMMENDED ACCESS ORDER takes and RECEIVE RECOMMENDED ACCESS ORDER answers.
//!
//! All numbers are big-endian. A list of *user data segments* goes to the drive (A4h/1Dh), and comes back in the order
//! that the drive recommends (A3h/1Dh):
//!
//! | bytes | parameter list | answer |
//! |---|---|---|
//! | 0 | reserved | process, low 3 bits: 1 as listed, 2 reordered |
//! | 1 | reserved | status, low 3 bits: 0 there is no list, 1 there is one |
//! | 2-3 | reserved | reserved |
//! | 4-7 | bytes that follow | bytes that follow |
//! | 8- | descriptors | descriptors |
//!
//! A descriptor of 32 bytes; an answer with geometry has more behind them:
//!
//! | bytes | |
//! |---|---|
//! | 0-1 | descriptor length, not counting these two: 001Eh |
//! | 2-4 | reserved in the parameter list |
//! | 5-14 | name, the host's to choose |
//! | 15 | partition |
//! | 16-23 | first logical object |
//! | 24-31 | last logical object, inclusive |
//!
//! Sources: IBM LTO SCSI Reference GA32-0928 (4.6), Oracle T10000 Interface Reference (tables 3-9 and 3-122), and the
//! structures of CTA and LTFS. The references say that an answer holds estimated locate times and, if asked for,
//! geometry; no public one says where and in what unit. Those bytes are kept as they stand and nothing is read into
//! them.

use crate::number::excerpt_bytes;

/// The most user data segments in one list, whatever their type (GA32-0928, 4.6.3.2).
pub const MAX_SEGMENTS: usize = 2_730;

/// Bytes of a descriptor without geometry.
pub const DESCRIPTOR_BYTES: usize = 32;

/// Bytes of a name.
pub const NAME_BYTES: usize = 10;

const HEADER_BYTES: usize = 8;

/// The bytes of the descriptor length itself, which it does not count.
const LENGTH_BYTES: usize = 2;

/// Logical objects that are read together, under a name of the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserDataSegment {
    /// The name.
    pub name: [u8; NAME_BYTES],
    /// The partition.
    pub partition: u8,
    /// The first logical object.
    pub first_block: u64,
    /// The last logical object, inclusive.
    pub last_block: u64,
}

/// A user data segment as it stands in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSegment {
    /// What it says.
    pub segment: UserDataSegment,
    /// Where its descriptor begins, in bytes from the beginning of the data.
    pub offset: usize,
    /// Bytes 2 to 4, whose meaning in an answer is not public.
    pub unassigned: [u8; 3],
    /// What stands behind the 32 bytes: geometry, whose layout is not public.
    pub geometry: Vec<u8>,
}

/// What the drive was asked to do with the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// Leave the order as listed, and estimate the times.
    AsListed,
    /// Reorder.
    Reorder,
    /// Another value.
    Other(u8),
}

/// An answer of the drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaoList {
    /// How it was made.
    pub process: Process,
    /// In the order recommended.
    pub segments: Vec<ListedSegment>,
}

/// Why a list could not be made or read; `offset` counts bytes of data from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RaoError {
    /// The data ends too early.
    #[error(
        "byte {offset}: {what} needs {needed} bytes, {found} are there; is this all of the answer (allocation length, RAO LIST OFFSET)?"
    )]
    Short {
        /// Where it begins.
        offset: usize,
        /// What is cut off.
        what: &'static str,
        /// The bytes it has.
        needed: usize,
        /// The bytes that are there.
        found: usize,
    },
    /// A descriptor length that cannot be.
    #[error("byte {offset}: a descriptor length of {length}; {expected}")]
    DescriptorLength {
        /// Where the length stands.
        offset: usize,
        /// What it says.
        length: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// The drive has no list to give.
    #[error(
        "byte {offset}: status 0: the drive has no list; GENERATE RECOMMENDED ACCESS ORDER was not sent, or cleared it"
    )]
    NoList {
        /// Where the status stands.
        offset: usize,
    },
    /// A status that the references do not have.
    #[error("byte {offset}: status {status}; expected 1, a list; is this an answer of the drive?")]
    Status {
        /// Where the status stands.
        offset: usize,
        /// What it says.
        status: u8,
    },
    /// A segment that ends before it begins.
    #[error(
        "byte {offset}: segment \"{name}\" ends at block {last_block}, before it begins at block {first_block}"
    )]
    EndBeforeStart {
        /// Where its descriptor begins.
        offset: usize,
        /// Its name.
        name: String,
        /// The first block.
        first_block: u64,
        /// The last block.
        last_block: u64,
    },
    /// Too many segments for one list.
    #[error("{count} user data segments; a list takes {MAX_SEGMENTS} at most")]
    TooMany {
        /// How many.
        count: usize,
    },
}

impl UserDataSegment {
    /// The name as text, without the blanks or zero bytes that fill it up.
    pub fn name_text(&self) -> String {
        let end = self
            .name
            .iter()
            .rposition(|&byte| byte != 0 && byte != b' ');
        excerpt_bytes(&self.name[..end.map_or(0, |end| end + 1)])
    }

    fn checked(self, offset: usize) -> Result<UserDataSegment, RaoError> {
        if self.last_block < self.first_block {
            return Err(RaoError::EndBeforeStart {
                offset,
                name: self.name_text(),
                first_block: self.first_block,
                last_block: self.last_block,
            });
        }
        Ok(self)
    }
}

impl Process {
    fn of(byte: u8) -> Process {
        match byte & 7 {
            1 => Process::AsListed,
            2 => Process::Reorder,
            other => Process::Other(other),
        }
    }
}

/// Makes the parameter list of GENERATE RECOMMENDED ACCESS ORDER.
///
/// The descriptors are those of 32 bytes also where the answer is wanted with geometry: that is asked for in the
/// command (UDS_TYPE), not in the list. No segments make a list that clears the drive's.
///
/// # Errors
/// With more than [`MAX_SEGMENTS`] segments, or one that ends before it begins.
pub fn parameter_list(segments: &[UserDataSegment]) -> Result<Vec<u8>, RaoError> {
    if segments.len() > MAX_SEGMENTS {
        return Err(RaoError::TooMany {
            count: segments.len(),
        });
    }
    let list_bytes = segments.len() * DESCRIPTOR_BYTES;
    let mut data = Vec::with_capacity(HEADER_BYTES + list_bytes);
    data.extend([0; 4]);
    // 2,730 descriptors are 87,360 bytes.
    data.extend((list_bytes as u32).to_be_bytes());
    for segment in segments {
        let segment = segment.checked(data.len())?;
        data.extend(((DESCRIPTOR_BYTES - LENGTH_BYTES) as u16).to_be_bytes());
        data.extend([0; 3]);
        data.extend(segment.name);
        data.push(segment.partition);
        data.extend(segment.first_block.to_be_bytes());
        data.extend(segment.last_block.to_be_bytes());
    }
    Ok(data)
}

/// Reads answers of RECEIVE RECOMMENDED ACCESS ORDER, one behind the other: a list for each window of a large batch.
///
/// Zero bytes behind the last one are the rest of a buffer, and left alone. Memory grows with the number of segments.
///
/// # Errors
/// At the first byte that is wrong.
pub fn read_answers(data: &[u8]) -> Result<Vec<RaoList>, RaoError> {
    let mut lists = Vec::new();
    let mut at = 0;
    while lists.is_empty() || data[at..].iter().any(|&byte| byte != 0) {
        let end = list_end(data, at)?;
        match data[at + 1] & 7 {
            0 => return Err(RaoError::NoList { offset: at + 1 }),
            1 => {}
            status => {
                return Err(RaoError::Status {
                    offset: at + 1,
                    status,
                });
            }
        }
        lists.push(RaoList {
            process: Process::of(data[at]),
            segments: descriptors(data, at + HEADER_BYTES, end)?,
        });
        at = end;
    }
    Ok(lists)
}

/// Where the list that begins at `at` ends, by its own length.
fn list_end(data: &[u8], at: usize) -> Result<usize, RaoError> {
    let found = data.len() - at;
    let short = |needed| RaoError::Short {
        offset: at,
        what: "an answer",
        needed,
        found,
    };
    if found < HEADER_BYTES {
        return Err(short(HEADER_BYTES));
    }
    let list_bytes = u32::from_be_bytes(field(data, at + 4, "an answer")?) as usize;
    let needed = HEADER_BYTES.saturating_add(list_bytes);
    if needed > found {
        return Err(short(needed));
    }
    Ok(at + needed)
}

fn descriptors(data: &[u8], from: usize, end: usize) -> Result<Vec<ListedSegment>, RaoError> {
    let mut segments = Vec::with_capacity((end - from) / DESCRIPTOR_BYTES);
    let mut at = from;
    while at < end {
        let length = usize::from(u16::from_be_bytes(field(&data[..end], at, "a descriptor")?));
        let next = at + LENGTH_BYTES + length;
        let wrong = |expected| RaoError::DescriptorLength {
            offset: at,
            length,
            expected,
        };
        if next < at + DESCRIPTOR_BYTES {
            return Err(wrong("expected 30 (001Eh), or more with geometry"));
        }
        if next > end {
            return Err(wrong("that reaches beyond the end of the list"));
        }
        segments.push(descriptor(&data[..next], at)?);
        at = next;
    }
    Ok(segments)
}

/// One descriptor from `at` to the end of `data`.
fn descriptor(data: &[u8], at: usize) -> Result<ListedSegment, RaoError> {
    const WHAT: &str = "a descriptor";
    let [partition] = field(data, at + 15, WHAT)?;
    let segment = UserDataSegment {
        name: field(data, at + 5, WHAT)?,
        partition,
        first_block: u64::from_be_bytes(field(data, at + 16, WHAT)?),
        last_block: u64::from_be_bytes(field(data, at + 24, WHAT)?),
    };
    Ok(ListedSegment {
        segment: segment.checked(at)?,
        offset: at,
        unassigned: field(data, at + 2, WHAT)?,
        geometry: data[at + DESCRIPTOR_BYTES..].to_vec(),
    })
}

/// `N` bytes from `offset` on.
fn field<const N: usize>(
    data: &[u8],
    offset: usize,
    what: &'static str,
) -> Result<[u8; N], RaoError> {
    let rest = data.get(offset..).unwrap_or_default();
    rest.first_chunk().copied().ok_or(RaoError::Short {
        offset,
        what,
        needed: N,
        found: rest.len(),
    })
}
