//! Paths that are longer than what the database keeps in an index.

use crate::{catalogue_help, on_each_database, postgres_server, site};

use catalogue_help::{assert_sound, foreign, new_on_postgres, recorded, store, volume};
use site::{Site, terms};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tapewise_archive::cache::{Cache, Directory, Water};
use tapewise_archive::catalogue::{
    CacheKey, Catalogue, CatalogueError, ListItem, NewStage, Place, Rediscovered, Volumes as _,
    WantedFile, move_catalogue,
};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::{Mover, Others};
use tapewise_archive::record::{Volume, VolumeState};
use tapewise_archive::store::{FileSystem, Source, StoreTerms, store_others};
use tapewise_emulator::Faults;
use tapewise_model::Random;

on_each_database!(a_path_is_refused_by_name_if_and_only_if_it_is_longer_than_the_catalogue_says,);

/// Paths of this many bytes: one that compresses to almost nothing, and one that hardly gets shorter.
fn of_length(bytes: usize) -> [String; 2] {
    let mut random = Random::new(1, bytes as u64);
    let letters: Vec<u8> = (b'0'..=b'9')
        .chain(b'A'..=b'Z')
        .chain(b'a'..=b'z')
        .collect();
    let mut letter = || char::from(letters[random.below(letters.len() as u64) as usize]);
    ["a".repeat(bytes), (0..bytes).map(|_| letter()).collect()]
}

/// Lets a path into a catalogue in every way; each time with another first letter, for a path is live once.
fn ways_in(catalogue: &dyn Catalogue, path: &str) -> [Result<(), CatalogueError>; 6] {
    let numbered = |number: u8| format!("{number}{}", &path[1..]);
    let on = |number: u8| foreign(&format!("T{number:05}L8"));
    let recorded = |number: u8| recorded(&numbered(number), 10, 1);
    let list = [ListItem::Volume(on(4)), ListItem::File(recorded(4))];
    let found = recorded(5);
    let rediscovered = Rediscovered {
        file: found.file,
        stored_ns: 5,
        copies_wanted: 1,
        zstd_bytes: None,
        segments: vec![(0, found.segments[0])],
    };
    let ours = Volume {
        state: VolumeState::Filling,
        next_block: 100,
        ..volume("T00005L8")
    };
    let stage = NewStage {
        id: "stage".to_owned(),
        user: "ada".to_owned(),
        repeat_key: None,
        asked_hash: vec![1],
        files: vec![WantedFile {
            activity: "production".to_owned(),
            spelling: numbered(6),
            paths: Ok(vec![numbered(6).into()]),
            lifetime_ns: 9,
        }],
    };
    let cached = (CacheKey(2), store(&numbered(2), 1, 1));
    [
        catalogue
            .announce(&[store(&numbered(1), 1, 1)], 1)
            .map(drop),
        catalogue.store_cached(&[cached], 1).map(drop),
        catalogue.add_recorded(&on(3), &[recorded(3)], 1).map(drop),
        catalogue
            .add_list(&mut list.into_iter().map(Ok), 1)
            .map(drop),
        catalogue.rejoin(&[ours], &[rediscovered], 1).map(drop),
        catalogue.begin_stage(&stage, &[], 1).map(drop),
    ]
}

fn a_path_is_refused_by_name_if_and_only_if_it_is_longer_than_the_catalogue_says(
    catalogue: Arc<dyn Catalogue>,
) {
    let longest = catalogue.longest_path().expect("an answer");
    for path in longest
        .map(|most| of_length(most + 1))
        .into_iter()
        .flatten()
    {
        for (number, refused) in (1..).zip(ways_in(&*catalogue, &path)) {
            let said = format!(
                "{number}{}: its path has {} bytes, and a catalogue in PostgreSQL takes at most {}: ",
                &path[1..],
                path.len(),
                path.len() - 1
            );
            let error = refused.expect_err("refused").to_string();
            assert!(error.starts_with(&said), "{error}");
        }
        assert_eq!(catalogue.volumes().expect("volumes"), []);
    }
    let [_, path] = of_length(longest.unwrap_or(8_000));
    for taken in ways_in(&*catalogue, &path) {
        taken.expect("taken");
    }
    assert_sound(&*catalogue);
}

