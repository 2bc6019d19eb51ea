//! Tar archives as they come from the tape, block by block: ours and those of others.
//!
//! Old, ustar, pax and GNU headers, in blocks of any length; contents are summed and their places
//! kept, never held. An extended header may have [`MOST_EXTENDED_BYTES`]. After a header that is
//! damaged the next one that is whole is looked for, as GNU tar does, and that is said.
//!
//! A file may be an archive itself, and its headers are whole too. So on a volume of ours, whose
//! blocks have a known length, a block that is lost inside a member is counted as contents of it,
//! and only a header with which a member of ours begins is gone on at.

use super::member::{FIRST_HEADER, Member, RECORD_BYTES};
use super::tar_kind::{Kind, kind_of};
use super::tar_records::Records;
use crate::record::Segment;
use tapewise_formats::WrapLpos;
use xxhash_rust::xxh3::Xxh3;

/// The longest extended header that is read: names of 4 KiB and attributes fit many times.
pub(super) const MOST_EXTENDED_BYTES: u64 = 1 << 20;

/// A member of an archive on the tape, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// What its header says. Without a sum there [`Member::xxh3`] is that of what was read.
    pub member: Member,
    /// What it is.
    pub kind: Kind,
    /// Where a link points.
    pub target: Option<Vec<u8>>,
    /// Filemarks before it.
    pub tape_file: u64,
    /// Where its contents are.
    pub segment: Segment,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Partition, 0 to 3.
    pub partition: u8,
    /// The block.
    pub block: u64,
    /// Where in the block.
    pub offset: u64,
    /// What is wrong.
    pub what: Wrong,
}

/// What can be wrong with an archive on tape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// Neither a header nor the end of an archive.
    #[error("no tar header; what follows is skipped to the next one")]
    NoHeader,
    /// An extended header that cannot be understood or is too long.
    #[error("the extended header cannot be understood: {0}")]
    Extended(&'static str),
    /// Contents of a member are missing.
    #[error("{0:?} is not whole: {1} bytes are missing")]
    Truncated(String, u64),
    /// The contents are not those that were written.
    #[error("{name:?} has xxh3:{found:016x} on tape, not xxh3:{told:016x} as its header says")]
    Sum {
        /// The member.
        name: String,
        /// The sum of what was read.
        found: u64,
        /// The sum in the header.
        told: u64,
    },
    /// A block that the drive cannot read.
    #[error("unreadable: {0}")]
    Unreadable(String),
}

/// Where a record of GNU's sparse map says whether another one follows: behind 21 pairs of numbers.
const SPARSE_MAP_GOES_ON: usize = 504;

/// What comes out of a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A member, all of which was read.
    Member(Located),
    /// Something wrong.
    Trouble(Trouble),
}

/// Takes what is found.
pub(super) type Each<'e> = &'e mut dyn FnMut(Found);

/// Where a byte lies on the tape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TapeByte {
    pub block: u64,
    pub offset: u64,
}

/// What the next bytes are.
enum State {
    /// A header, or the end of the archive.
    Header,
    /// Records of an extended header of this kind, so many of them, then padding.
    Extended { kind: u8, left: u64 },
    /// Contents of a member.
    Contents(Box<Current>),
    /// More of the map of a sparse file in GNU's old form, before its contents.
    SparseMap(Box<Current>),
    /// What fills up a record.
    Padding { left: u64 },
    /// Nothing any more until the next filemark.
    Ended,
    /// A header is looked for.
    Lost,
}

/// The member whose contents pass.
struct Current {
    located: Located,
    left: u64,
    told: Option<u64>,
    sum: Xxh3,
    /// A block of it was lost.
    is_damaged: bool,
}

