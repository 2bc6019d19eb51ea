//! Stage requests: entered, repeated, shared, cancelled, released and forgotten; and read by a mover.

use crate::{catalogue_help, on_each_database, site};

use catalogue_help::{assert_sound, foreign, recorded};
use site::Site;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_archive::catalogue::{
    Answer, CacheKey, Catalogue, Cause, Failure, FileId, NewStage, OpenFiles, RequestId,
    RequestState, Stages, Submitted, WantedFile,
};
use tapewise_archive::mover::Mover;
use tapewise_emulator::Faults;

on_each_database!(
    each_file_of_a_stage_is_found_or_refused_for_itself,
    a_long_stage_asks_once_for_each_file_that_nobody_has_asked_for,
    stages_of_one_file_share_its_recall_and_the_last_one_that_cancels_ends_it,
    a_stage_that_is_sent_again_is_entered_once_and_another_under_its_key_is_refused,
    stages_are_listed_by_user_and_their_recalls_can_be_moved_up,
    a_stage_in_brief_has_what_its_files_say,
    a_recall_is_held_back_while_all_stages_that_want_it_are,
    no_more_files_wait_than_may,
    the_cache_keeps_a_staged_file_for_its_lifetime_from_when_it_arrived,
    stages_are_forgotten_some_time_after_all_of_their_files_ended,
);

const LIFETIME_NS: i64 = 1_000;

fn wanted(path: &str) -> WantedFile {
    WantedFile {
        activity: "production".to_owned(),
        spelling: format!("/{path}"),
        paths: Ok(vec![path.as_bytes().to_vec()]),
        lifetime_ns: LIFETIME_NS,
    }
}

fn stage(id: &str, paths: &[&str]) -> NewStage {
    NewStage {
        id: id.to_owned(),
        user: "ada".to_owned(),
        repeat_key: None,
        asked_hash: vec![1],
        files: paths.iter().map(|path| wanted(path)).collect(),
    }
}

/// Files `a`, `b` and `d/c` on one volume, and `empty`.
fn with_files(catalogue: Arc<dyn Catalogue>) -> Arc<dyn Catalogue> {
    let files = [
        recorded("a", 50, 700),
        recorded("b", 60, 700),
        recorded("d/c", 70, 700),
        recorded("empty", 80, 0),
    ];
    let added = catalogue.add_recorded(&foreign("T00001L8"), &files, 5);
    added.expect("added");
    catalogue
}

fn begin(catalogue: &dyn Catalogue, id: &str, paths: &[&str], at_ns: i64) {
    let begun = catalogue.begin_stage(&stage(id, paths), &[], at_ns);
    assert_eq!(begun.expect("a catalogue"), Submitted::New);
}

fn states(catalogue: &dyn Catalogue, id: &str) -> Vec<RequestState> {
    let stage = catalogue.stage("ada", id).expect("a catalogue");
    let files = stage.expect("a stage").files;
    files.iter().map(|file| file.state).collect()
}

fn file(catalogue: &dyn Catalogue, path: &str) -> tapewise_archive::catalogue::FileId {
    let file = catalogue.live_file(path.as_bytes()).expect("a catalogue");
    file.expect("a live file")
}

fn each_file_of_a_stage_is_found_or_refused_for_itself(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    let mut stage = stage("s", &["a", "d", "empty", "nobody"]);
    stage.files.push(WantedFile {
        activity: String::new(),
        spelling: "/../x".to_owned(),
        paths: Err("it climbs out".to_owned()),
        lifetime_ns: 0,
    });
    let begun = catalogue.begin_stage(&stage, &[], 7).expect("entered");
    assert_eq!(begun, Submitted::New);
    let found = catalogue.stage("ada", "s").expect("a catalogue");
    let files = found.expect("a stage").files;
    let said: Vec<(&str, RequestState, &str)> = files
        .iter()
        .map(|file| {
            let reason = file.reason.as_deref().unwrap_or("");
            (file.spelling.as_str(), file.state, reason)
        })
        .collect();
    assert_eq!(
        said,
        [
            ("/../x", RequestState::Failed, "it climbs out"),
            ("/a", RequestState::Queued, ""),
            (
                "/d",
                RequestState::Failed,
                "this is a directory: ask for the files in it"
            ),
            (
                "/empty",
                RequestState::Failed,
                "the file is empty: there is nothing to bring from tape"
            ),
            (
                "/nobody",
                RequestState::Failed,
                "the archive has no such file"
            ),
        ]
    );
    assert_eq!(catalogue.stage("eve", "s").expect("a catalogue"), None);
    assert_eq!(
        catalogue.unanswered().expect("requests")[0].terms.activity,
        "production"
    );
    assert_sound(catalogue.as_ref());
}

