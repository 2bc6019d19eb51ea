//! Recognises which format a file is, from its first bytes and its name.

use crate::byte_order::{is_utf_16, without_mark};
use crate::csv_table::sniff_delimiter;
use crate::fields::Field;

/// A format we read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Requests as CSV: [`crate::csv_requests`].
    Csv,
    /// Requests as JSON Lines: [`crate::jsonl`].
    JsonLines,
    /// An LTFS index: [`crate::ltfs_index`].
    LtfsIndex,
    /// An LTFS label: [`crate::ltfs_label`].
    LtfsLabel,
    /// A listing of CTA tape files: [`crate::cta_tapefile`].
    CtaTapefile,
    /// A bootstrap file of Bareos or Bacula: [`crate::bsr`].
    Bsr,
    /// A listing of hsi: [`crate::hsi`].
    HsiListing,
    /// A plan of tapewise: [`crate::plan_json`].
    Plan,
    /// Names, one a line: [`crate::list`].
    List,
    /// Names with zero bytes between: [`crate::list`].
    NulList,
}

impl Format {
    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::JsonLines => "jsonl",
            Format::LtfsIndex => "ltfs-index",
            Format::LtfsLabel => "ltfs-label",
            Format::CtaTapefile => "cta-tapefile",
            Format::Bsr => "bsr",
            Format::HsiListing => "hsi",
            Format::Plan => "plan",
            Format::List => "list",
            Format::NulList => "list0",
        }
    }

    /// All formats, for the help of the command line.
    pub const ALL: &'static [Format] = &[
        Format::Csv,
        Format::JsonLines,
        Format::LtfsIndex,
        Format::LtfsLabel,
        Format::CtaTapefile,
        Format::Bsr,
        Format::HsiListing,
        Format::Plan,
        Format::List,
        Format::NulList,
    ];

    /// The format of that command-line name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name)
    }
}

/// What a file was recognised as, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// The format.
    pub format: Format,
    /// A sentence for a person: what was recognised, and by what.
    pub sentence: String,
}

/// How many first bytes [`detect`] looks at; give it at least these where there are as many.
pub const DETECT_BYTES: usize = 4096;

/// Recognises the format from the first bytes and, where they do not tell, the file's name.
///
/// What is nothing else is a list of names, and the sentence says so; it never guesses silently. Text in UTF-16 is
/// given a format whose reader refuses it as that.
pub fn detect(first_bytes: &[u8], file_name: Option<&str>) -> Detection {
    let head = &first_bytes[..first_bytes.len().min(DETECT_BYTES)];
    if is_utf_16(head) {
        return utf_16(head, file_name);
    }
    let (format, why) = by_content(without_mark(head))
        .or_else(|| by_name(file_name))
        .unwrap_or((Format::List, "nothing in it marks another format"));
    Detection {
        format,
        sentence: format!("read as {}: {why}", described(format)),
    }
}

fn utf_16(head: &[u8], file_name: Option<&str>) -> Detection {
    // All words we look for are ASCII: without the zero bytes they stand there in either byte order.
    let ascii: Vec<u8> = head[2..]
        .iter()
        .copied()
        .filter(|&byte| byte != 0)
        .collect();
    let refused_as_utf_16 = |(format, _): (Format, &str)| {
        matches!(
            format,
            Format::Csv | Format::JsonLines | Format::Bsr | Format::HsiListing
        )
        .then_some(format)
    };
    Detection {
        format: by_content(&ascii)
            .and_then(refused_as_utf_16)
            .or_else(|| by_name(file_name).and_then(refused_as_utf_16))
            .unwrap_or(Format::List),
        sentence: "the file is UTF-16 text, by its byte order mark; save it as UTF-8".to_string(),
    }
}

fn by_content(head: &[u8]) -> Option<(Format, &'static str)> {
    let text = String::from_utf8_lossy(head);
    let start = text.trim_ascii_start();
    if start.starts_with('<') {
        xml(start)
    } else if start.starts_with('[') {
        Some((
            Format::CtaTapefile,
            "a JSON array, as `cta-admin --json tapefile ls` prints it",
        ))
    } else if start.starts_with('{') {
        Some(json_object(start))
    } else if start.starts_with("FILE\t") {
        Some((Format::HsiListing, "FILE lines, as `hsi ls -P` prints them"))
    } else if is_bsr(start) {
        Some((
            Format::Bsr,
            "Volume= or Storage= lines, as in a Bareos or Bacula bootstrap file",
        ))
    } else if head.contains(&0) {
        Some((Format::NulList, "zero bytes between the names"))
    } else if is_csv(start) {
        Some((Format::Csv, "a header line with column names of requests"))
    } else {
        None
    }
}

fn described(format: Format) -> &'static str {
    match format {
        Format::Csv => "CSV",
        Format::JsonLines => "JSON Lines",
        Format::LtfsIndex => "an LTFS index",
        Format::LtfsLabel => "an LTFS label",
        Format::CtaTapefile => "a CTA tape file listing",
        Format::Bsr => "a bootstrap file",
        Format::HsiListing => "an hsi listing",
        Format::Plan => "a tapewise plan",
        Format::List => "a list of names, one a line",
        Format::NulList => "a NUL-separated list of names",
    }
}

fn xml(start: &str) -> Option<(Format, &'static str)> {
    if start.contains("<ltfsindex") {
        Some((Format::LtfsIndex, "it has the element <ltfsindex>"))
    } else if start.contains("<ltfslabel") {
        Some((Format::LtfsLabel, "it has the element <ltfslabel>"))
    } else {
        None
    }
}

fn json_object(start: &str) -> (Format, &'static str) {
    if start.contains("\"tapewise-plan\"") {
        (Format::Plan, "it names the format tapewise-plan")
    } else {
        (Format::JsonLines, "the first line is a JSON object")
    }
}

fn is_bsr(start: &str) -> bool {
    let mut lines = start.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first
        .and_then(|line| line.split_once('='))
        .is_some_and(|(keyword, _)| {
            let keyword = keyword.trim();
            keyword.eq_ignore_ascii_case("volume") || keyword.eq_ignore_ascii_case("storage")
        })
}

/// Whether the first line is a header: at least one position column among its names.
fn is_csv(start: &str) -> bool {
    let header = start.lines().next().unwrap_or_default();
    let delimiter = char::from(sniff_delimiter(header.as_bytes()));
    let mut names = header
        .split(delimiter)
        .map(|name| name.trim().trim_matches('"'));
    names.any(|name| matches!(Field::find(name), Some(Field::StartBlock | Field::SortKey)))
}

fn by_name(file_name: Option<&str>) -> Option<(Format, &'static str)> {
    let (_, extension) = file_name?.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "csv" | "tsv" => Some((Format::Csv, "the name ends in .csv or .tsv")),
        "jsonl" | "ndjson" => Some((Format::JsonLines, "the name ends in .jsonl or .ndjson")),
        "schema" | "xml" => Some((Format::LtfsIndex, "the name ends in .schema or .xml")),
        "bsr" => Some((Format::Bsr, "the name ends in .bsr")),
        _ => None,
    }
}
