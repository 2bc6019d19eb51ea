//! Files of a mounted LTFS volume: where they lie is in their extended attributes.

use super::{Input, layout, names};
use crate::error::CliError;
use std::path::{Component, Path, PathBuf};
use tapewise::Batch;
use tapewise::batch::Listed;
use tapewise_formats::ltfs_xattr;
use tapewise_formats::name_match::{MatchBy, Paths};

/// What a directory or file of a mounted volume says of itself.
const VOLUME_UUID: &str = ltfs_xattr::LTFS_XATTR_NAMES[2];

/// The files of a list, or all of them, below a mount point; and of all of them those that no request can name, because
/// their names are not UTF-8.
pub(super) fn from_mount(input: &Input, mount: &Path) -> Result<(Batch, Vec<PathBuf>), CliError> {
    let layout = layout(input, None)?;
    let mut notices = vec![ltfs_xattr::xattr_notice().to_string()];
    let mut nameless = Vec::new();
    let wanted = if input.all_files {
        let walked = walk(mount)?;
        nameless = walked.nameless;
        notices.extend(nameless.iter().map(|path| {
            let path = tapewise_formats::misleading::shown(path.as_os_str().as_encoded_bytes());
            format!("left out {path}: its name is not UTF-8, which LTFS and the other formats need")
        }));
        notices.extend(left_out(walked.others, "symbolic links or devices"));
        walked.found
    } else {
        named(input, mount, &mut notices)?
    };
    let mut requests = Vec::new();
    for inside in wanted {
        let path = mount.join(&inside);
        let bad =
            |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
        let metadata = std::fs::metadata(&path).map_err(|e| bad(&e))?;
        let attributes = attributes(&path).map_err(|e| bad(&e))?;
        let pairs: Vec<(&str, &[u8])> = attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()))
            .collect();
        let request = ltfs_xattr::request_from_xattrs(&inside, metadata.len(), &pairs, &layout);
        requests.push(request.map_err(|e| bad(&e))?);
    }
    let batch = Batch {
        recognised: format!(
            "{} of the mounted volume {}",
            crate::units::count(requests.len(), "file"),
            mount.display()
        ),
        notices,
        requests,
        block_size: Some(layout.block_size),
        is_ltfs: true,
    };
    Ok((batch, nameless))
}

/// The files that a list names, as paths below the mount point.
fn named(input: &Input, mount: &Path, notices: &mut Vec<String>) -> Result<Vec<String>, CliError> {
    let (list, mut names) = names(input)?;
    let matching = input.matching.matching();
    let mut exact = Vec::new();
    for name in &mut names {
        let text = name
            .as_str()
            .map_err(|e| CliError::input(format!("{list}: {e}")))?;
        // Lists of find name files by the mount point, those of an index by the volume.
        let below = Path::new(text).strip_prefix(mount).ok();
        let inside = below.and_then(Path::to_str).unwrap_or(text);
        let inside = inside.trim_start_matches('/').to_owned();
        if Path::new(&inside)
            .components()
            .any(|part| part == Component::ParentDir)
        {
            return Err(CliError::input(format!(
                "{list}, line {}: {text} leads out of {}",
                name.line,
                mount.display()
            )));
        }
        if std::fs::metadata(mount.join(&inside)).is_ok_and(|there| there.is_file()) {
            exact.push(inside.clone());
        }
        name.bytes = inside.into_bytes();
    }
    let is_plain = matches!(matching.by, MatchBy::Auto | MatchBy::Path);
    // Without a walk where every name is a file. A directory, a pattern or a bare name needs all paths.
    let paths = if is_plain && matching.strip_prefix.is_none() && exact.len() == names.len() {
        exact.sort_unstable();
        exact.dedup();
        exact
    } else {
        let walked = walk(mount)?;
        let others = walked.others + walked.nameless.len();
        let what = "symbolic links, devices, or names that are not UTF-8";
        notices.extend(left_out(others, what));
        walked.found
    };
    let paths = Paths::new(paths);
    let listed = Listed {
        list: &list,
        names: &names,
        ignore_missing: input.ignore_missing,
        matching: &matching,
    };
    let found = listed.among(&mount.display().to_string(), &paths)?;
    notices.extend(found.notices);
    let files = found.files.into_iter();
    Ok(files.map(|at| paths.path(at).to_owned()).collect())
}

/// What is below a mount point.
#[derive(Default)]
struct Walked {
    /// The files, by their paths there.
    found: Vec<String>,
    /// Files whose paths are not UTF-8.
    nameless: Vec<PathBuf>,
    /// Entries that are neither files nor directories.
    others: usize,
}

fn left_out(entries: usize, what: &str) -> Option<String> {
    let count = crate::units::count(entries, "entry");
    (entries > 0).then(|| format!("left out {count}: {what}"))
}

/// Everything below a mount point. If there are no files, most likely no volume is mounted there: that is an error,
/// except where the directory has the attributes of an LTFS volume.
fn walk(mount: &Path) -> Result<Walked, CliError> {
    let mut walked = Walked::default();
    let mut open = vec![mount.to_owned()];
    while let Some(directory) = open.pop() {
        let bad = |error: std::io::Error| CliError::input(error).of(directory.display());
        for entry in std::fs::read_dir(&directory).map_err(bad)? {
            let entry = entry.map_err(bad)?;
            let (kind, path) = (entry.file_type().map_err(bad)?, entry.path());
            let inside = path.strip_prefix(mount).ok().and_then(Path::to_str);
            match inside {
                _ if kind.is_dir() => open.push(path),
                Some(inside) if kind.is_file() => walked.found.push(inside.to_owned()),
                None if kind.is_file() => walked.nameless.push(path),
                _ => walked.others += 1,
            }
        }
    }
    if walked.found.is_empty() && walked.nameless.is_empty() {
        let bad = |error: &dyn std::fmt::Display| CliError::input(error).of(mount.display());
        let attributes = attributes(mount).map_err(|error| bad(&error))?;
        let is_ltfs = attributes
            .iter()
            .any(|(name, _)| name.ends_with(VOLUME_UUID));
        if !is_ltfs {
            let what = format!(
                "no files, and no attribute {VOLUME_UUID}: no LTFS volume is mounted there"
            );
            return Err(bad(&what).hint("mount the volume first"));
        }
    }
    walked.found.sort_unstable();
    walked.nameless.sort_unstable();
    Ok(walked)
}

/// The LTFS attributes of a file, with or without the `user.` that Linux puts in front.
#[cfg(unix)]
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

#[cfg(not(unix))]
fn attributes(_: &Path) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    Err(std::io::Error::new(
        std::io::ErrorKind::Unsupported,
        "tapewise reads positions from a mounted tape on Linux and macOS only; give the tape's index with --ltfs-index",
    ))
}