fn a_long_stage_asks_once_for_each_file_that_nobody_has_asked_for(catalogue: Arc<dyn Catalogue>) {
    const FILES: u64 = 1_100;
    let path = |at: u64| format!("f{at:04}");
    let files = (0..FILES).map(|at| recorded(&path(at), 50 + at, 700));
    let files: Vec<_> = files.collect();
    let added = catalogue.add_recorded(&foreign("T00001L8"), &files, 5);
    added.expect("added");
    begin(catalogue.as_ref(), "before", &["f0003", "f1050"], 6);
    let before = catalogue.unanswered().expect("a catalogue");

    // Backwards, every file by a second spelling too, and every tenth is one that nobody has.
    let paths = (0..FILES).rev().flat_map(|at| match at % 10 {
        0 => vec![format!("nobody{at}")],
        _ => vec![path(at), path(at)],
    });
    let mut long = stage("long", &[]);
    long.files = paths.map(|path| wanted(&path)).collect();
    for (at, wanted) in long.files.iter_mut().enumerate() {
        wanted.spelling = format!("{at:05}");
    }
    let begun = catalogue.begin_stage(&long, &[], 7);
    assert_eq!(begun.expect("entered"), Submitted::New);

    let found = catalogue.stage("ada", "long").expect("a catalogue");
    let mut next = before.iter().map(|request| request.id.0).max();
    let mut asked = HashMap::new();
    for (found, wanted) in found.expect("a stage").files.iter().zip(&long.files) {
        let path = &wanted.paths.as_ref().expect("paths")[0];
        let live = catalogue.live_file(path).expect("a catalogue");
        let earlier = before.iter().find(|request| Some(request.file) == live);
        let request = live.map(|file| match earlier {
            Some(earlier) => earlier.id,
            None => *asked.entry(file).or_insert_with(|| {
                next = next.map(|last| last + 1);
                RequestId(next.expect("a number"))
            }),
        });
        assert_eq!((found.file, found.request), (live, request), "{found:?}");
        let state = if live.is_some() {
            RequestState::Queued
        } else {
            RequestState::Failed
        };
        assert_eq!(found.state, state);
    }
    let queue = catalogue.recall_queue().expect("a catalogue");
    let waiting = queue.volumes.iter().flat_map(|volume| &volume.waiting);
    let mut waiting: Vec<_> = waiting.map(|one| (one.file, one.segments.len())).collect();
    waiting.sort_unstable();
    let mut wanted: Vec<_> = asked.keys().copied().collect();
    wanted.extend(before.iter().map(|request| request.file));
    wanted.sort_unstable();
    let wanted: Vec<_> = wanted.into_iter().map(|file| (file, 1)).collect();
    assert_eq!(waiting, wanted);
    assert_sound(catalogue.as_ref());
}

