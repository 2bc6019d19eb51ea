//! Sections 5 and 8: what each order takes, for every schedule length.

use super::Cartridge;
use crate::PaperError;
use crate::Progress;
use crate::claims::{Ours, Paper};
use rayon::prelude::*;
use std::time::Instant;
use tapewise_model::{Micros, Position, Random};
use tapewise_order::{
    OPT_MAX_VISITS, Order, Problem, fifo, loss, opt, read_whole_tape, scan, sltf, sort, weave,
};
use tapewise_plot::Table;

/// The trials of the paper are divided by this unless all are asked for.
const REDUCTION: u64 = 250;

/// Trials that are run at least.
const LEAST_TRIALS: u64 = 16;

/// The orders of the figures; READ costs the same for every batch.
const ORDERS: [(&str, Algorithm); 7] = [
    ("FIFO", fifo),
    ("OPT", |problem| {
        opt(problem).expect("asked for small batches only")
    }),
    ("SORT", sort),
    ("SLTF", sltf),
    ("SCAN", scan),
    ("WEAVE", weave),
    ("LOSS", loss),
];
const OPT: usize = 1;
const LOSS: usize = 6;

/// The paper's OPT stops at 12 requests.
const OPT_LONGEST: usize = 12;

/// "The entire set of experiments is repeated for 5 different initial pseudorandom number seeds."
const SEEDS: u64 = 5;

/// Mean and standard deviation of the time per locate of one order at one length.
#[derive(Clone, Copy, Default)]
struct Cell {
    mean_s: f64,
    sd_s: f64,
    /// Mean time of the whole schedule, reading included.
    total_s: f64,
    /// Mean processor time to find the order.
    cpu_s: f64,
}

/// An order as the simulation runs it.
type Algorithm = fn(&Problem) -> Order;

/// One schedule length: a cell for each of [`ORDERS`], `None` where it was not run.
struct Length {
    n: usize,
    trials: u64,
    /// Over the trials of all seeds.
    cells: [Option<Cell>; 7],
    /// By seed, the mean time of the whole schedule.
    totals_s: Vec<[Option<f64>; 7]>,
}

/// Where the head is before each schedule.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    Random,
    BeginningOfTape,
}

impl Start {
    fn figure(self) -> &'static str {
        match self {
            Start::Random => "Figure 4",
            Start::BeginningOfTape => "Figure 5",
        }
    }
}

/// Figures 4 to 7, the crossings of section 5, the rates of section 8.
pub(super) fn tables(
    cartridge: &Cartridge,
    paper: &Paper,
    seed: u64,
    full: bool,
    progress: Progress,
    ours: &mut Ours,
) -> Result<Vec<Table>, PaperError> {
    let lengths = schedule_lengths(paper)?;
    let seeds = if full { SEEDS } else { 1 };
    let begin = Instant::now();
    let run = |start: Start| -> Vec<Length> {
        let one = |&n: &usize| {
            let length = simulate(cartridge, n, trials(n, full), start, (seed, seeds));
            progress(&format_args!(
                "{}: {} batches of {n}",
                start.figure(),
                length.trials
            ));
            length
        };
        lengths.iter().map(one).collect()
    };
    let (random, from_bot) = (run(Start::Random), run(Start::BeginningOfTape));
    let whole = whole_tape(cartridge);
    let took_s = begin.elapsed().as_secs_f64();
    claims(&random, whole, ours);
    let mut tables = vec![
        time_per_locate(
            "Figure 4: mean time per locate, random start, seconds",
            &random,
            whole,
        ),
        time_per_locate(
            "Figure 5: mean time per locate, start at the beginning of tape, seconds",
            &from_bot,
            whole,
        ),
        processor_time(&random),
        utilisation(cartridge, &random, ours)?,
        crossings(&random, whole, ours),
    ];
    if full {
        tables.push(seeds_apart(&random, &from_bot, took_s));
    }
    Ok(tables)
}

