//! Volumes and files of a catalogue.

use crate::catalogue_help;
use crate::on_each_database;

use catalogue_help::{assert_sound, file, foreign, recorded, segment, store, volume};
use std::sync::Arc;
use tapewise_archive::catalogue::{
    CacheKey, Catalogue, CatalogueError, CopyState, FileId, Pattern, Recorded, Rediscovered,
};
use tapewise_archive::record::{Segment, Volume, VolumeFormat};

on_each_database!(
    a_foreign_volume_comes_in_whole_and_its_files_are_found_in_tape_order,
    a_volume_with_a_file_that_cannot_be_is_refused_as_a_whole,
    facts_of_a_cartridge_are_the_last_that_were_seen,
    a_cartridge_that_carries_another_volume_than_before_is_read_in_under_its_barcode,
    what_a_volume_that_was_read_whole_does_not_have_is_lost,
    of_a_file_and_those_in_the_directory_that_took_its_place_what_was_stored_last_is_live,
    a_file_of_which_nothing_is_left_can_be_stored_again,
    no_file_is_stored_where_another_one_needs_a_directory,
    of_two_versions_the_one_stored_last_is_the_later_one_though_the_clock_was_set_back,
    a_copy_of_which_one_part_is_gone_is_not_whole_because_another_part_is_found,
    of_files_that_are_gone_from_the_cache_those_that_are_nowhere_else_stay_recorded,
    many_paths_are_looked_up_at_once_files_and_directories,
    a_copy_in_whose_place_a_volume_is_written_is_not_whole_any_more,
);

fn many_paths_are_looked_up_at_once_files_and_directories(catalogue: Arc<dyn Catalogue>) {
    let files: Vec<Recorded> = (0..1_000)
        .map(|number| recorded(&format!("d{}/{number}", number % 150), 10 + number, 700))
        .collect();
    let added = catalogue.add_recorded(&foreign("T00001L8"), &files, 5);
    added.expect("added");
    let first = catalogue.live_file(b"d0/0").expect("a catalogue");
    let first = first.expect("a file");
    let staged = catalogue.stage_cached(CacheKey(1), first, 700, 99);
    staged.expect("in the cache");
    let stored = catalogue.store_cached(&[(CacheKey(3), store("film", 500, 1))], 10);
    stored.expect("stored");
    let mut asked: Vec<Vec<u8>> = files.iter().map(|one| one.file.path.clone()).collect();
    asked.extend((0..151).map(|number| format!("d{number}").into_bytes()));
    asked.extend([b"film".to_vec(), b"nobody".to_vec(), b"d0/0".to_vec()]);
    let asked: Vec<&[u8]> = asked.iter().map(Vec::as_slice).collect();
    let mut placed = catalogue.placed(&asked).expect("a catalogue");
    placed.sort_by(|one, other| one.path.cmp(&other.path));
    placed.dedup();
    assert_eq!(placed.len(), 1_001);
    let tells = |at: usize| {
        let one = &placed[at];
        (&*one.path, one.bytes, one.cached, one.is_on_tape)
    };
    assert_eq!(tells(0), (&b"d0/0"[..], 700, Some(CacheKey(1)), true));
    assert_eq!(placed[0].file, first);
    assert_eq!(tells(1), (&b"d0/150"[..], 700, None, true));
    assert_eq!(tells(1_000), (&b"film"[..], 500, Some(CacheKey(3)), false));
    let directories = catalogue.directories_among(&asked).expect("a catalogue");
    let expected = (0..150).map(|number| format!("d{number}").into_bytes());
    assert_eq!(directories, expected.collect());
    assert!(catalogue.placed(&[]).expect("a catalogue").is_empty());
    assert!(
        catalogue
            .directories_among(&[])
            .expect("a catalogue")
            .is_empty()
    );
}

