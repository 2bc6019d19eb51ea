//! Measured locates: columns by name, units, and what is wrong with its line.

use tapewise_formats::locate_csv::{LocateRecord, read_locates};
use tapewise_model::Micros;

fn error(text: &str) -> String {
    read_locates(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn columns_stand_in_any_order_with_times_in_any_unit() {
    let expected = LocateRecord {
        volume: Some("L80001".into()),
        from_wrap: 3,
        from_lpos: 2_700,
        to_wrap: 207,
        to_lpos: 171_000,
        took: Micros(61_500_000),
        line: 2,
    };
    for text in [
        "volume,from_wrap,from_lpos,to_wrap,to_lpos,locate_us\nL80001,3,2700,207,171000,61500000\n",
        "locate_s;to_lpos;to_wrap;from_lpos;from_wrap;volume;who\n61.5;171000;207;2700;3;L80001;x\n",
        "\u{feff}locate_ms,to_lpos,to_wrap,from_lpos,from_wrap,volume\r\n61500.0,171000,207,2700,3, L80001 \r\n",
    ] {
        assert_eq!(
            read_locates(text.as_bytes()).unwrap(),
            std::slice::from_ref(&expected)
        );
    }
}

#[test]
fn all_missing_columns_are_named_at_once() {
    let error = error("\nfrom_wrap,from_lpos,wrap,lpos\n0,0,0,0\n");
    assert_eq!(
        error,
        "line 2: no column to_wrap, to_lpos, locate_us (or locate_ms, locate_s); \
         the header has: from_wrap, from_lpos, wrap, lpos"
    );
}

#[test]
fn what_is_no_number_or_no_time_is_named_by_line_and_column() {
    let header = "from_wrap,from_lpos,to_wrap,to_lpos,locate_us\n";
    let wrong = |row: &str| error(&format!("{header}0,0,0,0,0\n{row}\n"));
    assert!(wrong("0,0,70000,0,5").starts_with("line 3, column to_wrap: \"70000\" is not"));
    assert!(wrong("0,-1,0,0,5").starts_with("line 3, column from_lpos: \"-1\" is not"));
    assert!(wrong("0,0,0,0,-5").starts_with("line 3, column locate_us: \"-5\" is not a time"));
    assert!(wrong("0,0,0,5").starts_with("line 3: 4 fields, the header has 5"));
    assert!(error("").starts_with("the file is empty"));
    let twice = "from_wrap,from_lpos,to_wrap,to_lpos,locate_us,locate_s\n0,0,0,0,0,0\n";
    assert!(error(twice).contains("locate_us and locate_s both give the time"));
}
