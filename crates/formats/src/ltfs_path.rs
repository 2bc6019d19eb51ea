//! A path in an LTFS volume; files of one directory share its text.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A path from the root of an LTFS volume, without a slash in front: `docs/a/hello.txt`.
///
/// It orders byte for byte, as its text does.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct LtfsPath {
    /// The path of the directory, with a slash at the end; empty for the root.
    directory: Arc<str>,
    /// The name in it, without a slash.
    name: Box<str>,
}

impl LtfsPath {
    /// A name in a directory, whose path ends with a slash unless it is the root.
    pub(crate) fn new(directory: Arc<str>, name: String) -> LtfsPath {
        LtfsPath {
            directory,
            name: name.into_boxed_str(),
        }
    }

    /// The directory, with a slash at the end; empty for the root.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// The name in the directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The length of the text in bytes.
    pub fn len(&self) -> usize {
        self.directory.len() + self.name.len()
    }

    /// Whether the text is empty, which no file's is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Compares the text with another, byte for byte.
    pub fn cmp_text(&self, text: &[u8]) -> Ordering {
        let bytes = self.directory.bytes().chain(self.name.bytes());
        bytes.cmp(text.iter().copied())
    }

    /// Whether the text begins with this one.
    pub fn starts_with(&self, start: &str) -> bool {
        match start.strip_prefix(&*self.directory) {
            Some(rest) => self.name.starts_with(rest),
            None => self.directory.starts_with(start),
        }
    }
}

impl Ord for LtfsPath {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.directory, &other.directory) {
            return self.name.cmp(&other.name);
        }
        let bytes = self.directory.bytes().chain(self.name.bytes());
        bytes.cmp(other.directory.bytes().chain(other.name.bytes()))
    }
}

impl PartialOrd for LtfsPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq<str> for LtfsPath {
    fn eq(&self, other: &str) -> bool {
        self.cmp_text(other.as_bytes()).is_eq()
    }
}

impl PartialEq<&str> for LtfsPath {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl From<&str> for LtfsPath {
    fn from(path: &str) -> LtfsPath {
        let at = path.rfind('/').map_or(0, |slash| slash + 1);
        LtfsPath {
            directory: path[..at].into(),
            name: path[at..].into(),
        }
    }
}

impl From<&LtfsPath> for String {
    fn from(path: &LtfsPath) -> String {
        [&*path.directory, &*path.name].concat()
    }
}

impl fmt::Display for LtfsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.directory)?;
        f.write_str(&self.name)
    }
}

impl fmt::Debug for LtfsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from(self), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_compare_and_begin_as_their_texts_do() {
        let texts = [
            "", "a", "a-b", "a/", "a/b", "a/b/c", "a/bc", "ab/c", "b", "é/ü",
        ];
        for left in texts {
            for right in texts {
                let (a, b) = (LtfsPath::from(left), LtfsPath::from(right));
                assert_eq!(a.cmp(&b), left.cmp(right), "{left} {right}");
                assert_eq!(
                    a.cmp_text(right.as_bytes()),
                    left.cmp(right),
                    "{left} {right}"
                );
                assert_eq!(
                    a.starts_with(right),
                    left.starts_with(right),
                    "{left} {right}"
                );
                assert_eq!(a == *right, left == right, "{left} {right}");
            }
            assert_eq!(LtfsPath::from(left).to_string(), left);
            assert_eq!(LtfsPath::from(left).len(), left.len());
        }
    }
}
