//! The log of CTA's tape daemon (`cta-taped`): what each file read from tape cost.
//!
//! For each file the daemon writes a line with the message `File successfully read from tape`, as `key="value"` pairs
//! or as one JSON object (`cta.log.format json`). Of its fields these are used, whatever stands between them:
//!
//! | field | |
//! |---|---|
//! | `tapeVid` (`TPVID`, `vid`) | the volume |
//! | `BlockId` (`blockId`) | the first of the file's header records |
//! | `fSeq` | the file's number on the tape |
//! | `dataVolume` | bytes of data |
//! | `positionTime` | seconds from the end of the file before until the header was read |
//! | `readWriteTime` | seconds spent on reading the data; optional |
//! | `tapeDrive` (`unitName`), `mountId` (`volReqId`) | what tells mounts apart; optional |
//! | `epoch_time`, or the time that the line begins with | when the line was written; optional |
//!
//! A file lies on tape as three header records and a filemark, data, a filemark, three trailer records and a filemark.
//! The daemon reads all of it, so that a read ends where the next file begins; the first file begins behind the label
//! of the volume, though its `BlockId` may be 0. [`CtaLog::moves`] makes moves of the head from this.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;
use tapewise_model::Micros;

use crate::block_moves_csv::BlockMove;
use crate::bounded::{LineError, Lines};
use crate::cta_tapefile::{CTA_BLOCK_SIZE, CTA_LABEL_OBJECTS};
use crate::json_error::without_position;
use crate::notice::{Notice, Notices};
use crate::number::{excerpt, parse_u64};
use crate::time_column::read_seconds;

/// The message of a file that was read.
const READ: &str = "File successfully read from tape";

/// What stands for a drive or a mount that a line does not name.
const NO_NAME: &str = "-";

/// Messages behind which the place of the head is not known.
const LOST: [&str; 3] = [
    "Error reading a file in TapeReadFileTask",
    "Error reading a file in TapeReadTask",
    "Failed to open tape file for reading",
];

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CtaLogError {
    /// A line could not be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A line of a file that was read, without a field that is needed.
    #[error("line {line}: \"{READ}\" without {field}")]
    Missing {
        /// The line, from 1.
        line: u64,
        /// The field.
        field: &'static str,
    },
    /// A field that is not what its name says.
    #[error("line {line}: {field} is \"{text}\", expected {expected}")]
    BadValue {
        /// The line, from 1.
        line: u64,
        /// The field.
        field: &'static str,
        /// Its text, shortened.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Block numbers that are not positions.
    #[error(
        "line {line}: file {f_seq} of volume {volume} begins at block {block}, but file {other_f_seq} at block {other_block}: these block numbers are not positions (CTA stores dummy ones for tapes written by Enstore), or the tape was written anew within this log"
    )]
    DummyBlocks {
        /// The line of the second of the two, from 1.
        line: u64,
        /// The volume.
        volume: String,
        /// The file's number.
        f_seq: u64,
        /// Its block.
        block: u64,
        /// Another file's number.
        other_f_seq: u64,
        /// Its block.
        other_block: u64,
    },
    /// Not one line of a file that was read.
    #[error("none of {lines} lines says \"{READ}\"; is this the log of cta-taped, at level INFO?")]
    NothingRead {
        /// The lines that are not empty.
        lines: u64,
    },
}

/// One file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CtaRead {
    /// The volume.
    pub volume: String,
    /// Number of the file on the volume.
    pub f_seq: u64,
    /// The block of its first header record.
    pub block: u64,
    /// Bytes of data.
    pub data_bytes: u64,
    /// From the end of the file before until the header of this one was read.
    pub position_time: Micros,
    /// Reading the data.
    pub read_time: Option<Micros>,
    /// When the line was written, which is after the read: microseconds since 1970.
    pub written_us: Option<i64>,
    /// Drive and mount it was read in, as far as the log says.
    pub mount: String,
    /// The head was lost in this mount between the file before and this one.
    pub lost_before: bool,
    /// The line, from 1.
    pub line: u64,
}

impl CtaRead {
    /// The block behind the file's last filemark, where the head stands when it has been read.
    pub fn end_block(&self) -> u64 {
        let blocks = self.data_bytes.div_ceil(CTA_BLOCK_SIZE) + CTA_LABEL_OBJECTS;
        self.first_block().saturating_add(blocks)
    }

    /// The drive, if the line names one.
    pub fn drive(&self) -> Option<&str> {
        let drive = self.mount.split(' ').next();
        drive.filter(|drive| *drive != NO_NAME)
    }

    /// The block that is located: block 0 is the label of the volume.
    pub fn first_block(&self) -> u64 {
        self.block.max(1)
    }
}

