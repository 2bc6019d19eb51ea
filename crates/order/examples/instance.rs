//! Writes batches of the bench as matrices for other solvers, with our results, one JSON a line.
//!
//! `cargo run --release -p tapewise-order --example instance -- DRIVE N SEED START [DRIVE N ...]`
//! with DRIVE `dlt4000`, `lto7-m8` or `lto8` and START `bot` or `random`. City `n`, the last, is
//! where the tour closes: its row has the moves from the head, its column what it costs to end.
//! `costs` are microseconds, row by row, -1 where there is no arc. The CPU seconds are those of
//! the thread, null where the kernel does not tell (other systems than Linux).

#[path = "../benches/batch/mod.rs"]
mod batch;

use batch::{Kind, Start};
use std::time::{Duration, Instant};
use tapewise_model::Micros;
use tapewise_order::{Alternatives, Effort, Problem, best};

/// How long a proof may take.
const PROOF: Duration = Duration::from_secs(30);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut instances = Vec::new();
    for words in arguments.chunks(4) {
        match instance(words) {
            Some(instance) => instances.push(instance),
            None => {
                eprintln!("what is {words:?}? expected DRIVE N SEED bot|random");
                std::process::exit(2);
            }
        }
    }
    for (kind, requests, seed, start) in instances {
        let problem = batch::blocks(kind, requests, seed, start);
        println!(
            "{{\"drive\":\"{}\",\"requests\":{requests},\"seed\":{seed},\"start\":\"{}\",\"n\":{},\
             \"ours\":[{},{}],\"costs\":{:?}}}",
            kind.profile(),
            if start == Start::Bot { "bot" } else { "random" },
            problem.len(),
            ours("tapewise, usual work", &problem, false),
            ours("tapewise, until proven", &problem, true),
            costs(&problem),
        );
    }
}

fn instance(words: &[String]) -> Option<(Kind, usize, u64, Start)> {
    let [drive, requests, seed, start] = words else {
        return None;
    };
    let kinds = [Kind::Dlt4000, Kind::Lto7M8, Kind::Lto8];
    let kind = kinds.into_iter().find(|kind| kind.profile() == drive)?;
    let start = match start.as_str() {
        "bot" => Start::Bot,
        "random" => Start::Random,
        _ => return None,
    };
    Some((kind, requests.parse().ok()?, seed.parse().ok()?, start))
}

/// Our result: the time between reads, the bound on it, and what it took.
fn ours(name: &str, problem: &Problem, prove: bool) -> String {
    let (begin, cpu) = (Instant::now(), cpu_seconds());
    let out_of_time = || begin.elapsed() >= PROOF;
    let effort = Effort {
        work: if prove {
            u64::MAX
        } else {
            Effort::usual().work
        },
        prove,
        out_of_time: &out_of_time,
    };
    let solution = best(problem, &Alternatives::none(), &effort, 1);
    let cpu = cpu.zip(cpu_seconds()).map(|(from, to)| to - from);
    let (read, inner_locate) = problem.fixed_time();
    let bound = solution.bound.map(|bound| (bound - read - inner_locate).0);
    format!(
        "{{\"solver\":\"{name}\",\"cost_us\":{},\"bound_us\":{},\"cpu_s\":{},\"order\":{:?}}}",
        solution.order.locate_time(problem).0,
        json(bound),
        json(cpu),
        solution.order.visits()
    )
}

fn json(value: Option<impl ToString>) -> String {
    value.map_or("null".to_string(), |value| value.to_string())
}

/// The costs of all arcs, row by row, the city where the tour closes last.
fn costs(problem: &Problem) -> Vec<i64> {
    let n = problem.len();
    let mut times = vec![Micros::ZERO; n];
    let mut costs = Vec::with_capacity((n + 1) * (n + 1));
    for from in 0..n {
        problem.arcs(Some(from), &mut times);
        costs.extend(times.iter().map(|time| time.0));
        costs.push(problem.end_cost(from).0);
        costs[from * (n + 1) + from] = -1;
    }
    problem.arcs(None, &mut times);
    costs.extend(times.iter().map(|time| time.0));
    costs.push(-1);
    costs
}

/// Seconds that this thread has run, as the kernel counts them.
fn cpu_seconds() -> Option<f64> {
    // It counts when the thread is interrupted: at the next tick, or when it sleeps.
    std::thread::sleep(Duration::from_micros(1));
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds as f64 * 1e-9)
}
