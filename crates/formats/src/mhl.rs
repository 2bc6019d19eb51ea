//! Media hash lists: MHL 1.0 and 1.1 (mediahashlist.org), and the manifests of ASC MHL 2.0.
//!
//! Both are `<hashlist>`s. In MHL 1 a `<hash>` has its path in `<file>` and its length in `<size>`; in ASC MHL in
//! `<path size="…">` inside `<hashes>`. Paths are relative to the directory of an MHL 1 list, and to the directory
//! that holds the `ascmhl` folder of an ASC MHL manifest. What is written is MHL 1.1: one file that stands by
//! itself, where ASC MHL wants a chain of generations.

use std::io::{self, BufRead, Write};

use crate::notice::{Notice, Notices};
use crate::number::{excerpt, parse_u64};
use crate::xml::{Tag, XmlCursor};
use crate::xml_error::XmlError;

/// The elements that hold a sum, in both versions; `null` says only that the length was looked at, and is none.
const HASH_ELEMENTS: [&str; 11] = [
    "md5",
    "sha1",
    "sha256",
    "c4",
    "xxh32",
    "xxh64",
    "xxh3",
    "xxh128",
    "xxhash",
    "xxhash64",
    "xxhash64be",
];

/// The most sums of one file.
const MAX_HASHES: usize = 64;

/// A media hash list that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mhl {
    /// Its version: `1.1`, `2.0`.
    pub version: String,
    /// The program that wrote it.
    pub tool: String,
    /// Its files.
    pub files: Vec<MhlFile>,
    /// What was left out or odd.
    pub notices: Vec<Notice>,
}

/// A file of a media hash list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MhlFile {
    /// The line of the list.
    pub line: u64,
    /// The path as it stands there.
    pub path: String,
    /// The length in bytes.
    pub bytes: Option<u64>,
    /// The names of the sums' elements with their values, both as they stand there.
    pub hashes: Vec<(String, String)>,
}

/// Reads a media hash list of either version.
///
/// A sum whose `action` is `failed` is left out with a notice: it is of a file that was not what it should be.
/// Memory grows with the list.
///
/// # Errors
/// At the first thing that is wrong, with its line.
pub fn read_mhl(input: impl BufRead) -> Result<Mhl, XmlError> {
    let mut xml = XmlCursor::open(input, Tag::HashList)?;
    let mut mhl = Mhl {
        version: xml.version().unwrap_or_default().to_owned(),
        ..Mhl::default()
    };
    let mut notices = Notices::new();
    while let Some(tag) = xml.child()? {
        match tag {
            Tag::CreatorInfo => {
                while let Some(tag) = xml.child()? {
                    match tag {
                        Tag::Tool => mhl.tool = xml.text()?.trim().to_owned(),
                        _ => xml.skip()?,
                    }
                }
            }
            Tag::Hash => mhl.files.push(file(&mut xml, &mut notices)?),
            Tag::Hashes => {
                while let Some(tag) = xml.child()? {
                    match tag {
                        Tag::Hash => mhl.files.push(file(&mut xml, &mut notices)?),
                        _ => xml.skip()?,
                    }
                }
            }
            _ => xml.skip()?,
        }
    }
    xml.finish()?;
    mhl.notices = notices.finish();
    Ok(mhl)
}

fn file<R: BufRead>(xml: &mut XmlCursor<R>, notices: &mut Notices) -> Result<MhlFile, XmlError> {
    let line = xml.line();
    let mut file = MhlFile {
        line,
        ..MhlFile::default()
    };
    let mut has_path = false;
    while let Some(tag) = xml.child()? {
        match tag {
            Tag::File | Tag::Path => {
                if std::mem::replace(&mut has_path, true) {
                    return Err(XmlError::Twice {
                        line: xml.line(),
                        element: tag.name(),
                    });
                }
                let size = xml.attribute_size().map(str::to_owned);
                if let Some(text) = size {
                    let bytes = parse_u64(&text).map_err(|fault| XmlError::BadNumber {
                        line: xml.line(),
                        element: tag.name(),
                        text: excerpt(&text),
                        fault,
                    })?;
                    file.bytes = Some(bytes);
                }
                file.path = xml.text()?.to_owned();
            }
            Tag::Size => file.bytes = Some(xml.number(tag)?),
            _ => {
                let element = xml.open_name();
                if !HASH_ELEMENTS.contains(&element.as_str()) {
                    xml.skip()?;
                    continue;
                }
                let failed = xml.attribute_action() == Some("failed");
                let value = xml.text()?.trim().to_owned();
                if failed {
                    notices.push("mhl-failed", Some(xml.line()), || {
                        format!(
                            "the {element} of \"{}\" is marked as failed and was left out",
                            excerpt(&file.path)
                        )
                    });
                } else if file.hashes.len() >= MAX_HASHES {
                    return Err(XmlError::BadValue {
                        line: xml.line(),
                        element: tag.name(),
                        text: excerpt(&value),
                        expected: "at most 64 sums of one file",
                    });
                } else {
                    file.hashes.push((element, value));
                }
            }
        }
    }
    if has_path {
        Ok(file)
    } else {
        Err(XmlError::Missing {
            line,
            element: "hash",
            missing: "file",
        })
    }
}

