//! The index of an LTFS volume (format 2.0 to 2.5): every file and the blocks it lies on.
//!
//! The index is read as a stream: one file at a time is handed to the caller, so the memory used does not depend
//! on the size of the index. Files of one directory share its path ([`LtfsPath`]), so a list of two million files
//! takes less than 600 MB, and no index, however deep its directories, makes more of itself than its files justify. A damaged or hostile index ends in an error with its line; a DTD is refused.
//! Elements and limits: SNIA LTFS Format Specification 2.5, sections 9.2 and 10.

mod error;
mod extents;

use std::io::BufRead;
use std::sync::Arc;

pub use error::LtfsIndexError;

use crate::deadline::unix_us;
use crate::format::{Content, Format};
pub use crate::ltfs_attribute::{LtfsAttribute, LtfsHash};
pub use crate::ltfs_path::LtfsPath;
use crate::notice::{Notice, Notices};
use crate::number::excerpt;
use crate::xml::{Tag, XmlCursor};
use crate::xml_error::XmlError;

/// See [`crate::detect::FORMATS`].
pub const FORMAT: Format = Format {
    name: "ltfs-index",
    title: "an LTFS index",
    endings: &["schema", "xml"],
    recognise: |head| {
        head.has_element("<ltfsindex")
            .then_some("it has the element <ltfsindex>")
    },
    content: Content::Index,
};

/// The deepest directory we accept; LTFS itself has no limit, path lengths do.
const MAX_DIRECTORY_DEPTH: usize = 1024;
/// The longest path we accept, in bytes: the longest of Windows (32,767 units of UTF-16) fits, Linux stops at 4 KiB.
const MAX_PATH_BYTES: usize = 128 << 10;
/// What the paths of all files may have together, in bytes, however few files there are.
///
/// A few bytes of XML repeat the path of all directories above them, so without this an index of 5 MB could ask for
/// gigabytes of whoever writes the paths out.
const FREE_PATH_BYTES: u64 = 64 << 20;
/// What the paths of all files may have together beyond that, in bytes for each file.
const MAX_MEAN_PATH_BYTES: u64 = 1024;
/// The most bytes of extended attributes that are kept of one file; LTFS itself takes 64 KiB each.
const MAX_ATTRIBUTE_BYTES: usize = 256 << 10;
/// What an attribute counts beside its texts, so that empty ones do not add up without end.
const ATTRIBUTE_OVERHEAD_BYTES: usize = 64;
/// The most hashes of one file.
const MAX_HASHES_PER_FILE: usize = 64;

/// What the head of an LTFS index says, and what was counted in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LtfsIndex {
    /// The format version: `2.4.0`.
    pub version: String,
    /// The program that wrote the index.
    pub creator: String,
    /// The volume's UUID, in lower case.
    pub volume_uuid: String,
    /// Grows by one with every index written to the volume.
    pub generation: u64,
    /// When the index was written, as it stands there (RFC 3339).
    pub update_time: String,
    /// Where this index lies on the tape.
    pub location: Option<LtfsLocation>,
    /// Where the index before this one lies.
    pub previous_location: Option<LtfsLocation>,
    /// The highest file number given out.
    pub highest_file_uid: Option<u64>,
    /// `unlocked`, `locked` or `permlocked`, as it stands there.
    pub lock_state: Option<String>,
    /// The name of the root directory, which is the name of the volume; it may be empty.
    pub volume_name: String,
    /// Directories, the root included.
    pub directory_count: u64,
    /// Files, symbolic links included.
    pub file_count: u64,
    /// Extents of all files.
    pub extent_count: u64,
    /// Bytes in all extents; files with holes are longer than their extents.
    pub extent_bytes: u64,
    /// What was ignored or odd.
    pub notices: Vec<Notice>,
}

/// A place on an LTFS volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LtfsLocation {
    /// The letter of the partition; the label says which it is on the tape.
    pub partition: char,
    /// The logical object identifier within the partition.
    pub start_block: u64,
}