/// A reader of archives that blocks are pushed into.
pub(super) struct TarReader {
    partition: u8,
    tape_file: u64,
    state: State,
    /// A record that is being collected: a block may end in it.
    record: [u8; RECORD_BYTES],
    have: usize,
    zero_records: u32,
    extended: Vec<u8>,
    records: Records,
    /// Where the head was last said to be.
    pub place: Option<WrapLpos>,
    /// The length of all blocks, on a volume of ours.
    pub block_bytes: Option<u64>,
}

impl TarReader {
    pub fn new(partition: u8) -> TarReader {
        TarReader {
            partition,
            tape_file: 0,
            state: State::Header,
            record: [0; RECORD_BYTES],
            have: 0,
            zero_records: 0,
            extended: Vec::new(),
            records: Records::default(),
            place: None,
            block_bytes: None,
        }
    }

    /// Takes the next block.
    pub fn block(&mut self, block: u64, bytes: &[u8], each: Each<'_>) {
        let mut at = 0;
        while at < bytes.len() {
            let here = TapeByte {
                block,
                offset: at as u64,
            };
            let rest = &bytes[at..];
            at += match &mut self.state {
                State::Ended => rest.len(),
                State::Padding { left } => {
                    let count = clamp(*left, rest);
                    *left -= count as u64;
                    if *left == 0 {
                        self.state = State::Header;
                    }
                    count
                }
                State::Extended { left, .. } => {
                    let count = clamp(*left, rest);
                    *left -= count as u64;
                    let is_whole = *left == 0;
                    self.extended.extend_from_slice(&rest[..count]);
                    if is_whole {
                        self.extended(here, each);
                    }
                    count
                }
                State::Contents(current) => {
                    let count = clamp(current.left, rest);
                    current.pass(here, &rest[..count]);
                    if current.left == 0 {
                        self.end_member(each);
                    }
                    count
                }
                State::Header | State::SparseMap(_) | State::Lost => {
                    let count = rest.len().min(RECORD_BYTES - self.have);
                    self.record[self.have..self.have + count].copy_from_slice(&rest[..count]);
                    self.have += count;
                    if self.have == RECORD_BYTES {
                        self.have = 0;
                        let end = TapeByte {
                            block,
                            offset: here.offset + count as u64,
                        };
                        self.record(here, end, each);
                    }
                    count
                }
            };
        }
    }

    /// Ends the archive: a filemark, or the end of the data.
    pub fn filemark(&mut self, block: u64, each: Each<'_>) {
        self.break_off(TapeByte { block, offset: 0 }, each);
        self.state = State::Header;
        self.records = Records::default();
        self.zero_records = 0;
        self.tape_file += 1;
    }

    /// A block is missing: what was in it cannot be known.
    pub fn lost_block(&mut self, block: u64, why: &str, each: Each<'_>) {
        let here = TapeByte { block, offset: 0 };
        each(self.trouble(here, Wrong::Unreadable(why.to_owned())));
        if let (Some(bytes), State::Contents(current)) = (self.block_bytes, &mut self.state)
            && current.left + padding(current.left) >= bytes
        {
            let lost = bytes.min(current.left);
            current.left -= lost;
            current.is_damaged = true;
            let has_ended = current.left == 0;
            let name = printable(&current.located.member.name());
            each(self.trouble(here, Wrong::Truncated(name, lost)));
            if has_ended {
                self.state = State::Header;
            }
            return;
        }
        let has_ended = matches!(self.state, State::Ended);
        self.break_off(here, each);
        self.records = Records::default();
        // The end of an archive is usually followed by padding, then by a filemark.
        self.state = if has_ended { State::Ended } else { State::Lost };
    }

    fn break_off(&mut self, here: TapeByte, each: Each<'_>) {
        self.have = 0;
        self.extended.clear();
        match std::mem::replace(&mut self.state, State::Header) {
            State::Contents(current) | State::SparseMap(current) => {
                let name = printable(&current.located.member.name());
                each(self.trouble(here, Wrong::Truncated(name, current.left)));
            }
            State::Extended { left, .. } => {
                let name = "an extended header".to_owned();
                each(self.trouble(here, Wrong::Truncated(name, left)));
            }
            State::Header | State::Padding { .. } | State::Ended | State::Lost => {}
        }
    }