/// READ: all segments one after the other, and the rewind.
fn whole_tape(cartridge: &Cartridge) -> Micros {
    let from_start = cartridge.problem(cartridge.position(0), &[]);
    read_whole_tape(&from_start, &cartridge.map)
}

/// The same in seconds.
pub(super) fn whole_tape_s(cartridge: &Cartridge) -> f64 {
    whole_tape(cartridge).as_secs_f64()
}

/// Lengths that the gated claims are of, and one more for the parabola through the crossing.
const CLAIMED: [usize; 7] = [10, 96, 192, 768, 1024, 1536, 2048];

/// What the gated claims rest on.
pub(super) fn gated(
    cartridge: &Cartridge,
    paper: &Paper,
    seed: u64,
    full: bool,
    ours: &mut Ours,
) -> Result<(), PaperError> {
    let mut lengths = schedule_lengths(paper)?;
    lengths.retain(|n| CLAIMED.contains(n));
    let one = |&n: &usize| simulate(cartridge, n, trials(n, full), Start::Random, (seed, 1));
    let random: Vec<Length> = lengths.iter().map(one).collect();
    let whole = whole_tape(cartridge);
    claims(&random, whole, ours);
    utilisation(cartridge, &random, ours)?;
    crossings(&random, whole, ours);
    Ok(())
}

pub(super) fn schedule_lengths(paper: &Paper) -> Result<Vec<usize>, PaperError> {
    let listed = paper
        .facts
        .get("schedule_lengths")
        .and_then(|value| value.as_array());
    let lengths: Option<Vec<usize>> = listed.map(|items| {
        items
            .iter()
            .filter_map(|n| n.as_integer().map(|n| n as usize))
            .collect()
    });
    lengths.ok_or_else(|| PaperError::from("claims.toml: no schedule_lengths"))
}

/// Section 5: 100,000 trials up to 192 requests, fewer above.
pub(super) fn trials(n: usize, full: bool) -> u64 {
    let paper = match n {
        0..=192 => 100_000,
        193..=256 => 25_000,
        257..=384 => 12_000,
        385..=512 => 7_000,
        513..=768 => 3_000,
        769..=1024 => 1_600,
        1025..=1536 => 800,
        _ => 400,
    };
    if full {
        paper
    } else {
        (paper / REDUCTION).max(LEAST_TRIALS)
    }
}

/// Of these trials, those in which OPT runs too: 10,000 of 10 requests, 100 of 12.
fn opt_trials(n: usize) -> u64 {
    match n {
        0..=9 => u64::MAX,
        10 => 10_000,
        11..=OPT_LONGEST => 100,
        _ => 0,
    }
}

/// What one order took: locates, the whole schedule, and the processor to find it.
type Taken = (Micros, Micros, f64);

/// Runs the trials of one length; one stream of random numbers for each, so that neither their
/// number nor the number of threads changes any of them.
fn simulate(
    cartridge: &Cartridge,
    n: usize,
    trials: u64,
    start: Start,
    (seed, seeds): (u64, u64),
) -> Length {
    let by_seed: Vec<Vec<[Option<Taken>; 7]>> = (0..seeds)
        .map(|more| {
            let one = |number| trial(cartridge, n, number, start, seed.wrapping_add(more));
            (0..trials).into_par_iter().map(one).collect()
        })
        .collect();
    let column = |rows: &[Vec<[Option<Taken>; 7]>], index: usize| -> Vec<Taken> {
        rows.iter().flatten().filter_map(|row| row[index]).collect()
    };
    let cell = |rows: &[Vec<[Option<Taken>; 7]>], index: usize| {
        let column = column(rows, index);
        (!column.is_empty()).then(|| Cell::of(&column, n))
    };
    let totals_s = |rows: &Vec<[Option<Taken>; 7]>| {
        let rows = std::slice::from_ref(rows);
        std::array::from_fn(|index| cell(rows, index).map(|cell| cell.total_s))
    };
    Length {
        n,
        trials: trials * by_seed.len() as u64,
        cells: std::array::from_fn(|index| cell(&by_seed, index)),
        totals_s: by_seed.iter().map(totals_s).collect(),
    }
}

