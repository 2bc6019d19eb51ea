//! Changes of an order are exactly what a recomputation says, on every drive in the house.

use super::batch::Batch;
use super::course::{Course, Swap};
use super::goal::{Goal, Sums};
use super::{Figures, Limits, Objective, Wishes};
use crate::order::Order;
use crate::problem::{End, Options, Problem};
use crate::request::{PlacedExtent, Request};
use crate::tape::Tape;
use tapewise_model::{Micros, NominalLayout, Random, profile};

const DRIVES: [&str; 4] = ["lto7-m8", "dlt4000", "ibm3590", "sony-dtf"];

/// A batch over part of a tape, so that reading times matter, with wishes that bind.
fn random_batch(random: &mut Random, case: u64) -> (Problem, Wishes) {
    let drive = profile::find(DRIVES[(case % DRIVES.len() as u64) as usize]).unwrap();
    let map = drive.nominal_map(NominalLayout::Single, 1 << 15).unwrap();
    let count = 2 + random.below(20);
    let requests: Vec<Request> = (0..count)
        .map(|_| {
            let first = random.below(map.end_block(0) - 20_000);
            let last = first + random.below(20_000);
            let bytes = (last - first + 1) << 15;
            Request::single(PlacedExtent::on_map(&map, 0, first, last, bytes).unwrap())
        })
        .collect();
    let head = map.position(0, random.below(map.end_block(0))).unwrap();
    let end = [End::Anywhere, End::Rewound, End::At(head)][random.below(3) as usize];
    let read_through = random.below(2) == 0;
    let tape = Tape::new(&drive, None).unwrap();
    let problem = Problem::new(
        tape,
        Options {
            head,
            end,
            read_through,
        },
        &requests,
    );
    let sorted: Vec<u32> = (0..problem.len() as u32).collect();
    let horizon = Order::of(sorted).total_time(&problem).0 as u64;
    let deadline = (0..count).map(|_| match random.below(5) {
        0 => None,
        1 => Some(Micros(-(random.below(1_000_000) as i64))),
        _ => Some(Micros(random.below(horizon) as i64)),
    });
    let deadline = deadline.collect();
    let weight = (0..count).map(|_| random.below(4) as u32).collect();
    (problem, Wishes { weight, deadline })
}

fn random_sequence(n: usize, random: &mut Random) -> Vec<u32> {
    let mut sequence: Vec<u32> = (0..n as u32).collect();
    random.shuffle(&mut sequence);
    sequence
}

fn random_swap(n: usize, random: &mut Random) -> Swap {
    let mut places = [0; 3].map(|_| 1 + random.below(n as u64 + 1) as usize);
    while places[0] == places[1] || places[1] == places[2] || places[0] == places[2] {
        places = places.map(|_| 1 + random.below(n as u64 + 1) as usize);
    }
    places.sort_unstable();
    let [a, b, c] = places;
    Swap { a, b, c }
}

#[test]
fn sums_are_those_of_the_plan() {
    for case in 0..400 {
        let random = &mut Random::new(1, case);
        let (problem, wishes) = random_batch(random, case);
        let sequence = random_sequence(problem.len(), random);
        let figures = Figures::of(&problem, &wishes, &Order::of(sequence.clone()));
        let expected = Sums {
            lateness: i128::from(figures.lateness.0),
            total: figures.total.0,
            distance: figures.distance_lpos as i64,
        };
        let batch = Batch::new(&problem, Objective::Deadline, &wishes);
        assert_eq!(batch.sums(&sequence), expected, "case {case}");
        let weights: i64 = (0..problem.requests() as u32)
            .map(|request| i64::from(wishes.weight(request)))
            .sum();
        let batch = Batch::new(&problem, Objective::Mean, &wishes);
        let mean = batch.sums(&sequence).lateness as f64 / weights.max(1) as f64;
        assert!((mean - figures.mean.0 as f64).abs() <= 1.0, "case {case}");
    }
}

#[test]
fn a_swap_changes_exactly_what_a_recomputation_says() {
    let mut better = 0;
    for case in 0..600 {
        let random = &mut Random::new(2, case);
        let (problem, wishes) = random_batch(random, case);
        if problem.len() < 2 {
            continue;
        }
        let objective = Objective::ALL[random.below(3) as usize];
        let batch = Batch::new(&problem, objective, &wishes);
        let mut course = Course::new(&batch, &random_sequence(problem.len(), random));
        let sums = course.sums();
        let limits = Limits {
            distance_lpos: (random.below(2) == 0).then(|| random.below(sums.distance as u64 + 1)),
            total: (random.below(2) == 0).then(|| Micros(random.below(sums.total as u64) as i64)),
            spare_tape: false,
        };
        let goals = [Goal::new(&limits), Goal::sparing(&limits, &sums)];
        for _ in 0..30 {
            let goal = &goals[random.below(2) as usize];
            let swap = random_swap(problem.len(), random);
            let found = course.better(swap, goal);
            let before = course.sums();
            course.swap(swap);
            let fresh = Course::new(&batch, course.sequence());
            assert_eq!(course.sums(), fresh.sums(), "case {case}, {swap:?}");
            let is_better = goal.score(&fresh.sums()) < goal.score(&before);
            assert_eq!(
                found,
                is_better.then_some(fresh.sums()),
                "case {case}, {swap:?}"
            );
            better += usize::from(is_better);
        }
    }
    assert!(better > 3_000, "{better} of 18,000 swaps tested a gain");
}