#[test]
fn a_catalogue_with_paths_that_are_too_long_is_not_moved_to_postgresql() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let from = Place::File(directory.path().join("catalogue.db"));
    let to = Place::Database {
        url: postgres_server::parsed(&url),
        copies: directory.path().to_owned(),
    };
    let catalogue = from.open().expect("a catalogue");
    let [long, _] = of_length(2_900);
    for taken in ways_in(&*catalogue, &long) {
        taken.expect("taken");
    }
    let error = move_catalogue(&from, &to).expect_err("refused").to_string();
    // Five files, and what a stage request asked for.
    assert!(
        error.contains("takes no path of more than 2600 bytes, and this one has 6."),
        "{error}"
    );
    let one = format!("One of them has 2900 bytes: 1{}", &long[1..]);
    assert!(error.ends_with(&one), "{error}");
    // Nothing was begun there, and the old one counts.
    let there = to.open_existing().err().expect("refused");
    assert!(matches!(there, CatalogueError::Lost { .. }), "{there}");
    assert_sound(&*from.open_existing().expect("the catalogue"));
}

#[test]
fn a_file_whose_path_is_too_long_is_left_out_and_the_others_are_stored() {
    let Some(catalogue) = new_on_postgres() else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let disk = Directory::open(&directory.path().join("cache")).expect("a directory");
    let water = Water {
        high_bytes: 1_000,
        low_bytes: 900,
    };
    let records = Arc::clone(&catalogue);
    let (cache, _) = Cache::open(Box::new(disk), records, water).expect("a cache");
    let from = directory.path().join("film");
    std::fs::write(&from, "film").expect("written");
    let [same, mixed] = of_length(3_000);
    let paths = ["d/1", &same, &mixed, "d/2"];
    let sources = paths.map(|path| Source {
        from: from.clone(),
        path: InnerPath::new(path).expect("a path"),
        bytes: 4,
    });
    let how = StoreTerms {
        terms: terms(),
        copies: 1,
        replace: false,
        also: Vec::new(),
    };
    let mut left_out = Vec::new();
    let stored = store_others(&FileSystem, &cache, &sources, &how, 5, &mut |error| {
        left_out.push(error.to_string());
        Ok(())
    });
    assert_eq!(stored.expect("stored").len(), 2);
    let [one, other] = &left_out[..] else {
        panic!("{left_out:?}");
    };
    assert!(one.starts_with(&format!("{same}: its path has 3000 bytes")));
    assert!(other.starts_with(&mixed));
    for (path, is_live) in paths.into_iter().zip([true, false, false, true]) {
        let live = catalogue.live_file(path.as_bytes()).expect("asked");
        assert_eq!(live.is_some(), is_live, "{path}");
    }
    assert_eq!(cache.usage().held_bytes, 8);
}

#[test]
fn a_file_whose_path_is_too_long_stays_out_when_its_cartridge_is_read_in() {
    let Some(catalogue) = new_on_postgres() else {
        return;
    };
    let mut site = Site::new(1, 1, Faults::none());
    let [long, _] = of_length(3_000);
    let files = ["short".to_owned(), long.clone()].map(|path| (path, vec![7; 100]));
    site.store_these(&files, 1);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("written");
    let label = site.catalogue.volumes().expect("volumes")[0]
        .1
        .label
        .clone();
    let read = Mover {
        catalogue: &*catalogue,
        cache: &site.cache,
        pool: &mut site.pool,
        settings: &site.settings,
        log: &mut site.events,
        lessee: None,
        stop: &AtomicBool::new(false),
        now_ns: &|| 9,
        new_uuid: &|| "a uuid".to_owned(),
    }
    .read_in(&[label], Others::Pass, 1);
    let added = site::added(read.expect("read in"));
    assert_eq!(added.joined.files, 1);
    let [(path, why)] = &added.left_out[..] else {
        panic!("{:?}", added.left_out);
    };
    assert_eq!(path, long.as_bytes());
    assert!(why.contains("takes at most 2600"), "{why}");
    assert!(catalogue.live_file(b"short").expect("asked").is_some());
    assert_sound(&*catalogue);
}
