//! Bad input of every kind: refused with status 2 and words that say where; nothing else happens.

use crate::program::{CLIPS, Desk, ORDER, fixture, steps};

const HEADER: &str = "id,start_block,block_count";

/// The words that a row of requests is refused with, beside its file and line.
fn row_refused(header: &str, row: &str, words: &[&str]) {
    let desk = Desk::new();
    desk.put(
        "requests.csv",
        format!("{header}\nfine,1,1{}\n{row}\n", more(header)),
    );
    let words: Vec<&str> = ["requests.csv", "line 3"]
        .iter()
        .chain(words)
        .copied()
        .collect();
    desk.refused(&format!("{ORDER} requests.csv -o order.txt"), &words);
    desk.refused(
        "convert --block-size 524288 requests.csv -o order.csv",
        &words,
    );
}

/// Empty fields for the columns behind the first three.
fn more(header: &str) -> String {
    ",".repeat(header.matches(',').count() - 2)
}

#[test]
fn numbers_that_are_none_are_named() {
    row_refused(HEADER, "a,x,1", &["start_block is \"x\"", "digits only"]);
    row_refused(HEADER, "a,-1,1", &["start_block is \"-1\"", "not negative"]);
    row_refused(HEADER, "a,1.5,1", &["start_block is \"1.5\""]);
    row_refused(HEADER, "a,\"1,000\",1", &["start_block is \"1,000\""]);
    row_refused(HEADER, "a,0x10,1", &["start_block is \"0x10\""]);
    row_refused(
        HEADER,
        "a,99999999999999999999,1",
        &["start_block", "18446744073709551615"],
    );
    row_refused(HEADER, "a,18446744073709551615,2", &["2^64"]);
    row_refused(HEADER, "a,1,0", &["block_count is \"0\"", "at least 1"]);
    row_refused(HEADER, "a,1,", &["block_count"]);
    row_refused(HEADER, "a,,1", &["start_block is empty"]);
    row_refused(HEADER, ",1,1", &["id is empty"]);
    row_refused(HEADER, "a,1", &["2 fields, the header has 3"]);
    row_refused(HEADER, "a,1,1,1", &["4 fields, the header has 3"]);
}

#[test]
fn fields_that_contradict_are_named() {
    let with = |column: &str| format!("{HEADER},{column}");
    row_refused(
        &with("partition"),
        "a,1,1,7",
        &["partition is \"7\"", "0 to 3"],
    );
    row_refused(&with("priority"), "a,1,1,high", &["priority is \"high\""]);
    row_refused(
        &with("deadline"),
        "a,1,1,soon",
        &["deadline", "\"soon\"", "2026-11-21T04:01:25Z"],
    );
    row_refused(&with("end_block"), "a,1,1,9", &["end_block"]);
    row_refused(&with("size_bytes"), "a,1,1,99999999999", &["size_bytes"]);
    row_refused(&with("start_wrap"), "a,1,1,4", &["start_lpos is empty"]);
    row_refused(
        &with("start_wrap"),
        "a,1,1,99999",
        &["start_wrap is \"99999\""],
    );
}

#[test]
fn headers_that_are_none_are_named() {
    let desk = Desk::new();
    let refused = |text: &[u8], words: &[&str]| {
        desk.put("requests.csv", text);
        desk.refused(
            &format!("{ORDER} requests.csv"),
            &[&["requests.csv"], words].concat(),
        );
    };
    refused(b"", &["empty", "id,start_block,block_count"]);
    refused(b"\n\n", &[]);
    refused(b"foo,bar\na,1\n", &["no column start_block", "foo, bar"]);
    refused(
        b"id,start_block\na,1\n",
        &["block_count, end_block or size_bytes"],
    );
    refused(
        b"id,start_block,block_count,ID\na,1,1,b\n",
        &["\"ID\" twice", "1 and 4"],
    );
    refused(
        b"id,start_block,block_count\nfine,1,1\ncaf\xe9,2,1\n",
        &["line 3", "id", "not UTF-8"],
    );
    refused(
        b"caf\xe9,start_block,block_count\na,2,1\n",
        &["line 1", "column 1", "not UTF-8"],
    );
    refused("a,".repeat(2000).as_bytes(), &["2001 columns"]);
    // Windows line ends do not move the line that is named.
    refused(
        b"id,start_block,block_count\r\nfine,1,1\r\nb,x,1\r\n",
        &["line 3", "\"x\""],
    );
}

