//! Section 7: what errors in the key points and in the model cost.

use super::Cartridge;
use super::schedules::trials;
use crate::PaperError;
use crate::Progress;
use crate::claims::Ours;
use rayon::prelude::*;
use tapewise_model::{Micros, Position, Random, Spread};
use tapewise_order::{Problem, loss, opt};
use tapewise_plot::Table;

/// Lengths of the sensitivity figures.
const LENGTHS: [usize; 12] = [4, 8, 12, 24, 48, 96, 192, 384, 768, 1024, 1536, 2048];

/// Reduced, a quarter of the trials of Figure 4.
fn few(n: usize, full: bool) -> u64 {
    if full {
        trials(n, true)
    } else {
        (trials(n, false) / 4).max(10)
    }
}

fn batch(segments: u64, n: usize, random: &mut Random) -> Vec<u64> {
    (0..n).map(|_| random.below(segments)).collect()
}

/// Figures 9 and 10.
pub(super) fn tables(
    cartridge: &Cartridge,
    seed: u64,
    full: bool,
    progress: Progress,
    ours: &mut Ours,
) -> Result<Vec<Table>, PaperError> {
    Ok(vec![
        wrong_key_points(cartridge, seed, full, progress, ours)?,
        perturbed_model(cartridge, seed, full, progress, ours),
    ])
}

/// Figure 9: LOSS schedules made and priced with the key points of another cartridge.
fn wrong_key_points(
    cartridge: &Cartridge,
    seed: u64,
    full: bool,
    progress: Progress,
    ours: &mut Ours,
) -> Result<Table, PaperError> {
    // Standard deviations of a track's length and of a section's begin, in segments: of what `order` believes, and of
    // the cartridges that the other tables draw.
    let pair = |spread: Spread| (spread.track_sd_segments, spread.dip_sd_segments);
    let drawn = cartridge.profile.key_point_spread();
    let spreads = [
        pair(believed(cartridge)?),
        drawn.map_or((0.0, 0.0), pair),
        (5.0, 200.0),
        (50.0, 25.0),
        (200.0, 100.0),
    ];
    let headings = spreads.map(|(track, dip)| format!("tracks {track:.0}, sections {dip:.0}"));
    let columns: Vec<&str> = std::iter::once("n")
        .chain(headings.iter().map(String::as_str))
        .collect();
    let mut table = Table::new(
        "Figure 9: wrong key points: size of the error of the estimate, % of the true time",
        &columns,
    );
    let mut rows = vec![Vec::new(); LENGTHS.len()];
    for ((track_sd_segments, dip_sd_segments), heading) in spreads.into_iter().zip(&headings) {
        let spread = Some(Spread {
            track_sd_segments,
            dip_sd_segments,
        });
        let true_one = Cartridge::draw(seed, 0, spread)?;
        let wrong_one = Cartridge::draw(seed, 1, spread)?;
        let common = true_one
            .key_points
            .segments()
            .min(wrong_one.key_points.segments());
        for (row, &n) in rows.iter_mut().zip(&LENGTHS) {
            let errors: Vec<f64> = (0..few(n, full))
                .into_par_iter()
                .map(|trial| {
                    let mut random = Random::new(seed, 1 << 50 | (n as u64) << 32 | trial);
                    let segments = batch(common, n, &mut random);
                    misjudged(&true_one, &wrong_one, &segments)
                })
                .collect();
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            row.push(format!("{:.1}", mean * 100.0));
            progress(&format_args!(
                "Figure 9: {} batches of {n}, spread {}",
                errors.len(),
                heading
            ));
        }
    }
    for (row, n) in rows.into_iter().zip(LENGTHS) {
        table.row(std::iter::once(n.to_string()).chain(row));
    }
    table.note("Tracks, sections: standard deviations of a track's length and of a section's begin, in segments. The first follows from what `order` believes of a cartridge without a map; with the second, the profile's, cartridges are drawn for the other tables.");
    table.note("The paper measured about 20 % between two real tapes and does not say how much they differ, but for their totals, which were 44 segments apart.");
    let (error, how) = at_belief(cartridge, seed)?;
    ours.set("wrong-key-points-error", error, how);
    Ok(table)
}

/// How cartridges differ by what `order` believes of one without a map.
fn believed(cartridge: &Cartridge) -> Result<Spread, PaperError> {
    let unknown = || PaperError::from("the profile dlt4000 has no nominal_error");
    let belief = cartridge.profile.key_point_belief();
    Ok(belief.ok_or_else(unknown)?.spread)
}

/// Pairs of cartridges, and batches of each, that the claim of Figure 9 is the mean of, and how long they are.
const PAIRS: u64 = 12;
const BATCHES: u64 = 3;
const CLAIMED: [usize; 4] = [4, 24, 96, 384];

