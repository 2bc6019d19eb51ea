//! The assignment bound and the orders patched from it, against brute force and exact orders.

use crate::common;

use common::{Mix, describe, drive, for_random_cases};
use tapewise_model::{Micros, Random};
use tapewise_order::{Assignment, Problem, is_permutation, opt, patch};

/// The cost of an arc between two cities; the last city is the head as a tail, the end as a head.
fn cost(problem: &Problem, tail: usize, head: usize) -> Micros {
    let end = problem.len();
    match (tail == end, head == end) {
        _ if tail == head => Micros::FAR,
        (true, _) => problem.first_arc(head),
        (_, true) => problem.end_cost(tail),
        _ => problem.arc(tail, head),
    }
}

/// The cheapest assignment by trying every permutation of the columns.
fn brute_force(problem: &Problem, tail: usize, free: &mut Vec<usize>) -> Micros {
    if tail > problem.len() {
        return Micros::ZERO;
    }
    let mut best = Micros::FAR;
    for at in 0..free.len() {
        let head = free.swap_remove(at);
        best = best.min(cost(problem, tail, head) + brute_force(problem, tail + 1, free));
        free.push(head);
        let last = free.len() - 1;
        free.swap(at, last);
    }
    best
}

#[test]
fn it_is_the_cheapest_of_all_assignments_and_proves_it() {
    for_random_cases(1_700, 200, |drive, random, case| {
        let count = random.below(6) as usize + 1;
        let problem = drive.random_problem(count, Mix::Any, random);
        if problem.is_empty() {
            return;
        }
        let assignment = Assignment::new(&problem);
        let cheapest = brute_force(&problem, 0, &mut (0..=problem.len()).collect());
        let context = || describe(drive, &problem, case);
        assert_eq!(assignment.bound(), cheapest, "{}", context());
        assert!(assignment.is_proof(&problem), "{}", context());
    });
}

/// An assignment that costs what its prices promise, which no arc undercuts, is a cheapest one.
fn assert_cheapest(problem: &Problem, assignment: &Assignment, context: impl Fn() -> String) {
    let arcs = assignment.successor.iter().enumerate();
    let spent: Micros = arcs
        .map(|(tail, &head)| cost(problem, tail, head as usize))
        .sum();
    assert!(is_permutation(&assignment.successor), "{}", context());
    assert_eq!(assignment.bound(), spent, "{}", context());
    assert!(assignment.is_proof(problem), "{}", context());
}

#[test]
fn moderate_batches_are_assigned_at_least_cost_too() {
    for_random_cases(340, 205, |drive, random, case| {
        let count = 20 + random.below(400) as usize;
        let problem = drive.random_problem(count, Mix::Any, random);
        let assignment = Assignment::new(&problem);
        assert_cheapest(&problem, &assignment, || describe(drive, &problem, case));
        let costs = |visit: &tapewise_order::Visit| {
            Micros((visit.extents[0].first_block % 7) as i64 * 900_000)
        };
        let dearer = problem.with_arrival_costs(costs);
        let assignment = Assignment::new(&dearer);
        assert_cheapest(&dearer, &assignment, || describe(drive, &dearer, case));
    });
}

#[test]
fn large_batches_begin_from_chains_and_are_assigned_at_least_cost_too() {
    for (stream, name) in ["lto7-m8", "dlt4000", "dlt7000", "dat-4mm"]
        .iter()
        .enumerate()
    {
        let drive = drive(name);
        let mut random = Random::new(206, stream as u64);
        let requests = drive.uniform_requests(2_500, &mut random);
        for read_through in [false, true] {
            let options = tapewise_order::Options {
                read_through,
                ..drive.random_options(&mut random)
            };
            let problem = drive.problem(options, &requests);
            let assignment = Assignment::new(&problem);
            assert_cheapest(&problem, &assignment, || format!("{name} {read_through}"));
            let patched = patch(&problem, &assignment).locate_time(&problem);
            assert!(patched >= assignment.bound(), "{name} {read_through}");
        }
    }
}

#[test]
fn no_order_is_shorter_than_the_bound() {
    for_random_cases(1_700, 201, |drive, random, case| {
        let problem = drive.random_problem(common::few(random), Mix::Any, random);
        let assignment = Assignment::new(&problem);
        let context = || describe(drive, &problem, case);
        if problem.is_empty() {
            return;
        }
        assert!(assignment.is_proof(&problem), "{}", context());
        let patched = patch(&problem, &assignment);
        assert!(is_permutation(patched.visits()) && patched.visits().len() == problem.len());
        assert!(
            patched.locate_time(&problem) >= assignment.bound(),
            "{}",
            context()
        );
        if let Some(exact) = opt(&problem).filter(|_| problem.len() <= 12) {
            let least = exact.locate_time(&problem);
            assert!(least >= assignment.bound(), "{}", context());
            assert!(patched.locate_time(&problem) >= least, "{}", context());
        }
    });
}

#[test]
fn false_prices_are_no_proof() {
    let lto8 = drive("lto8");
    let batch = |stream| {
        let requests = lto8.uniform_requests(20, &mut Random::new(202, stream));
        lto8.problem(lto8.plain_options(), &requests)
    };
    let assignment = Assignment::new(&batch(0));
    assert!(!assignment.is_proof(&batch(1)));
}

#[test]
fn three_hundred_random_reads_of_a_dlt4000_are_patched_to_the_bound() {
    // Cycles that pass the same section are joined for nothing: the patched order is optimal.
    let dlt4000 = drive("dlt4000");
    for stream in 0..3 {
        let mut random = Random::new(203, stream);
        let requests = dlt4000.uniform_requests(300, &mut random);
        let problem = dlt4000.problem(dlt4000.plain_options(), &requests);
        let assignment = Assignment::new(&problem);
        let patched = patch(&problem, &assignment)
            .locate_time(&problem)
            .as_secs_f64();
        assert!(
            patched <= assignment.bound().as_secs_f64() * 1.0002,
            "{patched}"
        );
    }
}
