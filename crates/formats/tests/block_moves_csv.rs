//! CSV of moves by block numbers: units, separators, and what is refused.

use tapewise_formats::block_moves_csv::{BlockMove, read_block_moves};
use tapewise_model::Micros;

#[test]
fn a_time_reads_the_same_in_every_unit() {
    let expected = BlockMove {
        volume: "V01007".into(),
        from_block: 1_200,
        to_block: 90_000,
        took: Micros(41_500_000),
        line: 2,
    };
    for text in [
        "volume,from_block,to_block,locate_us\nV01007,1200,90000,41500000\n",
        "volume,from_block,to_block,locate_ms\nV01007,1200,90000,41500\n",
        "locate_s;to_block;drive;from_block;VOLUME\r\n 41.5 ;90000;d1;1200; V01007 \r\n",
    ] {
        assert_eq!(
            read_block_moves(text.as_bytes()).unwrap(),
            std::slice::from_ref(&expected)
        );
    }
}

#[test]
fn errors_name_line_and_column() {
    let header = "volume,from_block,to_block,locate_s";
    for (row, expected) in [
        (
            "V,1,2,-1",
            "line 3, column locate_s: \"-1\" is not a time between 0 and a day, in the unit of its column",
        ),
        (
            "V,1,2,86401",
            "line 3, column locate_s: \"86401\" is not a time between 0 and a day, in the unit of its column",
        ),
        (
            "V,x,2,1",
            "line 3, column from_block: \"x\" is not a block number, digits only",
        ),
        (
            " ,1,2,1",
            "line 3, column volume: \"\" is not the name of a volume",
        ),
    ] {
        let text = format!("{header}\nV,1,2,3\n{row}\n");
        assert_eq!(
            read_block_moves(text.as_bytes()).unwrap_err().to_string(),
            expected
        );
    }
}

#[test]
fn headers_without_a_column_or_with_two_times_are_refused() {
    for (header, expected) in [
        (
            "volume,from_block,locate_us",
            "line 1: no column to_block; the header has: volume, from_block, locate_us",
        ),
        (
            "volume,from_block,to_block",
            "line 1: no column locate_us (or locate_ms, locate_s); the header has: volume, from_block, to_block",
        ),
        (
            "volume,from_block,to_block,locate_s,locate_us",
            "columns locate_us and locate_s both give the time; keep one",
        ),
    ] {
        assert_eq!(
            read_block_moves(header.as_bytes()).unwrap_err().to_string(),
            expected
        );
    }
    let empty = read_block_moves(&b""[..]).unwrap_err().to_string();
    assert_eq!(
        empty,
        "the file is empty: expected a header line volume,from_block,to_block,locate_us"
    );
}