/// One file of an LTFS index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LtfsFile {
    /// The path from the root of the volume.
    pub path: LtfsPath,
    /// The length in bytes, holes included.
    pub length: u64,
    /// The number of the file, unique in the volume.
    pub file_uid: Option<u64>,
    /// Whether it must not be changed.
    pub readonly: bool,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: Option<i64>,
    /// Where a symbolic link points to; `None` for a file.
    pub symlink: Option<Box<str>>,
    /// Where the data lies, in file order; a hole has no extent.
    pub extents: Box<[LtfsExtent]>,
    /// The checksums stored with the file: attributes named `ltfs.hash.…`.
    pub hashes: Vec<LtfsHash>,
    /// Its other extended attributes, but for those of LTFS itself and those that are too long.
    pub attributes: Vec<LtfsAttribute>,
}

/// One extent exactly as the index has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LtfsExtent {
    /// Where it begins in the file, in bytes.
    pub file_offset: u64,
    /// The letter of the partition.
    pub partition: char,
    /// The logical object identifier of its first block.
    pub start_block: u64,
    /// Where the data begins in the first block, in bytes.
    pub byte_offset: u64,
    /// The length in bytes.
    pub byte_count: u64,
}

/// Reads an LTFS index and hands each file to `visit`, in the order of the index.
///
/// Memory stays below 100 MB for any input; the caller decides what to keep.
///
/// # Errors
/// At the first thing that is wrong, with its line. Files visited before it were read correctly, but a caller
/// that needs the whole index must discard them.
pub fn visit_ltfs_index<R: BufRead>(
    input: R,
    visit: impl FnMut(LtfsFile),
) -> Result<LtfsIndex, LtfsIndexError> {
    let xml = XmlCursor::open(input, Tag::LtfsIndex)?;
    let version = xml.version().unwrap_or_default().to_string();
    let mut parser = Parser {
        xml,
        visit,
        index: LtfsIndex::default(),
        notices: Notices::new(),
        path: String::new(),
        path_bytes: 0,
        extents: Vec::new(),
    };
    parser.check_version(&version)?;
    parser.index.version = version;
    parser.root()?;
    parser.xml.finish()?;
    let mut index = parser.index;
    index.notices = parser.notices.finish();
    Ok(index)
}

/// Reads an LTFS index and returns all its files, in the order of the index.
///
/// # Errors
/// As [`visit_ltfs_index`].
pub fn read_ltfs_index(input: impl BufRead) -> Result<(LtfsIndex, Vec<LtfsFile>), LtfsIndexError> {
    let mut files = Vec::new();
    let index = visit_ltfs_index(input, |file| files.push(file))?;
    Ok((index, files))
}

struct Parser<R: BufRead, V> {
    xml: XmlCursor<R>,
    visit: V,
    index: LtfsIndex,
    notices: Notices,
    /// The path of the directory we are in, with a slash at the end unless it is the root.
    path: String,
    /// The bytes of the paths of all files so far.
    path_bytes: u64,
    /// The extents of the file that is being read; kept here so that each file takes no more than it has.
    extents: Vec<LtfsExtent>,
}

/// A directory whose element is open.
#[derive(Default)]
struct OpenDirectory {
    /// The length of the path before its name.
    parent_len: usize,
    /// Whether its name was seen.
    named: bool,
    /// Whether its `contents` are open.
    in_contents: bool,
    /// Its path, made for the first file in it and shared by all.
    shared: Option<Arc<str>>,
}

impl<R: BufRead, V: FnMut(LtfsFile)> Parser<R, V> {
    fn check_version(&mut self, version: &str) -> Result<(), LtfsIndexError> {
        let mut parts = version.split('.');
        let minor = match (parts.next(), parts.next()) {
            (Some("2"), Some(minor)) => minor.parse::<u32>().ok(),
            _ => None,
        };
        match minor {
            Some(0..=5) => Ok(()),
            Some(_) => {
                self.notices.push("ltfs-version", None, || {
                    format!("LTFS index version {version} is newer than 2.5; read as 2.5")
                });
                Ok(())
            }
            None => Err(LtfsIndexError::Version {
                found: excerpt(version),
            }),
        }
    }