fn stages_of_one_file_share_its_recall_and_the_last_one_that_cancels_ends_it(
    catalogue: Arc<dyn Catalogue>,
) {
    let catalogue = with_files(catalogue);
    begin(catalogue.as_ref(), "one", &["a", "b"], 7);
    begin(catalogue.as_ref(), "two", &["a"], 8);
    let open = catalogue.unanswered().expect("a catalogue");
    assert_eq!(open.len(), 2, "a and b, each once");
    let a = file(catalogue.as_ref(), "a");
    let shared = open.iter().find(|request| request.file == a).expect("a");
    catalogue.start(&[shared.id], 9).expect("started");

    catalogue
        .cancel_stage("one", &["/a".to_owned(), "/b".to_owned()], 10)
        .expect("cancelled");
    assert_eq!(
        states(catalogue.as_ref(), "one"),
        [RequestState::Cancelled; 2]
    );
    assert_eq!(states(catalogue.as_ref(), "two"), [RequestState::Started]);
    let open = catalogue.unanswered().expect("a catalogue");
    assert_eq!(open.len(), 1, "nobody waits for b");

    catalogue.delete_stage("two", 11).expect("deleted");
    assert_eq!(catalogue.stage("ada", "two").expect("a catalogue"), None);
    let request = catalogue.request(shared.id).expect("a request");
    assert_eq!(request.state, RequestState::Cancelled);
    assert_eq!(request.done_ns, Some(11));
}

fn a_stage_that_is_sent_again_is_entered_once_and_another_under_its_key_is_refused(
    catalogue: Arc<dyn Catalogue>,
) {
    let catalogue = with_files(catalogue);
    let first = NewStage {
        repeat_key: Some("mine".to_owned()),
        ..stage("one", &["a"])
    };
    let begun = catalogue.begin_stage(&first, &[], 7).expect("entered");
    assert_eq!(begun, Submitted::New);
    let again = NewStage {
        id: "two".to_owned(),
        ..first.clone()
    };
    let repeated = catalogue.begin_stage(&again, &[], 8).expect("an answer");
    assert_eq!(repeated, Submitted::Repeated("one".to_owned()));
    let other = NewStage {
        asked_hash: vec![2],
        ..again.clone()
    };
    let refused = catalogue.begin_stage(&other, &[], 9).expect("an answer");
    assert_eq!(refused, Submitted::OtherContents);
    let of_eve = NewStage {
        user: "eve".to_owned(),
        ..again
    };
    let begun = catalogue.begin_stage(&of_eve, &[], 10).expect("entered");
    assert_eq!(begun, Submitted::New, "keys are each user's own");
}

fn stages_are_listed_by_user_and_their_recalls_can_be_moved_up(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    begin(catalogue.as_ref(), "one", &["a", "b"], 7);
    let of_eve = NewStage {
        user: "eve".to_owned(),
        ..stage("two", &["d/c"])
    };
    let begun = catalogue.begin_stage(&of_eve, &[], 8);
    assert_eq!(begun.expect("entered"), Submitted::New);
    let listed = |user, limit| {
        let stages = catalogue.stages(user, limit, 0).expect("stages");
        let names = stages.into_iter().map(|stage| (stage.id, stage.user));
        names.collect::<Vec<_>>()
    };
    let [ada, eve] =
        [("one", "ada"), ("two", "eve")].map(|(id, user)| (id.to_owned(), user.to_owned()));
    assert_eq!(listed(None, 10), [eve.clone(), ada.clone()]);
    assert_eq!(listed(None, 1), [eve]);
    assert_eq!(listed(Some("ada"), 10), [ada]);
    let owner = |id| catalogue.stage_owner(id).expect("a catalogue");
    assert_eq!(
        (owner("two").as_deref(), owner("three")),
        (Some("eve"), None)
    );

    catalogue
        .cancel_stage("one", &["/b".to_owned()], 9)
        .expect("cancelled");
    catalogue.prioritise_stage("one", 5).expect("moved up");
    let open = catalogue.unanswered().expect("requests");
    let priorities: Vec<i64> = open.iter().map(|open| open.terms.priority).collect();
    assert_eq!(priorities, [5, 0], "ada's a, and eve's d/c");
}

