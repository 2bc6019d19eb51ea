//! Volumes, files, copies, writes and requests of a catalogue.

use crate::catalogue_help;

use catalogue_help::{
    assert_sound, file, foreign, new_catalogue, recorded, segment, store, volume, write_whole,
    written,
};
use tapewise_archive::catalogue::{
    Answer, CacheKey, CatalogueError, Cause, CopyState, Failure, FileState, Forgotten, Loss,
    Missing, NewRecall, Pattern, Recorded, Rediscovered, RequestState, Terms,
};
use tapewise_archive::record::{Volume, VolumeFormat, VolumeState};
use tapewise_archive::sums::{Kind, Sum};

fn recall(file: tapewise_archive::catalogue::FileId) -> NewRecall {
    NewRecall {
        file,
        terms: Terms::default(),
        destination: Some(b"/home/ada/x".to_vec()),
    }
}

fn lacking(number: u32, from: u64) -> Missing {
    Missing {
        number,
        from,
        zstd_bytes: None,
    }
}

#[test]
fn a_foreign_volume_comes_in_whole_and_its_files_are_found_in_tape_order() {
    let catalogue = new_catalogue();
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

#[test]
fn a_volume_with_a_file_that_cannot_be_is_refused_as_a_whole() {
    let catalogue = new_catalogue();
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

#[test]
fn the_same_file_on_a_second_volume_is_a_second_copy_if_its_sum_proves_it() {
    let catalogue = new_catalogue();
    let files = [recorded("film", 50, 700)];
    catalogue
        .add_recorded(&foreign("A00001L8"), &files, 5)
        .expect("added");
    let again = catalogue
        .add_recorded(&foreign("A00001L8"), &[], 5)
        .expect_err("known");
    assert!(matches!(again, CatalogueError::VolumeKnown { .. }));
    let b = catalogue
        .add_recorded(&foreign("B00001L8"), &files, 5)
        .expect("added");
    let mut unproven = recorded("film", 50, 700);
    unproven.file.sums.clear();
    let mut other = recorded("film", 50, 700);
    other.file.sums = vec![Sum::of(Kind::Xxh3, b"another film")];
    for files in [vec![unproven], vec![other]] {
        let error = catalogue
            .add_recorded(&foreign("C00001L8"), &files, 5)
            .expect_err("refused");
        assert!(matches!(error, CatalogueError::PathTaken { .. }), "{error}");
    }
    let found = catalogue
        .find(&Pattern::Path(b"film".to_vec()), None, 9)
        .expect("found");
    assert_eq!(found[0].volumes, ["A00001L8", "B00001L8"]);
    assert_sound(&*catalogue);

    // One may go, and then the other holds the only copy.
    let gone = Forgotten {
        copies: 1,
        retired: 0,
    };
    assert_eq!(
        catalogue
            .forget_volume(b, Loss::Refused, 9)
            .expect("forgotten"),
        gone
    );
    let (a, _) = catalogue
        .find_volume("A00001L8")
        .expect("an answer")
        .expect("it");
    let error = catalogue
        .forget_volume(a, Loss::Refused, 9)
        .expect_err("refused");
    assert!(
        matches!(error, CatalogueError::OnlyCopy { files: 1, .. }),
        "{error}"
    );
    let gone = Forgotten {
        copies: 1,
        retired: 1,
    };
    assert_eq!(
        catalogue
            .forget_volume(a, Loss::Accepted, 9)
            .expect("forgotten"),
        gone
    );
    assert_eq!(catalogue.live_file(b"film").expect("an answer"), None);
    assert_sound(&*catalogue);
}

#[test]
fn a_stored_file_gets_its_copies_on_two_volumes_and_its_request_is_delivered_with_the_last() {
    let catalogue = new_catalogue();
    let a = catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    let b = catalogue
        .add_volume(&volume("B00001L8"), 1)
        .expect("a volume");
    let stores = [(CacheKey(0), store("film", 2500, 2))];
    let (film, request) = catalogue.store_cached(&stores, 10).expect("stored")[0];
    assert_eq!(catalogue.next_migrations(9, 10).expect("none yet"), []);
    let waiting = catalogue.next_migrations(10, 10).expect("migrations");
    let both = [1, 2].map(|number| lacking(number, 0));
    assert_eq!(waiting[0].missing, both);

    let write = catalogue.begin_write(a, &[(film, 1)], 11).expect("begun");
    // What is under way is not begun again, by number or on this volume.
    assert_eq!(
        catalogue.next_migrations(10, 10).expect("migrations")[0].missing,
        both[1..]
    );
    let error = catalogue
        .begin_write(b, &[(film, 1)], 11)
        .expect_err("refused");
    assert!(
        matches!(error, CatalogueError::CopyExists { number: 1, .. }),
        "{error}"
    );
    let error = catalogue
        .begin_write(a, &[(film, 2)], 11)
        .expect_err("refused");
    assert!(matches!(error, CatalogueError::WriteOpen { .. }), "{error}");
    let on_a = written(write.first_block, &[(film, 1, 0, 2500)]);
    assert_eq!(
        catalogue
            .commit_write(write.id, &on_a, 12)
            .expect("committed"),
        []
    );
    let error = catalogue
        .commit_write(write.id, &on_a, 12)
        .expect_err("once");
    assert!(matches!(error, CatalogueError::NoWrite(_)), "{error}");
    assert_eq!(
        catalogue.volume(a).expect("a volume").next_block,
        on_a.next_block
    );
    assert_eq!(
        catalogue.request(request).expect("it").state,
        RequestState::Queued
    );
    assert_eq!(catalogue.evict(1, &[], 13).expect("nothing"), []);

    let error = catalogue
        .begin_write(a, &[(film, 2)], 13)
        .expect_err("refused");
    assert!(
        matches!(error, CatalogueError::SameVolume { number: 1, .. }),
        "{error}"
    );
    assert_eq!(
        write_whole(&*catalogue, b, &[(film, 2)], 14).expect("written"),
        [film]
    );
    let request = catalogue.request(request).expect("it");
    assert_eq!(
        (request.state, request.done_ns),
        (RequestState::Delivered, Some(14))
    );
    assert_eq!(catalogue.next_migrations(99, 10).expect("none"), []);
    assert_eq!(catalogue.evict(1, &[], 15).expect("evicted").len(), 1);
    assert_sound(&*catalogue);
}

#[test]
fn a_copy_spans_volumes_and_goes_on_after_its_write_was_given_up() {
    let catalogue = new_catalogue();
    let [a, b] = ["A00001L8", "B00001L8"]
        .map(|label| catalogue.add_volume(&volume(label), 1).expect("a volume"));
    let stores = [
        (CacheKey(0), store("film", 2500, 1)),
        (CacheKey(1), store("notes", 0, 1)),
    ];
    let ids = catalogue.store_cached(&stores, 10).expect("stored");
    let (film, notes) = (ids[0].0, ids[1].0);
    let write = catalogue
        .begin_write(a, &[(film, 1), (notes, 1)], 11)
        .expect("begun");
    let wrong = written(write.first_block, &[(film, 1, 500, 1000)]);
    let error = catalogue
        .commit_write(write.id, &wrong, 12)
        .expect_err("not its beginning");
    assert!(
        matches!(error, CatalogueError::Impossible { .. }),
        "{error}"
    );
    let mut full = written(write.first_block, &[(film, 1, 0, 2000)]);
    full.state = VolumeState::Full;
    assert_eq!(
        catalogue
            .commit_write(write.id, &full, 12)
            .expect("committed"),
        []
    );
    assert_sound(&*catalogue);
    let error = catalogue
        .begin_write(a, &[(film, 1)], 13)
        .expect_err("full");
    assert!(
        matches!(error, CatalogueError::NotWritable { .. }),
        "{error}"
    );

    let waiting = catalogue.next_migrations(10, 10).expect("migrations");
    assert_eq!(waiting[0].missing, [lacking(1, 2000)]);
    assert_eq!(waiting[1].missing, [lacking(1, 0)]);
    catalogue.begin_write(b, &[(film, 1)], 13).expect("begun");
    // Killed here: the next start finds it.
    let open = catalogue.open_writes().expect("writes");
    assert_eq!(
        (open.len(), open[0].copies.as_slice()),
        (1, &[(film, 1)][..])
    );
    catalogue.abandon_write(open[0].id).expect("given up");
    assert_eq!(
        catalogue.next_migrations(10, 10).expect("migrations"),
        waiting
    );
    let write = catalogue
        .begin_write(b, &[(film, 1), (notes, 1)], 14)
        .expect("begun");
    let rest = written(write.first_block, &[(film, 1, 2000, 500), (notes, 1, 0, 0)]);
    assert_eq!(
        catalogue
            .commit_write(write.id, &rest, 15)
            .expect("committed"),
        [film, notes]
    );
    let found = catalogue
        .find(&Pattern::Path(b"film".to_vec()), None, 9)
        .expect("found");
    assert_eq!(found[0].volumes, ["A00001L8", "B00001L8"]);
    assert_sound(&*catalogue);
}

#[test]
fn a_compressed_copy_is_whole_when_its_frame_is() {
    let catalogue = new_catalogue();
    let [a, b] = ["A00001L8", "B00001L8"]
        .map(|label| catalogue.add_volume(&volume(label), 1).expect("a volume"));
    let stores = [(CacheKey(0), store("film", 9000, 1))];
    let film = catalogue.store_cached(&stores, 10).expect("stored")[0].0;
    let write = catalogue.begin_write(a, &[(film, 1)], 11).expect("begun");
    let mut half = written(write.first_block, &[(film, 1, 0, 1000)]);
    half.parts[0].zstd_bytes = Some(2500);
    assert_eq!(
        catalogue
            .commit_write(write.id, &half, 12)
            .expect("committed"),
        []
    );
    let part = Missing {
        number: 1,
        from: 1000,
        zstd_bytes: Some(2500),
    };
    assert_eq!(
        catalogue.next_migrations(99, 9).expect("migrations")[0].missing,
        [part]
    );
    let write = catalogue.begin_write(b, &[(film, 1)], 13).expect("begun");
    let mut rest = written(write.first_block, &[(film, 1, 1000, 1500)]);
    let error = catalogue
        .commit_write(write.id, &rest, 14)
        .expect_err("another frame");
    assert!(
        matches!(error, CatalogueError::Impossible { .. }),
        "{error}"
    );
    rest.parts[0].zstd_bytes = Some(2500);
    assert_eq!(
        catalogue
            .commit_write(write.id, &rest, 14)
            .expect("committed"),
        [film]
    );
    assert_eq!(
        catalogue.file(film).expect("it").copies[0].zstd_bytes,
        Some(2500)
    );
    assert_sound(&*catalogue);
}

#[test]
fn an_announced_file_replaces_the_old_one_when_it_is_on_tape_and_not_before() {
    let catalogue = new_catalogue();
    let a = catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    let old = catalogue
        .store_cached(&[(CacheKey(0), store("film", 25, 1))], 2)
        .expect("stored")[0]
        .0;
    let error = catalogue
        .announce(&[store("film", 30, 1)], 3)
        .expect_err("taken");
    assert!(matches!(error, CatalogueError::PathTaken { .. }), "{error}");
    let mut newer = store("film", 30, 1);
    newer.new.replace = true;
    let (given_up, request) = catalogue.announce(&[newer.clone()], 3).expect("announced")[0];
    let failed = Answer::Failed(Failure::new(Cause::Destination, "the source is gone"));
    catalogue.answer(request, &failed, 4).expect("answered");
    assert_eq!(
        catalogue.file(given_up).expect("it").state,
        FileState::Retired
    );
    let (new, request) = catalogue.announce(&[newer], 5).expect("announced")[0];
    assert_eq!(catalogue.live_file(b"film").expect("an answer"), Some(old));
    let error = catalogue
        .answer(request, &Answer::Delivered, 6)
        .expect_err("not by word");
    assert!(
        matches!(error, CatalogueError::LacksCopies { .. }),
        "{error}"
    );
    assert_eq!(
        write_whole(&*catalogue, a, &[(new, 1)], 7).expect("written"),
        [new]
    );
    assert_eq!(catalogue.live_file(b"film").expect("an answer"), Some(new));
    assert_eq!(catalogue.file(old).expect("it").state, FileState::Retired);
    assert_eq!(catalogue.evict(1, &[], 8).expect("evicted")[0].file, old);
    assert_sound(&*catalogue);
}

#[test]
fn a_lost_copy_is_made_again_from_the_cache_and_named_where_there_is_none() {
    let catalogue = new_catalogue();
    let a = catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    let film = catalogue
        .store_cached(&[(CacheKey(0), store("film", 25, 1))], 2)
        .expect("stored")[0]
        .0;
    write_whole(&*catalogue, a, &[(film, 1)], 3).expect("written");
    catalogue.note_verified(film, 1, 4).expect("noted");
    catalogue.mark_lost(film, 1, 5).expect("marked");
    let again = catalogue.next_migrations(9, 9).expect("migrations");
    assert_eq!(again[0].missing, [lacking(2, 0)]);
    assert_eq!(catalogue.evict(1, &[], 5).expect("nothing"), []);
    write_whole(&*catalogue, a, &[(film, 2)], 6).expect("written");
    assert_eq!(catalogue.evict(1, &[], 7).expect("evicted").len(), 1);
    assert_sound(&*catalogue);
    catalogue.mark_lost(film, 2, 8).expect("marked");
    let states: Vec<_> = catalogue
        .file(film)
        .expect("it")
        .copies
        .iter()
        .map(|c| c.state)
        .collect();
    assert_eq!(states, [CopyState::Lost; 2]);
    let findings = catalogue.integrity().expect("an answer");
    assert_eq!(findings.len(), 1);
    assert!(findings[0].starts_with("film: ") && findings[0].ends_with("it is lost"));
    // Where it lay is not forgotten: somebody may read it yet.
    let error = catalogue
        .forget_volume(a, Loss::Refused, 9)
        .expect_err("the last trace");
    assert!(
        matches!(error, CatalogueError::OnlyCopy { files: 1, .. }),
        "{error}"
    );
}

#[test]
fn a_request_is_answered_once_and_what_was_started_is_found_after_a_kill() {
    let catalogue = new_catalogue();
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

#[test]
fn recalls_wait_by_volume_and_those_that_need_none_stand_apart() {
    let catalogue = new_catalogue();
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
}

#[test]
fn facts_of_a_cartridge_are_the_last_that_were_seen() {
    let catalogue = new_catalogue();
    let id = catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
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

#[test]
fn a_cartridge_that_carries_another_volume_than_before_is_read_in_under_its_barcode() {
    let catalogue = new_catalogue();
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

#[test]
fn a_file_of_which_nothing_is_left_can_be_stored_again() {
    let catalogue = new_catalogue();
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

#[test]
fn of_two_versions_the_one_stored_last_is_the_later_one_though_the_clock_was_set_back() {
    let catalogue = new_catalogue();
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

#[test]
fn a_copy_of_which_one_part_is_gone_is_not_whole_because_another_part_is_found() {
    let catalogue = new_catalogue();
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