#[test]
fn a_spreadsheet_in_utf_16_is_called_that() {
    let desk = Desk::new();
    let utf_16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(CLIPS.bytes().flat_map(|b| [b, 0]))
        .collect();
    desk.put("requests.csv", utf_16);
    desk.refused(
        &format!("{ORDER} requests.csv"),
        &["requests.csv", "UTF-16", "UTF-8"],
    );
}

#[test]
fn a_quote_that_is_not_closed_is_named_with_its_line() {
    row_refused(HEADER, "\"a,1,1", &["quote"]);
}

#[test]
fn nothing_to_do_is_done() {
    let desk = Desk::new();
    desk.put("none.csv", format!("{HEADER}\n"));
    for to in ["list", "list0", "csv", "json", "script"] {
        let ran = desk.done(&format!("{ORDER} none.csv --to {to}"));
        assert!(ran.err.contains("0 requests"), "{}", ran.err);
    }
    assert_eq!(desk.done(&format!("{ORDER} none.csv")).text(), "");
    let plan = desk.plan(&format!("{ORDER} none.csv"));
    assert!(steps(&plan, "read").is_empty() && plan["totals"]["total_us"] == 0);
    desk.done(&format!("{ORDER} none.csv --explain --all"));
    desk.done("convert none.csv");
    let index = fixture("ltfs/TST001-20files.xml");
    assert_eq!(
        desk.done(&format!("order --profile lto8 --ltfs-index {index}"))
            .text(),
        ""
    );
    desk.put("empty.csv", "id,start_block,size_bytes\nhollow,,0\n");
    assert_eq!(desk.done(&format!("{ORDER} empty.csv")).lines(), ["hollow"]);
}

#[test]
fn nothing_to_do_is_said_so() {
    let desk = Desk::new();
    desk.put("none.csv", format!("{HEADER}\n"));
    let ran = desk.done(&format!("{ORDER} none.csv"));
    assert!(!ran.err.contains("recorded"), "{}", ran.err);
}