/// One random batch under every order.
fn trial(
    cartridge: &Cartridge,
    n: usize,
    number: u64,
    start: Start,
    seed: u64,
) -> [Option<Taken>; 7] {
    let stream = (n as u64) << 32 | number | u64::from(start == Start::Random) << 60;
    let mut random = Random::new(seed, stream);
    let mut segment = || random.below(cartridge.key_points.segments());
    let segments: Vec<u64> = (0..n).map(|_| segment()).collect();
    let head = match start {
        Start::Random => cartridge.position(segment()),
        Start::BeginningOfTape => Position::beginning_of_tape(0),
    };
    let problem = cartridge.problem(head, &segments);
    std::array::from_fn(|index| {
        let is_left_out = number >= opt_trials(n) || problem.len() > OPT_MAX_VISITS;
        if index == OPT && is_left_out {
            return None;
        }
        let begin = Instant::now();
        let order = ORDERS[index].1(&problem);
        let cpu_s = begin.elapsed().as_secs_f64();
        Some((
            order.locate_time(&problem),
            order.total_time(&problem),
            cpu_s,
        ))
    })
}

impl Cell {
    fn of(column: &[(Micros, Micros, f64)], n: usize) -> Cell {
        let count = column.len() as f64;
        let per_locate: Vec<f64> = column
            .iter()
            .map(|(locate, ..)| locate.as_secs_f64() / n as f64)
            .collect();
        let mean_s = per_locate.iter().sum::<f64>() / count;
        let squares: f64 = per_locate.iter().map(|s| (s - mean_s).powi(2)).sum();
        Cell {
            mean_s,
            sd_s: (squares / (count - 1.0).max(1.0)).sqrt(),
            total_s: column
                .iter()
                .map(|(_, total, _)| total.as_secs_f64())
                .sum::<f64>()
                / count,
            cpu_s: column.iter().map(|(.., cpu_s)| cpu_s).sum::<f64>() / count,
        }
    }
}

fn time_per_locate(title: &str, lengths: &[Length], whole: Micros) -> Table {
    let mut columns = vec!["n", "trials", "READ"];
    columns.extend(ORDERS.map(|(name, _)| name));
    let mut table = Table::new(title, &columns);
    for length in lengths {
        let cell = |cell: &Option<Cell>| {
            cell.map_or("-".to_owned(), |cell| {
                format!("{:.2} ±{:.2}", cell.mean_s, cell.sd_s)
            })
        };
        let read = format!("{:.1}", whole.as_secs_f64() / length.n as f64);
        let fixed = [length.n.to_string(), length.trials.to_string(), read];
        table.row(fixed.into_iter().chain(length.cells.iter().map(cell)));
    }
    table.note("Mean ± standard deviation over the trials. Locates only: reading a segment takes 0.022 s more.");
    table
}

/// Section 5: how far the means of the seeds lie apart.
fn seeds_apart(random: &[Length], from_bot: &[Length], took_s: f64) -> Table {
    let mut columns = vec!["n", "trials a seed"];
    columns.extend(ORDERS.map(|(name, _)| name));
    let mut table = Table::new(
        "Section 5: mean schedule time of five seeds, largest less smallest, % of the mean",
        &columns,
    );
    for (one, other) in random.iter().zip(from_bot) {
        let apart = |index: usize| {
            let spread = |length: &Length| {
                let totals = length.totals_s.iter().filter_map(|row| row[index]);
                let (least, most) = totals.fold((f64::MAX, 0.0_f64), |(least, most), total_s| {
                    (least.min(total_s), most.max(total_s))
                });
                (most > 0.0)
                    .then(|| (most - least) / length.cells[index].map_or(1.0, |c| c.total_s))
            };
            let worst = spread(one)
                .into_iter()
                .chain(spread(other))
                .reduce(f64::max);
            worst.map_or("-".to_owned(), |share| format!("{:.2}", share * 100.0))
        };
        let trials = one.trials / one.totals_s.len() as u64;
        let fixed = [one.n.to_string(), trials.to_string()];
        table.row(fixed.into_iter().chain((0..ORDERS.len()).map(apart)));
    }
    table.note("The wider of the two starting points. The paper: under 0.5 %, OPT of 12 (100 trials) 2.5 %.");
    table.note(format!(
        "The whole study, both starting points, took {took_s:.0} s here on {} threads.",
        rayon::current_num_threads()
    ));
    table
}

