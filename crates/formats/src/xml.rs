//! A small pull reader for the XML of LTFS and of hash lists, with limits: no DTD, no endless item or depth.

use std::io::{self, BufRead};

use quick_xml::Reader;
use quick_xml::errors::{Error as QuickError, IllFormedError};
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::bounded::{Bounded, is_too_long};
use crate::byte_order::is_utf_16;
use crate::number::{excerpt, parse_u64};
use crate::xml_error::XmlError;

/// The longest tag, comment or piece of text, in bytes; it is what the parser may buffer.
const MAX_ITEM_BYTES: u64 = 8 << 20;
/// The longest text we keep (a name, a time, a number), in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// The longest tag with its attributes, in bytes.
const MAX_TAG_BYTES: usize = 4096;
/// The deepest nesting of elements: 1024 directories, each with its contents, and what is inside a file.
const MAX_DEPTH: usize = 2 * 1024 + 16;

/// Declares the elements we know, so that a tag is a small `Copy` value and not a borrowed name.
macro_rules! tags {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// An element of an LTFS index or label, or of a media hash list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Tag { $($variant,)* Other }
        impl Tag {
            fn of(name: &str) -> Tag {
                match name { $($name => Tag::$variant,)* _ => Tag::Other }
            }
            pub(crate) fn name(self) -> &'static str {
                match self { $(Tag::$variant => $name,)* Tag::Other => "an unknown element" }
            }
        }
    };
}

tags! {
    LtfsIndex = "ltfsindex", LtfsLabel = "ltfslabel", Creator = "creator", VolumeUuid = "volumeuuid",
    Generation = "generationnumber", UpdateTime = "updatetime", FormatTime = "formattime",
    Location = "location", PreviousLocation = "previousgenerationlocation", Partition = "partition",
    Partitions = "partitions", Index = "index", Data = "data", BlockSize = "blocksize",
    Compression = "compression", StartBlock = "startblock", HighestFileUid = "highestfileuid",
    LockState = "volumelockstate", Directory = "directory", Contents = "contents", File = "file",
    Name = "name", Length = "length", Readonly = "readonly", FileUid = "fileuid",
    ModifyTime = "modifytime", Symlink = "symlink", ExtendedAttributes = "extendedattributes",
    Xattr = "xattr", Key = "key", Value = "value", ExtentInfo = "extentinfo", Extent = "extent",
    FileOffset = "fileoffset", ByteOffset = "byteoffset", ByteCount = "bytecount",
    AllowPolicyUpdate = "allowpolicyupdate", DataPlacementPolicy = "dataplacementpolicy",
    CreationTime = "creationtime", ChangeTime = "changetime", AccessTime = "accesstime",
    BackupTime = "backuptime", OpenForWrite = "openforwrite", HashList = "hashlist",
    CreatorInfo = "creatorinfo", Tool = "tool", Hashes = "hashes", Hash = "hash", Path = "path",
    Size = "size",
}

struct Open {
    tag: Tag,
    line: u64,
    // Kept for unknown elements only: they are rare, and the errors must name them.
    other_name: Option<Box<str>>,
}

impl Open {
    fn name(&self) -> String {
        match &self.other_name {
            Some(name) => excerpt(name),
            None => self.tag.name().to_string(),
        }
    }
}

/// What one event means to us.
enum Token {
    Open,
    Close,
    Text,
    Nothing,
    End,
}

/// Walks through the elements of one document.
pub(crate) struct XmlCursor<R: BufRead> {
    reader: Reader<Bounded<R>>,
    buffer: Vec<u8>,
    stack: Vec<Open>,
    text: String,
    /// Whether text is passed over instead of kept: a skipped value may be longer than any text we keep.
    skipping: bool,
    /// The longest text that is wanted of the open element; a longer one is passed over.
    most_text: Option<usize>,
    /// Those of the element last opened.
    attributes: Attributes,
}

