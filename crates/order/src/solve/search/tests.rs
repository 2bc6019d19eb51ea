//! Every kind of exchange against a naive one, on all drives; and the search against the optimum.

use super::candidates::Candidates;
use super::chain::{CLOSED, DOUBLE_BRIDGE};
use super::search;
use super::tour::{Exchange, Tour};
use crate::common::{Mix, describe, for_random_cases};
use crate::order::{Order, is_permutation};
use crate::orders::opt::opt;
use crate::problem::Problem;
use crate::solve::assignment::Assignment;
use crate::solve::cities::Cities;
use crate::solve::effort::{Effort, Meter};
use std::cell::Cell;
use tapewise_model::Random;

/// Candidates by the prices of the assignment, or by plain costs.
fn candidates(problem: &Problem, cities: &Cities, kind: u64) -> Candidates {
    let assignment = Assignment::new(problem);
    let none = vec![0; cities.len()];
    match kind % 3 {
        0 => Candidates::dense(cities, &none, &none, 8, 4),
        1 => Candidates::dense(cities, &assignment.rows, &assignment.columns, 8, 4),
        _ => Candidates::sparse(cities, &assignment),
    }
}

fn shuffled(length: usize, random: &mut Random) -> Vec<u32> {
    let mut sequence: Vec<u32> = (0..length as u32).collect();
    random.shuffle(&mut sequence);
    sequence
}

fn searched(
    problem: &Problem,
    start: &Order,
    work: u64,
    seed: u64,
    out_of_time: &dyn Fn() -> bool,
) -> Order {
    let cities = Cities::dense(problem);
    let candidates = candidates(problem, &cities, seed);
    let effort = Effort {
        out_of_time,
        ..Effort::usual()
    };
    let meter = Meter::new(&effort, work);
    search(&cities, start, &candidates, seed, &meter)
}

/// The tour after an exchange, one successor after the other; `None` where it falls apart.
fn exchanged(tour: &Tour, exchange: Exchange) -> Option<Vec<u32>> {
    let cities = 0..tour.len() as u32;
    let mut successor: Vec<u32> = cities.map(|city| tour.next(city)).collect();
    for (&tail, &to) in exchange.tails.iter().zip(exchange.to) {
        successor[tail as usize] = tour.next(exchange.tails[to as usize]);
    }
    let mut sequence = vec![0];
    loop {
        let next = successor[sequence[sequence.len() - 1] as usize];
        if next == 0 {
            return Some(sequence).filter(|sequence| sequence.len() == tour.len());
        }
        sequence.push(next);
    }
}

fn from_zero(tour: &Tour) -> Vec<u32> {
    let follow = |&city: &u32| Some(tour.next(city)).filter(|&next| next != 0);
    std::iter::successors(Some(0), follow).collect()
}

fn plain_cost(cities: &Cities, sequence: &[u32]) -> i64 {
    let next = sequence.iter().cycle().skip(1);
    let arcs = sequence.iter().zip(next);
    arcs.map(|(&tail, &head)| cities.cost(tail as usize, head as usize))
        .sum()
}

#[test]
fn exchanges_keep_or_break_the_tour_gain_and_go_back_as_naive_ones_do() {
    let (mut whole, mut broken) = (0, 0);
    for_random_cases(1_700, 301, |drive, random, case| {
        let count = 4 + crate::common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let cities = Cities::dense(&problem);
        if cities.len() < 5 {
            return;
        }
        let candidates = candidates(&problem, &cities, random.below(3));
        let start = shuffled(cities.len(), random);
        let mut tour = Tour::new(&cities, &candidates, start);
        let began = (from_zero(&tour), tour.total());
        for _ in 0..20 {
            let kinds = [CLOSED[3], DOUBLE_BRIDGE, CLOSED[5], CLOSED[4], CLOSED[2]];
            let to = kinds[random.below(5) as usize];
            let tails = &shuffled(tour.len(), random)[..to.len()];
            let exchange = Exchange { tails, to };
            let expected = exchanged(&tour, exchange);
            assert_eq!(tour.stays_whole(exchange), expected.is_some());
            let Some(expected) = expected else {
                broken += 1;
                continue;
            };
            whole += 1;
            let before = (plain_cost(&cities, &from_zero(&tour)), tour.total());
            tour.apply(exchange);
            assert_eq!(from_zero(&tour), expected, "case {case}");
            let after = (plain_cost(&cities, &expected), tour.total());
            assert_eq!(after.0 - before.0, after.1 - before.1, "case {case}");
            for &city in &expected {
                assert_eq!(tour.at(tour.place(city)), city);
                assert_eq!(tour.leaving(city), tour.reduced(city, tour.next(city)));
            }
        }
        tour.undo();
        assert_eq!((from_zero(&tour), tour.total()), began, "case {case}");
    });
    assert!(whole > 1_000 && broken > 1_000, "{whole} {broken}");
}

