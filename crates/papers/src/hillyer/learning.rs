//! Beyond the paper: key points learned from what locates took, on emulated cartridges whose tracks differ as much as
//! `order` believes them to. How far off the estimates of schedules are for the hours spent, and what orders take that
//! are made without a map.

use super::drive::{execute, locate_and_read};
use super::{Cartridge, SEGMENT_BYTES};
use crate::PaperError;
use crate::Progress;
use crate::emulated::{Emulated, Loaded};
use rayon::prelude::*;
use tapewise_emulator::Variation;
use tapewise_model::locate::KeyPointModel;
use tapewise_model::profile;
use tapewise_model::{
    KeyPointBelief, KeyPoints, LearnedKeyPoints, LocateModel, Micros, NominalLayout, Position,
    Random, TimedLocate,
};
use tapewise_order::{Alternatives, Effort, Problem, best, loss, sort};
use tapewise_plot::Table;
use tapewise_run::RunError;
use tapewise_run::measure::key_points::search;

/// The drive.
const KIND: &str = "dlt4000";

/// Random locates, as recalls make them, after which the errors are shown, and hours of chosen locates.
const RECALLED: [usize; 4] = [32, 64, 128, 256];
const HOURS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// How many of them, and cartridges, the reduced study shows; and the full one.
const REDUCED: (usize, u64) = (3, 1);
const FULL: (usize, u64) = (4, 5);

/// Schedules whose estimates are held against the drive.
const LENGTHS: [usize; 3] = [24, 96, 384];

/// Requests of the orders without a map.
const BATCHES: [usize; 2] = [768, 1_024];

/// Chosen locates after which is learned what they tell: at first, then as a share of those so far.
const LEARN_FIRST: usize = 32;
const LEARN_EACH: usize = 7;

/// A full cartridge in an emulated drive, of which nothing is known but where it ends.
struct Unknown {
    emulated: Emulated,
    segments: u64,
    head: u64,
}

impl Unknown {
    fn load(belief: &KeyPointBelief, seed: u64) -> Result<Unknown, PaperError> {
        let spread = belief.spread;
        let variation = Variation {
            uneven_tracks_lpos: Some([spread.track_sd_segments, spread.dip_sd_segments]),
            ..Variation::default()
        };
        let loaded = Loaded {
            kind: KIND,
            seed,
            scale: SEGMENT_BYTES,
        };
        let mut emulated = Emulated::alone(loaded, variation)?;
        let segments = emulated.fill(1, seed)?;
        emulated.unrecorded(|recorder| locate_and_read(recorder, 1))?;
        Ok(Unknown {
            emulated,
            segments,
            head: 2,
        })
    }

    /// Goes to a segment and reads it.
    fn locate(&mut self, to: u64) -> Result<TimedLocate, PaperError> {
        let time = self
            .emulated
            .unrecorded(|recorder| locate_and_read(recorder, to))?;
        let from = std::mem::replace(&mut self.head, to + 1);
        Ok(TimedLocate { from, to, time })
    }

    /// All key points one by one, and the hours that takes.
    fn search(&mut self, belief: &KeyPointBelief) -> Result<(KeyPoints, usize, f64), PaperError> {
        let (sections, segments) = (belief.sections, self.segments);
        let (found, took) = self.emulated.unrecorded(|recorder| {
            let began = recorder.clock();
            let mut probe = |source, target| {
                recorder.locate(0, source)?;
                locate_and_read(recorder, target)
            };
            let found = search(sections, segments, &mut probe)
                .map_err(|error| RunError::Unsuitable(error.to_string()))?;
            Ok((found, recorder.clock() - began))
        })?;
        self.locate(1)?;
        Ok((found.key_points, found.probes as usize, hours(took)))
    }

    /// What is known of the cartridge, held against the truth and the drive.
    fn row(
        &mut self,
        truth: &KeyPoints,
        learned: &LearnedKeyPoints,
        took: f64,
        seed: u64,
    ) -> Result<Row, PaperError> {
        let cartridge = as_learned(learned)?;
        let off = self.misjudged(&cartridge, seed)?;
        let apart = apart(truth, &cartridge.key_points);
        Ok([learned.locates() as f64, took, apart, off])
    }

    /// The error of estimated schedules, in per cent of what the drive took, in the mean of their sizes.
    fn misjudged(&mut self, believed: &Cartridge, seed: u64) -> Result<f64, PaperError> {
        let known = self.segments.min(believed.key_points.segments());
        let mut errors = Vec::new();
        for n in LENGTHS {
            let mut random = Random::new(seed, 1 << 53 | n as u64);
            let wanted: Vec<u64> = (0..n).map(|_| random.below(known - 1)).collect();
            let after = random.below(known - 1);
            let problem = believed.problem(believed.position(after + 1), &wanted);
            let order = loss(&problem);
            let estimate_s = order.total_time(&problem).as_secs_f64();
            let sequence = in_order(&order, &problem, &wanted);
            let measured_s = execute(&mut self.emulated, Some(after), &sequence)?;
            errors.push((estimate_s / measured_s - 1.0).abs() * 100.0);
        }
        // Back to a place from where locates are learned from.
        self.locate(1)?;
        Ok(errors.iter().sum::<f64>() / errors.len() as f64)
    }
}

