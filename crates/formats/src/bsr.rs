//! Bootstrap files of Bareos and Bacula (`.bsr`): which sessions to restore, and where they lie on which volume.
//!
//! Keywords after the storage daemon's parser (parse_bsr.cc): `Volume` begins a record. On a tape an address is
//! (file << 32) | block, counted from filemarks; it is no logical block, and nothing in the file turns it into one.
//! So the requests made from it have a sort key and no extents: they can be sorted and audited, no time can be
//! predicted. Bareos and Bacula read the smallest address first whatever the order of the file, so a reordered
//! bootstrap changes nothing.

use std::io::BufRead;

use crate::bounded::{LineError, Lines};
use crate::format::{Content, Format, Head, ReadError};
use crate::notice::{Notice, Notices};
use crate::number::{NumberFault, excerpt, excerpt_bytes, parse_u64};
use crate::request::{Request, Requests};

/// See [`crate::detect::FORMATS`].
pub const FORMAT: Format = Format {
    name: "bsr",
    title: "a bootstrap file",
    endings: &["bsr"],
    recognise,
    content: Content::Requests {
        read: |input, _| {
            let (records, notices) = read_bsr(input).map_err(ReadError::new)?;
            let mut read = bsr_requests(&records);
            read.notices.splice(0..0, notices);
            Ok(read)
        },
        block_bytes: None,
        is_text: true,
    },
};

fn recognise(head: &Head<'_>) -> Option<&'static str> {
    let mut lines = head.text().lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let keyword = first.split_once('=')?.0.trim();
    let names = ["volume", "storage"];
    let is_one = names.iter().any(|name| keyword.eq_ignore_ascii_case(name));
    is_one.then_some("Volume= or Storage= lines, as in a Bareos or Bacula bootstrap file")
}

/// One record of a bootstrap file: a part of one session on one volume.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BsrRecord {
    /// The line of its `Volume`, from 1.
    pub line: u64,
    /// The volume.
    pub volume: String,
    /// The type of medium.
    pub media_type: Option<String>,
    /// The archive device.
    pub device: Option<String>,
    /// The storage, which stands before its `Volume`.
    pub storage: Option<String>,
    /// The slot in the library.
    pub slot: Option<u64>,
    /// The session's number.
    pub session_id: Option<String>,
    /// When the session began, in seconds since 1970.
    pub session_time: Option<String>,
    /// Addresses from first to last.
    pub addresses: Vec<(u64, u64)>,
    /// Files of the tape, from first to last (older bootstraps).
    pub files: Vec<(u64, u64)>,
    /// Blocks within them, from first to last (older bootstraps).
    pub blocks: Vec<(u64, u64)>,
    /// Which files of the session, from first to last.
    pub file_indexes: Vec<(u64, u64)>,
    /// How many files are wanted.
    pub count: Option<u64>,
}

/// Why a bootstrap file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BsrError {
    /// A line could not be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A line that is no `Keyword=value`.
    #[error("line {line}: \"{text}\" is not Keyword=value; is this a bootstrap file?")]
    NotAKeyword {
        /// The line.
        line: u64,
        /// Its text, shortened.
        text: String,
    },
    /// A keyword before the first `Volume`.
    #[error("line {line}: {keyword} stands before the first Volume")]
    NoVolume {
        /// The line.
        line: u64,
        /// The keyword, shortened.
        keyword: String,
    },
    /// A number or range that is none.
    #[error("line {line}: {keyword} is \"{text}\", expected {fault}, or first-last")]
    BadNumber {
        /// The line.
        line: u64,
        /// The keyword, shortened.
        keyword: String,
        /// Its value, shortened.
        text: String,
        /// What was expected.
        fault: NumberFault,
    },
    /// A range whose end is before its start.
    #[error("line {line}: {keyword} ends at {last}, before it begins at {first}")]
    BadRange {
        /// The line.
        line: u64,
        /// The keyword, shortened.
        keyword: String,
        /// Where it begins.
        first: u64,
        /// Where it ends.
        last: u64,
    },
    /// No record at all.
    #[error("there is no Volume in it; is this a bootstrap file?")]
    Empty,
}

/// Reads the records of a bootstrap file.
///
/// # Errors
/// At the first line that is wrong, with its number.
pub fn read_bsr(input: impl BufRead) -> Result<(Vec<BsrRecord>, Vec<Notice>), BsrError> {
    let mut lines = Lines::new(input, b'\n');
    let mut notices = Notices::new();
    let mut records: Vec<BsrRecord> = Vec::new();
    let mut storage = None;
    while let Some((line, bytes)) = lines.next()? {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = text.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        let not_a_keyword = || BsrError::NotAKeyword {
            line,
            text: excerpt_bytes(text),
        };
        let text = std::str::from_utf8(text).map_err(|_| not_a_keyword())?;
        let (keyword, value) = text.split_once('=').ok_or_else(not_a_keyword)?;
        let (keyword, value) = (keyword.trim(), value.trim().trim_matches('"'));
        match keyword.to_ascii_lowercase().as_str() {
            "volume" => records.push(BsrRecord {
                line,
                volume: value.to_string(),
                storage: storage.take(),
                ..BsrRecord::default()
            }),
            "storage" => storage = Some(value.to_string()),
            key => {
                let record = records.last_mut().ok_or_else(|| BsrError::NoVolume {
                    line,
                    keyword: excerpt(keyword),
                })?;
                keyword_value(record, key, value, line, &mut notices)?;
            }
        }
    }
    if records.is_empty() {
        return Err(BsrError::Empty);
    }
    Ok((records, notices.finish()))
}

