//! Lists of sums as people keep them beside their files: md5sum and its kin, BagIt, SFV, media hash lists.
//!
//! | list | a line | how it is known |
//! |---|---|---|
//! | GNU (`md5sum`, `sha256sum`, `xxhsum`) | `DIGITS  name`, `DIGITS *name`, `\DIGITS  na\nme` | the rest |
//! | BSD (`md5`, `sha256sum --tag`) | `SHA256 (name) = DIGITS` | line by line |
//! | BagIt manifest (RFC 8493) | `DIGITS name`, `%0A`, `%0D` and `%25` in names | `manifest-ALGORITHM.txt` |
//! | SFV | `name CRC32` | the ending `.sfv` |
//! | MHL 1, ASC MHL 2.0 | XML | the first character is `<` |
//!
//! The number of digits mostly tells the kind of a sum. If several kinds have that many digits, the name of the list
//! must tell the kind; a name that does not is an error. A line of any other form is rejected too, because a list that
//! was understood in part proves nothing.

use super::{Kind, Sum};
use std::io::BufRead;
use tapewise_formats::list::{ListError, Name, Separator, read_list};
use tapewise_formats::mhl::{Mhl, read_mhl};
use tapewise_formats::{Notice, XmlError};

/// A list of sums that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SumList {
    /// What it was recognised as.
    pub form: String,
    /// Its sums, in its order; a file with several sums is there several times.
    pub sums: Vec<Listed>,
    /// What was left out, or odd.
    pub notices: Vec<Notice>,
}

/// A sum of a file as a list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The line of the list.
    pub line: u64,
    /// The name as the list means it: what was escaped is not any more.
    pub name: Vec<u8>,
    /// The file's length, where the list says it.
    pub bytes: Option<u64>,
    /// The sum.
    pub sum: Sum,
}

