//! The list of recalls that failed: what comes onto it, and what takes it off.

use crate::{catalogue_help, on_each_database};

use catalogue_help::{assert_sound, foreign, recorded};
use std::sync::Arc;
use tapewise_archive::catalogue::{Answer, Catalogue, Cause, Failure, NewRecall, RequestId, Terms};

on_each_database!(
    failures_are_listed_latest_first_until_somebody_dismisses_them,
    what_is_asked_for_again_is_wanted_once_by_whoever_asked_before,
    a_later_recall_to_the_same_place_takes_a_failure_off_the_list,
    attempts_of_one_file_at_one_place_are_one_line,
);

/// Files `a` and `b` on a volume.
fn with_files(catalogue: Arc<dyn Catalogue>) -> Arc<dyn Catalogue> {
    let files = [recorded("a", 50, 700), recorded("b", 60, 700)];
    let added = catalogue.add_recorded(&foreign("T00001L8"), &files, 5);
    added.expect("added");
    catalogue
}

fn recall(catalogue: &dyn Catalogue, path: &str, to: &str, at_ns: i64) -> RequestId {
    let file = catalogue.live_file(path.as_bytes()).expect("a catalogue");
    let recall = NewRecall {
        file: file.expect("a file"),
        terms: Terms {
            user: "ada".to_owned(),
            priority: 3,
            ..Terms::default()
        },
        destination: Some(to.as_bytes().to_vec()),
    };
    catalogue.submit(&[recall], at_ns).expect("asked")[0]
}

fn fail(catalogue: &dyn Catalogue, request: RequestId, at_ns: i64) -> RequestId {
    let failure = Failure::new(Cause::Unreadable, "block 7 cannot be read");
    let answer = Answer::Failed(failure);
    catalogue.answer(request, &answer, at_ns).expect("answered");
    request
}

fn listed(catalogue: &dyn Catalogue) -> Vec<RequestId> {
    let failures = catalogue.failures(10).expect("a list");
    let count = catalogue.failure_count().expect("a number");
    assert_eq!(count, failures.len() as u64);
    failures.into_iter().map(|failure| failure.id).collect()
}

fn failures_are_listed_latest_first_until_somebody_dismisses_them(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    let catalogue = catalogue.as_ref();
    let open = recall(catalogue, "a", "/one", 10);
    let cancelled = recall(catalogue, "a", "/two", 10);
    let answer = Answer::Cancelled;
    catalogue.answer(cancelled, &answer, 11).expect("answered");
    let earlier = fail(catalogue, recall(catalogue, "a", "/x", 10), 12);
    let later = fail(catalogue, recall(catalogue, "b", "/x", 10), 13);
    assert_eq!(listed(catalogue), [later, earlier]);
    let latest = catalogue.failures(1).expect("a list");
    assert_eq!(latest.len(), 1);
    assert_eq!(latest[0].id, later);
    assert_eq!(latest[0].reason.as_deref(), Some("block 7 cannot be read"));

    let left = catalogue.dismiss(&[earlier, open, cancelled, earlier], 14);
    assert_eq!(left.expect("dismissed"), [earlier]);
    assert_eq!(listed(catalogue), [later]);
    assert_sound(catalogue);
}

fn what_is_asked_for_again_is_wanted_once_by_whoever_asked_before(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    let catalogue = catalogue.as_ref();
    let first = fail(catalogue, recall(catalogue, "a", "/x", 10), 12);
    let second = fail(catalogue, recall(catalogue, "a", "/x", 13), 14);
    let elsewhere = fail(catalogue, recall(catalogue, "a", "/y", 13), 15);
    let all = [first, second, elsewhere];
    assert_eq!(catalogue.retry(&all, 20).expect("asked again"), all);
    assert_eq!(listed(catalogue), []);
    let open = catalogue.unanswered().expect("requests");
    let places: Vec<_> = open.iter().map(|one| one.place.as_deref()).collect();
    assert_eq!(places, [Some(&b"/x"[..]), Some(&b"/y"[..])]);
    for one in &open {
        assert_eq!((one.terms.user.as_str(), one.terms.priority), ("ada", 3));
        assert_eq!(one.created_ns, 20);
    }
    assert_eq!(catalogue.retry(&all, 21).expect("nothing"), []);
    assert_sound(catalogue);
}

fn a_later_recall_to_the_same_place_takes_a_failure_off_the_list(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    let catalogue = catalogue.as_ref();
    fail(catalogue, recall(catalogue, "a", "/x", 10), 12);
    let other_place = fail(catalogue, recall(catalogue, "a", "/y", 10), 13);
    let other_file = fail(catalogue, recall(catalogue, "b", "/x", 10), 14);
    let again = recall(catalogue, "a", "/x", 20);
    assert_eq!(listed(catalogue).len(), 3);
    let delivered = Answer::Delivered;
    catalogue.answer(again, &delivered, 21).expect("answered");
    assert_eq!(listed(catalogue), [other_file, other_place]);
}

fn attempts_of_one_file_at_one_place_are_one_line(catalogue: Arc<dyn Catalogue>) {
    let catalogue = with_files(catalogue);
    let catalogue = catalogue.as_ref();
    let first = fail(catalogue, recall(catalogue, "a", "/x", 10), 11);
    let elsewhere = fail(catalogue, recall(catalogue, "a", "/y", 12), 13);
    let second = fail(catalogue, recall(catalogue, "a", "/x", 14), 15);
    assert_eq!(listed(catalogue), [second, elsewhere]);
    let attempts = |of: &[RequestId]| catalogue.attempts(of).expect("numbers");
    assert_eq!(attempts(&[second, elsewhere]), [2, 1]);
    // Whoever still has the number of an earlier attempt means the same.
    let left = catalogue.dismiss(&[first], 16).expect("dismissed");
    assert_eq!((left, listed(catalogue)), (vec![first], vec![elsewhere]));
    assert_eq!(catalogue.retry(&[second], 17).expect("nothing"), []);
    // What somebody has dealt with counts no more.
    let third = fail(catalogue, recall(catalogue, "a", "/x", 18), 19);
    assert_eq!(attempts(&[third]), [1]);
    let all = [third, elsewhere];
    assert_eq!(catalogue.retry(&all, 20).expect("asked again"), all);
    assert_eq!(listed(catalogue), []);
    assert_sound(catalogue);
}