fn a_stage_in_brief_has_what_its_files_say(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    let catalogue = catalogue.as_ref();
    let more: Vec<_> = (0..6)
        .map(|number| recorded(&format!("m{number}"), 100 + number, 700))
        .collect();
    let added = catalogue.add_recorded(&foreign("T00002L8"), &more, 5);
    added.expect("added");
    let paths = [
        "a", "b", "d/c", "empty", "m0", "m1", "m2", "nobody", "nowhere",
    ];
    begin(catalogue, "s", &paths, 7);
    begin(catalogue, "other", &["a", "b"], 8);
    begin(catalogue, "late", &["m3"], 9);
    let open = catalogue.unanswered().expect("requests");
    let request = |path: &str| {
        let file = file(catalogue, path);
        open.iter().find(|one| one.file == file).expect("open").id
    };
    // Cancelled for this stage only, answered in both ways, begun, and left in the queue.
    let cancelled = catalogue.cancel_stage("s", &["/a".to_owned()], 10);
    cancelled.expect("cancelled");
    let begun = [request("b"), request("d/c"), request("m0")];
    catalogue.start(&begun, 11).expect("started");
    let failure = Failure::new(Cause::NoCopy, "it squeaks");
    let failed = catalogue.answer(request("d/c"), &Answer::Failed(failure), 12);
    failed.expect("answered");
    let delivered = catalogue.answer(request("m0"), &Answer::Delivered, 12);
    delivered.expect("answered");

    let in_brief = |most| catalogue.stages(None, 10, most).expect("stages");
    for brief in in_brief(2) {
        let whole = catalogue.stage("ada", &brief.id).expect("a catalogue");
        let whole = whole.expect("a stage");
        for state in RequestState::ALL {
            let of_state = whole.files.iter().filter(|file| file.state == state);
            let counted = brief.files.get(&state).copied().unwrap_or(0);
            assert_eq!(counted, of_state.count(), "{}: {state:?}", brief.id);
        }
        assert_eq!(brief.open, whole.open());
        let failed = whole.files.into_iter();
        let failed = failed.filter_map(|file| Some((file.spelling, file.reason?)));
        let failed: Vec<(String, String)> = failed.take(2).collect();
        assert_eq!(brief.failed, failed);
        assert_eq!((brief.created_ns, brief.is_held), (whole.created_ns, false));
    }
    let brief = in_brief(10).pop().expect("the first one");
    let ended = brief.files.values().sum::<usize>() - brief.open.len();
    assert_eq!((ended, brief.files.len()), (6, 5), "every state is there");
    assert_eq!(brief.failed.len(), 4);
    assert_eq!(
        brief.failed[0],
        ("/d/c".to_owned(), "it squeaks".to_owned())
    );
}

/// The recalls that may be read, and how many are held back.
fn free_and_held(catalogue: &dyn Catalogue) -> (Vec<FileId>, u64) {
    let queue = catalogue.recall_queue().expect("a queue");
    let volumes = queue.volumes.iter().flat_map(|volume| &volume.waiting);
    let free: Vec<FileId> = volumes.map(|waiting| waiting.file).collect();
    let open = catalogue.open_recalls().expect("a catalogue");
    assert_eq!(open.queued, free.len() as u64);
    let waits = catalogue.waits().expect("a catalogue");
    assert_eq!(
        waits.iter().map(|wait| wait.recalls).sum::<u64>(),
        open.queued
    );
    (free, open.held)
}

fn a_recall_is_held_back_while_all_stages_that_want_it_are(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    let catalogue = catalogue.as_ref();
    begin(catalogue, "one", &["a", "b"], 7);
    let [a, b] = ["a", "b"].map(|path| file(catalogue, path));
    assert_eq!(free_and_held(catalogue), (vec![a, b], 0));
    catalogue.hold_stage("one", true).expect("held");
    assert_eq!(free_and_held(catalogue), (vec![], 2));
    assert_eq!(catalogue.open_recalls().expect("open").oldest_ns, None);
    let stage = catalogue.stage("ada", "one").expect("a catalogue");
    assert!(stage.expect("a stage").is_held);

    // Somebody else wants one of them too, and then no more.
    begin(catalogue, "two", &["a"], 8);
    assert_eq!(free_and_held(catalogue), (vec![a], 1));
    let held = catalogue.held_back().expect("a catalogue");
    let files = held
        .iter()
        .map(|id| catalogue.request(*id).expect("a request").file);
    assert_eq!(files.collect::<Vec<_>>(), [b]);
    let spelling = "/a".to_owned();
    catalogue
        .cancel_stage("two", &[spelling], 9)
        .expect("cancelled");
    assert_eq!(free_and_held(catalogue), (vec![], 2));

    catalogue.hold_stage("one", false).expect("free");
    assert_eq!(free_and_held(catalogue), (vec![a, b], 0));
    assert_sound(catalogue);
}

