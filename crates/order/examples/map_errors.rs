//! What a wrong map costs, and what learning while reading wins back.
//!
//! `cargo run --release -p tapewise-order --example map_errors -- [FILES] [SEEDS]` prints, for LTO-6
//! and LTO-8, for each kind of map error and each size of batch, the total of every way to read as
//! a share of the gain that the true map would give over sorting. Results: docs/method/robustness.md.

#[path = "map_errors/tapes.rs"]
mod tapes;

use tapes::{Believed, Case, ERRORS, case};
use tapewise_model::{BlockMap, LearnedMap, Micros};
use tapewise_order::replan::{Policy, Recall, Replanner, rehearse};
use tapewise_order::{Algorithm, Inputs, Order, Problem, Scenarios};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let sizes: Vec<usize> = match arguments.next() {
        Some(list) => list.split(',').filter_map(|n| n.parse().ok()).collect(),
        None => vec![50, 100, 300, 1_000],
    };
    let seeds: u64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(3);
    println!(
        "{:5} {:5} {:>9} {:>8} {:>8} | {}",
        "drive",
        "files",
        "error",
        "SORT s",
        "true s",
        WAYS.map(|(name, _)| format!("{name:>14}")).join("")
    );
    for drive in ["lto6", "lto8"] {
        for &files in &sizes {
            for error in ERRORS {
                let mut sums = [0.0; 2 + WAYS.len()];
                let mut worst = [f64::MIN; WAYS.len()];
                for seed in 0..seeds {
                    let case = case(drive, error, files, seed);
                    let sorted = seconds(
                        Order::new((0..files as u32).collect()).total_time(case.truth.problem()),
                    );
                    let best =
                        seconds(solve(case.truth.problem()).total_time(case.truth.problem()));
                    sums[0] += sorted;
                    sums[1] += best;
                    for (index, (_, way)) in WAYS.iter().enumerate() {
                        let total = seconds(way(&case));
                        sums[2 + index] += total;
                        worst[index] = worst[index].max(total / sorted - 1.0);
                    }
                }
                let gain = sums[0] - sums[1];
                let shares: Vec<String> = (0..WAYS.len())
                    .map(|way| {
                        let kept = 100.0 * (sums[0] - sums[2 + way]) / gain;
                        format!("{kept:7.1} {:+6.1}", 100.0 * worst[way])
                    })
                    .collect();
                let mean = |sum: f64| sum / seeds as f64;
                println!(
                    "{drive:5} {files:5} {:>9} {:8.0} {:8.0} | {}",
                    error.name(),
                    mean(sums[0]),
                    mean(sums[1]),
                    shares.join("")
                );
            }
        }
    }
}

type Way = fn(&Case) -> Micros;

const WAYS: [(&str, Way); 7] = [
    ("fixed", |case| fixed(case, &case.believed)),
    ("mean wrap", |case| fixed(case, &Believed::mean_wrap(case))),
    ("wrap ends", |case| fixed(case, &Believed::wrap_ends(case))),
    ("probe, fixed", |case| recall(case, Policy::Fixed, 4)),
    ("learn", |case| recall(case, Policy::Learn, 0)),
    ("probe, learn", |case| recall(case, Policy::Learn, 4)),
    ("robust", robust),
];

fn seconds(time: Micros) -> f64 {
    time.as_secs_f64()
}

fn solve(problem: &Problem) -> Order {
    let none = Scenarios::new(problem, None);
    Algorithm::Best
        .order(problem, &Inputs::new(&none))
        .expect("best orders everything")
}

/// A plan made once, on the places that a map gives, carried out on the true ones.
fn fixed(case: &Case, map: &BlockMap) -> Micros {
    let order = solve(&case.placed_by(map));
    order.total_time(case.truth.problem())
}

fn robust(case: &Case) -> Micros {
    let problem = case.placed_by(&case.believed);
    let scenarios = Scenarios::new(&problem, Some(&case.believed));
    let order = Algorithm::Best
        .order(&problem, &Inputs::new(&scenarios))
        .expect("best orders everything");
    order.total_time(case.truth.problem())
}

fn recall(case: &Case, policy: Policy, probes: u64) -> Micros {
    let tape = case.truth.problem().tape().clone();
    let map = LearnedMap::new(case.believed.clone(), &tape.geometry);
    let options = *case.truth.problem().options();
    let end = case.filled_blocks;
    let blocks = (1..=probes).map(|nth| (0, end * nth / probes - 1));
    let mut recall = Recall::new(tape, options, map, policy).probing(blocks);
    for (id, request) in &case.requests {
        recall.arrive(*id, request.clone()).expect("numbers differ");
    }
    let solve: &dyn Fn(&Problem) -> Order = &solve;
    let replanner = Replanner::new(solve);
    let locate = |partition, block| {
        case.true_map
            .nearest_position(partition, block, false)
            .expect("a block")
    };
    rehearse(&case.truth, recall, &[], &replanner, &locate).total
}
