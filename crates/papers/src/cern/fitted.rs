//! The annex again on emulated LTO-8 drives: positionings timed, the regression fitted by us, and
//! our landing-point model beside it, both judged on cartridges that they were not fitted to.
//!
//! The emulator's mechanics are its own and know nothing of either model, but they are regular. So
//! the same is done with drives whose mechanics were changed, each in its own way.

use super::emulated_lto8::{KIND, SCALE, sample};
use super::{Facts, annex};
use crate::PaperError;
use crate::claims::Ours;
use crate::emulated::{Emulated, Loaded};
use rayon::prelude::*;
use tapewise_emulator::Variation;
use tapewise_fit::{Candidate, Comparison, Ground, Kind, Sample, Score, Scored, compare};
use tapewise_formats::event::Action;
use tapewise_model::{Profile, Random, profile};
use tapewise_plot::{Drawn, Table, fit_pictures};
use tapewise_run::{Recorder, RunError};

/// Cartridges measured, of the drive as it is and of each changed one; a fifth is held out in turn.
const CARTRIDGES: u64 = 10;
const CARTRIDGES_CHANGED: u64 = 5;

/// Positionings of each kind on a cartridge.
const ANYWHERE: usize = 60;
const IN_ORDER: usize = 80;
const NEAR: usize = 80;
const FROM_BOT: usize = 20;

/// Drives with other mechanics.
const CHANGED: u64 = 3;

/// What every changed drive scatters by, as a share of each time.
const NOISE_SHARE: f64 = 0.05;

/// "Under a third of the regression's."
const RATIO: f64 = 1.0 / 3.0;

/// "Under 2 s."
const RESIDUAL_S: f64 = 2.0;

/// Predictions left out to see how much of the error is a few moves that are off by far.
const WORST: f64 = 0.02;

/// Tables and figures.
pub fn report(
    facts: &Facts,
    seed: u64,
    ours: &mut Ours,
) -> Result<(Vec<Table>, Vec<Drawn>), PaperError> {
    let profile = profile::find(KIND)?;
    let ground = ground(&profile)?;
    let plain = Fitted::of(&ground, seed, Variation::default(), CARTRIDGES)?;
    let changed = (1..=CHANGED).map(|number| {
        let variation = Variation {
            perturbed: Some(number),
            ..Variation::default()
        };
        Fitted::of(&ground, seed, variation, CARTRIDGES_CHANGED)
    });
    let changed: Vec<Fitted> = changed.collect::<Result<_, _>>()?;
    claims(&plain, ours)?;
    let tables = vec![
        coefficients(facts, &plain)?,
        by_kind(&plain)?,
        other_mechanics(&plain, &changed)?,
    ];
    let drawn = fit_pictures(&plain.samples, &ground.geometry, &plain.comparison);
    let figures = drawn.into_iter().filter_map(|(name, svg)| {
        let name = format!("annex-{}", name.trim_end_matches(".svg"));
        Some(Drawn { name, svg: svg? })
    });
    let mut figures: Vec<Drawn> = figures.collect();
    figures.push(annex::speed(&plain.samples, &ground.geometry)?);
    figures.push(annex::landing(seed)?);
    Ok((tables, figures))
}

/// What a fit is told beforehand: the profile's geometry and rate.
fn ground(profile: &Profile) -> Result<Ground, PaperError> {
    let geometry = profile.geometry()?;
    let seconds = profile.wrap_blocks(1_000_000)? / profile.transfer()?.rate_mb_s;
    Ok(Ground {
        read_per_lpos_s: Some(seconds / f64::from(geometry.wrap_lpos())),
        ..Ground::new(geometry)
    })
}

/// Positionings of one kind of drive, and what was fitted to them.
struct Fitted {
    samples: Vec<Sample>,
    comparison: Comparison,
}

impl Fitted {
    fn of(
        ground: &Ground,
        seed: u64,
        variation: Variation,
        cartridges: u64,
    ) -> Result<Fitted, PaperError> {
        let measured: Result<Vec<Vec<Sample>>, PaperError> = (0..cartridges)
            .into_par_iter()
            .map(|number| measure(number as u32, seed * 1_000 + number, variation.clone()))
            .collect();
        let samples = measured?.concat();
        let comparison = compare(&samples, ground)?;
        Ok(Fitted {
            samples,
            comparison,
        })
    }

    fn scored(&self, candidate: Candidate) -> Result<&Scored, PaperError> {
        let missing = || PaperError::from(format!("{} was not fitted", candidate.name()));
        self.comparison.of(candidate).ok_or_else(missing)
    }