    /// Reads the children of `ltfsindex`.
    fn root(&mut self) -> Result<(), LtfsIndexError> {
        let mut has_directory = false;
        while let Some(tag) = self.xml.child()? {
            match tag {
                Tag::Creator => self.index.creator = self.xml.text()?.to_string(),
                Tag::VolumeUuid => {
                    self.index.volume_uuid = self.xml.text()?.trim().to_ascii_lowercase();
                }
                Tag::Generation => self.index.generation = self.xml.number(tag)?,
                Tag::UpdateTime => self.index.update_time = self.xml.text()?.to_string(),
                Tag::Location => self.index.location = Some(self.location(tag)?),
                Tag::PreviousLocation => self.index.previous_location = Some(self.location(tag)?),
                Tag::HighestFileUid => self.index.highest_file_uid = Some(self.xml.number(tag)?),
                Tag::LockState => self.index.lock_state = Some(self.xml.text()?.to_string()),
                Tag::Directory => {
                    self.once(&mut has_directory, tag)?;
                    self.directories()?;
                }
                Tag::AllowPolicyUpdate | Tag::DataPlacementPolicy => self.xml.skip()?,
                _ => self.skip_unknown()?,
            }
        }
        let missing = if !has_directory {
            Some("directory")
        } else if self.index.volume_uuid.is_empty() {
            Some("volumeuuid")
        } else {
            None
        };
        match missing {
            None => Ok(()),
            Some(missing) => Err(self.missing("ltfsindex", missing)),
        }
    }

    fn location(&mut self, element: Tag) -> Result<LtfsLocation, LtfsIndexError> {
        let (mut partition, mut start_block) = (None, None);
        while let Some(tag) = self.xml.child()? {
            match tag {
                Tag::Partition => partition = Some(self.xml.partition_letter(tag)?),
                Tag::StartBlock => start_block = Some(self.xml.number(tag)?),
                _ => self.skip_unknown()?,
            }
        }
        Ok(LtfsLocation {
            partition: partition.ok_or_else(|| self.missing(element.name(), "partition"))?,
            start_block: start_block.ok_or_else(|| self.missing(element.name(), "startblock"))?,
        })
    }

    /// Reads the root directory and all below it, with a stack of our own instead of recursion.
    fn directories(&mut self) -> Result<(), LtfsIndexError> {
        let mut open = vec![OpenDirectory::default()];
        self.index.directory_count += 1;
        loop {
            let depth = open.len();
            let Some(directory) = open.last_mut() else {
                return Ok(());
            };
            let Some(tag) = self.xml.child()? else {
                if directory.in_contents {
                    directory.in_contents = false;
                    continue;
                }
                if !directory.named {
                    return Err(self.missing("directory", "name"));
                }
                self.path.truncate(directory.parent_len);
                open.pop();
                continue;
            };
            match (tag, directory.in_contents) {
                (Tag::Name, false) => {
                    self.once(&mut directory.named, tag)?;
                    self.directory_name(depth == 1)?;
                }
                (Tag::Contents, false) => {
                    // The paths below need the name; every LTFS writes it first.
                    if !directory.named {
                        return Err(self.missing("directory", "name"));
                    }
                    directory.in_contents = true;
                }
                (Tag::Directory, true) => {
                    if depth >= MAX_DIRECTORY_DEPTH {
                        return Err(
                            self.too_many("directories inside each other", MAX_DIRECTORY_DEPTH)
                        );
                    }
                    self.index.directory_count += 1;
                    open.push(OpenDirectory {
                        parent_len: self.path.len(),
                        ..OpenDirectory::default()
                    });
                }
                (Tag::File, true) => {
                    let path = &self.path;
                    let shared = directory.shared.get_or_insert_with(|| path.as_str().into());
                    let shared = Arc::clone(shared);
                    self.file(shared)?;
                }
                (_, true) => self.skip_unknown()?,
                (_, false) if is_known_of_node(tag) => self.xml.skip()?,
                (_, false) => self.skip_unknown()?,
            }
        }
    }

