//! How good map and cost are on moves they were not fitted to.

use super::cost::LinearCost;
use super::estimate::{Estimate, Placed};
use super::found::typical;
use super::given::{Move, Options, Volume, moving};
use super::trace::Trace;
use super::{BlindError, FIRST_SCALE_S, Search};
use tapewise_model::Geometry;

/// Parts that moves, or volumes, are divided into; each is held out once.
const FOLDS: usize = 5;

/// What counts as off, in seconds.
const OFF_S: f64 = 2.0;

/// Errors of predicted times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Moves predicted.
    pub moves: usize,
    /// Root of the mean square error, in seconds: outliers and all.
    pub residual_s: f64,
    /// What the median absolute error would be the standard deviation of, in seconds.
    pub typical_s: f64,
    /// Share of moves off by more than 2 s.
    pub off_by_2_s: f64,
}

/// The same moves predicted in two ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// With the nominal map, and coefficients fitted to that.
    pub nominal: Errors,
    /// With map and coefficients found together.
    pub found: Errors,
}

/// Errors on moves that were held out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOut {
    /// A fifth of the moves of each volume, map and coefficients from the rest.
    pub by_moves: Comparison,
    /// A fifth of the volumes: coefficients from the other volumes, the map from every second move,
    /// judged on those between. `None` with a single volume.
    pub by_volumes: Option<Comparison>,
}

/// Fits again and again with a part held out, and predicts that.
///
/// A volume whose map is not found from the rest is predicted with its nominal map.
///
/// # Errors
/// As [`super::fit`], when a part leaves too little to fit.
pub fn held_out<C: LinearCost + ?Sized>(
    cost: &C,
    geometry: &Geometry,
    volumes: &[Volume],
    options: &Options,
) -> Result<HeldOut, BlindError> {
    let judge = Judge {
        cost,
        geometry,
        options,
    };
    Ok(HeldOut {
        by_moves: judge.by_moves(volumes)?,
        by_volumes: match volumes.len() {
            0 | 1 => None,
            _ => Some(judge.by_volumes(volumes)?),
        },
    })
}

struct Judge<'a, C: ?Sized> {
    cost: &'a C,
    geometry: &'a Geometry,
    options: &'a Options,
}

/// Errors of both ways, move by move.
#[derive(Default)]
struct Collected {
    nominal: Vec<f64>,
    found: Vec<f64>,
}

impl<C: LinearCost + ?Sized> Judge<'_, C> {
    fn by_moves(&self, volumes: &[Volume]) -> Result<Comparison, BlindError> {
        let mut collected = Collected::default();
        for fold in 0..FOLDS {
            let kept: Vec<Volume> = volumes
                .iter()
                .map(|v| part(v, |i| i % FOLDS != fold))
                .collect();
            let left: Vec<Volume> = volumes
                .iter()
                .map(|v| part(v, |i| i % FOLDS == fold))
                .collect();
            let mut search = Search::new(self.cost, self.geometry, &kept, self.options)?;
            search.find_rates()?;
            search.bend();
            self.collect(
                &search,
                &self.nominal_estimate(&kept),
                &left,
                &mut collected,
            );
        }
        Ok(collected.compare())
    }

    fn by_volumes(&self, volumes: &[Volume]) -> Result<Comparison, BlindError> {
        let mut collected = Collected::default();
        for fold in 0..FOLDS.min(volumes.len()) {
            let others = pick(volumes, |i| i % FOLDS != fold);
            let held = pick(volumes, |i| i % FOLDS == fold);
            let mut search = Search::new(self.cost, self.geometry, &others, self.options)?;
            search.find_rates()?;
            search.bend();
            let estimate = search.estimate;
            let kept: Vec<Volume> = held.iter().map(|v| part(v, |i| i % 2 == 0)).collect();
            let left: Vec<Volume> = held.iter().map(|v| part(v, |i| i % 2 == 1)).collect();
            let mut search = Search::new(self.cost, self.geometry, &kept, self.options)?;
            search.estimate = estimate;
            search.fixed = true;
            // Where no map is found, the nominal one is what is judged.
            if search.find_rates().is_ok() {
                search.bend();
            }
            self.collect(
                &search,
                &self.nominal_estimate(&others),
                &left,
                &mut collected,
            );
        }
        Ok(collected.compare())
    }

    /// Coefficients that suit the nominal map best.
    fn nominal_estimate(&self, volumes: &[Volume]) -> Estimate {
        let traces: Vec<Trace> = volumes
            .iter()
            .map(|v| Trace::new(&v.moves, self.options))
            .collect();
        let mut estimate = Estimate::expected(self.cost.terms(), FIRST_SCALE_S);
        let moves = traces
            .iter()
            .flat_map(|trace| trace.placed(self.geometry, 1));
        estimate.improve(self.cost, moves, 20);
        estimate
    }

    fn collect(
        &self,
        search: &Search<'_, C>,
        nominal: &Estimate,
        left: &[Volume],
        collected: &mut Collected,
    ) {
        for (searched, volume) in search.volumes.iter().zip(left) {
            let mut trace = Trace::new(&volume.moves, self.options);
            let error = |estimate: &Estimate, m: Placed| {
                m.time_s - estimate.predict(self.cost, &m.from, &m.to)
            };
            let placed = trace.placed(self.geometry, 1);
            collected.nominal.extend(placed.map(|m| error(nominal, m)));
            trace.follow(&searched.trace.track);
            let placed = trace.placed(self.geometry, 1);
            collected
                .found
                .extend(placed.map(|m| error(&search.estimate, m)));
        }
    }
}

impl Collected {
    fn compare(self) -> Comparison {
        Comparison {
            nominal: errors(self.nominal),
            found: errors(self.found),
        }
    }
}

fn errors(mut errors: Vec<f64>) -> Errors {
    let count = errors.len().max(1) as f64;
    errors.iter_mut().for_each(|error| *error = error.abs());
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    let off = errors.iter().filter(|error| **error > OFF_S).count();
    Errors {
        moves: errors.len(),
        residual_s: (squares / count).sqrt(),
        off_by_2_s: off as f64 / count,
        typical_s: typical(&mut errors),
    }
}

/// The moves of a volume that move, those whose number is kept.
fn part(volume: &Volume, keep: impl Fn(usize) -> bool) -> Volume {
    let kept = moving(volume).into_iter().enumerate();
    let moves: Vec<Move> = kept.filter(|(i, _)| keep(*i)).map(|(_, m)| m).collect();
    Volume {
        name: volume.name.clone(),
        moves,
    }
}

fn pick(volumes: &[Volume], keep: impl Fn(usize) -> bool) -> Vec<Volume> {
    let kept = volumes.iter().enumerate().filter(|(i, _)| keep(*i));
    kept.map(|(_, volume)| volume.clone()).collect()
}
