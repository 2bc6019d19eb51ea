//! A path that cannot leave the directory below which it is used.

use std::fmt;
use tapewise_formats::misleading::shown;

/// A relative path whose parts are plain names, as bytes: names on tapes are not always UTF-8.
///
/// Two of them are equal where they name the same file: `./a` is `a`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InnerPath(Vec<u8>);

/// Why bytes are no path below a directory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{path}\" cannot be a path in the destination: {why}")]
pub struct BadPath {
    /// The path, shortened.
    pub path: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl InnerPath {
    /// Takes a path as it stands in an archive; parts that are a dot are dropped, as tar writes them.
    ///
    /// # Errors
    /// A path that is empty, absolute, holds a zero byte, an empty part or one that is `..`, or ends with a slash.
    pub fn new(path: impl AsRef<[u8]>) -> Result<InnerPath, BadPath> {
        let path = path.as_ref();
        let bad = |why| BadPath {
            path: shown(path),
            why,
        };
        if path.first() == Some(&b'/') {
            return Err(bad("it is absolute"));
        }
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in path.split(|&byte| byte == b'/') {
            match part {
                b"." => {}
                b".." => return Err(bad("it climbs out with \"..\"")),
                b"" => return Err(bad("a part of it is empty")),
                part if part.contains(&0) => return Err(bad("it holds a zero byte")),
                part => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Err(bad("it names no file"));
        }
        Ok(InnerPath(parts.join(&b'/')))
    }

    /// The path with slashes between its parts.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its parts; there is at least one.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|&byte| byte == b'/')
    }

    /// The directories on the way, and the name in the last of them.
    pub fn split(&self) -> (Option<&[u8]>, &[u8]) {
        match self.0.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (Some(&self.0[..slash]), &self.0[slash + 1..]),
            None => (None, &self.0),
        }
    }
}

impl fmt::Display for InnerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

impl fmt::Debug for InnerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InnerPath({})", self.0.escape_ascii())
    }
}
