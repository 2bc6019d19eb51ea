//! Beside the paper's figures: LOSS against the proven optimum, the threshold of coalescing (section 4), and the
//! sparse LOSS that the paper leaves as future work.

use super::Cartridge;
use super::schedules::{schedule_lengths, trials};
use crate::PaperError;
use crate::Progress;
use crate::claims::Paper;
use rayon::prelude::*;
use std::time::Instant;
use tapewise_model::Random;
use tapewise_order::{
    Algorithm, Alternatives, Inputs, Order, Problem, coalesced, loss, sltf, sparse_loss,
};
use tapewise_plot::Table;

/// Batches of each length that are solved to a proof, above this many requests, and with `--full`.
const PROVEN: u64 = 4;
const MANY: usize = 48;
const PROVEN_MANY: u64 = 2;
const PROVEN_FULL: u64 = 100;

/// A random batch from a random start.
fn batch(cartridge: &Cartridge, n: usize, trial: u64, seed: u64) -> Problem {
    let mut random = Random::new(seed, 1 << 49 | (n as u64) << 32 | trial);
    let mut segment = || random.below(cartridge.key_points.segments());
    let segments: Vec<u64> = (0..n).map(|_| segment()).collect();
    let head = cartridge.position(segment());
    cartridge.problem(head, &segments)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

fn locate_s(problem: &Problem, order: &Order) -> f64 {
    order.locate_time(problem).as_secs_f64()
}

/// The three tables.
pub(super) fn tables(
    cartridge: &Cartridge,
    paper: &Paper,
    seed: u64,
    full: bool,
    progress: Progress,
) -> Result<Vec<Table>, PaperError> {
    let lengths = schedule_lengths(paper)?;
    let best = best(cartridge, &lengths, seed, full, progress)?;
    Ok(vec![
        best,
        threshold(cartridge, seed, full),
        sparse(cartridge, seed, full),
    ])
}

/// One batch: LOSS and `best` in seconds of locating, and whether the latter is proven.
struct Solved {
    loss_s: f64,
    best_s: f64,
    bound_s: f64,
    is_proven: bool,
}

fn best(
    cartridge: &Cartridge,
    lengths: &[usize],
    seed: u64,
    full: bool,
    progress: Progress,
) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Section 5: LOSS beside the shortest order, time per locate, random start, seconds",
        &[
            "n",
            "batches",
            "LOSS",
            "best",
            "bound",
            "LOSS longer by %",
            "best proven",
            "best, at most longer by %",
        ],
    );
    for &n in lengths {
        let batches = match full {
            true => PROVEN_FULL,
            false if n > MANY => PROVEN_MANY,
            false => PROVEN,
        };
        let one = |trial| solved(&batch(cartridge, n, trial, seed));
        let solved: Option<Vec<Solved>> = (0..batches).into_par_iter().map(one).collect();
        let solved = solved.ok_or("best refused a batch")?;
        progress(&format_args!("optimum: {batches} batches of {n}"));
        let per_locate = |value: fn(&Solved) -> f64| mean(solved.iter().map(value)) / n as f64;
        let [loss_s, best_s, bound_s] = [
            per_locate(|solved| solved.loss_s),
            per_locate(|solved| solved.best_s),
            per_locate(|solved| solved.bound_s),
        ];
        let proven = solved.iter().filter(|solved| solved.is_proven).count();
        table.row([
            n.to_string(),
            batches.to_string(),
            format!("{loss_s:.2}"),
            format!("{best_s:.2}"),
            format!("{bound_s:.2}"),
            format!("{:.1}", (loss_s / best_s - 1.0) * 100.0),
            format!("{proven} of {batches}"),
            format!("{:.2}", (best_s / bound_s - 1.0) * 100.0),
        ]);
    }
    table.note("bound: no order takes less. best is the default of `tapewise order`; the paper's OPT stops at 12 requests.");
    Ok(table)
}

fn solved(problem: &Problem) -> Option<Solved> {
    let exact = Alternatives::none();
    let solution = Algorithm::Best.solve(problem, &Inputs::new(&exact))?;
    let (read, inner) = problem.fixed_time();
    let best_s = locate_s(problem, &solution.order);
    let bound_s = solution
        .bound
        .map_or(0.0, |bound| (bound - read - inner).as_secs_f64());
    Some(Solved {
        loss_s: locate_s(problem, &loss(problem)),
        best_s,
        bound_s,
        is_proven: solution.is_optimal(problem),
    })
}

