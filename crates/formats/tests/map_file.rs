//! Maps of one cartridge.

use tapewise_formats::map_file::{MapFile, ProbedPlace, read_map, write_map};
use tapewise_model::{EndOfWrap, KeyPoints};

fn read(text: &str) -> MapFile {
    read_map(text.as_bytes()).expect(text)
}

fn error(bytes: impl AsRef<[u8]>) -> String {
    read_map(bytes.as_ref()).unwrap_err().to_string()
}

fn end(wrap: u16, partition: u8, block: u64) -> EndOfWrap {
    EndOfWrap {
        wrap,
        partition,
        block,
    }
}

#[test]
fn a_table_of_wrap_ends_is_known_by_its_columns() {
    let read = read("block,Wrap,partition\n1623,0,0\n208310,4,1\n");
    let expected = vec![end(0, 0, 1_623), end(4, 1, 208_310)];
    assert_eq!(read, MapFile::EndOfWrap(expected));
}

#[test]
fn with_lpos_the_rows_are_places_that_the_drive_reported() {
    let expected = vec![ProbedPlace {
        partition: 1,
        block: 208_400,
        wrap: 5,
        lpos: 170_311,
    }];
    let read = read("partition,block,wrap,lpos\n1,208400,5,170311\n");
    assert_eq!(read, MapFile::Probed(expected));
}

#[test]
fn every_kind_of_map_is_read_back_as_it_was_written() {
    for text in [
        "partition,wrap,block\n0,0,1623\n1,4,208310\n",
        "partition,block,wrap,lpos\n0,0,0,2696\n0,208400,1,170311\n",
        "track,segment\n0,0\n0,700\n1,1270\n1,1838\n2,2542\n",
    ] {
        let mut written = Vec::new();
        write_map(&mut written, &read(text)).expect("a writer that takes everything");
        assert_eq!(String::from_utf8_lossy(&written), text);
    }
}

#[test]
fn key_points_end_with_the_end_of_the_tape() {
    let read = read("track,segment\n0,0\n0,700\n1,1270\n1,1838\n2,2542\n");
    let expected = KeyPoints::new(vec![vec![0, 700], vec![1_270, 1_838]], 2_542).unwrap();
    assert_eq!(read, MapFile::KeyPoints(expected));
}

#[test]
fn marks_line_ends_separators_and_other_columns_do_not_matter() {
    let expected = MapFile::EndOfWrap(vec![end(0, 0, 10), end(1, 0, 20)]);
    for text in [
        "wrap;block\n0;10\n1;20\n",
        "wrap\tblock\n0\t10\n1\t20",
        "\u{feff}WRAP;Block\r\n0;10\r\n\r\n1;20\r\n",
        "\n\"wrap\", block ,by\n\"0\", 10 ,\"a;b;c\"\n1,20,\n",
    ] {
        assert_eq!(read(text), expected, "{text:?}");
    }
}

#[test]
fn errors_name_line_and_column() {
    let message = error("wrap,block\n0,1\n1,x\n");
    assert!(
        message.starts_with("line 3, column block: \"x\" is not a number from 0 to"),
        "{message}"
    );
    assert!(error("wrap;block\r\n0;1\r\n1;+2\r\n").contains("line 3, column block: \"+2\""));
    assert!(
        error("wrap,block,partition\n0,1,4\n")
            .ends_with("column partition: \"4\" is not a number from 0 to 3")
    );
    assert!(error("a,b\n0,1\n").contains("the columns are a,b; expected"));
    assert!(error("wrap,block,Wrap\n").contains("the column \"Wrap\" twice (columns 1 and 3)"));
    for nothing in ["", "\n"] {
        assert!(
            error(nothing)
                .starts_with("the file is empty: expected a header line with wrap and block")
        );
    }
    for header in ["wrap,block\n", "track,segment\n"] {
        assert_eq!(error(header), "the map has no rows");
    }
}

#[test]
fn rows_of_another_length_are_named_with_what_is_missing() {
    assert_eq!(
        error("wrap,block\n0\n"),
        "line 2: 1 fields, the header has 2: no block; is a separator or a quote missing?"
    );
    assert!(error("wrap,block\n0,1\n1,2,3\n").starts_with("line 3: 3 fields, the header has 2"));
    assert_eq!(
        error("wrap,block\n0,1\n\"1,2\n"),
        "line 3: the quote that opens here is not closed"
    );
}

#[test]
fn what_is_not_utf_8_is_named_with_its_line() {
    assert_eq!(
        error(b"wrap,block\n0,3\xe9\n"),
        "line 2, column block: \"3\u{fffd}\" is not UTF-8; save the file as UTF-8"
    );
    assert!(error(b"wrap,block,caf\xe9\n").starts_with("line 1, column 3: "));
    let utf_16: Vec<u8> = "\u{feff}wrap,block\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert!(error(utf_16).contains("UTF-16 text; save it as CSV UTF-8"));
}

#[test]
fn key_points_that_do_not_fit_are_named_with_their_line() {
    let wrong = |rows: &str, expected: &str| {
        let message = error(format!("track,segment\n{rows}"));
        assert!(
            message.starts_with(expected),
            "{message}\nexpected: {expected}"
        );
    };
    wrong("0,0\n2,7\n", "line 3: track 2 follows track 0");
    wrong(
        "1,0\n2,7\n",
        "line 2: track 1 is the first; tracks count from 0",
    );
    wrong(
        "0,5\n1,7\n",
        "line 2: the first key point must be segment 0",
    );
    wrong(
        "0,0\n0,700\n1,600\n1,1838\n2,2542\n",
        "line 4: key point 600 is not after key point 700",
    );
    let counts = "every track must have 2 key points, as track 0 has";
    wrong(
        "0,0\n0,7\n1,8\n1,9\n1,10\n2,11\n",
        &format!("line 6: {counts}"),
    );
    wrong(
        "0,0\n0,7\n1,8\n2,9\n2,10\n3,11\n",
        &format!("line 5: {counts}"),
    );
    let end = "the last row must be the track after the last one";
    wrong("0,0\n0,7\n1,8\n1,9\n", &format!("line 5: {end}"));
    wrong("0,0\n", &format!("line 2: {end}"));
}

#[test]
fn the_examples_in_the_documentation_are_read() {
    let page = &tapewise_house::page("reference/map-csv.md");
    let examples: Vec<&str> = page.split("```csv\n").skip(1).collect();
    for example in &examples {
        read(example.split("```").next().unwrap());
    }
    assert_eq!(examples.len(), 4);
}
