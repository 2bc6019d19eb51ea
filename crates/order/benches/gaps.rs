//! How far from the shortest order, how soon, and how often proven: `cargo bench --bench gaps`.
//!
//! Every batch is ordered with several time budgets, with the usual effort and no clock, and then
//! until proven. A gap is that of the
//! locate time to the optimum where it was proven, else to the best bound any run of that batch
//! gave; so it is never less than the true one.
//!
//! `cargo bench --bench gaps -- 1000` prints the rows of that size alone.

mod batch;

use batch::{Kind, Start};
use std::time::{Duration, Instant};
use tapewise_model::Micros;
use tapewise_order::{Alternatives, Effort, Problem, Solution, best};

/// Budgets in milliseconds.
const BUDGETS_MS: [u64; 4] = [5, 20, 100, 1_000];

/// Sizes, batches of each, and seconds that a proof may take.
const SIZES: [(usize, u64, u64); 9] = [
    (10, 10, 5),
    (14, 10, 5),
    (32, 10, 5),
    (100, 10, 5),
    (300, 10, 5),
    (1_000, 10, 10),
    (3_000, 2, 5),
    (10_000, 2, 5),
    (100_000, 1, 20),
];

fn main() {
    let only: Option<usize> = std::env::args().find_map(|argument| argument.parse().ok());
    println!(
        "gaps in %, mean (largest), of budgets in ms; seeds 1 to the number of batches, half of them from BOT"
    );
    print!(
        "{:8} {:>7} {:>8} {:>17}",
        "drive", "n", "batches", "proven, ms median"
    );
    for budget in BUDGETS_MS {
        print!(" {:>17}", format!("{budget} ms"));
    }
    println!(
        " {:>17} {:>8} {:>17} {:>9}",
        "usual effort", "ms", "until proven", "ms"
    );
    for (requests, batches, proof_s) in SIZES {
        if only.is_none_or(|only| only == requests) {
            for kind in [Kind::Dlt4000, Kind::Lto7M8] {
                row(kind, requests, batches, Duration::from_secs(proof_s));
            }
        }
    }
}

fn row(kind: Kind, requests: usize, batches: u64, proof: Duration) {
    let mut gaps = vec![Vec::new(); BUDGETS_MS.len() + 2];
    let (mut proofs_ms, mut usual_ms, mut all_ms) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 1..=batches {
        let start = [Start::Random, Start::Bot][seed as usize % 2];
        let problem = batch::blocks(kind, requests, seed, start);
        let mut runs: Vec<(Solution, f64)> = BUDGETS_MS
            .iter()
            .map(|&budget| timed(&problem, u64::MAX, Duration::from_millis(budget), false))
            .collect();
        runs.push(timed(&problem, Effort::usual().work, Duration::MAX, false));
        runs.push(timed(&problem, u64::MAX, proof, true));
        usual_ms.push(runs[BUDGETS_MS.len()].1);
        let (last, ms) = &runs[BUDGETS_MS.len() + 1];
        all_ms.push(*ms);
        if last.is_optimal(&problem) {
            proofs_ms.push(*ms);
        }
        let bounds = runs.iter().filter_map(|(solution, _)| solution.bound);
        let Some(bound) = bounds.max() else { continue };
        let (read, inner_locate) = problem.fixed_time();
        let bound = bound - read - inner_locate;
        for (gaps, (solution, _)) in gaps.iter_mut().zip(&runs) {
            gaps.push(gap_percent(solution.order.locate_time(&problem), bound));
        }
    }
    let proven = format!("{}/{batches}", proofs_ms.len());
    print!(
        "{:8} {requests:>7} {batches:>8} {proven:>8} {:>8.1}",
        kind.profile(),
        median(&mut proofs_ms)
    );
    for (at, gaps) in gaps.iter().enumerate() {
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let largest = gaps.iter().copied().fold(0.0, f64::max);
        print!(" {:>17}", format!("{mean:.4} ({largest:.4})"));
        if at == BUDGETS_MS.len() {
            print!(" {:>8.1}", median(&mut usual_ms));
        }
    }
    println!(" {:>9.1}", median(&mut all_ms));
}

fn timed(problem: &Problem, work: u64, budget: Duration, prove: bool) -> (Solution, f64) {
    let begin = Instant::now();
    let out_of_time = || begin.elapsed() >= budget;
    let effort = Effort {
        work,
        prove,
        out_of_time: &out_of_time,
    };
    let solution = best(problem, &Alternatives::none(), &effort, 1);
    (solution, begin.elapsed().as_secs_f64() * 1e3)
}

fn gap_percent(time: Micros, bound: Micros) -> f64 {
    (time.as_secs_f64() / bound.as_secs_f64() - 1.0) * 100.0
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
