//! Requests written as CSV read back as they were.

use proptest::prelude::*;
use tapewise_formats::csv_out::write_csv;
use tapewise_formats::csv_requests::read_csv;
use tapewise_formats::deadline::Deadline;
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::{Extent, Request, WrapLpos};

fn written(requests: &[Request]) -> String {
    let mut out = Vec::new();
    write_csv(&mut out, requests).unwrap();
    String::from_utf8(out).unwrap()
}

fn request(id: &str, blocks: &[(u64, u64)]) -> Request {
    let extent = |&(start_block, block_count): &(u64, u64)| Extent {
        start_block,
        block_count,
        ..Extent::default()
    };
    Request {
        id: id.to_string(),
        extents: blocks.iter().map(extent).collect(),
        ..Request::default()
    }
}

#[test]
fn only_columns_with_something_in_them_are_written() {
    let text = written(&[request("b", &[(7, 1)]), request("a", &[(1, 2)])]);
    assert_eq!(text, "id,start_block,block_count\nb,7,1\na,1,2\n");
}

#[test]
fn several_extents_become_rows_and_none_becomes_a_size_of_zero() {
    let mut two = request("two", &[(7, 1), (9, 2)]);
    two.extents[1].file_offset = 500;
    two.extra = vec![("x".to_string(), "1,5".to_string())];
    let text = written(&[two, request("none", &[])]);
    assert_eq!(
        text,
        "id,start_block,block_count,size_bytes,file_offset,x\n\
         two,7,1,,,\"1,5\"\ntwo,9,2,,500,\"1,5\"\nnone,,,0,,\n"
    );
}

#[test]
fn an_extra_column_may_not_take_a_name_of_ours() {
    let mut bad = request("a", &[(1, 1)]);
    bad.extra = vec![("Priority".to_string(), "1".to_string())];
    let error = write_csv(&mut Vec::new(), &[bad]).unwrap_err().to_string();
    assert!(error.contains("extra column \"Priority\""), "{error}");
}

fn any_position() -> impl Strategy<Value = Option<WrapLpos>> {
    prop::option::of((any::<u16>(), any::<u32>()).prop_map(|(wrap, lpos)| WrapLpos { wrap, lpos }))
}

fn any_extent() -> impl Strategy<Value = Extent> {
    let place = (
        prop::option::of(0..4_u8),
        any::<u32>(),
        1..1000_u64,
        0..5000_u64,
    );
    let size = (prop::option::of(1..100_000_u64), any::<u32>());
    (place, size, any_position(), any_position()).prop_map(
        |(
            (partition, start_block, block_count, byte_offset),
            (byte_count, file_offset),
            start,
            end,
        )| Extent {
            partition,
            start_block: u64::from(start_block),
            block_count,
            byte_offset,
            byte_count,
            file_offset: u64::from(file_offset),
            start,
            end,
        },
    )
}

fn any_request() -> impl Strategy<Value = Request> {
    // Any text is a name, blanks, quotes, separators and line ends included.
    let names = (
        "\\PC{1,8}|[a\"',;\\t\r\n ]{1,6}",
        prop::option::of("[A-Z0-9]{6}"),
        prop::option::of("[^\0]{1,9}"),
    );
    let when = prop_oneof![
        Just(None),
        (0..1_000_000_u32).prop_map(|s| Some(Deadline::Seconds(f64::from(s) / 8.0))),
        Just(Deadline::parse("2026-11-21T04:01:25.5+01:00").ok()),
    ];
    let rest = (
        any::<i64>(),
        when,
        prop::option::of(any::<u64>()),
        "[^\0]{0,9}",
    );
    (names, prop::option::of(any_extent()), rest).prop_map(
        |((id, volume, path), extent, (priority, deadline, sort_key, extra))| Request {
            id,
            volume,
            path,
            extents: extent.into_iter().collect(),
            priority,
            deadline,
            sort_key,
            extra: vec![("My Column".to_string(), extra)],
        },
    )
}

proptest! {
    #[test]
    fn requests_read_back_as_they_were(requests in prop::collection::vec(any_request(), 1..12)) {
        let text = written(&requests);
        let read = read_csv(text.as_bytes(), FieldOptions::default());
        prop_assert_eq!(read.map_err(|e| format!("{e}\n{text}")).unwrap().requests, requests);
    }

    #[test]
    fn any_text_as_csv_never_panics(text in "[a,;\"\r\n0-9-]{0,80}") {
        let text = format!("id,start_block,end_block,size_bytes\n{text}");
        let _ = read_csv(text.as_bytes(), FieldOptions { block_size: Some(7) });
    }
}
