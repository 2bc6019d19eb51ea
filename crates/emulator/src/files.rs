//! Small files that are whole whatever happens.

use std::fs;
use std::path::Path;

/// Writes a small file so that whoever ends the process leaves the old one or the new one.
pub(crate) fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}
