//! Every rule of a catalogue's integrity finds what breaks it, and nothing else.

use crate::{catalogue_help, postgres_server};

use catalogue_help::{assert_sound, store, volume, write_whole};
use rusqlite::Connection;
use std::path::Path;
use tapewise_archive::catalogue::{CacheKey, Catalogue, PostgresCatalogue, SqliteCatalogue};

/// A film in blocks 2 to 4 and notes in block 5, both in the cache too, and what is in the cache only.
fn sound(path: &Path) -> SqliteCatalogue {
    let catalogue = SqliteCatalogue::open(path).expect("a catalogue");
    fill(&catalogue);
    catalogue
}

fn fill(catalogue: &dyn Catalogue) {
    let tape = catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    let stores = [("film", 2500), ("notes", 300), ("late", 40)];
    let stores = (0u64..)
        .zip(stores)
        .map(|(key, (name, bytes))| (CacheKey(key), store(name, bytes, 1)));
    let stores: Vec<_> = stores.collect();
    let ids = catalogue.store_cached(&stores, 2).expect("stored");
    let copies = [(ids[0].0, 1), (ids[1].0, 1)];
    write_whole(catalogue, tape, &copies, 3).expect("written");
}

/// What is done behind the catalogue's back, and what it then says.
const BREAKS: [(&str, &str); 12] = [
    (
        "UPDATE segment SET bytes = 2400 WHERE bytes = 2500",
        "film: copy 1 is whole, but its segments have 2400 of 2500 bytes",
    ),
    (
        "UPDATE copy SET zstd_bytes = 2600 WHERE file = 1",
        "film: copy 1 is whole, but its segments have 2500 of 2600 bytes",
    ),
    (
        "UPDATE segment SET file_offset = 10 WHERE bytes = 2500",
        "film: copy 1 has a segment at byte 10 of the file, the one before ends at 0",
    ),
    (
        "UPDATE segment SET first_block = 4, last_block = 4, byte_offset = 499 WHERE bytes = 300",
        "A00001L8: segments overlap in block 4: one begins at byte 499 of it, another ends at 500",
    ),
    (
        "UPDATE segment SET last_block = 6 WHERE bytes = 300",
        "notes: 300 bytes from byte 0 of block 5 on volume A00001L8 do not end in block 6",
    ),
    (
        "UPDATE volume SET next_block = 5",
        "A00001L8: block 5 is recorded, but the next write would begin at block 5",
    ),
    (
        "DELETE FROM cached WHERE bytes = 40",
        "late: is live, but no copy is whole and it is not in the cache: it is lost",
    ),
    (
        "INSERT INTO copy (file, number, state, written_ns) VALUES (2, 2, 'whole', 1); \
         INSERT INTO segment (volume, partition, first_block, byte_offset, copy, file_offset, last_block, bytes) \
         VALUES (1, 0, 6, 0, (SELECT max(id) FROM copy), 0, 6, 300)",
        "notes: copies 1 and 2 are both on volume A00001L8",
    ),
    (
        "UPDATE cached SET dirty = 0 WHERE bytes = 40",
        "late: the cache may drop it though it lacks copies",
    ),
    (
        "UPDATE cached SET dirty = 1 WHERE bytes = 300",
        "notes: the cache must keep it though it has its copies",
    ),
    (
        "UPDATE cached SET bytes = 39 WHERE bytes = 40",
        "late: 39 bytes of 40 are in the cache",
    ),
    (
        "INSERT INTO copy (file, number, state) VALUES (3, 1, 'writing')",
        "late: copy 1 is neither being written nor partly on tape",
    ),
];

#[test]
fn every_rule_finds_what_breaks_it_and_nothing_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let catalogue = sound(&directory.path().join("sound"));
    assert_eq!(
        catalogue.integrity().expect("an answer"),
        Vec::<String>::new()
    );
    for (broken, finding) in BREAKS {
        let path = directory.path().join("broken");
        catalogue.backup(&path).expect("a copy");
        let raw = Connection::open(&path).expect("a database");
        raw.execute_batch(broken).expect("broken");
        drop(raw);
        let found = SqliteCatalogue::open(&path).expect("opened").integrity();
        assert_eq!(found.expect("an answer"), [finding]);
    }
}

#[test]
fn postgres_finds_the_same() {
    for (broken, finding) in BREAKS {
        let Some(url) = postgres_server::new_url() else {
            return;
        };
        let parsed = postgres_server::parsed(&url);
        let catalogue =
            PostgresCatalogue::open(&parsed, std::path::Path::new(".")).expect("a catalogue");
        fill(&catalogue);
        assert_sound(&catalogue);
        let mut raw = postgres_server::raw(&url);
        raw.batch_execute(broken).expect("broken");
        assert_eq!(catalogue.integrity().expect("an answer"), [finding]);
    }
}

#[test]
fn what_refers_to_nothing_is_found() {
    let directory = tempfile::tempdir().expect("a directory");
    let catalogue = sound(&directory.path().join("sound"));
    let path = directory.path().join("broken");
    catalogue.backup(&path).expect("a copy");
    let raw = Connection::open(&path).expect("a database");
    raw.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM pin; DELETE FROM request; INSERT INTO pin VALUES (77, 'ada', NULL)")
        .expect("broken");
    drop(raw);
    let found = SqliteCatalogue::open(&path).expect("opened").integrity();
    assert_eq!(
        found.expect("an answer"),
        ["pin refers to a file that is not there"]
    );
}
