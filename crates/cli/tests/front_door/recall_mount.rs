//! `recall --ltfs-mount`: files of a mounted LTFS, played by a directory with the same extended attributes.

use crate::mount::{file, mount_point, set};
use crate::program::{Desk, Ran};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use tapewise_archive::sums::{Kind, Sum, read_sums};
use tempfile::TempDir;

fn recall(desk: &Desk, mount: &TempDir, names: impl AsRef<[u8]>, more: &str) -> Ran {
    let mount = mount.path().display();
    desk.run_with(
        names,
        &format!("recall --profile lto8 --ltfs-mount {mount} --to out {more}"),
    )
}

/// Every file below a directory, hidden ones too, and lists left out.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_none_or(|extension| extension != "mhl") {
                let name = path.strip_prefix(directory).expect("a file inside");
                found.push(name.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// The media hash lists in a directory.
fn lists(directory: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut lists: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    lists.retain(|path| path.extension().is_some_and(|extension| extension == "mhl"));
    lists
}

/// Three files and their names, in another order than that of the tape.
fn three_files(mount: &TempDir) -> &'static str {
    file(mount, "late.mov", "2000000", 9_000_000);
    file(mount, "sub dir/early.mov", "50", 600_000);
    file(mount, "empty", "60", 0);
    "late.mov\n/sub dir/early.mov\nempty\n"
}

#[test]
fn files_arrive_with_their_tree_times_modes_and_attributes() {
    let Some(mount) = mount_point() else { return };
    let names = three_files(&mount);
    let source = mount.path().join("sub dir/early.mov");
    xattr::set(&source, "user.scene", b"12").expect("an attribute");
    fs::set_permissions(&source, fs::Permissions::from_mode(0o640)).expect("a mode");
    let desk = Desk::new();
    let ran = recall(&desk, &mount, names, "");
    assert_eq!((ran.code, ran.text()), (0, ""), "{}", ran.err);
    for words in [
        "3 files delivered",
        "0 verified, 3 unverified",
        "as predicted",
        "only the first extent",
    ] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let out = desk.path().join("out");
    assert_eq!(files(&out), ["empty", "late.mov", "sub dir/early.mov"]);
    let copy = out.join("sub dir/early.mov");
    assert_eq!(
        fs::read(&copy).expect("a file"),
        fs::read(&source).expect("a file")
    );
    let (there, here) = (fs::metadata(&source), fs::metadata(&copy));
    let (there, here) = (there.expect("a file"), here.expect("a file"));
    assert_eq!(
        (here.mtime(), here.mtime_nsec()),
        (there.mtime(), there.mtime_nsec())
    );
    assert_eq!(here.mode() & 0o777, 0o640);
    // Its own attributes come with it; its place on the tape would be untrue here.
    let place = xattr::get(&copy, "user.ltfs.startblock").unwrap_or_default();
    assert_eq!(place, None);
    match xattr::get(&copy, "user.scene") {
        Ok(Some(value)) => assert_eq!(value, b"12"),
        _ => assert!(ran.err.contains("user.scene not kept"), "{}", ran.err),
    }
}

#[test]
fn all_files_of_a_mount_are_recalled_and_ordered() {
    let Some(mount) = mount_point() else { return };
    three_files(&mount);
    std::os::unix::fs::symlink("late.mov", mount.path().join("link")).expect("a link");
    let desk = Desk::new();
    let ran = recall(&desk, &mount, "", "--all-files");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("3 files delivered"), "{}", ran.err);
    let out = desk.path().join("out");
    assert_eq!(files(&out), ["empty", "late.mov", "sub dir/early.mov"]);
    let at = mount.path().display();
    let ordered = desk.done(&format!(
        "order --profile lto8 --ltfs-mount {at} --all-files"
    ));
    assert_eq!(ordered.lines().len(), 3);
    let range = recall(&desk, &mount, "late.mov#0+5\n", "--ranges");
    assert_eq!(range.code, 2, "{}", range.err);
    let some = recall(&desk, &mount, "late.mov\nnone\n", "--ignore-missing");
    assert_eq!(some.code, 0, "{}", some.err);
    assert!(some.err.contains("none"), "{}", some.err);
}