/// What a log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CtaLog {
    /// The files read, in the order of the log.
    pub reads: Vec<CtaRead>,
    /// Lines with another message, or none.
    pub passed_over: u64,
    /// What was odd.
    pub notices: Vec<Notice>,
}

/// The moves of a log, and the reads that give none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CtaMoves {
    /// From the end of one file to the beginning of the next read in the same mount, in the order of the log.
    pub moves: Vec<BlockMove>,
    /// Reads that were the first of their mount: what the drive does before them is not only a locate.
    pub first_of_mount: u64,
    /// Reads behind an error, where nobody knows where the head was.
    pub behind_error: u64,
}

impl CtaLog {
    /// Makes moves of the reads: from where a file ends to where the next one of the same mount begins.
    ///
    /// The time of a move is `positionTime`, which includes reading the header; where a file follows upon the one
    /// before it, it is little else.
    pub fn moves(&self) -> CtaMoves {
        let mut last: HashMap<(&str, &str), &CtaRead> = HashMap::new();
        let mut found = CtaMoves {
            moves: Vec::new(),
            first_of_mount: 0,
            behind_error: 0,
        };
        for read in &self.reads {
            match last.insert((&read.mount, &read.volume), read) {
                None => found.first_of_mount += 1,
                Some(_) if read.lost_before => found.behind_error += 1,
                Some(before) => found.moves.push(BlockMove {
                    volume: read.volume.clone(),
                    from_block: before.end_block(),
                    to_block: read.first_block(),
                    took: read.position_time,
                    line: read.line,
                }),
            }
        }
        found
    }
}

/// Reads a log of `cta-taped`, in either of its formats, also mixed.
///
/// Lines with other messages, or with none, are passed over and counted. Memory grows with the files read.
///
/// # Errors
/// At the first line of a file read that lacks a field or has a bad one, when block numbers cannot be positions, and
/// when no line tells of a file read.
pub fn read_cta_log(input: impl BufRead) -> Result<CtaLog, CtaLogError> {
    read_cta_log_of(input, None)
}

/// The same, with the year of the first line: lines of the daemon's own format begin with a time that has none. The
/// times are taken as UTC, and a new year begins where the month goes back by more than half a year.
///
/// # Errors
/// As of [`read_cta_log`].
pub fn read_cta_log_of(input: impl BufRead, year: Option<i16>) -> Result<CtaLog, CtaLogError> {
    let mut calendar = year.map(Calendar::new);
    let mut lines = Lines::new(input, b'\n');
    let mut notices = Notices::new();
    let mut reads: Vec<CtaRead> = Vec::new();
    let mut lost: HashSet<String> = HashSet::new();
    let mut passed_over = 0;
    while let Some((line, bytes)) = lines.next()? {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        // Only lines that may matter are taken apart: a log has a hundred others for each of them.
        let fields = if may_matter(text) {
            Fields::of(text)
        } else {
            Ok(Fields(Vec::new()))
        };
        let fields = fields.unwrap_or_else(|what| {
            notices.push("damaged-line", Some(line), || {
                format!("{what}: \"{}\"", excerpt(text))
            });
            Fields(Vec::new())
        });
        match fields.message() {
            Some(READ) => {
                let mut read = fields.read(line)?;
                read.lost_before = lost.remove(&read.mount);
                if read.written_us.is_none()
                    && let Some(calendar) = &mut calendar
                {
                    read.written_us = calendar.stamp_us(text);
                }
                if fields.mount_id().is_none() {
                    notices.push("no-mount-id", Some(line), || {
                        "no mountId: reads of one volume are taken to be of one mount".to_owned()
                    });
                }
                reads.push(read);
            }
            Some(message) if LOST.contains(&message) => {
                lost.insert(fields.mount());
                passed_over += 1;
            }
            _ => passed_over += 1,
        }
    }
    if reads.is_empty() {
        return Err(CtaLogError::NothingRead { lines: passed_over });
    }
    check_positions(&reads)?;
    Ok(CtaLog {
        reads,
        passed_over,
        notices: notices.finish(),
    })
}

/// Gives years to times without one.
struct Calendar {
    year: i16,
    month: i8,
}

impl Calendar {
    fn new(year: i16) -> Calendar {
        Calendar { year, month: 0 }
    }

    /// The time at the beginning of a line, as `Aug 24 15:14:13.521000000`.
    fn stamp_us(&mut self, text: &str) -> Option<i64> {
        let mut words = text.split_whitespace();
        let stamp = [words.next()?, words.next()?, words.next()?].join(" ");
        let in_year =
            |year: i16| DateTime::strptime("%Y %b %d %H:%M:%S%.f", format!("{year} {stamp}"));
        // The month of a day that only a leap year has is known by its name.
        let month = in_year(2024).ok()?.month();
        if month + 6 < self.month {
            self.year += 1;
        }
        self.month = month;
        let time = in_year(self.year).ok()?.to_zoned(TimeZone::UTC).ok()?;
        Some(time.timestamp().as_microsecond())
    }
}

