//! Where a file of the cache lies, and how it is called until then.

use crate::catalogue::CacheKey;
use std::path::{Path, PathBuf};

/// Where files are written before they have their place.
pub(super) const INCOMING: &str = "incoming";

/// The attribute of a cached file that says what path it was stored with.
pub(super) const PATH_ATTRIBUTE: &str = "user.tapewise.path";

/// The attribute that says what permissions it had there, in octal digits.
pub(super) const MODE_ATTRIBUTE: &str = "user.tapewise.mode";

/// Where a file lies: the last byte of its key is its directory, so that they fill evenly.
pub(crate) fn place(key: CacheKey) -> PathBuf {
    PathBuf::from(format!("{:02x}/{:016x}", key.0 & 0xff, key.0))
}

/// The name of a file that is being written.
pub(super) fn incoming(key: CacheKey) -> PathBuf {
    Path::new(INCOMING).join(format!("{:016x}", key.0))
}
