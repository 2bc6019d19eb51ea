//! The drive's own order: its answer as an order, and the stand-in.

use crate::common;

use common::{Mix, describe, drive, few, for_random_cases};
use tapewise_model::{Micros, Random};
use tapewise_order::{Problem, RAO_WINDOW, SequenceFault, emulated_rao, rao, sort};

#[test]
fn a_drives_sequence_of_requests_is_an_order_of_visits() {
    let lto9 = drive("lto9");
    // Requests 0 and 2 share block 50 and are read together, where the drive has the first of them.
    let requests = [(40, 50), (900, 910), (50, 60), (7, 9)].map(|(a, b)| lto9.request(a, b));
    let problem = lto9.problem(lto9.plain_options(), &requests);
    let order = rao(&problem, &[1, 2, 3, 0]).unwrap();
    assert_eq!(order.requests(&problem), [1, 0, 2, 3]);
    assert_eq!(order.visits(), [2, 1, 0]);
}

#[test]
fn any_permutation_of_the_requests_is_followed() {
    for_random_cases(3_000, 70, |drive, random, case| {
        let problem = drive.random_problem(few(random), Mix::Any, random);
        let mut asked = sort(&problem).requests(&problem);
        random.shuffle(&mut asked);
        let order = rao(&problem, &asked).unwrap();
        // Each visit stands where the first of its requests does.
        let first = |&visit: &u32| {
            let requests = &problem.visits()[visit as usize].requests;
            asked.iter().position(|request| requests.contains(request))
        };
        assert_eq!(order.visits().len(), problem.len());
        assert!(
            order.visits().is_sorted_by_key(first),
            "{}",
            describe(drive, &problem, case)
        );
    });
}

#[test]
fn what_is_no_permutation_is_refused() {
    for_random_cases(1_000, 71, |drive, random, _| {
        let requests = 2 + few(random);
        let problem = drive.random_problem(requests, Mix::Any, random);
        let asked = sort(&problem).requests(&problem);
        if asked.is_empty() {
            return;
        }
        let at = random.below(asked.len() as u64) as usize;
        let mut one_missing = asked.clone();
        let missing = one_missing.remove(at);
        assert_eq!(
            rao(&problem, &one_missing),
            Err(SequenceFault::Missing(missing))
        );
        let twice = [&asked[..], &asked[at..=at]].concat();
        assert_eq!(rao(&problem, &twice), Err(SequenceFault::Twice(asked[at])));
        let empty = (0..requests as u32).find(|request| !asked.contains(request));
        let unknown = empty.unwrap_or(requests as u32);
        let with_unknown = [&asked[..], &[unknown]].concat();
        assert_eq!(
            rao(&problem, &with_unknown),
            Err(SequenceFault::Unknown(unknown))
        );
    });
}

/// The next visit by the words of the documentation: of the four nearest, by time and then by
/// place, the one with the least time to it and from it to the nearest of the others.
fn next(problem: &Problem, from: Option<usize>, window: &[usize]) -> usize {
    let time = |to: usize| problem.motion(from, to).0;
    let mut near = window.to_vec();
    near.sort_by_key(|&visit| (time(visit), visit));
    near.truncate(4);
    let with_next = |&visit: &usize| {
        let others = window.iter().filter(|&&other| other != visit);
        let nearest = others
            .map(|&other| problem.motion(Some(visit), other).0)
            .min();
        (time(visit) + nearest.unwrap_or(Micros::ZERO), visit)
    };
    near.into_iter().min_by_key(with_next).unwrap()
}

#[test]
fn the_emulation_looks_one_step_ahead_from_where_the_head_is() {
    for_random_cases(1_500, 72, |drive, random, case| {
        let problem = drive.random_problem(few(random), Mix::Any, random);
        let mut unread: Vec<usize> = (0..problem.len()).collect();
        let mut from = None;
        for &visit in emulated_rao(&problem).visits() {
            let expected = next(&problem, from, &unread);
            assert_eq!(
                visit as usize,
                expected,
                "{}",
                describe(drive, &problem, case)
            );
            unread.retain(|&other| other != expected);
            from = Some(expected);
        }
        assert!(unread.is_empty());
    });
}

#[test]
fn the_emulation_goes_window_by_window() {
    let lto9 = drive("lto9");
    let requests = lto9.uniform_requests(RAO_WINDOW + 40, &mut Random::new(3, 0));
    let problem = lto9.problem(lto9.plain_options(), &requests);
    let order = emulated_rao(&problem);
    let (first, second) = order.visits().split_at(RAO_WINDOW);
    assert!(first.iter().all(|&visit| (visit as usize) < RAO_WINDOW));
    // The second begins where the first ends.
    let rest: Vec<usize> = (RAO_WINDOW..problem.len()).collect();
    let last = first[RAO_WINDOW - 1] as usize;
    assert_eq!(second[0] as usize, next(&problem, Some(last), &rest));
}