#[test]
fn what_is_found_is_never_longer_and_the_same_for_a_seed() {
    for_random_cases(1_020, 302, |drive, random, case| {
        let count = crate::common::few(random);
        let problem = drive.random_problem(count, Mix::Any, random);
        let start = Order::of(shuffled(problem.len(), random));
        let work = [0, 1, random.below(2_000), 40_000][random.below(4) as usize];
        let found = searched(&problem, &start, work, case, &|| false);
        assert!(
            is_permutation(found.visits())
                && found.visits().len() == problem.len()
                && found.total_time(&problem) <= start.total_time(&problem),
            "{}",
            describe(drive, &problem, case)
        );
        assert!(work > 0 || found == start, "no work, no change");
        assert_eq!(searched(&problem, &start, work, case, &|| false), found);
    });
}

#[test]
fn a_clock_cuts_the_search_short_wherever_it_stands() {
    for_random_cases(510, 303, |drive, random, case| {
        let problem = drive.random_problem(20 + crate::common::few(random), Mix::Any, random);
        let start = Order::of(shuffled(problem.len(), random));
        let looks = Cell::new(random.below(500));
        let clock = || {
            looks.set(looks.get().saturating_sub(1));
            looks.get() == 0
        };
        let found = searched(&problem, &start, u64::MAX, case, &clock);
        assert!(is_permutation(found.visits()));
        assert!(found.total_time(&problem) <= start.total_time(&problem));
    });
}

#[test]
fn small_batches_come_out_optimal() {
    let (mut cases, mut missed) = (0, 0);
    for_random_cases(1_700, 304, |drive, random, case| {
        let count = random.below(10) as usize;
        let problem = drive.random_problem(count, Mix::Any, random);
        let start = Order::of(shuffled(problem.len(), random));
        let found = searched(&problem, &start, 40_000, case, &|| false);
        let optimum = opt(&problem).unwrap().total_time(&problem);
        assert!(found.total_time(&problem) >= optimum);
        cases += 1;
        missed += u32::from(found.total_time(&problem) > optimum);
    });
    println!("{missed} of {cases} missed the optimum");
    assert!(cases == 1_700 && missed <= 17, "{missed}");
}

#[test]
fn candidates_are_the_cheapest_arcs_to_and_from_each_city() {
    for_random_cases(170, 305, |drive, random, _| {
        let problem = drive.random_problem(20, Mix::Any, random);
        let cities = Cities::dense(&problem);
        let candidates = candidates(&problem, &cities, 1);
        let n = cities.len() as u32;
        let mut listed = Vec::new();
        for head in 0..n {
            let arcs = candidates.to(head);
            assert!(arcs.is_sorted());
            for arc in arcs {
                assert_eq!(arc.reduced, candidates.reduced(&cities, arc.tail, head));
                listed.push((arc.tail, head));
            }
            assert!(arcs.len() >= 4.min(cities.len() - 1));
            let others = (0..n).filter(|&tail| tail != head);
            let mut all: Vec<i64> = others
                .map(|tail| candidates.reduced(&cities, tail, head))
                .collect();
            all.sort_unstable();
            let cheapest: Vec<i64> = arcs.iter().map(|arc| arc.reduced).take(4).collect();
            assert_eq!(cheapest, all[..cheapest.len()]);
        }
        let count = listed.len();
        listed.sort_unstable();
        listed.dedup();
        assert_eq!(listed.len(), count, "every arc once");
        for tail in 0..n {
            let heads = listed.iter().filter(|arc| arc.0 == tail).count();
            assert!(heads >= 8.min(cities.len() - 1));
        }
    });
}