/// Who wrote a media hash list, and when; times are nanoseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MhlCreator {
    /// The program and its version.
    pub tool: String,
    /// When the work began.
    pub start_ns: i64,
    /// When it ended.
    pub finish_ns: i64,
}

/// A file to be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MhlRecord<'a> {
    /// Its path, relative to the directory of the list.
    pub path: &'a str,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: Option<i64>,
    /// Names of elements with their values: `md5`, `sha1` or `xxhash64be` with hexadecimal digits.
    pub hashes: &'a [(&'a str, String)],
    /// When the sums were computed, in nanoseconds since 1970.
    pub hashed_ns: i64,
}

/// Whether XML can hold a text at all: most control characters have no way to be written.
pub fn xml_can_hold(text: &str) -> bool {
    text.chars().all(|character| {
        matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
    })
}

/// Writes an MHL 1.1.
///
/// # Errors
/// When the output does not take it, or a path cannot be written in XML ([`xml_can_hold`]).
pub fn write_mhl<'a>(
    out: &mut impl Write,
    creator: &MhlCreator,
    files: impl IntoIterator<Item = MhlRecord<'a>>,
) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<hashlist version=\"1.1\">")?;
    writeln!(out, "  <creatorinfo>")?;
    writeln!(out, "    <tool>{}</tool>", escaped(&creator.tool)?)?;
    writeln!(
        out,
        "    <startdate>{}</startdate>",
        rfc3339(creator.start_ns)
    )?;
    writeln!(
        out,
        "    <finishdate>{}</finishdate>",
        rfc3339(creator.finish_ns)
    )?;
    writeln!(out, "  </creatorinfo>")?;
    for file in files {
        writeln!(out, "  <hash>")?;
        writeln!(out, "    <file>{}</file>", escaped(file.path)?)?;
        writeln!(out, "    <size>{}</size>", file.bytes)?;
        if let Some(modified_ns) = file.modified_ns {
            let date = rfc3339(modified_ns);
            writeln!(
                out,
                "    <lastmodificationdate>{date}</lastmodificationdate>"
            )?;
        }
        for (element, value) in file.hashes {
            writeln!(out, "    <{element}>{value}</{element}>")?;
        }
        writeln!(out, "    <hashdate>{}</hashdate>", rfc3339(file.hashed_ns))?;
        writeln!(out, "  </hash>")?;
    }
    writeln!(out, "</hashlist>")
}

/// A text as XML has it; line ends as numbers, because a reader would make them alike.
fn escaped(text: &str) -> io::Result<String> {
    if !xml_can_hold(text) {
        let what = format!("\"{}\" cannot be written in XML", excerpt(text));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            other => out.push(other),
        }
    }
    Ok(out)
}

/// A time in nanoseconds since 1970 as RFC 3339 has it, in UTC and whole seconds.
pub fn rfc3339(unix_ns: i64) -> String {
    let seconds = unix_ns.div_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 1 March of year 0, in eras of 400 years (H. Hinnant, "chrono-compatible low-level date algorithms").
    let day = days + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + year + i64::from(month <= 2);
    let day = day - (153 * from_march + 2) / 5 + 1;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let at = |seconds: i64| rfc3339(seconds * 1_000_000_000);
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_234_567_890), "2009-02-13T23:31:30Z");
        assert_eq!(at(-1), "1969-12-31T23:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
