//! Why requests could not be read.

use std::error::Error;
use tapewise_formats::list::Name;
use tapewise_formats::misleading;
use tapewise_model::units;

/// Why requests could not be read. Every message begins with the name of what was read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The reader failed, or its text is not of the format; the source tells line and column.
    #[error("{name}: {source}")]
    Unreadable {
        /// What was read.
        name: String,
        /// The error of the format's reader.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A list of names, which have no place on a tape by themselves.
    #[error("{name}: {recognised}")]
    NamesOnly {
        /// What was read.
        name: String,
        /// What it was recognised as.
        recognised: String,
    },
    /// A format that holds no requests.
    #[error("{name}: {recognised}: not requests")]
    NotRequests {
        /// What was read.
        name: String,
        /// What it was recognised as.
        recognised: String,
    },
    /// A label of another volume than the index.
    #[error("{label} is the label of volume {labelled}, the index is of volume {indexed}")]
    OtherVolume {
        /// The label's name.
        label: String,
        /// The volume of the label (UUID).
        labelled: String,
        /// The volume of the index (UUID).
        indexed: String,
    },
    /// Names that could mean several files.
    #[error("{}", questions(name, list, names))]
    Ambiguous {
        /// The index.
        name: String,
        /// The list of names.
        list: String,
        /// The names, each with the paths that it could mean.
        names: Vec<(Name, Vec<String>)>,
    },
    /// Names that the index does not have.
    #[error("{}", not_found(name, list, names, nearest))]
    NotFound {
        /// The index.
        name: String,
        /// The list of names.
        list: String,
        /// The names.
        names: Vec<Name>,
        /// For the first of the names, the paths that are most like them.
        nearest: Vec<Vec<String>>,
    },
    /// No request is on the cartridge that was asked for.
    #[error("{}, none on volume {volume}", units::count(*requests, "request"))]
    NoneOnVolume {
        /// How many requests there are.
        requests: usize,
        /// The cartridge.
        volume: String,
    },
}

impl BatchError {
    /// Whether a name is a question that the whole path does not answer: the index has it several times.
    pub fn has_path_twice(&self) -> bool {
        matches!(self, BatchError::Ambiguous { names, .. } if names.iter().any(|(_, paths)| is_one_path(paths)))
    }

    pub(super) fn unreadable(
        name: &str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> BatchError {
        BatchError::Unreadable {
            name: name.to_owned(),
            source: source.into(),
        }
    }
}

/// Why requests cannot be ordered together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnorderableError {
    /// Some of them have no blocks, only a key that grows along the tape: they can be sorted, and no time predicted.
    #[error(
        "{} with a sort key but no block: no time can be predicted from it",
        units::count(*requests, "request")
    )]
    OnlySortKeys {
        /// How many there are.
        requests: usize,
    },
    /// They are on several cartridges.
    #[error("the requests are on {} cartridges: {}", volumes.len(), first_five(volumes))]
    Several {
        /// The cartridges, by name.
        volumes: Vec<String>,
    },
    /// Some of them do not name a cartridge, and others do.
    #[error(
        "{} without a cartridge; the others are on {volume}",
        units::count(*requests, "request")
    )]
    Unnamed {
        /// How many do not.
        requests: usize,
        /// The cartridge of the others.
        volume: String,
    },
}

fn first_five(volumes: &[String]) -> String {
    volumes[..volumes.len().min(5)].join(", ")
}

/// The first three names with their lines, and how many more there are.
pub(super) fn shown(names: &[Name]) -> String {
    let one = |name: &Name| format!("line {}: {}", name.line, misleading::shown(&name.bytes));
    let some: Vec<String> = names.iter().take(3).map(one).collect();
    let more = match names.len() {
        0..=3 => String::new(),
        many => format!("; and {} more", many - 3),
    };
    format!("{}{more}", some.join("; "))
}

pub(super) fn not_found_notice(name: &str, list: &str, names: &[Name]) -> String {
    let count = units::count(names.len(), "name");
    let verb = is_or_are(names.len());
    format!("{count} of {list} {verb} not in {name}: {}", shown(names))
}

fn is_or_are(count: usize) -> &'static str {
    match count {
        1 => "is",
        _ => "are",
    }
}

/// A line for each of the first names, with the paths that are most like it.
fn not_found(name: &str, list: &str, names: &[Name], nearest: &[Vec<String>]) -> String {
    let count = units::count(names.len(), "name");
    let mut said = format!("{count} of {list} {} not in {name}", is_or_are(names.len()));
    for (one, nearest) in names.iter().zip(nearest) {
        said.push_str(&format!(
            "\n  line {}: {}",
            one.line,
            misleading::shown(&one.bytes)
        ));
        if !nearest.is_empty() {
            said.push_str(&format!("; nearest: {}", all_safe(nearest).join(", ")));
        }
    }
    more(said, names.len(), nearest.len())
}

/// A line for each of the first names, with the paths that it could mean.
fn questions(name: &str, list: &str, names: &[(Name, Vec<String>)]) -> String {
    const SHOWN: usize = 5;
    let count = units::count(names.len(), "name");
    let mut said =
        format!("{count} of {list} could be several files of {name}: which one is meant?");
    for (one, paths) in names.iter().take(SHOWN) {
        let (line, text) = (one.line, misleading::shown(&one.bytes));
        if is_one_path(paths) {
            said.push_str(&format!(
                "\n  line {line}: {text} is there {} times",
                paths.len()
            ));
            continue;
        }
        let some = all_safe(&paths[..paths.len().min(3)]).join(" or ");
        said.push_str(&format!("\n  line {line}: {text} can be {some}"));
        if paths.len() > 3 {
            said.push_str(&format!(" or {} more", paths.len() - 3));
        }
    }
    more(said, names.len(), SHOWN)
}

/// Whether the whole path tells no more, because all files have the same.
fn is_one_path(paths: &[String]) -> bool {
    paths.windows(2).all(|two| two[0] == two[1])
}

fn all_safe(paths: &[String]) -> Vec<String> {
    paths
        .iter()
        .map(|path| misleading::shown(path.as_bytes()))
        .collect()
}

fn more(mut said: String, names: usize, shown: usize) -> String {
    if names > shown {
        said.push_str(&format!("\n  and {} more", names - shown));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_what_is_like_them_neither_end_a_line_nor_move_the_cursor() {
        let bad = "a\u{1b}[2J\ntapewise: b";
        let name = Name {
            bytes: bad.as_bytes().to_vec(),
            line: 1,
        };
        let paths = vec![bad.to_owned()];
        let errors = [
            BatchError::NotFound {
                name: "tape".to_owned(),
                list: "list".to_owned(),
                names: vec![name.clone()],
                nearest: vec![paths.clone()],
            },
            BatchError::Ambiguous {
                name: "tape".to_owned(),
                list: "list".to_owned(),
                names: vec![(name, paths)],
            },
        ];
        for error in errors {
            let said = error.to_string();
            assert!(!said.contains('\u{1b}'), "{said:?}");
            assert_eq!(said.lines().count(), 2, "{said:?}");
        }
    }
}
