//! Finds the files of an LTFS index that a list names.

use crate::list::{ListError, Name};
use crate::ltfs_index::LtfsFile;

/// What a list names in an index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Indices into the files, each once, in the order of the list; below a directory in the order of the index.
    pub files: Vec<usize>,
    /// Names that are neither a file nor a directory with files in it.
    pub not_found: Vec<Name>,
    /// Names that stand for more than one file, because the index has the path twice; none of them is selected.
    pub ambiguous: Vec<Name>,
    /// Names of which every file was selected by a line before them.
    pub duplicates: Vec<Name>,
}

/// Finds the files that `names` names.
///
/// A name is the path in the volume, with or without a slash or `./` in front or a slash at the end; `prefix`, for
/// example the mount point, is taken off first where a name begins with it. Names match byte for byte: upper and
/// lower case differ, and so do composed and decomposed accents (LTFS stores the composed form, NFC). A directory
/// stands for every file below it, in the order of the index; the root (`/`) for all. That order is not the order on
/// the tape.
///
/// # Errors
/// When a name is not UTF-8, which no name in an index can match.
pub fn select(
    files: &[LtfsFile],
    names: &[Name],
    prefix: Option<&str>,
) -> Result<Selection, ListError> {
    let sorted = sorted(files);
    let prefix = prefix.map(|prefix| prefix.trim_end_matches('/'));
    let mut taken = vec![false; files.len()];
    let mut selection = Selection::default();
    for name in names {
        let path = inside_volume(name.as_str()?, prefix);
        let found = match named(files, &sorted, path.as_bytes()) {
            [] => below(files, &sorted, &path),
            [at] => vec![*at],
            _ => {
                selection.ambiguous.push(name.clone());
                continue;
            }
        };
        if found.is_empty() {
            selection.not_found.push(name.clone());
            continue;
        }
        let before = selection.files.len();
        for at in found {
            if !std::mem::replace(&mut taken[at], true) {
                selection.files.push(at);
            }
        }
        if selection.files.len() == before {
            selection.duplicates.push(name.clone());
        }
    }
    Ok(selection)
}

/// Indices of the files, by path; those of one path in the order of the index.
pub fn sorted(files: &[LtfsFile]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..files.len()).collect();
    // A sort that keeps order finds the runs that an index is made of.
    sorted.sort_by(|&a, &b| files[a].path.cmp(&files[b].path));
    sorted
}

/// Indices of the files with exactly this path, of those that [`sorted`] gave.
pub fn named<'s>(files: &[LtfsFile], sorted: &'s [usize], path: &[u8]) -> &'s [usize] {
    let from = sorted.partition_point(|&at| files[at].path.cmp_text(path).is_lt());
    let same = sorted[from..].partition_point(|&at| files[at].path.cmp_text(path).is_eq());
    &sorted[from..from + same]
}

/// Takes off the prefix, slashes at both ends, doubled slashes and `.` components.
fn inside_volume(name: &str, prefix: Option<&str>) -> String {
    let rest = match prefix.and_then(|prefix| name.strip_prefix(prefix)) {
        // "/mnt/tape2/a" does not lie below "/mnt/tape".
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ => name,
    };
    let parts: Vec<&str> = rest
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    parts.join("/")
}

/// The files below a directory, in the order of the index.
fn below(files: &[LtfsFile], sorted: &[usize], directory: &str) -> Vec<usize> {
    if directory.is_empty() {
        return (0..files.len()).collect();
    }
    let start = format!("{directory}/");
    let from = sorted.partition_point(|&at| files[at].path.cmp_text(start.as_bytes()).is_lt());
    let mut found: Vec<usize> = sorted[from..]
        .iter()
        .copied()
        .take_while(|&at| files[at].path.starts_with(&start))
        .collect();
    found.sort_unstable();
    found
}
