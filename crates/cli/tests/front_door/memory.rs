//! A damaged file, however large, is refused in little memory.

#![cfg(target_os = "linux")]

use crate::program::{Desk, Ran};

/// Pipes 128 MB that begin as said, then repeat a piece, into a program that may have as much with its own code.
fn poured(begin: &str, piece: &str, verb: &str) -> Ran {
    let desk = Desk::new();
    desk.put("begin", begin);
    desk.put("piece", piece.repeat((1 << 20) / piece.len()));
    let pour = "cat begin; i=0; while [ $i -lt 128 ]; do cat piece || exit; i=$((i+1)); done";
    // Threads take address space, not memory: two are enough here.
    let limits = "ulimit -v 131072; export RAYON_NUM_THREADS=2";
    desk.shell(&format!(
        "{{ {pour}; }} 2> /dev/null | ({limits}; $TAPEWISE {verb})"
    ))
}

fn refused(begin: &str, piece: &str, verb: &str) {
    let ran = poured(begin, piece, verb);
    assert_eq!(ran.code, 2, "{piece:?}: {}", ran.err);
    assert_eq!(ran.text(), "", "{piece:?}");
    assert!(
        ran.err.contains("standard input: line "),
        "{piece:?}: {}",
        ran.err
    );
}

const HEAD: &str = "<?xml version=\"1.0\"?>\n<ltfsindex version=\"2.4.0\">\n";

#[test]
fn an_index_without_end_is_refused_in_little_memory() {
    let order = "order --profile lto8 --all-files";
    refused(HEAD, "<directory><name>d</name><contents>\n", order);
    refused(&format!("{HEAD}<creator>"), "text without end ", order);
    refused(&format!("{HEAD}<creator "), "a=\"b\" ", order);
    refused(&format!("{HEAD}<!-- "), "no comment ", order);
}

/// What is short in the index and long in memory: paths, which every file below has.
#[test]
fn directories_in_directories_are_refused_before_their_paths_fill_the_memory() {
    let desk = Desk::new();
    let deep = format!("<directory><name>{}</name><contents>\n", "d".repeat(250));
    let root = format!("{HEAD}<directory><name>r</name><contents>\n");
    desk.put("deep.xml", root + &deep.repeat(600));
    let ran = desk.run("order deep.xml --profile lto8 --all-files");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("bytes in a path"), "{}", ran.err);
}

/// Read to its last byte, for every piece of it is well-formed.
#[test]
fn an_index_that_goes_on_for_128_mb_takes_little_memory() {
    let order = "order --profile lto8 --all-files";
    let note = "<!-- a note of thirty-odd letters -->\n".repeat(20);
    refused(HEAD, &note, order);
    let root = format!("{HEAD}<directory><name>r</name><contents>\n");
    let empty = "<directory><name>d</name><contents></contents></directory>\n";
    refused(&root, empty, order);
}

#[test]
fn a_row_without_end_is_refused_in_little_memory() {
    let order = "order --profile lto8 --block-size 524288 --format";
    refused(
        "id,start_block,block_count\n\"",
        "never closed ",
        &format!("{order} csv"),
    );
    refused("{\"id\": \"", "never closed ", &format!("{order} jsonl"));
}
