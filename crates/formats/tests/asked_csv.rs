//! What was asked of a library: what each column may say, what may be left out, and what is wrong with its line.

use tapewise_formats::asked_csv::{Asked, is_asked, read_asked};

fn read(text: &str) -> Vec<Asked> {
    read_asked(text.as_bytes()).unwrap()
}

fn error(text: &str) -> String {
    read_asked(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn every_column_is_read_in_any_order() {
    let text = "library;place;owner;cartridge;drive;size_mb;arrived_s;priority;response_s;colour;activity;case\n\
        north;0.5;ana;TW0001;d3;1500;12.5;255;90;red;production;now\n";
    let expected = Asked {
        arrived_s: 12.5,
        cartridge: "TW0001".into(),
        response_s: Some(90.0),
        size_mb: Some(1500.0),
        place: Some(0.5),
        priority: 255,
        owner: Some("ana".into()),
        activity: Some("production".into()),
        drive: Some("d3".into()),
        library: Some("north".into()),
        case: Some("now".into()),
    };
    assert_eq!(read(text), [expected]);
}

#[test]
fn what_may_be_left_out_is_not_known_and_priority_is_0() {
    let without_columns = read("arrived_s,cartridge\n0,A\n");
    let without_values = read("arrived_s,cartridge,response_s,priority,owner\n,,,,\n0,A, ,,\n");
    assert_eq!(without_columns, without_values);
    let [one] = without_columns.as_slice() else {
        panic!("one request");
    };
    assert_eq!((one.response_s, one.priority), (None, 0));
    assert_eq!(
        (&one.owner, &one.activity, &one.drive, &one.library),
        (&None, &None, &None, &None)
    );
}

#[test]
fn a_header_tells_such_a_table_from_others() {
    assert!(is_asked("\u{feff}ARRIVED_S,Cartridge\n"));
    assert_eq!(read("ARRIVED_S,Cartridge\n1,A\n").len(), 1);
    assert!(is_asked("cartridge,\"arrived_s\""));
    assert!(is_asked("arrived_s;cartridge"));
    assert!(!is_asked("id,start_block,arrived"));
}

#[test]
fn what_is_wrong_is_named_with_line_and_column() {
    assert_eq!(
        error(""),
        "the file is empty: expected a header line with arrived_s and cartridge"
    );
    assert_eq!(
        error("arrived_s,tape\n1,A\n"),
        "line 1: no column cartridge; the header has: arrived_s, tape"
    );
    let head = "arrived_s,cartridge,response_s,place,priority";
    for (row, said) in [
        (
            "-1,A,,,",
            "column arrived_s: \"-1\" is not a number of seconds, 0 or more",
        ),
        ("nan,A,,,", "column arrived_s"),
        (
            "1, ,,,",
            "column cartridge: \"\" is not the name of a cartridge",
        ),
        (
            "1,A,soon,,",
            "column response_s: \"soon\" is not a number of seconds, 0 or more",
        ),
        (
            "1,A,,1.01,",
            "column place: \"1.01\" is not a share from 0 to 1",
        ),
        (
            "1,A,,,256",
            "column priority: \"256\" is not a number from 0 to 255",
        ),
    ] {
        let error = error(&format!("{head}\n0,A,,,\n{row}\n"));
        assert!(
            error.starts_with("line 3, ") && error.contains(said),
            "{row}: {error}"
        );
    }
}
