//! What the paper says of the seven constants that it does not print, and which of it goes together.
//!
//! Beside its four facts there are an inequality (section 4, SLTF: within a section a locate ahead takes less than one
//! to any other section) and WEAVE's times (two sections ahead on another track of the same direction take 28 to 53 s,
//! on average 40.5). `crates/order/examples/fit_dlt4000.rs` fits the constants without, with the first, and with both.

use super::Cartridge;
use super::locate::expected;
use super::schedules::whole_tape_s;
use crate::PaperError;
use crate::claims::Ours;
use rayon::prelude::*;
use tapewise_model::locate::{KeyPointCoefficients, KeyPointModel};
use tapewise_model::{LocateModel, Position, Random};
use tapewise_order::{Order, Problem, loss, opt};
use tapewise_plot::Table;

/// The fits, in seconds by case.
const FITS: [(&str, [f64; 7]); 3] = [
    ("the four facts", [0.5, 4.5, 0.0, 13.5, 3.5, 6.0, 2.0]),
    ("and the inequality", [0.0, 4.0, 1.0, 16.0, 1.5, 3.5, 13.5]),
    (
        "and WEAVE: the profile",
        [0.0, 12.25, 0.5, 16.0, 0.5, 0.5, 16.0],
    ),
];

/// Random moves that means are taken over.
const MOVES: u64 = 20_000;

/// Sources from which every section is looked at.
const SOURCES: u64 = 300;

/// Batches that a rate is the mean of, by the number of requests.
fn batches(n: usize) -> u64 {
    match n {
        0..=16 => 100,
        17..=256 => 24,
        _ => 4,
    }
}

/// The table of what each fit makes of what the paper says.
pub(super) fn table(cartridge: &Cartridge, seed: u64) -> Result<Table, PaperError> {
    let missing = || PaperError::from("the profile dlt4000 has no key-point model");
    let base = cartridge
        .profile
        .key_point_coefficients()
        .ok_or_else(missing)?;
    let mut columns = vec!["what", "theirs"];
    columns.extend(FITS.map(|(name, _)| name));
    let mut table = Table::new(
        "Sections 3, 4 and 8: what the paper says of its constants, and what goes together",
        &columns,
    );
    let said: Vec<Vec<f64>> = FITS
        .iter()
        .map(|(_, case_s)| said(&of(cartridge, &base, *case_s)?, seed))
        .collect::<Result<_, PaperError>>()?;
    for case in 0..7 {
        let constants = FITS.map(|(_, case_s)| format!("{:.2}", case_s[case]));
        let fixed = [format!("constant of case {}, s", case + 1), "-".to_owned()];
        table.row(fixed.into_iter().chain(constants));
    }
    for (at, (what, theirs)) in SAID.into_iter().enumerate() {
        let ours = said.iter().map(|said| match theirs {
            0.0 => format!("{:.1}", said[at]),
            theirs => format!(
                "{:.2} ({:+.1} %)",
                said[at],
                (said[at] / theirs - 1.0) * 100.0
            ),
        });
        let theirs = format!("{theirs}");
        table.row([what.to_owned(), theirs].into_iter().chain(ours));
    }
    table.note("The first four of what is said were fitted, the fifth in the second fit and the sixth in the third; the rates and hours in none.");
    table.note("The means leave about 5 s for the average constant. WEAVE's 12.25 s in case 2 and the inequality's 16 s in case 4 leave next to nothing for those that schedules use most, so LOSS gets faster and the means longer than the paper's: everything is met, less closely.");
    Ok(table)
}

/// What the paper says, in the order of [`said`].
const SAID: [(&str, f64); 11] = [
    ("mean locate from the beginning of tape, s", 96.5),
    ("mean locate between random segments, s", 72.4),
    ("longest locate, s", 180.0),
    ("LOSS of 1536 over READ", 1.0),
    (
        "sources with a section nearer than the end of their own, %",
        0.0,
    ),
    ("WEAVE, two ahead on another track, mean, s", 40.5),
    ("OPT of 10, an hour", 93.0),
    ("LOSS of 96, an hour", 124.0),
    ("LOSS of 192, hours", 1.37),
    ("LOSS of 1024, an hour", 285.0),
    ("192 unscheduled, hours", 3.87),
];