#[test]
fn files_that_are_no_files_are_refused() {
    let desk = Desk::with_clips();
    desk.refused(&format!("{ORDER} none.csv"), &["none.csv: No such file"]);
    desk.refused(
        &format!("{ORDER} ."),
        &[".: is a directory", "--ltfs-mount"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv/x"),
        &["clips.csv/x: Not a directory"],
    );
    desk.refused(
        "order --profile lto8 --ltfs-index none.xml --all-files",
        &["none.xml: No such"],
    );
    desk.refused(
        "order --profile lto8 --ltfs-index . --all-files",
        &[".: has no LTFS index"],
    );
    let index = fixture("ltfs/TST001-20files.xml");
    let names = format!("order --profile lto8 --ltfs-index {index} --files-from");
    desk.refused(&format!("{names} none.txt"), &["none.txt: No such file"]);
    desk.refused(&format!("{names} ."), &[".: is a directory"]);
    desk.refused("order clips.csv", &["--profile"]);
    desk.refused("order --profile . clips.csv", &["."]);
    desk.refused("profile validate .", &["."]);
}

#[test]
fn lists_plans_and_labels_are_no_requests() {
    let desk = Desk::with_clips();
    desk.put("names.txt", "one.mov\ntwo.mov\n");
    let words = [
        "names.txt",
        "a list of names",
        "--ltfs-index INDEX.xml",
        "--ltfs-mount DIR",
    ];
    desk.refused(&format!("{ORDER} names.txt"), &words);
    desk.refused_with(
        "one\0two\0",
        ORDER,
        &["standard input", "NUL-separated", "--ltfs-index"],
    );
    desk.done(&format!("{ORDER} clips.csv --json -o plan.json"));
    desk.refused(
        &format!("{ORDER} plan.json"),
        &["plan.json", "a tapewise plan", "not requests"],
    );
    desk.refused(
        &format!("{ORDER} plan.json --format jsonl"),
        &["plan.json: line 1"],
    );
    let label = fixture("ltfs/TST001.label.xml");
    desk.refused(
        &format!("{ORDER} {label}"),
        &["an LTFS label", "not requests"],
    );
    let args = format!("order --profile lto8 --all-files --ltfs-index {label}");
    desk.refused(
        &args,
        &["line 2: this is <ltfslabel>, expected <ltfsindex>"],
    );
    desk.refused(
        &args.replace(&label, "clips.csv"),
        &["clips.csv: line", "XML"],
    );
}

#[test]
fn sort_keys_are_sorted_and_not_ordered() {
    let desk = Desk::new();
    let line = |name: &str, place: &str| {
        format!(
            "FILE\t/{name}\t9\t9\t{place}\tEG01\t4\t0\t1\t11/06/2013\t08:47:20\t02/24/2017\t13:01:15\n"
        )
    };
    desk.put(
        "listing.txt",
        [line("c", "111+7"), line("a", "2+900"), line("b", "11+5")].concat(),
    );
    let words = [
        "3 requests with a sort key but no block",
        "hint: tapewise convert --sort",
    ];
    desk.refused(&format!("{ORDER} listing.txt"), &words);
    assert_eq!(
        desk.done("convert --sort --to list listing.txt").lines(),
        ["/a", "/b", "/c"]
    );

    desk.put(
        "b.bsr",
        "Volume=\"B\"\nVolAddr=900-950\nFileIndex=2\nVolume=\"B\"\nVolAddr=100-200\nFileIndex=1\n",
    );
    desk.refused(
        &format!("{ORDER} b.bsr"),
        &["b.bsr: 2 requests, bsr", "count from filemarks", "--sort"],
    );
    let keys = desk.done("convert --sort b.bsr");
    let last: Vec<&str> = keys
        .lines()
        .iter()
        .filter_map(|line| line.split(',').next_back())
        .collect();
    assert_eq!(last, ["sort_key", "100", "900"]);
    // What convert wrote is refused by order for the same reason.
    desk.refused_with(keys.out, ORDER, &["2 requests with a sort key"]);

    desk.put("bad.txt", line("x", "elsewhere"));
    desk.refused(
        "convert bad.txt",
        &["bad.txt: line 1", "elsewhere", "section+offset"],
    );
}

#[test]
fn damaged_json_is_refused_with_its_line() {
    let desk = Desk::new();
    let refused = |text: &str, words: &[&str]| {
        desk.put("requests.jsonl", text);
        desk.refused(
            &format!("{ORDER} requests.jsonl"),
            &[&["requests.jsonl"], words].concat(),
        );
    };
    let fine = r#"{"id": "a", "start_block": 1, "block_count": 1}"#;
    refused(&format!("{fine}\n{{\"id\""), &["line 2"]);
    refused(
        &format!("{fine}\n\n{}", fine.replace("1}", "\"x\"}")),
        &["line 3", "block_count", "\"x\""],
    );
    refused(
        &fine.replace("\"start_block\": 1, ", ""),
        &["line 1", "start_block"],
    );
    refused(&"[".repeat(100_000), &[]);
    refused(&"{\"a\":".repeat(100_000), &["line 1"]);
    desk.refused_with(
        "[{\"af\": {}}]",
        ORDER,
        &["standard input: item 1: tf is missing"],
    );
    desk.refused_with("[{", ORDER, &["standard input: line 1"]);
}

#[test]
fn damaged_indexes_are_refused_with_their_line() {
    let desk = Desk::new();
    let index = std::fs::read(fixture("ltfs/TST001-20files.xml")).expect("an index");
    let refused = |xml: &[u8], words: &[&str]| {
        desk.put("index.xml", xml);
        let args = "order --profile lto6 --ltfs-index index.xml --all-files -o order.txt";
        desk.refused(args, &[&["index.xml: "], words].concat());
    };
    for cut in [700, 5_000, 9_999, index.len() - 20] {
        refused(&index[..cut], &["line ", "cut off"]);
    }
    let text = String::from_utf8(index.clone()).expect("UTF-8");
    refused(
        text.replace("<startblock>31<", "<startblock>x<").as_bytes(),
        &["line ", "startblock", "x"],
    );
    refused(
        text.replace("<partition>b<", "<partition>q<").as_bytes(),
        &["docs/a/hello.txt", "partition \"q\""],
    );
    refused(
        text.replace("</file>", "</fiel>").as_bytes(),
        &["line ", "fiel"],
    );
    refused(
        text.replace("hello.txt", "he\u{1}llo&nbsp;.txt").as_bytes(),
        &[],
    );
    refused(
        text.replace("ltfsindex version=\"2.4.0\"", "ltfsindex version=\"9.0.0\"")
            .as_bytes(),
        &["9.0.0"],
    );
    refused(&[b"\xff\xfe", &index[..]].concat(), &[]);

    let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;\">]>\n\
                <ltfsindex version=\"2.4.0\"><creator>&b;</creator></ltfsindex>";
    refused(bomb.as_bytes(), &["2: the file has a DOCTYPE"]);
    let deep = format!(
        "<ltfsindex version=\"2.4.0\">{}",
        "<directory><contents>".repeat(5_000)
    );
    refused(deep.as_bytes(), &[]);
}

#[test]
fn options_of_an_index_are_refused_without_one() {
    let desk = Desk::with_clips();
    desk.put("names.txt", "market\n");
    let label = format!("--ltfs-label {}", fixture("ltfs/TST001.label.xml"));
    for option in [
        "--files-from names.txt",
        "--files-from none.txt",
        "--all-files",
        "-0",
        "--ignore-missing",
        &label,
    ] {
        let name = option.split(' ').next().unwrap_or_default();
        desk.refused(&format!("{ORDER} clips.csv {option}"), &[name]);
    }
}

#[test]
fn priorities_and_deadlines_that_do_nothing_are_said() {
    let desk = Desk::new();
    desk.put(
        "r.csv",
        format!("{HEADER},priority,deadline\na,1,1,0,\nb,9000000,1,9,5\n"),
    );
    for (objective, said) in [
        (
            "total",
            Some("priorities and deadlines change nothing here"),
        ),
        ("mean", Some("deadlines change nothing here")),
        ("deadline", None),
    ] {
        let ran = desk.done(&format!("{ORDER} r.csv --objective {objective}"));
        let found = ran.err.contains("change nothing");
        assert_eq!(found, said.is_some(), "{objective}: {}", ran.err);
        assert!(ran.err.contains(said.unwrap_or_default()), "{}", ran.err);
    }
}

#[test]
fn maps_are_read_as_requests_are() {
    let desk = Desk::with_clips();
    let args = format!("{ORDER} clips.csv --map m.csv");
    desk.put("m.csv", "wrap;block\n0;3000000\n");
    desk.done(&args);
    desk.put("m.csv", b"wrap,block\n0,3\xe9\n");
    desk.refused(&args, &["m.csv: line 2", "UTF-8"]);
    desk.put("m.csv", "wrap,block\n0\n");
    desk.refused(&args, &["m.csv: line 2", "1 fields"]);
}

/// What would be ignored is refused: a script's directories without a script, a cartridge that is
/// named for some requests only, a format that was forced.
#[test]
fn nothing_that_was_asked_for_is_ignored() {
    let desk = Desk::with_clips();
    desk.refused(
        &format!("{ORDER} clips.csv --script-into back"),
        &["--script-into", "--to script"],
    );
    desk.put(
        "half.csv",
        "id,volume,start_block,block_count\na,T1,1,2\nb,,9,2\n",
    );
    desk.refused(
        &format!("{ORDER} half.csv"),
        &["1 request without a cartridge", "T1", "--volume"],
    );
    for option in ["--match name", "--strip-prefix /mnt", "--all-files", "-0"] {
        let words = [
            option.split(' ').next().unwrap_or(option),
            "needs an LTFS volume",
        ];
        desk.refused(&format!("{ORDER} clips.csv {option}"), &words);
        desk.refused(&format!("convert clips.csv {option}"), &words);
    }
    desk.refused(
        &format!("{ORDER} clips.csv --drives 3"),
        &["--drives is for several tapes"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --now 2026-11-21T12:00:00Z"),
        &["--now is for --objective deadline"],
    );
    desk.refused(
        &format!("{ORDER} clips.csv --coalesce 100"),
        &["--coalesce is for --algorithm sltf-coalesced"],
    );
    desk.done(&format!(
        "{ORDER} clips.csv --coalesce 100 --algorithm loss-coalesced"
    ));
    desk.refused(
        &format!("{ORDER} --format plan clips.csv"),
        &["read as plan, as --format says"],
    );
}

#[test]
fn a_device_that_a_mover_cannot_find_and_an_empty_log_are_refused_at_once() {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 1");
    desk.done("catalog init A --drive emulated:lib#drive0 --changer emulated:lib#changer");
    for device in [
        "--drive /dev/sg9999",
        "--drive emulated:no-such-library",
        "--changer /dev/sg9999",
    ] {
        let (_, name) = device.split_once(' ').expect("an option and a name");
        desk.refused(&format!("mover --archive A --until-idle {device}"), &[name]);
    }
    desk.put("empty.log", String::new());
    desk.refused(
        "simulate --from-log empty.log",
        &["empty.log: the file is empty"],
    );
}
