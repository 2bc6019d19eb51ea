//! CERN 2018: files recalled at random from a full LTO tape, by the regression that the slides print.

use super::{Fallible, LONGEST, line};
use crate::answer::Line;
use std::ops::Range;
use tapewise::model::{NominalLayout, Position, Random, profile};
use tapewise::order::{
    Algorithm, Alternatives, End, Inputs, Options, Order, PlacedExtent, Plan, Problem, Request,
    Tape, cta_sltf, fifo, sltf, sort, two_pass,
};

/// CERN writes blocks of 256 KiB.
const BLOCK_BYTES: u64 = 262_144;

/// Standard deviation of the logarithm of a file's size, as in `tapewise reproduce`.
const SIGMA: f64 = 1.0;

/// Ours takes longer to find than all others together, and varies less: it is found of every so many-th batch.
const BEST_EVERY: u64 = 4;
const LONGEST_BEST: usize = 200;

type Find = fn(&Problem) -> Option<Order>;

/// The slides' orders, that of CERN's tape archive, and ours. A batch is drawn in random order.
const ORDERS: [(&str, Find); 6] = [
    ("RANDOM", |problem| Some(fifo(problem))),
    ("LINEAR", |problem| Some(sort(problem))),
    ("SCAN", |problem| Some(two_pass(problem))),
    ("SLTF", |problem| Some(sltf(problem))),
    ("CTA's, in windows", |problem| Some(cta_sltf(problem, true))),
    ("tapewise best", |problem| {
        Algorithm::Best.order(problem, &Inputs::new(&Alternatives::none()))
    }),
];

/// Seconds of positioning for each file, of each order: `(batch, seconds)`.
pub(super) fn orders(
    lto8: bool,
    files: usize,
    requests: usize,
    batches: Range<u64>,
) -> Fallible<Vec<Line>> {
    if !(1..=LONGEST).contains(&requests) || !(requests..=1_000_000).contains(&files) {
        let range = format!("1 to {LONGEST} of at most 1,000,000 files");
        return Err(format!("a batch has {range}, not {requests} of {files}").into());
    }
    let profile = profile::find(if lto8 { "lto8" } else { "lto7-m8" })?;
    let tape = Tape::new(&profile, None)?;
    let map = profile.nominal_map(NominalLayout::Single, BLOCK_BYTES)?;
    let mut lines = ORDERS.map(|(name, _)| line(name, Vec::new()));
    for batch in batches.take(1000) {
        let mut random = Random::new(1, (requests as u64) << 32 | batch);
        let mut wanted = extents(files, map.end_block(0), &mut random);
        random.shuffle(&mut wanted);
        let wanted = wanted.iter().take(requests).map(|file| {
            let bytes = (file.end - file.start) * BLOCK_BYTES;
            PlacedExtent::on_map(&map, 0, file.start, file.end - 1, bytes).map(Request::single)
        });
        let wanted: Vec<Request> = wanted.collect::<Result<_, _>>()?;
        let options = Options {
            head: Position::beginning_of_tape(tape.geometry.lpos_min),
            end: End::Anywhere,
            read_through: false,
        };
        let problem = Problem::new(tape.clone(), options, &wanted);
        for (line, (name, find)) in lines.iter_mut().zip(ORDERS) {
            let is_ours = name == "tapewise best";
            if is_ours && (requests > LONGEST_BEST || !batch.is_multiple_of(BEST_EVERY)) {
                continue;
            }
            if let Some(order) = find(&problem) {
                let locate = Plan::new(&problem, order).totals.locate;
                line.places
                    .push((batch as f64, locate.as_secs_f64() / requests as f64));
            }
        }
    }
    Ok(lines.into())
}

/// The blocks of files of log-normal size that fill the tape, end to end.
fn extents(files: usize, end_block: u64, random: &mut Random) -> Vec<Range<u64>> {
    let weights: Vec<f64> = (0..files)
        .map(|_| (SIGMA * random.normal()).exp())
        .collect();
    let scale = end_block as f64 / weights.iter().sum::<f64>();
    let (mut before, mut first) = (0.0, 0);
    let mut extents = Vec::with_capacity(files);
    for weight in weights {
        before += weight;
        let end = ((before * scale).round() as u64).min(end_block);
        if end > first {
            extents.push(first..end);
        }
        first = end;
    }
    extents
}
