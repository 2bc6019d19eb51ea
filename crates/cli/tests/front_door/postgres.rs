//! An archive whose catalogue is in PostgreSQL: from the beginning, to a file, and back.

use crate::archive::{make_files, recall_and_compare};
use crate::program::Desk;
use serde_json::Value;
use tapewise_house::postgres::Server;

/// Rows of a table that were moved.
fn rows(moved: &Value, table: &str) -> Value {
    let mut tables = moved["tables"].as_array().expect("tables").iter();
    let found = tables.find(|moved| moved["table"] == table);
    found.expect("the table")["rows"].clone()
}

#[test]
fn an_archive_lives_in_postgresql_and_moves_to_a_file_and_back() {
    let Some(server) = Server::start("an archive on PostgreSQL") else {
        return;
    };
    let (desk, url) = (Desk::new(), server.url());
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000");
    desk.done(&format!(
        "catalog init A --drive emulated:lib#drive0 --changer emulated:lib --profile lto8 --catalogue {url}"
    ));
    assert!(!desk.path().join("A/catalogue.db").exists());
    let files = make_files(&desk, "reel", 4);
    desk.done("store --archive A reel");
    let is_read_from_tape = |to: &str| {
        let cache = desk.path().join("A/cache");
        std::fs::remove_dir_all(&cache).expect("removed");
        std::fs::create_dir(&cache).expect("a directory");
        recall_and_compare(&desk, &files, to);
    };
    is_read_from_tape("first");

    let moved = desk.done("catalog move --archive A --to-file --json");
    assert_eq!(rows(&moved.json(), "file"), 4);
    is_read_from_tape("second");
    // Who still names the old place is told where the catalogue is.
    let settings = desk.path().join("A/archive.toml");
    let text = std::fs::read_to_string(&settings).expect("settings");
    assert!(!text.contains("postgresql"), "{text}");
    desk.put("A/archive.toml", format!("catalogue = \"{url}\"\n{text}"));
    let refused = desk.run("catalog find --archive A reel/0.bin");
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("moved"), "{}", refused.err);
    desk.put("A/archive.toml", &text);

    let moved = desk.done(&format!("catalog move --archive A --to {url} --json"));
    assert_eq!(rows(&moved.json(), "file"), 4);
    is_read_from_tape("third");
    desk.done("catalog check --archive A");
    desk.put("A/cache/catalogue-id", "other 1\n");
    let empty = format!("{url}?options=-csearch_path%3Dpg_temp");
    for (catalogue, code) in [(&url, 3), (&empty, 1)] {
        desk.put(
            "A/archive.toml",
            format!("catalogue = \"{catalogue}\"\n{text}"),
        );
        let refused = desk.run("catalog check --archive A");
        assert_eq!(refused.code, code, "{}", refused.err);
        let way =
            "hint: set `catalogue` in archive.toml to the right database, or restore that one";
        assert!(refused.err.contains(way), "{}", refused.err);
        assert!(!refused.err.contains("catalogue.db-wal"), "{}", refused.err);
    }
    for wrong in ["", "--to-file --to postgresql://host/films"] {
        let refused = desk.run(&format!("catalog move --archive A {wrong}"));
        assert_eq!(refused.code, 2, "{}", refused.err);
    }
}

#[test]
fn store_leaves_a_file_out_whose_path_is_too_long_and_a_catalogue_that_has_one_is_not_moved() {
    let Some(server) = Server::start("paths that are too long for PostgreSQL") else {
        return;
    };
    let (desk, url) = (Desk::new(), server.url());
    desk.done("emulate lib --robot ibm3584 --drives 1 --slots 8 --cartridges 2 --scale 100000");
    let drive = "--drive emulated:lib#drive0 --changer emulated:lib --profile lto8";
    desk.done(&format!("catalog init A {drive} --catalogue {url}"));
    desk.done(&format!("catalog init B {drive}"));
    make_files(&desk, "reel", 3);
    let directory = vec!["long".repeat(50); 13].join("/");
    make_files(&desk, &format!("reel/{directory}"), 1);
    let long = format!("reel/{directory}/0.bin");
    let ran = desk.run("store --archive A --later reel --json");
    assert_eq!(ran.code, 7, "{}", ran.err);
    let why = format!("{long}: its path has {} bytes", long.len());
    assert!(ran.err.contains(&why), "{}", ran.err);
    let told = ran.json();
    assert_eq!(told["stored"], 3);
    let [left_out] = &told["too_long"].as_array().expect("a list")[..] else {
        panic!("{told}");
    };
    assert!(left_out.as_str().expect("words").starts_with(&why));
    // The same command, which stores nothing new, says it again.
    assert_eq!(desk.run("store --archive A reel").code, 7);

    desk.done("store --archive B --later reel");
    let refused = desk.run(&format!("catalog move --archive B --to {url}"));
    assert_eq!(refused.code, 2, "{}", refused.err);
    let why = "no path of more than 2600 bytes, and this one has 1.";
    assert!(refused.err.contains(why), "{}", refused.err);
    assert!(refused.err.contains(&long), "{}", refused.err);
    desk.done("catalog check --archive B");
}