fn of_files_that_are_gone_from_the_cache_those_that_are_nowhere_else_stay_recorded(
    catalogue: Arc<dyn Catalogue>,
) {
    let on_tape = [recorded("a", 10, 700), recorded("b", 20, 700)];
    let added = catalogue.add_recorded(&foreign("T00001L8"), &on_tape, 5);
    added.expect("added");
    for (key, path) in [(1, "a"), (2, "b")] {
        let file = catalogue.live_file(path.as_bytes());
        let file = file.expect("a catalogue").expect("a file");
        let staged = catalogue.stage_cached(CacheKey(key), file, 700, 99);
        staged.expect("in the cache");
    }
    let stored = catalogue.store_cached(&[(CacheKey(3), store("film", 500, 1))], 10);
    let film = stored.expect("stored")[0].0;
    let cached = || -> Vec<FileId> {
        let all = catalogue.all_cached().expect("a catalogue");
        all.iter().map(|cached| cached.file).collect()
    };
    let files = cached();
    assert_eq!(files.len(), 3);
    let gone = [files[0], film];
    assert_eq!(catalogue.forget_cached(&gone).expect("an answer"), [film]);
    assert_eq!(cached(), [files[1], film]);
    assert_eq!(catalogue.forget_cached(&gone).expect("an answer"), [film]);
    assert!(catalogue.forget_cached(&[]).expect("an answer").is_empty());
    assert_sound(catalogue.as_ref());
}

fn a_foreign_volume_comes_in_whole_and_its_files_are_found_in_tape_order(
    catalogue: Arc<dyn Catalogue>,
) {
    let files = [
        recorded("reels/2.dpx", 50, 700),
        recorded("reels/1.dpx", 90, 900),
        recorded("notes", 10, 10),
    ];
    let id = catalogue
        .add_recorded(&foreign("T00001L8"), &files, 5)
        .expect("added");
    let paths: Vec<_> = catalogue.contents(id).expect("contents");
    let paths: Vec<_> = paths.iter().map(|on| on.path.as_slice()).collect();
    assert_eq!(paths, [&b"notes"[..], b"reels/2.dpx", b"reels/1.dpx"]);

    let found = catalogue
        .find(&Pattern::Glob(b"reels/*.dpx".to_vec()), None, 10)
        .expect("found");
    let paths: Vec<_> = found.iter().map(|found| found.path.as_slice()).collect();
    assert_eq!(paths, [&b"reels/1.dpx"[..], b"reels/2.dpx"]);
    assert_eq!(found[0].volumes, ["T00001L8"]);
    for (glob, expected) in [
        ("*ls/2*", &["reels/2.dpx"][..]),
        ("*", &["notes", "reels/1.dpx", "reels/2.dpx"]),
        ("r*[12].dpx", &["reels/1.dpx", "reels/2.dpx"]),
        ("n*dpx", &[]),
    ] {
        let glob = Pattern::Glob(glob.as_bytes().to_vec());
        let found = catalogue.find(&glob, None, 10).expect("found");
        let paths: Vec<_> = found.iter().map(|found| found.path.as_slice()).collect();
        let expected: Vec<_> = expected.iter().map(|path| path.as_bytes()).collect();
        assert_eq!(paths, expected, "{glob:?}");
    }
    let next = catalogue
        .find(
            &Pattern::Prefix(b"reels/".to_vec()),
            Some(b"reels/1.dpx"),
            1,
        )
        .expect("found");
    assert_eq!(next, found[1..]);
    for (prefix, after, paths) in [
        ("reels/", "a", 2),
        ("reels/", "reels/", 2),
        ("reels/2", "reels/1.dpx", 1),
        ("reels/1.dpx", "reels/1.dpx", 0),
        ("", "reels/\u{7f}", 0),
    ] {
        let prefix = Pattern::Prefix(prefix.as_bytes().to_vec());
        let found = catalogue.find(&prefix, Some(after.as_bytes()), 10);
        assert_eq!(found.expect("found").len(), paths, "{prefix:?} {after}");
    }
    let entry = catalogue.file(found[0].file).expect("an entry");
    assert_eq!(entry.file, file("reels/1.dpx", 900));
    assert_eq!(entry.copies[0].segments, [(id, segment(90, 900, 0))]);
}

