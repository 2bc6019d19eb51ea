//! Files appear in a destination whole and verified, or not at all.

use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use tapewise_archive::deliver::{
    DeliverError, Destination, Expected, InnerPath, Metadata, Outcome, Presence, Problem, Sameness,
};
use tapewise_archive::sums::{Kind, Sum};
use tempfile::TempDir;

fn destination() -> (TempDir, Destination) {
    let directory = tempfile::tempdir().expect("a directory");
    let destination = Destination::open(directory.path()).expect("a destination");
    (directory, destination)
}

fn path(text: &str) -> InnerPath {
    InnerPath::new(text).expect("a path")
}

fn expected(contents: &[u8], kinds: &[Kind]) -> Expected {
    Expected {
        sums: kinds.iter().map(|&kind| Sum::of(kind, contents)).collect(),
        ..Expected::of(contents.len() as u64)
    }
}

/// Every name below a directory, hidden ones too.
fn names(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        names.push(entry.file_name().to_string_lossy().into_owned());
        if entry.file_type().expect("a type").is_dir() {
            names.extend(self::names(&entry.path()));
        }
    }
    names.sort();
    names
}

fn deliver(destination: &Destination, name: &str, contents: &[u8], kinds: &[Kind]) -> Outcome {
    let mut delivery = destination
        .begin(&path(name), expected(contents, kinds))
        .expect("a delivery");
    delivery.write(contents).expect("written");
    delivery.finish().expect("delivered").outcome
}

#[test]
fn a_file_is_not_seen_before_it_is_whole() {
    let (directory, destination) = destination();
    let mut delivery = destination
        .begin(&path("a/b/clip"), expected(b"whole", &[Kind::Md5]))
        .expect("a delivery");
    delivery.write(b"who").expect("written");
    assert!(!directory.path().join("a/b/clip").exists());
    delivery.write(b"le").expect("written");
    let delivered = delivery.finish().expect("delivered");
    assert_eq!(delivered.outcome, Outcome::Verified);
    assert_eq!(names(directory.path()), ["a", "b", "clip"]);
}

#[test]
fn a_file_without_a_known_sum_is_unverified() {
    let (_directory, destination) = destination();
    assert_eq!(
        deliver(&destination, "clip", b"x", &[]),
        Outcome::Unverified
    );
    let mut wanted = expected(b"film", &[]);
    wanted.also = vec![Kind::Sha256];
    let mut delivery = destination
        .begin(&path("summed"), wanted)
        .expect("a delivery");
    delivery.write(b"film").expect("written");
    let delivered = delivery.finish().expect("delivered");
    assert_eq!(delivered.outcome, Outcome::Unverified);
    assert_eq!(delivered.sums, [Sum::of(Kind::Sha256, b"film")]);
}

#[test]
fn a_wrong_sum_leaves_nothing_and_names_both() {
    let (directory, destination) = destination();
    let kinds = [Kind::Xxh64, Kind::Sha1];
    let mut delivery = destination
        .begin(&path("clip"), expected(b"right", &kinds))
        .expect("a delivery");
    delivery.write(b"wrong").expect("written");
    let error = delivery.finish().expect_err("another content");
    let text = error.to_string();
    for sum in [
        Sum::of(Kind::Xxh64, b"right"),
        Sum::of(Kind::Xxh64, b"wrong"),
    ] {
        assert!(text.contains(&sum.to_string()), "{text}");
    }
    assert!(names(directory.path()).is_empty());
}

#[test]
fn too_much_and_too_little_are_errors() {
    let (directory, destination) = destination();
    let begin = || {
        destination
            .begin(&path("clip"), Expected::of(10))
            .expect("a delivery")
    };
    let mut delivery = begin();
    let beyond = delivery.write_at(8, b"abc").expect_err("beyond its length");
    assert!(matches!(
        beyond,
        DeliverError::Beyond {
            end: 11,
            bytes: 10,
            ..
        }
    ));
    drop(delivery);
    let mut delivery = begin();
    delivery.write_at(0, b"ab").expect("written");
    delivery.write_at(6, b"abcd").expect("written");
    let short = delivery.finish().expect_err("a gap");
    assert!(matches!(short, DeliverError::Short { from: 2, to: 6, .. }));
    assert!(names(directory.path()).is_empty());
}

