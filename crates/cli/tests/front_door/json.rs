//! `--json` of every verb: one envelope, results on standard output and words on standard error.

use crate::archive;
use crate::program::Desk;
use serde_json::{Value, json};

/// The document of a verb that ends well: the only thing on standard output, with its format and version.
fn document(desk: &Desk, args: &str, format: &str) -> Value {
    let ran = desk.done(&format!("{args} --json"));
    let document = ran.json();
    assert_eq!(document["format"], format!("tapewise-{format}"), "{args}");
    assert_eq!(document["version"], 1, "{args}");
    let first = ran.text().trim_start_matches(['{', ' ', '\n']);
    assert!(first.starts_with("\"format\""), "{args}: {}", ran.text());
    document
}

#[test]
fn a_sense_code_has_booleans_and_numbers() {
    let desk = Desk::new();
    let code = document(&desk, "sense 03/11/00", "sense");
    assert_eq!(code["key"], "MediumError");
    assert_eq!(code["asc"], 0x11);
    assert_eq!(code["retryable"], json!(false), "a boolean, not a word");
    assert_eq!(
        code["filemark"],
        Value::Null,
        "a code says nothing of filemarks"
    );
    let bytes = "sense 70 00 80 00 00 00 05 0a 00 00 00 00 00 01 00 00 00 00";
    let data = document(&desk, bytes, "sense");
    assert_eq!(data["filemark"], json!(true));
    assert_eq!(data["end_of_medium"], json!(false));
    let bare = document(&desk, "sense 11/00", "sense");
    assert_eq!(bare["key"], Value::Null);
}

