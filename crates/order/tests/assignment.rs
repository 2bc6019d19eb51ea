//! The assignment bound and the orders patched from it, against brute force and exact orders.

mod common;

use common::{Mix, describe, drive, for_random_cases};
use tapewise_model::{Micros, Random};
use tapewise_order::{ArcMatrix, Assignment, Problem, is_permutation, lower_bound, opt, patch};

fn solved(problem: &Problem) -> (ArcMatrix, Assignment) {
    let matrix = ArcMatrix::new(problem).expect("a batch of moderate size");
    let assignment = Assignment::solve(&matrix);
    (matrix, assignment)
}

/// The cheapest assignment by trying every permutation of the columns.
fn brute_force(matrix: &ArcMatrix, tail: usize, free: &mut Vec<usize>) -> i64 {
    if tail == matrix.cities() {
        return 0;
    }
    let mut best = i64::MAX;
    for at in 0..free.len() {
        let head = free.swap_remove(at);
        best = best.min(matrix.cost(tail, head) + brute_force(matrix, tail + 1, free));
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
        let (matrix, assignment) = solved(&problem);
        let cheapest = brute_force(&matrix, 0, &mut (0..matrix.cities()).collect());
        let context = || describe(drive, &problem, case);
        assert_eq!(assignment.bound(), Micros(cheapest), "{}", context());
        assert!(assignment.is_proof(&matrix), "{}", context());
    });
}

#[test]
fn no_order_is_shorter_than_the_bound() {
    for_random_cases(1_700, 201, |drive, random, case| {
        let problem = drive.random_problem(common::few(random), Mix::Any, random);
        let (matrix, assignment) = solved(&problem);
        let context = || describe(drive, &problem, case);
        if problem.is_empty() {
            return;
        }
        assert!(assignment.is_proof(&matrix), "{}", context());
        let patched = patch(&matrix, &assignment);
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
    let (matrix, assignment) = solved(&batch(0));
    let (other, _) = solved(&batch(1));
    assert_eq!(other.cities(), matrix.cities());
    assert!(!assignment.is_proof(&other));
}

#[test]
fn three_hundred_random_reads_of_a_dlt4000_are_patched_to_the_bound() {
    // Cycles that pass the same section are joined for nothing: the patched order is optimal.
    let dlt4000 = drive("dlt4000");
    for stream in 0..3 {
        let mut random = Random::new(203, stream);
        let requests = dlt4000.uniform_requests(300, &mut random);
        let problem = dlt4000.problem(dlt4000.plain_options(), &requests);
        let (matrix, assignment) = solved(&problem);
        let patched = patch(&matrix, &assignment)
            .locate_time(&problem)
            .as_secs_f64();
        assert!(
            patched <= assignment.bound().as_secs_f64() * 1.0002,
            "{patched}"
        );
    }
}

#[test]
fn the_lower_bound_is_the_optimum_of_small_batches_and_holds_for_larger_ones() {
    for_random_cases(340, 204, |drive, random, case| {
        let problem = drive.random_problem(common::few(random), Mix::Any, random);
        let bound = lower_bound(&problem).expect("a batch of moderate size");
        let best = tapewise_order::Scenarios::new(&problem, None);
        let inputs = tapewise_order::Inputs::new(&best);
        let order = tapewise_order::Algorithm::Best.order(&problem, &inputs);
        let total = order
            .expect("the default always applies")
            .total_time(&problem);
        assert!(total >= bound, "{}", describe(drive, &problem, case));
        if problem.len() <= 16 {
            assert_eq!(total, bound, "{}", describe(drive, &problem, case));
        }
    });
}