/// Why a list of sums could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SumListError {
    /// It is no list of lines.
    #[error(transparent)]
    List(#[from] ListError),
    /// It is no media hash list.
    #[error(transparent)]
    Xml(#[from] XmlError),
    /// A line without a sum.
    #[error("line {line}: \"{text}\" is not a line of a list of checksums: {why}")]
    Line {
        /// Where it stands.
        line: u64,
        /// The line, shortened.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A sum in a media hash list that is not what its element says.
    #[error("line {line}: \"{text}\" is no {element} of \"{path}\"")]
    Element {
        /// Where the file stands.
        line: u64,
        /// Its path, shortened.
        path: String,
        /// The element.
        element: String,
        /// What stands in it, shortened.
        text: String,
    },
}

/// Reads a list of sums; its own name (`clips.md5`, `manifest-sha256.txt`) helps to know what it is.
///
/// # Errors
/// At the first line that is no sum, or whose kind cannot be known.
pub fn read_sums(mut input: impl BufRead, list_name: &str) -> Result<SumList, SumListError> {
    let first = input.fill_buf().unwrap_or_default();
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    if first.trim_ascii_start().first() == Some(&b'<') {
        return from_mhl(read_mhl(input)?);
    }
    let base_name = list_name.rsplit('/').next().unwrap_or_default();
    let hints = Hints::of(&base_name.to_ascii_lowercase());
    let mut list = SumList {
        form: hints.form.to_owned(),
        ..SumList::default()
    };
    for line in read_list(input, Separator::Newline)?.names {
        if matches!(line.bytes.first(), Some(b'#' | b';')) {
            continue;
        }
        list.sums.push(hints.read(&line)?);
    }
    Ok(list)
}

/// What the name of a list says about it.
struct Hints {
    form: &'static str,
    /// The kind that the name says.
    kind: Option<Kind>,
    /// Whether the name says a kind that is not computed here, whose digits may be as many as those of another.
    is_foreign: bool,
}

/// What names of lists call kinds that are not computed here.
const FOREIGN: [&str; 9] = [
    "xxh32", "xxh128", "sha3", "sha224", "sha384", "blake", "b2sum", "b3sum", "rmd160",
];

const BAGIT: &str = "BagIt manifest";
const SFV: &str = "SFV list";
const PLAIN: &str = "list of checksums";

impl Hints {
    /// From a name in small letters, without its directory.
    fn of(name: &str) -> Hints {
        let stem = name.strip_suffix(".txt");
        let bagit = stem.and_then(|stem| {
            let rest = stem.strip_prefix("tag").unwrap_or(stem);
            rest.strip_prefix("manifest-")
        });
        if let Some(algorithm) = bagit {
            let kind = kind_named(algorithm);
            return Hints {
                form: BAGIT,
                kind,
                is_foreign: kind.is_none(),
            };
        }
        if name.ends_with(".sfv") {
            return Hints {
                form: SFV,
                kind: Some(Kind::Crc32),
                is_foreign: false,
            };
        }
        // The longest name first: crc32c is no crc32.
        let mut kinds = Kind::ALL;
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.name().len()));
        Hints {
            form: PLAIN,
            kind: kinds.into_iter().find(|kind| name.contains(kind.name())),
            is_foreign: FOREIGN.iter().any(|foreign| name.contains(foreign)),
        }
    }

    fn read(&self, line: &Name) -> Result<Listed, SumListError> {
        let read = match self.form {
            BAGIT => self.bagit(&line.bytes),
            SFV => self.sfv(&line.bytes),
            _ => match bsd(&line.bytes) {
                Some(read) => read,
                None => self.gnu(&line.bytes),
            },
        };
        let (name, sum) = read.map_err(|why| SumListError::Line {
            line: line.line,
            text: excerpt(&line.bytes),
            why,
        })?;
        Ok(Listed {
            line: line.line,
            name,
            bytes: None,
            sum,
        })
    }

    /// `DIGITS  name`; a backslash in front says that the name is escaped.
    fn gnu(&self, line: &[u8]) -> Result<(Vec<u8>, Sum), &'static str> {
        let (is_escaped, line) = match line.strip_prefix(b"\\") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let blank = line.iter().position(|&byte| byte == b' ');
        let (digits, rest) = line.split_at(blank.ok_or("there is no blank after a sum")?);
        let name = rest
            .strip_prefix(b"  ")
            .or_else(|| rest.strip_prefix(b" *"))
            .ok_or("a sum is followed by two blanks, or by a blank and a star")?;
        let name = if is_escaped {
            unescaped(name).ok_or("a backslash in the name is followed by no n, r or \\")?
        } else {
            name.to_vec()
        };
        let digits = std::str::from_utf8(digits).map_err(|_| "the sum is not text")?;
        Ok((name, self.sum(digits)?))
    }

    /// `DIGITS name` with blanks or tabs between.
    fn bagit(&self, line: &[u8]) -> Result<(Vec<u8>, Sum), &'static str> {
        let blank = line.iter().position(|&byte| matches!(byte, b' ' | b'\t'));
        let (digits, rest) = line.split_at(blank.ok_or("there is no blank after a sum")?);
        let name = rest.trim_ascii_start();
        let name = name.strip_prefix(b"*").unwrap_or(name);
        let digits = std::str::from_utf8(digits).map_err(|_| "the sum is not text")?;
        Ok((percent_decoded(name), self.sum(digits)?))
    }

    /// `name CRC32`.
    fn sfv(&self, line: &[u8]) -> Result<(Vec<u8>, Sum), &'static str> {
        let line = line.trim_ascii_end();
        let blank = line.iter().rposition(|&byte| byte == b' ');
        let (name, digits) = line.split_at(blank.ok_or("there is no sum after a name")?);
        let digits = std::str::from_utf8(&digits[1..]).map_err(|_| "the sum is not text")?;
        Ok((name.trim_ascii_end().to_vec(), self.sum(digits)?))
    }

    /// The sum of digits, whose kind they say themselves, or the list, or their number.
    fn sum(&self, digits: &str) -> Result<Sum, &'static str> {
        const WRONG: &str = "the sum has other than the hexadecimal digits of its kind";
        if let Ok(sum) = digits.parse() {
            return Ok(sum);
        }
        // How xxhsum tells XXH3 from XXH64.
        if let Some(rest) = digits.strip_prefix("XXH3_") {
            return Sum::from_hex(Kind::Xxh3, rest).ok_or(WRONG);
        }
        if self.is_foreign {
            return Err("the name of the list says a kind of sum that is not computed here");
        }
        let by_length = match digits.len() {
            8 => None,
            16 => Some(Kind::Xxh64),
            32 => Some(Kind::Md5),
            40 => Some(Kind::Sha1),
            64 => Some(Kind::Sha256),
            128 => Some(Kind::Sha512),
            _ => return Err(WRONG),
        };
        let named = self.kind.filter(|kind| 2 * kind.bytes() == digits.len());
        let kind = named.or(by_length).ok_or(
            "eight digits may be crc32, crc32c or adler32; name the list after its kind: clips.crc32c",
        )?;
        Sum::from_hex(kind, digits).ok_or(WRONG)
    }
}