    fn directory_name(&mut self, is_root: bool) -> Result<(), LtfsIndexError> {
        let name = self.xml.name_text(Tag::Name)?;
        if is_root {
            self.index.volume_name = name;
            return Ok(());
        }
        self.check_name(&name)?;
        self.path.push_str(&name);
        self.path.push('/');
        if self.path.len() > MAX_PATH_BYTES {
            return Err(self.too_many("bytes in a path", MAX_PATH_BYTES));
        }
        Ok(())
    }

    /// Reads one file of the directory and hands it over.
    fn file(&mut self, directory: Arc<str>) -> Result<(), LtfsIndexError> {
        let mut file = LtfsFile::default();
        let (mut name, mut length) = (None, None);
        let (mut has_extents, mut room) = (false, MAX_ATTRIBUTE_BYTES);
        while let Some(tag) = self.xml.child()? {
            match tag {
                Tag::Name => {
                    self.once(&mut name.is_some(), tag)?;
                    let text = self.xml.name_text(tag)?;
                    self.check_name(&text)?;
                    name = Some(text);
                }
                Tag::Length => {
                    self.once(&mut length.is_some(), tag)?;
                    length = Some(self.xml.number(tag)?);
                }
                Tag::FileUid => file.file_uid = Some(self.xml.number(tag)?),
                Tag::Readonly => file.readonly = self.xml.boolean(tag)?,
                Tag::ModifyTime => file.modified_ns = self.time(tag)?,
                Tag::Symlink => file.symlink = Some(self.xml.name_text(tag)?.into_boxed_str()),
                Tag::ExtentInfo => {
                    self.once(&mut has_extents, tag)?;
                    file.extents = self.extents()?;
                }
                Tag::ExtendedAttributes => self.attributes(&mut file, &mut room)?,
                _ if is_known_of_node(tag) => self.xml.skip()?,
                _ => self.skip_unknown()?,
            }
        }
        let name = name.ok_or_else(|| self.missing("file", "name"))?;
        file.length = length.ok_or_else(|| self.missing("file", "length"))?;
        file.path = LtfsPath::new(directory, name);
        self.settle_extents(&mut file)?;
        self.index.file_count += 1;
        self.path_bytes += file.path.len() as u64;
        let most = FREE_PATH_BYTES + MAX_MEAN_PATH_BYTES * self.index.file_count;
        if self.path_bytes > most {
            return Err(self.too_many("bytes in the paths of its files", most as usize));
        }
        self.index.extent_count += file.extents.len() as u64;
        (self.visit)(file);
        Ok(())
    }

    /// Reads a time as LTFS writes it, with nine digits of a second; one that cannot be read is left out.
    fn time(&mut self, tag: Tag) -> Result<Option<i64>, LtfsIndexError> {
        let text = self.xml.text()?;
        let time = unix_ns(text);
        if time.is_none() {
            let text = excerpt(text);
            self.notices
                .push("time-unreadable", Some(self.xml.line()), || {
                    format!("<{}> \"{text}\" is not a time and was ignored", tag.name())
                });
        }
        Ok(time)
    }

