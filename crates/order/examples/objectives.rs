//! Tables of what each objective costs the others: `cargo run --release --example objectives`.
//!
//! Batches of files of 0.2 to 2 GB, uniformly over LTO-7 M8 media by the CERN regression, read from
//! the beginning of tape. The tables of docs/method/objectives.md are made by it.

use std::time::Instant;
use tapewise_model::{Micros, NominalLayout, Position, Random, profile};
use tapewise_order::{
    Algorithm, Alternatives, Effort, End, Figures, Inputs, Limits, Objective, Options, Order,
    Outcome, PlacedExtent, Problem, Request, Tape, Wishes, order_for,
};

const BLOCK_BYTES: u64 = 1 << 18;
const SEEDS: u64 = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = |at: usize, usual| arguments.get(at).map_or(usual, |n| n.parse().unwrap());
    match arguments.first().map(String::as_str) {
        Some("mean") => mean_table(count(1, 1_000)),
        Some("deadline") => deadline_table(count(1, 2_000)),
        _ => {
            [50, 100, 300, 1_000].into_iter().for_each(mean_table);
            deadline_table(2_000);
        }
    }
}

fn batch(n: usize, seed: u64) -> Problem {
    let drive = profile::find("lto7-m8").unwrap();
    let map = drive
        .nominal_map(NominalLayout::Single, BLOCK_BYTES)
        .unwrap();
    let mut random = Random::new(seed, n as u64);
    let requests: Vec<Request> = (0..n)
        .map(|_| {
            let bytes = 200_000_000 + random.below(1_800_000_001);
            let blocks = bytes.div_ceil(BLOCK_BYTES);
            let first = random.below(map.end_block(0) - blocks);
            Request::single(
                PlacedExtent::on_map(&map, 0, first, first + blocks - 1, bytes).unwrap(),
            )
        })
        .collect();
    let tape = Tape::new(&drive, None).unwrap();
    let options = Options {
        head: Position::beginning_of_tape(tape.geometry.lpos_min),
        end: End::Anywhere,
        read_through: true,
    };
    Problem::new(tape, options, &requests)
}

fn of(algorithm: Algorithm, problem: &Problem) -> Order {
    let exact = Alternatives::none();
    algorithm.order(problem, &Inputs::new(&exact)).unwrap()
}

fn title() {
    println!(
        "{:28} {:>9} {:>9} {:>9} {:>12} {:>6} {:>9} {:>7}",
        "", "total s", "mean s", "p95 s", "lateness h", "late", "tape km", "time s"
    );
}

fn row(name: &str, problem: &Problem, figures: &[(Figures, f64)]) {
    let mean = |of: &dyn Fn(&(Figures, f64)) -> f64| {
        figures.iter().map(of).sum::<f64>() / figures.len() as f64
    };
    let metres = problem.tape().geometry.metres_per_lpos.unwrap_or(0.005475);
    println!(
        "{name:28} {:9.0} {:9.0} {:9.0} {:12.1} {:6.0} {:9.2} {:7.2}",
        mean(&|f| f.0.total.as_secs_f64()),
        mean(&|f| f.0.mean.as_secs_f64()),
        mean(&|f| f.0.p95.as_secs_f64()),
        mean(&|f| f.0.lateness.as_secs_f64() / 3_600.0),
        mean(&|f| f.0.late as f64),
        mean(&|f| f.0.distance_lpos as f64 * metres / 1e3),
        mean(&|f| f.1),
    );
}

type Find = Box<dyn Fn(&Problem, &Wishes, &Order) -> Order>;
type Method<'a> = (&'a str, Find);

fn searched(objective: Objective, limits: fn(Micros) -> Limits, work: u64) -> Find {
    Box::new(move |problem, wishes, best| {
        let limits = limits(best.total_time(problem));
        let effort = Effort {
            work,
            ..Effort::usual()
        };
        let found: Outcome = order_for(
            problem,
            (objective, wishes),
            &limits,
            std::slice::from_ref(best),
            &effort,
            1,
        );
        found.order
    })
}

