//! A place in a bucket, and keys that cannot leave it.

use crate::deliver::{BadPath, InnerPath, shown};
use object_store::path::Path as Key;
use std::fmt;

/// How the name of a place in a bucket begins.
const SCHEME: &str = "s3://";

/// Bytes of the longest key.
const LONGEST_KEY: usize = 1024;

/// A place in a bucket: `s3://BUCKET` or `s3://BUCKET/PREFIX`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketUrl {
    bucket: String,
    prefix: Key,
}

/// Why a text is no place in a bucket.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no place in a bucket: give s3://BUCKET or s3://BUCKET/PREFIX")]
pub struct NoBucketUrl(String);

impl BucketUrl {
    /// Whether a place is meant to be in a bucket, and not on this machine: also if a slash is missing, rather than
    /// that a directory `s3:` is made.
    pub fn is_one(place: &[u8]) -> bool {
        place.starts_with(b"s3:")
    }

    /// Takes the name of a place; slashes at its end do not count.
    ///
    /// # Errors
    /// When it has no bucket, or a part of the prefix is empty or climbs.
    pub fn new(place: &[u8]) -> Result<BucketUrl, NoBucketUrl> {
        let parsed = || {
            let rest = std::str::from_utf8(place).ok()?.strip_prefix(SCHEME)?;
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            let is_plain = |one: char| one.is_ascii_alphanumeric() || "-._".contains(one);
            if bucket.is_empty() || !bucket.chars().all(is_plain) || prefix.starts_with('/') {
                return None;
            }
            Some(BucketUrl {
                bucket: bucket.to_owned(),
                prefix: Key::parse(prefix.trim_end_matches('/')).ok()?,
            })
        };
        parsed().ok_or_else(|| NoBucketUrl(shown(place)))
    }

    pub(super) fn bucket(&self) -> &str {
        &self.bucket
    }

    pub(super) fn prefix(&self) -> &Key {
        &self.prefix
    }

    /// The last part of the prefix, or the bucket.
    pub(super) fn last(&self) -> &str {
        self.prefix.filename().unwrap_or(&self.bucket)
    }

    /// The place of a key in the same bucket.
    pub(super) fn at(&self, key: &Key) -> BucketUrl {
        BucketUrl {
            bucket: self.bucket.clone(),
            prefix: key.clone(),
        }
    }

    /// The key of a file below this place.
    ///
    /// # Errors
    /// When no key can be that path.
    pub(super) fn key(&self, path: &InnerPath) -> Result<Key, BadPath> {
        let bad = |why| BadPath {
            path: path.to_string(),
            why,
        };
        let text = std::str::from_utf8(path.as_bytes());
        let text = text.map_err(|_| bad("the key of an object must be UTF-8"))?;
        let key = match self.prefix.as_ref() {
            "" => text.to_owned(),
            prefix => format!("{prefix}/{text}"),
        };
        if key.len() > LONGEST_KEY {
            return Err(bad("the key of an object has at most 1,024 bytes"));
        }
        Key::parse(key).map_err(|_| bad("the key of an object cannot hold control characters"))
    }
}

impl fmt::Display for BucketUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.bucket)?;
        match self.prefix.as_ref() {
            "" => Ok(()),
            prefix => write!(f, "/{prefix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_in_one_way_and_what_is_none_is_refused() {
        for (text, written) in [
            ("s3://films", "s3://films"),
            ("s3://films/", "s3://films"),
            ("s3://films/reel 7/a%20b/", "s3://films/reel 7/a%20b"),
        ] {
            let url = BucketUrl::new(text.as_bytes()).expect("a place");
            assert_eq!(url.to_string(), written);
        }
        for text in [
            "s3:films",
            "s3:/films/x",
            "s3://",
            "s3:///x",
            "s3://a b/x",
            "s3://films//x",
            "s3://films/../x",
            "s3://films/a\nb",
            "/films",
        ] {
            assert!(BucketUrl::new(text.as_bytes()).is_err(), "{text}");
        }
        assert!(BucketUrl::new(b"s3://films/\xff").is_err());
    }

    #[test]
    fn keys_stay_below_the_prefix_and_are_what_the_path_says() {
        let url = BucketUrl::new(b"s3://films/out").expect("a place");
        let key = |path: &[u8]| url.key(&InnerPath::new(path).expect("a path"));
        for path in ["a/b", "50% #1 [x]?*", "é/ü", "...", "%2E%2E/x"] {
            assert_eq!(
                key(path.as_bytes()).unwrap().as_ref(),
                format!("out/{path}")
            );
        }
        let long = "x".repeat(LONGEST_KEY - 4);
        assert!(key(long.as_bytes()).is_ok());
        assert!(key(format!("{long}y").as_bytes()).is_err());
        assert!(key(b"a\xffb").is_err());
        assert!(key(b"a\nb").is_err());
    }
}