    /// Reads the extended attributes; what there is no room for is passed over and said.
    fn attributes(&mut self, file: &mut LtfsFile, room: &mut usize) -> Result<(), LtfsIndexError> {
        while let Some(tag) = self.xml.child()? {
            if tag != Tag::Xattr {
                self.skip_unknown()?;
                continue;
            }
            let (mut key, mut value) = (None, None);
            while let Some(tag) = self.xml.child()? {
                match tag {
                    Tag::Key => key = Some(self.xml.name_text(tag)?),
                    Tag::Value => {
                        let base64 = self.xml.is_base64();
                        let text = self.xml.short_text(*room)?;
                        value = Some((text.map(str::to_string), base64));
                    }
                    _ => self.xml.skip()?,
                }
            }
            let (Some(key), Some((value, base64))) = (key, value) else {
                continue;
            };
            let left = value.as_ref().and_then(|value| {
                room.checked_sub(key.len() + value.len() + ATTRIBUTE_OVERHEAD_BYTES)
            });
            match value.zip(left) {
                Some((value, left)) => {
                    *room = left;
                    self.attribute(file, key, value, base64)?;
                }
                None => {
                    self.notices
                        .push("attribute-too-long", Some(self.xml.line()), || {
                            format!(
                                "an attribute \"{}\" is beyond the {MAX_ATTRIBUTE_BYTES} bytes kept of a file and was ignored",
                                excerpt(&key)
                            )
                        });
                }
            }
        }
        Ok(())
    }

    /// Takes an attribute for what it is: a checksum, one of LTFS itself, or one of the file's own.
    fn attribute(
        &mut self,
        file: &mut LtfsFile,
        name: String,
        value: String,
        base64: bool,
    ) -> Result<(), LtfsIndexError> {
        if let Some(name) = name.strip_prefix("ltfs.hash.") {
            if file.hashes.len() >= MAX_HASHES_PER_FILE {
                return Err(self.too_many("checksums of one file", MAX_HASHES_PER_FILE));
            }
            file.hashes.push(LtfsHash {
                name: name.to_string(),
                value: value.trim().to_string(),
                base64,
            });
        } else if !name.starts_with("ltfs.") {
            file.attributes.push(LtfsAttribute {
                name,
                value,
                base64,
            });
        }
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<(), LtfsIndexError> {
        // A name like ".." would let a copy leave its directory.
        let why = match name {
            "" => "it is empty",
            "." | ".." => "it stands for a directory",
            _ if name.contains('/') => "it holds a slash",
            _ if name.contains('\0') => "it holds a zero byte",
            _ => return Ok(()),
        };
        Err(LtfsIndexError::BadName {
            line: self.xml.line(),
            name: excerpt(name),
            why,
        })
    }

    /// Refuses a second element where there may be one; marks the first.
    fn once(&self, seen: &mut bool, tag: Tag) -> Result<(), LtfsIndexError> {
        if std::mem::replace(seen, true) {
            return Err(LtfsIndexError::Xml(XmlError::Twice {
                line: self.xml.line(),
                element: tag.name(),
            }));
        }
        Ok(())
    }

    fn skip_unknown(&mut self) -> Result<(), LtfsIndexError> {
        let line = self.xml.line();
        let name = self.xml.open_name();
        self.notices.push("unknown-element", Some(line), || {
            format!("<{name}> is not known here and was ignored")
        });
        Ok(self.xml.skip()?)
    }

    fn missing(&self, element: &'static str, missing: &'static str) -> LtfsIndexError {
        LtfsIndexError::Xml(XmlError::Missing {
            line: self.xml.line(),
            element,
            missing,
        })
    }

    fn too_many(&self, what: &'static str, limit: usize) -> LtfsIndexError {
        LtfsIndexError::TooMany {
            line: self.xml.line(),
            what,
            limit,
        }
    }
}

/// Elements of files and directories that we know and do not need.
fn is_known_of_node(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::CreationTime
            | Tag::ChangeTime
            | Tag::ModifyTime
            | Tag::AccessTime
            | Tag::BackupTime
            | Tag::Readonly
            | Tag::FileUid
            | Tag::OpenForWrite
            | Tag::ExtendedAttributes
    )
}

/// Nanoseconds since 1970 of an RFC 3339 time.
fn unix_ns(text: &str) -> Option<i64> {
    let seconds = unix_us(text)?.div_euclid(1_000_000);
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit);
    let digits = digits.chain(std::iter::repeat(b'0')).take(9);
    let nanoseconds = digits.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}
