//! What was found: coefficients, and the map of each volume with its error.

use super::cost::{LinearCost, Place};
use super::solve::Factor;
use super::trace::Trace;
use super::track::place;
use super::{Options, Search, Volume};
use tapewise_model::{EndOfWrap, Geometry, Micros};

/// Standard deviations for each median absolute error, were errors normal.
const NORMAL_FROM_MEDIAN: f64 = 1.4826;

/// Whether the map of a volume was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// Found: any other rate of blocks per wrap is `e^-margin` as likely.
    Found {
        /// Difference of the logarithms of the posteriors.
        margin: f64,
    },
    /// Not searched: too few moves. The map is nominal.
    FewMoves,
    /// Another rate explains the times as well. The map is nominal.
    Ambiguous {
        /// Difference of the logarithms of the posteriors.
        margin: f64,
    },
}

impl Support {
    /// Whether the map is this cartridge's own.
    pub fn is_found(&self) -> bool {
        matches!(self, Support::Found { .. })
    }
}

/// A coefficient of the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    /// Its name, with its unit.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Its standard error with the maps as found: that maps are uncertain too is not in it.
    pub std_error: f64,
}

/// Map and cost, found together.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The coefficients, in the order of the cost's terms.
    pub coefficients: Vec<Coefficient>,
    /// The typical error on the moves fitted, in seconds: what the median absolute error would be the
    /// standard deviation of, were errors normal. What to expect of new moves: [`super::held_out`].
    pub typical_s: f64,
    /// The volumes, in the order given.
    pub volumes: Vec<FoundVolume>,
}

/// The map of one volume.
#[derive(Clone, Debug)]
pub struct FoundVolume {
    /// Its barcode.
    pub name: String,
    /// Whether its map was found.
    pub support: Support,
    /// Moves given.
    pub moves: usize,
    /// Moves to where the head already stood, which say nothing of places.
    pub read_on: usize,
    /// The median time of those: what a log adds to a move, such as reading a header.
    pub read_on_time: Option<Micros>,
    options: Options,
    trace: Trace,
    certainty: Option<Factor>,
}

impl FoundVolume {
    /// Blocks that a wrap holds, over the part of the tape that was moved on.
    pub fn wrap_blocks(&self) -> f64 {
        self.options.wrap_blocks / (1.0 + self.trace.track.rate)
    }

    /// The last block that was moved from or to.
    pub fn last_block(&self) -> u64 {
        (self.trace.track.span() * self.options.wrap_blocks).round() as u64
    }

    /// How far a block lies along the serpentine track, in wraps, and one standard deviation of that.
    pub fn along(&self, block: u64) -> (f64, f64) {
        let x = block as f64 / self.options.wrap_blocks;
        let variance = match &self.certainty {
            Some(certainty) => self.trace.variance(certainty, x),
            None => {
                let rate = self.options.tape_share;
                rate * rate * x * x + self.options.wrap_share.powi(2) * x
            }
        };
        (self.trace.track.along(x), variance.sqrt())
    }

    /// Where a block begins, and one standard deviation of that along the track, in LPOS units.
    pub fn place(&self, geometry: &Geometry, block: u64) -> (Place, f64) {
        let (along, error) = self.along(block);
        (
            place(geometry, along),
            error * f64::from(geometry.wrap_lpos()),
        )
    }

    /// The wraps' ends as a drive's own table would have them, for a tape written to its end: the
    /// last block of each wrap, and for the last wrap the end of data.
    pub fn wrap_ends(&self, geometry: &Geometry) -> Vec<EndOfWrap> {
        let edge = |wrap: u16| {
            let x = self.trace.track.nominal_at(f64::from(wrap) + 1.0);
            (x * self.options.wrap_blocks).round() as u64
        };
        let last = geometry.wraps.saturating_sub(1);
        (0..geometry.wraps)
            .map(|wrap| EndOfWrap {
                wrap,
                partition: 0,
                block: edge(wrap).saturating_sub(u64::from(wrap != last)),
            })
            .collect()
    }
}

impl<C: LinearCost + ?Sized> Search<'_, C> {
    /// What was found, with how sure it is.
    pub(super) fn finish(mut self, volumes: &[Volume]) -> Fit {
        let (cost, geometry, options) = (self.cost, self.geometry, self.options);
        let mut errors: Vec<f64> = self
            .found()
            .flat_map(|volume| volume.trace.placed(geometry, 1))
            .map(|m| (m.time_s - self.estimate.predict(cost, &m.from, &m.to)).abs())
            .collect();
        let coefficients = self.coefficients();
        let estimate = self.estimate.clone();
        let found = self
            .volumes
            .drain(..)
            .zip(volumes)
            .map(|(searched, given)| {
                let (support, trace) = (searched.support, searched.trace);
                let certainty = match support.is_found() {
                    true => trace.certainty(cost, geometry, &estimate),
                    false => None,
                };
                let mut read_on: Vec<Micros> = given
                    .moves
                    .iter()
                    .filter(|m| m.from_block == m.to_block)
                    .map(|m| m.time)
                    .collect();
                read_on.sort_unstable();
                FoundVolume {
                    name: given.name.clone(),
                    support,
                    moves: given.moves.len(),
                    read_on: read_on.len(),
                    read_on_time: read_on.get(read_on.len() / 2).copied(),
                    options,
                    trace,
                    certainty,
                }
            });
        Fit {
            coefficients,
            typical_s: typical(&mut errors),
            volumes: found.collect(),
        }
    }

    fn coefficients(&mut self) -> Vec<Coefficient> {
        let (cost, geometry) = (self.cost, self.geometry);
        let terms = cost.terms();
        let mut estimate = self.estimate.clone();
        let moves = self.found().flat_map(|v| v.trace.placed(geometry, 1));
        let factor = estimate.improve(cost, moves, 1);
        let std_error = |at: usize| {
            let mut one = vec![0.0; terms.len()];
            one[at] = 1.0;
            factor
                .as_ref()
                .map_or(f64::NAN, |f| f.variance(&one).sqrt())
        };
        let named = terms.iter().zip(self.estimate.coefficients).enumerate();
        named
            .map(|(at, (term, value))| Coefficient {
                name: term.name,
                value,
                std_error: std_error(at),
            })
            .collect()
    }
}

/// The standard deviation that the median absolute error would be of, were errors normal.
pub(super) fn typical(errors: &mut [f64]) -> f64 {
    errors.sort_unstable_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
    NORMAL_FROM_MEDIAN * median
}