impl<R: BufRead> XmlCursor<R> {
    /// Opens the document and its root element.
    pub(crate) fn open(mut input: R, expected: Tag) -> Result<Self, XmlError> {
        let start = input.fill_buf();
        if is_utf_16(start.map_err(|source| XmlError::Io { line: 1, source })?) {
            return Err(XmlError::Utf16);
        }
        let mut reader = Reader::from_reader(Bounded::new(input, MAX_ITEM_BYTES));
        reader.config_mut().expand_empty_elements = true;
        let mut cursor = Self {
            reader,
            buffer: Vec::new(),
            stack: Vec::new(),
            text: String::new(),
            skipping: false,
            most_text: None,
            attributes: Attributes::default(),
        };
        loop {
            match cursor.token()? {
                Token::Open => break,
                Token::End => {
                    return Err(XmlError::NothingThere {
                        expected: expected.name(),
                    });
                }
                Token::Text if !cursor.text.trim().is_empty() => {
                    return Err(cursor.malformed("text before the first element; not an XML file"));
                }
                _ => cursor.text.clear(),
            }
        }
        match cursor.stack.last() {
            Some(open) if open.tag == expected => Ok(cursor),
            open => Err(XmlError::WrongRoot {
                line: cursor.line(),
                found: open.map(Open::name).unwrap_or_default(),
                expected: expected.name(),
            }),
        }
    }