/// The cartridge under other constants.
fn of(
    cartridge: &Cartridge,
    base: &KeyPointCoefficients,
    case_s: [f64; 7],
) -> Result<Cartridge, PaperError> {
    let mut other = Cartridge::with(cartridge.key_points.clone())?;
    let coefficients = KeyPointCoefficients { case_s, ..*base };
    other.tape.model =
        LocateModel::KeyPoint(KeyPointModel::new(&coefficients, &cartridge.key_points));
    Ok(other)
}

/// What the gated claim of the inequality rests on.
pub(super) fn gated(cartridge: &Cartridge, seed: u64, ours: &mut Ours) {
    ours.set(
        "within-a-section",
        nearer_elsewhere(cartridge, seed) * 100.0,
        "random sources, every other section of the cartridge",
    );
}

fn said(cartridge: &Cartridge, seed: u64) -> Result<Vec<f64>, PaperError> {
    let model = &cartridge.tape.model;
    let bot = Position::beginning_of_tape(0);
    let mut random = Random::new(seed, 1 << 43);
    let (mut from_bot, mut between, mut longest) = (0.0, 0.0, 0.0f64);
    for _ in 0..MOVES {
        let mut place = || cartridge.position(random.below(cartridge.key_points.segments()));
        let (from, to) = (place(), place());
        let time_s = model.locate(&from, &to).as_secs_f64();
        from_bot += model.locate(&bot, &to).as_secs_f64() / MOVES as f64;
        between += time_s / MOVES as f64;
        longest = longest.max(time_s);
    }
    let exact = |problem: &Problem| opt(problem).expect("ten requests");
    let total_s =
        |n, order: &(dyn Fn(&Problem) -> Order + Sync)| total_s(cartridge, n, order, seed);
    let an_hour = |n: usize, total_s: f64| n as f64 / total_s * 3600.0;
    Ok(vec![
        from_bot,
        between,
        longest,
        total_s(1_536, &loss) / whole_tape_s(cartridge),
        nearer_elsewhere(cartridge, seed) * 100.0,
        expected(cartridge, seed, 2, false),
        an_hour(10, total_s(10, &exact)),
        an_hour(96, total_s(96, &loss)),
        total_s(192, &loss) / 3600.0,
        an_hour(1_024, total_s(1_024, &loss)),
        192.0 * between / 3600.0,
    ])
}

/// Mean time of a schedule from a random start, in seconds.
fn total_s(
    cartridge: &Cartridge,
    n: usize,
    order: &(dyn Fn(&Problem) -> Order + Sync),
    seed: u64,
) -> f64 {
    let one = |trial| {
        let mut random = Random::new(seed, 1 << 42 | (n as u64) << 32 | trial);
        let mut segment = || random.below(cartridge.key_points.segments());
        let segments: Vec<u64> = (0..n).map(|_| segment()).collect();
        let problem = cartridge.problem(cartridge.position(segment()), &segments);
        order(&problem).total_time(&problem).as_secs_f64()
    };
    let totals = (0..batches(n)).into_par_iter().map(one);
    totals.collect::<Vec<f64>>().iter().sum::<f64>() / batches(n) as f64
}

/// The share of random sources from which the beginning of some other section is nearer than the end of their own.
fn nearer_elsewhere(cartridge: &Cartridge, seed: u64) -> f64 {
    let key_points = &cartridge.key_points;
    let mut random = Random::new(seed, 1 << 41);
    let sections: Vec<std::ops::Range<u64>> = (0..key_points.tracks())
        .flat_map(|track| (0..usize::from(key_points.sections())).map(move |s| (track, s)))
        .filter_map(|(track, section)| cartridge.section(track, section))
        .collect();
    let time = |from: u64, to: u64| {
        let model = &cartridge.tape.model;
        model.locate(&cartridge.position(from), &cartridge.position(to))
    };
    let mut is_nearer = || {
        let from = random.below(key_points.segments());
        let own = sections.partition_point(|section| section.end <= from);
        let within = time(from, sections[own].end - 1);
        let mut others = sections.iter().enumerate().filter(|(at, _)| *at != own);
        others.any(|(_, section)| time(from, section.start) < within)
    };
    (0..SOURCES).filter(|_| is_nearer()).count() as f64 / SOURCES as f64
}
