//! Requests from CSV.

use tapewise_formats::csv_requests::{CsvError, read_csv};
use tapewise_formats::deadline::Deadline;
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::{Request, Requests, TableError, WrapLpos};

const BLOCKS: FieldOptions = FieldOptions {
    block_size: Some(1000),
};

fn read(text: &str) -> Requests {
    read_csv(text.as_bytes(), BLOCKS).expect(text)
}

fn error(text: &str) -> String {
    read_csv(text.as_bytes(), BLOCKS)
        .expect_err(text)
        .to_string()
}

fn one(text: &str) -> Request {
    let mut read = read(text);
    assert_eq!(read.requests.len(), 1);
    read.requests.remove(0)
}

#[test]
fn all_columns_are_read() {
    let request = one(
        "id,volume,path,partition,start_block,block_count,byte_offset,size_bytes,file_offset,start_wrap,start_lpos,\
         end_wrap,end_lpos,priority,deadline,sort_key,Colour\n\
         a,V1,/x/y,1,100,3,10,2500,7,4,171097,5,2696,-2,2026-11-21T04:01:25Z,9, red \n",
    );
    assert_eq!(
        (request.id.as_str(), request.priority, request.sort_key),
        ("a", -2, Some(9))
    );
    assert_eq!(
        (request.volume.as_deref(), request.path.as_deref()),
        (Some("V1"), Some("/x/y"))
    );
    assert!(matches!(request.deadline, Some(Deadline::At(_))));
    assert_eq!(request.extra, [("Colour".to_string(), " red ".to_string())]);
    let extent = &request.extents[0];
    assert_eq!(
        (extent.partition, extent.start_block, extent.block_count),
        (Some(1), 100, 3)
    );
    assert_eq!(
        (extent.byte_offset, extent.byte_count, extent.file_offset),
        (10, Some(2500), 7)
    );
    assert_eq!(
        extent.start,
        Some(WrapLpos {
            wrap: 4,
            lpos: 171_097
        })
    );
    assert_eq!(
        extent.end,
        Some(WrapLpos {
            wrap: 5,
            lpos: 2696
        })
    );
}

#[test]
fn the_three_ways_to_say_how_long_agree() {
    let count = |text| one(text).extents[0].block_count;
    assert_eq!(count("id,start_block,block_count\na,10,4\n"), 4);
    assert_eq!(count("id,start_block,end_block\na,10,13\n"), 4);
    assert_eq!(count("id,start_block,size_bytes\na,10,3001\n"), 4);
    assert_eq!(
        count("id,start_block,size_bytes,byte_offset\na,10,3001,999\n"),
        4
    );
    assert_eq!(
        count("id,start_block,size_bytes,byte_offset\na,10,3002,999\n"),
        5
    );
    assert_eq!(count("id,start_block,end_block,block_count\na,0,0,1\n"), 1);
}

#[test]
fn marks_line_ends_separators_and_case_do_not_matter() {
    for text in [
        "\u{feff}ID;Start_Block;Block_Count\r\na;1;2\r\n",
        "id\tstart_block\tblock_count\na\t1\t2",
        "\n\n\"id\",\"start_block\",\"block_count\"\n\n\"a\",\" 1 \",2\n\n",
        "id;start_block;block_count;\"a,b,c,d,e\"\na;1;2;x\n",
    ] {
        let request = one(text);
        assert_eq!(
            (request.id.as_str(), request.extents[0].block_count),
            ("a", 2),
            "{text}"
        );
    }
}

#[test]
fn without_an_id_column_the_path_or_the_row_number_is_used_and_told() {
    let with_path = read("path,start_block,block_count\nx/y,1,2\n");
    assert_eq!(with_path.requests[0].id, "x/y");
    assert!(
        with_path.notices[0]
            .text
            .contains("the path is used instead")
    );
    let without = read("start_block,block_count\n1,2\n3,4\n");
    assert_eq!(without.requests[1].id, "2");
    assert!(without.notices[0].text.contains("the number of the row"));
}

#[test]
fn rows_of_one_id_stay_requests_of_their_own_and_are_told() {
    let read = read("id,start_block,block_count\na,1,2\n\na,3,4\nb,7,1\n");
    assert_eq!(read.requests.len(), 3);
    assert_eq!(read.notices.len(), 1);
    assert_eq!(read.notices[0].code, "repeated-id");
    assert_eq!(
        read.notices[0].to_string(),
        "line 4: the id \"a\" is in line 2 too; each line is a request of its own"
    );
}

