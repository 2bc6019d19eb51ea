//! A catalogue goes from SQLite to PostgreSQL and back, and is the same.

use crate::{catalogue_help, postgres_server};

use catalogue_help::{assert_sound, foreign, recorded, store, volume, write_whole};
use std::path::Path;
use std::sync::Arc;
use tapewise_archive::catalogue::{
    Answer, CacheKey, Catalogue, CatalogueError, Held, Loss, NewRecall, NewStage, Place, Terms,
    VolumeId, WantedFile, move_catalogue,
};
use tapewise_archive::open::Archive;
use tapewise_archive::settings::ArchiveSettings;

/// Something of everything: volumes, one of them forgotten, copies, requests of all states, cached files, pins, stages.
fn fill(catalogue: &dyn Catalogue) -> VolumeId {
    let tape = catalogue.add_volume(&volume("A00001L8"), 1).expect("added");
    catalogue
        .note_facts(tape, &[("loads", "7")], 2)
        .expect("noted");
    let names = [
        b"film \xff\0 not".to_vec(),
        b"notes".to_vec(),
        b"late".to_vec(),
    ];
    let stores = (0u64..).zip(&names).map(|(key, name)| {
        let mut store = store("named below", 300, 1);
        store.new.file.path = name.iter().copied().filter(|byte| *byte != 0).collect();
        (CacheKey(key), store)
    });
    let ids = catalogue
        .store_cached(&stores.collect::<Vec<_>>(), 3)
        .expect("stored");
    write_whole(catalogue, tape, &[(ids[0].0, 1), (ids[1].0, 1)], 4).expect("written");
    let others = [recorded("other/a", 50, 700), recorded("other/b", 60, 0)];
    catalogue
        .add_recorded(&foreign("T00001L8"), &others, 5)
        .expect("added");
    let other = catalogue
        .live_file(b"other/a")
        .expect("asked")
        .expect("a file");
    let recall = NewRecall {
        file: other,
        terms: Terms {
            activity: "analysis".to_owned(),
            user: "ada".to_owned(),
            priority: -3,
            deadline_ns: Some(i64::MAX),
        },
        destination: Some(b"/to/\xfe".to_vec()),
    };
    let asked = catalogue
        .submit(&[recall.clone(), recall], 6)
        .expect("asked");
    catalogue
        .answer(asked[0], &Answer::Cancelled, 7)
        .expect("answered");
    catalogue.pin(ids[2].0, "somebody", None).expect("pinned");
    let wanted = WantedFile {
        activity: "production".to_owned(),
        spelling: "//other/a".to_owned(),
        paths: Ok(vec![b"other/a".to_vec()]),
        lifetime_ns: 9,
    };
    let stage = NewStage {
        id: "stage".to_owned(),
        user: "ada".to_owned(),
        repeat_key: Some("once".to_owned()),
        asked_hash: vec![1],
        files: vec![wanted],
    };
    catalogue.begin_stage(&stage, &[], 8).expect("staged");
    tape
}

fn file(path: &Path) -> Place {
    Place::File(path.to_owned())
}

/// A new place in the database; none where there is no server.
fn database(copies: &Path) -> Option<Place> {
    Some(Place::Database {
        url: postgres_server::parsed(&postgres_server::new_url()?),
        copies: copies.to_owned(),
    })
}

