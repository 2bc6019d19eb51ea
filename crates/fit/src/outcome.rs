//! From records to a fit: where the ends of the moves lie, found one way or another, then the models.

use crate::blind::{Move, Volume};
use crate::held_out::{Comparison, compare, compare_unordered};
use crate::log::Records;
use crate::maps::Maps;
use crate::refusal::FitRefusal;
use crate::sample::{FitError, Ground, LEAST_SAMPLES, Sample};
use std::collections::BTreeMap;
use std::sync::Arc;
use tapewise_formats::cta_tapefile::CTA_BLOCK_SIZE;
use tapewise_formats::map_file::MapFile;
use tapewise_model::{BlockMap, KeyPoints, Layout, NominalLayout, Profile, profile};

/// Where the ends of the moves were taken to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// The drive told.
    Recorded,
    /// The log has blocks; the profile's nominal geometry places them.
    Nominal,
    /// The log has blocks; the nominal key points of the profile place them.
    NominalKeyPoints,
    /// The log has blocks; a map of the cartridge places them.
    Map,
    /// The log has blocks; maps were found from the times.
    Found,
}

/// What is known beside the logs.
#[derive(Clone, Copy, Debug, Default)]
pub struct FitOptions<'a> {
    /// Bytes that a block takes on the tape.
    pub block_bytes: Option<u64>,
    /// The map of the cartridge.
    pub map: Option<&'a MapFile>,
}

/// What came of a fit.
#[derive(Debug)]
pub struct Outcome {
    /// What was fitted.
    pub records: Records,
    /// What was known of the tape.
    pub ground: Ground,
    /// Where the moves were taken to lie.
    pub places: Places,
    /// Locates left out because their blocks lie beyond the end of the map.
    pub beyond: usize,
    /// The maps, where they were found from times.
    pub maps: Option<Maps>,
    /// The models, judged on records they were not fitted to.
    pub comparison: Comparison,
}

/// A fit by nominal places that explains less of the times than this is tried again with maps found from the times.
const NOMINAL_R_SQUARED: f64 = 0.9;

/// Maps found from times are taken where the error by them is less than this share of that by nominal places.
const WORTH_FINDING: f64 = 0.8;

/// Fits the records of a drive of which `drive` is the profile.
///
/// Records with positions are fitted as they are. Where a log has block numbers only, the blocks are placed by the map
/// that was given, else by the key points or the nominal geometry of the profile; and where the models explain little of
/// the times by that, or the log is one of a site, by maps that are found from the times. [`Outcome::places`] says which
/// way was taken.
///
/// # Errors
/// [`FitRefusal`].
pub fn fit_records(
    mut records: Records,
    drive: &Profile,
    options: FitOptions<'_>,
) -> Result<Outcome, FitRefusal> {
    let mut ground = Ground::of(drive)?;
    refuse_other_tape(&records, drive, &ground)?;
    if !records.samples.is_empty() {
        if options.block_bytes.is_some() {
            return Err(FitRefusal::BlockSizeUnused);
        }
        if options.map.is_some() {
            let why = "these logs have positions";
            return Err(FitRefusal::MapUnused { why });
        }
        return finish(records, ground, Places::Recorded, 0, None);
    }
    if !records.moves.is_empty() {
        if options.map.is_some() {
            let why = "maps of all volumes are found from the times of such logs";
            return Err(FitRefusal::MapUnused { why });
        }
        let block_bytes = block_bytes(&records, options.block_bytes)?;
        return by_times(records, drive, ground, block_bytes);
    }
    if records.block_locates.len() < LEAST_SAMPLES {
        let (found, least) = (records.block_locates.len(), LEAST_SAMPLES);
        return Err(FitError::TooFew { found, least }.into());
    }
    let block_bytes = block_bytes(&records, options.block_bytes)?;
    let (map, places) = map(&records, drive, &mut ground, block_bytes, options.map)?;
    let beyond = place(&mut records, &map);
    if places != Places::Nominal || ground.geometry.layout != Layout::Serpentine {
        return finish(records, ground, places, beyond, None);
    }
    let nominal = finish(records, ground, places, beyond, None);
    let is_good =
        |nominal: &Outcome| nominal.comparison.choice().overall.r_squared >= NOMINAL_R_SQUARED;
    match nominal {
        Ok(nominal) if !is_good(&nominal) => Ok(or_by_times(nominal, drive, block_bytes)),
        nominal => nominal,
    }
}

/// A drive has no tapes with more wraps than its own kind has: such a base is that of another drive. One with fewer may be
/// that of an older tape. A profile that is not among ours is not known here.
fn refuse_other_tape(records: &Records, base: &Profile, ground: &Ground) -> Result<(), FitRefusal> {
    let base_wraps = ground.geometry.wraps;
    let known = records
        .profiles
        .iter()
        .filter_map(|name| profile::find(name).ok());
    let shapes =
        known.filter_map(|profile| Some((Ground::of(&profile).ok()?.geometry.wraps, profile)));
    let mut others = shapes.filter(|(wraps, _)| *wraps < base_wraps);
    others.next().map_or(Ok(()), |(wraps, profile)| {
        Err(FitRefusal::OtherTape {
            of_log: profile.name,
            wraps,
            base: base.name.clone(),
            base_wraps,
        })
    })
}

