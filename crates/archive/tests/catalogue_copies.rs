//! Copies of files in a catalogue: on one volume or several, lost and made again.

use crate::catalogue_help;
use crate::on_each_database;

use catalogue_help::{assert_sound, foreign, recorded, store, volume, write_whole, written};
use std::sync::Arc;
use tapewise_archive::catalogue::{
    Answer, CacheKey, Catalogue, CatalogueError, Cause, CopyState, Failure, FileId, FileState,
    Forgotten, HOLDS_MORE, Loss, Migration, Missing, Pattern, Recorded, RequestState,
};
use tapewise_archive::record::VolumeState;
use tapewise_archive::sums::{Kind, Sum};

on_each_database!(
    the_same_file_on_a_second_volume_is_a_second_copy_if_its_sum_proves_it,
    a_stored_file_gets_its_copies_on_two_volumes_and_its_request_is_delivered_with_the_last,
    a_copy_spans_volumes_and_goes_on_after_its_write_was_given_up,
    a_compressed_copy_is_whole_when_its_frame_is,
    what_many_files_lack_is_listed_and_written_as_if_they_came_one_by_one,
    a_write_takes_no_file_twice_and_none_that_is_unknown,
    an_announced_file_replaces_the_old_one_when_it_is_on_tape_and_not_before,
    a_lost_copy_is_made_again_from_the_cache_and_named_where_there_is_none,
    files_that_lack_a_copy_because_its_volume_is_forgotten_are_counted,
    more_copies_can_be_wanted_of_a_file_and_fewer_cannot,
);

fn more_copies_can_be_wanted_of_a_file_and_fewer_cannot(catalogue: Arc<dyn Catalogue>) {
    let add = |label| catalogue.add_volume(&volume(label), 1).expect("a volume");
    let [a, b] = ["A00001L8", "B00001L8"].map(add);
    let stored = catalogue.store_cached(&[(CacheKey(1), store("film", 500, 1))], 10);
    let film = stored.expect("stored")[0].0;
    write_whole(&*catalogue, a, &[(film, 1)], 11).expect("written");
    let lacking = || {
        let waiting = catalogue.next_migrations(i64::MAX, 9).expect("asked");
        waiting.len()
    };
    assert_eq!(lacking(), 0);
    for wanted in [2, 1] {
        catalogue.want_copies(&[film], wanted, 12).expect("wanted");
        let entry = catalogue.file(film).expect("a file");
        assert_eq!((entry.copies_wanted, lacking()), (2, 1));
    }
    assert_sound(&*catalogue);
    write_whole(&*catalogue, b, &[(film, 2)], 13).expect("written");
    assert_eq!(lacking(), 0);
    assert_sound(&*catalogue);
}

fn lacking(number: u32, from: u64) -> Missing {
    Missing {
        number,
        from,
        zstd_bytes: None,
    }
}

