//! Maps of cartridges found from times, where a log has block numbers only.

use super::records::Records;
use crate::error::CliError;
use crate::output;
use std::path::Path;
use tapewise_fit::blind::{self, ApproachCost, BlindError, HeldOut, Options, Volume};
use tapewise_fit::{Candidate, Coefficients, FitError, Ground, Sample};
use tapewise_formats::cta_tapefile::CTA_BLOCK_SIZE;
use tapewise_formats::map_file::{MapFile, write_map};
use tapewise_model::locate::LtoCoefficients;
use tapewise_model::{Geometry, Layout, Position, PositionSource, Profile, Random};

/// Moves that stand for a model whose coefficients are not those of the regression.
const MODEL_MOVES: usize = 2_000;

/// Maps and cost found together, and how good they are.
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

/// Bytes that a block takes on tape in the mean: as said, or, for CTA, with the labels of its files.
///
/// Header and trailer records and filemarks count as blocks and take next to nothing: of files of
/// 10 MB they are every fifth block.
pub fn block_bytes(records: &Records, said: Option<u64>) -> Result<f64, CliError> {
    match (records.cta_files, said) {
        (Some(_), Some(said)) if said != CTA_BLOCK_SIZE => Err(CliError::input(format!(
            "--block-size {said}, but CTA writes blocks of {CTA_BLOCK_SIZE} bytes"
        ))),
        (Some([bytes, blocks]), _) => Ok(bytes.max(1) as f64 / blocks.max(1) as f64),
        (None, Some(said)) => Ok(said as f64),
        (None, None) => Err(CliError::input(
            "block numbers say where on the tape only with the size of a block",
        )
        .hint("add --block-size BYTES: what a block takes on the tape, after compression")),
    }
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
    ) -> Result<Maps, CliError> {
        let geometry = &ground.geometry;
        if geometry.layout != Layout::Serpentine {
            return Err(CliError::input(format!(
                "{}: tracks are not serpentine, so no maps are found from times",
                drive.name
            )));
        }
        let wrap_gb = drive.cartridge.wrap_gb.as_ref().ok_or_else(|| {
            CliError::input(format!(
                "{}: the profile does not say what a wrap holds (wrap_gb)",
                drive.name
            ))
        })?;
        let wrap_blocks = wrap_gb.value * 1e9 / block_bytes;
        let options = Options::new(wrap_blocks);
        // The cost that finds the best maps: docs/method/fitting-without-positions.md.
        let cost = ApproachCost::new(geometry, &expected(drive, ground)?);
        let fit = blind::fit(&cost, geometry, &volumes, &options).map_err(|e| refused(&e))?;
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

    /// Writes each map that was found as `VOLUME.csv`; the nominal ones are the profile's anyway.
    pub fn write(&self, directory: &Path, geometry: &Geometry) -> Result<(), CliError> {
        let found = self.fit.volumes.iter().filter(|v| v.support.is_found());
        let found: Vec<_> = found.collect();
        if let Some(volume) = found.iter().find(|v| !is_file_name(&v.name)) {
            return Err(CliError::input(format!(
                "--maps: volume \"{}\" cannot name a file",
                volume.name
            )));
        }
        std::fs::create_dir_all(directory)
            .map_err(|error| CliError::failed(error).of(directory.display()))?;
        for volume in found {
            let map = MapFile::EndOfWrap(volume.wrap_ends(geometry));
            let path = directory.join(format!("{}.csv", volume.name));
            output::write(Some(&path), |out| {
                write_map(out, &map).map_err(CliError::failed)
            })?;
        }
        Ok(())
    }
}

/// A name that stays in its directory and can be seen there.
fn is_file_name(name: &str) -> bool {
    !name.starts_with('.') && !name.contains(['/', '\0'])
}

/// Coefficients of the regression to begin with: the profile's own, or those nearest to its model.
fn expected(drive: &Profile, ground: &Ground) -> Result<LtoCoefficients, CliError> {
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
    let fitted = Candidate::LtoRegression.fit(&samples, ground);
    match fitted
        .map_err(|error: FitError| CliError::failed(error))?
        .coefficients
    {
        Coefficients::LtoRegression(coefficients) => Ok(coefficients),
        other => Err(CliError::failed(format!("no regression: {other:?}"))),
    }
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

fn refused(error: &BlindError) -> CliError {
    let hint = match error {
        BlindError::TooFewMoves { .. } => {
            "give the logs of a longer time: 40 moves on one volume are the least, 100 make a good map"
        }
        BlindError::Ambiguous { .. } => {
            "are the times those of the locates, and --base and --block-size those of the tapes? More moves on each volume help"
        }
        _ => {
            "is --base the profile of this drive and cartridge, and --block-size what a block takes on the tape?"
        }
    };
    CliError::input(error).hint(hint)
}