    fn regression(&self) -> Result<&Scored, PaperError> {
        self.scored(Candidate::LtoRegression)
    }

    fn landing(&self) -> Result<&Scored, PaperError> {
        self.scored(Candidate::LandingPoint)
    }

    /// Residual standard error of all but the worst predictions, in seconds.
    fn without_worst_s(&self, scored: &Scored) -> f64 {
        let times = self.samples.iter().zip(&scored.predicted_s);
        let mut squares: Vec<f64> = times
            .map(|(sample, predicted)| (sample.time.as_secs_f64() - predicted).powi(2))
            .collect();
        squares.sort_by(f64::total_cmp);
        squares.truncate((squares.len() as f64 * (1.0 - WORST)) as usize);
        (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
    }

    /// Root mean square of the times, in seconds.
    fn root_mean_square_s(&self) -> f64 {
        let squares = self
            .samples
            .iter()
            .map(|sample| sample.time.as_secs_f64().powi(2));
        (squares.sum::<f64>() / self.samples.len() as f64).sqrt()
    }
}

/// One cartridge in a drive: positionings with where they began and ended, as the drive says.
fn measure(number: u32, seed: u64, variation: Variation) -> Result<Vec<Sample>, PaperError> {
    let loaded = Loaded {
        kind: KIND,
        seed,
        scale: SCALE,
    };
    let mut emulated = Emulated::alone(loaded, variation)?;
    let blocks = emulated.fill(1, seed)?;
    let (_, events) = emulated.record(|recorder| positionings(recorder, blocks, seed))?;
    Ok(events
        .iter()
        .filter_map(|event| sample(number, event))
        .collect())
}

/// What recalls ask of a drive: places in any order, sorted lists, steps to and fro on a wrap, and
/// the first place after a mount.
fn positionings(recorder: &mut Recorder<'_>, blocks: u64, seed: u64) -> Result<(), RunError> {
    let mut random = Random::new(seed, 1 << 46);
    let last = blocks - 2;
    for _ in 0..FROM_BOT {
        recorder.rewind()?;
        locate_and_read(recorder, random.below(last))?;
    }
    for _ in 0..ANYWHERE {
        locate_and_read(recorder, random.below(last))?;
    }
    let mut list: Vec<u64> = (0..IN_ORDER).map(|_| random.below(last)).collect();
    list.sort_unstable();
    for block in list {
        locate_and_read(recorder, block)?;
    }
    // Up to a wrap's length away: such moves are frequent when many files are recalled.
    let reach = blocks / 208;
    let mut here = blocks / 2;
    for _ in 0..NEAR {
        let step = random.below(2 * reach) as i64 - reach as i64;
        here = here.saturating_add_signed(step).min(last);
        locate_and_read(recorder, here)?;
    }
    Ok(())
}

fn locate_and_read(recorder: &mut Recorder<'_>, block: u64) -> Result<(), RunError> {
    recorder.locate(0, block)?;
    recorder.read(Action::Read, 1, &mut |_, _| Ok(()))?;
    Ok(())
}

fn claims(plain: &Fitted, ours: &mut Ours) -> Result<(), PaperError> {
    let (regression, landing) = (plain.regression()?, plain.landing()?);
    let (theirs, own) = (regression.overall.residual_s, landing.overall.residual_s);
    ours.set(
        "landing-points-under-a-third",
        f64::from(u8::from(own < theirs * RATIO)),
        format!(
            "{own:.2} s against {theirs:.2} s, ratio {:.2}",
            own / theirs
        ),
    );
    ours.set(
        "landing-points-residual",
        f64::from(u8::from(own < RESIDUAL_S)),
        format!(
            "{own:.2} s, and {:.2} s without the {:.0} % worst",
            plain.without_worst_s(landing),
            WORST * 100.0
        ),
    );
    let emulated = "fitted by us on the emulated drive, held-out cartridges";
    ours.set("regression-residual", theirs, emulated);
    ours.set(
        "regression-r-squared",
        regression.overall.r_squared,
        emulated,
    );
    Ok(())
}

/// The slides' coefficients beside those that we fit, as `lm` prints them.
fn coefficients(facts: &Facts, plain: &Fitted) -> Result<Table, PaperError> {
    const NAMES: [&str; 7] = [
        "intercept",
        "wrap_change",
        "band_change",
        "mid_cross",
        "direction_change",
        "step_back",
        "per_lpos",
    ];
    let regression = plain.regression()?.fitted.table.as_ref();
    let fit = regression.ok_or_else(|| PaperError::from("the regression has no table"))?;
    let mut table = Table::new(
        "Annex, fitted again on the emulated LTO-8: the regression's coefficients (s; per_lpos in s for each LPOS)",
        &["coefficient", "slides", "ours", "Std. Error", "t value"],
    );
    for (name, term) in NAMES.iter().zip(&fit.terms) {
        let missing = || PaperError::from(format!("claims.toml has no coefficient {name}"));
        let theirs = facts.regression.get(*name).ok_or_else(missing)?;
        let estimate = term.estimate.map(|estimate| format!("{estimate:.7}"));
        table.row([
            (*name).to_owned(),
            format!("{theirs:.7}"),
            estimate.unwrap_or_else(|| "-".to_owned()),
            format!("{:.2e}", term.std_error),
            format!("{:.1}", term.t),
        ]);
    }
    table.note(format!(
        "Residual standard error: {:.3} s on {} degrees of freedom (slides: 8.193 on 886028). R-squared {:.3}, adjusted {:.3} (0.831).",
        fit.residual, fit.degrees, fit.r_squared, fit.adjusted_r_squared
    ));
    table.note(format!(
        "F-statistic: {:.0} on {} and {} DF. All {} positionings of {CARTRIDGES} cartridges; the tables below judge on cartridges held out.",
        fit.f.0,
        fit.f.1,
        fit.degrees,
        plain.samples.len()
    ));
    Ok(table)
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// Both models on held-out cartridges, by kind of move.
fn by_kind(plain: &Fitted) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Annex, on cartridges held out: the regression and our landing points, by kind of move",
        &[
            "move",
            "n",
            "regression s",
            "R2",
            "off > 2 s %",
            "landing s",
            "R2",
            "off > 2 s %",
            "ratio",
        ],
    );
    let (regression, landing) = (plain.regression()?, plain.landing()?);
    let mut row = |name: &str, regression: &Score, landing: &Score| {
        table.row([
            name.to_owned(),
            landing.count.to_string(),
            format!("{:.2}", regression.residual_s),
            format!("{:.3}", regression.r_squared),
            percent(regression.off),
            format!("{:.2}", landing.residual_s),
            format!("{:.3}", landing.r_squared),
            percent(landing.off),
            format!("{:.2}", landing.residual_s / regression.residual_s),
        ]);
    };
    row("all", &regression.overall, &landing.overall);
    for (kind, (regression, landing)) in Kind::ALL
        .iter()
        .zip(regression.kinds.iter().zip(&landing.kinds))
    {
        if landing.count > 0 {
            row(kind.name(), regression, landing);
        }
    }
    table.note(
        "s: residual standard error. The last three cut across the others; R2 within a kind.",
    );
    Ok(table)
}