    /// The line reached, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.reader.get_ref().line()
    }

    /// The `version` attribute of the element last opened.
    pub(crate) fn version(&self) -> Option<&str> {
        self.attributes.version.as_deref()
    }

    /// The `size` attribute of the element last opened.
    pub(crate) fn attribute_size(&self) -> Option<&str> {
        self.attributes.size.as_deref()
    }

    /// The `action` attribute of the element last opened.
    pub(crate) fn attribute_action(&self) -> Option<&str> {
        self.attributes.action.as_deref()
    }

    /// Whether the element last opened says `type="base64"`.
    pub(crate) fn is_base64(&self) -> bool {
        self.attributes.base64
    }

    /// The name of the element last opened.
    pub(crate) fn open_name(&self) -> String {
        self.stack.last().map(Open::name).unwrap_or_default()
    }

    /// Opens the next child of the open element; `None` when the element ends here, and is closed.
    pub(crate) fn child(&mut self) -> Result<Option<Tag>, XmlError> {
        self.text.clear();
        loop {
            match self.token()? {
                Token::Open => return Ok(self.stack.last().map(|open| open.tag)),
                Token::Close => return Ok(None),
                Token::Text if !self.text.trim_ascii().is_empty() => {
                    return Err(XmlError::Misplaced {
                        line: self.line(),
                        what: format!("the text \"{}\"", excerpt(&self.text)),
                        element: self.open_name(),
                    });
                }
                Token::Text => self.text.clear(),
                Token::Nothing => {}
                Token::End => return Err(self.ends_inside()),
            }
        }
    }

    /// Reads the text of the open element and closes it.
    pub(crate) fn text(&mut self) -> Result<&str, XmlError> {
        self.text.clear();
        loop {
            match self.token()? {
                Token::Text | Token::Nothing => {}
                Token::Close => return Ok(&self.text),
                Token::Open => {
                    let what = format!("the element <{}>", self.open_name());
                    self.stack.pop();
                    return Err(XmlError::Misplaced {
                        line: self.line(),
                        what,
                        element: self.open_name(),
                    });
                }
                Token::End => return Err(self.ends_inside()),
            }
        }
    }

    /// Reads the text of the open element as a whole number and closes it.
    pub(crate) fn number(&mut self, element: Tag) -> Result<u64, XmlError> {
        let parsed = parse_u64(self.text()?);
        parsed.map_err(|fault| XmlError::BadNumber {
            line: self.line(),
            element: element.name(),
            text: excerpt(&self.text),
            fault,
        })
    }

    /// Reads the text of the open element as true or false (also 1 or 0, as XML Schema allows).
    pub(crate) fn boolean(&mut self, element: Tag) -> Result<bool, XmlError> {
        match self.text()?.trim_ascii() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(self.bad_value(element, "true or false")),
        }
    }

    /// Reads the text of the open element as a partition letter, `a` to `z`.
    pub(crate) fn partition_letter(&mut self, element: Tag) -> Result<char, XmlError> {
        match self.text()?.trim_ascii().as_bytes() {
            [letter @ b'a'..=b'z'] => Ok(char::from(*letter)),
            _ => Err(self.bad_value(element, "a letter from a to z")),
        }
    }

    /// Reads the text of the open element where it has at most `most` bytes; a longer one is passed over.
    pub(crate) fn short_text(&mut self, most: usize) -> Result<Option<&str>, XmlError> {
        self.most_text = Some(most);
        let read = self.text().map(|_| ());
        self.most_text = None;
        let was_longer = std::mem::take(&mut self.skipping);
        read?;
        Ok((!was_longer).then_some(self.text.as_str()))
    }

    /// Reads the text of the open element as a name, decoding `%41` where the element says it is encoded so.
    pub(crate) fn name_text(&mut self, element: Tag) -> Result<String, XmlError> {
        let encoded = self.attributes.percent_encoded;
        let text = self.text()?;
        if !encoded {
            return Ok(text.to_string());
        }
        percent_decode(text)
            .ok_or_else(|| self.bad_value(element, "%XX for each encoded byte, UTF-8 when decoded"))
    }

    /// Skips the open element with all it holds, and closes it.
    pub(crate) fn skip(&mut self) -> Result<(), XmlError> {
        let depth = self.stack.len();
        self.skipping = true;
        while self.stack.len() >= depth {
            if let Token::End = self.token()? {
                return Err(self.ends_inside());
            }
        }
        self.skipping = false;
        Ok(())
    }

    /// Reads to the end of the file after the root element was closed.
    pub(crate) fn finish(&mut self) -> Result<(), XmlError> {
        self.text.clear();
        loop {
            match self.token()? {
                Token::End => return Ok(()),
                Token::Nothing => {}
                Token::Text if self.text.trim().is_empty() => self.text.clear(),
                _ => return Err(self.malformed("more content after the end of the document")),
            }
        }
    }

    /// An error that says what the text last read should have been.
    pub(crate) fn bad_value(&self, element: Tag, expected: &'static str) -> XmlError {
        XmlError::BadValue {
            line: self.line(),
            element: element.name(),
            text: excerpt(&self.text),
            expected,
        }
    }

    fn malformed(&self, what: &str) -> XmlError {
        XmlError::Malformed {
            line: self.line(),
            what: what.to_string(),
        }
    }

    fn ends_inside(&self) -> XmlError {
        XmlError::EndsInside {
            element: self.open_name(),
            opened_line: self.stack.last().map_or(1, |open| open.line),
            line: self.line(),
        }
    }

    fn token(&mut self) -> Result<Token, XmlError> {
        self.buffer.clear();
        let line = self.reader.get_ref().line();
        self.reader.get_ref().meter().start_item();
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(error) => return Err(self.explain(error, line)),
        };
        match event {
            Event::Start(start) => {
                let open = describe(&start, line, self.stack.len())?;
                self.attributes = if start.attributes_raw().is_empty() {
                    Attributes::default()
                } else {
                    Attributes::of(&start, line)?
                };
                self.stack.push(open);
                Ok(Token::Open)
            }
            Event::End(_) => {
                self.stack.pop();
                Ok(Token::Close)
            }
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) if self.skipping => {
                Ok(Token::Nothing)
            }
            Event::Text(text) if is_longer(self.most_text, &self.text, &text.xml10_content()) => {
                self.skipping = true;
                Ok(Token::Nothing)
            }
            Event::CData(data) if is_longer(self.most_text, &self.text, &data.xml10_content()) => {
                self.skipping = true;
                Ok(Token::Nothing)
            }
            Event::Text(text) => push_text(&mut self.text, &text.xml10_content(), line),
            Event::CData(data) => push_text(&mut self.text, &data.xml10_content(), line),
            Event::GeneralRef(reference) => {
                let character = resolve(&reference, line)?;
                push_text(&mut self.text, character.encode_utf8(&mut [0; 4]), line)
            }
            Event::DocType(_) => Err(XmlError::Doctype { line }),
            Event::Eof => Ok(Token::End),
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::Empty(_) => {
                Ok(Token::Nothing)
            }
        }
    }

    fn at_end(&mut self) -> bool {
        let rest = self.reader.get_mut().fill_buf();
        rest.is_ok_and(<[u8]>::is_empty)
    }

    /// Turns the parser's error into one that says what to do.
    fn explain(&mut self, error: QuickError, line: u64) -> XmlError {
        let offset = self.reader.get_ref().offset();
        match error {
            QuickError::Io(io) if is_too_long(&io) => XmlError::TooLong {
                line,
                limit_bytes: MAX_ITEM_BYTES,
            },
            QuickError::Io(io) => XmlError::Io {
                line,
                source: io::Error::new(io.kind(), io.to_string()),
            },
            // A syntax error is a tag, comment or the like that the end of the input cut off.
            QuickError::Syntax(_) | QuickError::IllFormed(IllFormedError::UnclosedReference)
                if !self.stack.is_empty() =>
            {
                self.ends_inside()
            }
            // A character of several bytes cut in two is no wrong encoding, but the end of a file that was cut.
            QuickError::Encoding(_) if self.at_end() && !self.stack.is_empty() => {
                self.ends_inside()
            }
            QuickError::Encoding(error) => XmlError::NotUtf8 {
                line,
                offset,
                what: error.to_string(),
            },
            QuickError::Syntax(_) if self.at_end() => XmlError::Malformed {
                line,
                what: format!("{error}: the file was cut off; copy it again"),
            },
            error => XmlError::Malformed {
                line,
                what: error.to_string(),
            },
        }
    }
}

