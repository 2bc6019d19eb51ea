//! Map and cost together, from moves whose ends are known by block number only.
//!
//! Sites keep logs of blocks and times, not of physical positions. Were the map known, the cost
//! would follow by least squares; were the cost known, so would the map: blocks per wrap of each
//! cartridge, and how its wraps differ. Found together:
//!
//! 1. for each volume alone, every rate of blocks per wrap is tried, with the coefficients that suit
//!    it best (`scan`);
//! 2. coefficients and scale from all volumes (`estimate`), rates with these, until both stay;
//! 3. each track is bent where that explains its moves better (`track`, `trace`), in turn with
//!    coefficients and scale;
//! 4. a volume whose rate could as well be another is given back as nominal, and said to be.
//!
//! The equations, and what can and cannot be found: `docs/method/fitting-without-positions.md`.

mod cost;
mod estimate;
mod found;
mod given;
mod held_out;
mod scan;
mod solve;
mod trace;
mod track;

pub use cost::{ApproachCost, CernCost, FinePosition, LinearCost, MAX_TERMS, Term};
pub use found::{Coefficient, Fit, FoundVolume, Support};
pub use given::{Move, Options, Volume};
pub use held_out::{Comparison, Errors, HeldOut, held_out};

use estimate::Estimate;
use given::moving;
use tapewise_model::Geometry;
use trace::Trace;

/// The scale of errors before any move is seen, in seconds: that of CERN's regression.
const FIRST_SCALE_S: f64 = 8.0;

/// Rounds of rates and coefficients, then of bends and coefficients, at most.
const ROUNDS: usize = 12;

/// Steps of reweighting that settle coefficients where places moved by much.
const SETTLING_STEPS: usize = 10;

/// Steps of reweighting that follow where tracks bent a little.
const FOLLOWING_STEPS: usize = 3;

/// Leaps of a track in each round.
const LEAPS: usize = 3;

/// Hats that the stated difference between wraps counts for, against what is seen.
const STATED_HATS: f64 = 10.0;

/// Rounds end when minus the log of the posterior falls by less than this for each volume.
const LEAST_GAIN: f64 = 1.0;

/// A rate is found when any other is this much less likely: `e^-10` is 1 in 22,000.
const LEAST_MARGIN: f64 = 10.0;

/// Why nothing was fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BlindError {
    /// No volume has enough moves.
    #[error(
        "no volume of {volumes} has {least} moves from one block to another; the most has {most}"
    )]
    TooFewMoves {
        /// Volumes given.
        volumes: usize,
        /// Moves needed on one volume.
        least: usize,
        /// Moves of the volume that has most.
        most: usize,
    },
    /// The moves of every volume fit several maps as well as the best.
    #[error(
        "none of {searched} volumes can be placed: other blocks per wrap explain their times as well (best margin {margin:.1}, needed {LEAST_MARGIN})"
    )]
    Ambiguous {
        /// Volumes searched.
        searched: usize,
        /// The largest difference of log posteriors between the best rate and another.
        margin: f64,
    },
    /// A block behind the end of the tape.
    #[error(
        "block {block} of volume {volume} would lie {along:.1} wraps along the tape, but the cartridge has {wraps}; is it another cartridge, or another block size?"
    )]
    BeyondTape {
        /// The volume.
        volume: String,
        /// The block.
        block: u64,
        /// Where it would nominally lie.
        along: f64,
        /// Wraps of the geometry.
        wraps: u16,
    },
    /// A cost with more terms than there is room for, or with none.
    #[error("the cost has {terms} terms; 1 to {MAX_TERMS} are possible")]
    BadCost {
        /// Its terms.
        terms: usize,
    },
    /// An option, or the spread of a coefficient, that must be above zero.
    #[error("{name} is {value}, but must be above zero")]
    BadOption {
        /// The option.
        name: &'static str,
        /// Its value.
        value: f64,
    },
}

/// Finds the map of each volume and the cost of a move that all have in common.
///
/// Moves to where the head already stands say nothing of places and are left out. The result
/// depends on nothing but the arguments.
///
/// # Errors
/// When no volume has enough moves, or none can be placed.
pub fn fit<C: LinearCost + ?Sized>(
    cost: &C,
    geometry: &Geometry,
    volumes: &[Volume],
    options: &Options,
) -> Result<Fit, BlindError> {
    let mut search = Search::new(cost, geometry, volumes, options)?;
    search.find_rates()?;
    search.bend();
    Ok(search.finish(volumes))
}

/// A volume while it is searched for.
struct Searched {
    trace: Trace,
    support: Support,
}

/// Map and cost while they are searched for.
struct Search<'a, C: ?Sized> {
    cost: &'a C,
    geometry: &'a Geometry,
    options: Options,
    volumes: Vec<Searched>,
    estimate: Estimate,
    /// How much wraps differ, as seen.
    wrap_share: f64,
    /// Coefficients are to stay as they are: only maps are searched for.
    fixed: bool,
}

