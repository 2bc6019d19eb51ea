//! Every format of requests, and which of them a file is, from its first bytes and its name.
//!
//! To add a format, write its file and give it a line in [`FORMATS`]; CONTRIBUTING.md shows the diff.

use crate::byte_order::{is_utf_16, without_mark};
use crate::format::{Content, Format, Head};
use crate::{bsr, csv_requests, cta_tapefile, hsi, jsonl, list, ltfs_index, ltfs_label, plan_json};

/// Every format that we read, in the order in which they are tried: what is nothing else is a list of names.
pub const FORMATS: &[&Format] = &[
    &csv_requests::FORMAT,
    &jsonl::FORMAT,
    &ltfs_index::FORMAT,
    &ltfs_label::FORMAT,
    &cta_tapefile::FORMAT,
    &bsr::FORMAT,
    &hsi::FORMAT,
    &plan_json::FORMAT,
    &list::FORMAT,
    &list::NUL_FORMAT,
];

impl Format {
    /// The format of that command-line name.
    pub fn from_name(name: &str) -> Option<&'static Format> {
        FORMATS.iter().copied().find(|format| format.name == name)
    }
}

/// What a file was recognised as, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// The format.
    pub format: &'static Format,
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
    let (format, why) = match by_content(without_mark(head)) {
        Some((format, why)) => (format, why.to_owned()),
        None => match by_name(file_name) {
            Some(format) => (format, format!("the name ends in {}", endings(format))),
            None => (
                &list::FORMAT,
                "nothing in it marks another format".to_owned(),
            ),
        },
    };
    Detection {
        format,
        sentence: format!("read as {}: {why}", format.title),
    }
}

fn utf_16(head: &[u8], file_name: Option<&str>) -> Detection {
    // All words we look for are ASCII: without the zero bytes they stand there in either byte order.
    let ascii: Vec<u8> = head[2..]
        .iter()
        .copied()
        .filter(|&byte| byte != 0)
        .collect();
    let refuses_utf_16 = |format: &&'static Format| {
        matches!(format.content, Content::Requests { is_text: true, .. })
    };
    let by_content = by_content(&ascii)
        .map(|(format, _)| format)
        .filter(refuses_utf_16);
    let by_name = || by_name(file_name).filter(refuses_utf_16);
    Detection {
        format: by_content.or_else(by_name).unwrap_or(&list::FORMAT),
        sentence: "the file is UTF-16 text, by its byte order mark; save it as UTF-8".to_string(),
    }
}

fn by_content(head: &[u8]) -> Option<(&'static Format, &'static str)> {
    let head = Head::new(head);
    let recognise = |format: &&'static Format| Some((*format, (format.recognise)(&head)?));
    FORMATS.iter().find_map(recognise)
}

fn by_name(file_name: Option<&str>) -> Option<&'static Format> {
    let (_, ending) = file_name?.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    let has_ending = |format: &&&'static Format| format.endings.contains(&ending.as_str());
    FORMATS.iter().find(has_ending).copied()
}

fn endings(format: &Format) -> String {
    let endings: Vec<String> = format
        .endings
        .iter()
        .map(|ending| format!(".{ending}"))
        .collect();
    endings.join(" or ")
}