fn mean_table(n: usize) {
    println!("\nmean completion, n = {n}, seeds 1 to {SEEDS}");
    title();
    let methods: Vec<Method> = vec![
        ("two passes", Box::new(|p, _, _| of(Algorithm::TwoPass, p))),
        ("SLTF", Box::new(|p, _, _| of(Algorithm::Sltf, p))),
        ("best total", Box::new(|_, _, best| best.clone())),
        (
            "mean, total <= +5 %",
            searched(
                Objective::Mean,
                |t| Limits::of(Objective::Mean, t),
                60_000_000,
            ),
        ),
        (
            "same, five times the work",
            searched(
                Objective::Mean,
                |t| Limits::of(Objective::Mean, t),
                300_000_000,
            ),
        ),
        (
            "mean, total <= +2 %",
            searched(
                Objective::Mean,
                |t| Limits {
                    total: Some(Micros(t.0 / 100 * 102)),
                    ..Limits::default()
                },
                60_000_000,
            ),
        ),
        (
            "mean, total <= +0 %",
            searched(
                Objective::Mean,
                |t| Limits {
                    total: Some(t),
                    ..Limits::default()
                },
                60_000_000,
            ),
        ),
        (
            "mean, no limit",
            searched(Objective::Mean, |_| Limits::default(), 60_000_000),
        ),
        (
            "mean +5 %, tape spared",
            searched(
                Objective::Mean,
                |t| Limits {
                    spare_tape: true,
                    ..Limits::of(Objective::Mean, t)
                },
                60_000_000,
            ),
        ),
        (
            "total, tape spared",
            searched(
                Objective::Total,
                |_| Limits {
                    spare_tape: true,
                    ..Limits::default()
                },
                60_000_000,
            ),
        ),
    ];
    compare(n, &methods, |_| Wishes::default());
}

fn compare(n: usize, methods: &[Method], wishes: impl Fn(u64) -> Wishes) {
    let batches: Vec<(Problem, Order, Wishes)> = (1..=SEEDS)
        .map(|seed| {
            let problem = batch(n, seed);
            let best = of(Algorithm::Best, &problem);
            (problem, best, wishes(seed))
        })
        .collect();
    for (name, method) in methods {
        let figures: Vec<(Figures, f64)> = batches
            .iter()
            .map(|(problem, best, wishes)| {
                let begin = Instant::now();
                let order = method(problem, wishes, best);
                let seconds = begin.elapsed().as_secs_f64();
                (Figures::of(problem, wishes, &order), seconds)
            })
            .collect();
        row(name, &batches[0].0, &figures);
    }
}

/// Half of the requests due in 3 to 5 hours, half in 5 to 12, as TapeOBS has it (FAST 2026).
fn deadline_table(n: usize) {
    println!("\ndeadlines in 3 to 5 and 5 to 12 hours, n = {n}, seeds 1 to {SEEDS}");
    title();
    let hours = |from: u64, to: u64, random: &mut Random| {
        Some(Micros::from_secs_f64(
            (from * 3_600 + random.below((to - from) * 3_600)) as f64,
        ))
    };
    let wishes = |seed: u64| {
        let random = &mut Random::new(seed, 99);
        let deadline = (0..n).map(|_| match random.below(2) {
            0 => hours(3, 5, random),
            _ => hours(5, 12, random),
        });
        Wishes {
            weight: Vec::new(),
            deadline: deadline.collect(),
        }
    };
    let class =
        |wishes: &Wishes, request: u32| wishes.deadline(request) >= Some(Micros(5 * 3_600_000_000));
    let methods: Vec<Method> = vec![
        (
            "earliest deadline first",
            Box::new(|p, w, _| {
                let mut visits: Vec<u32> = (0..p.len() as u32).collect();
                visits.sort_by_key(|&v| w.deadline(p.visits()[v as usize].requests[0]));
                Order::new(visits).unwrap()
            }),
        ),
        (
            "two classes, unordered",
            Box::new(move |p, w, _| {
                let mut visits: Vec<u32> = (0..p.len() as u32).collect();
                visits.sort_by_key(|&v| {
                    let r = p.visits()[v as usize].requests[0];
                    (class(w, r), r)
                });
                Order::new(visits).unwrap()
            }),
        ),
        (
            "two classes, two passes",
            Box::new(move |p, w, _| {
                let mut visits = of(Algorithm::TwoPass, p).visits().to_vec();
                visits.sort_by_key(|&v| class(w, p.visits()[v as usize].requests[0]));
                Order::new(visits).unwrap()
            }),
        ),
        ("SLTF", Box::new(|p, _, _| of(Algorithm::Sltf, p))),
        ("best total", Box::new(|_, _, best| best.clone())),
        (
            "deadline",
            searched(Objective::Deadline, |_| Limits::default(), 60_000_000),
        ),
        (
            "same, five times the work",
            searched(Objective::Deadline, |_| Limits::default(), 300_000_000),
        ),
    ];
    compare(n, &methods, wishes);
}