fn the_same_file_on_a_second_volume_is_a_second_copy_if_its_sum_proves_it(
    catalogue: Arc<dyn Catalogue>,
) {
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
        lacking: 0,
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
        lacking: 0,
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

fn files_that_lack_a_copy_because_its_volume_is_forgotten_are_counted(
    catalogue: Arc<dyn Catalogue>,
) {
    let add = |label| catalogue.add_volume(&volume(label), 1).expect("a volume");
    let [a, b] = ["A00001L8", "B00001L8"].map(add);
    let paths = ["one", "two", "three", "once"];
    let stores = paths.map(|path| store(path, 500, if path == "once" { 1 } else { 2 }));
    let stores: Vec<_> = (0..).map(CacheKey).zip(stores).collect();
    let files = catalogue.store_cached(&stores, 10).expect("stored");
    let [one, two, three, once] = [0, 1, 2, 3].map(|nth: usize| files[nth].0);
    let on_a = [(one, 1), (two, 1), (three, 1), (once, 1)];
    write_whole(&*catalogue, a, &on_a, 11).expect("written");
    write_whole(&*catalogue, b, &[(one, 2), (two, 2), (three, 2)], 12).expect("written");
    // Nobody wants it any more.
    catalogue.retire(three, 13).expect("retired");
    let gone = Forgotten {
        copies: 4,
        retired: 0,
        lacking: 3,
    };
    // An empty file of an LTFS volume has a copy that lies nowhere.
    let empty = recorded("empty", 9, 0);
    let empty = Recorded {
        segments: Vec::new(),
        ..empty
    };
    let added = catalogue.add_recorded(&foreign("C00001L8"), &[empty], 13);
    added.expect("added");
    let empty = Pattern::Path(b"empty".to_vec());
    let found = catalogue.find(&empty, None, 9).expect("found");
    assert_eq!(found[0].lacking, 0);
    // What only the cartridge has is not forgotten either.
    let note = |what| catalogue.note_facts(a, &[(HOLDS_MORE, what)], 14);
    note("a part of a film").expect("noted");
    let refused = catalogue.forget_volume(a, Loss::Refused, 14);
    let refused = refused.expect_err("refused").to_string();
    assert!(refused.contains("a part of a film"), "{refused}");
    note("").expect("noted");
    assert_eq!(catalogue.count_lacking().expect("a number"), 0);
    let forgotten = catalogue.forget_volume(a, Loss::Refused, 14);
    assert_eq!(forgotten.expect("the cache has the one"), gone);
    assert_eq!(catalogue.count_lacking().expect("a number"), 3);
    let found = catalogue.find(&Pattern::Prefix(b"o".to_vec()), None, 9);
    let found = found.expect("found").into_iter();
    let lacking: Vec<u32> = found.map(|found| found.lacking).collect();
    assert_eq!(lacking, [1, 1]);
}

fn a_stored_file_gets_its_copies_on_two_volumes_and_its_request_is_delivered_with_the_last(
    catalogue: Arc<dyn Catalogue>,
) {
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

fn a_copy_spans_volumes_and_goes_on_after_its_write_was_given_up(catalogue: Arc<dyn Catalogue>) {
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

fn what_many_files_lack_is_listed_and_written_as_if_they_came_one_by_one(
    catalogue: Arc<dyn Catalogue>,
) {
    let [a, b] = ["A00001L8", "B00001L8"]
        .map(|label| catalogue.add_volume(&volume(label), 1).expect("a volume"));
    // More than one query looks for.
    let stores: Vec<_> = (0..1300)
        .map(|n| {
            (
                CacheKey(n),
                store(&format!("f{n:04}"), 500, 1 + n as u32 % 2),
            )
        })
        .collect();
    let files = catalogue.store_cached(&stores, 10).expect("stored");
    let files: Vec<_> = files.iter().map(|(file, _)| *file).collect();
    // Of every seventh a part is on A, every fifth is whole there.
    let of = |step: usize| (0..files.len()).step_by(step);
    let parts: Vec<_> = of(7).filter(|n| n % 5 != 0).map(|n| files[n]).collect();
    let whole: Vec<_> = of(5).map(|n| files[n]).collect();
    let both: Vec<_> = (parts.iter().chain(&whole))
        .map(|file| (*file, 1))
        .collect();
    let write = catalogue.begin_write(a, &both, 11).expect("begun");
    let parts_of = |bytes| move |file: &_| (*file, 1, 0, bytes);
    let some = parts.iter().map(parts_of(200));
    let some: Vec<_> = some.chain(whole.iter().map(parts_of(500))).collect();
    let on_a = written(write.first_block, &some);
    let complete = catalogue.commit_write(write.id, &on_a, 12);
    let once: Vec<_> = of(10).map(|n| files[n]).collect();
    assert_eq!(complete.expect("committed"), once);

    let waiting = catalogue.next_migrations(10, 9999).expect("migrations");
    let lacks = (0..files.len()).filter(|n| n % 10 != 0);
    let expected: Vec<_> = lacks
        .map(|n| {
            let (missing, on_a) = match (n % 5, n % 7) {
                (0, _) => (vec![lacking(2, 0)], vec![a]),
                (_, 0) => (vec![lacking(1, 200), lacking(2, 0)], vec![]),
                _ => (vec![lacking(1, 0), lacking(2, 0)], vec![]),
            };
            let wanted = if n % 5 == 0 { 1 } else { 1 + n % 2 };
            (files[n], missing[..wanted].to_vec(), on_a)
        })
        .collect();
    let listed = |waiting: &[Migration]| -> Vec<_> {
        let one = |one: &Migration| (one.file, one.missing.clone(), one.elsewhere.clone());
        waiting.iter().map(one).collect()
    };
    assert_eq!(listed(&waiting), expected);
    for limit in [1, 511, 512, 513, 1000] {
        let some = catalogue.next_migrations(10, limit).expect("migrations");
        assert_eq!(listed(&some), expected[..limit], "{limit}");
    }

    let first = |one: &Migration| (one.file, one.missing[0]);
    let rest: Vec<_> = waiting.iter().map(first).collect();
    let copies: Vec<_> = rest
        .iter()
        .map(|(file, missing)| (*file, missing.number))
        .collect();
    let write = catalogue.begin_write(b, &copies, 13).expect("begun");
    let segments = rest
        .iter()
        .map(|(file, missing)| (*file, missing.number, missing.from, 500 - missing.from));
    let on_b = written(write.first_block, &segments.collect::<Vec<_>>());
    let complete = catalogue
        .commit_write(write.id, &on_b, 14)
        .expect("committed");
    let second = waiting.iter().filter(|one| one.missing.len() > 1);
    let second: Vec<_> = second.map(|one| one.file).collect();
    let done = waiting.iter().map(|one| one.file);
    assert_eq!(
        complete,
        done.filter(|file| !second.contains(file))
            .collect::<Vec<_>>()
    );
    let left = catalogue.next_migrations(99, 9999).expect("migrations");
    assert_eq!(left.iter().map(|one| one.file).collect::<Vec<_>>(), second);
    assert_sound(&*catalogue);
}

fn a_write_takes_no_file_twice_and_none_that_is_unknown(catalogue: Arc<dyn Catalogue>) {
    let a = catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    let stores = [(CacheKey(0), store("film", 500, 2))];
    let film = catalogue.store_cached(&stores, 10).expect("stored")[0].0;
    let refused = |copies: &[_]| catalogue.begin_write(a, copies, 11).expect_err("refused");
    let error = refused(&[(film, 1), (film, 2)]);
    assert!(
        matches!(error, CatalogueError::SameVolume { number: 1, .. }),
        "{error}"
    );
    let error = refused(&[(film, 1), (film, 1)]);
    assert!(
        matches!(error, CatalogueError::CopyExists { number: 1, .. }),
        "{error}"
    );
    let error = refused(&[(film, 1), (FileId(film.0 + 1), 1)]);
    assert!(matches!(error, CatalogueError::NoFile(_)), "{error}");
    // Nothing is left of these.
    assert_eq!(catalogue.open_writes().expect("writes"), []);
    write_whole(&*catalogue, a, &[(film, 1)], 12).expect("written");
}

fn a_compressed_copy_is_whole_when_its_frame_is(catalogue: Arc<dyn Catalogue>) {
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

fn an_announced_file_replaces_the_old_one_when_it_is_on_tape_and_not_before(
    catalogue: Arc<dyn Catalogue>,
) {
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

fn a_lost_copy_is_made_again_from_the_cache_and_named_where_there_is_none(
    catalogue: Arc<dyn Catalogue>,
) {
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
