//! Requests from JSON Lines.

use proptest::prelude::*;
use tapewise_formats::LineError;
use tapewise_formats::Requests;
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::jsonl::{JsonLinesError, read_json_lines};

const BLOCKS: FieldOptions = FieldOptions {
    block_size: Some(1000),
};

fn read(text: &str) -> Requests {
    read_json_lines(text.as_bytes(), BLOCKS).expect(text)
}

fn error(text: &str) -> String {
    read_json_lines(text.as_bytes(), BLOCKS)
        .expect_err(text)
        .to_string()
}

#[test]
fn the_fields_are_those_of_the_csv() {
    let read = read(
        "\u{feff}{\"id\": 17, \"Start_Block\": \"5\", \"end_block\": 6, \"priority\": -1, \"deadline\": 90, \"volume\": null}\r\n\n\
         {\"path\": \"x\", \"start_block\": 7, \"size_bytes\": 1, \"tags\": [1, \"a\"], \"n\": 2}\n",
    );
    assert_eq!(
        (read.requests[0].id.as_str(), read.requests[0].priority),
        ("17", -1)
    );
    assert_eq!(read.requests[0].extents[0].block_count, 2);
    assert_eq!(read.requests[1].id, "x");
    let extra = [("tags", "[1,\"a\"]"), ("n", "2")].map(|(n, t)| (n.to_string(), t.to_string()));
    assert_eq!(read.requests[1].extra, extra);
    assert_eq!(read.notices.len(), 1);
    assert_eq!(
        read.notices[0].to_string(),
        "line 3: no id; the path is used instead"
    );
}

#[test]
fn extents_keep_their_order() {
    let read = read(
        "{\"id\":\"a\",\"extents\":[{\"partition\":1,\"start_block\":9,\"size_bytes\":1500,\"file_offset\":0},\
         {\"start_block\":3,\"block_count\":2,\"file_offset\":1500,\"x\":1}]}\n{\"id\":\"b\",\"extents\":[]}",
    );
    let starts: Vec<_> = read.requests[0]
        .extents
        .iter()
        .map(|e| (e.start_block, e.block_count))
        .collect();
    assert_eq!(starts, [(9, 2), (3, 2)]);
    assert!(read.requests[1].extents.is_empty());
    assert_eq!(read.notices[0].code, "unknown-extent-field");
}

#[test]
fn errors_name_line_extent_and_field() {
    for (text, expected) in [
        ("{\"id\":1}", "line 1: start_block is empty"),
        (
            "\n{\"id\":\"a\",\"start_block\":-4,\"block_count\":1}",
            "line 2: start_block is \"-4\"",
        ),
        (
            "{\"id\":\"a\",\"start_block\":1.5,\"block_count\":1}",
            "digits only",
        ),
        (
            "{\"id\":\"a\",\"start_block\":true,\"block_count\":1}",
            "expected a number or a text",
        ),
        ("{\"id\":\"a\",\"id\":\"b\"}", "\"id\" stands twice"),
        (
            "{\"id\":\"a\",\"start_block\":1,\"extents\":[]}",
            "start_block stands beside extents",
        ),
        (
            "{\"id\":\"a\",\"extents\":{}}",
            "extents is \"{}\", expected a list of objects",
        ),
        (
            "{\"id\":\"a\",\"extents\":[{\"start_block\":1,\"block_count\":1},{\"start_block\":1}]}",
            "line 1, extent 2: block_count is empty",
        ),
        ("[1]", "each line is one JSON object"),
        (
            "{\"id\":\"a\"",
            "line 1, column 9: EOF while parsing an object",
        ),
        ("{\"id\":\"\u{0}\"}", "each line is one JSON object"),
    ] {
        let message = error(text);
        assert!(
            message.contains(expected),
            "{message}\nexpected: {expected}"
        );
    }
}

#[test]
fn a_line_without_end_and_deep_nesting_are_errors() {
    let endless = std::io::BufReader::new(std::io::repeat(b'{'));
    let error = read_json_lines(endless, BLOCKS).unwrap_err();
    assert!(matches!(
        error,
        JsonLinesError::Line(LineError::TooLong { line: 1, .. })
    ));
    let deep = format!("{{\"id\":\"a\",\"x\":{}", "[".repeat(100_000));
    assert!(read_json_lines(deep.as_bytes(), BLOCKS).is_err());
}

proptest! {
    #[test]
    fn any_text_never_panics(text in "[{}\\[\\]\":,a-z0-9\n-]{0,100}") {
        let _ = read_json_lines(text.as_bytes(), BLOCKS);
    }
}

#[test]
fn the_example_in_the_documentation_is_read() {
    let page = &tapewise_house::page("reference/requests-csv.md");
    let example = page
        .split("```json\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let extents: Vec<_> = read(example)
        .requests
        .iter()
        .map(|r| r.extents.len())
        .collect();
    assert_eq!(extents, [1, 2]);
}

#[test]
fn utf_16_is_called_that() {
    for bytes in [&b"\xff\xfe{\0\"\0"[..], b"\xfe\xff\0{\0\""] {
        let error = read_json_lines(bytes, FieldOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the file is UTF-16 text; save it as UTF-8"
        );
    }
}

#[test]
fn lines_of_one_id_stay_requests_of_their_own_and_are_told() {
    let read = read(
        r#"{"id": "a", "start_block": 1, "block_count": 2}

{"id": "a", "start_block": 3, "block_count": 4}"#,
    );
    assert_eq!(read.requests.len(), 2);
    assert_eq!(
        read.notices[0].to_string(),
        "line 3: the id \"a\" is in line 1 too; each line is a request of its own"
    );
}
