//! Names of a list, found among the files of a volume or an archive.

use super::BatchError;
use super::error::not_found_notice;
use tapewise_formats::list::Name;
use tapewise_formats::ltfs_index::LtfsFile;
use tapewise_formats::ltfs_select::select;
use tapewise_formats::name_match::{MatchBy, Matching, Paths, match_list};
use tapewise_model::units;

/// Names of which the nearest paths are looked for when they are not found.
const EXPLAINED: usize = 5;

/// Paths that a message shows for a name.
const NEAREST: usize = 3;

/// A list of names, and how they are to be understood.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// What messages call the list.
    pub list: &'a str,
    /// The names.
    pub names: &'a [Name],
    /// Whether to go on without names that are not found; the notices list them.
    pub ignore_missing: bool,
    /// How names are compared with paths.
    pub matching: &'a Matching,
}

/// Files that a list names.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Their numbers, each once, in the order of the list.
    pub files: Vec<usize>,
    /// What was guessed or odd.
    pub notices: Vec<String>,
}

impl Listed<'_> {
    /// Finds the names among the files of an LTFS volume. `name` is what messages call the volume.
    ///
    /// # Errors
    /// [`BatchError::NotFound`], [`BatchError::Ambiguous`], and [`BatchError::Unreadable`] for names that
    /// are not text.
    pub fn among_files(&self, name: &str, files: &[LtfsFile]) -> Result<Chosen, BatchError> {
        let plain = *self.matching == Matching::default() || self.matching.by == MatchBy::Path;
        if plain && self.matching.strip_prefix.is_none() {
            // The usual case needs no tables of names.
            let selection = select(files, self.names, None);
            let selection = selection.map_err(|error| BatchError::unreadable(self.list, error))?;
            if selection.not_found.is_empty() && selection.ambiguous.is_empty() {
                return Ok(Chosen {
                    notices: self.repeated(&selection.duplicates),
                    files: selection.files,
                });
            }
        }
        let paths = files.iter().map(|file| String::from(&file.path)).collect();
        self.among(name, &Paths::new(paths))
    }

    /// Finds the names among paths.
    ///
    /// # Errors
    /// As [`Listed::among_files`].
    pub fn among(&self, name: &str, paths: &Paths) -> Result<Chosen, BatchError> {
        let mut texts = Vec::with_capacity(self.names.len());
        for one in self.names {
            let text = one.as_str();
            let text = text.map_err(|error| BatchError::unreadable(self.list, error))?;
            texts.push((one, text));
        }
        let matched = match_list(paths, &texts, self.matching);
        let paths_of = |files: &[usize]| {
            let paths = files.iter().map(|&at| paths.path(at).to_owned());
            paths.collect::<Vec<String>>()
        };
        let (name, list) = (name.to_owned(), self.list.to_owned());
        if !matched.questions.is_empty() {
            let questions = matched.questions.iter();
            let questions = questions.map(|one| (one.name.clone(), paths_of(&one.files)));
            return Err(BatchError::Ambiguous {
                name,
                list,
                names: questions.collect(),
            });
        }
        let mut notices: Vec<String> = Vec::new();
        notices.extend(
            matched
                .guesses
                .iter()
                .map(|guess| format!("{list}: {guess}")),
        );
        if !matched.not_found.is_empty() {
            let names = matched.not_found;
            if !self.ignore_missing {
                let text = |one: &Name| String::from_utf8_lossy(&one.bytes).into_owned();
                let near = |one: &Name| {
                    let near = paths.nearest(&text(one), NEAREST).into_iter();
                    near.map(str::to_owned).collect()
                };
                let nearest = names.iter().take(EXPLAINED).map(near).collect();
                return Err(BatchError::NotFound {
                    name,
                    list,
                    names,
                    nearest,
                });
            }
            notices.push(not_found_notice(&name, &list, &names));
        }
        notices.extend(self.repeated(&matched.duplicates));
        Ok(Chosen {
            files: matched.files,
            notices,
        })
    }

    /// That names stand in the list more than once.
    fn repeated(&self, names: &[Name]) -> Vec<String> {
        let shown = match names {
            [] => return Vec::new(),
            names => super::error::shown(names),
        };
        let count = units::count(names.len(), "name");
        vec![format!("{}: {count} listed before: {shown}", self.list)]
    }
}