/// The claim of Figure 9: its error with what `order` believes, and how that was computed.
fn at_belief(cartridge: &Cartridge, seed: u64) -> Result<(f64, String), PaperError> {
    let spread = believed(cartridge)?;
    let mut errors = Vec::new();
    for number in 0..PAIRS {
        let drawn = |which| Cartridge::draw(seed, 1_000 + 2 * number + which, Some(spread));
        let (true_one, wrong_one) = (drawn(0)?, drawn(1)?);
        let segments = |one: &Cartridge| one.key_points.segments();
        let common = segments(&true_one).min(segments(&wrong_one));
        for (n, trial) in CLAIMED
            .iter()
            .flat_map(|n| (0..BATCHES).map(move |trial| (*n, trial)))
        {
            let mut random = Random::new(seed, 1 << 52 | number << 44 | (n as u64) << 32 | trial);
            errors.push(misjudged(
                &true_one,
                &wrong_one,
                &batch(common, n, &mut random),
            ));
        }
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let how = format!(
        "{PAIRS} pairs of cartridges whose tracks vary by {:.0} segments: as unsure as an order without a map is taken to be",
        spread.track_sd_segments
    );
    Ok((mean, how))
}

/// What the gated claim rests on.
pub(super) fn gated(cartridge: &Cartridge, seed: u64, ours: &mut Ours) -> Result<(), PaperError> {
    let (error, how) = at_belief(cartridge, seed)?;
    ours.set("wrong-key-points-error", error, how);
    Ok(())
}

/// How far the estimate of a schedule is off that was made with the key points of another cartridge,
/// as a share of its true time: LOSS from the beginning of tape.
fn misjudged(true_one: &Cartridge, wrong_one: &Cartridge, segments: &[u64]) -> f64 {
    let bot = Position::beginning_of_tape(0);
    let believed = wrong_one.problem(bot, segments);
    let order = loss(&believed);
    let total_s = |problem: &Problem| order.total_time(problem).as_secs_f64();
    let truth_s = total_s(&true_one.problem(bot, segments));
    ((total_s(&believed) - truth_s) / truth_s).abs()
}

/// Figure 10: LOSS schedules made with a model that is E too high for even destinations and E too
/// low for odd ones, priced with the true model.
fn perturbed_model(
    cartridge: &Cartridge,
    seed: u64,
    full: bool,
    progress: Progress,
    ours: &mut Ours,
) -> Table {
    const ERRORS_S: [i64; 5] = [1, 2, 3, 5, 10];
    let mut table = Table::new(
        "Figure 10: perturbed model: increase of the schedule's time, %",
        &[
            "n", "LOSS-1", "LOSS-2", "LOSS-3", "LOSS-5", "LOSS-10", "OPT-10",
        ],
    );
    let perturbed = |problem: &Problem, error_s: i64| {
        problem.with_arrival_costs(|visit| {
            let even = visit.extents[0].first_block.is_multiple_of(2);
            Micros(if even { error_s } else { -error_s } * 1_000_000)
        })
    };
    let mut at_ten = Vec::new();
    for n in LENGTHS {
        let one = |trial: u64| -> [f64; 6] {
            let mut random = Random::new(seed, 1 << 51 | (n as u64) << 32 | trial);
            let segments = batch(cartridge.key_points.segments(), n, &mut random);
            let problem = cartridge.problem(Position::beginning_of_tape(0), &segments);
            let priced = |order: tapewise_order::Order| order.total_time(&problem).as_secs_f64();
            let base = priced(loss(&problem));
            let mut increases = [f64::NAN; 6];
            for (slot, error_s) in increases.iter_mut().zip(ERRORS_S) {
                *slot = priced(loss(&perturbed(&problem, error_s))) / base - 1.0;
            }
            if let Some((exact, misled)) = opt(&problem).zip(opt(&perturbed(&problem, 10))) {
                increases[5] = priced(misled) / priced(exact) - 1.0;
            }
            increases
        };
        let trials = few(n, full);
        let rows: Vec<[f64; 6]> = (0..trials).into_par_iter().map(one).collect();
        progress(&format_args!("Figure 10: {trials} batches of {n}"));
        let mean = |index: usize| rows.iter().map(|row| row[index]).sum::<f64>() / trials as f64;
        let percent = |index: usize| match mean(index) {
            mean if mean.is_nan() => "-".to_owned(),
            mean => format!("{:.2}", mean * 100.0),
        };
        table.row(std::iter::once(n.to_string()).chain((0..6).map(percent)));
        at_ten.push(mean(4));
    }
    let mean = at_ten.iter().sum::<f64>() / at_ten.len() as f64;
    ours.set(
        "perturbed-model-loss",
        mean,
        "LOSS-10, mean over the lengths of this table",
    );
    table.note("Start at the beginning of tape. The same error on all moves to one place changes every order by the same amount: OPT cannot be misled by it.");
    table
}
