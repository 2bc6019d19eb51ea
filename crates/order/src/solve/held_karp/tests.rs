//! Against dynamic programming, against all tours, and with a clock that stops it anywhere.

use super::certificate::Certificate;
use super::prove::{self, Proof};
use super::relaxation::Relaxation;
use super::start::Start;
use crate::orders::opt::opt;
use crate::problem::{End, Options, Problem};
use crate::request::{PlacedExtent, Request};
use crate::solve::assignment::Assignment;
use crate::solve::cities::{Cities, City};
use crate::solve::effort::{Effort, Meter};
use crate::solve::patch::patch;
use crate::solve::search::candidates::Candidates;
use crate::solve::search::search;
use crate::solve::tour::Tour;
use crate::tape::Tape;
use std::cell::Cell;
use tapewise_model::{BlockMap, KeyPoints, Micros, NominalLayout, Position, Random, profile};

/// A batch of files of up to `blocks` blocks, uniformly over a cartridge of a profile.
fn problem(name: &str, visits: usize, blocks: u64, end: End, random: &mut Random) -> Problem {
    problem_to(name, visits, blocks, |_, _| end, random)
}

/// The same, to an end that may depend on the cartridge.
fn problem_to(
    name: &str,
    visits: usize,
    blocks: u64,
    end: impl Fn(&BlockMap, &mut Random) -> End,
    random: &mut Random,
) -> Problem {
    let profile = profile::find(name).unwrap();
    let (tape, map) = match profile.nominal_sections() {
        Some(sections) => {
            let spread = profile.key_point_spread().unwrap();
            let points = KeyPoints::generate(sections, spread, random);
            (
                Tape::new(&profile, Some(&points)).unwrap(),
                points.block_map(),
            )
        }
        None => {
            let map = profile.nominal_map(NominalLayout::Single, 1 << 18).unwrap();
            (Tape::new(&profile, None).unwrap(), map)
        }
    };
    let requests: Vec<Request> = (0..visits)
        .map(|_| {
            let count = 1 + random.below(blocks);
            let first = random.below(map.end_block(0) - count);
            let last = first + count - 1;
            Request::single(PlacedExtent::on_map(&map, 0, first, last, count << 15).unwrap())
        })
        .collect();
    let options = Options {
        head: match random.below(2) {
            0 => Position::beginning_of_tape(tape.geometry.lpos_min),
            _ => map.position(0, random.below(map.end_block(0))).unwrap(),
        },
        end: end(&map, random),
        read_through: true,
    };
    Problem::new(tape, options, &requests)
}

/// Proves a matrix from nothing: no prices, all arcs, and the tour through the cities as numbered.
fn prove_matrix(cities: &Cities, meter: &Meter) -> Proof {
    let n = cities.len() as u32;
    let tour = Tour::new(cities, (0..n).map(City).collect());
    let tails = (0..n).flat_map(|tail| (0..n).map(move |head| (tail, head)));
    let start = Start::cold(tails.filter(|(tail, head)| tail != head).collect());
    let mut relaxation = Relaxation::new(cities, &start, tour.cost.max(1));
    let certificate = relaxation.bound(tour.cost, meter);
    prove::prove(cities, &certificate, tour, meter)
}

/// The cost of the shortest tour, by trying all.
fn shortest_by_trying(cities: &Cities) -> i64 {
    fn extend(path: &mut Vec<usize>, cost: i64, cities: &Cities, best: &mut i64) {
        let last = path[path.len() - 1];
        if path.len() == cities.len() {
            *best = (*best).min(cost + cities.cost(last, 0));
        }
        for city in 1..cities.len() {
            if !path.contains(&city) {
                path.push(city);
                extend(path, cost + cities.cost(last, city), cities, best);
                path.pop();
            }
        }
    }
    let mut best = i64::MAX;
    extend(&mut vec![0], 0, cities, &mut best);
    best
}

/// Costs of any kind: few that tie, or many, large and small, none but zeros.
fn matrix(n: usize, random: &mut Random) -> Cities<'static> {
    let scale = [1, 1_000_000, 60_000_000][random.below(3) as usize];
    let values = [1, 2, 3, 1_000][random.below(4) as usize];
    let mut costs: Vec<i64> = (0..n * n)
        .map(|_| random.below(values) as i64 * scale)
        .collect();
    (0..n).for_each(|city| costs[city * n + city] = Micros::FAR.0);
    Cities::with_costs(n, costs)
}

