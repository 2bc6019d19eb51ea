//! Volumes, files and requests of a catalogue.

use crate::catalogue_help;
use crate::on_each_database;

use catalogue_help::{assert_sound, file, foreign, recorded, segment, store, volume};
use std::sync::Arc;
use tapewise_archive::catalogue::{
    Answer, Begun, BegunMount, CacheKey, Catalogue, CatalogueError, Cause, CopyState, Failure,
    ListItem, NewRecall, Newest, Pattern, Recorded, Rediscovered, RequestId, RequestState, Terms,
    VolumeWait,
};
use tapewise_archive::record::{Segment, Volume, VolumeFormat};
use tapewise_sim::mounts::Owner;

on_each_database!(
    a_search_finds_what_its_pattern_matches_among_more_paths_than_one_answer_has,
    a_list_of_any_length_comes_in_as_its_files_would_one_by_one,
    a_foreign_volume_comes_in_whole_and_its_files_are_found_in_tape_order,
    a_volume_with_a_file_that_cannot_be_is_refused_as_a_whole,
    a_request_is_answered_once_and_what_was_started_is_found_after_a_kill,
    what_drives_have_begun_is_known_by_mount_and_by_directory,
    the_newest_request_tells_whether_a_volume_is_wanted_for_more,
    recalls_wait_by_volume_and_those_that_need_none_stand_apart,
    facts_of_a_cartridge_are_the_last_that_were_seen,
    a_cartridge_that_carries_another_volume_than_before_is_read_in_under_its_barcode,
    what_a_volume_that_was_read_whole_does_not_have_is_lost,
    a_file_of_which_nothing_is_left_can_be_stored_again,
    of_two_versions_the_one_stored_last_is_the_later_one_though_the_clock_was_set_back,
    a_copy_of_which_one_part_is_gone_is_not_whole_because_another_part_is_found,
);