fn keyword_value(
    record: &mut BsrRecord,
    key: &str,
    value: &str,
    line: u64,
    notices: &mut Notices,
) -> Result<(), BsrError> {
    match key {
        "mediatype" => record.media_type = Some(value.to_string()),
        "device" => record.device = Some(value.to_string()),
        "slot" => record.slot = Some(number(key, value, line)?),
        "count" => record.count = Some(number(key, value, line)?),
        "volsessionid" => record.session_id = Some(value.to_string()),
        "volsessiontime" => record.session_time = Some(value.to_string()),
        "voladdr" => ranges(&mut record.addresses, key, value, line)?,
        "volfile" => ranges(&mut record.files, key, value, line)?,
        "volblock" => ranges(&mut record.blocks, key, value, line)?,
        "fileindex" => ranges(&mut record.file_indexes, key, value, line)?,
        // Filters that narrow what is restored, not where it lies.
        "client" | "job" | "jobid" | "jobtype" | "joblevel" | "stream" | "fileregex"
        | "include" | "exclude" => {
            notices.push("bsr-filter", Some(line), || {
                format!(
                    "{} narrows what is restored; ignored, the whole range is taken",
                    excerpt(key)
                )
            });
        }
        _ => notices.push("bsr-keyword", Some(line), || {
            format!(
                "the keyword \"{}\" is not known and was ignored",
                excerpt(key)
            )
        }),
    }
    Ok(())
}

fn number(keyword: &str, text: &str, line: u64) -> Result<u64, BsrError> {
    parse_u64(text).map_err(|fault| BsrError::BadNumber {
        line,
        keyword: excerpt(keyword),
        text: excerpt(text),
        fault,
    })
}

/// Reads `5`, `5-9` or several of them with commas between.
fn ranges(
    into: &mut Vec<(u64, u64)>,
    keyword: &str,
    value: &str,
    line: u64,
) -> Result<(), BsrError> {
    for part in value.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(keyword, first, line)?, number(keyword, last, line)?);
        if last < first {
            return Err(BsrError::BadRange {
                line,
                keyword: excerpt(keyword),
                first,
                last,
            });
        }
        into.push((first, last));
    }
    Ok(())
}

/// Makes one request of each address range of each record, in their order.
///
/// The id is `volume:file:block`, the sort key the 64-bit address, good within one volume only; there are no extents.
/// A record that names several volumes (`A|B`) becomes one request on the first, with a notice.
pub fn bsr_requests(records: &[BsrRecord]) -> Requests {
    let mut notices = Notices::new();
    let mut requests = Vec::new();
    notices.push("sort-key-only", None, || {
        "bootstrap addresses count from filemarks and are no logical blocks: they sort, no time can be predicted \
         from them; Bareos and Bacula read the smallest address first whatever the order"
            .to_string()
    });
    for record in records {
        let mut volumes = record.volume.split('|');
        let volume = volumes.next().unwrap_or_default();
        if volumes.next().is_some() {
            notices.push("bsr-volumes", Some(record.line), || {
                format!(
                    "{} are several volumes; the addresses are taken to be on the first",
                    excerpt(&record.volume)
                )
            });
        }
        let starts = start_addresses(record);
        if starts.is_empty() {
            notices.push("bsr-no-address", Some(record.line), || {
                format!(
                    "volume {} has neither VolAddr nor VolFile: there is nothing to sort by",
                    excerpt(volume)
                )
            });
            requests.push(request(record, volume, None));
        }
        for start in starts {
            requests.push(request(record, volume, Some(start)));
        }
    }
    Requests {
        requests,
        notices: notices.finish(),
    }
}

fn start_addresses(record: &BsrRecord) -> Vec<u64> {
    if !record.addresses.is_empty() {
        return record.addresses.iter().map(|(first, _)| *first).collect();
    }
    let files = record.files.iter().enumerate();
    files
        .map(|(at, (file, _))| {
            let block = record.blocks.get(at).map_or(0, |(first, _)| *first);
            (file << 32) | (block & 0xffff_ffff)
        })
        .collect()
}

fn request(record: &BsrRecord, volume: &str, address: Option<u64>) -> Request {
    let id = match address {
        Some(address) => format!("{volume}:{}:{}", address >> 32, address & 0xffff_ffff),
        None => volume.to_string(),
    };
    let extra = [
        ("MediaType", &record.media_type),
        ("VolSessionId", &record.session_id),
        ("VolSessionTime", &record.session_time),
    ];
    Request {
        id,
        volume: Some(volume.to_string()),
        sort_key: address,
        extra: extra
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.clone()?)))
            .collect(),
        ..Request::default()
    }
}