fn a_volume_with_a_file_that_cannot_be_is_refused_as_a_whole(catalogue: Arc<dyn Catalogue>) {
    let short = Recorded {
        segments: vec![segment(90, 800, 0)],
        ..recorded("b", 90, 900)
    };
    let gap = Recorded {
        segments: vec![segment(90, 100, 0), segment(91, 100, 300)],
        ..recorded("b", 90, 400)
    };
    let mut huge = recorded("b", 90, 900);
    huge.segments[0].last_block = u64::MAX;
    for wrong in [short, gap, huge, recorded("a", 99, 10), recorded("", 9, 9)] {
        let files = [recorded("a", 50, 700), wrong];
        catalogue
            .add_recorded(&foreign("T00001L8"), &files, 5)
            .expect_err("refused");
        assert_eq!(catalogue.volumes().expect("volumes"), []);
        assert_eq!(catalogue.live_file(b"a").expect("an answer"), None);
    }
    // LTFS leaves holes out.
    let mut ltfs = volume("T00001L8");
    ltfs.format = VolumeFormat::Ltfs;
    let sparse = Recorded {
        segments: vec![segment(90, 100, 200)],
        ..recorded("sparse", 90, 400)
    };
    catalogue.add_recorded(&ltfs, &[sparse], 5).expect("added");
    assert_sound(&*catalogue);
}

fn facts_of_a_cartridge_are_the_last_that_were_seen(catalogue: Arc<dyn Catalogue>) {
    let id = catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    assert_eq!(catalogue.most_loads().expect("a catalogue"), None);
    catalogue
        .note_facts(id, &[("load_count", "3"), ("serial_number", "9Z")], 2)
        .expect("noted");
    catalogue
        .note_facts(id, &[("load_count", "4")], 5)
        .expect("noted");
    let facts = catalogue.facts(id).expect("facts");
    let facts: Vec<_> = facts
        .iter()
        .map(|f| (f.name.as_str(), f.value.as_str(), f.seen_ns))
        .collect();
    assert_eq!(facts, [("load_count", "4", 5), ("serial_number", "9Z", 2)]);
    let other = catalogue.add_volume(&volume("B00001L8"), 1);
    let other = other.expect("a volume");
    let noted = catalogue.note_facts(other, &[("load_count", "11")], 6);
    noted.expect("noted");
    assert_eq!(catalogue.most_loads().expect("a catalogue"), Some(11));
    let with_fact = |name: &str| catalogue.with_fact(name).expect("a catalogue");
    assert_eq!(with_fact("load_count"), [id, other]);
    assert_eq!(with_fact("serial_number"), [id]);
}

#[test]
fn a_hundred_thousand_files_are_added_in_one_go() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("catalogue");
    let catalogue = tapewise_archive::catalogue::SqliteCatalogue::open(&path).expect("new");
    let files: Vec<Recorded> = (0..100_000u64)
        .map(|at| recorded(&format!("reels/{:03}/{at:06}.dpx", at / 1000), 10 + at, 900))
        .collect();
    use tapewise_archive::catalogue::{Catalogue as _, Files as _, Volumes as _};
    let on = Volume {
        next_block: 200_000,
        ..volume("A00001L8")
    };
    let began = std::time::Instant::now();
    let id = catalogue.add_recorded(&on, &files, 5).expect("added");
    println!("100,000 files added in {} ms", began.elapsed().as_millis());
    let began = std::time::Instant::now();
    assert_eq!(catalogue.contents(id).expect("contents").len(), 100_000);
    println!("listed in tape order in {} ms", began.elapsed().as_millis());
    let began = std::time::Instant::now();
    let pattern = Pattern::Glob(b"reels/042/*7.dpx".to_vec());
    assert_eq!(
        catalogue.find(&pattern, None, 1000).expect("found").len(),
        100
    );
    println!("100 of them found in {} ms", began.elapsed().as_millis());
    let began = std::time::Instant::now();
    assert_eq!(
        catalogue.integrity().expect("an answer"),
        Vec::<String>::new()
    );
    println!("checked in {} ms", began.elapsed().as_millis());
}