/// `SHA256 (name) = DIGITS`; `None` where a line is not of this form.
fn bsd(line: &[u8]) -> Option<Result<(Vec<u8>, Sum), &'static str>> {
    let (is_escaped, line) = match line.strip_prefix(b"\\") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let open = line.windows(2).position(|two| two == b" (")?;
    let close = line.windows(4).rposition(|four| four == b") = ")?;
    let algorithm = std::str::from_utf8(&line[..open]).ok()?;
    if close < open + 2 || algorithm.contains(' ') {
        return None;
    }
    let name = &line[open + 2..close];
    let digits = std::str::from_utf8(&line[close + 4..]).ok()?.trim_ascii();
    let read = || {
        let kind = kind_named(&algorithm.to_ascii_lowercase());
        let kind = kind.ok_or("tapewise does not know this kind of sum")?;
        let name = if is_escaped {
            unescaped(name).ok_or("a backslash in the name is followed by no n, r or \\")?
        } else {
            name.to_vec()
        };
        let sum = Sum::from_hex(kind, digits);
        let sum = sum.ok_or("the sum has other than the hexadecimal digits of its kind")?;
        Ok((name, sum))
    };
    Some(read())
}

/// The kind that a list calls so, in small letters.
fn kind_named(name: &str) -> Option<Kind> {
    let plain: String = name.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    Kind::ALL.into_iter().find(|kind| kind.name() == plain)
}

fn from_mhl(mhl: Mhl) -> Result<SumList, SumListError> {
    let mut list = SumList {
        form: if mhl.version.starts_with('2') {
            format!("ASC MHL {}", mhl.version)
        } else {
            format!("MHL {}", mhl.version)
        },
        notices: mhl.notices,
        ..SumList::default()
    };
    let mut unknown = 0_usize;
    for file in mhl.files {
        for (element, value) in file.hashes {
            let Some(kind) = mhl_kind(&element) else {
                unknown += 1;
                continue;
            };
            let sum = Sum::from_hex(kind, &value).ok_or_else(|| SumListError::Element {
                line: file.line,
                path: excerpt(file.path.as_bytes()),
                element: element.clone(),
                text: excerpt(value.as_bytes()),
            })?;
            list.sums.push(Listed {
                line: file.line,
                name: file.path.clone().into_bytes(),
                bytes: file.bytes,
                sum: match element.as_str() {
                    LITTLE_ENDIAN => reversed(sum),
                    _ => sum,
                },
            });
        }
    }
    if unknown > 0 {
        list.notices.push(Notice {
            code: "sums-unknown".to_owned(),
            line: None,
            text: format!("{unknown} sums of kinds that are not computed here (C4, XXH32, XXH128) were left out"),
        });
    }
    Ok(list)
}

/// MHL 1 writes xxHash with its bytes in either order, and tells them apart by name.
const LITTLE_ENDIAN: &str = "xxhash64";

/// The kind of a sum's element in an MHL.
fn mhl_kind(element: &str) -> Option<Kind> {
    match element {
        "xxhash64be" | LITTLE_ENDIAN => Some(Kind::Xxh64),
        other => kind_named(other),
    }
}

fn reversed(sum: Sum) -> Sum {
    let mut sum = sum;
    sum.value.reverse();
    sum
}

/// The element of MHL 1.1 that holds a sum of a kind; `None` where it has none.
pub fn mhl_element(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Xxh64 => Some("xxhash64be"),
        Kind::Md5 => Some("md5"),
        Kind::Sha1 => Some("sha1"),
        _ => None,
    }
}

/// A line of a list as `md5sum` and its kin write and check it, its line feed included.
///
/// Kinds that these programs do not tell apart by their digits are written as `KIND:DIGITS`.
pub fn list_line(name: &[u8], sum: &Sum) -> Vec<u8> {
    let digits = match sum.kind {
        Kind::Crc32 | Kind::Crc32c | Kind::Crc64Nvme | Kind::Adler32 | Kind::Xxh3 => {
            sum.to_string()
        }
        _ => sum.hex(),
    };
    let mut line = Vec::new();
    let is_escaped = name.iter().any(|byte| b"\\\n\r".contains(byte));
    if is_escaped {
        line.push(b'\\');
    }
    line.extend_from_slice(digits.as_bytes());
    line.extend_from_slice(b"  ");
    for &byte in name {
        match byte {
            b'\\' if is_escaped => line.extend_from_slice(b"\\\\"),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            other => line.push(other),
        }
    }
    line.push(b'\n');
    line
}

fn unescaped(name: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b'\\' => b'\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

/// BagIt encodes line ends and the percent sign, and nothing else; older bags not even that one.
fn percent_decoded(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut at = 0;
    while let Some(&byte) = name.get(at) {
        let code = name.get(at..at + 3).map(<[u8]>::to_ascii_uppercase);
        let (decoded, length) = match code.as_deref() {
            Some(b"%0A") => (b'\n', 3),
            Some(b"%0D") => (b'\r', 3),
            Some(b"%25") => (b'%', 3),
            _ => (byte, 1),
        };
        out.push(decoded);
        at += length;
    }
    out
}

fn excerpt(bytes: &[u8]) -> String {
    let mut text: String = crate::deliver::shown(bytes).chars().take(80).collect();
    if bytes.len() > 80 {
        text.push('…');
    }
    text
}