#[test]
fn the_proof_of_any_matrix_agrees_with_trying_all_tours() {
    let mut random = Random::new(12, 0);
    let effort = Effort::usual();
    for case in 0..2_000 {
        let cities = matrix(2 + random.below(6) as usize, &mut random);
        let proof = prove_matrix(&cities, &Meter::new(&effort, u64::MAX));
        let shortest = shortest_by_trying(&cities);
        let found = (proof.bound, proof.tour.cost);
        assert_eq!(found, (shortest, shortest), "case {case}: {cities:?}");
    }
}

#[test]
fn a_proof_cut_short_at_any_moment_claims_nothing_wrong() {
    let mut random = Random::new(13, 0);
    let (mut open, mut closed) = (0, 0);
    for case in 0..30 {
        let visits = 20 + random.below(40) as usize;
        let problem = problem("lto7-m8", visits, 1, End::Anywhere, &mut random);
        let cities = Cities::dense(&problem);
        let effort = Effort::usual();
        let whole = prove_matrix(&cities, &Meter::new(&effort, u64::MAX));
        assert_eq!(whole.bound, whole.tour.cost, "case {case}");
        for _ in 0..8 {
            let looks = Cell::new(1 << random.below(10));
            let out_of_time = || {
                looks.set(looks.get() - 1);
                looks.get() <= 0
            };
            let effort = Effort {
                out_of_time: &out_of_time,
                ..effort
            };
            let work = 1 << (10 + random.below(30));
            let part = prove_matrix(&cities, &Meter::new(&effort, work));
            let range = part.bound..=part.tour.cost;
            assert!(range.contains(&whole.tour.cost), "case {case}: {range:?}");
            assert_eq!(part.tour, Tour::new(&cities, part.tour.cities.clone()));
            if part.bound < part.tour.cost {
                open += 1
            } else {
                closed += 1
            }
        }
    }
    assert!(open > 20 && closed > 20, "{open} open, {closed} closed");
}

/// Proves a batch from a short search on.
fn prove(problem: &Problem) -> Proof {
    let cities = Cities::dense(problem);
    let assignment = Assignment::new(problem);
    let (rows, columns) = (&assignment.rows, &assignment.columns);
    let candidates = Candidates::dense(&cities, rows, columns, 8, 4);
    let patched = patch(problem, &assignment);
    let short = Meter::new(&Effort::usual(), 20_000);
    let order = search(&cities, &patched, &candidates, 1, &short);
    let tour = Tour::of_order(&cities, &order);
    let certificate = Certificate::new(&cities, columns.clone(), Vec::new(), Vec::new());
    let start = Start::new(&cities, &assignment.successor, &certificate, &tour);
    let mut relaxation = Relaxation::new(&cities, &start, tour.cost);
    let meter = Meter::new(&Effort::usual(), u64::MAX);
    let tight = relaxation.bound(tour.cost, &meter);
    prove::prove(&cities, &tight, tour, &meter)
}

const PROFILES: [&str; 5] = ["dlt4000", "lto7-m8", "lto8", "dlt4000-jm98", "dat-4mm"];

#[test]
fn the_proof_agrees_with_dynamic_programming() {
    let mut random = Random::new(11, 0);
    for case in 0..10_000 {
        let name = PROFILES[case % PROFILES.len()];
        let visits = 1 + random.below(9) as usize;
        let end = |map: &BlockMap, random: &mut Random| match case / 7 % 3 {
            0 => End::Anywhere,
            1 => End::Rewound,
            _ => End::At(map.position(0, random.below(map.end_block(0))).unwrap()),
        };
        let blocks = [1, 2_000][case / 3 % 2];
        let problem = problem_to(name, visits, blocks, end, &mut random);
        let proof = prove(&problem);
        let optimal = opt(&problem).unwrap().locate_time(&problem).0;
        assert_eq!(
            (proof.bound, proof.tour.cost),
            (optimal, optimal),
            "case {case} on {name}"
        );
    }
}
