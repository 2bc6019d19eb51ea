//! Fits the seven case constants of the DLT4000's key-point model, which the paper leaves out, to
//! four of its published facts, and prints the facts that were held out.
//!
//! Four facts cannot fix seven constants: of all that fit, the ones closest to each other are
//! taken, by a penalty on their spread. The paper says more of them in passing, so there are three fits: without
//! that, with its inequality, and with what it says of WEAVE as well. Run with
//! `cargo run --release -p tapewise-order --example fit_dlt4000`.

use tapewise_model::locate::{KeyPointCoefficients, KeyPointModel};
use tapewise_model::{KeyPoints, LocateModel, Position, Random, profile};
use tapewise_order::{
    End, Options, Order, PlacedExtent, Problem, Request, Tape, loss, opt, read_whole_tape,
};

/// Seconds of spread among the constants that weigh as much as one fact off by its tolerance.
const SPREAD_S: f64 = 12.0;

/// Hillyer & Silberschatz 1996, sections 3 and 4.
///
/// Each with the share it may be off. The last says that a batch of 1536 takes as long as reading
/// the whole tape; 1 % of time there is 10 % of the batch.
const FITTED: [(&str, f64, f64); 4] = [
    ("mean locate from BOT, s", 96.5, 0.03),
    ("mean random locate, s", 72.4, 0.03),
    ("longest locate, s", 180.0, 0.05),
    ("LOSS of 1536 over READ", 1.0, 0.01),
];

/// Random starts of the descent for the facts alone, which ends in the nearest local minimum.
const STARTS: usize = 8;

/// Where that ends; the fits to more of what the paper says go on from here. The last is the profile's.
const FACTS_ALONE: [f64; 7] = [0.0, 4.0, 1.0, 9.0, 3.5, 4.0, 14.0];

/// What the constants are held to beside the facts, in seconds.
struct Rule {
    name: &'static str,
    /// The least that each may be.
    least: [f64; 7],
    /// Those that are given.
    given: [Option<f64>; 7],
}

/// Section 4, SLTF: within a section a locate ahead takes less than any to another section. A section is read in
/// 15.5 s, a long one in 15.7, and at the beginning of a track the next track's beginning is as near as its constant.
const WITHIN: [f64; 7] = [0.0, 0.0, 0.5, 16.0, 0.5, 0.5, 6.0];

/// Section 4, WEAVE: two sections ahead on another track of the same direction 28 to 53 s, on average 40.5. Both
/// speeds alone make 15.5 to 41 of it, and 28.25.
const WEAVE_S: f64 = 12.25;

const RULES: [Rule; 3] = [
    Rule {
        name: "the facts alone",
        least: [0.0; 7],
        given: [None; 7],
    },
    Rule {
        name: "the facts and the inequality",
        least: WITHIN,
        given: [None; 7],
    },
    Rule {
        name: "the facts, the inequality and WEAVE",
        least: WITHIN,
        given: [None, Some(WEAVE_S), None, None, None, None, None],
    },
];

impl Rule {
    fn obeyed(&self, case_s: [f64; 7]) -> [f64; 7] {
        std::array::from_fn(|case| self.given[case].unwrap_or(case_s[case].max(self.least[case])))
    }
}

/// Batches that the time of LOSS is averaged over.
const BATCHES: u64 = 6;

struct Facts {
    base: KeyPointCoefficients,
    key_points: KeyPoints,
    tape: Tape,
    pairs: Vec<(Position, Position)>,
}

impl Facts {
    fn tape(&self, case_s: [f64; 7]) -> Tape {
        let coefficients = KeyPointCoefficients {
            case_s,
            ..self.base
        };
        let model = KeyPointModel::new(&coefficients, &self.key_points);
        Tape {
            model: LocateModel::KeyPoint(model),
            ..self.tape.clone()
        }
    }

    fn mean_total_s(
        &self,
        tape: &Tape,
        n: usize,
        trials: u64,
        order: impl Fn(&Problem) -> Order,
    ) -> f64 {
        let map = self.key_points.block_map();
        let totals = (0..trials).map(|trial| {
            let mut random = Random::new(9, trial);
            let mut extent = || {
                let block = random.below(self.key_points.segments());
                PlacedExtent::on_map(&map, 0, block, block, 32_768).expect("a block of the tape")
            };
            let head = extent().start;
            let requests: Vec<Request> = (0..n).map(|_| Request::single(extent())).collect();
            let options = Options {
                head,
                end: End::Anywhere,
                read_through: false,
            };
            let problem = Problem::new(tape.clone(), options, &requests);
            order(&problem).total_time(&problem).as_secs_f64()
        });
        totals.sum::<f64>() / trials as f64
    }

