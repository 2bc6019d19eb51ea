//! Files of a mounted LTFS volume: where they lie is in their extended attributes.

use super::{Input, layout, names};
use crate::error::CliError;
use std::collections::HashSet;
use std::path::{Component, Path};
use tapewise::Batch;
use tapewise_formats::ltfs_xattr;

/// The files of a list, below a mount point.
pub(super) fn from_mount(input: &Input, mount: &Path) -> Result<Batch, CliError> {
    let layout = layout(input, None)?;
    let (list, names) = names(input)?;
    let mut requests = Vec::new();
    let mut notices = vec![ltfs_xattr::xattr_notice().to_string()];
    let mut seen = HashSet::new();
    for name in names {
        let text = name
            .as_str()
            .map_err(|e| CliError::input(format!("{list}: {e}")))?;
        let place = format!("{list}, line {}", name.line);
        // Lists of find name files by the mount point, those of an index by the volume.
        let below = Path::new(text).strip_prefix(mount).ok();
        let inside = below.and_then(Path::to_str).unwrap_or(text);
        let inside = inside.trim_start_matches('/');
        if Path::new(inside)
            .components()
            .any(|part| part == Component::ParentDir)
        {
            return Err(CliError::input(format!(
                "{place}: {text} leads out of {}",
                mount.display()
            )));
        }
        if !seen.insert(inside.to_owned()) {
            notices.push(format!("{place}: {text} was listed before"));
            continue;
        }
        let path = mount.join(inside);
        let bad = |error: &dyn std::fmt::Display| {
            CliError::input(format!("{place}: {}: {error}", path.display()))
        };
        let metadata = std::fs::metadata(&path).map_err(|e| bad(&e))?;
        if metadata.is_dir() {
            return Err(bad(&"is a directory").hint("list its files: find DIR -type f"));
        }
        let attributes = attributes(&path).map_err(|e| bad(&e))?;
        let pairs: Vec<(&str, &[u8])> = attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()))
            .collect();
        let request = ltfs_xattr::request_from_xattrs(inside, metadata.len(), &pairs, &layout);
        requests.push(request.map_err(|e| bad(&e))?);
    }
    Ok(Batch {
        recognised: format!(
            "{} of the mounted volume {}",
            crate::units::count(requests.len(), "file"),
            mount.display()
        ),
        notices,
        requests,
        block_size: Some(layout.block_size),
        is_ltfs: true,
    })
}

/// The LTFS attributes of a file, with or without the `user.` that Linux puts in front.
fn attributes(path: &Path) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for name in ltfs_xattr::LTFS_XATTR_NAMES {
        for full in [format!("user.{name}"), name.to_owned()] {
            match xattr::get(path, &full) {
                Ok(Some(value)) => {
                    found.push((full, value));
                    break;
                }
                Ok(None) => {}
                // Names outside the namespaces that the system knows are "not supported".
                Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}
