//! The names of one list, shared out among the volumes that have them.

use crate::batch::{BatchError, ChosenNames, Listed, LtfsVolume};
use std::collections::{BTreeMap, HashMap, HashSet};
use tapewise_formats::list::Name;
use tapewise_formats::ltfs_index::{LtfsFile, LtfsHash};
use tapewise_formats::mhl::rfc3339;
use tapewise_formats::misleading::shown;
use tapewise_formats::name_match::{Found, Matching, Paths, with_slashes};
use tapewise_model::units;

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
    #[error("{path} {differs}: which one is meant?")]
    Differ {
        /// The path.
        path: String,
        /// In what the two files differ, and on which volumes they are.
        differs: String,
    },
}

/// A file of one of the volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FileAt {
    volume: usize,
    file: usize,
}

/// All files of all volumes, each where it is; says so if that reads several files of one path.
pub fn everything(volumes: &[LtfsVolume]) -> Share {
    let by_path = by_path(volumes);
    let several: Vec<_> = by_path
        .iter()
        .filter(|(_, places)| places.iter().any(|place| place.volume != places[0].volume))
        .collect();
    let notices = several.first().map(|(path, places)| {
        let on = places.iter().map(|place| called(volumes, place));
        let paths = units::count(several.len(), "path");
        let verb = if several.len() == 1 { "is" } else { "are" };
        format!(
            "{paths} {verb} on several volumes, and each file is read: {} is on {}",
            shown(path.as_bytes()),
            on.collect::<Vec<_>>().join(", ")
        )
    });
    let files = volumes.iter().map(|one| (0..one.files().len()).collect());
    Share {
        files: files.collect(),
        notices: notices.into_iter().collect(),
    }
}

/// Where each path is.
fn by_path(volumes: &[LtfsVolume]) -> BTreeMap<String, Vec<FileAt>> {
    let mut by_path: BTreeMap<String, Vec<FileAt>> = BTreeMap::new();
    for (volume, one) in volumes.iter().enumerate() {
        for (file, entry) in one.files().iter().enumerate() {
            let places = by_path.entry(String::from(&entry.path)).or_default();
            places.push(FileAt { volume, file });
        }
    }
    by_path
}

/// Finds the names of a list among volumes. A name with a volume's name in it, such as `/Volumes/SHOW_A/a.mov`, is
/// looked for there first. A file of which several volumes have copies is read from `wanted`, the number of a volume,
/// or else from the volume from which most is read anyway.
///
/// # Errors
/// [`TapesError`].
pub fn share(
    volumes: &[LtfsVolume],
    listed: &Listed,
    wanted: Option<usize>,
) -> Result<Share, TapesError> {
    let (paths, places): (Vec<String>, Vec<Vec<FileAt>>) = by_path(volumes).into_iter().unzip();
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
            units::count(own.len(), "name")
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
    let mut copied = Vec::new();
    for (path, copies) in several {
        let path = paths.path(path);
        let own = copies.iter().filter(|place| Some(place.volume) == wanted);
        let own: Vec<FileAt> = own.copied().collect();
        let copies = if own.is_empty() { copies } else { &own };
        refuse_others(volumes, path, copies)?;
        let most = copies
            .iter()
            .max_by_key(|place| (share.files[place.volume].len(), usize::MAX - place.volume));
        let from = *most.unwrap_or(&copies[0]);
        share.add(from);
        if copies.len() > 1 {
            copied.push((path, from, copies.to_vec()));
        }
    }
    notices.extend(copies_notice(volumes, listed.list, &copied));
    let files = share.files;
    Ok(Share { files, notices })
}

/// Sees that files of one path on several volumes are copies of each other.
fn refuse_others(volumes: &[LtfsVolume], path: &str, copies: &[FileAt]) -> Result<(), TapesError> {
    let file = |place: &FileAt| &volumes[place.volume].files()[place.file];
    let title = |place: &FileAt| called(volumes, place);
    let differ = |differs: String| TapesError::Differ {
        path: shown(path.as_bytes()),
        differs,
    };
    for (at, second) in copies.iter().enumerate() {
        for first in &copies[..at] {
            if first.volume == second.volume {
                return Err(differ(format!("is in the index of {} twice", title(first))));
            }
            if let Some(difference) = difference(file(first), file(second)) {
                let (what, one, other) = difference;
                let (first, second) = (title(first), title(second));
                return Err(differ(format!(
                    "{what} {one} on {first} and {other} on {second}"
                )));
            }
        }
    }
    Ok(())
}

