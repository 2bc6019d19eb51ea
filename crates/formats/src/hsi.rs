//! Listings of HPSS files with their tape positions: `hsi ls -P` (also `ls -NP`).
//!
//! Each file is a line of fields with TABs between, for example (from NERSC's sorting script):
//!
//! ```text
//! FILE  /home/l/run.tar  2465280  2465280  111+1121698225  EG010100  4  0  1  11/06/2013  08:47:20  02/24/2017  13:01:15
//! ```
//!
//! The fifth field is section + byte offset, the sixth the physical volume. A section lies between tape marks, so
//! this is a sort key and no logical block: no time can be predicted from it. HPSS orders recalls itself.

use std::io::BufRead;

use crate::bounded::{LineError, Lines};
use crate::format::{Content, Format, ReadError};
use crate::notice::Notices;
use crate::number::{excerpt, excerpt_bytes, parse_u64};
use crate::request::{Request, Requests};

/// See [`crate::detect::FORMATS`].
pub const FORMAT: Format = Format {
    name: "hsi",
    title: "an hsi listing",
    endings: &[],
    recognise: |head| {
        head.text()
            .starts_with("FILE\t")
            .then_some("FILE lines, as `hsi ls -P` prints them")
    },
    content: Content::Requests {
        read: |input, _| read_hsi_listing(input).map_err(ReadError::new),
        block_bytes: None,
        is_text: true,
    },
};

/// Fields of a line, when the path holds no TAB.
const FIELD_COUNT: usize = 13;
/// Fields from the position to the end; counted from the end because a path may hold a TAB.
const FROM_POSITION: usize = 9;

/// Why a listing could not be read.
#[derive(Debug, thiserror::Error)]
pub enum HsiError {
    /// A line could not be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A `FILE` line that is not as we know it.
    #[error(
        "line {line}: {found} fields, expected at least {FIELD_COUNT} with TABs between: \"{text}\""
    )]
    FieldCount {
        /// The line.
        line: u64,
        /// The fields found.
        found: usize,
        /// The text, shortened.
        text: String,
    },
    /// A position that is not section+offset.
    #[error(
        "line {line}: the position is \"{text}\", expected section+offset such as 111+1121698225"
    )]
    BadPosition {
        /// The line.
        line: u64,
        /// The text, shortened.
        text: String,
    },
    /// A line that is not UTF-8.
    #[error("line {line}: \"{text}\" is not UTF-8")]
    NotUtf8 {
        /// The line.
        line: u64,
        /// The text, shortened.
        text: String,
    },
    /// No file at all.
    #[error("there is no line that begins with FILE; make the listing with `hsi ls -P`")]
    Empty,
}

/// Reads a listing; requests in its order, id = path, volume = the physical volume, no extents.
///
/// The sort key is section << 40 | offset, so offsets from 2^40 on are cut with a notice. Lines that do not begin
/// with `FILE` are counted in a notice. A file that is not on tape has no sort key, with a notice.
///
/// # Errors
/// At the first `FILE` line that is wrong, with its number.
pub fn read_hsi_listing(input: impl BufRead) -> Result<Requests, HsiError> {
    let mut lines = Lines::new(input, b'\n');
    let mut notices = Notices::new();
    let mut requests = Vec::new();
    while let Some((line, bytes)) = lines.next()? {
        let text = bytes.trim_ascii_end();
        if text.is_empty() {
            continue;
        }
        if !text.starts_with(b"FILE\t") {
            notices.push("hsi-line", Some(line), || {
                format!("not a FILE line, ignored: \"{}\"", excerpt_bytes(text))
            });
            continue;
        }
        let text = std::str::from_utf8(text).map_err(|_| HsiError::NotUtf8 {
            line,
            text: excerpt_bytes(text),
        })?;
        requests.push(file_line(text, line, &mut notices)?);
    }
    if requests.is_empty() {
        return Err(HsiError::Empty);
    }
    notices.push("sort-key-only", None, || {
        "positions of hsi are section+offset and no logical blocks: they sort, no time can be predicted from them; \
         HPSS orders recalls itself"
            .to_string()
    });
    Ok(Requests {
        requests,
        notices: notices.finish(),
    })
}

fn file_line(text: &str, line: u64, notices: &mut Notices) -> Result<Request, HsiError> {
    let fields: Vec<&str> = text
        .split('\t')
        .map(|field| field.trim_matches(' '))
        .collect();
    if fields.len() < FIELD_COUNT {
        return Err(HsiError::FieldCount {
            line,
            found: fields.len(),
            text: excerpt(text),
        });
    }
    let at = fields.len() - FROM_POSITION;
    // The two fields before the position are sizes; what lies between FILE and them is the path.
    let path = fields[1..at - 2].join("\t");
    let (position, volume) = (fields[at], fields[at + 1]);
    let mut request = Request {
        id: path.clone(),
        path: Some(path),
        extra: vec![("size".to_string(), fields[at - 2].to_string())],
        ..Request::default()
    };
    let Some((section, offset)) = position.split_once('+') else {
        // A file on disk, or an empty one: its position is a 0 or blank.
        if !matches!(position, "" | "0" | "-") {
            return Err(HsiError::BadPosition {
                line,
                text: excerpt(position),
            });
        }
        notices.push("hsi-not-on-tape", Some(line), || {
            format!("\"{}\" has no tape position", excerpt(&request.id))
        });
        return Ok(request);
    };
    let (Ok(section), Ok(offset)) = (parse_u64(section), parse_u64(offset)) else {
        return Err(HsiError::BadPosition {
            line,
            text: excerpt(position),
        });
    };
    if offset >> 40 != 0 || section >> 24 != 0 {
        notices.push("hsi-far-position", Some(line), || {
            format!("position {section}+{offset} is beyond what the sort key holds; cut to it")
        });
    }
    request.sort_key = Some((section.min((1 << 24) - 1) << 40) | offset.min((1 << 40) - 1));
    request.volume = Some(volume.to_string());
    Ok(request)
}
