//! Bootstrap files of Bareos and Bacula.

use tapewise_formats::bsr::{bsr_requests, read_bsr};

const BOOTSTRAP: &str = "# 2024-01-02 03:04:05 - Full.job\r\n\
    Storage=\"Tape\"\r\nVolume=\"A00012L8\"\r\nMediaType=\"LTO-8\"\r\nSlot=3\r\nVolSessionId=7\r\n\
    VolSessionTime=1704164645\r\nVolAddr=12884901888-12884902000\r\nFileIndex=1-10,12\r\nCount=11\r\n\r\n\
    Volume = A00013L8|A00014L8\nVolFile=2-3\nVolBlock=5-900\nClient=fd\nWeather=fine\nVolume=A00015L8\nCount=1\n";

#[test]
fn records_are_read() {
    let (records, notices) = read_bsr(BOOTSTRAP.as_bytes()).unwrap();
    assert_eq!(records.len(), 3);
    let first = &records[0];
    assert_eq!(
        (first.line, first.volume.as_str(), first.slot, first.count),
        (3, "A00012L8", Some(3), Some(11))
    );
    assert_eq!(
        (first.storage.as_deref(), first.media_type.as_deref()),
        (Some("Tape"), Some("LTO-8"))
    );
    assert_eq!(first.addresses, [(12_884_901_888, 12_884_902_000)]);
    assert_eq!(first.file_indexes, [(1, 10), (12, 12)]);
    let codes: Vec<_> = notices.iter().map(|n| n.code.as_str()).collect();
    assert_eq!(codes, ["bsr-filter", "bsr-keyword"]);
}

/// An address counts from filemarks. Taking it for a logical block would send the drive to a wrong place.
#[test]
fn addresses_sort_and_never_become_blocks() {
    let (records, _) = read_bsr(BOOTSTRAP.as_bytes()).unwrap();
    let read = bsr_requests(&records);
    let seen: Vec<_> = read
        .requests
        .iter()
        .map(|r| (r.id.as_str(), r.sort_key))
        .collect();
    assert_eq!(
        seen,
        [
            ("A00012L8:3:0", Some(3 << 32)),
            ("A00013L8:2:5", Some((2 << 32) + 5)),
            ("A00015L8", None)
        ]
    );
    assert!(read.requests.iter().all(|r| r.extents.is_empty()));
    let codes: Vec<_> = read.notices.iter().map(|n| n.code.as_str()).collect();
    assert_eq!(codes, ["sort-key-only", "bsr-volumes", "bsr-no-address"]);
}

#[test]
fn errors_name_line_and_keyword() {
    for (text, expected) in [
        (
            "Volume=A\nVolAddr=5-x",
            "line 2: voladdr is \"x\", expected a whole number written with digits only",
        ),
        (
            "Volume=A\nVolAddr=9-5",
            "line 2: voladdr ends at 5, before it begins at 9",
        ),
        (
            "VolAddr=1-2\n",
            "line 1: VolAddr stands before the first Volume",
        ),
        (
            "Volume=A\nhello\n",
            "line 2: \"hello\" is not Keyword=value",
        ),
        ("# nothing\n", "there is no Volume in it"),
        ("Volume=A\nSlot=-1", "not negative"),
    ] {
        let message = read_bsr(text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    assert!(read_bsr(std::io::BufReader::new(std::io::repeat(b'a'))).is_err());
}
