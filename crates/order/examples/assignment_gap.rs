//! How far the cheapest assignment is below the shortest order, and the patched one above it.
//!
//! The shortest order is the proven optimum, or the best order known where the time ran out; then
//! the first column is at most too large and the second at most too small.

#[path = "../benches/batch/mod.rs"]
mod batch;

use batch::{Kind, Start};
use std::time::{Duration, Instant};
use tapewise_order::{Alternatives, Assignment, Effort, Problem, best, patch};

/// Sizes, and batches of each.
const SIZES: [(usize, u64); 8] = [
    (10, 20),
    (14, 20),
    (32, 20),
    (100, 20),
    (300, 10),
    (1_000, 6),
    (3_000, 2),
    (10_000, 2),
];

/// Time for each proof.
const PROOF: Duration = Duration::from_secs(3);

fn main() {
    println!(
        "mean (largest), % of the locate time of the shortest order; half the batches from BOT"
    );
    println!(
        "{:8} {:>6} {:>8} {:>7} {:>17} {:>17} {:>7}",
        "drive", "n", "batches", "proven", "assignment below", "patched above", "cycles"
    );
    for kind in [Kind::Dlt4000, Kind::Lto7M8] {
        for (requests, batches) in SIZES {
            row(kind, requests, batches);
        }
    }
}

fn row(kind: Kind, requests: usize, batches: u64) {
    let (mut below, mut above) = (Vec::new(), Vec::new());
    let (mut proven, mut cycles) = (0, 0);
    for seed in 1..=batches {
        let start = [Start::Random, Start::Bot][seed as usize % 2];
        let problem = batch::blocks(kind, requests, seed, start);
        let begin = Instant::now();
        let effort = Effort {
            work: u64::MAX,
            prove: true,
            out_of_time: &|| begin.elapsed() >= PROOF,
        };
        let solution = best(&problem, &Alternatives::none(), &effort, 1);
        proven += u64::from(solution.is_optimal(&problem));
        let assignment = Assignment::new(&problem);
        let shortest = solution.order.locate_time(&problem).as_secs_f64();
        below.push((1.0 - assignment.bound().as_secs_f64() / shortest) * 100.0);
        let patched = patch(&problem, &assignment).locate_time(&problem);
        above.push((patched.as_secs_f64() / shortest - 1.0) * 100.0);
        cycles += count_cycles(&problem, &assignment);
    }
    println!(
        "{:8} {requests:>6} {batches:>8} {proven:>7} {:>17} {:>17} {:>7.1}",
        kind.profile(),
        mean_and_largest(&below),
        mean_and_largest(&above),
        cycles as f64 / batches as f64
    );
}

fn count_cycles(problem: &Problem, assignment: &Assignment) -> usize {
    let mut seen = vec![false; problem.len() + 1];
    let mut cycles = 0;
    for start in 0..seen.len() {
        cycles += usize::from(!seen[start]);
        let mut at = start;
        while !std::mem::replace(&mut seen[at], true) {
            at = assignment.successor[at] as usize;
        }
    }
    cycles
}

fn mean_and_largest(values: &[f64]) -> String {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let largest = values.iter().copied().fold(0.0, f64::max);
    format!("{mean:.4} ({largest:.4})")
}
