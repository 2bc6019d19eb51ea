//! The system starts no threads: work goes on without them, or ends with words, and nothing is lost.

use crate::archive::{empty_cache, make_files_of, same};
use crate::mount::{file, mount_point};
use crate::program::{Desk, Ran};
use crate::simulate::LIBRARY;

/// No thread gets a stack of a petabyte, so none can be started.
const NO_THREADS: &str = "RUST_MIN_STACK=1125899906842624 RAYON_NUM_THREADS=2 $TAPEWISE";

fn without_threads(desk: &Desk, args: &str) -> Ran {
    desk.shell(&format!("{NO_THREADS} {args}"))
}

#[test]
fn an_archive_without_threads_refuses_to_write_and_reads() {
    let desk = crate::archive::desk();
    let settings = desk.read("A/archive.toml");
    desk.put("A/archive.toml", format!("zstd_level = 3\n{settings}"));
    let files = make_files_of(&desk, "reel", 5, 40_000);
    let refused = without_threads(&desk, "store --archive A reel");
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(
        refused
            .text()
            .contains("5 files in the cache, acknowledged"),
        "{}",
        refused.text()
    );
    let words = "no thread can be started that makes the blocks";
    assert!(refused.err.contains(words), "{}", refused.err);
    desk.done("store --archive A");
    desk.done("catalog check --archive A");
    empty_cache(&desk);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    desk.put("names.txt", names.join("\n"));
    let recall = "recall --archive A --to out --files-from names.txt";
    let recalled = without_threads(&desk, recall);
    assert_eq!(recalled.code, 0, "{}", recalled.err);
    same(&desk, &files, "out");
}

#[test]
fn files_of_a_mounted_ltfs_come_without_threads() {
    let Some(mount) = mount_point() else { return };
    file(&mount, "late.mov", "2000000", 9_000_000);
    file(&mount, "early.mov", "50", 600_000);
    let desk = Desk::new();
    desk.put("names.txt", "late.mov\nearly.mov\n");
    let from = mount.path().display();
    let recall =
        format!("recall --profile lto8 --ltfs-mount {from} --to out --files-from names.txt");
    let recalled = without_threads(&desk, &recall);
    assert_eq!(recalled.code, 0, "{}", recalled.err);
    for name in ["late.mov", "early.mov"] {
        let there = std::fs::read(mount.path().join(name)).expect("a file");
        let here = std::fs::read(desk.path().join("out").join(name)).expect("a file");
        assert!(there == here, "{name}");
    }
}

#[test]
fn what_is_divided_is_computed_by_one_thread() {
    let desk = Desk::new();
    desk.put("small.toml", LIBRARY);
    let alone = without_threads(&desk, "simulate small.toml --json");
    assert_eq!(alone.code, 0, "{}", alone.err);
    let usual = desk.done("simulate small.toml --json");
    assert_eq!(alone.out, usual.out);
    let asked = without_threads(&desk, "simulate small.toml --threads 2");
    assert_eq!(asked.code, 1, "{}", asked.err);
    assert!(asked.err.contains("--threads 2"), "{}", asked.err);
    let mut moves = "from_wrap,from_lpos,to_wrap,to_lpos,locate_s\n".to_owned();
    for at in 0..200 {
        let (from, to) = (at * 37 % 208, at * 53 % 208);
        let (here, there) = (5_000 + at * 811 % 150_000, 5_000 + at * 463 % 150_000);
        moves += &format!("{from},{here},{to},{there},{}.0\n", 10 + at % 60);
    }
    desk.put("moves.csv", moves);
    // Whether these times make a model does not matter: it ends as with threads.
    let alone = without_threads(&desk, "fit moves.csv --base lto8");
    assert_eq!(
        alone.code,
        desk.run("fit moves.csv --base lto8").code,
        "{}",
        alone.err
    );
    assert!(!alone.err.contains("panicked"), "{}", alone.err);
}