fn hours(time: Micros) -> f64 {
    time.as_secs_f64() / 3_600.0
}

fn in_order(order: &tapewise_order::Order, problem: &Problem, segments: &[u64]) -> Vec<u64> {
    let sequence = order.requests(problem).into_iter();
    sequence.map(|request| segments[request as usize]).collect()
}

/// A cartridge as it was learned.
fn as_learned(learned: &LearnedKeyPoints) -> Result<Cartridge, PaperError> {
    let mut cartridge = Cartridge::with(learned.key_points())?;
    let model = KeyPointModel::new(&learned.coefficients(), &cartridge.key_points);
    cartridge.tape.model = LocateModel::KeyPoint(model);
    Ok(cartridge)
}

/// One row for one cartridge: locates, hours, segments that key points are off, per cent that estimates are off.
type Row = [f64; 4];

/// Mean distance of key points that show in locates: all but the first boundary of each track.
fn apart(truth: &KeyPoints, found: &KeyPoints) -> f64 {
    let pairs = (0..truth.tracks()).flat_map(|track| {
        let pairs = truth
            .track(track)
            .iter()
            .zip(found.track(track))
            .enumerate();
        pairs
            .filter(|(section, _)| *section != 1)
            .map(|(_, (a, b))| a.abs_diff(*b) as f64)
    });
    let apart: Vec<f64> = pairs.collect();
    apart.iter().sum::<f64>() / apart.len().max(1) as f64
}

/// What the locates of one cartridge tell: without any, after random ones, after chosen ones, after the search.
fn rows(seed: u64, shown: usize) -> Result<Vec<Row>, PaperError> {
    let profile = profile::find(KIND)?;
    let missing = || PaperError::from("the profile dlt4000 has no key points");
    let belief = profile.key_point_belief().ok_or_else(missing)?;
    let mut tape = Unknown::load(&belief, seed)?;
    let (truth, probes, search_hours) = tape.search(&belief)?;
    let nominal = profile.nominal_key_points().ok_or_else(missing)?;
    let off = tape.misjudged(&Cartridge::with(nominal.clone())?, seed)?;
    let mut rows = vec![[0.0, 0.0, apart(&truth, &nominal), off]];
    let new = || LearnedKeyPoints::new(belief.clone(), Some(tape.segments), seed);
    let (mut recalled, mut asked) = (new(), new());
    let mut random = Random::new(seed, 1 << 54);
    let mut took = 0.0;
    for count in &RECALLED[..shown] {
        while recalled.locates() < *count {
            let locate = tape.locate(random.below(tape.segments - 1))?;
            took += hours(locate.time);
            recalled.observe(locate);
        }
        (0..2).for_each(|_| recalled.learn());
        rows.push(tape.row(&truth, &recalled, took, seed)?);
    }
    let (mut took, mut next) = (0.0, LEARN_FIRST);
    for budget in &HOURS[..shown] {
        while took < *budget {
            let locate = tape.locate(asked.next_probe(tape.head, tape.segments, &mut random))?;
            took += hours(locate.time);
            asked.observe(locate);
            if asked.locates() >= next {
                asked.learn();
                next += 12.max(next / LEARN_EACH);
            }
        }
        (0..2).for_each(|_| asked.learn());
        rows.push(tape.row(&truth, &asked, took, seed)?);
    }
    // With the constants of the drive as the most locates tell them.
    let mut full = Cartridge::with(truth.clone())?;
    let model = KeyPointModel::new(&asked.coefficients(), &truth);
    full.tape.model = LocateModel::KeyPoint(model);
    let off = tape.misjudged(&full, seed)?;
    rows.push([probes as f64, search_hours, 0.0, off]);
    Ok(rows)
}