#[test]
fn holes_are_zeros_and_take_no_room() {
    let (directory, destination) = destination();
    let bytes = 64 << 20;
    let mut contents = vec![0; bytes];
    contents[1 << 20..(1 << 20) + 5].copy_from_slice(b"start");
    contents[40 << 20..(40 << 20) + 3].copy_from_slice(b"end");
    for (name, order) in [("in order", [0, 1]), ("out of order", [1, 0])] {
        let pieces: [(u64, &[u8]); 2] = [(1 << 20, b"start"), (40 << 20, b"end")];
        let mut wanted = expected(&contents, &[Kind::Xxh3, Kind::Crc32c]);
        wanted.sparse = true;
        let mut delivery = destination.begin(&path(name), wanted).expect("a delivery");
        for at in order {
            delivery
                .write_at(pieces[at].0, pieces[at].1)
                .expect("written");
        }
        assert_eq!(
            delivery.finish().expect("delivered").outcome,
            Outcome::Verified
        );
        let there = fs::metadata(directory.path().join(name)).expect("a file");
        assert_eq!(there.len(), bytes as u64);
        assert!(there.blocks() * 512 < 1 << 20, "{} blocks", there.blocks());
    }
}

#[test]
fn a_delivery_that_is_dropped_leaves_no_file() {
    let (directory, destination) = destination();
    let mut delivery = destination
        .begin(&path("clip"), Expected::of(5))
        .expect("a delivery");
    delivery.write(b"hal").expect("written");
    assert_eq!(names(directory.path()).len(), 1);
    drop(delivery);
    assert!(names(directory.path()).is_empty());
}

/// The name under which a file is written.
fn working_name(of: &str) -> String {
    let (directory, destination) = destination();
    let delivery = destination.begin(&path(of), Expected::of(5));
    let delivery = delivery.expect("a delivery");
    let name = names(directory.path()).remove(0);
    drop(delivery);
    name
}

#[test]
fn what_a_killed_delivery_left_is_removed_by_the_next() {
    let (directory, destination) = destination();
    let delivery = destination.begin(&path("clip"), Expected::of(5));
    let mut delivery = delivery.expect("a delivery");
    delivery.write(b"hal").expect("written");
    // A process that is killed removes nothing, and its locks go.
    let part = directory.path().join(working_name("clip"));
    let aside = directory.path().join("aside");
    fs::hard_link(&part, &aside).expect("a link");
    drop(delivery);
    fs::rename(&aside, &part).expect("back again");
    deliver(&destination, "clip", b"whole", &[Kind::Md5]);
    assert_eq!(names(directory.path()), ["clip"]);
}

#[test]
fn a_file_that_is_called_like_a_working_name_is_neither_written_to_nor_removed() {
    let (directory, destination) = destination();
    let part = working_name("clip");
    let outside = tempfile::tempdir().expect("a directory");
    let precious = outside.path().join("precious");
    fs::write(&precious, "precious").expect("a file");
    fs::hard_link(&precious, directory.path().join(&part)).expect("a link");
    deliver(&destination, "clip", b"whole", &[Kind::Md5]);
    assert_eq!(names(directory.path()), [part.as_str(), "clip"]);
    assert_eq!(fs::read(&precious).expect("a file"), b"precious");
    // The same with a symbolic link, and with one that was itself delivered.
    let other = working_name("other");
    std::os::unix::fs::symlink(&precious, directory.path().join(&other)).expect("a link");
    deliver(&destination, "other", b"whole", &[Kind::Md5]);
    let third = working_name("third");
    deliver(&destination, &third, b"film!", &[Kind::Md5]);
    deliver(&destination, "third", b"whole", &[Kind::Md5]);
    for name in [
        part,
        other,
        third.clone(),
        "other".to_owned(),
        "third".to_owned(),
    ] {
        assert!(names(directory.path()).contains(&name), "{name} is gone");
    }
    let film = fs::read(directory.path().join(&third)).expect("a file");
    assert_eq!(film, b"film!");
    assert_eq!(fs::read(&precious).expect("a file"), b"precious");
}

#[test]
fn two_deliveries_of_one_file_do_not_meet() {
    let (directory, destination) = destination();
    let begin = || destination.begin(&path("clip"), Expected::of(5));
    let mut first = begin().expect("a delivery");
    assert!(matches!(begin(), Err(DeliverError::Busy { .. })));
    first.write(b"first").expect("written");
    first.finish().expect("delivered");
    assert!(matches!(begin(), Err(DeliverError::Exists { .. })));
    assert_eq!(names(directory.path()), ["clip"]);
}