/// Checks a start tag against the limits and says what it opens.
fn describe(start: &BytesStart<'_>, line: u64, depth: usize) -> Result<Open, XmlError> {
    if start.len() > MAX_TAG_BYTES {
        return Err(XmlError::TooLong {
            line,
            limit_bytes: MAX_TAG_BYTES as u64,
        });
    }
    if depth >= MAX_DEPTH {
        return Err(XmlError::TooDeep {
            line,
            limit: MAX_DEPTH,
        });
    }
    let name = start.name();
    let tag = Tag::of(name.as_ref());
    Ok(Open {
        tag,
        line,
        other_name: (tag == Tag::Other).then(|| Box::from(name.as_ref())),
    })
}

/// The attributes that LTFS and hash lists use.
#[derive(Default)]
struct Attributes {
    version: Option<String>,
    size: Option<String>,
    action: Option<String>,
    /// Whether it says `percentencoded="true"`.
    percent_encoded: bool,
    /// Whether it says `type="base64"`.
    base64: bool,
}

impl Attributes {
    fn of(start: &BytesStart<'_>, line: u64) -> Result<Self, XmlError> {
        let mut found = Attributes::default();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| XmlError::Malformed {
                line,
                what: error.to_string(),
            })?;
            let value: &str = attribute.value.as_ref();
            match attribute.key.as_ref() {
                "version" => found.version = Some(value.to_string()),
                "size" => found.size = Some(value.to_string()),
                "action" => found.action = Some(value.to_string()),
                "percentencoded" => found.percent_encoded = matches!(value, "true" | "1"),
                "type" => found.base64 = value == "base64",
                _ => {}
            }
        }
        Ok(found)
    }
}

/// The character a reference stands for: a number, or one of the five entities of XML itself.
fn resolve(reference: &BytesRef<'_>, line: u64) -> Result<char, XmlError> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) => return Ok(character),
        Ok(None) => {}
        Err(error) => {
            return Err(XmlError::Malformed {
                line,
                what: error.to_string(),
            });
        }
    }
    match &**reference {
        "amp" => Ok('&'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        name => Err(XmlError::UnknownEntity {
            line,
            name: excerpt(name),
        }),
    }
}

/// Whether a text with another piece is longer than what is wanted of it.
fn is_longer(most: Option<usize>, text: &str, piece: &str) -> bool {
    most.is_some_and(|most| text.len() + piece.len() > most)
}

fn push_text(text: &mut String, piece: &str, line: u64) -> Result<Token, XmlError> {
    if text.len() + piece.len() > MAX_TEXT_BYTES {
        return Err(XmlError::TooLong {
            line,
            limit_bytes: MAX_TEXT_BYTES as u64,
        });
    }
    text.push_str(piece);
    Ok(Token::Text)
}

/// Decodes `%41`; `None` when a percent sign is not followed by two hexadecimal digits, or it is not UTF-8.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = char::from(rest.next()?).to_digit(16)?;
        let low = char::from(rest.next()?).to_digit(16)?;
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_decode_to_bytes() {
        assert_eq!(percent_decode("a%3Ab%e2%82%AC").as_deref(), Some("a:b€"));
        assert_eq!(percent_decode("a+b").as_deref(), Some("a+b"));
        for bad in ["%", "%4", "%zz", "%ff", "a%+1"] {
            assert_eq!(percent_decode(bad), None, "{bad}");
        }
    }
}
