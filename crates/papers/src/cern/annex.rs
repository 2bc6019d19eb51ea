//! The annex's pictures that need no fit: how far positionings go, how fast the tape runs on a wrap, and where the
//! drive lands.

use super::Bench;
use super::emulated_lto8::{KIND, SCALE, sample};
use super::orders::{Case, Contender};
use super::study::TAPES;
use crate::PaperError;
use crate::emulated::{Emulated, Loaded, seek};
use tapewise_emulator::Variation;
use tapewise_fit::Sample;
use tapewise_model::{Geometry, profile};
use tapewise_order::{Action, Plan};
use tapewise_plot::{Drawn, Figure};
use tapewise_run::measure::fill;

/// Files of the histogram's batches.
const FILES: usize = 100;

/// Orders of the histogram.
const ORDERS: [Contender; 4] = [
    Contender::Linear,
    Contender::Scan,
    Contender::Sltf,
    Contender::Best,
];

/// Bars of the histogram over a wrap's length.
const BARS: usize = 20;

/// Batches of the histogram.
const BATCHES: u64 = 20;

/// "Histogram of traversed distance": of the moves between the reads of a batch, by order.
pub fn histogram(bench: &Bench) -> Result<Drawn, PaperError> {
    let case = Case {
        sizes: TAPES,
        files: FILES,
        trials: BATCHES,
        seed: bench.seed,
    };
    let (length, _) = bench.m8.wrap();
    let mut counts = [[0u32; BARS]; ORDERS.len()];
    for trial in 0..case.trials {
        let problem = case.batch(&bench.m8, trial)?;
        for (counts, order) in counts.iter_mut().zip(ORDERS) {
            let plan = Plan::new(&problem, order.order(&problem));
            for step in plan.steps.iter().filter(|step| step.action != Action::Read) {
                let share = f64::from(step.from.lpos.abs_diff(step.to.lpos)) / f64::from(length);
                counts[((share * BARS as f64) as usize).min(BARS - 1)] += 1;
            }
        }
    }
    let bar_m = f64::from(length) * bench.m8.metres_per_lpos / BARS as f64;
    let mut figure = Figure::new(
        "annex-distances",
        "Annex: histogram of the distance of a positioning, 100 files, LTO-7 M8",
        "distance along the tape, m",
        "share of the positionings, %",
    );
    for (counts, order) in counts.iter().zip(ORDERS) {
        let all = counts.iter().sum::<u32>().max(1);
        let steps = counts.iter().enumerate().flat_map(|(bar, &count)| {
            let share = f64::from(count) / f64::from(all) * 100.0;
            [bar, bar + 1].map(|edge| (edge as f64 * bar_m, share))
        });
        figure = figure.line(order.name(), steps);
    }
    Ok(figure.draw()?)
}

/// "Positioning speed within same wrap": distance over time of what the emulated drive did.
pub fn speed(samples: &[Sample], geometry: &Geometry) -> Result<Drawn, PaperError> {
    let metres_per_lpos = geometry.metres_per_lpos.unwrap_or(1.0);
    let places = |ahead: bool| {
        let on_wrap = samples.iter().filter(move |sample| {
            let up = sample.to.lpos >= sample.from.lpos;
            sample.from.wrap == sample.to.wrap && (up == (sample.to.wrap & 1 == 0)) == ahead
        });
        let place = move |sample: &Sample| {
            let lpos = f64::from(sample.from.lpos.abs_diff(sample.to.lpos));
            let metres = lpos * metres_per_lpos;
            (metres, metres / sample.time.as_secs_f64())
        };
        on_wrap.map(place)
    };
    let title = "Annex: positioning speed within one wrap, emulated LTO-8";
    let across = "distance along the tape, m";
    let figure = Figure::new("annex-speed", title, across, "distance over time, m/s");
    let figure = figure
        .dots("ahead", places(true))
        .dots("stepping back", places(false));
    Ok(figure.draw()?)
}

/// Blocks of the wrap that every so many-th is gone to.
const LANDING_STEP: usize = 3;

/// Blocks written: a little more than two wraps.
const WRITTEN: u64 = 1_300;

/// "Positioning time from BOT to reverse wrap" and "local landing points": place after place on one wrap.
pub fn landing(seed: u64) -> Result<Drawn, PaperError> {
    let loaded = Loaded {
        kind: KIND,
        seed,
        scale: SCALE,
    };
    let mut emulated = Emulated::alone(loaded, Variation::default())?;
    let (_, events) = emulated.record(|recorder| {
        let written = fill(recorder, 1, WRITTEN, seed, &mut |_| ())?.blocks;
        for block in (written / 3..written - 1).step_by(LANDING_STEP) {
            recorder.rewind()?;
            seek(recorder, block)?;
        }
        Ok(())
    })?;
    let geometry = profile::find(KIND)?.geometry()?;
    let metres = |lpos: u32| {
        let lpos = f64::from(lpos.saturating_sub(geometry.lpos_min));
        lpos * geometry.metres_per_lpos.unwrap_or(1.0)
    };
    let to_wrap = |wrap: u16| {
        let to_wrap = events
            .iter()
            .filter_map(|event| sample(0, event))
            .filter(move |sample| sample.to.wrap == wrap);
        to_wrap.map(|sample| (metres(sample.to.lpos), sample.time.as_secs_f64()))
    };
    let title = "Annex: landing points: from the beginning of tape to one place after another, emulated LTO-8";
    let across = "destination along the tape, m";
    let figure = Figure::new("annex-landing-points", title, across, "locate, s");
    let figure = figure
        .dots("to wrap 0, forward", to_wrap(0))
        .dots("to wrap 1, reverse", to_wrap(1));
    Ok(figure.draw()?)
}