    fn fitted(&self, case_s: [f64; 7]) -> [f64; 4] {
        let tape = self.tape(case_s);
        let bot = Position::beginning_of_tape(0);
        let time = |from: &Position, to: &Position| tape.model.locate(from, to).as_secs_f64();
        let mean = |sum: f64| sum / self.pairs.len() as f64;
        let from_bot = mean(self.pairs.iter().map(|(_, to)| time(&bot, to)).sum());
        let random = mean(self.pairs.iter().map(|(from, to)| time(from, to)).sum());
        let longest = self
            .pairs
            .iter()
            .map(|(from, to)| time(from, to))
            .fold(0.0, f64::max);
        let loss_s = self.mean_total_s(&tape, 1536, BATCHES, loss);
        let nothing = Options {
            head: bot,
            end: End::Anywhere,
            read_through: false,
        };
        let empty = Problem::new(tape, nothing, &[]);
        let read_s = read_whole_tape(&empty, &self.key_points.block_map()).as_secs_f64();
        [from_bot, random, longest, loss_s / read_s]
    }

    fn misfit(&self, case_s: [f64; 7]) -> f64 {
        let off: f64 = self
            .fitted(case_s)
            .iter()
            .zip(FITTED)
            .map(|(ours, (_, theirs, tolerance))| ((ours / theirs - 1.0) / tolerance).powi(2))
            .sum();
        let mean = case_s.iter().sum::<f64>() / 7.0;
        off + case_s
            .iter()
            .map(|s| ((s - mean) / SPREAD_S).powi(2))
            .sum::<f64>()
            / 7.0
    }
}

/// Coordinate descent from `start`, in ever smaller steps.
fn descend(facts: &Facts, rule: &Rule, start: [f64; 7]) -> ([f64; 7], f64) {
    let start = rule.obeyed(start);
    let (mut best, mut least) = (start, facts.misfit(start));
    for step in [4.0, 2.0, 1.0, 0.5] {
        let mut moved = true;
        while moved {
            moved = false;
            for index in 0..7 {
                for change in [-step, step] {
                    let mut tried = best;
                    tried[index] += change;
                    tried = rule.obeyed(tried);
                    if tried == best {
                        continue;
                    }
                    let misfit = facts.misfit(tried);
                    if misfit < least {
                        (best, least, moved) = (tried, misfit, true);
                    }
                }
            }
        }
    }
    (best, least)
}

fn main() {
    let profile = profile::find("dlt4000").expect("a profile that comes with tapewise");
    let nominal = profile.nominal_sections().expect("key points");
    let spread = profile.key_point_spread().expect("key points");
    let key_points = KeyPoints::generate(nominal, spread, &mut Random::new(1, 0));
    let map = key_points.block_map();
    let mut random = Random::new(9, 1 << 32);
    let mut place = || {
        map.position(0, random.below(key_points.segments()))
            .expect("on the tape")
    };
    let pairs = (0..20_000).map(|_| (place(), place())).collect();
    let facts = Facts {
        base: profile.key_point_coefficients().expect("key points"),
        tape: Tape::new(&profile, Some(&key_points)).expect("a drive"),
        key_points,
        pairs,
    };

    for (number, rule) in RULES.iter().enumerate().rev() {
        let mut starts = Random::new(9, 1 << 33);
        let (mut best, mut least) = descend(&facts, rule, FACTS_ALONE);
        let random = if number == 0 { STARTS } else { 0 };
        for _ in 0..random {
            let start = std::array::from_fn(|_| starts.below(24) as f64 / 2.0);
            let (found, misfit) = descend(&facts, rule, start);
            if misfit < least {
                (best, least) = (found, misfit);
            }
        }
        println!("{}: case_s = {best:?}, misfit {least:.3}", rule.name);
        show(&facts, best);
    }
}

/// The facts with these constants, fitted and held out.
fn show(facts: &Facts, best: [f64; 7]) {
    for ((what, theirs, _), ours) in FITTED.iter().zip(facts.fitted(best)) {
        println!(
            "fitted    {what:<26} theirs {theirs:>8.2} ours {ours:>8.2} {:+.1} %",
            (ours / theirs - 1.0) * 100.0
        );
    }
    let tape = facts.tape(best);
    let rate = |n: usize, total_s: f64| n as f64 / total_s * 3600.0;
    let loss_rate = |n, trials| rate(n, facts.mean_total_s(&tape, n, trials, loss));
    let held_out = [
        (
            "OPT of 10, per hour",
            93.0,
            rate(
                10,
                facts.mean_total_s(&tape, 10, 2000, |p| opt(p).expect("small")),
            ),
        ),
        ("LOSS of 96, per hour", 124.0, loss_rate(96, 300)),
        (
            "LOSS of 192, hours",
            1.37,
            facts.mean_total_s(&tape, 192, 150, loss) / 3600.0,
        ),
        ("LOSS of 1024, per hour", 285.0, loss_rate(1024, 16)),
    ];
    for (what, theirs, ours) in held_out {
        println!(
            "held out  {what:<26} theirs {theirs:>8.2} ours {ours:>8.2} {:+.1} %",
            (ours / theirs - 1.0) * 100.0
        );
    }
}
