//! What was found: coefficients, and the map of each volume with its error.

use super::cost::{FinePosition, LinearCost};
use super::estimate::Placed;
use super::given::{Options, Volume, moving};
use super::solve::Factor;
use super::trace::Trace;
use super::track::place;
use super::{Search, Searched};
use crate::sample::Sample;
use tapewise_model::{EndOfWrap, Geometry, Micros, Position, PositionSource};

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
    /// How much each wrap differs from the next, as a share, as stated and seen. Above 0.02, maps from
    /// sorted recalls may be a whole wrap off without a sign.
    pub wrap_share: f64,
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
    /// The typical error of this volume's moves, in seconds, as [`Fit::typical_s`]: where it is far
    /// above that of the others, the name may stand for two cartridges.
    pub typical_s: f64,
    options: Options,
    trace: Trace,
    certainty: Option<Factor>,
}

impl Fit {
    /// The moves of volumes whose map was found, with positions: what models that want positions are
    /// fitted to and judged on. Cartridges are numbered as `volumes`, those that were fitted.
    pub fn samples(&self, geometry: &Geometry, volumes: &[Volume]) -> Vec<Sample> {
        let pairs = self.volumes.iter().zip(volumes).zip(0..);
        let found = pairs.filter(|((found, _), _)| found.support.is_found());
        found
            .flat_map(|((found, volume), cartridge)| {
                moving(volume).into_iter().map(move |m| Sample {
                    cartridge,
                    from: found.position(geometry, m.from_block),
                    to: found.position(geometry, m.to_block),
                    time: m.time,
                })
            })
            .collect()
    }
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
    pub fn place(&self, geometry: &Geometry, block: u64) -> (FinePosition, f64) {
        let (along, error) = self.along(block);
        (
            place(geometry, along),
            error * f64::from(geometry.wrap_lpos()),
        )
    }

    /// The same as a position, for whatever orders or fits with places.
    pub fn position(&self, geometry: &Geometry, block: u64) -> Position {
        let (place, error_lpos) = self.place(geometry, block);
        Position {
            partition: 0,
            wrap: place.wrap,
            lpos: place.lpos.round() as u32,
            source: if self.support.is_found() {
                PositionSource::Timed
            } else {
                PositionSource::Nominal
            },
            error_lpos: error_lpos.round() as u32,
        }
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
    pub(super) fn finish(self, volumes: &[Volume]) -> Fit {
        let mut errors: Vec<f64> = self.found().flat_map(|v| self.errors(&v.trace)).collect();
        let pairs = self.volumes.iter().zip(volumes);
        Fit {
            coefficients: self.coefficients(),
            typical_s: typical(&mut errors),
            wrap_share: self.wrap_share,
            volumes: pairs
                .map(|(found, given)| self.volume(found, given))
                .collect(),
        }
    }

    fn volume(&self, searched: &Searched, given: &Volume) -> FoundVolume {
        let trace = searched.trace.clone();
        let certainty = if searched.support.is_found() {
            trace.certainty(self.cost, self.geometry, &self.estimate)
        } else {
            None
        };
        let stands = given.moves.iter().filter(|m| m.from_block == m.to_block);
        let mut read_on: Vec<Micros> = stands.map(|m| m.time).collect();
        read_on.sort_unstable();
        FoundVolume {
            name: given.name.clone(),
            support: searched.support,
            moves: given.moves.len(),
            read_on: read_on.len(),
            read_on_time: read_on.get(read_on.len() / 2).copied(),
            typical_s: typical(&mut self.errors(&trace)),
            options: Options {
                wrap_share: self.wrap_share,
                ..self.options
            },
            trace,
            certainty,
        }
    }

    /// How far off each move of a volume is, in seconds.
    fn errors(&self, trace: &Trace) -> Vec<f64> {
        let predict = |m: &Placed| self.estimate.predict(self.cost, &m.from, &m.to);
        let placed = trace.placed(self.geometry, 1);
        placed.map(|m| (m.time_s - predict(&m)).abs()).collect()
    }

    fn coefficients(&self) -> Vec<Coefficient> {
        let terms = self.cost.terms();
        let moves = self.found().flat_map(|v| v.trace.placed(self.geometry, 1));
        let factor = self.estimate.clone().improve(self.cost, moves, 1);
        let variances = factor.map_or(vec![f64::NAN; terms.len()], |f| f.variances());
        let values = terms.iter().zip(self.estimate.coefficients).zip(variances);
        values
            .map(|((term, value), variance)| Coefficient {
                name: term.name,
                value,
                std_error: variance.sqrt(),
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
