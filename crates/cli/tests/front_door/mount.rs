//! A mounted LTFS volume, played by a directory whose files have the same extended attributes.

use crate::program::{Desk, Ran};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const UUID: &str = "5005b061-f7af-46ed-9a6f-1cf307d37bc0";

/// A directory on a file system with attributes of users, or `None` where there is none.
pub fn mount_point() -> Option<TempDir> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let places: [PathBuf; 3] = [std::env::temp_dir(), target.to_owned(), "/tmp".into()];
    let found = places.iter().find_map(|place| {
        let directory = tempfile::tempdir_in(place).ok()?;
        let probe = directory.path().join("probe");
        std::fs::write(&probe, "").ok()?;
        xattr::set(&probe, "user.ltfs.partition", b"b").ok()?;
        std::fs::remove_file(&probe).ok()?;
        Some(directory)
    });
    if found.is_none() {
        println!("skipped: no file system here takes attributes of users");
    }
    found
}

pub fn set(mount: &TempDir, name: &str, attribute: &str, value: &str) {
    let path = mount.path().join(name);
    xattr::set(path, format!("user.ltfs.{attribute}"), value.as_bytes()).expect("an attribute");
}

/// A file as LTFS shows it.
pub fn file(mount: &TempDir, name: &str, start_block: &str, bytes: usize) {
    file_of(mount, name, start_block, &vec![b'x'; bytes]);
}

/// The same with these bytes.
pub fn file_of(mount: &TempDir, name: &str, start_block: &str, bytes: &[u8]) {
    let path = mount.path().join(name);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    std::fs::write(&path, bytes).expect("a file");
    set(mount, name, "volumeUUID", UUID);
    set(mount, name, "partition", "b");
    set(mount, name, "startblock", start_block);
}

fn order(mount: &TempDir, names: &str, more: &str) -> Ran {
    let mount = mount.path().display();
    Desk::new().run_with(
        names,
        &format!("order --profile lto8 --ltfs-mount {mount} {more}"),
    )
}

#[test]
fn files_are_ordered_by_their_attributes() {
    let Some(mount) = mount_point() else { return };
    file(&mount, "late.mov", "2000000", 1_000_000);
    file(&mount, "sub dir/early.mov", "50", 600_000);
    file(&mount, "middle.mov", "90\0", 5);
    std::fs::write(mount.path().join("hollow"), "").expect("a file");
    set(&mount, "hollow", "volumeUUID", UUID);
    let names = "late.mov\nmiddle.mov\n/sub dir/early.mov\nhollow\n";
    let ran = order(&mount, names, "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        ran.lines(),
        ["hollow", "sub dir/early.mov", "middle.mov", "late.mov"]
    );
    assert!(ran.err.contains("only the first extent"), "{}", ran.err);
    let zero = order(&mount, &names.replace('\n', "\0"), "-0 --to list0");
    assert_eq!(zero.text(), ran.text().replace('\n', "\0"));
    let plan = order(&mount, names, "--json").json();
    assert_eq!(plan["volume"], UUID);
    assert_eq!(plan["block_size"], 524_288);
    let blocks = |block: u64| {
        let steps = plan["steps"].as_array().expect("steps");
        let step = steps
            .iter()
            .find(|s| s["action"] == "read" && s["start_block"] == block);
        step.expect("a step")["block_count"].as_u64()
    };
    assert_eq!(
        (blocks(50), blocks(90), blocks(2_000_000)),
        (Some(2), Some(1), Some(2))
    );
}

#[test]
fn a_file_without_attributes_is_an_error() {
    let Some(mount) = mount_point() else { return };
    file(&mount, "good.mov", "50", 9);
    std::fs::write(mount.path().join("disk.mov"), "on a disk").expect("a file");
    let refused = |names: &str, words: &[&str]| {
        let ran = order(&mount, names, "");
        assert_eq!((ran.code, ran.text()), (2, ""), "{}", ran.err);
        for word in words {
            assert!(ran.err.contains(word), "{word:?} not in {}", ran.err);
        }
    };
    refused(
        "good.mov\ndisk.mov\n",
        &[
            "disk.mov",
            "has no attribute ltfs.volumeUUID",
            "not on an LTFS",
        ],
    );
    set(&mount, "disk.mov", "volumeUUID", UUID);
    refused(
        "disk.mov\ngood.mov\n",
        &["disk.mov", "has no attribute ltfs.startblock"],
    );
    set(&mount, "disk.mov", "startblock", "12");
    refused(
        "disk.mov\n",
        &["disk.mov", "has no attribute ltfs.partition"],
    );
    set(&mount, "disk.mov", "partition", "z");
    refused(
        "disk.mov\n",
        &["disk.mov", "ltfs.partition is \"z\"", "a or b"],
    );
    set(&mount, "disk.mov", "partition", "b");
    set(&mount, "disk.mov", "startblock", "first");
    refused("disk.mov\n", &["disk.mov", "ltfs.startblock is \"first\""]);
    refused("none.mov\n", &["line 1: none.mov", "is not in"]);
}

#[test]
fn files_of_two_volumes_are_refused() {
    let Some(mount) = mount_point() else { return };
    file(&mount, "one.mov", "50", 9);
    file(&mount, "two.mov", "90", 9);
    set(
        &mount,
        "two.mov",
        "volumeUUID",
        "00cdef45-a864-41ae-82f7-502523299cf1",
    );
    let ran = order(&mount, "one.mov\ntwo.mov\n", "");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("2 cartridges"), "{}", ran.err);
}

#[test]
fn a_directory_of_the_mount_is_no_file() {
    let Some(mount) = mount_point() else { return };
    file(&mount, "sub/one.mov", "50", 9);
    set(&mount, "sub", "volumeUUID", UUID);
    set(&mount, "sub", "partition", "b");
    set(&mount, "sub", "startblock", "7");
    let ran = order(&mount, "sub\n", "");
    assert!(
        ran.code == 2 || ran.lines() == ["sub/one.mov"],
        "{}{}",
        ran.text(),
        ran.err
    );
}

#[test]
fn names_stay_in_the_mount_and_count_once() {
    let Some(mount) = mount_point() else { return };
    file(&mount, "volume/one.mov", "50", 9);
    file(&mount, "outside.mov", "90", 9);
    let desk = Desk::new();
    let args = format!(
        "order --profile lto8 --ltfs-mount {}/volume",
        mount.path().display()
    );
    desk.refused_with("../outside.mov\n", &args, &["../outside.mov"]);
    let ran = desk.done_with("one.mov\none.mov\n", &args);
    assert!(ran.err.contains("listed before"), "{}", ran.err);
}

#[test]
fn a_directory_where_nothing_is_mounted_is_an_error() {
    let Some(mount) = mount_point() else { return };
    let at = mount.path().display();
    let desk = Desk::new();
    let words = ["no attribute ltfs.volumeUUID", "mount the volume first"];
    for args in [
        "order --all-files",
        "order --ignore-missing",
        "recall --to out --all-files",
    ] {
        let args = format!("{args} --profile lto8 --ltfs-mount {at}");
        desk.refused_with("one.mov\n", &args, &words);
    }
    // A volume without files is one.
    set(&mount, "", "volumeUUID", UUID);
    let ran = desk.done(&format!(
        "order --profile lto8 --ltfs-mount {at} --all-files"
    ));
    assert!(ran.err.contains("0 files"), "{}", ran.err);
}