/// Figure 6: the one table that differs from run to run.
fn processor_time(lengths: &[Length]) -> Table {
    let mut columns = vec!["n"];
    columns.extend(ORDERS.map(|(name, _)| name));
    let mut table = Table::new("Figure 6: time to find an order, milliseconds", &columns);
    for length in lengths {
        let cell = |cell: &Option<Cell>| {
            cell.map_or("-".to_owned(), |cell| format!("{:.3}", cell.cpu_s * 1e3))
        };
        table.row(std::iter::once(length.n.to_string()).chain(length.cells.iter().map(cell)));
    }
    table.note("Measured here and now on one core, others busy: differs from run to run, alone of all tables.");
    table.note("The paper (SparcStation 20/61): OPT 6 s at 10 and 936 s at 12; LOSS 0.6 s at 256, 8.1 s at 1024, 30.5 s at 2048.");
    table
}

/// Figure 7: how much a request must transfer to keep the drive busy.
fn utilisation(
    cartridge: &Cartridge,
    lengths: &[Length],
    ours: &mut Ours,
) -> Result<Table, PaperError> {
    const SHARES: [f64; 5] = [0.25, 0.33, 0.50, 0.75, 0.90];
    // The paper's own 1.5 MB/s, of which 704 segments in 15.5 s are 1.488.
    let rate_mb_s = cartridge.profile.transfer()?.rate_mb_s;
    let mut table = Table::new(
        "Figure 7: MB to transfer for each request, for a share of the drive's rate",
        &["n", "s per locate", "25 %", "33 %", "50 %", "75 %", "90 %"],
    );
    for length in lengths {
        let Some(cell) = length.cells[OPT].or(length.cells[LOSS]) else {
            continue;
        };
        let size = |share: f64| cell.mean_s * rate_mb_s * share / (1.0 - share);
        let fixed = [length.n.to_string(), format!("{:.2}", cell.mean_s)];
        table.row(
            fixed
                .into_iter()
                .chain(SHARES.map(|share| format!("{:.1}", size(share)))),
        );
        if length.n == 1 {
            ours.set(
                "solitary-size",
                size(0.33),
                "MB for a third of the rate, one request",
            );
        }
        if length.n == 10 {
            let transfer_s = 30.0 / rate_mb_s;
            let share = transfer_s / (cell.mean_s + transfer_s);
            ours.set("utilisation-10-requests", share, "OPT of 10, 30 MB each");
        }
    }
    table.note("OPT up to 12 requests, LOSS above, random start.");
    Ok(table)
}