#[test]
fn what_is_there_is_never_replaced_unless_told() {
    let (directory, destination) = destination();
    let file = directory.path().join("clip");
    fs::write(&file, "older").expect("a file");
    let begin = |destination: &Destination| destination.begin(&path("clip"), Expected::of(3));
    let error = begin(&destination).expect_err("a file is there");
    assert!(error.to_string().contains("5 bytes, not 3"), "{error}");
    let mut delivery = begin(&destination.clone().replacing()).expect("a delivery");
    delivery.write(b"new").expect("written");
    assert_eq!(fs::read(&file).expect("a file"), b"older");
    delivery.finish().expect("delivered");
    assert_eq!(fs::read(&file).expect("a file"), b"new");
    fs::create_dir(directory.path().join("reel")).expect("a directory");
    let onto = destination
        .replacing()
        .begin(&path("reel"), Expected::of(3));
    assert!(
        onto.expect_err("a directory")
            .to_string()
            .contains("is a directory")
    );
}

#[test]
fn a_name_taken_meanwhile_is_not_replaced() {
    let (directory, destination) = destination();
    let mut delivery = destination
        .begin(&path("clip"), Expected::of(3))
        .expect("a delivery");
    delivery.write(b"new").expect("written");
    fs::write(directory.path().join("clip"), "quick").expect("a file");
    let error = delivery.finish().expect_err("it is there");
    assert!(matches!(error, DeliverError::Exists { .. }));
    assert_eq!(names(directory.path()), ["clip"]);
    assert_eq!(
        fs::read(directory.path().join("clip")).expect("a file"),
        b"quick"
    );
}

#[test]
fn what_was_delivered_before_counts() {
    let (directory, destination) = destination();
    let known = expected(b"film", &[Kind::Md5]);
    let presence = |wanted: &Expected| destination.presence(&path("reel/clip"), wanted);
    assert_eq!(presence(&known).expect("asked"), Presence::Absent);
    deliver(&destination, "reel/clip", b"film", &[Kind::Md5]);
    let sums = vec![Sum::of(Kind::Md5, b"film")];
    assert_eq!(
        presence(&known).expect("asked"),
        Presence::Delivered(Outcome::Verified, sums)
    );
    let other = presence(&expected(b"flim", &[Kind::Md5])).expect("asked");
    assert!(matches!(&other, Presence::Other(why) if why.contains("md5:")));
    // Without a sum its time must tell.
    let mut unknown = expected(b"film", &[]);
    assert!(matches!(presence(&unknown), Ok(Presence::Other(_))));
    let there = fs::metadata(directory.path().join("reel/clip")).expect("a file");
    unknown.metadata.modified_ns = Some(there.mtime() * 1_000_000_000 + there.mtime_nsec());
    assert_eq!(
        presence(&unknown).expect("asked"),
        Presence::Delivered(Outcome::Unverified, Vec::new())
    );
}

#[test]
fn time_mode_and_attributes_are_kept_and_what_is_not_is_said() {
    let (directory, destination) = destination();
    let modified_ns = 1_234_567_890_987_654_321;
    let metadata = Metadata {
        modified_ns: Some(modified_ns),
        mode: Some(0o104_640),
        owner: None,
        attributes: vec![
            (b"user.reel".to_vec(), b"7".to_vec()),
            (b"security.capability".to_vec(), b"all".to_vec()),
        ],
    };
    let wanted = Expected {
        metadata,
        ..Expected::of(1)
    };
    let mut delivery = destination
        .begin(&path("clip"), wanted)
        .expect("a delivery");
    delivery.write(b"x").expect("written");
    let delivered = delivery.finish().expect("delivered");
    let file = directory.path().join("clip");
    let there = fs::metadata(&file).expect("a file");
    assert_eq!(
        there.mtime() * 1_000_000_000 + there.mtime_nsec(),
        modified_ns
    );
    assert_eq!(there.permissions().mode() & 0o7777, 0o640);
    let refused = |name: &str| {
        let of_name = |not: &&tapewise_archive::deliver::NotKept| not.what.contains(name);
        delivered.not_kept.iter().find(of_name)
    };
    assert!(refused("security.capability").is_some());
    let mut value = [0; 8];
    match rustix::fs::getxattr(&file, "user.reel", &mut value[..]) {
        Ok(length) => assert_eq!(&value[..length], b"7"),
        Err(_) => assert!(refused("user.reel").is_some(), "lost without a word"),
    }
}