    fn trouble(&self, place: TapeByte, what: Wrong) -> Found {
        Found::Trouble(Trouble {
            partition: self.partition,
            block: place.block,
            offset: place.offset,
            what,
        })
    }

    /// A record where a header may stand. It began in `here`'s block or in one before.
    fn record(&mut self, here: TapeByte, end: TapeByte, each: Each<'_>) {
        if matches!(self.state, State::SparseMap(_)) {
            return self.sparse_map(each);
        }
        let is_lost = matches!(self.state, State::Lost);
        if self.record.iter().all(|byte| *byte == 0) {
            // Two empty records in a row end an archive, but not where they may be contents.
            self.zero_records += u32::from(!is_lost);
            if self.zero_records == 2 {
                self.state = State::Ended;
            }
            return;
        }
        self.zero_records = 0;
        let goes_on = || match self.block_bytes {
            Some(_) => self.record.starts_with(FIRST_HEADER),
            None => &self.record[257..262] == b"ustar",
        };
        if !is_header(&self.record) || is_lost && !goes_on() {
            if !is_lost {
                self.records = Records::default();
                self.state = State::Lost;
                each(self.trouble(here, Wrong::NoHeader));
            }
            return;
        }
        self.state = State::Header;
        let record = self.record;
        let header = ::tar::Header::from_byte_slice(&record);
        let Ok(bytes) = header.entry_size() else {
            self.state = State::Lost;
            each(self.trouble(here, Wrong::NoHeader));
            return;
        };
        let kind = header.as_old().linkflag[0];
        match kind {
            b'x' | b'g' | b'X' | b'L' | b'K' if bytes > MOST_EXTENDED_BYTES => {
                each(self.trouble(here, Wrong::Extended("it is longer than 1 MiB")));
                self.state = State::Lost;
            }
            b'x' | b'g' | b'X' | b'L' | b'K' => {
                self.extended.clear();
                self.state = State::Extended { kind, left: bytes };
                if bytes == 0 {
                    self.extended(end, each);
                }
            }
            _ => self.member(header, kind, bytes, end, each),
        }
    }

    fn extended(&mut self, here: TapeByte, each: Each<'_>) {
        let State::Extended { kind, .. } = self.state else {
            return;
        };
        let padding = padding(self.extended.len() as u64);
        self.state = match padding {
            0 => State::Header,
            left => State::Padding { left },
        };
        if let Err(what) = self.records.take(kind, &self.extended) {
            each(self.trouble(here, Wrong::Extended(what)));
        }
        self.extended.clear();
    }

    fn member(
        &mut self,
        header: &::tar::Header,
        kind: u8,
        bytes: u64,
        end: TapeByte,
        each: Each<'_>,
    ) {
        let records = self.records.next_member();
        let bytes = records.size.unwrap_or(bytes);
        let name = records.path(header);
        let kind = kind_of(kind, &name, records.is_sparse);
        // A hard link's size is that of the file it names: as GNU tar, not contents of its own.
        let bytes = if kind == Kind::HardLink { 0 } else { bytes };
        let modified_ns = records.mtime_ns.unwrap_or_else(|| {
            let seconds = header
                .mtime()
                .ok()
                .and_then(|time| i64::try_from(time).ok());
            seconds.unwrap_or(0).saturating_mul(1_000_000_000)
        });
        let member = Member {
            path: Vec::new(),
            bytes,
            modified_ns,
            mode: header.mode().unwrap_or(0) & 0o7777,
            xxh3: records.xxh3,
            part: records.part,
            zstd_of: records.zstd_of,
            file_xxh3: records.file_xxh3,
            stored_ns: records.stored_ns,
            copies: records.copies,
        };
        let located = Located {
            member: member.with_name(name),
            kind,
            target: records.target(header, kind),
            tape_file: self.tape_file,
            segment: Segment {
                partition: self.partition,
                first_block: end.block,
                last_block: end.block,
                byte_offset: end.offset,
                bytes,
                file_offset: records.part.map_or(0, |part| part.offset),
                start: self.place,
                end: None,
            },
        };
        let current = Box::new(Current {
            located,
            left: bytes,
            told: records.xxh3,
            sum: Xxh3::new(),
            is_damaged: false,
        });
        let has_map = header.as_gnu().is_some_and(::tar::GnuHeader::is_extended);
        if header.as_old().linkflag[0] == b'S' && has_map {
            self.state = State::SparseMap(current);
            return;
        }
        self.state = State::Contents(current);
        if bytes == 0 {
            self.end_member(each);
        }
    }

