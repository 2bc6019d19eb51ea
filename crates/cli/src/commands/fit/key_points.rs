//! The key points of DLT cartridges: found one by one where the log that is fitted has the probes for it, else learned
//! from what its locates took.

use crate::error::CliError;
use crate::output::say;
use crate::units;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tapewise_fit::log::Records;
use tapewise_formats::event_log::read_events;
use tapewise_formats::map_file::{MapFile, write_map};
use tapewise_model::{KeyPoints, LearnedKeyPoints, Profile, TimedLocate};
use tapewise_run::measure::key_points;

/// The map that an event log with block numbers has of its cartridge. `None` where the log has not all probes, and for
/// several logs: they may be of several cartridges, and a fit takes one map.
pub fn in_log(logs: &[PathBuf], drive: &Profile) -> Result<Option<MapFile>, CliError> {
    let (Some(nominal), [path]) = (drive.nominal_sections(), logs) else {
        return Ok(None);
    };
    if path == Path::new("-") {
        return Ok(None);
    }
    let name = path.display();
    let file = File::open(path).map_err(|error| CliError::input(error).of(&name))?;
    let log =
        read_events(BufReader::new(file)).map_err(|error| CliError::input(error).of(&name))?;
    let Some(found) = key_points::of_whole_log(|| log.events(), nominal) else {
        return Ok(None);
    };
    say(format_args!(
        "{name}: the probes in it find the key points of its cartridge; they place the blocks\n"
    ));
    Ok(Some(MapFile::KeyPoints(found.key_points)))
}

/// Locates of a cartridge from which its key points are learned: fewer say next to nothing of 64 tracks.
const LEAST_LOCATES: usize = 40;

/// Share that blocks may be longer or shorter than the segments that key points count.
const BLOCK_MARGIN: f64 = 0.01;

/// Times that all locates are asked anew.
const ROUNDS: usize = 3;

/// Key points that were learned, cartridge by cartridge.
pub struct Learned {
    cartridges: Vec<(String, KeyPoints)>,
    /// The number of the cartridge with the most locates, and where it stands in the list.
    best: (u32, usize),
}

impl Learned {
    /// What the locates of a log tell, cartridge by cartridge, each with what is known of the drive from those before.
    /// `None` for other drives, for blocks that are no segments, and where no cartridge has enough locates.
    pub fn of(records: &Records, drive: &Profile, block_bytes: Option<u64>) -> Option<Learned> {
        let mut belief = drive.key_point_belief()?;
        let [bytes, blocks] = records.transferred;
        let block_bytes = block_bytes.map_or(bytes as f64 / blocks as f64, |bytes| bytes as f64);
        let off = block_bytes / drive.segment_bytes()? - 1.0;
        if off.is_nan() || off.abs() >= BLOCK_MARGIN {
            return None;
        }
        let mut locates: BTreeMap<u32, Vec<TimedLocate>> = BTreeMap::new();
        for locate in &records.block_locates {
            // A drive leaves the beginning of tape slowly: that tells nothing of key points.
            if let ((0, from @ 1..), (0, to)) = (locate.from, locate.to) {
                let time = locate.time;
                let of = locates.entry(locate.cartridge).or_default();
                of.push(TimedLocate { from, to, time });
            }
        }
        locates.retain(|_, locates| locates.len() >= LEAST_LOCATES);
        let most = locates.values().map(Vec::len).max()?;
        let best = locates.values().position(|locates| locates.len() == most)?;
        let best = (*locates.keys().nth(best)?, best);
        let mut cartridges = Vec::with_capacity(locates.len());
        for (cartridge, locates) in locates {
            let mut learned = LearnedKeyPoints::new(belief, None, 1);
            let name = records.cartridge_name(cartridge).unwrap_or("cartridge");
            let count = units::count(locates.len(), "locate");
            locates
                .into_iter()
                .for_each(|locate| learned.observe(locate));
            (0..ROUNDS).for_each(|_| learned.learn());
            let key_points = learned.key_points();
            let error = key_points.error();
            say(format_args!(
                "{name}: {count} tell its key points, +-{error} segments (one standard deviation)\n"
            ));
            cartridges.push((name.to_owned(), key_points));
            belief = learned.belief();
        }
        Some(Learned { cartridges, best })
    }

    /// The map of the cartridge with the most locates; the records keep those of this one only, as a fit takes one map.
    pub fn map(&self, records: &mut Records) -> MapFile {
        let (number, at) = self.best;
        records
            .block_locates
            .retain(|locate| locate.cartridge == number);
        let (name, key_points) = &self.cartridges[at];
        say(format_args!(
            "{name}: the fit is made by these key points, which come from the same times, so its errors flatter\n"
        ));
        MapFile::KeyPoints(key_points.clone())
    }

    /// Writes the key points of each cartridge as `NAME.csv`.
    pub fn write(&self, directory: &Path) -> Result<(), CliError> {
        super::maps::write_each(directory, &self.cartridges, |key_points, out| {
            write_map(out, &MapFile::KeyPoints(key_points.clone())).map_err(CliError::failed)
        })
    }
}