/// A copy of a file that was found on the first of the volumes that are joined.
fn found(path: &str, bytes: u64, stored_ns: i64) -> Rediscovered {
    Rediscovered {
        file: file(path, bytes),
        stored_ns,
        copies_wanted: 1,
        zstd_bytes: None,
        segments: vec![(0, segment(3, bytes, 0))],
    }
}

fn a_cartridge_that_carries_another_volume_than_before_is_read_in_under_its_barcode(
    catalogue: Arc<dyn Catalogue>,
) {
    let was = Volume {
        next_block: 9,
        ..volume("A")
    };
    let is = Volume {
        uuid: "another".to_owned(),
        next_block: 9,
        ..volume("A")
    };
    let copy = [found("a", 10, 1)];
    catalogue
        .rejoin(std::slice::from_ref(&was), &copy, 2)
        .expect("joined");
    let joined = catalogue
        .rejoin(&[is], &[found("b", 10, 3)], 4)
        .expect("joined");
    assert_eq!((joined.files, joined.displaced), (1, 1));
    let a = catalogue
        .live_file(b"a")
        .expect("an answer")
        .expect("a file");
    assert_eq!(
        catalogue.file(a).expect("a file").copies[0].state,
        CopyState::Lost
    );
    // The cartridge of the first volume turns up under another barcode.
    let elsewhere = Volume {
        label: "B".to_owned(),
        ..was
    };
    catalogue.rejoin(&[elsewhere], &copy, 5).expect("joined");
    assert_eq!(
        catalogue.file(a).expect("a file").copies[0].state,
        CopyState::Whole
    );
    let labels = catalogue.volumes().expect("volumes").into_iter();
    assert_eq!(
        labels.map(|(_, volume)| volume.label).collect::<Vec<_>>(),
        ["A", "B"]
    );
}

fn of_a_file_and_those_in_the_directory_that_took_its_place_what_was_stored_last_is_live(
    catalogue: Arc<dyn Catalogue>,
) {
    let live = |under: &str| -> Vec<String> {
        let found = catalogue.find(&Pattern::Prefix(under.as_bytes().to_vec()), None, 99);
        let paths = found.expect("found").into_iter().map(|found| found.path);
        paths
            .map(|path| String::from_utf8(path).expect("a path"))
            .collect()
    };
    let mut volumes = 0;
    let mut read = |path: &str, stored_ns: i64| {
        volumes += 1;
        let on = Volume {
            next_block: 9,
            ..volume(&format!("A{volumes:05}L8"))
        };
        let joined = catalogue.rejoin(&[on], &[found(path, 10, stored_ns)], 99);
        joined.expect("joined").files
    };
    // The directory came later, and its tapes are read before or after that of the file.
    assert_eq!(
        [("1/a", 5), ("1/a/x/y", 6), ("1/a/z", 7)].map(|(path, at)| read(path, at)),
        [1; 3]
    );
    assert_eq!(live("1/"), ["1/a/x/y", "1/a/z"]);
    assert_eq!(
        [("2/a/x/y", 6), ("2/a/z", 7), ("2/a", 5)].map(|(path, at)| read(path, at)),
        [1, 1, 0]
    );
    assert_eq!(live("2/"), ["2/a/x/y", "2/a/z"]);
    // The file came later, when what was in the directory had been deleted.
    assert_eq!(
        [("3/a/x", 5), ("3/a/y", 6), ("3/a", 7)].map(|(path, at)| read(path, at)),
        [1; 3]
    );
    assert_eq!(live("3/"), ["3/a"]);
    assert_eq!(
        [("4/a", 7), ("4/a/x", 5), ("4/a-x", 5)].map(|(path, at)| read(path, at)),
        [1, 0, 1]
    );
    assert_eq!(live("4/"), ["4/a", "4/a-x"]);
    // What is read again does not come back.
    for path in ["1/a", "2/a", "3/a/x", "4/a/x"] {
        assert_eq!(read(path, 5), 0, "{path}");
    }
    assert_eq!(
        [
            live("1/").len(),
            live("2/").len(),
            live("3/").len(),
            live("4/").len()
        ],
        [2, 2, 1, 2]
    );
    assert_sound(&*catalogue);
}