#[test]
fn a_catalogue_that_went_to_postgres_and_back_holds_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(database) = database(directory.path()) else {
        return;
    };
    let first = file(&directory.path().join("first"));
    let catalogue = first.open().expect("new");
    let tape = fill(&*catalogue);
    let tie = catalogue.tie().expect("a tie");
    drop(catalogue);
    let there = move_catalogue(&first, &database).expect("moved");
    let rows: u64 = there.iter().map(|held| held.rows).sum();
    assert!(rows > 30, "{there:?}");
    let error = first.open_existing().err().expect("refused");
    assert!(matches!(error, CatalogueError::Moved { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("set `catalogue` in archive.toml")
    );

    let on_postgres = database.open_existing().expect("there");
    assert_sound(&*on_postgres);
    assert_eq!(on_postgres.tie().expect("a tie"), tie);
    // It goes on with new numbers.
    let ids = on_postgres
        .announce(&[store("newer", 1, 1)], 9)
        .expect("announced");
    on_postgres
        .answer(ids[0].1, &Answer::Cancelled, 9)
        .expect("answered");
    let next = on_postgres
        .add_volume(&volume("A00002L8"), 9)
        .expect("added");
    assert!(next > tape);
    drop(on_postgres);

    // What was left in the file is replaced.
    let back = move_catalogue(&database, &first).expect("moved back");
    let error = database.open_to_read().err().expect("refused");
    assert!(matches!(error, CatalogueError::Moved { .. }), "{error}");
    let again = move_catalogue(&first, &database).expect("and there again");
    assert_eq!(again, back);
    let of = |all: &[Held], table| all.iter().find(|held| held.table == table).cloned();
    for table in [
        "segment",
        "copy",
        "cached",
        "pin",
        "identity",
        "stage",
        "stage_file",
        "fact",
    ] {
        assert_eq!(of(&there, table), of(&again, table), "{table}");
    }
}

#[test]
fn numbers_of_rows_that_are_gone_are_not_given_again_after_a_move() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(database) = database(directory.path()) else {
        return;
    };
    let first = file(&directory.path().join("first"));
    let gone = fill_and_forget(&*first.open().expect("new"));
    move_catalogue(&first, &database).expect("moved");
    move_catalogue(&database, &first).expect("moved back");
    let catalogue = first.open_existing().expect("there");
    assert!(fill_and_forget(&*catalogue) > gone);
}

fn fill_and_forget(catalogue: &dyn Catalogue) -> VolumeId {
    let id = catalogue.add_volume(&volume("G00001L8"), 1).expect("added");
    let write = catalogue.begin_write(id, &[], 1).expect("begun");
    catalogue.abandon_write(write.id).expect("abandoned");
    catalogue
        .forget_volume(id, Loss::Refused, 2)
        .expect("forgotten");
    id
}

#[test]
fn a_move_is_refused_while_something_is_under_way_or_goes_over_a_catalogue() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(database) = database(directory.path()) else {
        return;
    };
    let first = file(&directory.path().join("first"));
    let catalogue: Arc<dyn Catalogue> = first.open().expect("new");
    let tape = fill(&*catalogue);
    let write = catalogue.begin_write(tape, &[], 9).expect("begun");
    let error = move_catalogue(&first, &database).expect_err("refused");
    assert!(
        error
            .to_string()
            .contains("a write is open on volume A00001L8"),
        "{error}"
    );
    catalogue.abandon_write(write.id).expect("abandoned");
    // Nothing was changed by that: it goes now, and not a second one over it.
    move_catalogue(&first, &database).expect("moved");
    let second = file(&directory.path().join("second"));
    fill(&*second.open().expect("new"));
    let error = move_catalogue(&second, &database).expect_err("refused");
    assert!(matches!(error, CatalogueError::Occupied { .. }), "{error}");
    let error = move_catalogue(&database, &second).expect_err("refused");
    assert!(matches!(error, CatalogueError::Occupied { .. }), "{error}");
    second.open_existing().expect("as it was");
}

#[test]
fn an_archive_whose_move_was_killed_before_its_settings_name_the_new_place_goes_on() {
    let Some(url) = postgres_server::new_url() else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("A");
    let settings = "
        drives = ['/dev/sg0']
        profile = 'lto8'
        copies = 1
        cache_high_bytes = 1_000_000
        cache_low_bytes = 500_000
        block_bytes = 8192
        segment_bytes = 1_048_576
        part_bytes = 1_048_576
    ";
    let settings: ArchiveSettings = toml::from_str(settings).expect("settings");
    let archive = Archive::create(&place, &settings).expect("an archive");
    fill(&*archive.catalogue);
    drop(archive);
    let toml = place.join("archive.toml");
    for to in [Some(url.as_str()), None] {
        let before = std::fs::read(&toml).expect("settings");
        let moved = Archive::move_catalogue(&place, to).expect("moved");
        assert!(moved.is_some());
        // As they were until the last step.
        std::fs::write(&toml, before).expect("written");
        let error = Archive::open(&place).err().expect("refused").to_string();
        assert!(error.contains("run the same command again"), "{error}");
        let again = Archive::move_catalogue(&place, to).expect("moved");
        assert_eq!(again, moved);
        // After the last step nothing is left to be done.
        let once_more = Archive::move_catalogue(&place, to).expect("it is there");
        assert_eq!(once_more, None);
        let archive = Archive::open(&place).expect("an archive");
        assert_eq!(archive.settings.catalogue.as_deref(), to);
        assert!(
            archive
                .catalogue
                .find_volume("A00001L8")
                .expect("asked")
                .is_some()
        );
    }
}
