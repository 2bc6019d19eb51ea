//! LTFS volumes by their index: names to blocks, and every block read once.

use crate::program::{Desk, fixture, steps};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const BLOCK_BYTES: u64 = 524_288;

/// 3001 files with 3302 extents; its elements stand one a line.
fn big() -> String {
    fixture("ltfs/TST002-gen4-3001files-3302extents.xml")
}

/// 20 files, an empty one and a symbolic link among them.
fn small() -> String {
    fixture("ltfs/TST001-20files.xml")
}

/// An extent as the index has it, in the order of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    file_offset: u64,
    partition: u64,
    start_block: u64,
    byte_offset: u64,
    bytes: u64,
}

impl Piece {
    fn block_count(&self) -> u64 {
        (self.byte_offset + self.bytes).div_ceil(BLOCK_BYTES)
    }

    fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (self.start_block..self.start_block + self.block_count())
            .map(|block| (self.partition, block))
    }
}

/// Extents by path, read without any of the program's code: one element a line, as LTFS writes it.
fn pieces(index: &str) -> BTreeMap<String, Vec<Piece>> {
    let xml = std::fs::read_to_string(index).expect("an index");
    let mut files: BTreeMap<String, Vec<Piece>> = BTreeMap::new();
    let mut path: Vec<String> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut piece = Piece::default();
    for line in xml.lines().map(str::trim) {
        let Some(element) = line.strip_prefix('<').filter(|rest| !rest.starts_with('?')) else {
            continue;
        };
        if let Some(closed) = element.strip_prefix('/') {
            match closed.trim_end_matches('>') {
                "directory" | "file" => drop(path.pop()),
                "extent" => files.entry(path[1..].join("/")).or_default().push(piece),
                _ => {}
            }
            open.pop();
            continue;
        }
        let (tag, rest) = element.split_once('>').expect("an element a line");
        let tag = tag.split(' ').next().unwrap_or_default();
        let Some((text, _)) = rest.split_once("</") else {
            if !element.ends_with("/>") {
                open.push(tag.to_owned());
            }
            continue;
        };
        let number = || text.parse().expect("a number");
        match (open.last().map(String::as_str), tag) {
            (Some("directory" | "file"), "name") => path.push(text.to_owned()),
            (Some("file"), "length") => drop(files.entry(path[1..].join("/")).or_default()),
            (Some("extent"), "fileoffset") => piece.file_offset = number(),
            (Some("extent"), "partition") => piece.partition = u64::from(text == "b"),
            (Some("extent"), "startblock") => piece.start_block = number(),
            (Some("extent"), "byteoffset") => piece.byte_offset = number(),
            (Some("extent"), "bytecount") => piece.bytes = number(),
            _ => {}
        }
    }
    files.values_mut().for_each(|pieces| pieces.sort());
    files
}

fn number(step: &Value, field: &str) -> u64 {
    step[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field} of {step}"))
}

/// Every block that the plan reads, as often as it reads it.
fn blocks_read(plan: &Value) -> Vec<(u64, u64)> {
    let blocks = |step: &Value| {
        let (partition, start) = (number(step, "partition"), number(step, "start_block"));
        let end = start + number(step, "block_count");
        (start..end).map(move |block| (partition, block))
    };
    steps(plan, "read").into_iter().flat_map(blocks).collect()
}

/// Which extents of which requests the plan reads.
fn extents_read(plan: &Value) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for step in steps(plan, "read") {
        for served in step["serves"].as_array().expect("what it serves") {
            let id = served["id"].as_str().expect("an id").to_owned();
            found.push((id, number(served, "extent")));
        }
    }
    found
}

fn plan_of_everything(extents: &str) -> (BTreeMap<String, Vec<Piece>>, Value) {
    let index = big();
    let args = format!(
        "order --profile lto6 --ltfs-index {index} --all-files --algorithm sort --extents {extents}"
    );
    let files = pieces(&index);
    assert_eq!(files.len(), 3001);
    assert_eq!(files.values().map(Vec::len).sum::<usize>(), 3302);
    (files, Desk::new().plan(&args))
}