fn what_a_volume_that_was_read_whole_does_not_have_is_lost(catalogue: Arc<dyn Catalogue>) {
    let on = Volume {
        next_block: 9,
        ..volume("A")
    };
    let copy = [found("a", 10, 1)];
    let on_tape = copy[0].segments[0].1;
    let joined = catalogue.rejoin(std::slice::from_ref(&on), &copy, 2);
    joined.expect("joined");
    let state = || {
        let a = catalogue.live_file(b"a").expect("an answer");
        let entry = catalogue.file(a.expect("a file")).expect("a file");
        entry.copies[0].state
    };
    let missing = catalogue.give_up_missing(&on.uuid, &[on_tape], 3);
    assert_eq!((missing.expect("read"), state()), (0, CopyState::Whole));
    let before = Segment {
        first_block: on_tape.first_block - 1,
        ..on_tape
    };
    let missing = catalogue.give_up_missing("another", &[before], 4);
    assert_eq!((missing.expect("read"), state()), (0, CopyState::Whole));
    let missing = catalogue.give_up_missing(&on.uuid, &[before], 5);
    assert_eq!((missing.expect("read"), state()), (1, CopyState::Lost));
}

fn a_copy_in_whose_place_a_volume_is_written_is_not_whole_any_more(catalogue: Arc<dyn Catalogue>) {
    let on = |next_block| Volume {
        next_block,
        ..volume("A")
    };
    let joined = catalogue.rejoin(&[on(9)], &[found("a", 10, 1)], 2);
    joined.expect("joined");
    let a = catalogue.live_file(b"a").expect("an answer");
    let a = a.expect("a file");
    let state = || catalogue.file(a).expect("a file").copies[0].state;
    let (id, _) = catalogue.find_volume("A").expect("an answer").expect("it");
    let write = |at_ns| {
        let write = catalogue.begin_write(id, &[], at_ns).expect("begun");
        catalogue.abandon_write(write.id).expect("abandoned");
    };
    write(3);
    assert_eq!(state(), CopyState::Whole);
    // A tape that was read to an earlier end; then the copy was read after all.
    let first_block = catalogue.file(a).expect("a file").copies[0].segments[0]
        .1
        .first_block;
    let shorter = catalogue.give_up_missing(&on(9).uuid, &[], 4);
    assert_eq!(shorter.expect("read"), 1);
    catalogue
        .rejoin(&[on(first_block)], &[], 4)
        .expect("joined");
    catalogue.take_back(a, 1, 5).expect("found");
    assert_eq!(state(), CopyState::Whole);
    write(6);
    assert_eq!(state(), CopyState::Lost);
}

fn no_file_is_stored_where_another_one_needs_a_directory(catalogue: Arc<dyn Catalogue>) {
    let put = |key: u64, paths: &[&str], replace: bool| {
        let paths = paths.iter().enumerate();
        let files = paths.map(|(nth, path)| {
            let mut store = store(path, 10, 1);
            store.new.replace = replace;
            (CacheKey(key + nth as u64), store)
        });
        let files: Vec<_> = files.collect();
        catalogue.store_cached(&files, 5).map(|stored| stored.len())
    };
    let stored = put(10, &["a", "b/c/d", "b/c-d", "b.c"], false);
    assert_eq!(stored.expect("neighbours"), 4);
    for (path, other) in [("a/x/y", "a"), ("b", "b/c"), ("b/c", "b/c/d")] {
        let refused = put(20, &["e", path], false).expect_err("refused");
        let CatalogueError::InTheWay { other: found, .. } = &refused else {
            panic!("{refused}");
        };
        assert!(found.starts_with(other.as_bytes()), "{refused}");
    }
    let together = put(30, &["f/g", "f"], false).expect_err("refused");
    assert!(together.to_string().contains("f/g is in the archive below"));
    // Files replace the one in whose place they need a directory; one file does not replace many.
    assert_eq!(put(40, &["a/x", "a/y"], true).expect("replaced"), 2);
    assert_eq!(catalogue.live_file(b"a").expect("an answer"), None);
    put(50, &["b"], true).expect_err("refused");
    assert_sound(&*catalogue);
}

