//! A catalogue as a whole: its file, its schema, its backups.

use crate::catalogue_help;

use catalogue_help::volume;
use rusqlite::Connection;
use tapewise_archive::catalogue::{Catalogue as _, CatalogueError, SqliteCatalogue, Volumes as _};
use tapewise_archive::record::{Volume, VolumeState};

#[test]
fn a_catalogue_is_there_again_when_it_is_opened_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("catalogue");
    let first = SqliteCatalogue::open(&path).expect("a new catalogue");
    let id = first.add_volume(&volume("T00001L8"), 7).expect("a volume");
    drop(first);
    let again = SqliteCatalogue::open(&path).expect("the catalogue");
    assert_eq!(again.volume(id).expect("the volume"), volume("T00001L8"));
    assert_eq!(again.integrity().expect("an answer"), Vec::<String>::new());
}

#[test]
fn a_newer_schema_and_the_database_of_something_else_are_refused_untouched() {
    let directory = tempfile::tempdir().expect("a directory");
    let newer = directory.path().join("newer");
    drop(SqliteCatalogue::open(&newer).expect("a new catalogue"));
    let raw = Connection::open(&newer).expect("a database");
    raw.pragma_update(None, "user_version", 99).expect("set");
    drop(raw);
    let error = SqliteCatalogue::open(&newer).err().expect("refused");
    assert!(matches!(error, CatalogueError::Newer { found: 99, .. }));
    assert!(error.to_string().contains("use the newer program"));

    let other = directory.path().join("other");
    let raw = Connection::open(&other).expect("a database");
    raw.execute_batch("CREATE TABLE films (id)")
        .expect("a table");
    drop(raw);
    let before = std::fs::read(&other).expect("bytes");
    let error = SqliteCatalogue::open(&other).err().expect("refused");
    assert!(matches!(error, CatalogueError::NotACatalogue { .. }));
    assert_eq!(std::fs::read(&other).expect("bytes"), before);
}

#[test]
fn a_backup_appears_whole_over_the_last_one_and_can_be_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let catalogue = SqliteCatalogue::open(&directory.path().join("catalogue")).expect("new");
    let backup = directory.path().join("backup");
    catalogue.backup(&backup).expect("a backup");
    catalogue
        .add_volume(&volume("T00001L8"), 7)
        .expect("a volume");
    catalogue.backup(&backup).expect("a backup");
    let names = std::fs::read_dir(directory.path()).expect("a directory");
    let hidden = names.filter(|name| {
        let name = name.as_ref().expect("an entry").file_name();
        name.as_encoded_bytes().starts_with(b".")
    });
    assert_eq!(hidden.count(), 0, "nothing half written is left");
    let itself = catalogue.backup(&directory.path().join("catalogue"));
    let error = itself.expect_err("a backup elsewhere").to_string();
    assert!(error.contains("is the catalogue itself"), "{error}");
    let restored = SqliteCatalogue::open(&backup).expect("the backup");
    // What is written after the backup is not in it: by it nothing is written behind what it knows.
    let full = Volume {
        state: VolumeState::Full,
        ..volume("T00001L8")
    };
    let state = |catalogue: &SqliteCatalogue| catalogue.volumes().expect("volumes")[0].1.clone();
    assert_eq!(state(&restored), full);
    assert_eq!(state(&catalogue), volume("T00001L8"));
    // Its tape was read, and nothing was written since.
    let read = || restored.rejoin(&[volume("T00001L8")], &[], 8);
    read().expect("joined");
    assert_eq!(state(&restored), volume("T00001L8"));
    // What somebody has retired stays so.
    let (id, _) = restored.volumes().expect("volumes").remove(0);
    let retired = restored.set_volume_state(id, VolumeState::Full);
    retired.expect("retired");
    read().expect("joined");
    assert_eq!(state(&restored), full);
    assert_eq!(
        restored.integrity().expect("an answer"),
        Vec::<String>::new()
    );
}

#[test]
fn no_type_of_a_database_stands_in_the_interface() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut left = vec![source.clone()];
    let mut with = Vec::new();
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let inner = path.strip_prefix(&source).expect("below").to_owned();
            match path.is_dir() {
                true => left.push(path),
                false
                    if std::fs::read_to_string(&path)
                        .is_ok_and(|text| text.contains("rusqlite")) =>
                {
                    with.push(inner);
                }
                false => {}
            }
        }
    }
    let is_behind = |path: &std::path::PathBuf| {
        path.starts_with("catalogue/sqlite") || path.ends_with("sqlite.rs")
    };
    assert!(with.len() > 3 && with.iter().all(is_behind), "{with:?}");
}
