//! What "stepping back" means: the slides do not say, and two readings are possible.
//!
//! CERN's recall code adds the term only on the wrap that the head is on. "Cost of stepping back (rewind) within the
//! same direction" can as well mean every move against the direction of two wraps that are read the same way.

use super::Bench;
use super::orders::{Case, Contender};
use super::study::{BATCHES, TAPES};
use crate::PaperError;
use rayon::prelude::*;
use tapewise_model::{Micros, profile};
use tapewise_order::{Order, Plan, Problem};
use tapewise_plot::Table;

/// Which moves pay for stepping back.
#[derive(Clone, Copy)]
enum Reading {
    /// To a place behind the head on its own wrap: what all other tables take.
    SameWrap,
    /// To a place behind the head on any wrap of the same direction.
    SameDirection,
}

const READINGS: [(Reading, &str); 2] = [
    (Reading::SameWrap, "same wrap"),
    (Reading::SameDirection, "same direction"),
];

/// The times of a batch under one reading.
struct Prices<'a> {
    problem: &'a Problem,
    /// What a step back between two wraps costs in addition.
    extra: Micros,
}

impl Prices<'_> {
    /// From the end of a visit, or from the head, to the start of another.
    fn time(&self, from: Option<usize>, to: usize) -> Micros {
        let time = match from {
            Some(from) => self.problem.arc(from, to),
            None => self.problem.first_arc(to),
        };
        let start = from.map_or(self.problem.head(), |from| &self.problem.ends()[from]);
        let end = &self.problem.starts()[to];
        let other_wrap = start.wrap != end.wrap && (start.wrap ^ end.wrap) & 1 == 0;
        let is_behind = if end.wrap & 1 == 0 {
            end.lpos < start.lpos
        } else {
            end.lpos > start.lpos
        };
        if other_wrap && is_behind {
            time + self.extra
        } else {
            time
        }
    }

    fn total_s(&self, order: &Order) -> f64 {
        let mut at = None;
        let mut total = Micros::ZERO;
        for &visit in order.visits() {
            total += self.time(at, visit as usize);
            at = Some(visit as usize);
        }
        total.as_secs_f64()
    }

    /// Shortest locate time first by these times.
    fn sltf(&self) -> Order {
        let mut unread: Vec<usize> = (0..self.problem.len()).collect();
        let mut sequence = Vec::with_capacity(unread.len());
        let mut at = None;
        while let Some(place) =
            (0..unread.len()).min_by_key(|&place| (self.time(at, unread[place]), unread[place]))
        {
            let next = unread.swap_remove(place);
            sequence.push(next as u32);
            at = Some(next);
        }
        Order::new(sequence).expect("every visit is taken once")
    }
}

/// The slides' orders in the order of [`Outcome`].
const ORDERS: [Contender; 4] = [
    Contender::Random,
    Contender::Linear,
    Contender::Scan,
    Contender::Sltf,
];

/// Seconds and LPOS units moved, by order.
type Outcome = [[f64; 2]; ORDERS.len()];

fn outcome(problem: &Problem, extra: Micros) -> Outcome {
    let prices = Prices { problem, extra };
    ORDERS.map(|contender| {
        let order = match contender {
            Contender::Sltf => prices.sltf(),
            other => other.order(problem),
        };
        let total_s = prices.total_s(&order);
        let moved = Plan::new(problem, order).totals.distance_lpos;
        [total_s, moved as f64]
    })
}

/// The results by order under both readings.
pub fn table(bench: &Bench) -> Result<Table, PaperError> {
    let unknown = || PaperError::from("the profile lto7-m8 has no regression");
    let coefficients = profile::find(super::M8)?.lto_coefficients();
    let step_back = Micros::from_secs_f64(coefficients.ok_or_else(unknown)?.step_back_s);
    let mut table = Table::new(
        "Results under both readings of a step back: positioning for each file, LTO-7 M8",
        &[
            "files",
            "a step back is",
            "RANDOM s",
            "LINEAR s",
            "SCAN s",
            "SLTF s",
            "LINEAR/SLTF",
            "LINEAR/SCAN",
            "moved, LINEAR/SLTF",
            "moved, LINEAR/SCAN",
        ],
    );
    for files in BATCHES {
        let case = Case {
            sizes: TAPES,
            files,
            trials: bench.trials,
            seed: bench.seed,
        };
        for (reading, name) in READINGS {
            let extra = match reading {
                Reading::SameWrap => Micros::ZERO,
                Reading::SameDirection => step_back,
            };
            let one = |trial| Ok(outcome(&case.batch(&bench.m8, trial)?, extra));
            let trials = (0..bench.trials).into_par_iter().map(one);
            let trials: Vec<Outcome> = trials.collect::<Result<_, PaperError>>()?;
            let mean = |order: usize, value: usize| {
                let values = trials.iter().map(|outcome| outcome[order][value]);
                values.sum::<f64>() / trials.len() as f64
            };
            let mut cells = vec![files.to_string(), name.to_owned()];
            cells.extend((0..4).map(|order| format!("{:.1}", mean(order, 0) / files as f64)));
            for value in [0, 1] {
                let [sltf, scan] = [3, 2].map(|order| mean(1, value) / mean(order, value));
                cells.extend([format!("{sltf:.2}"), format!("{scan:.2}")]);
            }
            table.row(cells);
        }
    }
    table.note("same wrap: to a place behind the head on its own wrap, as CERN's recall code reads it; all other tables take this one.");
    table.note("same direction: to a place behind the head on any wrap that is read the same way. SLTF goes by the times of each reading.");
    table.note("The slides: LINEAR/SLTF 2.5 to 3, and SLTF the fastest of the four; over 11 times less tape moved.");
    Ok(table)
}
