//! The count of recalls that have ended.

use crate::{catalogue_help, on_each_database};

use catalogue_help::{foreign, recorded};
use std::sync::Arc;
use tapewise_archive::catalogue::{
    Answer, Catalogue, Cause, Ended, Failure, FileId, NewRecall, RequestId, Tally, Terms,
};
use tapewise_model::Random;

on_each_database!(
    a_count_that_is_gone_on_with_is_that_of_all_recalls,
    one_recall_that_stays_open_does_not_have_all_after_it_counted_again,
);

/// Bytes of the file of a number.
fn bytes(number: u64) -> u64 {
    100 + number
}

fn submit(catalogue: &dyn Catalogue, file: FileId, at_ns: i64) -> RequestId {
    let recall = NewRecall {
        file,
        terms: Terms::default(),
        destination: Some(at_ns.to_string().into_bytes()),
    };
    catalogue.submit(&[recall], at_ns).expect("asked")[0]
}

/// Adds the files of the numbers below five.
fn add_files(catalogue: &dyn Catalogue) {
    let named = |number: u64| recorded(&number.to_string(), 10 + number, bytes(number));
    let files: Vec<_> = (0..5).map(named).collect();
    let added = catalogue.add_recorded(&foreign("T00001L8"), &files, 1);
    added.expect("added");
}

fn one_recall_that_stays_open_does_not_have_all_after_it_counted_again(
    catalogue: Arc<dyn Catalogue>,
) {
    let catalogue = catalogue.as_ref();
    add_files(catalogue);
    let file = catalogue.live_file(b"0").expect("a catalogue");
    let file = file.expect("a file");
    let open = submit(catalogue, file, 1);
    let mut tally = Tally::by_blocks_of(10);
    for at_ns in 2..100 {
        let request = submit(catalogue, file, at_ns);
        let answered = catalogue.answer(request, &Answer::Delivered, at_ns);
        answered.expect("answered");
        tally = catalogue.tally(&tally).expect("a count");
        assert!(tally.counted_again() <= 2, "its own block and the newest");
    }
    assert_eq!(tally.total().delivered, 98);
    let answered = catalogue.answer(open, &Answer::Delivered, 100);
    answered.expect("answered");
    tally = catalogue.tally(&tally).expect("a count");
    assert_eq!((tally.total().delivered, tally.counted_again()), (99, 1));

    // As after the restore of a catalogue from before.
    let restored = Tally::by_blocks_of(10).total();
    assert_eq!(restored.since(tally.total()), Ended::default());
    assert_eq!(tally.total().since(restored).delivered, 99);
}

fn a_count_that_is_gone_on_with_is_that_of_all_recalls(catalogue: Arc<dyn Catalogue>) {
    add_files(catalogue.as_ref());
    let file = |number: u64| {
        let path = number.to_string();
        let found = catalogue.live_file(path.as_bytes()).expect("a catalogue");
        found.expect("a file")
    };
    let mut random = Random::new(3, 1);
    let (mut open, mut expected) = (Vec::new(), Ended::default());
    let mut tally = Tally::by_blocks_of(7);
    for at_ns in 2..200 {
        // As many come as go, so that now and then nothing is open.
        if open.is_empty() || random.below(2) == 0 {
            let number = random.below(5);
            open.push((submit(&*catalogue, file(number), at_ns), number));
        } else {
            let (request, number) = open.swap_remove(random.below(open.len() as u64) as usize);
            let answer = match random.below(3) {
                0 => Answer::Cancelled,
                1 => Answer::Failed(Failure::new(Cause::Unreadable, "it is gone")),
                _ => Answer::Delivered,
            };
            match answer {
                Answer::Delivered => {
                    expected.delivered += 1;
                    expected.bytes += bytes(number);
                }
                Answer::Failed(_) => expected.failed += 1,
                Answer::Cancelled => {}
            }
            let answered = catalogue.answer(request, &answer, at_ns);
            answered.expect("answered");
        }
        // Whoever looks now and then finds the same as whoever looks for the first time.
        if random.below(3) == 0 {
            tally = catalogue.tally(&tally).expect("a count");
            assert_eq!(tally.total(), expected);
            let anew = catalogue.tally(&Tally::default()).expect("a count");
            assert_eq!(anew.total(), expected);
        }
    }
    assert!(expected.delivered > 10 && expected.failed > 10);
}