/// The same with drives whose mechanics were changed.
fn other_mechanics(plain: &Fitted, changed: &[Fitted]) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "The same with other mechanics: held-out cartridges, residual standard error in seconds",
        &[
            "drive",
            "n",
            "noise alone",
            "regression",
            "landing",
            "ratio",
            "off > 2 s %",
            "landing %",
            "what was found",
        ],
    );
    let mut row = |name: String, fitted: &Fitted, noise_s: String| -> Result<(), PaperError> {
        let (regression, landing) = (fitted.regression()?, fitted.landing()?);
        let landed = landing.fitted.landed.as_ref();
        table.row([
            name,
            fitted.samples.len().to_string(),
            noise_s,
            format!("{:.2}", regression.overall.residual_s),
            format!("{:.2}", landing.overall.residual_s),
            format!(
                "{:.2}",
                landing.overall.residual_s / regression.overall.residual_s
            ),
            percent(regression.overall.off),
            percent(landing.overall.off),
            landed.map_or("-".to_owned(), |landed| {
                format!(
                    "{} ({} and {})",
                    landed.structure.name(),
                    landed.points[0],
                    landed.points[1]
                )
            }),
        ]);
        Ok(())
    };
    row("as emulated".to_owned(), plain, "-".to_owned())?;
    for (number, fitted) in (1..).zip(changed) {
        let noise_s = format!("{:.2}", fitted.root_mean_square_s() * NOISE_SHARE);
        row(format!("changed, {number}"), fitted, noise_s)?;
    }
    table.note("changed: spacing of landing points and distance read on by up to 1.4 times, times to settle by up to 1.6, speeds by up to 1.1, either way; 5 % of noise.");
    table.note("noise alone: what that noise makes of a model that knows everything else; nothing can be below it.");
    Ok(table)
}
