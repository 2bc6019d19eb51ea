//! Names of a list found in an index.

use tapewise_formats::list::{Separator, read_list};
use tapewise_formats::ltfs_index::{LtfsFile, LtfsPath, read_ltfs_index};
use tapewise_formats::ltfs_select::{Selection, select};

fn files(paths: &[&str]) -> Vec<LtfsFile> {
    let file = |path: &&str| LtfsFile {
        path: LtfsPath::from(*path),
        ..LtfsFile::default()
    };
    paths.iter().map(file).collect()
}

fn find(paths: &[&str], list: &str, prefix: Option<&str>) -> Selection {
    let names = read_list(list.as_bytes(), Separator::Newline)
        .unwrap()
        .names;
    select(&files(paths), &names, prefix).unwrap()
}

fn lines(names: &[tapewise_formats::list::Name]) -> Vec<u64> {
    names.iter().map(|name| name.line).collect()
}

#[test]
fn slashes_and_dots_at_the_ends_do_not_matter() {
    for name in ["d/a", "/d/a", "./d/a", "//d//a", "d/./a"] {
        assert_eq!(find(&["x", "d/a"], name, None).files, [1], "{name}");
    }
}

#[test]
fn a_directory_stands_for_all_below_it_in_the_order_of_the_index() {
    let paths = ["d/z", "d-x", "d/a", "d/e/b", "dd", "d"];
    // A file may not have the name of a directory, but where an index says so the file is meant.
    assert_eq!(find(&paths[..5], "d", None).files, [0, 2, 3]);
    assert_eq!(find(&paths, "d", None).files, [5]);
    assert_eq!(find(&paths, "d/e/", None).files, [3]);
    assert_eq!(find(&paths, "/", None).files, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn what_is_missing_twice_or_ambiguous_is_reported() {
    let found = find(&["a", "b", "b", "c"], "a\nnope\nb\na\nA\n", None);
    assert_eq!(found.files, [0]);
    assert_eq!(lines(&found.not_found), [2, 5]);
    assert_eq!(lines(&found.ambiguous), [3]);
    assert_eq!(lines(&found.duplicates), [4]);
}

#[test]
fn the_mount_point_is_taken_off_only_as_a_whole_name() {
    let found = find(
        &["a"],
        "/mnt/ltfs/a\n/mnt/ltfs2/a\na\n/mnt/ltfs\n",
        Some("/mnt/ltfs/"),
    );
    assert_eq!(found.files, [0]);
    assert_eq!(lines(&found.not_found), [2]);
    assert_eq!(lines(&found.duplicates), [3, 4]);
}

#[test]
fn a_name_that_is_not_utf8_is_an_error_with_its_line() {
    let names = read_list(&b"a\nb\xff\n"[..], Separator::Newline)
        .unwrap()
        .names;
    let error = select(&files(&["a"]), &names, None)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "line 2: \"b\u{fffd}\" is not UTF-8 (byte 2); names in an LTFS index are"
    );
}

#[test]
fn every_path_of_a_real_index_finds_itself() {
    let xml = tapewise_house::bytes("ltfs/TST002-gen2-2077files.xml");
    let (_, files) = read_ltfs_index(&xml[..]).unwrap();
    let list: String = files
        .iter()
        .rev()
        .map(|f| format!("/{}\n", f.path))
        .collect();
    let names = read_list(list.as_bytes(), Separator::Newline)
        .unwrap()
        .names;
    let found = select(&files, &names, None).unwrap();
    assert_eq!(found.files, (0..files.len()).rev().collect::<Vec<_>>());
}