#[test]
fn sums_of_every_source_are_compared_and_an_mhl_is_left() {
    let Some(mount) = mount_point() else { return };
    let names = three_files(&mount);
    let late = fs::read(mount.path().join("late.mov")).expect("a file");
    set(
        &mount,
        "late.mov",
        "hash.sha1sum",
        &Sum::of(Kind::Sha1, &late).hex(),
    );
    let desk = Desk::new();
    let early = fs::read(mount.path().join("sub dir/early.mov")).expect("a file");
    let md5 = Sum::of(Kind::Md5, &early).hex();
    desk.put(
        "clips.md5",
        format!("{md5}  ./sub dir/early.mov\n{md5}  elsewhere\n"),
    );
    let ran = recall(&desk, &mount, names, "--sums clips.md5");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for words in [
        "2 of 3 files have a known checksum",
        "2 verified, 1 unverified",
    ] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let lists = lists(&desk.path().join("out"));
    let text = fs::read(&lists[0]).expect("a list");
    assert!(String::from_utf8_lossy(&text).contains("<tool>tapewise "));
    let list = read_sums(text.as_slice(), "x.mhl").expect("a list");
    let expected = [
        ("empty", Sum::of(Kind::Xxh64, b"")),
        ("late.mov", Sum::of(Kind::Sha1, &late)),
        ("late.mov", Sum::of(Kind::Xxh64, &late)),
        ("sub dir/early.mov", Sum::of(Kind::Md5, &early)),
        ("sub dir/early.mov", Sum::of(Kind::Xxh64, &early)),
    ];
    let listed = list
        .sums
        .iter()
        .map(|listed| (String::from_utf8_lossy(&listed.name), &listed.sum));
    let listed: Vec<(String, Sum)> = listed
        .map(|(name, sum)| (name.into_owned(), sum.clone()))
        .collect();
    assert_eq!(listed, expected.map(|(name, sum)| (name.to_owned(), sum)));
    // The list that was left is one to compare with.
    let again = fs::rename(desk.path().join("out"), desk.path().join("before"));
    again.expect("moved");
    let list = format!(
        "before/{}",
        lists[0].file_name().expect("a name").to_string_lossy()
    );
    let ran = recall(&desk, &mount, names, &format!("--sums {list}"));
    assert!(ran.err.contains("3 verified"), "{}", ran.err);
}

#[test]
fn a_wrong_sum_keeps_a_file_out_and_the_others_come() {
    let Some(mount) = mount_point() else { return };
    let names = three_files(&mount);
    let desk = Desk::new();
    let wrong = Sum::of(Kind::Md5, b"another").hex();
    desk.put("clips.md5", format!("{wrong}  late.mov\n"));
    let ran = recall(&desk, &mount, names, "--sums clips.md5");
    assert_eq!(ran.code, 7, "{}", ran.err);
    for words in [wrong.as_str(), "1 file not delivered", "late.mov: checksum"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    assert_eq!(
        files(&desk.path().join("out")),
        ["empty", "sub dir/early.mov"]
    );
    let alone = Desk::new();
    alone.put("clips.md5", format!("{wrong}  late.mov\n"));
    let ran = recall(&alone, &mount, "late.mov\n", "--sums clips.md5");
    assert_eq!(ran.code, 8, "{}", ran.err);
    assert!(files(&alone.path().join("out")).is_empty());
}

#[test]
fn what_is_there_is_not_read_again() {
    let Some(mount) = mount_point() else { return };
    let names = three_files(&mount);
    let desk = Desk::new();
    let first = recall(&desk, &mount, "late.mov\n", "");
    assert_eq!(first.code, 0, "{}", first.err);
    let inode = |name: &str| {
        fs::metadata(desk.path().join("out").join(name))
            .expect("a file")
            .ino()
    };
    let before = inode("late.mov");
    let ran = recall(&desk, &mount, names, "--no-mhl");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("1 file there already"), "{}", ran.err);
    assert!(ran.err.contains("2 files delivered"), "{}", ran.err);
    assert_eq!(inode("late.mov"), before);
    assert_eq!(lists(&desk.path().join("out")).len(), 1);
    let nothing = recall(&desk, &mount, names, "");
    assert_eq!(nothing.code, 0, "{}", nothing.err);
    assert!(nothing.err.contains("0 files delivered"), "{}", nothing.err);
}

#[test]
fn another_file_of_the_name_is_said_before_anything_is_read() {
    let Some(mount) = mount_point() else { return };
    let names = three_files(&mount);
    let desk = Desk::new();
    fs::create_dir(desk.path().join("out")).expect("a directory");
    desk.put("out/late.mov", "mine");
    let ran = recall(&desk, &mount, names, "");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(
        ran.err
            .contains("late.mov: another file of this name is there already"),
        "{}",
        ran.err
    );
    assert_eq!(files(&desk.path().join("out")), ["late.mov"]);
    assert_eq!(desk.read("out/late.mov"), "mine");
    let ran = recall(&desk, &mount, names, "--replace");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_ne!(desk.read("out/late.mov"), "mine");
}

