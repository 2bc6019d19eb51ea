//! `tapewise recall --ltfs`: files straight from an LTFS tape, on an emulated drive.

use crate::drives::until_free;
use crate::program::Desk;
use std::collections::BTreeMap;
use tapewise_archive::sums::{Kind, Sum};

pub(crate) use tapewise_house::ltfs_tape;

const ALL: &str = "recall --ltfs emulated:lib --to out --all-files";

/// A desk with a library `lib` whose drive holds the real volume TST001.
pub fn real_volume(bad_blocks: &[(u8, u64)]) -> Desk {
    let desk = Desk::new();
    let library = ltfs_tape::library(&desk.path().join("lib"), bad_blocks);
    let mut drive = ltfs_tape::drive(&library);
    ltfs_tape::write_real_volume(&mut drive);
    drop((drive, library));
    until_free(&desk);
    desk
}

/// The names of the volume with their sums, as `sha256sum` computed them where it was mounted.
fn published() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(ltfs_tape::fixture("TST001.sha256")).expect("the fixture");
    let line = |line: &str| {
        let (sum, name) = line.split_once("  ./").expect("a line of sha256sum");
        (name.to_owned(), sum.to_owned())
    };
    text.lines().map(line).collect()
}

/// Asserts that these files of the volume are in `out`, and says how many others there are.
fn whole(desk: &Desk, names: impl IntoIterator<Item = String>) {
    let published = published();
    for name in names {
        let bytes =
            std::fs::read(desk.path().join("out").join(&name)).expect("a file that arrived");
        assert_eq!(
            Sum::of(Kind::Sha256, &bytes).hex(),
            published[&name],
            "{name}"
        );
    }
}

#[test]
fn all_files_of_a_real_volume_arrive_whole_and_the_same_command_reads_nothing_again() {
    let desk = real_volume(&[]);
    desk.put(
        "sums.sha256",
        std::fs::read(ltfs_tape::fixture("TST001.sha256")).expect("the fixture"),
    );
    let first = desk.run(&format!("{ALL} --sums sums.sha256 --events log.jsonl"));
    assert_eq!(first.code, 0, "{}", first.err);
    whole(&desk, published().into_keys());
    for words in [
        "TST001 (smallvol, 00cdef45-a864-41ae-82f7-502523299cf1): 20 files",
        "generation 2",
        "profile lto8, by the drive's name ULT3580-TD8",
        "1 symbolic link is not made: ",
        "19 verified",
        "of drive time",
    ] {
        assert!(first.err.contains(words), "{words:?} not in\n{}", first.err);
    }
    assert!(
        desk.read("log.jsonl")
            .contains("\"purpose\":\"request docs/f1.bin\"")
    );
    let list = std::fs::read_dir(desk.path().join("out")).expect("a directory");
    let is_mhl = |entry: std::io::Result<std::fs::DirEntry>| {
        entry
            .expect("an entry")
            .path()
            .extension()
            .is_some_and(|end| end == "mhl")
    };
    assert_eq!(list.map(is_mhl).filter(|&is_mhl| is_mhl).count(), 1);
    let again = desk.run(&format!("{ALL} --sums sums.sha256"));
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(
        again.err.contains("19 files there already"),
        "{}",
        again.err
    );
}

