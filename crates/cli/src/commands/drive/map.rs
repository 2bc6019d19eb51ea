//! `tapewise drive map`: where the wraps of the cartridge in a drive end.

use crate::error::CliError;
use crate::{device, output, quantity, units};
use std::path::PathBuf;
use tapewise_formats::map_file::{MapFile, ProbedPlace, write_map};
use tapewise_run::wrap_ends;
use tapewise_scsi::TapeDrive;
use tapewise_scsi::commands::ModePage;

/// Map the cartridge in a drive, for `order --map`. Nothing is written to the tape.
///
/// tapewise asks for the drive's table of wrap ends (LTO-7 and later); this moves nothing. If the drive
/// has no such table, tapewise moves it to a few places and asks where they are. This takes some
/// minutes.
#[derive(clap::Args, Debug)]
pub struct Map {
    /// The drive.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// Where to write the map.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Places to visit in each partition if the drive has no table.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = quantity::count_in::<u64>(1..=1000))]
    probes: u64,
}

/// Runs the verb.
pub fn run(args: &Map) -> Result<(), CliError> {
    let mut drive = device::tape_for_use(&args.device)?;
    drive.wait_until_ready(super::READY_LIMIT)?;
    let map = match wrap_ends(&mut drive)? {
        Some(table) if table.is_empty() => {
            return Err(CliError::failed(
                "the cartridge has no data: there is nothing to map",
            ));
        }
        Some(table) => {
            let wraps = units::count(table.len(), "wrap");
            output::say(format_args!(
                "{}: table of wrap ends, {wraps} with data, as of when the cartridge was loaded\n",
                args.device
            ));
            MapFile::EndOfWrap(table)
        }
        None => {
            let places = probe(&mut drive, args.probes)?;
            let count = units::count(places.len(), "place");
            output::say(format_args!(
                "{}: no table of wrap ends; went to {count} and asked. The head is left at the last\n",
                args.device
            ));
            MapFile::Probed(places)
        }
    };
    output::write(Some(&args.output), |mut out| {
        write_map(&mut out, &map).map_err(CliError::failed)
    })
}

/// Goes to evenly spread blocks and to the end of data of each partition, and asks where that is.
fn probe(drive: &mut TapeDrive, probes: u64) -> Result<Vec<ProbedPlace>, CliError> {
    let cannot = || {
        CliError::failed("the drive has no table of wrap ends and does not tell where its head is")
            .hint("its cartridges can be mapped by timing: tapewise measure --only key-points")
    };
    let mut places = Vec::new();
    for partition in 0..partitions(drive)? {
        drive.locate(partition, 0)?;
        drive.space_to_end_of_data()?;
        let end = drive.position()?.block;
        for nth in (1..=probes).rev() {
            let block = (u128::from(end) * u128::from(nth) / u128::from(probes)) as u64;
            if block < end {
                drive.locate(partition, block)?;
            }
            let at = drive.physical_position()?.ok_or_else(cannot)?;
            // One byte cannot say a wrap above 254: such a place teaches nothing.
            if let Some(wrap) = at.wrap
                && block > 0
            {
                places.push(ProbedPlace {
                    partition,
                    block,
                    wrap,
                    lpos: at.lpos,
                });
            }
        }
    }
    if places.is_empty() {
        return Err(CliError::failed(
            "the cartridge has no data: there is nothing to map",
        ));
    }
    places.sort_by_key(|place| (place.partition, place.block));
    Ok(places)
}

/// Partitions of the cartridge; one where the drive does not know of any.
pub fn partitions(drive: &mut TapeDrive) -> Result<u8, CliError> {
    const MEDIUM_PARTITION_PAGE: u8 = 0x11;
    match drive.mode(MEDIUM_PARTITION_PAGE) {
        Ok(mode) => Ok(mode
            .pages
            .iter()
            .find_map(|page| match page {
                ModePage::Partitions(page) => Some(page.additional.saturating_add(1)),
                _ => None,
            })
            .unwrap_or(1)),
        Err(error) if error.is_unsupported() => Ok(1),
        Err(error) => Err(error.into()),
    }
}