fn recall(file: tapewise_archive::catalogue::FileId) -> NewRecall {
    NewRecall {
        file,
        terms: Terms::default(),
        destination: Some(b"/home/ada/x".to_vec()),
    }
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

fn a_request_is_answered_once_and_what_was_started_is_found_after_a_kill(
    catalogue: Arc<dyn Catalogue>,
) {
    let files = [recorded("a", 50, 700), recorded("b", 60, 700)];
    catalogue
        .add_recorded(&foreign("A00001L8"), &files, 5)
        .expect("added");
    let film = catalogue.live_file(b"a").expect("an answer").expect("it");
    let ids = catalogue
        .submit(&[recall(film), recall(film)], 10)
        .expect("submitted");
    catalogue.start(&ids, 11).expect("started");
    catalogue
        .answer(ids[0], &Answer::Delivered, 12)
        .expect("answered");
    let error = catalogue
        .answer(ids[0], &Answer::Cancelled, 13)
        .expect_err("once");
    assert!(
        matches!(
            error,
            CatalogueError::Answered {
                state: "delivered",
                ..
            }
        ),
        "{error}"
    );
    // Of a list with one that is answered, nothing is started.
    catalogue.requeue(&ids[1..]).expect("requeued");
    catalogue
        .start(&[ids[1], ids[0]], 14)
        .expect_err("answered");
    assert_eq!(
        catalogue.request(ids[1]).expect("it").state,
        RequestState::Queued
    );
    catalogue.start(&ids[1..], 15).expect("started");
    let open: Vec<_> = catalogue
        .unanswered()
        .expect("open")
        .iter()
        .map(|r| r.id)
        .collect();
    assert_eq!(open, ids[1..]);
    assert_eq!(catalogue.requeue_started().expect("requeued"), 1);
    let failed = Answer::Failed(Failure::new(Cause::Unreadable, "drive said 03/11/00"));
    catalogue.answer(ids[1], &failed, 16).expect("answered");
    let request = catalogue.request(ids[1]).expect("it");
    assert_eq!(request.reason.as_deref(), Some("drive said 03/11/00"));
    assert_eq!(request.cause, Some(Cause::Unreadable));
    assert_eq!(request.place, recall(film).destination);
    catalogue.retire(film, 17).expect("retired");
    let error = catalogue.submit(&[recall(film)], 18).expect_err("retired");
    assert!(matches!(error, CatalogueError::NotLive { .. }), "{error}");
}

fn what_drives_have_begun_is_known_by_mount_and_by_directory(catalogue: Arc<dyn Catalogue>) {
    let files = [
        recorded("a", 50, 700),
        recorded("b", 60, 700),
        recorded("c", 70, 700),
    ];
    let added = catalogue.add_recorded(&foreign("A00001L8"), &files, 5);
    added.expect("added");
    let owner = |user: &str, activity: &str| Owner {
        user: user.to_owned(),
        activity: activity.to_owned(),
    };
    let asks = [
        (b"a", owner("ada", "analysis"), Some("/home/ada")),
        (b"b", owner("bob", ""), Some("/home/ada")),
        (b"c", owner("pia", "production"), None),
    ];
    let recalls = asks.clone().map(|(path, owner, place)| NewRecall {
        file: catalogue.live_file(path).expect("an answer").expect("it"),
        terms: Terms {
            user: owner.user,
            activity: owner.activity,
            ..Terms::default()
        },
        destination: place.map(|place| place.as_bytes().to_vec()),
    });
    let ids = catalogue.submit(&recalls, 10).expect("submitted");
    let queue = catalogue.recall_queue().expect("a queue").volumes.remove(0);
    let waiting: Vec<_> = queue.waiting.iter().map(|one| one.owner.clone()).collect();
    assert_eq!(waiting, asks.map(|(_, owner, _)| owner));
    assert_eq!(catalogue.begun().expect("an answer"), Begun::default());

    // One mount for ada, who asked first, and bob; then one for pia, into the cache.
    catalogue.start(&ids[..2], 11).expect("started");
    catalogue.start(&ids[2..], 12).expect("started");
    let mount = |owner| BegunMount { epoch: None, owner };
    let begun = Begun {
        mounts: vec![
            mount(owner("ada", "analysis")),
            mount(owner("pia", "production")),
        ],
        places: [(b"/home/ada".to_vec(), 2)].into(),
    };
    assert_eq!(catalogue.begun().expect("an answer"), begun);
    catalogue
        .answer(ids[0], &Answer::Delivered, 13)
        .expect("answered");
    let begun = catalogue.begun().expect("an answer");
    assert_eq!(begun.mounts[0], mount(owner("bob", "")));
    assert_eq!(begun.places[&b"/home/ada".to_vec()], 1);
}

fn the_newest_request_tells_whether_a_volume_is_wanted_for_more(catalogue: Arc<dyn Catalogue>) {
    for (label, files) in [("A00001L8", ["a", "b"]), ("B00001L8", ["c", "d"])] {
        let files = files.map(|path| recorded(path, 50, 700));
        let added = catalogue.add_recorded(&foreign(label), &files, 5);
        added.expect("added");
    }
    let volumes = catalogue.volumes().expect("volumes");
    let [a, b] = [0, 1].map(|at| volumes[at].0);
    let ask = |path: &str| {
        let file = catalogue.live_file(path.as_bytes()).expect("an answer");
        let ids = catalogue.submit(&[recall(file.expect("it"))], 10);
        ids.expect("submitted")[0]
    };
    let newest = |after, volume| catalogue.newest(after, volume).expect("an answer");
    let none = newest(RequestId(0), a);
    assert_eq!((none.request, none.is_wanted), (RequestId(0), false));
    let first = ask("a");
    let second = ask("c");
    for (after, volume, is_wanted) in [
        (RequestId(0), a, true),
        (first, a, false),
        (first, b, true),
        (second, b, false),
    ] {
        let request = second;
        assert_eq!(newest(after, volume), Newest { request, is_wanted });
    }
    // What a drive has begun with waits no more.
    catalogue.start(&[second], 11).expect("started");
    assert!(!newest(first, b).is_wanted);
    catalogue
        .mark_lost(
            catalogue.live_file(b"b").expect("an answer").expect("it"),
            1,
            12,
        )
        .expect("lost");
    ask("b");
    assert!(!newest(second, a).is_wanted);
}

fn recalls_wait_by_volume_and_those_that_need_none_stand_apart(catalogue: Arc<dyn Catalogue>) {
    let on_a = [
        recorded("a", 50, 700),
        recorded("both", 60, 700),
        recorded("lost", 70, 1),
    ];
    catalogue
        .add_recorded(&foreign("A00001L8"), &on_a, 5)
        .expect("added");
    let on_b = [recorded("both", 10, 700), recorded("empty", 20, 0)];
    catalogue
        .add_recorded(&foreign("B00001L8"), &on_b, 5)
        .expect("added");
    let cached = catalogue
        .store_cached(&[(CacheKey(0), store("cached", 9, 1))], 6)
        .expect("stored");
    let [a, both, lost, empty] = ["a", "both", "lost", "empty"].map(|path| {
        catalogue
            .live_file(path.as_bytes())
            .expect("an answer")
            .expect("it")
    });
    catalogue.mark_lost(lost, 1, 7).expect("marked");
    let wanted = [both, a, lost, empty, cached[0].0].map(recall);
    let ids = catalogue.submit(&wanted, 8).expect("submitted");
    let queue = catalogue.recall_queue().expect("a queue");
    assert_eq!(queue.at_hand, [(ids[3], empty), (ids[4], cached[0].0)]);
    assert_eq!(queue.stranded, [(ids[2], lost)]);
    let volumes = queue.volumes.iter().map(|on| {
        let waiting = on
            .waiting
            .iter()
            .map(|w| (w.request, w.number, w.segments[0].first_block));
        (on.label.as_str(), waiting.collect::<Vec<_>>())
    });
    let expected = [
        ("A00001L8", vec![(ids[0], 1, 60), (ids[1], 1, 50)]),
        ("B00001L8", vec![(ids[0], 2, 10)]),
    ];
    assert_eq!(volumes.collect::<Vec<_>>(), expected);
    let waits = catalogue.waits().expect("a queue");
    let wait = |label: &str, recalls, bytes| VolumeWait {
        label: label.to_owned(),
        recalls,
        bytes,
        oldest_ns: 8,
    };
    assert_eq!(
        waits,
        [wait("A00001L8", 2, 1_400), wait("B00001L8", 1, 700)]
    );
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
    let noted = catalogue.note_facts(other.expect("a volume"), &[("load_count", "11")], 6);
    noted.expect("noted");
    assert_eq!(catalogue.most_loads().expect("a catalogue"), Some(11));
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
        stored_ns: Some(stored_ns),
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

/// The volumes and files of a list.
fn list(
    files: Vec<(&str, Vec<Recorded>)>,
) -> impl Iterator<Item = tapewise_archive::catalogue::Result<ListItem>> {
    let items = files.into_iter().flat_map(|(label, files)| {
        let volume = ListItem::Volume(foreign(label));
        std::iter::once(volume).chain(files.into_iter().map(ListItem::File))
    });
    items.map(Ok)
}

fn a_search_finds_what_its_pattern_matches_among_more_paths_than_one_answer_has(
    catalogue: Arc<dyn Catalogue>,
) {
    // Signs that mean something to databases, and a byte that is no letter anywhere.
    let special = [
        &b"100%_done"[..],
        b"100xxdone",
        b"a\\%b",
        b"\xff\\_",
        b"{1}",
    ];
    let mut paths: Vec<Vec<u8>> = special.map(<[u8]>::to_vec).to_vec();
    paths.extend((0..20_002).map(|at| format!("{at:05}").into_bytes()));
    let files = paths.iter().zip(0..).map(|(path, at)| {
        let mut one = recorded("path", at, 1);
        one.file.path.clone_from(path);
        one
    });
    catalogue
        .add_list(&mut list(vec![("T00001L8", files.collect())]), 5)
        .expect("added");
    paths.sort();
    for glob in [
        "*", "*%*", "*_*", "*\\*", "*\\%*", "*[13]", "*99?", "1*[%x]*",
    ] {
        let pattern = Pattern::Glob(glob.as_bytes().to_vec());
        let expected: Vec<&Vec<u8>> = paths.iter().filter(|path| pattern.matches(path)).collect();
        assert!(!expected.is_empty(), "{glob}");
        for limit in [usize::MAX, 3] {
            let found = catalogue.find(&pattern, None, limit).expect("found");
            let found: Vec<&Vec<u8>> = found.iter().map(|found| &found.path).collect();
            assert!(
                expected.iter().take(limit).eq(&found),
                "{glob}: {}",
                found.len()
            );
        }
    }
}

fn a_list_of_any_length_comes_in_as_its_files_would_one_by_one(catalogue: Arc<dyn Catalogue>) {
    let many = |count: u64| -> Vec<Recorded> {
        let files = (0..count).map(|at| recorded(&format!("{:05}", at * 7919 % count), at, 1));
        files.collect()
    };
    // The last path comes twice: nothing is entered.
    let mut twice = many(20_011);
    twice.push(twice[5].clone());
    catalogue
        .add_list(&mut list(vec![("T00001L8", twice)]), 5)
        .expect_err("refused");
    assert_eq!(catalogue.volumes().expect("volumes"), []);
    let first = vec![
        ("T00001L8", many(20_011)),
        ("T00002L8", vec![recorded("last", 9, 10)]),
    ];
    assert_eq!(
        catalogue.add_list(&mut list(first), 6).expect("added"),
        20_012
    );
    assert_sound(&*catalogue);
    let path = Pattern::Path(b"00042".to_vec());
    let found = catalogue.find(&path, None, 9).expect("found");
    assert_eq!(found[0].volumes, ["T00001L8"]);
    let entry = catalogue.file(found[0].file).expect("the file");
    let id = catalogue
        .find_volume("T00001L8")
        .expect("asked")
        .expect("a volume")
        .0;
    let wanted = recorded(
        "00042",
        (0..20_011)
            .find(|at| at * 7919 % 20_011 == 42)
            .expect("a place"),
        1,
    );
    assert_eq!((entry.file, entry.owner), (wanted.file, wanted.owner));
    assert_eq!(entry.copies[0].segments, [(id, wanted.segments[0])]);
    // Files that are known get a further copy in their turn, and a copy that is none spoils the list.
    let next = vec![
        recorded("new", 1, 10),
        recorded("last", 2, 10),
        recorded("newer", 3, 10),
    ];
    assert_eq!(
        catalogue
            .add_list(&mut list(vec![("T00003L8", next)]), 7)
            .expect("added"),
        3
    );
    assert_eq!(
        catalogue
            .find(&Pattern::Path(b"last".to_vec()), None, 9)
            .expect("found")[0]
            .volumes
            .len(),
        2
    );
    let other = vec![recorded("newest", 1, 10), recorded("last", 2, 11)];
    let refused = catalogue.add_list(&mut list(vec![("T00004L8", other)]), 8);
    assert!(
        matches!(refused, Err(CatalogueError::PathTaken { .. })),
        "{refused:?}"
    );
    assert_eq!(catalogue.live_file(b"newest").expect("asked"), None);
    assert_sound(&*catalogue);
}
