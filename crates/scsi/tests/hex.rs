//! Hex as people have it: dumps of several tools, mails, code.

use proptest::prelude::*;
use tapewise_scsi::hex::{dump, parse, plain};

#[test]
fn bytes_may_be_apart_in_any_way() {
    let expected = vec![0x70, 0x00, 0x05, 0xab];
    for text in [
        "70 00 05 ab",
        "700005AB",
        "0x70, 0x00, 0x05, 0xab",
        "70,00,05,ab",
        "7000 05ab",
        "70 00\n05 ab\n",
        "70 0 5 ab # a remark",
        "# sense\n70 00 - 05 ab",
    ] {
        assert_eq!(parse(text).as_ref(), Ok(&expected), "{text}");
    }
}

#[test]
fn a_dump_of_sg3_utils_loses_its_offsets_and_its_ascii() {
    let text = "\
 00     01 80 05 02 3b 01 01 20  49 42 4d 20 20 20 20 20    ....;.. IBM     \n\
 10     55 4c 54 33 35 38 30 2d  54 44 38 20 20 20 20 20    ULT3580-TD8     \n\
 20     48 42 39 39                                         HB99\n";
    let bytes = parse(text).unwrap();
    assert_eq!(bytes.len(), 36);
    assert_eq!(&bytes[8..11], b"IBM");
    assert_eq!(&bytes[32..], b"HB99");
}

#[test]
fn a_dump_of_xxd_is_read() {
    let text = "\
00000000: 4c37 3030 3633 4d02 0001 1a77 5600 0000  L70063M....wV...\n\
00000010: 0056                                     .V\n";
    let bytes = parse(text).unwrap();
    assert_eq!(bytes.len(), 18);
    assert_eq!(&bytes[..7], b"L70063M");
    assert_eq!(&bytes[16..], [0x00, 0x56]);
}

#[test]
fn a_line_that_only_looks_like_an_offset_is_data() {
    // No offset before it: the first byte is 00 and stands like the others.
    assert_eq!(parse("00 00 00 32").unwrap(), [0, 0, 0, 0x32]);
    assert_eq!(parse("0000 0032").unwrap(), [0, 0, 0, 0x32]);
}

#[test]
fn what_is_not_hex_is_named_with_its_line() {
    let error = parse("70 00\n05 no").unwrap_err();
    assert_eq!((error.line, error.word.as_str()), (2, "no"));
    assert_eq!(parse("700").unwrap_err().word, "700");
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(&parse(&plain(&bytes)).unwrap(), &bytes);
        prop_assert_eq!(&parse(&dump(&bytes)).unwrap(), &bytes);
    }

    #[test]
    fn no_text_makes_it_fail_otherwise_than_by_an_error(text in "\\PC{0,80}") {
        let _ = parse(&text);
    }
}