/// What shows that two files are no copies, and what each has. Equal checksums are copies whatever their times are:
/// a copy may have been given the time at which it was made.
fn difference(one: &LtfsFile, other: &LtfsFile) -> Option<(String, String, String)> {
    if one.length != other.length {
        let bytes = |file: &LtfsFile| units::count(file.length as usize, "byte");
        return Some(("is".to_owned(), bytes(one), bytes(other)));
    }
    let mut has_sum = false;
    for sum in &one.hashes {
        let same_kind = |that: &&LtfsHash| (&that.name, that.base64) == (&sum.name, sum.base64);
        for that in other.hashes.iter().filter(same_kind) {
            let is_equal = if sum.base64 {
                sum.value == that.value
            } else {
                sum.value.eq_ignore_ascii_case(&that.value)
            };
            if !is_equal {
                let value = |sum: &LtfsHash| shown(sum.value.as_bytes());
                let what = format!("has the {}", shown(sum.name.as_bytes()));
                return Some((what, value(sum), value(that)));
            }
            has_sum = true;
        }
    }
    // Many programs that copy keep whole seconds only.
    let second = |file: &LtfsFile| Some(file.modified_ns?.div_euclid(1_000_000_000));
    match (second(one), second(other)) {
        (Some(a), Some(b)) if a != b && !has_sum => {
            let time = |file: &LtfsFile| rfc3339(file.modified_ns.unwrap_or_default());
            Some(("was last written".to_owned(), time(one), time(other)))
        }
        _ => None,
    }
}

/// What people call the volume of a file, with its UUID if others are called the same.
fn called(volumes: &[LtfsVolume], place: &FileAt) -> String {
    let volume = &volumes[place.volume];
    let title = shown(volume.title().as_bytes());
    match by_name(volumes).get(&volume.title().to_lowercase()) {
        Some(None) => format!("{title} ({})", shown(volume.uuid().as_bytes())),
        _ => title,
    }
}

/// Volumes by names and UUIDs in small letters; none of a name that several have.
fn by_name(volumes: &[LtfsVolume]) -> HashMap<String, Option<usize>> {
    let mut by_name = HashMap::new();
    for (at, volume) in volumes.iter().enumerate() {
        for name in [volume.title(), volume.uuid()].map(str::to_lowercase) {
            let one = by_name.entry(name).or_insert(Some(at));
            *one = one.filter(|&other| other == at);
        }
    }
    by_name
}

