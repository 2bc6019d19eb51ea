//! Long lists: files that come in together, and what is found among them.

use crate::catalogue_help;
use crate::on_each_database;

use catalogue_help::{assert_sound, foreign, recorded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tapewise_archive::catalogue::{Catalogue, CatalogueError, ListItem, Pattern, Recorded};

on_each_database!(
    a_search_finds_what_its_pattern_matches_among_more_paths_than_one_answer_has,
    a_list_of_any_length_comes_in_as_its_files_would_one_by_one,
    a_list_whose_maker_panics_leaves_nothing,
);

/// The volumes and files of a list.
fn list(
    files: Vec<(&str, Vec<Recorded>)>,
) -> impl Iterator<Item = tapewise_archive::catalogue::Result<ListItem>> {
    let items = files.into_iter().flat_map(|(label, files)| {
        let volume = ListItem::Volume(foreign(label));
        std::iter::once(volume).chain(files.into_iter().map(ListItem::File))
    });
    items.map(Ok)
}

fn a_search_finds_what_its_pattern_matches_among_more_paths_than_one_answer_has(
    catalogue: Arc<dyn Catalogue>,
) {
    // Signs that mean something to databases, and a byte that is no letter anywhere.
    let special = [
        &b"100%_done"[..],
        b"100xxdone",
        b"a\\%b",
        b"\xff\\_",
        b"{1}",
    ];
    let mut paths: Vec<Vec<u8>> = special.map(<[u8]>::to_vec).to_vec();
    paths.extend((0..20_002).map(|at| format!("{at:05}").into_bytes()));
    let files = paths.iter().zip(0..).map(|(path, at)| {
        let mut one = recorded("path", at, 1);
        one.file.path.clone_from(path);
        one
    });
    catalogue
        .add_list(&mut list(vec![("T00001L8", files.collect())]), 5)
        .expect("added");
    paths.sort();
    for glob in ["*%*", "*_*", "*\\*", "*\\%*", "*[13]5", "*99?", "1*[%x]*"] {
        let pattern = Pattern::Glob(glob.as_bytes().to_vec());
        let expected: Vec<&Vec<u8>> = paths.iter().filter(|path| pattern.matches(path)).collect();
        assert!(!expected.is_empty(), "{glob}");
        for limit in [usize::MAX, 3] {
            let found = catalogue.find(&pattern, None, limit).expect("found");
            let found: Vec<&Vec<u8>> = found.iter().map(|found| &found.path).collect();
            assert!(
                expected.iter().take(limit).eq(&found),
                "{glob}: {}",
                found.len()
            );
        }
    }
}

fn a_list_of_any_length_comes_in_as_its_files_would_one_by_one(catalogue: Arc<dyn Catalogue>) {
    let many = |count: u64| -> Vec<Recorded> {
        let files = (0..count).map(|at| recorded(&format!("{:05}", at * 7919 % count), at, 1));
        files.collect()
    };
    // The last path comes twice: nothing is entered.
    let mut twice = many(20_011);
    twice.push(twice[5].clone());
    catalogue
        .add_list(&mut list(vec![("T00001L8", twice)]), 5)
        .expect_err("refused");
    assert_eq!(catalogue.volumes().expect("volumes"), []);
    let first = vec![
        ("T00001L8", many(20_011)),
        ("T00002L8", vec![recorded("last", 9, 10)]),
    ];
    assert_eq!(
        catalogue.add_list(&mut list(first), 6).expect("added"),
        20_012
    );
    assert_sound(&*catalogue);
    let path = Pattern::Path(b"00042".to_vec());
    let found = catalogue.find(&path, None, 9).expect("found");
    assert_eq!(found[0].volumes, ["T00001L8"]);
    let entry = catalogue.file(found[0].file).expect("the file");
    let id = catalogue
        .find_volume("T00001L8")
        .expect("asked")
        .expect("a volume")
        .0;
    let wanted = recorded(
        "00042",
        (0..20_011)
            .find(|at| at * 7919 % 20_011 == 42)
            .expect("a place"),
        1,
    );
    assert_eq!((entry.file, entry.owner), (wanted.file, wanted.owner));
    assert_eq!(entry.copies[0].segments, [(id, wanted.segments[0])]);
    // Files that are known get a further copy in their turn, and a copy that is none spoils the list.
    let next = vec![
        recorded("new", 1, 10),
        recorded("last", 2, 10),
        recorded("newer", 3, 10),
    ];
    assert_eq!(
        catalogue
            .add_list(&mut list(vec![("T00003L8", next)]), 7)
            .expect("added"),
        3
    );
    assert_eq!(
        catalogue
            .find(&Pattern::Path(b"last".to_vec()), None, 9)
            .expect("found")[0]
            .volumes
            .len(),
        2
    );
    let other = vec![recorded("newest", 1, 10), recorded("last", 2, 11)];
    let refused = catalogue.add_list(&mut list(vec![("T00004L8", other)]), 8);
    assert!(
        matches!(refused, Err(CatalogueError::PathTaken { .. })),
        "{refused:?}"
    );
    assert_eq!(catalogue.live_file(b"newest").expect("asked"), None);
    assert_sound(&*catalogue);
}

fn a_list_whose_maker_panics_leaves_nothing(catalogue: Arc<dyn Catalogue>) {
    let files = (0..20_011).map(|at| recorded(&format!("{at:05}"), at, 1));
    let whole = list(vec![("T00001L8", files.collect())]);
    let mut broken = whole.inspect(|item| {
        if let Ok(ListItem::File(file)) = item {
            assert_ne!(file.file.path, b"20005", "a mistake in the maker");
        }
    });
    let made = AssertUnwindSafe(|| catalogue.add_list(&mut broken, 5));
    catch_unwind(made).expect_err("the maker's panic");
    assert_eq!(catalogue.volumes().expect("volumes"), []);
}