fn no_more_files_wait_than_may(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    let open = || {
        let of_users = catalogue.open_files().expect("a catalogue");
        let mut of_users: Vec<(String, u64)> = of_users.into_iter().collect();
        of_users.sort();
        of_users
    };
    assert_eq!(open(), []);
    begin(catalogue.as_ref(), "one", &["a", "b", "nobody"], 7);
    let third = NewStage {
        user: "eve".to_owned(),
        repeat_key: Some("mine".to_owned()),
        ..stage("two", &["d/c", "a"])
    };
    let begin = |limits: &[(u64, u64)]| {
        let limits = limits.iter().map(|&(open, most)| OpenFiles { open, most });
        let limits: Vec<OpenFiles> = limits.collect();
        let begun = catalogue.begin_stage(&third, &limits, 8);
        begun.expect("an answer")
    };
    let too_many = Submitted::TooMany(OpenFiles { open: 2, most: 3 });
    assert_eq!(begin(&[(2, 4), (2, 3)]), too_many);
    assert_eq!(begin(&[(2, 4), (0, 2)]), Submitted::New);
    // One that is sent again takes no room.
    assert_eq!(begin(&[(4, 4)]), Submitted::Repeated("two".to_owned()));
    let [ada, eve] = ["ada", "eve"].map(str::to_owned);
    assert_eq!(open(), [(ada, 2), (eve.clone(), 2)]);
    catalogue.delete_stage("one", 9).expect("deleted");
    assert_eq!(open(), [(eve, 2)]);
    let a = file(catalogue.as_ref(), "a");
    let staged = catalogue.stage_cached(CacheKey(1), a, 700, 99);
    staged.expect("in the cache");
    for request in catalogue.unanswered().expect("a catalogue") {
        let answered = catalogue.answer(request.id, &Answer::Delivered, 100);
        answered.expect("answered");
    }
    assert_eq!(open(), []);
}

fn the_cache_keeps_a_staged_file_for_its_lifetime_from_when_it_arrived(
    catalogue: Arc<dyn Catalogue>,
) {
    let catalogue = with_files(catalogue);
    begin(catalogue.as_ref(), "s", &["a", "b"], 7);
    let pinned = |at_ns| {
        let holds = catalogue.cache_holds(at_ns).expect("a catalogue");
        holds.pinned_files
    };
    for (key, name) in [(1, "a"), (2, "b")] {
        let file = file(catalogue.as_ref(), name);
        let staged = catalogue.stage_cached(CacheKey(key), file, 700, 99);
        staged.expect("in the cache");
    }
    let a = catalogue.unanswered().expect("a catalogue")[0].id;
    let delivered = catalogue.answer(a, &Answer::Delivered, 100);
    delivered.expect("answered");
    catalogue.settle_stages(i64::MAX, 101).expect("settled");
    assert_eq!(pinned(100 + LIFETIME_NS - 1), 2);
    assert_eq!(pinned(100 + LIFETIME_NS), 1, "b has no answer yet");

    // A file that is there is not asked of the tape again, and its lifetime begins at once.
    begin(catalogue.as_ref(), "late", &["a"], 500);
    assert_eq!(
        states(catalogue.as_ref(), "late"),
        [RequestState::Delivered]
    );
    assert_eq!(pinned(500 + LIFETIME_NS - 1), 2);
    let b = file(catalogue.as_ref(), "b");
    catalogue.release_stage("s", &[b]).expect("released");
    assert_eq!(pinned(501), 1);
    let a = file(catalogue.as_ref(), "a");
    catalogue.release_files("eve", &[a]).expect("released");
    assert_eq!(pinned(501), 1, "not eve's");
    catalogue.release_files("ada", &[b, a]).expect("released");
    assert_eq!(pinned(501), 0);
}

