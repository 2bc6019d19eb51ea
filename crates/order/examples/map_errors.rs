//! What a wrong map costs, and what learning while reading wins back.
//!
//! `cargo run --release -p tapewise-order --example map_errors -- [FILES] [SEEDS]` prints, for LTO-6
//! and LTO-8, for each kind of map error and each size of batch, the total of every way to read as
//! a share of the gain that the true map would give over sorting. Results: docs/method/robustness.md.

#[path = "map_errors/tapes.rs"]
mod tapes;

use tapes::{Believed, Case, ERRORS, case};
use tapewise_model::{BlockMap, LearnedMap, Micros};
use tapewise_order::replan::{Policy, ProbeChoice, Recall, Replanner, probe_blocks, rehearse};
use tapewise_order::robust::choose;
use tapewise_order::{Alternatives, Effort, Order, Problem};
use tapewise_order::{scan, sltf, sort, two_pass};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let sizes: Vec<usize> = match arguments.next() {
        Some(list) => list.split(',').filter_map(|n| n.parse().ok()).collect(),
        None => vec![50, 100, 300, 1_000],
    };
    let seeds: u64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(3);
    println!(
        "Seeds 0 to {}. Of each way to read: per cent of the gain over SORT that the true map",
        seeds - 1
    );
    println!("gives, and how much longer than SORT it took in the worst case, in per cent.\n");
    println!(
        "| drive | files | error | SORT s | true map s | {} |",
        WAYS.map(|(name, _)| name).join(" | ")
    );
    println!("|{}", "---|".repeat(5 + WAYS.len()));
    for drive in ["lto6", "lto8"] {
        for &files in &sizes {
            for error in ERRORS {
                let cases: Vec<Case> = (0..seeds)
                    .map(|seed| case(drive, error, files, seed))
                    .collect();
                println!("| {drive} | {files} | {} | {} |", error.name(), row(&cases));
            }
        }
    }
}

/// Means of sorting and of the true map, then the share of the gain kept and the worst of each way.
fn row(cases: &[Case]) -> String {
    let seconds = |time: Micros| time.as_secs_f64();
    let totals = |way: &dyn Fn(&Case) -> Micros| -> Vec<f64> {
        cases.iter().map(|case| seconds(way(case))).collect()
    };
    let mean = |totals: &[f64]| totals.iter().sum::<f64>() / cases.len() as f64;
    let sorted = totals(&|case| sort(case.truth.problem()).total_time(case.truth.problem()));
    let ideal = totals(&|case| best(case.truth.problem()).total_time(case.truth.problem()));
    let gain = mean(&sorted) - mean(&ideal);
    let mut cells = vec![
        format!("{:.0}", mean(&sorted)),
        format!("{:.0}", mean(&ideal)),
    ];
    for (_, way) in WAYS {
        let total = totals(&way);
        let kept = 100.0 * (mean(&sorted) - mean(&total)) / gain;
        let longer = total
            .iter()
            .zip(&sorted)
            .map(|(total, sorted)| 100.0 * (total / sorted - 1.0));
        cells.push(format!(
            "{kept:.0} ({:+.0})",
            longer.fold(f64::MIN, f64::max)
        ));
    }
    cells.join(" | ")
}

type Way = fn(&Case) -> Micros;

const WAYS: [(&str, Way); 8] = [
    ("fixed", |case| fixed(case, &case.believed)),
    ("fixed, chosen", chosen),
    ("mean wrap", |case| fixed(case, &Believed::mean_wrap(case))),
    ("wrap ends", |case| fixed(case, &Believed::wrap_ends(case))),
    ("probed, fixed", |case| {
        read(case, Policy::Fixed, Probing::Always)
    }),
    ("learning", |case| read(case, Policy::Learn, Probing::Never)),
    ("probed, learning", |case| {
        read(case, Policy::Learn, Probing::Always)
    }),
    ("adaptive", |case| {
        read(case, Policy::Learn, Probing::Weighed)
    }),
];

/// The default order, for positions as they are.
fn best(problem: &Problem) -> Order {
    tapewise_order::best(problem, &Alternatives::none(), &Effort::usual(), 1).order
}

/// A twentieth of what is usual, because the rest is ordered anew after almost every read.
fn quick(problem: &Problem) -> Order {
    let effort = Effort {
        work: 3_000_000,
        ..Effort::usual()
    };
    tapewise_order::best(problem, &Alternatives::none(), &effort, 1).order
}

/// A plan made once, on the places that a map gives, carried out on the true ones.
fn fixed(case: &Case, map: &BlockMap) -> Micros {
    best(&case.placed_by(map)).total_time(case.truth.problem())
}

/// The same, of several orders the one that the error stated lets choose.
fn chosen(case: &Case) -> Micros {
    let problem = case.placed_by(&case.believed);
    let learned = LearnedMap::new(case.believed.clone(), &problem.tape().geometry);
    let alternatives =
        Alternatives::new(&problem, Some(&case.believed)).with_drawn(&problem, &learned, 8);
    let candidates = [
        best(&problem),
        two_pass(&problem),
        scan(&problem),
        sltf(&problem),
    ];
    let choice = choose(&problem, &alternatives, &candidates);
    choice.order.total_time(case.truth.problem())
}

#[derive(PartialEq)]
enum Probing {
    Never,
    Always,
    Weighed,
}

const PROBES: usize = 4;

/// A recall on the true tape that begins with the believed map.
fn read(case: &Case, policy: Policy, probing: Probing) -> Micros {
    let truth = case.truth.problem();
    let map = LearnedMap::new(case.believed.clone(), &truth.tape().geometry);
    let problem = case.placed_by(&case.believed);
    let blocks = probe_blocks(&problem, &map, PROBES);
    let is_probing = match probing {
        Probing::Never => false,
        Probing::Always => true,
        Probing::Weighed => {
            ProbeChoice::new(&problem, &best(&problem), &map, &blocks, policy).is_probing()
        }
    };
    let mut recall = Recall::new(truth.tape().clone(), *truth.options(), map, policy)
        .probing(blocks.into_iter().filter(|_| is_probing));
    for (id, request) in &case.requests {
        recall.arrive(*id, request.clone()).expect("numbers differ");
    }
    let place = |partition, block| {
        let place = case.true_map.nearest_position(partition, block, false);
        place.expect("a block of the tape")
    };
    rehearse(&case.truth, recall, &[], &Replanner::new(&quick), &place).total
}