/// Section 5: up to where OPT, LOSS and READ are the ones to use.
fn crossings(lengths: &[Length], whole: Micros, ours: &mut Ours) -> Table {
    let mut table = Table::new(
        "Section 5: total time, hours, and which order wins",
        &["n", "OPT", "LOSS", "SORT", "READ", "shortest"],
    );
    let whole_s = whole.as_secs_f64();
    for length in lengths {
        let total = |index: usize| length.cells[index].map(|cell| cell.total_s);
        let hours = |s: Option<f64>| s.map_or("-".to_owned(), |s| format!("{:.3}", s / 3600.0));
        let shortest = [
            ("OPT", total(OPT)),
            ("LOSS", total(LOSS)),
            ("SORT", total(2)),
            ("READ", Some(whole_s)),
        ]
        .into_iter()
        .filter_map(|(name, total)| Some((name, total?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
        table.row([
            length.n.to_string(),
            hours(total(OPT)),
            hours(total(LOSS)),
            hours(total(2)),
            hours(Some(whole_s)),
            shortest.map_or("-", |(name, _)| name).to_owned(),
        ]);
    }
    let loss_totals: Vec<(f64, f64)> = lengths
        .iter()
        .filter_map(|length| Some((length.n as f64, length.cells[LOSS]?.total_s)))
        .collect();
    // Totals level off with length, so a chord would put the crossing too far out: a parabola
    // through the two lengths around it and the one before.
    let crossing = loss_totals.windows(3).find_map(|three| {
        let [(n0, t0), (n1, t1), (n2, t2)] = [three[0], three[1], three[2]];
        let length_at = |t: f64| {
            n0 * (t - t1) * (t - t2) / ((t0 - t1) * (t0 - t2))
                + n1 * (t - t0) * (t - t2) / ((t1 - t0) * (t1 - t2))
                + n2 * (t - t0) * (t - t1) / ((t2 - t0) * (t2 - t1))
        };
        (t1 < whole_s && t2 >= whole_s).then(|| length_at(whole_s))
    });
    match crossing {
        Some(n) => ours.set(
            "opt-loss-read-crossovers",
            n,
            "LOSS of 1536 takes as long as READ: one of the four facts",
        ),
        None => ours.set(
            "opt-loss-read-crossovers",
            f64::NAN,
            "LOSS and READ do not cross",
        ),
    }
    table.note("The paper: OPT up to 10, LOSS up to 1536, READ above. Ours finds OPT of 16 in tens of milliseconds.");
    table
}

fn claims(random: &[Length], whole: Micros, ours: &mut Ours) {
    let cell = |n: usize, index: usize| {
        random
            .iter()
            .find(|length| length.n == n)
            .and_then(|length| length.cells[index])
    };
    let rate = |n: usize, index: usize| {
        cell(n, index).map_or(f64::NAN, |cell| n as f64 / cell.total_s * 3600.0)
    };
    let hours = |n: usize, index: usize| cell(n, index).map_or(f64::NAN, |c| c.total_s / 3600.0);
    let cpu = |n: usize, index: usize| cell(n, index).map_or(f64::NAN, |cell| cell.cpu_s);
    const FIFO: usize = 0;
    ours.set(
        "read-and-rewind",
        whole.as_secs_f64(),
        "15.5 s a section, 4.5 s a turn (from footnote 1), rewind",
    );
    ours.set(
        "fifo-rate",
        rate(192, FIFO),
        "follows from the mean of random moves",
    );
    ours.set(
        "opt-10-rate",
        rate(10, OPT),
        "random batches, nothing fitted to it",
    );
    ours.set(
        "loss-96-rate",
        rate(96, LOSS),
        "random batches, nothing fitted to it",
    );
    ours.set(
        "loss-1024-rate",
        rate(1024, LOSS),
        "random batches, nothing fitted to it",
    );
    ours.set(
        "read-1536-rate",
        1536.0 / whole.as_secs_f64() * 3600.0,
        "whole tape over 1536 requests",
    );
    ours.set(
        "fifo-192-hours",
        hours(192, FIFO),
        "follows from the mean of random moves",
    );
    ours.set(
        "loss-192-hours",
        hours(192, LOSS),
        "random batches, nothing fitted to it",
    );
    ours.set(
        "loss-2048-cpu",
        cpu(2048, LOSS),
        "measured here, dense form",
    );
    ours.set(
        "opt-12-cpu",
        cpu(12, OPT),
        "measured here, dynamic programming",
    );
}
