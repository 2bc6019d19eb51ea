//! Catalogues of older programs, and of a newer one.

use crate::program::Desk;
use std::path::PathBuf;
use std::time::Duration;
use tapewise_model::Random;

/// An archive with the catalogue that the program of schema 1 left: 14 files, one of them a newer version, one not on
/// tape yet.
fn of_schema_1() -> (Desk, PathBuf) {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 10 --cartridges 4");
    desk.done("catalog init A --drive emulated:lib#drive0 --changer emulated:lib --profile lto8");
    let database = desk.path().join("A/catalogue.db");
    put_old(&database);
    (desk, database)
}

fn put_old(database: &PathBuf) {
    for beside in ["-wal", "-shm", ".schema-1", ".schema-2"] {
        let mut name = database.clone().into_os_string();
        name.push(beside);
        let _ = std::fs::remove_file(name);
    }
    std::fs::copy(tapewise_house::fixture("catalogue/schema-1.db"), database).expect("copied");
}

fn is_found(desk: &Desk, path: &str) -> bool {
    let found = desk.done(&format!("catalog find --archive A {path} --json"));
    let files = found.json()["files"].clone();
    files
        .as_array()
        .is_some_and(|files| files.iter().any(|file| file["path"] == path))
}

#[test]
fn an_old_catalogue_is_shown_then_brought_up_to_date_and_a_copy_is_kept() {
    let (desk, database) = of_schema_1();
    let old = std::fs::read(&database).expect("a catalogue");

    let refused = desk.run("catalog find --archive A clip");
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("tapewise catalog upgrade"),
        "{}",
        refused.err
    );

    let shown = desk.done("catalog upgrade --archive A --dry-run");
    assert!(shown.text().contains("has schema 1"), "{}", shown.text());
    assert!(
        shown.text().contains("nothing was changed"),
        "{}",
        shown.text()
    );
    assert_eq!(std::fs::read(&database).expect("a catalogue"), old);

    let done = desk.done("catalog upgrade --archive A");
    assert!(
        done.text().contains("catalogue.db.schema-1"),
        "{}",
        done.text()
    );
    let copy = desk.path().join("A/catalogue.db.schema-1");
    assert!(copy.exists());
    assert!(
        desk.done("catalog upgrade --archive A")
            .text()
            .contains("nothing to do")
    );

    assert!(is_found(&desk, "later.txt"));
    desk.done("catalog check --archive A");

    // The copy is a catalogue that can take the other's place.
    std::fs::copy(&copy, &database).expect("copied");
    assert!(
        desk.done("catalog upgrade --archive A --dry-run")
            .text()
            .contains("has schema 1")
    );
}

#[test]
fn a_newer_catalogue_is_refused_and_left_alone() {
    let (desk, database) = of_schema_1();
    let mut bytes = std::fs::read(&database).expect("a catalogue");
    // PRAGMA user_version: the big-endian number at offset 60 of the file's header.
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    std::fs::write(&database, &bytes).expect("written");
    for command in [
        "catalog upgrade --archive A",
        "store --archive A",
        "catalog find --archive A x",
    ] {
        let refused = desk.run(command);
        assert_eq!(refused.code, 2, "{command}: {}", refused.err);
        assert!(
            refused.err.contains("schema 99"),
            "{command}: {}",
            refused.err
        );
        assert_eq!(
            std::fs::read(&database).expect("a catalogue"),
            bytes,
            "{command}"
        );
    }
}

#[test]
fn an_upgrade_killed_at_any_instant_leaves_a_whole_catalogue() {
    let (desk, database) = of_schema_1();
    let mut random = Random::new(30, 1);
    let mut usual = Duration::from_millis(30);
    let mut killed = 0;
    for round in 0..40 {
        put_old(&database);
        let instant = usual.mul_f64(random.unit());
        let (_, ended) = desk.killed_after(instant, "catalog upgrade --archive A");
        usual = usual.mul_f64(if ended { 0.85 } else { 1.05 });
        killed += u32::from(!ended);
        let again = desk.done("catalog upgrade --archive A");
        assert!(
            is_found(&desk, "later.txt"),
            "round {round}: {}",
            again.text()
        );
        desk.done("catalog check --archive A");
    }
    assert!(killed > 10, "{killed} killed");
}