impl<'a, C: LinearCost + ?Sized> Search<'a, C> {
    fn new(
        cost: &'a C,
        geometry: &'a Geometry,
        volumes: &[Volume],
        options: &Options,
    ) -> Result<Search<'a, C>, BlindError> {
        check(cost, geometry, volumes, options)?;
        let searched = volumes.iter().map(|volume| {
            let moves = moving(volume);
            let trace = Trace::new(&moves, options);
            let support = if trace.len() >= options.least_moves.max(1) {
                Support::Found {
                    margin: f64::INFINITY,
                }
            } else {
                Support::FewMoves
            };
            Searched { trace, support }
        });
        Ok(Search {
            cost,
            geometry,
            options: *options,
            volumes: searched.collect(),
            estimate: Estimate::expected(cost.terms(), FIRST_SCALE_S),
            wrap_share: options.wrap_share,
            fixed: false,
        })
    }

    /// Volumes whose moves count.
    fn found(&self) -> impl Iterator<Item = &Searched> + Clone {
        self.volumes
            .iter()
            .filter(|volume| volume.support.is_found())
    }

    /// Rates of all volumes, with coefficients common to them.
    fn find_rates(&mut self) -> Result<(), BlindError> {
        if self.found().next().is_none() {
            let most = self.volumes.iter().map(|volume| volume.trace.len()).max();
            return Err(BlindError::TooFewMoves {
                volumes: self.volumes.len(),
                least: self.options.least_moves,
                most: most.unwrap_or(0),
            });
        }
        let (cost, geometry) = (self.cost, self.geometry);
        if !self.fixed {
            let start = self.estimate.clone();
            for volume in self.volumes.iter_mut().filter(|v| v.support.is_found()) {
                let scanned = scan::profile(&volume.trace, cost, geometry, &start);
                volume.trace.straighten(scanned.rate);
            }
            self.improve_estimate(SETTLING_STEPS);
        }
        for _ in 0..ROUNDS {
            let mut changed = false;
            for volume in self.volumes.iter_mut().filter(|v| v.support.is_found()) {
                let scanned = scan::given(&volume.trace, cost, geometry, &self.estimate);
                changed |= scanned.rate != volume.trace.track.rate;
                volume.trace.straighten(scanned.rate);
                volume.support = Support::Found {
                    margin: scanned.margin,
                };
            }
            self.improve_estimate(SETTLING_STEPS);
            if !changed {
                break;
            }
        }
        self.give_up_ambiguous()
    }

    /// Volumes that another rate explains as well are no longer searched, nor do they count.
    fn give_up_ambiguous(&mut self) -> Result<(), BlindError> {
        let (mut searched, mut best) = (0, f64::NEG_INFINITY);
        for volume in &mut self.volumes {
            if let Support::Found { margin } = volume.support {
                searched += 1;
                best = best.max(margin);
                if margin < LEAST_MARGIN {
                    volume.support = Support::Ambiguous { margin };
                    volume.trace.straighten(0.0);
                }
            }
        }
        if best < LEAST_MARGIN {
            return Err(BlindError::Ambiguous {
                searched,
                margin: best,
            });
        }
        self.improve_estimate(SETTLING_STEPS);
        Ok(())
    }

    /// Bends all tracks, in turn with the coefficients.
    fn bend(&mut self) {
        let (cost, geometry) = (self.cost, self.geometry);
        for _ in 0..ROUNDS {
            let (mut gain, mut count) = (0.0, 0.0);
            for volume in self.volumes.iter_mut().filter(|v| v.support.is_found()) {
                for _ in 0..LEAPS {
                    gain += volume.trace.leap(cost, geometry, &self.estimate);
                }
                gain += volume.trace.bend(cost, geometry, &self.estimate);
                count += 1.0;
            }
            self.improve_estimate(FOLLOWING_STEPS);
            self.improve_wander();
            if gain < LEAST_GAIN * count {
                break;
            }
        }
    }

    /// How much wraps differ, from how much tracks had to bend (one step of EM): what is stated counts
    /// for as much as a few hats.
    fn improve_wander(&mut self) {
        let (cost, geometry, options) = (self.cost, self.geometry, self.options);
        let mut sum = STATED_HATS * options.wrap_share.powi(2);
        let mut count = STATED_HATS;
        for volume in self.found() {
            if let Some(certainty) = volume.trace.certainty(cost, geometry, &self.estimate) {
                let (squares, hats) = volume.trace.wander_seen(&certainty);
                sum += squares;
                count += hats;
            }
        }
        self.wrap_share = (sum / count).sqrt();
        for volume in &mut self.volumes {
            volume.trace.set_wander(self.wrap_share, &options);
        }
    }

    fn improve_estimate(&mut self, steps: usize) {
        if self.fixed {
            return;
        }
        let geometry = self.geometry;
        let mut estimate = self.estimate.clone();
        let moves = self.found().flat_map(|v| v.trace.placed(geometry, 1));
        estimate.improve(self.cost, moves, steps);
        self.estimate = estimate;
    }
}

/// Refuses what the search could not end on.
fn check<C: LinearCost + ?Sized>(
    cost: &C,
    geometry: &Geometry,
    volumes: &[Volume],
    options: &Options,
) -> Result<(), BlindError> {
    let terms = cost.terms();
    if !(1..=MAX_TERMS).contains(&terms.len()) {
        return Err(BlindError::BadCost { terms: terms.len() });
    }
    let options_and_spreads = [
        ("wrap_blocks", options.wrap_blocks),
        ("tape_share", options.tape_share),
        ("wrap_share", options.wrap_share),
    ]
    .into_iter()
    .chain(terms.iter().map(|term| (term.name, term.spread)));
    for (name, value) in options_and_spreads {
        if !(value > 0.0 && value.is_finite()) {
            return Err(BlindError::BadOption { name, value });
        }
    }
    let most = f64::from(geometry.wraps) * (1.0 + scan::REACH * options.tape_share) + 1.0;
    for volume in volumes {
        let ends = volume.moves.iter().map(|m| m.from_block.max(m.to_block));
        let block = ends.max().unwrap_or(0);
        let along = block as f64 / options.wrap_blocks;
        if along > most {
            return Err(BlindError::BeyondTape {
                volume: volume.name.clone(),
                block,
                along,
                wraps: geometry.wraps,
            });
        }
    }
    Ok(())
}