#[test]
fn a_dry_run_lists_and_touches_nothing() {
    let Some(mount) = mount_point() else { return };
    let names = three_files(&mount);
    let desk = Desk::new();
    let ran = recall(&desk, &mount, names, "--dry-run");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = ran.lines();
    let ends: Vec<bool> = lines
        .iter()
        .zip(["file", "empty", "sub dir/early.mov", "late.mov"])
        .map(|(line, end)| line.ends_with(end))
        .collect();
    assert_eq!(ends, [true; 4], "{lines:?}");
    assert!(lines[0].contains("begins"), "{lines:?}");
    assert!(desk.names().is_empty());
}

#[test]
fn names_may_be_those_of_find_and_end_with_zeros() {
    let Some(mount) = mount_point() else { return };
    three_files(&mount);
    let desk = Desk::new();
    let at = |name: &str| format!("{}/{name}\0", mount.path().display());
    desk.put("list", [at("late.mov"), at("sub dir/early.mov")].concat());
    let ran = recall(&desk, &mount, "", "-0 --files-from list");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        files(&desk.path().join("out")),
        ["late.mov", "sub dir/early.mov"]
    );
}

#[test]
fn files_without_a_place_on_tape_are_refused() {
    let Some(mount) = mount_point() else { return };
    let names = three_files(&mount);
    fs::write(mount.path().join("disk.mov"), "on a disk").expect("a file");
    let desk = Desk::new();
    let ran = recall(&desk, &mount, format!("{names}disk.mov\n"), "");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("has no attribute ltfs.volumeUUID"),
        "{}",
        ran.err
    );
    assert!(desk.names().is_empty(), "{:?}", desk.names());
    for climbing in ["../secret", "sub dir/../../secret"] {
        let ran = recall(&desk, &mount, climbing, "");
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(desk.names().is_empty(), "{climbing}");
    }
}

#[test]
fn lists_that_contradict_each_other_are_refused() {
    let Some(mount) = mount_point() else { return };
    three_files(&mount);
    let desk = Desk::new();
    let md5 = |text: &[u8]| Sum::of(Kind::Md5, text).hex();
    desk.put("one.md5", format!("{}  late.mov\n", md5(b"one")));
    desk.put("two.md5", format!("{}  late.mov\n", md5(b"two")));
    let ran = recall(&desk, &mount, "late.mov\n", "--sums one.md5 --sums two.md5");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("according to one.md5"), "{}", ran.err);
    assert_eq!(desk.names(), ["one.md5", "two.md5"]);
}

/// The interrupt comes when the first file is there; on a machine that has read the second by then, it is too late,
/// and what is left to see is that nothing is left to do.
#[test]
fn after_an_interrupt_the_same_command_goes_on() {
    let Some(mount) = mount_point() else { return };
    file(&mount, "first.mov", "50", 1_000);
    file(&mount, "second.mov", "900000", 5);
    let second = fs::File::options()
        .write(true)
        .open(mount.path().join("second.mov"));
    second
        .and_then(|file| file.set_len(300 << 20))
        .expect("a long file");
    let desk = Desk::new();
    desk.put("list", "first.mov\nsecond.mov\n");
    let command = format!(
        "\"$TAPEWISE\" recall --profile lto8 --ltfs-mount {} --to out --files-from list",
        mount.path().display()
    );
    let interrupted = desk.shell(&format!(
        "{command} & child=$!
         while [ ! -e out/first.mov ]; do sleep 0.01; done
         kill -INT $child; wait $child"
    ));
    assert!([130, 0].contains(&interrupted.code), "{}", interrupted.err);
    let out = desk.path().join("out");
    if interrupted.code == 130 {
        assert!(
            interrupted.err.contains("interrupted, 1 file left"),
            "{}",
            interrupted.err
        );
        assert_eq!(files(&out), ["first.mov"]);
        assert_eq!(lists(&out).len(), 1);
    }
    let again = desk.shell(&command);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.err.contains("there already"), "{}", again.err);
    assert_eq!(files(&out), ["first.mov", "second.mov"]);
    let long = fs::metadata(out.join("second.mov")).expect("a file");
    assert_eq!(long.len(), 300 << 20);
}

/// Requests, plans and lists of sums are text.
#[test]
fn of_all_files_those_whose_names_are_not_utf_8_are_named_and_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let Some(mount) = mount_point() else { return };
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"reel \xe9.mov"));
    fs::write(mount.path().join(odd), "x").expect("a file system that takes any name");
    let desk = Desk::new();
    let ran = recall(&desk, &mount, "", "--all-files");
    assert_eq!(ran.code, 1, "{}", ran.err);
    three_files(&mount);
    for _ in 0..2 {
        let ran = recall(&desk, &mount, "", "--all-files");
        assert_eq!(ran.code, 7, "{}", ran.err);
        for words in [
            "reel \\xe9.mov: its name is not UTF-8",
            "1 file not delivered",
        ] {
            assert!(ran.err.contains(words), "{words}: {}", ran.err);
        }
    }
    assert_eq!(files(&desk.path().join("out")).len(), 3);
}