/// That files were read from one of the volumes that have them.
fn copies_notice(
    volumes: &[LtfsVolume],
    list: &str,
    copied: &[(&str, FileAt, Vec<FileAt>)],
) -> Option<String> {
    let (path, from, copies) = copied.first()?;
    let title = |place: &FileAt| called(volumes, place);
    let others = copies.iter().filter(|place| *place != from).map(title);
    let (path, from) = (shown(path.as_bytes()), title(from));
    let others = others.collect::<Vec<_>>().join(", ");
    let count = units::count(copied.len(), "file");
    let verb = if copied.len() == 1 { "has" } else { "have" };
    Some(format!(
        "{list}: {count} {verb} copies on several volumes: {path} is read from {from}, and is on {others} too"
    ))
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

/// Names with the name or UUID of a volume as one of their parts, by their lines, and the files that they name there. If
/// several volumes are called so, only their UUIDs count.
fn on_named_volumes(volumes: &[LtfsVolume], listed: &Listed) -> HashMap<u64, Vec<FileAt>> {
    let by_name = by_name(volumes);
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
        let own = parts.filter_map(|(at, part)| Some((at, (*by_name.get(part)?)?)));
        for (at, volume) in own {
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
        let files: Vec<_> = files
            .iter()
            .map(|(name, bytes)| (*name, *bytes, ""))
            .collect();
        volume_with(name, &files)
    }

    /// The same, with more elements of each file.
    fn volume_with(name: &str, files: &[(&str, u64, &str)]) -> LtfsVolume {
        let files: String = files
            .iter()
            .map(|(name, bytes, more)| {
                format!("<file><name>{name}</name><length>{bytes}</length>{more}</file>")
            })
            .collect();
        let xml = format!(
            "<ltfsindex version=\"2.4.0\"><volumeuuid>{name}-uuid</volumeuuid>\
             <directory><name>{name}</name><contents>{files}</contents></directory></ltfsindex>"
        );
        LtfsVolume::read(name, xml.as_bytes()).unwrap()
    }

    fn shared(volumes: &[LtfsVolume], names: &[&str]) -> Result<Vec<Vec<usize>>, TapesError> {
        Ok(shared_with(volumes, names, None)?.files)
    }

    fn shared_with(
        volumes: &[LtfsVolume],
        names: &[&str],
        wanted: Option<usize>,
    ) -> Result<Share, TapesError> {
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
        share(volumes, &listed, wanted)
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

    const SUM: &str = "<extendedattributes><xattr><key>ltfs.hash.md5sum</key><value>";
    const END: &str = "</value></xattr></extendedattributes>";

    #[test]
    fn files_of_one_length_with_other_times_or_sums_are_a_question() {
        let time = |text: &str| format!("<modifytime>{text}</modifytime>");
        let (early, late) = (time("2026-01-01T00:00:00Z"), time("2027-03-03T00:00:00Z"));
        let rounded = time("2026-01-01T00:00:00.250000000Z");
        let with = |sum: &str, time: &str| format!("{SUM}{sum}{END}{time}");
        let two = |one: &str, other: &str| {
            let volumes = [
                volume_with("A", &[("clip", 5, one)]),
                volume_with("B", &[("clip", 5, other)]),
            ];
            let share = shared_with(&volumes, &["clip"], None);
            share.map_err(|error| error.to_string())
        };
        assert_eq!(
            two(&early, &late).unwrap_err(),
            "clip was last written 2026-01-01T00:00:00Z on A and 2027-03-03T00:00:00Z on B: which one is meant?"
        );
        assert_eq!(
            two(&with("ab", &early), &with("cd", &early)).unwrap_err(),
            "clip has the md5sum ab on A and cd on B: which one is meant?"
        );
        for (one, other) in [
            (early.clone(), rounded),
            (with("ab", &early), with("AB", &late)),
            (with("ab", &early), early.clone()),
            (early.clone(), String::new()),
        ] {
            let share = two(&one, &other).unwrap();
            assert_eq!(share.files, [vec![0], vec![]]);
            assert_eq!(
                share.notices,
                [
                    "list: 1 file has copies on several volumes: clip is read from A, and is on B too"
                ]
            );
        }
    }

    #[test]
    fn of_volumes_with_one_name_the_uuid_tells_which_is_meant() {
        let mut volumes = [volume("A", &[("clip", 5)]), volume("B", &[("clip", 6)])];
        let other = "<ltfsindex version=\"2.4.0\"><volumeuuid>B-uuid</volumeuuid><directory><name>a</name>\
                     <contents><file><name>clip</name><length>6</length></file></contents></directory></ltfsindex>";
        volumes[1] = LtfsVolume::read("B", other.as_bytes()).unwrap();
        let error = shared(&volumes, &["A/clip"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "clip is 5 bytes on A (a-uuid) and 6 bytes on a (b-uuid): which one is meant?"
        );
        assert_eq!(
            shared(&volumes, &["/mnt/B-UUID/clip"]).unwrap(),
            [vec![], vec![0]]
        );
    }

    #[test]
    fn the_volume_that_is_wanted_answers_which_one_is_meant() {
        let volumes = [volume("A", &[("clip", 5)]), volume("B", &[("clip", 6)])];
        let share = shared_with(&volumes, &["clip"], Some(1)).unwrap();
        assert_eq!(share.files, [vec![], vec![0]]);
        assert!(share.notices.is_empty(), "{:?}", share.notices);
    }

    #[test]
    fn everything_is_all_files_of_all_volumes_copies_too() {
        let volumes = [
            volume("A", &[("clip", 5), ("own", 1)]),
            volume("B", &[("clip", 5)]),
        ];
        let share = everything(&volumes);
        assert_eq!(share.files, [vec![0, 1], vec![0]]);
        assert_eq!(
            share.notices,
            ["1 path is on several volumes, and each file is read: clip is on A, B"]
        );
        assert!(everything(&volumes[..1]).notices.is_empty());
    }

    #[test]
    fn a_path_that_one_index_has_twice_is_a_question() {
        let volumes = [volume("A", &[("clip", 5), ("clip", 5)]), volume("B", &[])];
        assert_eq!(
            shared(&volumes, &["clip"]).unwrap_err().to_string(),
            "clip is in the index of A twice: which one is meant?"
        );
    }
}