/// The outcome by maps found from times where that is the better one, else the outcome that is there.
fn or_by_times(nominal: Outcome, drive: &Profile, block_bytes: f64) -> Outcome {
    let mut records = Records::default();
    records.emulated = nominal.records.emulated;
    records.files.clone_from(&nominal.records.files);
    let mut volumes: BTreeMap<String, Vec<Move>> = BTreeMap::new();
    for locate in &nominal.records.block_locates {
        let name = nominal.records.cartridge_name(locate.cartridge);
        let moves = volumes
            .entry(name.unwrap_or("cartridge").to_owned())
            .or_default();
        if (locate.from.0, locate.to.0) == (0, 0) {
            moves.push(Move {
                from_block: locate.from.1,
                to_block: locate.to.1,
                time: locate.time,
            });
        }
    }
    records.moves = volumes;
    let error_s = |outcome: &Outcome| outcome.comparison.choice().overall.bulk_s;
    match by_times(records, drive, nominal.ground.clone(), block_bytes) {
        // Places that were found from the same times flatter: they must be better by far.
        Ok(found) if error_s(&found) < WORTH_FINDING * error_s(&nominal) => found,
        _ => nominal,
    }
}

fn finish(
    records: Records,
    ground: Ground,
    places: Places,
    beyond: usize,
    maps: Option<Maps>,
) -> Result<Outcome, FitRefusal> {
    let comparison = match places {
        // Volume by volume, not as they were made.
        Places::Found => compare_unordered(&records.samples, &ground)?,
        _ => compare(&records.samples, &ground)?,
    };
    Ok(Outcome {
        records,
        ground,
        places,
        beyond,
        maps,
        comparison,
    })
}

/// Finds maps and cost together.
fn by_times(
    mut records: Records,
    drive: &Profile,
    ground: Ground,
    block_bytes: f64,
) -> Result<Outcome, FitRefusal> {
    let volumes: Vec<Volume> = records.volumes();
    let maps = Maps::find(volumes, drive, &ground, block_bytes)?;
    records.samples = maps.samples(&ground.geometry);
    finish(records, ground, Places::Found, 0, Some(maps))
}

/// Bytes that a block takes on tape in the mean: as said, or as the logs tell.
///
/// For CTA it counts the labels of its files: header and trailer records and filemarks count as blocks and take next to
/// nothing; of files of 10 MB they are every fifth block.
///
/// # Errors
/// [`FitRefusal::NoBlockSize`] and [`FitRefusal::BlockSizeOfCta`].
fn block_bytes(records: &Records, given: Option<u64>) -> Result<f64, FitRefusal> {
    match (records.cta_files, given, records.transferred) {
        (Some(_), Some(given), _) if given != CTA_BLOCK_SIZE => {
            Err(FitRefusal::BlockSizeOfCta { given })
        }
        (Some([bytes, blocks]), ..) => Ok(bytes.max(1) as f64 / blocks.max(1) as f64),
        (None, Some(given), _) => Ok(given as f64),
        (None, None, [bytes, blocks]) if bytes > 0 && blocks > 0 => {
            Ok(bytes as f64 / blocks as f64)
        }
        (None, None, _) => Err(FitRefusal::NoBlockSize),
    }
}

/// The map that places the blocks of event logs, and which one it is.
fn map(
    records: &Records,
    drive: &Profile,
    ground: &mut Ground,
    block_bytes: f64,
    given: Option<&MapFile>,
) -> Result<(BlockMap, Places), FitRefusal> {
    let known = drive.key_point_coefficients();
    let mut by_key_points = |key_points: &KeyPoints| {
        let coefficients = known?;
        ground.geometry = key_points.geometry(&ground.geometry);
        ground.key_points = Some((coefficients, Arc::new(key_points.clone())));
        Some(key_points.block_map())
    };
    match given {
        Some(MapFile::KeyPoints(key_points)) => {
            let map = by_key_points(key_points);
            let why = "it has key points, and the profile's drive is not modelled by them";
            Ok((map.ok_or(FitRefusal::MapUnused { why })?, Places::Map))
        }
        Some(MapFile::EndOfWrap(table)) => {
            let wrap_blocks = drive.wrap_blocks(block_bytes.round() as u64).ok();
            let map = BlockMap::from_end_of_wrap(&ground.geometry, table, wrap_blocks)?;
            Ok((map, Places::Map))
        }
        Some(MapFile::Probed(_)) => {
            let why =
                "it has places of single blocks; a fit takes key points or a table of wrap ends";
            Err(FitRefusal::MapUnused { why })
        }
        None => {
            let partitions = records
                .block_locates
                .iter()
                .flat_map(|each| [each.from.0, each.to.0]);
            let layout = match partitions.max() {
                Some(1..) => drive.ltfs_layout().unwrap_or(NominalLayout::Single),
                _ => NominalLayout::Single,
            };
            let map = drive.nominal_map(layout, block_bytes.round() as u64)?;
            match drive.nominal_key_points() {
                Some(key_points) => {
                    by_key_points(&key_points);
                    Ok((map, Places::NominalKeyPoints))
                }
                None => Ok((map, Places::Nominal)),
            }
        }
    }
}

/// Places the locates that are known by block, and counts those beyond the end of the map.
fn place(records: &mut Records, map: &BlockMap) -> usize {
    let mut beyond = 0;
    for locate in &records.block_locates {
        let place = |(partition, block)| map.position(partition, block).ok();
        let Some((from, to)) = place(locate.from).zip(place(locate.to)) else {
            beyond += 1;
            continue;
        };
        records.samples.push(Sample {
            cartridge: locate.cartridge,
            from,
            to,
            time: locate.time,
        });
        records.origins.push(locate.origin.clone());
    }
    beyond
}
