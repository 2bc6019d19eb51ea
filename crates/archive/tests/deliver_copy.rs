//! Files copied one after the other: those that can be had are whole, and each that cannot is told.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_archive::deliver::{
    Copied, CopyItem, DeliverError, Destination, Expected, InnerPath, copy,
};
use tapewise_archive::sums::{Kind, Sum};

/// Longer than what is read at once, and no multiple of it.
const LONG_BYTES: usize = (9 << 20) + 7;

/// Longer than all that is held between reading and writing.
const LONGER_BYTES: u64 = 160 << 20;

fn item(sources: &Path, name: &str, contents: &[u8]) -> CopyItem {
    let source = sources.join(name);
    std::fs::write(&source, contents).expect("a source");
    CopyItem {
        path: InnerPath::new(name).expect("a path"),
        source,
        expected: Expected {
            sums: vec![Sum::of(Kind::Xxh64, contents)],
            ..Expected::of(contents.len() as u64)
        },
    }
}

#[test]
fn what_can_be_had_is_whole_and_the_rest_is_told_in_its_order() {
    let directory = tempfile::tempdir().expect("a directory");
    let sources = tempfile::tempdir().expect("a directory");
    let destination = Destination::open(directory.path()).expect("a destination");
    let long: Vec<u8> = (0..LONG_BYTES).map(|at| (at * 7 % 251) as u8).collect();
    let first = item(sources.path(), "first", &long);
    let gone = item(sources.path(), "gone", b"was here");
    std::fs::remove_file(&gone.source).expect("removed");
    let wrong = item(sources.path(), "wrong", b"as it was");
    std::fs::write(&wrong.source, b"as it is.").expect("overwritten");
    let empty = item(sources.path(), "empty", b"");
    let last = item(sources.path(), "last", b"the last");
    let mut told = Vec::new();
    let items = [&first, &gone, &wrong, &empty, &last];
    copy(
        &items,
        &destination,
        &AtomicBool::new(false),
        &mut |copied| told.push(copied),
    );

    assert!(
        matches!(&told[0], Copied::Delivered(delivered, _) if delivered.bytes == LONG_BYTES as u64),
        "{told:?}"
    );
    assert!(
        matches!(&told[1], Copied::Unreadable(source, _) if *source == gone.source),
        "{told:?}"
    );
    assert!(
        matches!(&told[2], Copied::Failed(DeliverError::Mismatch { .. })),
        "{told:?}"
    );
    assert!(
        matches!(&told[3], Copied::Delivered(delivered, _) if delivered.bytes == 0),
        "{told:?}"
    );
    assert!(matches!(&told[4], Copied::Delivered(..)), "{told:?}");
    assert_eq!(told.len(), 5);
    assert_eq!(
        std::fs::read(directory.path().join("first")).expect("the first"),
        long
    );
    assert!(!directory.path().join("wrong").exists());
}

#[test]
fn a_flag_set_after_a_file_ends_the_copying_and_leaves_no_part() {
    let directory = tempfile::tempdir().expect("a directory");
    let sources = tempfile::tempdir().expect("a directory");
    let destination = Destination::open(directory.path()).expect("a destination");
    // More than all buffers together, so that the second file is still being read when the first is told.
    let second = item(sources.path(), "second", b"");
    let longer = std::fs::File::options().write(true).open(&second.source);
    longer
        .and_then(|file| file.set_len(LONGER_BYTES))
        .expect("a long file");
    let second = CopyItem {
        expected: Expected::of(LONGER_BYTES),
        ..second
    };
    let items = [item(sources.path(), "first", b"short"), second];
    let stop = AtomicBool::new(false);
    let mut delivered = 0;
    copy(&items.each_ref(), &destination, &stop, &mut |copied| {
        delivered += u32::from(matches!(copied, Copied::Delivered(..)));
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(delivered, 1);
    let names = std::fs::read_dir(directory.path()).expect("the directory");
    let names: Vec<_> = names
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names, ["first"]);
}