/// Distances that requests are coalesced within, in segments: from half a section to eight.
const THRESHOLDS: [u64; 6] = [352, 704, 1_410, 2_112, 2_816, 5_632];
const THRESHOLD_LENGTHS: [usize; 5] = [96, 192, 512, 1_024, 2_048];

/// "Experiments show that 1410 (the size of 2 sections) is a good choice for T" (section 4).
fn threshold(cartridge: &Cartridge, seed: u64, full: bool) -> Table {
    let mut columns = vec!["n".to_owned(), "order".to_owned(), "plain s".to_owned()];
    columns.extend(THRESHOLDS.map(|threshold| format!("T = {threshold}, %")));
    columns.push("cities at T = 1410".to_owned());
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "Section 4: coalescing requests nearer than T segments: time per locate, and how much longer it gets",
        &columns,
    );
    type Plain = fn(&Problem) -> Order;
    let orders: [(&str, Plain); 2] = [("SLTF", sltf), ("LOSS", loss)];
    for n in THRESHOLD_LENGTHS {
        let trials = (trials(n, full) / 16).max(4);
        for (name, order) in orders {
            let one = |trial| -> Vec<f64> {
                let problem = batch(cartridge, n, trial, seed);
                let with = |threshold: &u64| coalesced(&problem, *threshold, order);
                let plain = std::iter::once(order(&problem));
                let all = plain.chain(THRESHOLDS.iter().map(with));
                let cities = tapewise_order::coalesce(&problem, THRESHOLDS[2]).len() as f64;
                all.map(|order| locate_s(&problem, &order))
                    .chain([cities])
                    .collect()
            };
            let rows: Vec<Vec<f64>> = (0..trials).into_par_iter().map(one).collect();
            let at = |index: usize| mean(rows.iter().map(|row| row[index]));
            let mut cells = vec![
                n.to_string(),
                name.to_owned(),
                format!("{:.2}", at(0) / n as f64),
            ];
            cells.extend(
                (1..=THRESHOLDS.len())
                    .map(|index| format!("{:+.1}", (at(index) / at(0) - 1.0) * 100.0)),
            );
            cells.push(format!("{:.0}", at(THRESHOLDS.len() + 1)));
            table.row(cells);
        }
    }
    table.note("%: longer (+) or shorter (-) than the same order without coalescing. A section has 704 segments; the paper takes 1410.");
    table
}

const SPARSE_LENGTHS: [usize; 6] = [256, 512, 768, 1_024, 1_536, 2_048];

/// Section 4, future work: "start with a sparse graph".
fn sparse(cartridge: &Cartridge, seed: u64, full: bool) -> Table {
    let mut table = Table::new(
        "Section 4, future work: LOSS over a sparse graph",
        &[
            "n",
            "dense ms",
            "sparse ms",
            "dense, s per locate",
            "sparse",
            "longer by %",
        ],
    );
    for n in SPARSE_LENGTHS {
        let trials = if full { 100 } else { 4 };
        let (mut ms, mut located_s) = ([0.0; 2], [0.0; 2]);
        for trial in 0..trials {
            let problem = batch(cartridge, n, trial, seed);
            for (which, order) in [loss, sparse_loss].into_iter().enumerate() {
                let begin = Instant::now();
                let found = order(&problem);
                ms[which] += begin.elapsed().as_secs_f64() * 1e3 / trials as f64;
                located_s[which] += locate_s(&problem, &found) / (trials as f64 * n as f64);
            }
        }
        table.row([
            n.to_string(),
            format!("{:.2}", ms[0]),
            format!("{:.2}", ms[1]),
            format!("{:.2}", located_s[0]),
            format!("{:.2}", located_s[1]),
            format!("{:+.1}", (located_s[1] / located_s[0] - 1.0) * 100.0),
        ]);
    }
    table.note("Times to find an order are measured here and now: they differ from run to run. Up to 256 requests both are the same.");
    table
}