#[test]
fn a_list_names_files_and_directories_and_ends_with_zero_bytes_where_asked() {
    let desk = real_volume(&[]);
    let list = "docs/a\0sp ace/größe 2.dat\0empty.dat\0";
    let ran = desk.run_with(list, "recall --ltfs emulated:lib --to out -0 --json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let names = ["docs/a/hello.txt", "sp ace/größe 2.dat", "empty.dat"];
    whole(&desk, names.map(str::to_owned));
    let report = ran.json();
    assert_eq!(report["volume"], "TST001");
    assert_eq!(report["generation"], 2);
    assert_eq!(report["complete"], true);
    assert_eq!(report["delivered"].as_array().map(Vec::len), Some(3));
    assert!(!desk.path().join("out/docs/f1.bin").exists());
}

#[test]
fn ranges_of_bytes_are_read_by_the_blocks_that_hold_them() {
    let desk = real_volume(&[]);
    let list = "sp ace/größe 3.dat#524286+6\ndocs/a/hello.txt#1+3\n";
    let ran = desk.run_with(list, "recall --ltfs emulated:lib --to out --ranges");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let read = |name: &str| std::fs::read(desk.path().join("out").join(name)).expect("a range");
    assert_eq!(read("docs/a/hello.txt#1+3"), b"ell");
    let block = |name: &str| {
        std::fs::read(ltfs_tape::fixture(&format!("volume-TST001/{name}"))).expect("a block")
    };
    let (first, second) = (block("1_26_R"), block("1_27_R"));
    assert_eq!(
        read("sp ace/größe 3.dat#524286+6"),
        [&first[524_286..], &second[..4]].concat()
    );
    let beyond = desk.run_with(
        "docs/a/hello.txt#5+2\n",
        "recall --ltfs emulated:lib --to out --ranges",
    );
    assert_eq!(beyond.code, 2, "{}", beyond.err);
    assert!(
        beyond
            .err
            .contains("ends after the file, which has 6 bytes"),
        "{}",
        beyond.err
    );
}

#[test]
fn a_link_below_a_directory_is_listed_and_one_that_is_named_does_not_come() {
    let desk = real_volume(&[]);
    let below = desk.run("recall --ltfs emulated:lib --to out /");
    assert_eq!(below.code, 0, "{}", below.err);
    let said = "1 symbolic link is not made: link1";
    assert!(below.err.contains(said), "{}", below.err);
    whole(&desk, published().into_keys());
    let named = desk.run("recall --ltfs emulated:lib --to out docs/f1.bin link1");
    assert_eq!(named.code, 7, "{}", named.err);
    let said = "link1: it is a symbolic link to \"docs/f1.bin\"";
    assert!(named.err.contains(said), "{}", named.err);
}

#[test]
fn a_dry_run_says_what_would_be_read_and_when_and_delivers_nothing() {
    let desk = real_volume(&[]);
    let ran = desk.run(&format!("{ALL} --dry-run"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.lines().len(), 20, "{}", ran.text());
    assert!(ran.text().contains("docs/a/hello.txt"));
    assert!(!desk.path().join("out").exists());
    let json = desk.run(&format!("{ALL} --dry-run --json")).json();
    assert_eq!(json["files"].as_array().map(Vec::len), Some(19));
}

#[test]
fn an_index_of_another_volume_is_refused_with_both_names_and_an_old_one_unless_told() {
    let desk = real_volume(&[]);
    let index = |name: &str| std::fs::read(ltfs_tape::fixture(name)).expect("the fixture");
    desk.put("other.xml", index("lto8-36files.xml"));
    desk.put("old.xml", index("volume-TST001/1_5_R"));
    desk.put("same.xml", index("TST001-20files.xml"));
    let other = desk.run(&format!("{ALL} --ltfs-index other.xml"));
    assert_eq!(other.code, 3, "{}", other.err);
    for words in ["19819039-0237-4bbb-bc65-167aecf34347", "TST001 (smallvol"] {
        assert!(other.err.contains(words), "{}", other.err);
    }
    let old = desk.run(&format!("{ALL} --ltfs-index old.xml"));
    assert_eq!(old.code, 3, "{}", old.err);
    assert!(old.err.contains("the index is generation 1"), "{}", old.err);
    let told = desk.run(&format!("{ALL} --ltfs-index old.xml --any-generation"));
    assert_eq!(told.code, 0, "{}", told.err);
    let same = desk.run(&format!("{ALL} --ltfs-index same.xml"));
    assert_eq!(same.code, 0, "{}", same.err);
    whole(&desk, published().into_keys());
}

#[test]
fn a_bad_place_on_the_tape_costs_its_file_and_the_rest_is_there() {
    let desk = real_volume(&[(1, 24)]);
    let ran = desk.run(&format!("{ALL} --json"));
    assert_eq!(ran.code, 7, "{}", ran.err);
    assert!(ran.err.contains("sp ace/größe 2.dat: "), "{}", ran.err);
    assert!(!desk.path().join("out/sp ace/größe 2.dat").exists());
    whole(
        &desk,
        published()
            .into_keys()
            .filter(|name| name != "sp ace/größe 2.dat"),
    );
    let report = ran.json();
    assert_eq!(report["complete"], false);
    assert_eq!(report["failed"][0]["path"], "sp ace/größe 2.dat");
}

#[test]
fn what_is_no_ltfs_volume_is_refused_and_names_that_the_index_lacks_too() {
    let desk = Desk::new();
    let library = ltfs_tape::library(&desk.path().join("lib"), &[]);
    drop(library);
    until_free(&desk);
    let blank = desk.run(ALL);
    assert_eq!(blank.code, 3, "{}", blank.err);
    let desk = real_volume(&[]);
    let unknown = desk.run_with(
        "docs/f1.bin\nDOCS/NONE.BIN\n",
        "recall --ltfs emulated:lib --to out",
    );
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    assert!(
        unknown.err.contains("line 2: DOCS/NONE.BIN"),
        "{}",
        unknown.err
    );
    let without = "recall --ltfs emulated:lib --to out --ignore-missing";
    let rest = desk.run_with("docs/f1.bin\nDOCS/NONE.BIN\n", without);
    assert_eq!(rest.code, 0, "{}", rest.err);
    whole(&desk, ["docs/f1.bin".to_owned()]);
}

#[test]
fn a_volume_whose_newest_index_cannot_be_read_is_done_in_part() {
    let desk = Desk::new();
    let library = ltfs_tape::library(&desk.path().join("lib"), &[]);
    let mut drive = ltfs_tape::drive(&library);
    ltfs_tape::write_real_volume(&mut drive);
    // The index of generation 3 was cut off before its filemark.
    let text = std::fs::read_to_string(ltfs_tape::fixture("TST001-20files.xml"));
    let text = text.expect("the fixture");
    let newest = text.replace(
        "<generationnumber>2</generationnumber>",
        "<generationnumber>3</generationnumber>",
    );
    assert_ne!(text, newest);
    let cut = ltfs_tape::Record::Block(newest.as_bytes()[..1000].to_vec());
    ltfs_tape::write_from(&mut drive, 1, 35, &[ltfs_tape::Record::Filemark, cut]);
    drop((drive, library));
    until_free(&desk);
    let ran = desk.run(&format!("{ALL} --json"));
    assert_eq!(ran.code, 7, "{}", ran.err);
    let words =
        "read by the index of generation 2; the newest was generation 3, which cannot be read";
    assert!(ran.err.contains(words), "{}", ran.err);
    whole(&desk, published().into_keys());
    let report = ran.json();
    assert_eq!(
        (&report["generation"], &report["newest_generation"]),
        (&2.into(), &3.into())
    );
    assert_eq!(report["complete"], false);
    // What a list names is all that was asked for.
    let named = desk.run_with("docs/f1.bin\n", "recall --ltfs emulated:lib --to some");
    assert_eq!(named.code, 0, "{}", named.err);
}
