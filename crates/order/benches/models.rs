//! Planned under one model, carried out under another: `cargo bench --bench models`.
//!
//! Every order is made with the times of one model and priced with those of the other, on the same
//! places: the models of 1996 and of 1998 for the DLT4000, and CERN's regression with the speeds of
//! LTO-9 half height, or without its mid-tape term and with turning round twice as dear.
//!
//! "both" is the order chosen when both models are among the alternatives: it may be no longer than
//! sorting under either.

mod batch;

use batch::{Kind, Start};
use tapewise_model::locate::{FourRegion, LocateModel, LtoRegression};
use tapewise_model::{Micros, profile};
use tapewise_order::{Algorithm, Alternatives, Inputs, Order, Problem, Tape};

/// Seeds of the batches whose totals are added up.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

/// Johnson & Miller 1998, Table 3: the DLT 4000 in seconds and seconds a track.
const AHEAD_S: [f64; 2] = [21.0, 154.0];
const BEHIND_S: [f64; 2] = [31.0, 132.0];

/// A second model for the places of a batch.
type Other = fn(&Tape) -> LocateModel;

fn four_region(tape: &Tape) -> LocateModel {
    let (min, max) = (tape.geometry.lpos_min, tape.geometry.lpos_max);
    LocateModel::FourRegion(FourRegion::new(AHEAD_S, BEHIND_S, 0.04, min, max))
}

fn lto9_half_height(tape: &Tape) -> LocateModel {
    let profile = profile::find("lto9-hh").unwrap();
    let coefficients = profile.lto_coefficients().unwrap();
    LocateModel::LtoRegression(LtoRegression::new(&coefficients, &tape.geometry))
}

fn no_mid_tape(tape: &Tape) -> LocateModel {
    let profile = profile::find("lto7-m8").unwrap();
    let mut coefficients = profile.lto_coefficients().unwrap();
    coefficients.mid_cross_s = 0.0;
    coefficients.direction_change_s *= 2.0;
    LocateModel::LtoRegression(LtoRegression::new(&coefficients, &tape.geometry))
}

const PAIRS: [(Kind, &str, &str, Other); 3] = [
    (Kind::Dlt4000, "key points", "four regions", four_region),
    (Kind::Lto7M8, "CERN M8", "LTO-9 HH", lto9_half_height),
    (Kind::Lto7M8, "CERN M8", "no mid-tape term", no_mid_tape),
];

fn main() {
    println!(
        "locate time in h under the true model, head at BOT, sum of seeds {} to {}",
        SEEDS.start(),
        SEEDS.end()
    );
    println!(
        "{:>5} {:18} {:18} {:>9} {:>9} {:>9} {:>9} {:>9}  neither SORT nor SLTF below",
        "n", "planned under", "true", "SORT", "SLTF", "tapewise", "both", "if known"
    );
    for (kind, one, other, model) in PAIRS {
        for requests in [50, 100, 300, 1_000] {
            for swapped in [false, true] {
                let sums = sums(kind, requests, model, swapped);
                let (planned, truth) = if swapped { (other, one) } else { (one, other) };
                let holds = sums[2] <= sums[0] && sums[2] <= sums[1];
                print!("{requests:>5} {planned:18} {truth:18}");
                for sum in sums {
                    print!(" {sum:>9.3}");
                }
                println!("  {}", if holds { "holds" } else { "FAILS" });
            }
        }
    }
}

/// Hours of SORT, of SLTF and ours planned under the wrong model, ours under both, and under the true.
fn sums(kind: Kind, requests: usize, other: Other, swapped: bool) -> [f64; 5] {
    let mut sums = [0.0; 5];
    for seed in SEEDS {
        let problem = batch::blocks(kind, requests, seed, Start::Bot);
        let tape = Tape {
            model: other(problem.tape()),
            ..problem.tape().clone()
        };
        let under = problem.under(&tape).unwrap();
        let (planned, truth) = if swapped {
            (&under, &problem)
        } else {
            (&problem, &under)
        };
        let over =
            |algorithm: Algorithm, problem: &Problem, alternatives: &Alternatives| -> Order {
                algorithm
                    .order(problem, &Inputs::new(alternatives))
                    .unwrap()
            };
        let order = |algorithm: Algorithm, problem: &Problem| {
            over(algorithm, problem, &Alternatives::none())
        };
        let both = Alternatives::none().with_model(planned, truth.tape());
        let orders = [
            order(Algorithm::Sort, planned),
            order(Algorithm::Sltf, planned),
            order(Algorithm::Best, planned),
            over(Algorithm::Best, planned, &both.unwrap()),
            order(Algorithm::Best, truth),
        ];
        for (sum, order) in sums.iter_mut().zip(&orders) {
            let time: Micros = order.locate_time(truth);
            *sum += time.as_secs_f64() / 3_600.0;
        }
    }
    sums
}