fn a_file_of_which_nothing_is_left_can_be_stored_again(catalogue: Arc<dyn Catalogue>) {
    let on = Volume {
        next_block: 9,
        ..volume("A")
    };
    catalogue
        .rejoin(&[on], &[found("a", 10, 1)], 2)
        .expect("joined");
    let again = [(CacheKey(1), store("a", 10, 1))];
    let taken = catalogue.store_cached(&again, 3);
    assert!(matches!(taken, Err(CatalogueError::PathTaken { .. })));
    let a = catalogue
        .live_file(b"a")
        .expect("an answer")
        .expect("a file");
    catalogue.mark_lost(a, 1, 3).expect("marked");
    let stored = catalogue.store_cached(&again, 4).expect("stored");
    assert_eq!(
        catalogue.live_file(b"a").expect("an answer"),
        Some(stored[0].0)
    );
}

fn of_two_versions_the_one_stored_last_is_the_later_one_though_the_clock_was_set_back(
    catalogue: Arc<dyn Catalogue>,
) {
    let replacing = |key| {
        let mut store = store("a", 10, 1);
        store.new.replace = true;
        [(CacheKey(key), store)]
    };
    let first = catalogue.store_cached(&replacing(1), 1000).expect("stored")[0].0;
    let second = catalogue.store_cached(&replacing(2), 10).expect("stored")[0].0;
    let created = |id| catalogue.file(id).expect("a file").created_ns;
    assert!(created(second) > created(first));
    // A directory takes the place of a file.
    for (key, path) in [(3, "a/b"), (4, "a/c/d")] {
        let mut below = store(path, 10, 1);
        below.new.replace = true;
        let below = catalogue.store_cached(&[(CacheKey(key), below)], 20);
        assert!(created(below.expect("stored")[0].0) > created(second));
    }
}

fn a_copy_of_which_one_part_is_gone_is_not_whole_because_another_part_is_found(
    catalogue: Arc<dyn Catalogue>,
) {
    let [a, b, c] = ["A", "B", "C"].map(|label| Volume {
        next_block: 9,
        ..volume(label)
    });
    let in_parts = Rediscovered {
        segments: vec![(0, segment(3, 10, 0)), (1, segment(3, 10, 10))],
        ..found("long", 20, 1)
    };
    let copies = std::slice::from_ref(&in_parts);
    let on = [a.clone(), b.clone()];
    catalogue.rejoin(&on, copies, 2).expect("joined");
    // The cartridge of the first part was used again.
    let is = Volume {
        uuid: "another".to_owned(),
        ..a
    };
    catalogue.rejoin(&[is], &[], 3).expect("joined");
    // Another copy of the first part lies on a third cartridge: with it the file is whole again.
    catalogue.rejoin(&[c, b], copies, 4).expect("joined");
    let long = catalogue.live_file(b"long").expect("an answer");
    let copies = catalogue.file(long.expect("a file")).expect("it").copies;
    let whole: Vec<Vec<String>> = copies
        .iter()
        .filter(|copy| copy.state == CopyState::Whole)
        .map(|copy| {
            let labels = copy.segments.iter();
            let label = |on| catalogue.volume(on).expect("a volume").label;
            labels.map(|(on, _)| label(*on)).collect()
        })
        .collect();
    assert_eq!(whole, [["C", "B"]]);
    assert_sound(&*catalogue);
}