#[test]
fn what_is_stored_found_checked_and_recalled_is_one_document_each() {
    let desk = archive::desk();
    archive::make_files(&desk, "reel", 3);
    let stored = document(&desk, "store --archive A reel", "store");
    assert_eq!(
        (&stored["stored"], &stored["known"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(stored["written"][0]["files_complete"], 3);
    let volumes = document(&desk, "catalog volumes --archive A", "catalog-volumes");
    let volume = volumes["volumes"][0]["volume"].as_str().expect("a label");
    let found = document(&desk, "catalog find --archive A", "catalog-find");
    assert_eq!(found["files"].as_array().map(Vec::len), Some(3));
    assert_eq!(found["files"][0]["volumes"], json!([volume]));
    let checked = document(&desk, "catalog check --archive A", "catalog-check");
    assert_eq!(checked["contradictions"], json!([]));
    let verify = format!("catalog verify --archive A {volume}");
    let verified = document(&desk, &verify, "catalog-verify");
    assert_eq!(verified["volumes"][0]["right"], 3);
    assert_eq!(verified["volumes"][0]["lost"], json!([]));
    let planned = "catalog scrub --archive A --hours 9 --dry-run";
    let planned = document(&desk, planned, "catalog-scrub");
    assert_eq!(planned["planned"][0]["volume"], volume);
    let read_ns = &planned["planned"][0]["read_unix_ns"];
    assert!(read_ns.is_number(), "{planned}");
    let due = document(
        &desk,
        "catalog migrate --archive A --dry-run",
        "catalog-migrate",
    );
    assert_eq!(due["due"], json!([]));
    let recall = "recall --archive A --all-files --to out";
    let recalled = document(&desk, recall, "recall");
    assert_eq!(recalled["delivered"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        (&recalled["failed"], &recalled["queued"]),
        (&json!([]), &json!(0))
    );
    let retired = format!("catalog retire --archive A {volume}");
    let retired = document(&desk, &retired, "catalog-retire");
    assert_eq!(retired["retired"], json!([volume]));
    let listed = document(&desk, "catalog volumes --archive A", "catalog-volumes");
    assert_eq!(listed["volumes"][0]["state"], "retired");
    let listed = desk.done("catalog volumes --archive A");
    assert!(listed.text().contains("  retired  "), "{}", listed.text());
    let upgraded = document(&desk, "catalog upgrade --archive A", "catalog-upgrade");
    assert_eq!(upgraded["brings"], json!([]));
    document(&desk, "recall cancel --archive A --all", "recall-cancel");
    document(&desk, "recall queue --archive A", "recall-queue");
    document(&desk, "recall queue --failed --archive A", "recall-failed");
    document(&desk, "recall retry --archive A --all", "recall-retry");
    document(&desk, "recall dismiss --archive A --all", "recall-dismiss");
    document(
        &desk,
        "catalog backup --archive A copy.db",
        "catalog-backup",
    );
    let missing = desk.run("catalog find --archive A nothing.mov --json");
    assert_eq!(missing.code, 1);
    assert_eq!(missing.json()["files"], json!([]));
}

#[test]
fn paths_that_find_prints_are_a_list_for_recall() {
    let desk = archive::desk();
    let files = archive::make_files(&desk, "reel", 3);
    desk.done("store --archive A reel");
    let pipe = "$TAPEWISE catalog find --archive A --paths 'reel/[12]*' | $TAPEWISE recall --archive A --to out";
    let piped = desk.shell(pipe);
    assert_eq!(piped.code, 0, "{}", piped.err);
    for name in ["reel/1.bin", "reel/2.bin"] {
        let there = std::fs::read(desk.path().join("out").join(name)).expect("delivered");
        assert_eq!(there, files[name], "{name}");
    }
    assert!(!desk.path().join("out/reel/0.bin").exists());
    std::fs::create_dir(desk.path().join("odd")).expect("a directory");
    desk.put("odd/line\nbreak.mov", "two");
    desk.done("store --archive A odd --later");
    let lines = desk.run("catalog find --archive A --paths odd/");
    assert_eq!(
        lines.code, 2,
        "a list of lines cannot hold the name: {}",
        lines.err
    );
    assert!(lines.err.contains("--null"), "{}", lines.err);
    let zero = "$TAPEWISE catalog find --archive A --paths -0 odd/ | $TAPEWISE recall -0 --archive A --to out";
    let zero = desk.shell(zero);
    assert_eq!(zero.code, 0, "{}", zero.err);
    assert!(desk.path().join("out/odd/line\nbreak.mov").exists());
}

#[test]
fn moves_of_cartridges_tell_from_where_to_where() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4");
    let inventory = document(&desk, "library inventory emulated:lib", "library-inventory");
    let slot = &inventory["slots"][0];
    let label = slot["cartridge"].as_str().expect("a label");
    let mount = format!("library mount emulated:lib#changer {label}");
    let mounted = document(&desk, &mount, "library-mount");
    assert_eq!(
        (&mounted["moved"], &mounted["from_element"]),
        (&json!(true), &slot["element"])
    );
    let loaded = document(&desk, "drive load emulated:lib#drive0", "drive-load");
    assert_eq!(loaded["device"], "emulated:lib#drive0");
    document(&desk, "drive unload emulated:lib#drive0", "drive-unload");
    let back = format!("library dismount emulated:lib#changer {label}");
    let back = document(&desk, &back, "library-dismount");
    assert_eq!(back["element"], slot["element"]);
}

#[test]
fn lists_and_results_of_planning_have_the_envelope_too() {
    let desk = Desk::new();
    desk.put("small.toml", crate::simulate::LIBRARY);
    let profiles = document(&desk, "profile list", "profile-list");
    assert!(
        profiles["profiles"]
            .as_array()
            .is_some_and(|all| all.len() > 30)
    );
    document(&desk, "profile show lto8", "profile-show");
    document(&desk, "profile compare lto8", "profile-compare");
    document(&desk, "simulate small.toml", "simulation");
    document(&desk, "config show", "config");
    document(&desk, "drive show --list", "drive-show-list");
    desk.put("bad.toml", "name = 1\n");
    let ran = desk.run("profile validate bad.toml --json");
    assert_eq!(ran.code, 2);
    assert_eq!(ran.json()["files"][0]["valid"], json!(false));
    let text = desk.run("profile validate bad.toml");
    assert_eq!(text.text(), "", "words go to standard error");
}

#[test]
fn what_was_moved_is_one_document_also_where_no_cartridge_takes_the_rest() {
    let desk = archive::desk();
    archive::make_files(&desk, "reel", 3);
    desk.done("store --archive A reel --quiet");
    let volumes = document(&desk, "catalog volumes --archive A", "catalog-volumes");
    let volume = volumes["volumes"][0]["volume"].as_str().expect("a label");
    let planned = desk.done("catalog scrub --archive A --hours 9 --dry-run");
    let said = format!("{volume}: never read, written 0 days ago, loaded 1 time, about ");
    assert!(planned.text().starts_with(&said), "{}", planned.text());
    // No other cartridge may be written from now on.
    let tier = format!("\n[[tier]]\nname = \"all\"\nvolumes = \"{volume}\"\nafter_days = 0\n");
    desk.put("A/archive.toml", desk.read("A/archive.toml") + &tier);
    let repack = format!("catalog repack --archive A {volume} --json");
    for (verb, kept) in [
        (repack.as_str(), true),
        ("catalog migrate --archive A --json", false),
    ] {
        if !kept {
            desk.put("more.bin", [1; 100]);
            desk.done("store --archive A more.bin --later --quiet");
        }
        let ran = desk.run(verb);
        assert_eq!(ran.code, 7, "{}", ran.err);
        let told = ran.json();
        assert_eq!(told["moved"], 0, "{told}");
        assert!(ran.err.contains("No volume takes them"), "{}", ran.err);
    }
}
