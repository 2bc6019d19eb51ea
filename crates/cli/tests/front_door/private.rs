//! What others may see: files of the archive, secrets in addresses, names that are made to mislead.

use crate::archive::{desk, make_files_of};
use crate::program::Desk;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn nobody_else_reads_the_cache_the_catalogue_its_backup_or_the_events() {
    let desk = desk();
    make_files_of(&desk, "reel", 3, 6_000);
    desk.done("store --archive A reel");
    desk.done("catalog backup --archive A backup.db");
    let at = |name: &str| desk.path().join(name);
    assert_eq!(mode(&at("A/cache")), 0o700);
    for file in [
        "A/catalogue.db",
        "A/archive.toml",
        "A/events.jsonl",
        "backup.db",
    ] {
        assert_eq!(mode(&at(file)), 0o600, "{file}");
    }
    let mut left = vec![at("A/cache")];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).expect("a directory") {
            let path = entry.expect("an entry").path();
            assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
            if path.is_dir() {
                left.push(path);
            }
        }
    }
}

#[test]
fn a_password_in_an_address_is_neither_said_nor_logged() {
    let desk = Desk::new();
    let address = "iscsi://me%s3cret@127.0.0.1:1/iqn.2026-01.a:b/1";
    for command in ["drive status", "measure", "library inventory"] {
        let ran = desk.run(&format!("{command} {address}"));
        assert_ne!(ran.code, 0, "{command}");
        let said = ran.err.clone() + ran.text();
        assert!(!said.contains("s3cret"), "{command}: {said}");
    }
    // No address at all, and one that a line repeats.
    for wrong in [
        "iscsi://me%s3cret@127.0.0.1",
        "iscsi://me%s3cret@127.0.0.1:1/t/x y",
    ] {
        let ran = desk.run_args(b"", &["drive", "status", wrong]);
        assert_ne!(ran.code, 0, "{wrong}");
        let said = ran.err.clone() + ran.text();
        assert!(!said.contains("s3cret"), "{wrong}: {said}");
    }
    desk.done(&format!("catalog init A --drive {address} --profile lto8"));
    desk.put("clip", "film");
    let stored = desk.run("store --archive A clip");
    assert!(!stored.err.contains("s3cret"), "{}", stored.err);
    assert_eq!(mode(&desk.path().join("A/archive.toml")), 0o600);
}

#[test]
fn names_and_lines_that_would_move_the_cursor_or_turn_the_writing_are_escaped() {
    let desk = desk();
    let name = "a\u{1b}[2Jb\u{202e}gpj.exe";
    desk.put(name, "film");
    let stored = desk.run_args(b"", &["store", "--archive", "A", name, "--later"]);
    assert_eq!(stored.code, 0, "{}", stored.err);
    desk.put(name, "another film");
    let again = desk.run_args(b"", &["store", "--archive", "A", name]);
    assert_eq!(again.code, 2, "{}", again.err);
    let toml = desk.read("A/archive.toml");
    desk.put(
        "A/archive.toml",
        format!("{toml}\nx = \"\u{202e}\u{9b}2J\" =\n"),
    );
    let broken = desk.run("catalog find --archive A");
    assert_eq!(broken.code, 2, "{}", broken.err);
    for ran in [&again, &broken] {
        assert!(ran.err.contains("\\u{202e}"), "{}", ran.err);
        let bad = ran.err.chars().find(|&one| one.is_control() && one != '\n');
        assert_eq!(
            (bad, ran.err.contains('\u{202e}')),
            (None, false),
            "{}",
            ran.err
        );
    }
}

#[test]
fn a_cache_stays_with_its_process_when_its_lock_file_is_removed() {
    let desk = desk();
    let cache = tapewise_archive::cache::Directory::open(&desk.path().join("A/cache"));
    let cache = cache.expect("the cache");
    std::fs::remove_file(desk.path().join("A/cache/lock")).expect("removed");
    let second = desk.run("store --archive A");
    assert_eq!(second.code, 4, "{}", second.err);
    drop(cache);
    desk.done("store --archive A");
}

#[test]
fn a_backup_does_not_go_onto_the_catalogue_itself() {
    let desk = desk();
    std::os::unix::fs::symlink("A/catalogue.db", desk.path().join("link")).expect("a link");
    for file in ["A/catalogue.db", "link"] {
        let refused = desk.run(&format!("catalog backup --archive A {file}"));
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(
            refused.err.contains("is the catalogue itself"),
            "{}",
            refused.err
        );
    }
    desk.done("catalog check --archive A");
    desk.done("store --archive A");
}

#[test]
fn a_password_that_everybody_can_read_is_said_once() {
    let desk = desk();
    let settings = desk.read("A/archive.toml");
    let path = desk.path().join("A/archive.toml");
    // Nobody listens there.
    for (user, mode, notices) in [
        ("me:secret", 0o644, 1),
        ("me:secret", 0o600, 0),
        ("me", 0o644, 0),
    ] {
        let url = format!("catalogue = \"postgresql://{user}@127.0.0.1:1/tapes\"\n");
        desk.put("A/archive.toml", url + &settings);
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, mode).expect("a mode");
        let ran = desk.run("catalog volumes --archive A");
        let notice =
            "A/archive.toml has the mode 0644: every user of this machine can get at the password";
        assert_eq!(ran.err.matches(notice).count(), notices, "{}", ran.err);
        assert!(!ran.err.contains("secret"), "{}", ran.err);
    }
}
