#[test]
fn toy() {
    let found = tapewise_formats::detect(b"PAIRS\n10 5\n", None);
    assert_eq!(found.format.name, "pairs");
    let tapewise_formats::Content::Requests { read, .. } = found.format.content else { panic!() };
    let read = read(&mut &b"PAIRS\n10 5\n7 1\n"[..], Default::default()).unwrap();
    assert_eq!(read.requests.len(), 2);
    assert_eq!(read.requests[0].extents[0].block_count, 5);
    let wrong = tapewise_formats::detect(b"PAIRS\n", None);
    let tapewise_formats::Content::Requests { read, .. } = wrong.format.content else { panic!() };
    assert!(read(&mut &b"PAIRS\nx\n"[..], Default::default()).is_err());
}
