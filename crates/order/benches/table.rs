//! One table of ordering times, with the paper's beside them: `cargo bench --bench table`.
//!
//! The paper's are CPU seconds on a SparcStation 20/61 (Hillyer & Silberschatz 1996, section 5).

mod batch;

use batch::{Kind, Start};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tapewise_order::{
    Algorithm, Alternatives, Inputs, Plan, Problem, improve, loss, opt, sltf, sparse_loss,
};

/// Time spent on each row, at most; the first run is not counted.
const BUDGET: Duration = Duration::from_millis(1_200);

/// Runs of each row, at most.
const RUNS: usize = 21;

type Drive = (&'static str, Kind);
const DRIVES: [Drive; 2] = [("dlt4000", Kind::Dlt4000), ("lto8", Kind::Lto8)];

fn main() {
    println!(
        "{:12} {:8} {:>6} {:>12} {:>5} {:>16}",
        "order", "drive", "n", "ms (median)", "runs", "paper, CPU s"
    );
    for (name, kind) in DRIVES {
        let make = |requests| batch::blocks(kind, requests, 1, Start::Random);
        for requests in [9, 10, 12, 15, 16] {
            row("OPT", name, requests, make, |problem| {
                black_box(opt(problem));
            });
        }
        for requests in [256, 512, 1_024, 1_536, 2_048] {
            row("LOSS", name, requests, make, |problem| {
                black_box(loss(problem));
            });
        }
        for requests in [2_048, 10_000] {
            row("LOSS sparse", name, requests, make, |problem| {
                black_box(sparse_loss(problem));
            });
            row("SLTF", name, requests, make, |problem| {
                black_box(sltf(problem));
            });
        }
        let problem = make(2_048);
        let order = loss(&problem);
        time("improve", name, &problem, None, || {
            black_box(improve(&problem, &order, u64::MAX));
        });
        time("plan", name, &problem, None, || {
            black_box(Plan::new(&problem, order.clone()));
        });
        let problem = make(1_024);
        let alternatives = Alternatives::none();
        time("best", name, &problem, None, || {
            black_box(Algorithm::Best.order(&problem, &Inputs::new(&alternatives)));
        });
    }
}

fn row(
    order: &str,
    drive: &str,
    requests: usize,
    make: impl Fn(usize) -> Problem,
    run: impl Fn(&Problem),
) {
    let problem = make(requests);
    let paper = paper_seconds(order, requests).filter(|_| drive == "dlt4000");
    time(order, drive, &problem, paper, || run(&problem));
}

fn time(order: &str, drive: &str, problem: &Problem, paper: Option<f64>, run: impl Fn()) {
    run();
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.is_empty() || times.len() < RUNS && begin.elapsed() < BUDGET {
        let begin = Instant::now();
        run();
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{order:12} {drive:8} {:>6} {:>12.3} {:>5} {:>16}",
        problem.len(),
        times[times.len() / 2],
        times.len(),
        paper.map_or(String::new(), |seconds| seconds.to_string())
    );
}

fn paper_seconds(order: &str, requests: usize) -> Option<f64> {
    let published: &[(usize, f64)] = match order {
        "OPT" => &[(9, 0.6), (10, 6.0), (12, 936.0)],
        "LOSS" => &[
            (256, 0.6),
            (512, 2.3),
            (1_024, 8.1),
            (1_536, 17.8),
            (2_048, 30.5),
        ],
        _ => &[],
    };
    let found = published.iter().find(|(n, _)| *n == requests);
    found.map(|&(_, seconds)| seconds)
}
