//! `tapewise demo`: what ordering is worth, without hardware.

use crate::batch::Batch;
use crate::error::CliError;
use crate::explain::Report;
use crate::placement::{PlacementArgs, place};
use crate::search::{SearchArgs, compute};
use crate::{output, plot, units};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use tapewise_formats::csv_out::write_csv;
use tapewise_formats::ltfs_index::read_ltfs_index;
use tapewise_formats::{Extent, Request};
use tapewise_model::Random;
use tapewise_order::Algorithm;

/// Show what ordering is worth, without hardware.
///
/// Parses a real LTFS index, then orders 200 clips of a made-up camera archive on an LTO-8
/// cartridge and draws the head's path.
#[derive(clap::Args, Debug)]
pub struct Demo {
    /// Another seed makes up another archive and another list.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to put the picture and the list.
    #[arg(long, value_name = "DIR", default_value = "demo")]
    into: PathBuf,
}

/// Written by the LTFS reference implementation 2.4.8: 3001 files, 3302 extents.
const INDEX: &[u8] =
    include_bytes!("../../../../fixtures/ltfs/TST002-gen4-3001files-3302extents.xml");

const BLOCK_BYTES: u64 = 524_288;
const CLIPS: usize = 2_400;
const WANTED: usize = 200;

/// Sizes of the made-up clips, in bytes.
const CLIP_BYTES: std::ops::Range<u64> = 500_000_000..9_000_000_000;

/// The data partition of an LTFS volume, and its first block behind label and first index.
const DATA_PARTITION: u8 = 1;
const FIRST_DATA_BLOCK: u64 = 5;

/// Runs the verb.
pub fn run(args: &Demo) -> Result<ExitCode, CliError> {
    let version = env!("CARGO_PKG_VERSION");
    line(format_args!(
        "tapewise {version} demo, seed {}. No hardware is touched.",
        args.seed
    ))?;
    line(format_args!(
        "Somebody wants {WANTED} clips back from a tape that holds {CLIPS}. Read in the order of a list, or sorted by\n\
         block as tape programs do, the tape runs to and fro for hours, because its track is serpentine: wraps lie\n\
         side by side, and what follows in number may lie at the other end. tapewise predicts what every move takes\n\
         and finds a better order. The archive is made up; the times come from a published model of the drive, and\n\
         no drive has confirmed them yet.\n"
    ))?;
    parse_real_index()?;
    let archive = archive(args.seed);
    let batch = wanted(&archive, args.seed);
    let bytes: u64 = archive
        .iter()
        .filter_map(|clip| clip.extents[0].byte_count)
        .sum();
    line(format_args!(
        "[2/3] order  {WANTED} random clips of a made-up camera archive, {} in {CLIPS} clips on an LTO-8 cartridge",
        units::bytes(bytes)
    ))?;
    let placed = place(&batch, &PlacementArgs::new("lto8"))?;
    let search = SearchArgs::with_seed(args.seed);
    let row = compute(&placed, Algorithm::Best, &search)
        .ok_or_else(|| CliError::failed("the default order always applies"))?;
    line(format_args!(
        "{}",
        Report::plain(&batch, &placed, &row, &search)
            .text()
            .trim_end()
    ))?;
    std::fs::create_dir_all(&args.into)
        .map_err(|e| CliError::failed(format!("{}: {e}", args.into.display())))?;
    let svg = plot::beside_sorted(&placed, &row, &search)?;
    let picture = args.into.join("head-path.svg");
    output::write(Some(&picture), |out| {
        out.write_all(svg.as_bytes()).map_err(CliError::failed)
    })?;
    let list = args.into.join("requests.csv");
    output::write(Some(&list), |mut out| {
        write_csv(&mut out, &batch.requests).map_err(CliError::failed)
    })?;
    line(format_args!(
        "\n[3/3] draw   {}: the head's path, sorted beside tapewise",
        picture.display()
    ))?;
    line(format_args!(
        "\nThe same by hand:  tapewise order --profile lto8 --layout ltfs --block-size {BLOCK_BYTES} --explain {}",
        list.display()
    ))?;
    line(format_args!(
        "Your own tape, no drive needed:  tapewise order --ltfs-index TAPE.xml --profile lto6 --files-from clips.txt --explain"
    ))?;
    line(format_args!("Another archive:  tapewise demo --seed 2"))?;
    Ok(ExitCode::SUCCESS)
}

fn line(text: std::fmt::Arguments) -> Result<(), CliError> {
    output::write(None, |out| {
        writeln!(out, "{text}").map_err(CliError::failed)
    })
}

fn parse_real_index() -> Result<(), CliError> {
    let begin = Instant::now();
    let (index, files) = read_ltfs_index(INDEX).map_err(CliError::failed)?;
    let ms = begin.elapsed().as_secs_f64() * 1e3;
    let several = files.iter().filter(|file| file.extents.len() > 1).count();
    line(format_args!(
        "[1/3] parse  a real LTFS index ({}, generation {}): {} files in {} directories, {} extents, {several} files in\n\
         {:13}several pieces, {:.0} ms\n",
        index.volume_name,
        index.generation,
        index.file_count,
        index.directory_count,
        index.extent_count,
        "",
        ms
    ))?;
    Ok(())
}

/// Clips written one behind the other, as a camera archive is.
fn archive(seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed, 0);
    let mut next_block = FIRST_DATA_BLOCK;
    (0..CLIPS)
        .map(|number| {
            let bytes = CLIP_BYTES.start + random.below(CLIP_BYTES.end - CLIP_BYTES.start);
            let block_count = bytes.div_ceil(BLOCK_BYTES);
            let start_block = next_block;
            next_block += block_count;
            let name = format!("A{:03}/C{:04}.mov", number / 24 + 1, number % 24 + 1);
            Request {
                id: name.clone(),
                volume: Some("DEMO01L8".to_owned()),
                path: Some(name),
                extents: vec![Extent {
                    partition: Some(DATA_PARTITION),
                    start_block,
                    block_count,
                    byte_count: Some(bytes),
                    ..Extent::default()
                }],
                ..Request::default()
            }
        })
        .collect()
}

/// A list of some of them, in no order.
fn wanted(archive: &[Request], seed: u64) -> Batch {
    let mut clips: Vec<&Request> = archive.iter().collect();
    Random::new(seed, 1).shuffle(&mut clips);
    Batch {
        requests: clips.into_iter().take(WANTED).cloned().collect(),
        block_size: Some(BLOCK_BYTES),
        is_ltfs: true,
        recognised: format!("{WANTED} of {CLIPS} clips, listed in no order"),
        notices: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_made_up_archive_fits_its_cartridge() {
        let placed = place(&wanted(&archive(1), 1), &PlacementArgs::new("lto8"));
        assert!(placed.is_ok());
        let last = archive(1).pop().expect("clips").extents[0].end_block();
        let map = placed
            .ok()
            .and_then(|placed| placed.map)
            .expect("a nominal map");
        assert!(map.position(DATA_PARTITION, last).is_ok());
    }
}