/// Hours that a batch takes on a drive of whose cartridge nothing is known: sorted, by LOSS with the nominal key points,
/// in the order that `order` gives; last by LOSS with all key points known.
fn without_a_map(seed: u64, n: usize) -> Result<[f64; 4], PaperError> {
    let profile = profile::find(KIND)?;
    let missing = || PaperError::from("the profile dlt4000 has no key points");
    let belief = profile.key_point_belief().ok_or_else(missing)?;
    let mut tape = Unknown::load(&belief, seed)?;
    let nominal = Cartridge::with(profile.nominal_key_points().ok_or_else(missing)?)?;
    let known = tape.segments.min(nominal.key_points.segments());
    let mut random = Random::new(seed, 1 << 55 | n as u64);
    let wanted: Vec<u64> = (0..n).map(|_| random.below(known - 1)).collect();
    let bot = Position::beginning_of_tape(0);
    let problem = nominal.problem(bot, &wanted);
    let map = profile.nominal_map(NominalLayout::Single, SEGMENT_BYTES)?;
    let alternatives = Alternatives::new(&problem, Some(&map));
    let given = best(&problem, &alternatives, &Effort::usual(), 1).order;
    let orders = [sort(&problem), loss(&problem), given];
    let mut took = [0.0; 4];
    for (took, order) in took.iter_mut().zip(&orders) {
        let sequence = in_order(order, &problem, &wanted);
        *took = execute(&mut tape.emulated, None, &sequence)? / 3_600.0;
    }
    let (truth, ..) = tape.search(&belief)?;
    let full = Cartridge::with(truth)?;
    let problem = full.problem(bot, &wanted);
    let sequence = in_order(&loss(&problem), &problem, &wanted);
    took[3] = execute(&mut tape.emulated, None, &sequence)? / 3_600.0;
    Ok(took)
}

/// Both tables; the full study takes five cartridges and longer.
pub(super) fn tables(seed: u64, full: bool, progress: Progress) -> Result<Vec<Table>, PaperError> {
    let tables = study(seed, if full { FULL } else { REDUCED })?;
    progress(&format_args!("key points learned from locate times"));
    Ok(tables)
}

/// The tables of the full study, without the rest of the paper.
///
/// # Errors
/// [`PaperError`] where the emulated drive fails.
pub fn learned_key_points(seed: u64) -> Result<Vec<Table>, PaperError> {
    study(seed, FULL)
}

/// The tables with this many rows of each kind, on this many cartridges.
fn study(seed: u64, (shown, cartridges): (usize, u64)) -> Result<Vec<Table>, PaperError> {
    let seeds: Vec<u64> = (0..cartridges).map(|nth| seed * 100 + 50 + nth).collect();
    let all: Result<Vec<Vec<Row>>, _> = seeds.par_iter().map(|&seed| rows(seed, shown)).collect();
    let mut table = Table::new(
        "Key points from locate times, on emulated DLT4000 cartridges that differ as much as `order` believes",
        &[
            "from",
            "locates",
            "hours",
            "key points off, segments",
            "best to worst",
            "estimates off, %",
            "best to worst",
        ],
    );
    let all = all?;
    let names = ["nothing: nominal key points".to_owned()]
        .into_iter()
        .chain(
            RECALLED[..shown]
                .iter()
                .map(|count| format!("{count} locates of recalls")),
        )
        .chain(
            HOURS[..shown]
                .iter()
                .map(|hours| format!("chosen locates, {hours} h")),
        )
        .chain(["the search for all of them".to_owned()]);
    for (at, name) in names.enumerate() {
        let mean = |of: usize| all.iter().map(|rows| rows[at][of]).sum::<f64>() / all.len() as f64;
        let spread = |of: usize| {
            let values = || all.iter().map(|rows| rows[at][of]);
            let (least, most) = (
                values().fold(f64::INFINITY, f64::min),
                values().fold(0.0, f64::max),
            );
            format!("{least:.1} to {most:.1}")
        };
        table.row([
            name,
            format!("{:.0}", mean(0)),
            format!("{:.1}", mean(1)),
            format!("{:.1}", mean(2)),
            spread(2),
            format!("{:.1}", mean(3)),
            spread(3),
        ]);
    }
    table.note(format!("Means over {cartridges} cartridges, and what the best and the worst of them have. LOSS schedules of {LENGTHS:?} requests from a random place, carried out on the drive. The constants of the seven cases are learned with the key points, from the profile's on. What recalls took is no cost of the map."));
    let mut orders = Table::new(
        "Orders without a map, hours on the emulated drive",
        &[
            "requests",
            "cartridge",
            "SORT",
            "LOSS, nominal key points",
            "the order given",
            "LOSS, key points known",
        ],
    );
    let cases: Vec<(usize, u64)> = BATCHES
        .iter()
        .flat_map(|&n| seeds.iter().map(move |&seed| (n, seed)))
        .collect();
    let took: Result<Vec<[f64; 4]>, _> = cases
        .par_iter()
        .map(|&(n, seed)| without_a_map(seed, n))
        .collect();
    for ((n, seed), took) in cases.iter().zip(took?) {
        let cells = took.iter().map(|hours| format!("{hours:.2}"));
        orders.row([n.to_string(), seed.to_string()].into_iter().chain(cells));
    }
    orders.note("From the beginning of tape, locates and reads, with the profile's constants, which were not fitted to this drive.");
    Ok(vec![table, orders])
}
