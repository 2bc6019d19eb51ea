//! Finds the files that people mean by the names on their lists.
//!
//! A list that comes from another machine rarely has names as the volume has them: they begin with a mount point
//! (`/Volumes/SHOW/day1/a.mov`) or a drive letter (`T:\day1\a.mov`), accents are decomposed as macOS writes them, case
//! differs, or only the clip's name stands there. [`match_list`] tries these one after the other for every name,
//! the exact path first, and says which of them it needed. A name that could be several files is a question to the
//! user: it is never decided here.

mod glob;
mod list;
mod paths;

pub use list::{Guess, Matched, Question, match_list};
pub use paths::{Found, How, Paths};

/// How names are compared with paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchBy {
    /// The path if there is one, otherwise what the name most likely means.
    #[default]
    Auto,
    /// The whole path, byte for byte.
    Path,
    /// The last part of the name only, wherever the file lies.
    Name,
    /// Every name is a pattern: `*` and `?` match within a name, `**` any directories.
    Glob,
}

impl MatchBy {
    /// All of them.
    pub const ALL: [MatchBy; 4] = [MatchBy::Auto, MatchBy::Path, MatchBy::Name, MatchBy::Glob];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            MatchBy::Auto => "auto",
            MatchBy::Path => "path",
            MatchBy::Name => "name",
            MatchBy::Glob => "glob",
        }
    }
}

/// How the names of a list are to be understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// How names are compared.
    pub by: MatchBy,
    /// What is taken off names that begin with it, such as a mount point; guessed if none is given.
    pub strip_prefix: Option<String>,
}

/// A name with slashes between its parts: a Windows path is rewritten, its drive letter left out, and so are empty
/// parts and `.`. A leading slash is lost: every path of a volume begins at its top.
pub fn with_slashes(name: &str) -> String {
    let drive = name.as_bytes();
    let is_windows = (drive.len() > 2
        && drive[0].is_ascii_alphabetic()
        && drive[1] == b':'
        && matches!(drive[2], b'\\' | b'/'))
        || (name.contains('\\') && !name.contains('/'));
    let rest = match is_windows {
        true if drive.get(1) == Some(&b':') => name[2..].replace('\\', "/"),
        true => name.replace('\\', "/"),
        false => name.to_owned(),
    };
    let parts = rest
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".");
    parts.collect::<Vec<_>>().join("/")
}