fn assert_reads_the_blocks_of_the_index(files: &BTreeMap<String, Vec<Piece>>, plan: &Value) {
    let union: BTreeSet<(u64, u64)> = files.values().flatten().flat_map(Piece::blocks).collect();
    let read: BTreeSet<(u64, u64)> = blocks_read(plan).into_iter().collect();
    assert_eq!(read, union);
}

fn assert_reads_each_extent_once(files: &BTreeMap<String, Vec<Piece>>, plan: &Value) {
    let mut read = extents_read(plan);
    read.sort();
    let numbered = |(path, pieces): (&String, &Vec<Piece>)| {
        let path = path.clone();
        (0..pieces.len() as u64).map(move |extent| (path.clone(), extent))
    };
    let wanted: Vec<(String, u64)> = files.iter().flat_map(numbered).collect();
    assert_eq!(read.len(), wanted.len());
    let first = read
        .iter()
        .zip(&wanted)
        .find(|(read, wanted)| read != wanted);
    assert_eq!(first, None);
}

#[test]
fn together_reads_every_extent_of_the_index_whole_and_in_file_order() {
    let (files, plan) = plan_of_everything("together");
    assert_reads_the_blocks_of_the_index(&files, &plan);
    assert_reads_each_extent_once(&files, &plan);
    let mut last: Option<(String, u64)> = None;
    for step in steps(&plan, "read") {
        let served = &step["serves"][0];
        let id = served["id"].as_str().expect("an id").to_owned();
        let extent = number(served, "extent");
        let piece = files[&id][extent as usize];
        assert_eq!(number(step, "partition"), piece.partition, "{step}");
        assert_eq!(number(step, "start_block"), piece.start_block, "{step}");
        assert_eq!(number(step, "block_count"), piece.block_count(), "{step}");
        assert_eq!(number(step, "bytes"), piece.bytes, "{step}");
        let expected = match &last {
            Some((before, extent)) if *before == id => extent + 1,
            _ => 0,
        };
        assert_eq!(extent, expected, "{step}");
        last = Some((id, extent));
    }
    let bytes: u64 = files.values().flatten().map(|piece| piece.bytes).sum();
    assert_eq!(number(&plan["totals"], "bytes"), bytes);
    assert_eq!(number(&plan["totals"], "extents"), 3302);
    assert_eq!(number(&plan["totals"], "requests"), 3001);
}

#[test]
fn apart_reads_every_block_of_the_index_once() {
    let (files, plan) = plan_of_everything("apart");
    assert_reads_the_blocks_of_the_index(&files, &plan);
    let union: BTreeSet<(u64, u64)> = files.values().flatten().flat_map(Piece::blocks).collect();
    assert_eq!(blocks_read(&plan).len(), union.len());
}

#[test]
fn apart_reads_each_extent_once_under_its_own_number() {
    let (files, plan) = plan_of_everything("apart");
    assert_reads_each_extent_once(&files, &plan);
    let bytes: u64 = files.values().flatten().map(|piece| piece.bytes).sum();
    assert_eq!(number(&plan["totals"], "bytes"), bytes);
    for step in steps(&plan, "read") {
        // What several extents share begins with the first of them.
        let first = &step["serves"][0];
        let piece = files[first["id"].as_str().expect("an id")][number(first, "extent") as usize];
        assert_eq!(number(step, "start_block"), piece.start_block, "{step}");
    }
}