    /// A record of a sparse file's map.
    fn sparse_map(&mut self, each: Each<'_>) {
        if self.record[SPARSE_MAP_GOES_ON] != 0 {
            return;
        }
        if let State::SparseMap(current) = std::mem::replace(&mut self.state, State::Header) {
            let is_empty = current.left == 0;
            self.state = State::Contents(current);
            if is_empty {
                self.end_member(each);
            }
        }
    }

    /// All of a member's contents have passed.
    fn end_member(&mut self, each: Each<'_>) {
        let State::Contents(current) = std::mem::replace(&mut self.state, State::Header) else {
            return;
        };
        let mut located = current.located;
        let padding = padding(located.segment.bytes);
        if padding > 0 {
            self.state = State::Padding { left: padding };
        }
        if current.is_damaged {
            return;
        }
        let found = current.sum.digest();
        if let Some(told) = current.told.filter(|told| *told != found) {
            let last = TapeByte {
                block: located.segment.last_block,
                offset: 0,
            };
            let name = printable(&located.member.name());
            each(self.trouble(last, Wrong::Sum { name, found, told }));
        }
        if located.kind == Kind::File {
            located.member.xxh3.get_or_insert(found);
        }
        each(Found::Member(located));
    }
}

impl Current {
    fn pass(&mut self, here: TapeByte, bytes: &[u8]) {
        let segment = &mut self.located.segment;
        if self.left == segment.bytes {
            segment.first_block = here.block;
            segment.byte_offset = here.offset;
        }
        segment.last_block = here.block;
        self.left -= bytes.len() as u64;
        self.sum.update(bytes);
    }
}

/// Finds the members of an archive whose blocks are at hand, instead of on a tape.
pub fn scan_blocks<'b>(blocks: impl IntoIterator<Item = &'b [u8]>, each: &mut dyn FnMut(Found)) {
    let mut reader = TarReader::new(0);
    let mut end = 0;
    for (block, bytes) in (0..).zip(blocks) {
        reader.block(block, bytes, each);
        end = block + 1;
    }
    reader.filemark(end, each);
}

fn clamp(left: u64, rest: &[u8]) -> usize {
    usize::try_from(left).unwrap_or(usize::MAX).min(rest.len())
}

fn padding(bytes: u64) -> u64 {
    bytes.wrapping_neg() % RECORD_BYTES as u64
}

/// Whether the header's own sum is right: over its bytes, unsigned or, by old tars, signed.
pub(crate) fn is_header(record: &[u8; RECORD_BYTES]) -> bool {
    let Ok(told) = ::tar::Header::from_byte_slice(record).cksum() else {
        return false;
    };
    let (mut unsigned, mut signed) = (0u32, 0i32);
    for (at, byte) in record.iter().enumerate() {
        let byte = if (148..156).contains(&at) {
            b' '
        } else {
            *byte
        };
        unsigned += u32::from(byte);
        signed += i32::from(byte as i8);
    }
    told == unsigned || i64::from(told) == i64::from(signed)
}

/// A name for people.
pub(crate) fn printable(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().take(200).collect()
}
