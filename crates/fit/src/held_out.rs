//! How good models are on records they were not fitted to, and which one to take.
//!
//! Logs of real drives have records that say nothing of mechanics: retries, cleaning, commands of
//! another host. One of 200 s weighs in a mean square like ten thousand of 2 s, so the choice is
//! made without those that every model misses by far.

use crate::candidate::Candidate;
use crate::drift::{self, Drift};
use crate::fitted::Fitted;
use crate::kind::Kind;
use crate::robust::standard_error;
use crate::sample::{FitError, Ground, Sample, check};
use rayon::prelude::*;
use std::collections::BTreeSet;
use tapewise_model::locate::LocateModel;

/// What is held out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    /// Whole cartridges: what is held out comes from cartridges the fit has not seen.
    Cartridges,
    /// Blocks of records in the order given, where there are too few cartridges.
    Blocks,
}

/// Parts that the records are cut into; each is held out once.
const FOLDS: usize = 5;
/// Fewest cartridges that are held out whole.
const LEAST_CARTRIDGES: usize = FOLDS;
/// The richer model must have a smaller error by this share; else the simpler one is taken.
const WORTH_IT: f64 = 0.02;
/// A record is an outlier where every model misses it by more than so many of the model's own
/// robust standard errors. The error of a misplaced landing point is none: the models that have no
/// landing points make many like it.
const MISSED_BY_ALL: f64 = 3.0;
/// Logs of so few cartridges, but more than one, cannot tell whether the drive changed or the cartridge.
const FEW_CARTRIDGES: std::ops::Range<usize> = 2..LEAST_CARTRIDGES;
/// Rounds in which a drift and the fits that follow it take turns.
const TURNS: usize = 3;
/// An error that an order feels, in seconds.
const FELT_S: f64 = 2.0;

/// How far predictions of one kind of move are off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Records of the kind.
    pub count: usize,
    /// Mean of what the prediction is above the truth, in seconds.
    pub mean_s: f64,
    /// Standard error: the root of the mean square, in seconds.
    pub residual_s: f64,
    /// The same without outliers, see [`Comparison::outliers`].
    pub bulk_s: f64,
    /// Half of the predictions are no further off than this, in seconds.
    pub median_s: f64,
    /// Share off by more than 2 s.
    pub off: f64,
    /// Share of the variance of the records of this kind that is explained.
    pub r_squared: f64,
    /// The same without outliers.
    pub bulk_r_squared: f64,
}

/// A candidate fitted to all records, and its score on records held out.
#[derive(Clone, Debug)]
pub struct Scored {
    /// Which one.
    pub candidate: Candidate,
    /// Fitted to all records.
    pub fitted: Fitted,
    /// On held-out records, all kinds together.
    pub overall: Score,
    /// By kind of move, in the order of [`Kind::ALL`].
    pub kinds: Vec<Score>,
    /// The prediction of every record by a fit that had not seen it, in seconds.
    pub predicted_s: Vec<f64>,
}

/// All candidates side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was held out together.
    pub folding: Folding,
    /// Distinct cartridges.
    pub cartridges: usize,
    /// How times changed over the log. The models are those of its end; a record is predicted for when it was made.
    pub drift: Option<Drift>,
    /// Records that every candidate misses by more than three of its robust standard errors: by
    /// such the drive does not tell how it moves.
    pub outliers: usize,
    /// The candidates, simplest first.
    pub scored: Vec<Scored>,
    /// The one to take.
    pub chosen: usize,
}

/// How far the times of a fit can be trusted, by the records held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Half of the differences is explained, and errors are small, or small beside the differences that an order lives on.
    Good,
    /// More than a tenth of the differences is not explained: a plan by it may gain less than it says.
    Rough,
    /// Less than half of the differences is explained, or there are none: an order by it is hardly better than any other.
    None,
}

/// Below this share of the variance explained a fit is [`Trust::Rough`].
const ROUGH_R_SQUARED: f64 = 0.9;
/// Below this share it is no fit.
const HOPELESS_R_SQUARED: f64 = 0.5;

impl Comparison {
    /// How far the chosen model can be trusted: judged on records it was not fitted to, outliers left out.
    pub fn trust(&self) -> Trust {
        let score = self.choice().overall;
        match score.bulk_r_squared {
            share if share < HOPELESS_R_SQUARED => Trust::None,
            share if share < ROUGH_R_SQUARED && score.bulk_s > FELT_S => Trust::Rough,
            _ => Trust::Good,
        }
    }

