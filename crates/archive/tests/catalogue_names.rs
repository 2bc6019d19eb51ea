//! The index of names.

use crate::{catalogue_help, on_each_database};

use catalogue_help::{assert_sound, foreign, recorded};
use std::collections::BTreeSet;
use std::sync::Arc;
use tapewise_archive::catalogue::{Catalogue, Pattern};
use tapewise_model::Random;

on_each_database!(
    with_and_without_an_index_the_same_names_are_found,
    a_part_of_a_name_is_found_in_the_index_however_many_names_have_it,
);

/// Adds files of these paths, on a volume of its own.
fn add(catalogue: &dyn Catalogue, volume: u64, paths: &BTreeSet<String>) {
    let files: Vec<_> = (10..)
        .zip(paths)
        .map(|(block, path)| recorded(path, block, 100))
        .collect();
    let volume = foreign(&format!("T{volume:05}L8"));
    catalogue.add_recorded(&volume, &files, 5).expect("added");
}

/// A name from few letters, so that parts of names are found in several.
fn name(random: &mut Random) -> String {
    let letters = (0..12).map(|_| ["a", "b", "c", "/", "é"][random.below(5) as usize]);
    letters.collect()
}

fn found(catalogue: &dyn Catalogue, glob: &str, after: Option<&str>, limit: usize) -> Vec<String> {
    let glob = Pattern::Glob(glob.as_bytes().to_vec());
    let found = catalogue.find(&glob, after.map(str::as_bytes), limit);
    let paths = found.expect("found").into_iter().map(|found| {
        assert_eq!(found.volumes.len(), 1);
        String::from_utf8(found.path).expect("letters")
    });
    paths.collect()
}

fn with_and_without_an_index_the_same_names_are_found(catalogue: Arc<dyn Catalogue>) {
    let catalogue = catalogue.as_ref();
    let mut random = Random::new(7, 1);
    let mut live: BTreeSet<String> = BTreeSet::new();
    let mut parts = 0;
    for volume in 0..12 {
        let new = (0..40).map(|_| name(&mut random));
        let new: BTreeSet<String> = new.filter(|name| !live.contains(name)).collect();
        add(catalogue, volume, &new);
        live.extend(new);
        // Some go, and some of them come back as new files.
        let gone: BTreeSet<String> = live
            .iter()
            .filter(|_| random.below(8) == 0)
            .cloned()
            .collect();
        for path in &gone {
            let file = catalogue.live_file(path.as_bytes()).expect("a catalogue");
            catalogue.retire(file.expect("live"), 6).expect("retired");
            live.remove(path);
        }
        let back: BTreeSet<String> = gone.into_iter().filter(|_| random.below(2) == 0).collect();
        add(catalogue, 100 + volume, &back);
        live.extend(back);
        if volume % 3 == 1 {
            while catalogue.index_names(50).expect("indexed") {
                parts += 1;
            }
        }
        for _ in 0..40 {
            let [one, other] = [name(&mut random), name(&mut random)];
            let first = |name: &str, letters| name.chars().take(letters).collect::<String>();
            let letters = [3, 3, 6][random.below(3) as usize];
            let some = |name| first(name, letters);
            let glob = match random.below(4) {
                0 => format!("*{}*", some(&one)),
                1 => format!("*{}*{}?*", some(&one), some(&other)),
                2 => format!("{}*{}*", first(&one, 1), some(&other)),
                _ => format!("*{}[!ab]*", some(&one)),
            };
            let pattern = Pattern::Glob(glob.clone().into_bytes());
            let after = (random.below(2) == 0).then_some(other.as_str());
            let expected = live.iter().filter(|path| {
                pattern.matches(path.as_bytes()) && after.is_none_or(|after| path.as_str() > after)
            });
            let limit = 1 + random.below(9) as usize;
            let expected: Vec<&String> = expected.take(limit).collect();
            let found = found(catalogue, &glob, after, limit);
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{glob}");
        }
    }
    assert!(parts > 5, "{parts} parts");
    assert_sound(catalogue);
}

fn a_part_of_a_name_is_found_in_the_index_however_many_names_have_it(
    catalogue: Arc<dyn Catalogue>,
) {
    let catalogue = catalogue.as_ref();
    let paths: BTreeSet<String> = (0..100).map(|at| format!("{at:03}.dpx")).collect();
    add(catalogue, 1, &paths);
    assert!(catalogue.index_names(100).expect("indexed"));
    assert!(!catalogue.index_names(1).expect("nothing is newer"));
    let all = found(catalogue, "*.dpx", None, 1000);
    assert_eq!(all.len(), 100);
    assert_eq!(found(catalogue, "*7.d*", None, 2), ["007.dpx", "017.dpx"]);
    assert_eq!(found(catalogue, "*7.e*", None, 2), [""; 0]);
    assert_eq!(found(catalogue, "*9*8*", None, 2), ["098.dpx"]);
    catalogue.drop_name_index().expect("taken away");
    assert_eq!(found(catalogue, "*7.d*", None, 1), ["007.dpx"]);
    assert!(catalogue.index_names(100).expect("made anew"));
    assert_eq!(found(catalogue, "*7.d*", None, 1), ["007.dpx"]);
}
