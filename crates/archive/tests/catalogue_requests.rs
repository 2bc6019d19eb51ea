//! Requests of a catalogue.

use crate::catalogue_help;
use crate::on_each_database;

use catalogue_help::{foreign, recorded, store};
use std::sync::Arc;
use tapewise_archive::catalogue::{
    Answer, Begun, BegunMount, CacheKey, Catalogue, CatalogueError, Cause, Failure, FileId,
    NewRecall, Newest, RecallQueue, RequestId, RequestState, Terms, VolumeWait,
};
use tapewise_sim::mounts::Owner;

on_each_database!(
    a_recall_joins_one_that_is_open_for_its_file_and_place_and_no_other,
    the_latest_recalls_are_those_that_were_entered_last,
    a_request_is_answered_once_and_what_was_started_is_found_after_a_kill,
    what_drives_have_begun_is_known_by_mount_and_by_directory,
    the_newest_request_tells_whether_a_volume_is_wanted_for_more,
    recalls_wait_by_volume_and_those_that_need_none_stand_apart,
    some_of_the_queue_is_as_it_is_in_the_whole,
    of_a_long_list_all_recalls_are_entered_in_its_order_or_none,
);

fn recall(file: tapewise_archive::catalogue::FileId) -> NewRecall {
    NewRecall {
        file,
        terms: Terms::default(),
        destination: Some(b"/home/ada/x".to_vec()),
    }
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
    // What is answered stays so; of a list with one that is, nothing is started.
    catalogue.requeue(&ids).expect("requeued");
    assert_eq!(
        catalogue.request(ids[0]).expect("it").state,
        RequestState::Delivered
    );
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
    let among = catalogue.unanswered_among(&ids).expect("an answer");
    assert_eq!(among, ids[1..]);
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
    for of_volume in &queue.volumes {
        let of_label = catalogue.recalls_of(&of_volume.label).expect("a queue");
        assert_eq!(of_label.as_ref(), Some(of_volume));
    }
    assert_eq!(catalogue.recalls_of("C00001L8").expect("a queue"), None);
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

fn some_of_the_queue_is_as_it_is_in_the_whole(catalogue: Arc<dyn Catalogue>) {
    let files = [recorded("a", 50, 700), recorded("b", 60, 700)];
    catalogue
        .add_recorded(&foreign("A00001L8"), &files, 5)
        .expect("added");
    let [a, b] = ["a", "b"].map(|path| {
        let file = catalogue.live_file(path.as_bytes()).expect("an answer");
        recall(file.expect("it"))
    });
    let first = catalogue.submit(&[a.clone(), b.clone()], 8).expect("asked");
    let whole = catalogue.recall_queue().expect("a queue");
    assert_eq!(whole.newest, first[1]);
    let requests = |queue: &RecallQueue| -> Vec<RequestId> {
        let volumes = queue.volumes.iter();
        let waiting = volumes.flat_map(|volume| &volume.waiting);
        waiting.map(|one| one.request).collect()
    };
    let second = catalogue.submit(&[b, a], 9).expect("asked");
    let newer = catalogue.recalls_after(whole.newest).expect("a queue");
    assert_eq!(
        (requests(&newer), newer.newest),
        (second.clone(), second[1])
    );
    assert_eq!(newer.volumes[0].volume, whole.volumes[0].volume);
    catalogue.start(&[first[0]], 10).expect("begun");
    let asked = [second[1], first[1], first[0]];
    let some = catalogue.recalls_among(&asked).expect("a queue");
    assert_eq!(requests(&some), [first[1], second[1]]);
    assert_eq!(some.volumes[0].waiting[0], whole.volumes[0].waiting[1]);
    let none = catalogue.recalls_after(newer.newest).expect("a queue");
    assert_eq!((requests(&none), none.newest), (Vec::new(), second[1]));
}

fn of_a_long_list_all_recalls_are_entered_in_its_order_or_none(catalogue: Arc<dyn Catalogue>) {
    const FILES: u64 = 700;
    let files = (0..FILES).map(|at| recorded(&format!("f{at}"), 50 + at, 700));
    let files: Vec<_> = files.collect();
    let volume = foreign("A00001L8");
    catalogue.add_recorded(&volume, &files, 5).expect("added");
    let file = |at: u64| {
        let path = format!("f{at}").into_bytes();
        catalogue.live_file(&path).expect("an answer").expect("it")
    };
    let mut recalls: Vec<NewRecall> = (0..FILES).rev().map(|at| recall(file(at))).collect();
    let nobody = FileId(1_000_000);
    recalls.insert(600, recall(nobody));
    let error = catalogue.submit(&recalls, 10).expect_err("no such file");
    assert!(
        matches!(error, CatalogueError::NoFile(file) if file == nobody),
        "{error}"
    );
    assert!(catalogue.unanswered().expect("open").is_empty());

    recalls.remove(600);
    let ids = catalogue.submit(&recalls, 10).expect("entered");
    let open = catalogue.unanswered().expect("open");
    let open: Vec<_> = open
        .iter()
        .map(|request| (request.id, request.file))
        .collect();
    let expected = ids
        .iter()
        .copied()
        .zip(recalls.iter().map(|recall| recall.file));
    assert_eq!(open, expected.collect::<Vec<_>>());
    // Whoever asks for some of them again joins, and one more is new.
    let again = [recall(file(3)), recall(file(5)), recall(file(3))];
    let elsewhere = NewRecall {
        destination: None,
        ..recall(file(3))
    };
    let again = [&again[..], &[elsewhere.clone(), elsewhere]].concat();
    let joined = catalogue.join(&again, 11).expect("joined");
    let of = |at: u64| ids[(FILES - 1 - at) as usize];
    let new = RequestId(ids[FILES as usize - 1].0 + 1);
    assert_eq!(joined, [of(3), of(5), of(3), new, new]);
}

/// Files `f0`, `f1` and so on of a volume.
fn files_of(catalogue: &dyn Catalogue, count: u64) -> Vec<FileId> {
    let files = (0..count).map(|at| recorded(&format!("f{at}"), 50 + at, 700));
    let files: Vec<_> = files.collect();
    let volume = foreign("A00001L8");
    catalogue.add_recorded(&volume, &files, 5).expect("added");
    let file = |at: u64| catalogue.live_file(format!("f{at}").as_bytes());
    let found = (0..count).map(|at| file(at).expect("an answer").expect("it"));
    found.collect()
}

fn a_recall_joins_one_that_is_open_for_its_file_and_place_and_no_other(
    catalogue: Arc<dyn Catalogue>,
) {
    let files = files_of(&*catalogue, 600);
    let to = |place: Option<&str>, file: FileId| NewRecall {
        destination: place.map(|place| place.as_bytes().to_vec()),
        ..recall(file)
    };
    let places = [None, Some("/a"), Some("/b")];
    let some = files.iter().step_by(2);
    let before: Vec<NewRecall> = some
        .flat_map(|&file| places[..2].iter().map(move |place| to(*place, file)))
        .collect();
    let ids = catalogue.submit(&before, 10).expect("submitted");
    catalogue.start(&ids[..30], 11).expect("started");
    let ended = ids.iter().step_by(5);
    let ended: Vec<RequestId> = ended.copied().collect();
    for &id in &ended {
        catalogue
            .answer(id, &Answer::Cancelled, 12)
            .expect("answered");
    }
    // The rule: among all that is open, a recall of the same file to the same place.
    let open = catalogue.unanswered().expect("open");
    let open_for = |one: &NewRecall| {
        let same = open
            .iter()
            .find(|request| (request.file, &request.place) == (one.file, &one.destination));
        same.map(|request| request.id)
    };
    let wanted: Vec<NewRecall> = files
        .iter()
        .flat_map(|&file| places.map(|place| to(place, file)))
        .collect();
    let joined = catalogue.join(&wanted, 13).expect("joined");
    let mut next = ids[ids.len() - 1].0;
    for (recall, id) in wanted.iter().zip(joined) {
        let expected = open_for(recall).unwrap_or_else(|| {
            next += 1;
            RequestId(next)
        });
        assert_eq!(id, expected, "{recall:?}");
    }
    let twice = [to(Some("/c"), files[0]), to(Some("/c"), files[0])];
    let joined = catalogue.join(&twice, 14).expect("joined");
    assert_eq!(joined[0], joined[1]);
}

fn the_latest_recalls_are_those_that_were_entered_last(catalogue: Arc<dyn Catalogue>) {
    let files = files_of(&*catalogue, 4);
    // The clock was set back before the last one. A store is no recall.
    for (&file, at_ns) in files.iter().zip([10, 20, 30, 15]) {
        catalogue.submit(&[recall(file)], at_ns).expect("submitted");
    }
    catalogue
        .store_cached(&[(CacheKey(0), store("cached", 9, 1))], 40)
        .expect("stored");
    let latest = |most: usize| -> Vec<(i64, i64)> {
        let asked = catalogue.asked(most).expect("an answer").into_iter();
        asked.map(|one| (one.file, one.at_ns)).collect()
    };
    let of = |at: usize, at_ns: i64| (files[at].0, at_ns);
    assert_eq!(latest(2), [of(3, 15), of(2, 30)]);
    assert_eq!(latest(9), [of(3, 15), of(2, 30), of(1, 20), of(0, 10)]);
}