    /// The candidate to take.
    pub fn choice(&self) -> &Scored {
        &self.scored[self.chosen]
    }

    /// A candidate, where it was fitted.
    pub fn of(&self, candidate: Candidate) -> Option<&Scored> {
        self.scored
            .iter()
            .find(|scored| scored.candidate == candidate)
    }
}

/// Fits every candidate, judges it on held-out records, and takes the simplest that is within 2 %
/// of the best, outliers left out.
///
/// Whatever a candidate chooses, landing points above all, it chooses anew without the records it
/// is judged on. If times drift over the log, whose order the records have, that is followed.
///
/// # Errors
/// [`FitError`] where there are too few records, or ones that cannot be.
pub fn compare(samples: &[Sample], ground: &Ground) -> Result<Comparison, FitError> {
    check(samples, &ground.geometry)?;
    let mut found = compare_after(samples, ground, None)?;
    if FEW_CARTRIDGES.contains(&found.cartridges) {
        return Ok(found);
    }
    for _ in 0..TURNS {
        let choice = found.choice();
        let Some(drift) = drift::over(samples, &choice.predicted_s, found.drift) else {
            break;
        };
        let followed = compare_after(samples, ground, Some(drift))?;
        if followed.choice().overall.bulk_s > choice.overall.bulk_s * (1.0 - WORTH_IT) {
            break;
        }
        found = followed;
    }
    Ok(found)
}

/// The same for records in no particular order.
pub(crate) fn compare_unordered(
    samples: &[Sample],
    ground: &Ground,
) -> Result<Comparison, FitError> {
    check(samples, &ground.geometry)?;
    compare_after(samples, ground, None)
}

fn compare_after(
    samples: &[Sample],
    ground: &Ground,
    drift: Option<Drift>,
) -> Result<Comparison, FitError> {
    let (folding, folds) = fold(samples);
    let candidates = Candidate::of(ground);
    let fits = candidates
        .iter()
        .map(|&candidate| fit(candidate, samples, ground, &folds, drift))
        .collect::<Result<Vec<(Fitted, Vec<f64>)>, FitError>>()?;
    let outliers = missed_by_all(samples, fits.iter().map(|(_, predicted_s)| predicted_s));
    let scored: Vec<Scored> = std::iter::zip(candidates, fits)
        .map(|(&candidate, (fitted, predicted_s))| {
            score(candidate, fitted, predicted_s, samples, ground, &outliers)
        })
        .collect();
    let best = scored.iter().map(|scored| scored.overall.bulk_s);
    let best = best.fold(f64::INFINITY, f64::min);
    let near = |scored: &Scored| scored.overall.bulk_s * (1.0 - WORTH_IT) <= best;
    let chosen = scored.iter().position(near).unwrap_or(0);
    Ok(Comparison {
        folding,
        cartridges: cartridges(samples).len(),
        drift,
        outliers: outliers.iter().filter(|outlier| **outlier).count(),
        scored,
        chosen,
    })
}

/// Which records are outliers.
fn missed_by_all<'a>(
    samples: &[Sample],
    predicted: impl Iterator<Item = &'a Vec<f64>>,
) -> Vec<bool> {
    let mut missed = vec![true; samples.len()];
    for predicted_s in predicted {
        let pairs = samples.iter().zip(predicted_s);
        let off: Vec<f64> = pairs
            .map(|(sample, predicted)| predicted - sample.time.as_secs_f64())
            .collect();
        let far = MISSED_BY_ALL * standard_error(&off);
        for (missed, off) in missed.iter_mut().zip(off) {
            *missed &= off.abs() > far;
        }
    }
    missed
}

fn cartridges(samples: &[Sample]) -> BTreeSet<u32> {
    samples.iter().map(|sample| sample.cartridge).collect()
}

