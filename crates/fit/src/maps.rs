//! Maps of cartridges found from times, where a log has block numbers only.

use crate::blind::{self, ApproachCost, BlindError, HeldOut, Options, Volume};
use crate::refusal::FitRefusal;
use crate::regression::lto_coefficients;
use crate::sample::{Ground, Sample};
use tapewise_model::locate::LtoCoefficients;
use tapewise_model::{Geometry, Layout, Position, PositionSource, Profile, Random};

/// Moves that stand for a model whose coefficients are not those of the regression.
const MODEL_MOVES: usize = 2_000;

/// Maps and cost found together, and how good they are.
#[derive(Debug)]
pub struct Maps {
    /// What was found.
    pub fit: blind::Fit,
    /// The moves it was found from.
    pub volumes: Vec<Volume>,
    /// On moves held out, or why a part of the moves is too little.
    pub held_out: Result<HeldOut, BlindError>,
    /// Bytes that a block takes in the mean.
    pub block_bytes: f64,
    /// Blocks that a wrap nominally holds.
    pub wrap_blocks: f64,
}

impl Maps {
    /// Finds the map of each volume, and what a move costs.
    ///
    /// # Errors
    /// Where nothing can be placed, and for profiles that do not know what a wrap holds.
    pub fn find(
        volumes: Vec<Volume>,
        drive: &Profile,
        ground: &Ground,
        block_bytes: f64,
    ) -> Result<Maps, FitRefusal> {
        let geometry = &ground.geometry;
        if geometry.layout != Layout::Serpentine {
            return Err(FitRefusal::NotSerpentine {
                profile: drive.name.clone(),
            });
        }
        let wrap_gb = drive.cartridge.wrap_gb.as_ref();
        let wrap_gb = wrap_gb.ok_or_else(|| FitRefusal::NoWrapGb {
            profile: drive.name.clone(),
        })?;
        let wrap_blocks = wrap_gb.value * 1e9 / block_bytes;
        let options = Options::new(wrap_blocks);
        // The cost that finds the best maps: docs/method/fitting-without-positions.md.
        let cost = ApproachCost::new(geometry, &expected(drive, ground)?);
        let fit = blind::fit(&cost, geometry, &volumes, &options)?;
        let held_out = blind::held_out(&cost, geometry, &volumes, &options);
        Ok(Maps {
            fit,
            volumes,
            held_out,
            block_bytes,
            wrap_blocks,
        })
    }

    /// The moves of all volumes that were placed.
    pub fn samples(&self, geometry: &Geometry) -> Vec<Sample> {
        self.fit.samples(geometry, &self.volumes)
    }

    /// Volumes whose map was found.
    pub fn found(&self) -> usize {
        let volumes = self.fit.volumes.iter();
        volumes.filter(|volume| volume.support.is_found()).count()
    }
}

/// Coefficients of the regression to begin with: the profile's own, or those nearest to its model.
fn expected(drive: &Profile, ground: &Ground) -> Result<LtoCoefficients, FitRefusal> {
    if let Some(coefficients) = drive.lto_coefficients() {
        return Ok(coefficients);
    }
    let model = drive.locate_model(None)?;
    let mut random = Random::new(0, 0);
    let samples: Vec<Sample> = (0..MODEL_MOVES)
        .map(|nth| {
            let from = anywhere(&mut random, &ground.geometry);
            let to = anywhere(&mut random, &ground.geometry);
            // Hardly any move would stay on its wrap by chance.
            let wrap = if nth % 4 == 0 { from.wrap } else { to.wrap };
            let to = Position { wrap, ..to };
            let time = model.locate(&from, &to);
            Sample {
                cartridge: 0,
                from,
                to,
                time,
            }
        })
        .collect();
    Ok(lto_coefficients(&samples, ground)?.0)
}

fn anywhere(random: &mut Random, geometry: &Geometry) -> Position {
    let span = u64::from(geometry.wrap_lpos()).max(1);
    Position {
        partition: 0,
        wrap: random.below(geometry.wraps.max(1).into()) as u16,
        lpos: geometry.lpos_min + random.below(span) as u32,
        source: PositionSource::Nominal,
        error_lpos: 0,
    }
}
