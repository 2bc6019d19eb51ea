//! How much less locate time than the orders of other systems: `cargo bench --bench peers`.
//!
//! Every order is priced under CERN's regression, which is what CTA's SLTF goes by.

mod batch;

use batch::{Kind, Start};
use tapewise_order::{Algorithm, Alternatives, Inputs, Problem};

/// Seeds of the batches whose locate times are added up.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// Files, bytes of each, and the peer's order with the gain that is our aim.
const ROWS: [(usize, u64, Algorithm, f64); 9] = [
    (50, 200_000_000, Algorithm::Cta, 8.0),
    (100, 200_000_000, Algorithm::Cta, 8.0),
    (300, 200_000_000, Algorithm::Cta, 8.0),
    (1_000, 200_000_000, Algorithm::Cta, 12.0),
    (3_000, 200_000_000, Algorithm::Cta, 27.0),
    (4_000, 2_000_000_000, Algorithm::Cta, 35.0),
    (1_000, 200_000_000, Algorithm::TwoPass, 29.0),
    (1_000, 200_000_000, Algorithm::Sltf, 0.0),
    (1_000, 200_000_000, Algorithm::Sort, 0.0),
];

fn main() {
    println!(
        "locate time on lto7-m8, h, mean of seeds {} to {}",
        SEEDS.start(),
        SEEDS.end()
    );
    println!(
        "{:>6} {:>9} {:6} {:18} {:>9} {:>9} {:>8} {:>6}",
        "files", "MB each", "head", "peer", "peer", "tapewise", "lower by", "aim"
    );
    for (files, bytes, peer, aim_percent) in ROWS {
        for start in [Start::Bot, Start::Random] {
            let mut hours = [0.0; 2];
            for seed in SEEDS {
                let problem = batch::files(Kind::Lto7M8, files, bytes, seed, start);
                for (slot, algorithm) in hours.iter_mut().zip([peer, Algorithm::Best]) {
                    *slot += locate_hours(&problem, algorithm) / SEEDS.count() as f64;
                }
            }
            println!(
                "{files:>6} {:>9} {:6} {:18} {:>9.3} {:>9.3} {:>6.1} % {aim_percent:>4.0} %",
                bytes / 1_000_000,
                format!("{start:?}").to_lowercase(),
                peer.title(),
                hours[0],
                hours[1],
                (1.0 - hours[1] / hours[0]) * 100.0,
            );
        }
    }
}

fn locate_hours(problem: &Problem, algorithm: Algorithm) -> f64 {
    let sure = Alternatives::none();
    let order = algorithm.order(problem, &Inputs::new(&sure));
    let order = order.expect("an order that applies to LTO");
    order.locate_time(problem).as_secs_f64() / 3_600.0
}