fn stages_are_forgotten_some_time_after_all_of_their_files_ended(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    begin(catalogue.as_ref(), "open", &["a", "nobody"], 7);
    begin(catalogue.as_ref(), "ended", &["b"], 8);
    let (all, one) = (["/b".to_owned()], "ended");
    catalogue.cancel_stage(one, &all, 10).expect("cancelled");
    assert_eq!(catalogue.settle_stages(100, 109).expect("settled"), 0);
    assert_eq!(catalogue.settle_stages(100, 110).expect("settled"), 1);
    let left = catalogue.stages(None, 10, 0).expect("stages");
    let left: Vec<&str> = left.iter().map(|stage| stage.id.as_str()).collect();
    assert_eq!(left, ["open"]);

    // While the cache keeps a file for it, a stage can be named to release the file.
    begin(catalogue.as_ref(), "long", &["d/c"], 200);
    let waiting = catalogue.unanswered().expect("a catalogue");
    let request = waiting.last().expect("a recall").id;
    let delivered = catalogue.answer(request, &Answer::Delivered, 201);
    delivered.expect("answered");
    let over_ns = 201 + LIFETIME_NS;
    assert_eq!(
        catalogue.settle_stages(100, over_ns - 1).expect("settled"),
        0
    );
    assert_eq!(catalogue.settle_stages(100, over_ns).expect("settled"), 1);
    assert_sound(catalogue.as_ref());
}

#[test]
fn what_is_cancelled_while_its_cartridge_is_read_is_not_read() {
    let mut site = Site::new(1, 2, Faults::none());
    let files = site.store(60, 1, 5);
    let migrated = site.mover(|mover| mover.migrate(i64::MAX));
    migrated.expect("migrated");
    site.empty_cache();
    // The first of ten is empty, and needs no tape.
    let paths: Vec<&str> = files
        .iter()
        .filter(|(_, contents)| !contents.is_empty())
        .map(|(path, _)| path.as_str())
        .collect();
    begin(site.catalogue.as_ref(), "s", &paths, 50);

    let catalogue = Arc::clone(&site.catalogue);
    let was_cancelled = AtomicBool::new(false);
    let cancel_after_the_first = || {
        let stage = catalogue.stage("ada", "s").expect("a catalogue");
        let files = stage.expect("a stage").files;
        let is_delivered = |state| state == RequestState::Delivered;
        if files.iter().any(|file| is_delivered(file.state))
            && !was_cancelled.swap(true, Ordering::Relaxed)
        {
            let all: Vec<String> = files.into_iter().map(|file| file.spelling).collect();
            catalogue.cancel_stage("s", &all, 60).expect("cancelled");
        }
        60
    };
    let mut mover = Mover {
        catalogue: site.catalogue.as_ref(),
        cache: &site.cache,
        pool: &mut site.pool,
        settings: &site.settings,
        log: &mut site.events,
        lessee: None,
        stop: &AtomicBool::new(false),
        now_ns: &cancel_after_the_first,
        new_uuid: &tapewise_archive::mover::random_uuid,
    };
    let recalled = mover.recall().expect("recalled");
    assert!(was_cancelled.into_inner());
    assert_eq!((recalled.delivered, recalled.failed.len()), (1, 0));
    let states = states(site.catalogue.as_ref(), "s");
    let cancelled = |state: &&RequestState| **state == RequestState::Cancelled;
    assert_eq!(states.iter().filter(cancelled).count(), paths.len() - 1);
    let holds = tapewise_archive::catalogue::CacheRecords::cache_holds(site.catalogue.as_ref(), 60);
    let in_cache = holds.expect("a catalogue").files;
    // Small files that share a block are read together.
    let most = paths.len() as u64 / 5;
    assert!(in_cache < most, "{in_cache} files were read");
    site.assert_integrity();
}
