//! Tapes that lie otherwise than believed, and batches on them.

use tapewise_model::{
    BlockMap, EndOfWrap, NominalLayout, Position, PositionSource, Random, WrapSpan, profile,
};
use tapewise_order::replan::TrueTape;
use tapewise_order::{End, Options, PlacedExtent, Problem, Request, Tape};

/// How the capacity of the true wraps differs from the believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MapError {
    /// All by the same share, more or less by the seed.
    Share(f64),
    /// Each by a normal deviate of its own with this standard deviation.
    EachWrap(f64),
    /// By an autoregressive drift (0.9 from wrap to wrap) of this standard deviation.
    Drift(f64),
}

/// The errors tried.
pub const ERRORS: [MapError; 8] = [
    MapError::Share(0.0),
    MapError::Share(0.001),
    MapError::Share(0.003),
    MapError::Share(0.01),
    MapError::Share(0.02),
    MapError::Share(0.04),
    MapError::EachWrap(0.05),
    MapError::Drift(0.05),
];

impl MapError {
    /// As it stands in tables.
    pub fn name(self) -> String {
        match self {
            MapError::Share(share) => format!("{} %", 100.0 * share),
            MapError::EachWrap(share) => format!("{} %/wrap", 100.0 * share),
            MapError::Drift(share) => format!("{} % drift", 100.0 * share),
        }
    }

    /// Capacity of each wrap over the believed one.
    fn factors(self, wraps: u16, random: &mut Random) -> Vec<f64> {
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        let mut drift = random.normal();
        (0..wraps)
            .map(|_| match self {
                MapError::Share(share) => 1.0 + sign * share,
                MapError::EachWrap(sd) => 1.0 + sd * random.normal(),
                MapError::Drift(sd) => {
                    drift = 0.9 * drift + (1.0f64 - 0.81).sqrt() * random.normal();
                    1.0 + sd * drift
                }
            })
            .collect()
    }
}

/// Interpolation within a wrap errs by this share of it: what was seen on a real tape.
const WITHIN_WRAP: f64 = 0.008;

/// Runs that a true wrap is made of.
const RUNS: u64 = 8;

/// How full the tape is.
const FILLED: f64 = 0.95;

const BLOCK_BYTES: u64 = 1 << 19;

/// A batch on a tape that lies otherwise than believed.
pub struct Case {
    /// Where the requests truly lie.
    pub truth: TrueTape,
    /// The true tape.
    pub true_map: BlockMap,
    /// What is believed of it.
    pub believed: BlockMap,
    /// The requests where they are believed to be.
    pub requests: Vec<(u64, Request)>,
}

/// A random batch of files of 200 MB to 2 GB, the head at the beginning of tape.
pub fn case(drive: &str, error: MapError, files: usize, seed: u64) -> Case {
    let profile = profile::find(drive).expect("a profile");
    let tape = Tape::new(&profile, None).expect("a model");
    let believed = profile
        .nominal_map(NominalLayout::Single, BLOCK_BYTES)
        .expect("a map");
    let wrap_blocks = profile.wrap_blocks(BLOCK_BYTES).expect("wrap_gb");
    let mut random = Random::new(seed, 0);
    let true_map = true_map(&tape, wrap_blocks, error, &mut random);
    let filled = true_map.end_block(0).min(believed.end_block(0)) as f64 * FILLED;
    let filled_blocks = filled as u64;
    let runs = runs(files, filled_blocks, &mut Random::new(seed, 1));
    let on = |map: &BlockMap| -> Vec<(u64, Request)> {
        let extent = |&(first, last): &(u64, u64)| {
            let bytes = (last - first + 1) * BLOCK_BYTES;
            PlacedExtent::on_map(map, 0, first, last, bytes).expect("blocks on the map")
        };
        (0..)
            .zip(runs.iter().map(extent).map(Request::single))
            .collect()
    };
    let options = Options {
        head: Position::beginning_of_tape(tape.geometry.lpos_min),
        end: End::Anywhere,
        read_through: true,
    };
    Case {
        truth: TrueTape::new(tape, options, &on(&true_map)),
        requests: on(&believed),
        true_map,
        believed,
    }
}

impl Case {
    /// The batch as another map places it.
    pub fn placed_by(&self, map: &BlockMap) -> Problem {
        self.truth.problem().replaced(|old, block, after| {
            map.nearest_position(old.partition, block, after)
                .unwrap_or(*old)
        })
    }
}

/// Maps that one could have of the true tape.
pub struct Believed;

impl Believed {
    /// CERN's first approximation: every wrap holds the mean, odd wraps mirrored.
    pub fn mean_wrap(case: &Case) -> BlockMap {
        let geometry = &case.truth.problem().tape().geometry;
        let mean = case.true_map.end_block(0) as f64 / f64::from(geometry.wraps);
        BlockMap::nominal(geometry, NominalLayout::Single, mean, 0.01)
    }

    /// The drive's table of wrap ends.
    pub fn wrap_ends(case: &Case) -> BlockMap {
        let geometry = &case.truth.problem().tape().geometry;
        let spans = case.true_map.spans();
        let table: Vec<EndOfWrap> = (0..geometry.wraps)
            .map(|wrap| {
                let last = spans.iter().rfind(|span| span.wrap == wrap);
                let block = last.expect("a span").end_block - 1;
                EndOfWrap {
                    wrap,
                    partition: 0,
                    block: block + u64::from(wrap + 1 == geometry.wraps),
                }
            })
            .collect();
        BlockMap::from_end_of_wrap(geometry, &table, None).expect("a table that fits")
    }
}

fn true_map(tape: &Tape, wrap_blocks: f64, error: MapError, random: &mut Random) -> BlockMap {
    let geometry = &tape.geometry;
    let factors = error.factors(geometry.wraps, random);
    let mut spans = Vec::new();
    let mut begin = 0.0;
    for (wrap, factor) in (0..geometry.wraps).zip(factors) {
        let blocks = wrap_blocks * factor;
        let bump = WITHIN_WRAP * random.normal();
        // The share of the wrap's blocks that lies in front of a share of its length.
        let place = |run: u64| {
            let x = run as f64 / RUNS as f64;
            let along = x + bump * (std::f64::consts::PI * x).sin();
            let lpos = (along.clamp(0.0, 1.0) * f64::from(geometry.wrap_lpos())).round() as u32;
            let block = (begin + x * blocks).round() as u64;
            match wrap % 2 {
                0 => (block, geometry.lpos_min + lpos),
                _ => (block, geometry.lpos_max - lpos),
            }
        };
        for run in 0..RUNS {
            let ((first_block, lpos_first), (end_block, lpos_end)) = (place(run), place(run + 1));
            spans.push(WrapSpan {
                partition: 0,
                wrap,
                first_block,
                end_block,
                lpos_first,
                lpos_end,
            });
        }
        begin += blocks;
    }
    BlockMap::new(spans, PositionSource::Recorded, 0.0, 0).expect("spans in order")
}

/// First and last blocks of files that share none, in order of blocks.
fn runs(files: usize, blocks: u64, random: &mut Random) -> Vec<(u64, u64)> {
    let mut runs = std::collections::BTreeMap::new();
    while runs.len() < files {
        let length = 200_000_000 / BLOCK_BYTES + random.below(1_800_000_000 / BLOCK_BYTES);
        let first = random.below(blocks - length);
        let last = first + length - 1;
        let before = runs.range(..=last).next_back();
        if before.is_none_or(|(_, &end): (&u64, &u64)| end < first) {
            runs.insert(first, last);
        }
    }
    runs.into_iter().collect()
}