/// The fold of every record.
fn fold(samples: &[Sample]) -> (Folding, Vec<usize>) {
    let cartridges: Vec<u32> = cartridges(samples).into_iter().collect();
    if cartridges.len() < LEAST_CARTRIDGES {
        let block = |at: usize| at * FOLDS / samples.len();
        return (Folding::Blocks, (0..samples.len()).map(block).collect());
    }
    let of = |sample: &Sample| cartridges.binary_search(&sample.cartridge).unwrap_or(0) % FOLDS;
    (Folding::Cartridges, samples.iter().map(of).collect())
}

/// A candidate fitted to all records, and the prediction of every record, in seconds, by a fit that
/// has not seen it.
fn fit(
    candidate: Candidate,
    samples: &[Sample],
    ground: &Ground,
    folds: &[usize],
    drift: Option<Drift>,
) -> Result<(Fitted, Vec<f64>), FitError> {
    let still = drift::still(samples, drift);
    // From the last of these nothing is held out.
    let fits = (0..=FOLDS).into_par_iter().map(|held_out| {
        let seen = still.iter().zip(folds);
        let seen: Vec<Sample> = seen
            .filter(|(_, fold)| **fold != held_out)
            .map(|(sample, _)| *sample)
            .collect();
        candidate.fit(&seen, ground)
    });
    let mut fits = fits.collect::<Result<Vec<Fitted>, FitError>>()?;
    let whole = fits.remove(FOLDS);
    let models = fits
        .iter()
        .map(|fit| fit.coefficients.model(&ground.geometry));
    let models: Vec<LocateModel> = models.collect();
    let factor = |record: usize| drift.map_or(1.0, |drift| drift.factor(record, samples.len()));
    let predicted = samples.iter().enumerate().map(|(record, sample)| {
        let time = models[folds[record]].locate(&sample.from, &sample.to);
        time.as_secs_f64() * factor(record)
    });
    let predicted_s = predicted.collect();
    Ok((whole, predicted_s))
}

fn score(
    candidate: Candidate,
    fitted: Fitted,
    predicted_s: Vec<f64>,
    samples: &[Sample],
    ground: &Ground,
    outliers: &[bool],
) -> Scored {
    let judge = |of_kind: &dyn Fn(&Sample) -> bool| judge(samples, &predicted_s, outliers, of_kind);
    let kinds = Kind::ALL.map(|kind| judge(&|sample| kind.includes(sample, &ground.geometry)));
    Scored {
        candidate,
        fitted,
        overall: judge(&|_| true),
        kinds: kinds.into(),
        predicted_s,
    }
}

fn judge(
    samples: &[Sample],
    predicted_s: &[f64],
    outliers: &[bool],
    of_kind: impl Fn(&Sample) -> bool,
) -> Score {
    let of_kind = (0..samples.len()).filter(|&at| of_kind(&samples[at]));
    let chosen: Vec<usize> = of_kind.collect();
    if chosen.is_empty() {
        return Score::default();
    }
    let count = chosen.len() as f64;
    let time = |at: usize| samples[at].time.as_secs_f64();
    let error = |at: usize| predicted_s[at] - time(at);
    let square = |at: usize| error(at).powi(2);
    let mut off: Vec<f64> = chosen.iter().map(|&at| error(at).abs()).collect();
    off.sort_by(f64::total_cmp);
    let squares: f64 = chosen.iter().map(|&at| square(at)).sum();
    let bulk: Vec<usize> = chosen.iter().copied().filter(|&at| !outliers[at]).collect();
    let bulk_squares: f64 = bulk.iter().map(|&at| square(at)).sum();
    let explained = |of: &[usize], squares: f64| {
        let mean = of.iter().map(|&at| time(at)).sum::<f64>() / of.len().max(1) as f64;
        let total: f64 = of.iter().map(|&at| (time(at) - mean).powi(2)).sum();
        // Times are whole microseconds: what differs by less is rounding.
        if total > of.len() as f64 * 1e-12 {
            1.0 - squares / total
        } else {
            0.0
        }
    };
    Score {
        count: chosen.len(),
        mean_s: chosen.iter().map(|&at| error(at)).sum::<f64>() / count,
        residual_s: (squares / count).sqrt(),
        bulk_s: (bulk_squares / bulk.len().max(1) as f64).sqrt(),
        median_s: off[off.len() / 2],
        off: off.iter().filter(|error| **error > FELT_S).count() as f64 / count,
        r_squared: explained(&chosen, squares),
        bulk_r_squared: explained(&bulk, bulk_squares),
    }
}
