//! Expected times against the times themselves and against tapes drawn at random.

use super::{Expected, mean_doubt_wraps};
use crate::orders::sort::sort;
use crate::problem::{End, Options, Problem};
use crate::request::{PlacedExtent, Request};
use crate::solve::tour::Tour;
use crate::tape::Tape;
use crate::{Order, is_permutation};
use tapewise_model::{LearnedMap, NominalLayout, Position, Random, profile};

fn batch(drive: &str, files: usize, share_error: f64, seed: u64) -> (Problem, LearnedMap) {
    let profile = profile::find(drive).unwrap();
    let tape = Tape::new(&profile, None).unwrap();
    let map = profile.nominal_map(NominalLayout::Single, 1 << 19).unwrap();
    let source = map.source();
    let map = map.with_errors(source, share_error, 0);
    let mut random = Random::new(seed, 0);
    let requests: Vec<Request> = (0..files)
        .map(|_| {
            let first = random.below(map.end_block(0) - 2_000);
            Request::single(PlacedExtent::on_map(&map, 0, first, first + 1_000, 1 << 29).unwrap())
        })
        .collect();
    let options = Options {
        head: Position::beginning_of_tape(tape.geometry.lpos_min),
        end: End::Rewound,
        read_through: true,
    };
    let learned = LearnedMap::new(map, &tape.geometry);
    (Problem::new(tape, options, &requests), learned)
}

#[test]
fn without_doubt_the_expected_times_are_the_times() {
    for drive in ["lto8", "ibm3590"] {
        let (problem, map) = batch(drive, 40, 0.0, 1);
        assert_eq!(mean_doubt_wraps(&problem, &map), 0.0);
        let expected = Expected::new(&problem, &map);
        let n = problem.len();
        let time = |from, to| expected.cities.cost(from, to);
        for from in 0..n {
            for to in (0..n).filter(|&to| to != from) {
                assert_eq!(time(from, to), problem.arc(from, to).0);
            }
            assert_eq!(time(n, from), problem.first_arc(from).0);
            assert_eq!(time(from, n), problem.end_cost(from).0);
        }
    }
}

#[test]
fn no_order_becomes_longer_and_each_stays_a_permutation() {
    for seed in 0..30 {
        let files = 2 + seed as usize * 3;
        let (problem, map) = batch("lto8", files, 0.01, seed);
        let expected = Expected::new(&problem, &map);
        let n = problem.len() as u32;
        let length = |order: &Order| Tour::of_order(&expected.cities, order).cost;
        let mut shuffled: Vec<u32> = (0..n).collect();
        Random::new(seed, 1).shuffle(&mut shuffled);
        let orders = [sort(&problem), Order::of(shuffled)];
        let least = expected.least(&orders).unwrap();
        assert!(is_permutation(least.visits()) && least.visits().len() == n as usize);
        for order in &orders {
            assert!(length(&least) <= length(order));
        }
    }
}

#[test]
fn an_expected_time_is_the_mean_over_tapes_drawn_at_random() {
    // Ten wraps into the tape an error of 1 % is a tenth of a wrap: no end of the tape is near.
    let (problem, mut map) = batch("lto8", 60, 0.01, 7);
    for wrap in [30u64, 60] {
        let block = wrap * 110_859 + 40_000;
        map.observe(block, false, &map.position(0, block, false).unwrap());
    }
    let expected = Expected::new(&problem, &map);
    let drawn: Vec<LearnedMap> = (0..300)
        .map(|stream| map.drawn(&mut Random::new(9, stream)))
        .collect();
    let (mut of_means, mut of_expected, mut of_predicted) = (0.0, 0.0, 0.0);
    let n = problem.len();
    let tapes: Vec<Problem> = drawn
        .iter()
        .map(|tape| {
            problem.replaced(|old, block, after| tape.position(0, block, after).unwrap_or(*old))
        })
        .collect();
    for from in (0..n).filter(|&visit| (20..65).contains(&problem.ends()[visit].wrap)) {
        for to in (0..n).filter(|&to| to != from && (20..65).contains(&problem.starts()[to].wrap)) {
            let sum: i64 = tapes.iter().map(|tape| tape.arc(from, to).0).sum();
            of_means += sum as f64 / tapes.len() as f64;
            of_expected += expected.cities.cost(from, to) as f64;
            of_predicted += problem.arc(from, to).0 as f64;
        }
    }
    let (longer, by_ours) = (of_means - of_predicted, of_expected - of_predicted);
    assert!(longer > 0.0, "doubt makes moves longer");
    // Three places stand for all that a place may have, and 300 tapes for the mean.
    assert!(
        (by_ours / longer - 1.0).abs() < 0.2,
        "{by_ours} against {longer}"
    );
}
