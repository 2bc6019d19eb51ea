//! The names of one list, shared out among the volumes that have them.

use crate::batch::{BatchError, ChosenNames, Listed, LtfsVolume};
use std::collections::{BTreeMap, HashMap, HashSet};
use tapewise_formats::list::Name;
use tapewise_formats::name_match::{Found, Matching, Paths, with_slashes};

/// Which files of each volume are read.
#[derive(Clone, Debug, Default)]
pub struct Share {
    /// By volume, as they were given: numbers of its files; copies of files that several volumes have come last.
    pub files: Vec<Vec<usize>>,
    /// What was guessed or odd.
    pub notices: Vec<String>,
}

/// Why a list cannot be shared out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TapesError {
    /// Names that are nowhere, or could be several files.
    #[error(transparent)]
    Names(#[from] BatchError),
    /// Two volumes have different files of one path.
    #[error(
        "{path} is {first_bytes} bytes on {first} and {second_bytes} bytes on {second}: which one is meant?"
    )]
    Differ {
        /// The path.
        path: String,
        /// A volume.
        first: String,
        /// The file's length there.
        first_bytes: u64,
        /// Another volume.
        second: String,
        /// The file's length there.
        second_bytes: u64,
    },
}

/// A file of one of the volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FileAt {
    volume: usize,
    file: usize,
}

/// Finds the names of a list among volumes. A name with a volume's name in it, such as `/Volumes/SHOW_A/a.mov`, is
/// looked for there first. A file that several volumes have, with one path and length, is read from the volume from
/// which most is read anyway.
///
/// # Errors
/// [`TapesError`].
pub fn share(volumes: &[LtfsVolume], listed: &Listed) -> Result<Share, TapesError> {
    let mut by_path: BTreeMap<String, Vec<FileAt>> = BTreeMap::new();
    for (volume, one) in volumes.iter().enumerate() {
        for (file, entry) in one.files().iter().enumerate() {
            let places = by_path.entry(String::from(&entry.path)).or_default();
            places.push(FileAt { volume, file });
        }
    }
    let (paths, places): (Vec<String>, Vec<Vec<FileAt>>) = by_path.into_iter().unzip();
    let paths = Paths::new(paths);
    // By name of the list: what it names on the volume that it names.
    let own = on_named_volumes(volumes, listed);
    let rest: Vec<Name> = listed
        .names
        .iter()
        .filter(|name| !own.contains_key(&name.line))
        .cloned()
        .collect();
    let rest = Listed {
        names: &rest,
        ..*listed
    };
    let ChosenNames { files, mut notices } = rest.among("the volumes", &paths)?;
    if !own.is_empty() {
        notices.push(format!(
            "{}: {} found on the volumes that they name",
            listed.list,
            tapewise_model::units::count(own.len(), "name")
        ));
    }
    let mut share = Sharing {
        files: vec![Vec::new(); volumes.len()],
        taken: HashSet::new(),
    };
    let mut several = Vec::new();
    for name in listed.names {
        for place in own.get(&name.line).into_iter().flatten() {
            share.add(*place);
        }
    }
    for path in files {
        match places[path].as_slice() {
            [place] => share.add(*place),
            copies => several.push((path, copies)),
        }
    }
    for (path, copies) in several {
        let bytes = |place: &FileAt| volumes[place.volume].files()[place.file].length;
        let first = copies[0];
        if let Some(other) = copies.iter().find(|place| bytes(place) != bytes(&first)) {
            return Err(TapesError::Differ {
                path: paths.path(path).to_owned(),
                first: volumes[first.volume].title().to_owned(),
                first_bytes: bytes(&first),
                second: volumes[other.volume].title().to_owned(),
                second_bytes: bytes(other),
            });
        }
        let most = copies
            .iter()
            .max_by_key(|place| (share.files[place.volume].len(), usize::MAX - place.volume));
        share.add(*most.unwrap_or(&first));
    }
    let files = share.files;
    Ok(Share { files, notices })
}

/// The share, with what is in it.
struct Sharing {
    files: Vec<Vec<usize>>,
    taken: HashSet<FileAt>,
}

impl Sharing {
    fn add(&mut self, place: FileAt) {
        if self.taken.insert(place) {
            self.files[place.volume].push(place.file);
        }
    }
}

/// Names with the name of a volume as one of their parts, by their lines, and the files that they name there.
fn on_named_volumes(volumes: &[LtfsVolume], listed: &Listed) -> HashMap<u64, Vec<FileAt>> {
    let titles: Vec<String> = volumes
        .iter()
        .map(|volume| volume.title().to_lowercase())
        .collect();
    let mut tables: HashMap<usize, Paths> = HashMap::new();
    let mut found = HashMap::new();
    if *listed.matching != Matching::default() {
        return found;
    }
    for name in listed.names {
        let Ok(text) = name.as_str() else { continue };
        let text = with_slashes(text);
        let lower = text.to_lowercase();
        let parts = lower.split('/').enumerate();
        let named = parts.filter_map(|(at, part)| {
            let volume = titles.iter().position(|title| title == part)?;
            Some((at, volume))
        });
        for (at, volume) in named {
            let rest: Vec<&str> = text.split('/').skip(at + 1).collect();
            if rest.is_empty() {
                continue;
            }
            let table = tables.entry(volume).or_insert_with(|| {
                let files = volumes[volume].files().iter();
                Paths::new(files.map(|file| String::from(&file.path)).collect())
            });
            if let Found::Files(_, files) = table.at_path(&rest.join("/")) {
                let files = files.into_iter().map(|file| FileAt { volume, file });
                found.insert(name.line, files.collect());
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(name: &str, files: &[(&str, u64)]) -> LtfsVolume {
        let files: String = files
            .iter()
            .map(|(name, bytes)| {
                format!("<file><name>{name}</name><length>{bytes}</length></file>")
            })
            .collect();
        let xml = format!(
            "<ltfsindex version=\"2.4.0\"><volumeuuid>{name}-uuid</volumeuuid>\
             <directory><name>{name}</name><contents>{files}</contents></directory></ltfsindex>"
        );
        LtfsVolume::read(name, xml.as_bytes()).unwrap()
    }

    fn shared(volumes: &[LtfsVolume], names: &[&str]) -> Result<Vec<Vec<usize>>, TapesError> {
        let names: Vec<Name> = (1..)
            .zip(names)
            .map(|(line, name)| Name {
                line,
                bytes: name.as_bytes().to_vec(),
            })
            .collect();
        let listed = Listed {
            list: "list",
            names: &names,
            ignore_missing: false,
            matching: &Matching::default(),
        };
        Ok(share(volumes, &listed)?.files)
    }

    #[test]
    fn names_go_to_the_volume_that_has_them_and_copies_to_the_one_that_is_read_most() {
        let volumes = [
            volume("A", &[("a", 1), ("both", 5)]),
            volume("B", &[("b", 1), ("c", 1), ("both", 5), ("differ", 1)]),
            volume("C", &[("differ", 2)]),
        ];
        assert_eq!(
            shared(&volumes, &["both", "a", "b", "c"]).unwrap(),
            [vec![0], vec![0, 1, 2], vec![]]
        );
        let error = shared(&volumes, &["differ"]).unwrap_err();
        assert!(error.to_string().contains("which one is meant"), "{error}");
        assert_eq!(
            shared(&volumes, &["/Volumes/C/differ", "/mnt/a/both"]).unwrap(),
            [vec![1], vec![], vec![0]]
        );
        assert!(shared(&volumes, &["nowhere"]).is_err());
    }
}