#[test]
fn a_file_without_blocks_is_a_request_without_extents() {
    assert!(one("id,start_block,size_bytes\na,,0\n").extents.is_empty());
    assert!(one("id,start_block,size_bytes\na,7,0\n").extents.is_empty());
    let sorted = one("id,sort_key\na,77\n");
    assert_eq!((sorted.sort_key, sorted.extents.len()), (Some(77), 0));
}

/// Where positions were missing, other programs fell back to the order of the list without a word (ltfs issue 334).
#[test]
fn ltfs_334_a_row_without_its_block_is_an_error_not_a_fallback() {
    let message = error("id,start_block,block_count\na,1,2\nb,,2\n");
    assert!(
        message.starts_with("line 3: start_block is empty: without its first block"),
        "{message}"
    );
}

#[test]
fn bad_fields_name_line_column_text_and_what_was_expected() {
    let head = "id,start_block,block_count,partition,start_wrap,start_lpos,priority,deadline\n";
    for (row, expected) in [
        (
            "a,x1,2,,,,,",
            "line 2: start_block is \"x1\", expected a whole number written with digits only",
        ),
        (
            "a,-1,2,,,,,",
            "start_block is \"-1\", expected a whole number that is not negative",
        ),
        (
            "a,1,18446744073709551616,,,,,",
            "block_count is \"18446744073709551616\", expected a whole number up to",
        ),
        ("a,1,0,,,,,", "block_count is \"0\", expected at least 1"),
        (
            "a,1,,,,,,",
            "block_count is empty: give block_count, end_block or size_bytes",
        ),
        (
            "a,18446744073709551615,2,,,,,",
            "2 blocks from start_block 18446744073709551615 end beyond 2^64",
        ),
        (
            "a,1,2,4,,,,",
            "partition is \"4\", expected a whole number from 0 to 3",
        ),
        ("a,1,2,,7,,,", "start_lpos is empty: a wrap needs its LPOS"),
        (
            "a,1,2,,65536,1,,",
            "start_wrap is \"65536\", expected a whole number from 0 to 65535",
        ),
        (
            "a,1,2,,,,high,",
            "priority is \"high\", expected a whole number, higher is sooner",
        ),
        ("a,1,2,,,,,soon", "deadline: \"soon\" is not a deadline"),
        (",1,2,,,,,", "line 2: id is empty"),
        (
            "a,1,2",
            "line 2: 3 fields, the header has 8: no partition; is a separator or a quote missing?",
        ),
        (
            "a,1,2,,,,,,",
            "line 2: 9 fields, the header has 8; does a field with a separator need quotes?",
        ),
    ] {
        let message = error(&format!("{head}{row}\n"));
        assert!(
            message.contains(expected),
            "{message}\nexpected: {expected}"
        );
    }
}

#[test]
fn fields_that_contradict_each_other_are_errors() {
    let message = error("id,start_block,end_block\na,10,9\n");
    assert!(
        message.contains("end_block 9 is before start_block 10"),
        "{message}"
    );
    let message = error("id,start_block,end_block,block_count\na,10,12,4\n");
    assert!(
        message.contains("disagree") && message.contains("that is 3 blocks"),
        "{message}"
    );
    let message = error("id,start_block,block_count,size_bytes\na,10,2,2001\n");
    assert!(
        message.contains("needs 3 blocks, the row has 2"),
        "{message}"
    );
    let message = error("id,start_block,block_count,byte_offset\na,10,2,1000\n");
    assert!(
        message.contains("not inside a block of 1000 bytes"),
        "{message}"
    );
    assert!(error("id,start_block,end_block\na,0,18446744073709551615\n").contains("beyond 2^64"));
}

#[test]
fn a_size_without_a_block_size_says_what_to_give() {
    let text = "id,start_block,size_bytes\na,1,5\n";
    let error = read_csv(text.as_bytes(), FieldOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("--block-size"), "{error}");
}

