//! What a written list refuses; that it reads back is tested with `list`.

use tapewise_formats::list::Separator;
use tapewise_formats::list_out::write_list;

fn refused(name: &[u8], separator: Separator) -> String {
    let mut out = Vec::new();
    let error = write_list(&mut out, [b"good".as_slice(), name], separator).unwrap_err();
    error.to_string()
}

#[test]
fn a_list_of_lines_refuses_what_it_cannot_hold_and_says_how_to_write_it() {
    let message = refused(b"a\nb", Separator::Newline);
    assert_eq!(
        message,
        "name 2 (\"a\\nb\") holds a line feed, which a list of lines cannot; write it NUL-separated"
    );
    assert!(refused(b"a\r", Separator::Newline).contains("carriage return"));
}

#[test]
fn no_list_holds_an_empty_name_or_a_zero_byte() {
    for separator in [Separator::Newline, Separator::Nul] {
        assert!(refused(b"", separator).contains("no file has such a name"));
        assert!(refused(b"a\0b", separator).contains("no file has such a name"));
    }
}

#[test]
fn names_are_written_as_they_are() {
    let mut out = Vec::new();
    write_list(&mut out, [&b"-a b"[..], b"\xff"], Separator::Newline).unwrap();
    assert_eq!(out, b"-a b\n\xff\n");
    out.clear();
    write_list(&mut out, ["a\nb"], Separator::Nul).unwrap();
    assert_eq!(out, b"a\nb\0");
}