/// A file in three pieces that share no blocks, one of them on the other side of another file.
#[test]
fn apart_takes_each_extent_where_it_costs_least() {
    let desk = Desk::new();
    let piece = |block: u64, bytes: u64, offset: u64| {
        format!(r#"{{"start_block": {block}, "size_bytes": {bytes}, "file_offset": {offset}}}"#)
    };
    let whole = [
        piece(3_000_000, 700_000, 0),
        piece(40, 524_288, 700_000),
        piece(90, 5, 1_224_288),
    ];
    let lines = format!(
        "{{\"id\": \"whole\", \"extents\": [{}]}}\n{{\"id\": \"between\", \"start_block\": 60, \"block_count\": 4}}\n",
        whole.join(", ")
    );
    desk.put("requests.jsonl", lines);
    let order = "order --profile lto8 --block-size 524288 requests.jsonl --extents";
    let read = |how: &str| {
        let mut read = extents_read(&desk.plan(&format!("{order} {how}")));
        read.dedup();
        let short = |(id, extent): (String, u64)| format!("{id} {extent}");
        read.into_iter().map(short).collect::<Vec<_>>()
    };
    assert_eq!(
        read("apart"),
        ["whole 1", "between 0", "whole 2", "whole 0"]
    );
    assert_eq!(
        read("together"),
        ["between 0", "whole 0", "whole 1", "whole 2"]
    );
    for to in ["list", "list0", "csv", "script"] {
        let args = format!("{order} apart --to {to}");
        desk.refused(
            &args,
            &[
                "--extents apart: 1 file",
                "hint: write the plan with --to json",
            ],
        );
    }
}

#[test]
fn names_match_with_slashes_and_directories_and_only_once() {
    let desk = Desk::new();
    let names = "/docs/f7.bin\n./docs/a/\nsp ace/größe 1.dat\n\ndocs/f7.bin\r\n";
    desk.put("names.txt", names);
    let args = format!("order --profile lto6 --ltfs-index {}", small());
    let from_file = desk.done(&format!("{args} --files-from names.txt"));
    let mut found = from_file.lines();
    found.sort();
    assert_eq!(
        found,
        ["docs/a/hello.txt", "docs/f7.bin", "sp ace/größe 1.dat"]
    );
    assert!(
        from_file.err.contains("line 5: docs/f7.bin"),
        "{}",
        from_file.err
    );
    assert!(
        from_file.err.contains("no LTFS label was given"),
        "{}",
        from_file.err
    );

    let from_input = desk.done_with(names, &args);
    assert_eq!(from_input.out, from_file.out);
    let dash = desk.done_with(names, &format!("{args} --files-from -"));
    assert_eq!(dash.out, from_file.out);
    let zero = names
        .replace("\r\n", "")
        .replace("\n\n", "\n")
        .replace('\n', "\0");
    let zero = desk.done_with(zero, &format!("{args} -0 --to list0"));
    let zero: Vec<&str> = zero.text().split_terminator('\0').collect();
    assert_eq!(zero, from_file.lines());
}

#[test]
fn a_directory_stands_for_everything_below() {
    let desk = Desk::new();
    let args = format!("order --profile lto6 --ltfs-index {}", small());
    assert_eq!(desk.done_with("docs\n", &args).lines().len(), 15);
    assert_eq!(desk.done_with("/\n", &args).lines().len(), 20);
    // A prefix of a name is no directory.
    desk.refused_with("doc\n", &args, &["line 1: doc"]);
    let args = format!("{args} --match path");
    desk.refused_with("docs/F1.bin\n", &args, &["line 1: docs/F1.bin"]);
}

#[test]
fn names_that_are_missing_stop_or_are_said() {
    let desk = Desk::new();
    desk.put("names.txt", "docs/f1.bin\nnot/there\nnor this\n");
    let args = format!(
        "order --profile lto6 --ltfs-index {} --files-from names.txt",
        small()
    );
    let words = [
        "2 names of names.txt are not in ",
        "line 2: not/there",
        "line 3: nor this",
        "--ignore-missing",
    ];
    desk.refused(&args, &words);
    let ran = desk.done(&format!("{args} --ignore-missing"));
    assert_eq!(ran.lines(), ["docs/f1.bin"]);
    assert!(ran.err.contains("line 2: not/there"), "{}", ran.err);
    desk.refused_with(
        b"caf\xe9\n",
        &args.replace("names.txt", "-"),
        &["line 1", "is not UTF-8"],
    );
}

#[test]
fn a_missing_name_is_said_with_the_list_it_stands_in() {
    let desk = Desk::new();
    desk.put("names.txt", "docs/f1.bin\nnot/there\n");
    let args = format!(
        "order --profile lto6 --ltfs-index {} --files-from names.txt",
        small()
    );
    desk.refused(&args, &["names.txt", "line 2: not/there"]);
}

#[test]
fn files_without_blocks_come_first() {
    let desk = Desk::new();
    let index = small();
    let label = fixture("ltfs/TST001.label.xml");
    let args =
        format!("order --profile lto6 --ltfs-index {index} --ltfs-label {label} --all-files");
    let ran = desk.done(&args);
    assert_eq!(ran.lines()[..2], ["empty.dat", "link1"]);
    assert_eq!(ran.lines().len(), 20);
    assert!(!ran.err.contains("no LTFS label"), "{}", ran.err);
    // The index alone, on standard input, is known by its first bytes.
    let xml = std::fs::read(&index).expect("an index");
    let piped = desk.done_with(xml, "order --profile lto6 --all-files");
    assert_eq!(piped.out, ran.out);
}

#[test]
fn the_label_and_the_option_set_the_block_size() {
    let desk = Desk::new();
    let label = std::fs::read_to_string(fixture("ltfs/TST001.label.xml")).expect("a label");
    desk.put("label.xml", label.replace(">524288<", ">262144<"));
    let args = format!("--ltfs-index {} --all-files", small());
    let size = |more: &str| {
        let plan = desk.plan(&format!("order --profile lto6 {args} {more}"));
        (plan["block_size"].clone(), plan["totals"]["bytes"].clone())
    };
    assert_eq!(
        size("--ltfs-label label.xml"),
        (262_144.into(), 5_250_111.into())
    );
    assert_eq!(size("--block-size 1048576").0, 1_048_576);
    assert_eq!(size("").0, 524_288);
    assert_eq!(size("--ltfs-label label.xml --block-size 256K").0, 262_144);
    desk.refused(
        &format!("order --profile lto6 {args} --ltfs-label label.xml --block-size 65536"),
        &["label.xml says that the blocks have 262144 bytes"],
    );
    let words = ["this is <ltfsindex>, expected <ltfslabel>"];
    desk.refused(
        &format!("order --profile lto6 {args} --ltfs-label {}", small()),
        &words,
    );
}

#[test]
fn the_index_becomes_csv_that_orders_alike() {
    let desk = Desk::new();
    let index = small();
    desk.done(&format!(
        "convert --ltfs-index {index} --all-files -o all.csv"
    ));
    let from_csv = desk.done("order --profile lto6 --layout ltfs --block-size 524288 all.csv");
    let from_index = desk.done(&format!(
        "order --profile lto6 --ltfs-index {index} --all-files"
    ));
    assert_eq!(from_csv.out, from_index.out);
}

#[test]
fn the_label_of_another_volume_is_refused() {
    let label = fixture("ltfs/TST001.label.xml");
    let args = format!(
        "order --profile lto6 --ltfs-index {} --all-files --ltfs-label {label}",
        big()
    );
    let words = [
        "00cdef45-a864-41ae-82f7-502523299cf1",
        "5005b061-f7af-46ed-9a6f-1cf307d37bc0",
    ];
    Desk::new().refused(&args, &words);
}

#[test]
fn requests_that_share_blocks_keep_their_own_bytes() {
    let desk = Desk::new();
    desk.put(
        "r.csv",
        "id,start_block,block_count,size_bytes\na,10,2,600000\nb,11,2,700000\n",
    );
    let plan = desk.plan("order --profile lto8 --block-size 524288 r.csv");
    assert_eq!(number(&plan["totals"], "bytes"), 1_300_000);
}