fn may_matter(text: &str) -> bool {
    text.contains(READ) || LOST.iter().any(|message| text.contains(message))
}

/// The fields of one line, in their order; a name may stand twice, then the last one counts, as in JSON.
struct Fields(Vec<(String, String)>);

impl Fields {
    /// Takes a line apart; the head of the line in front of the first field is passed over.
    fn of(text: &str) -> Result<Fields, String> {
        match text.find(['{', '=']) {
            Some(at) if text.as_bytes()[at] == b'{' => Fields::of_json(&text[at..]),
            _ => Ok(Fields(pairs(text))),
        }
    }

    fn of_json(text: &str) -> Result<Fields, String> {
        let object: serde_json::Map<String, Value> =
            serde_json::from_str(text).map_err(|error| without_position(&error))?;
        let as_text = |value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let fields = object.into_iter();
        Ok(Fields(
            fields.map(|(name, value)| (name, as_text(value))).collect(),
        ))
    }

    /// The first of these names that there is, and its value.
    fn get(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| {
            let is_it = |(other, _): &&(String, String)| other == name;
            let (_, value) = self.0.iter().rev().find(is_it)?;
            Some(value.trim()).filter(|value| !value.is_empty() && *value != "null")
        })
    }

    fn message(&self) -> Option<&str> {
        self.get(&["MSG", "message"])
    }

    /// What tells this mount from others, as far as the line says.
    fn mount(&self) -> String {
        let drive = self.get(&["tapeDrive", "unitName", "drive_name"]);
        let mount = self.mount_id();
        format!("{} {}", drive.unwrap_or(NO_NAME), mount.unwrap_or(NO_NAME))
    }

    fn mount_id(&self) -> Option<&str> {
        self.get(&["mountId", "volReqId"])
    }

    fn read(&self, line: u64) -> Result<CtaRead, CtaLogError> {
        let need = |field: &'static str, names: &[&str]| {
            self.get(names).ok_or(CtaLogError::Missing { line, field })
        };
        let bad = |field, text: &str, expected| CtaLogError::BadValue {
            line,
            field,
            text: excerpt(text),
            expected,
        };
        let number = |field, names: &[&str]| {
            let text = need(field, names)?;
            parse_u64(text).map_err(|_| bad(field, text, "a whole number, not negative"))
        };
        let seconds = |field, text: &str| {
            read_seconds(text, 1.0)
                .ok_or_else(|| bad(field, text, "seconds, between 0 and those of a day"))
        };
        let read_time = self.get(&["readWriteTime"]);
        Ok(CtaRead {
            volume: need("tapeVid", &["tapeVid", "TPVID", "vid"])?.to_owned(),
            f_seq: number("fSeq", &["fSeq"])?,
            block: number("BlockId", &["BlockId", "blockId"])?,
            data_bytes: number("dataVolume", &["dataVolume"])?,
            position_time: seconds("positionTime", need("positionTime", &["positionTime"])?)?,
            read_time: read_time
                .map(|text| seconds("readWriteTime", text))
                .transpose()?,
            written_us: self.get(&["epoch_time"]).and_then(epoch_us),
            mount: self.mount(),
            lost_before: false,
            line,
        })
    }
}

/// Seconds since 1970 with a fraction, in microseconds.
fn epoch_us(text: &str) -> Option<i64> {
    let seconds: f64 = text.parse().ok()?;
    let us = (seconds * 1e6).round();
    (0.0..1e17).contains(&us).then_some(us as i64)
}

/// `key="value"` pairs; the daemon writes single quotes where a value has double ones.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("=\"") {
        let name = rest[..at].rsplit(char::is_whitespace).next().unwrap_or("");
        let behind = &rest[at + 2..];
        let Some(end) = behind.find('"') else {
            break; // a line cut short: what is missing is named where it is needed
        };
        found.push((name.to_owned(), behind[..end].to_owned()));
        rest = &behind[end + 1..];
    }
    found
}

/// Files of one volume must begin at blocks that grow with their number.
fn check_positions(reads: &[CtaRead]) -> Result<(), CtaLogError> {
    let mut order: Vec<&CtaRead> = reads.iter().collect();
    order.sort_by(|a, b| (&a.volume, a.f_seq, a.block).cmp(&(&b.volume, b.f_seq, b.block)));
    for pair in order.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let same_file = before.f_seq == after.f_seq && before.block == after.block;
        if before.volume == after.volume && !same_file && after.block <= before.block {
            return Err(CtaLogError::DummyBlocks {
                line: after.line,
                volume: excerpt(&after.volume),
                f_seq: after.f_seq,
                block: after.block,
                other_f_seq: before.f_seq,
                other_block: before.block,
            });
        }
    }
    Ok(())
}