#[test]
fn bad_headers_say_what_was_found() {
    assert_eq!(
        error("id,block\na,1\n"),
        "line 1: no column start_block; the header has: id, block"
    );
    assert!(
        error("id,start_block\na,1\n").contains("no column block_count, end_block or size_bytes")
    );
    let message = error("id,start_block,block_count,ID\na,1,2,b\n");
    assert!(
        message.contains("the column \"ID\" twice (columns 1 and 4)"),
        "{message}"
    );
    assert!(error("").contains("expected a header line"));
    assert!(error(&"a,".repeat(2000)).contains("2001 columns, more than 1000"));
    let unnamed = read("id,start_block,block_count,\na,1,2,x\n");
    assert_eq!(
        (
            unnamed.notices[0].code.as_str(),
            unnamed.requests[0].extra.len()
        ),
        ("unnamed-column", 0)
    );
}

/// The csv crate's own line of a record is one too low after CRLF.
#[test]
fn lines_are_right_after_crlf_quotes_and_blank_lines() {
    for (text, line) in [
        (
            "id,start_block,block_count\r\na,1,2\r\nb,1,2\r\nc,x,2\r\n",
            4,
        ),
        ("id,start_block,block_count\r\n\r\n\r\nc,x,2", 4),
        ("id,start_block,block_count\n\"a\nb\",1,2\nc,x,2\n", 4),
        ("id,start_block,block_count\r\n\"a\r\nb\r\n\",x,2\r\n", 2),
        ("id,start_block,block_count\n\n\nc,x,2", 4),
    ] {
        let message = error(text);
        assert!(
            message.starts_with(&format!("line {line}:")),
            "{text:?}: {message}"
        );
    }
}

#[test]
fn what_is_not_text_is_refused() {
    let bytes = b"id,start_block,block_count\na\xff,1,2\n";
    let error = read_csv(&bytes[..], BLOCKS).unwrap_err().to_string();
    assert!(
        error.starts_with("line 2, column id: \"a\u{fffd}\" is not UTF-8"),
        "{error}"
    );
    let utf16 = read_csv(&b"\xff\xfei\0d\0"[..], BLOCKS).unwrap_err();
    assert!(matches!(utf16, CsvError::Table(TableError::Utf16)));
}

/// The rows behind an open quote would be part of one field, and missing without a word.
#[test]
fn a_quote_that_is_open_at_the_end_is_named_with_its_line() {
    let head = "id,start_block,block_count,note\n";
    for (rows, line) in [
        ("fine,1,1,\n\"a,1,1,\n", 3),
        ("fine,1,1,\n\"a,1,1,", 3),
        ("fine,1,1,\r\n\r\n\"a,1,1,\r\n", 4),
        ("\"two\nlines\",1,1,\"\"\"x\"\"\"\na,1,1,\"\nb,1,1,x\n", 4),
        ("\"two\nlines\",1,1,\"open\"\"\n", 3),
    ] {
        assert_eq!(
            error(&format!("{head}{rows}")),
            format!("line {line}: the quote that opens here is not closed"),
            "{rows:?}"
        );
    }
    assert_eq!(
        error("id,start_block,\"block_count\na,1,1\n"),
        "line 1: the quote that opens here is not closed"
    );
    // Quotes inside a field without quotes open nothing.
    assert_eq!(
        one(&format!("{head}5\" reel,1,1,\"x\"y\"\n")).id,
        "5\" reel"
    );
    // What is wrong before the quote is named first.
    assert!(error(&format!("{head}a,x,1,\n\"b,1,1,\n")).starts_with("line 2: start_block"));
}

#[test]
fn a_quote_that_is_never_closed_ends_early() {
    let head = &b"id,start_block,block_count\n\""[..];
    let endless = std::io::BufReader::new(std::io::Read::chain(head, std::io::repeat(b'a')));
    let error = read_csv(endless, BLOCKS).unwrap_err().to_string();
    assert!(error.contains("is a quote not closed?"), "{error}");
    let endless = std::io::BufReader::new(std::io::repeat(b'a'));
    assert!(matches!(
        read_csv(endless, BLOCKS),
        Err(CsvError::Table(TableError::TooLong { .. }))
    ));
}

#[test]
fn the_examples_in_the_documentation_are_read() {
    let page = &tapewise_house::page("reference/requests-csv.md");
    let mut examples = 0;
    for example in page.split("```csv\n").skip(1) {
        let read = read(example.split("```").next().unwrap());
        assert!(read.notices.is_empty() && !read.requests.is_empty());
        examples += 1;
    }
    assert_eq!(examples, 3);
}