#[test]
fn a_time_before_1970_is_kept() {
    let (directory, destination) = destination();
    let mut wanted = Expected::of(0);
    wanted.metadata.modified_ns = Some(-1);
    let delivery = destination.begin(&path("old"), wanted).expect("a delivery");
    delivery.finish().expect("delivered");
    let there = fs::metadata(directory.path().join("old")).expect("a file");
    assert_eq!((there.mtime(), there.mtime_nsec()), (-1, 999_999_999));
}

#[test]
fn problems_are_said_before_anything_moves() {
    let (directory, destination) = destination();
    fs::write(directory.path().join("taken"), "something else").expect("a file");
    fs::write(directory.path().join("reel"), "no directory").expect("a file");
    deliver(&destination, "before", b"film", &[Kind::Md5]);
    let list = |names: &[&str], bytes: u64| -> Vec<(InnerPath, Expected)> {
        let file = |name: &&str| (path(name), Expected::of(bytes));
        names.iter().map(file).collect()
    };
    let problems = |files: &[(InnerPath, Expected)]| destination.check(files).expect("checked");

    let mut files = list(&["fine", "taken", "reel/clip", "fine", "a", "a/b"], 3);
    files.push((path("before"), expected(b"film", &[Kind::Md5])));
    let check = problems(&files);
    assert_eq!(check.there.len(), 1);
    assert_eq!(check.there[0].0, 6);
    assert_eq!(check.there[0].1.outcome, Outcome::Verified);
    let said: Vec<String> = check.problems.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(said[0].contains("14 bytes, not 3"), "{said:?}");
    assert!(said[1].contains("reel is there and is a file"), "{said:?}");
    assert_eq!(check.problems[2], Problem::Twice(path("fine")));
    assert_eq!(check.problems[3], Problem::FileAndDirectory(path("a")));

    let check = problems(&list(&["huge"], 1 << 60));
    assert!(matches!(check.problems[..], [Problem::NoSpace { .. }]));
    let check = problems(&list(&[&"n".repeat(256)], 1));
    assert!(matches!(
        check.problems[..],
        [Problem::TooLong {
            part_bytes: 256,
            ..
        }]
    ));
}

#[test]
fn names_that_differ_in_case_or_accents_are_told() {
    let (directory, destination) = destination();
    let names_asked = [
        ("Reel/Clip", "reel/clip", Sameness::Case),
        ("r\u{e9}el", "re\u{301}el", Sameness::Unicode),
    ];
    for (first, second, sameness) in names_asked {
        let files = [first, second].map(|name| (path(name), Expected::of(1)));
        let check = destination.check(&files).expect("checked");
        // A problem where the file system takes them for one, a remark where it does not: never nothing.
        let told = [check.problems, check.elsewhere].concat();
        assert_eq!(told, [Problem::Alike(path(first), path(second), sameness)]);
    }
    assert!(names(directory.path()).is_empty(), "a probe was left");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However a file is cut and in whichever order it comes, it arrives as it was, and its sum is that of the whole.
    #[test]
    fn a_file_in_pieces_arrives_as_it_was(
        contents in proptest::collection::vec(any::<u8>(), 1..5000),
        mut cuts in proptest::collection::vec(0_usize..5000, 0..8),
        seed in any::<u64>(),
    ) {
        let (directory, destination) = destination();
        cuts.iter_mut().for_each(|cut| *cut %= contents.len());
        cuts.extend([0, contents.len()]);
        cuts.sort_unstable();
        let mut pieces: Vec<_> = cuts.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let many = pieces.len() as u64;
        pieces.sort_by_key(|piece| (piece.start as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % many.max(2));
        let mut delivery = destination
            .begin(&path("clip"), expected(&contents, &[Kind::Adler32, Kind::Sha512]))
            .expect("a delivery");
        for piece in pieces {
            delivery.write_at(piece.start as u64, &contents[piece]).expect("written");
        }
        prop_assert_eq!(delivery.finish().expect("delivered").outcome, Outcome::Verified);
        let file = fs::File::open(directory.path().join("clip")).expect("a file");
        let mut read = vec![0; contents.len()];
        file.read_exact_at(&mut read, 0).expect("its bytes");
        prop_assert_eq!(read, contents);
    }
}
