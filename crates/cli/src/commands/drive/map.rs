//! `tapewise drive map`: where the wraps of the cartridge in a drive end.

use crate::error::CliError;
use crate::{device, output, quantity, units};
use std::path::PathBuf;
use tapewise_formats::map_file::{MapFile, write_map};
use tapewise_run::{RunError, probe_map, wrap_ends};

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
            return Err(RunError::NoData.into());
        }
        Some(table) => {
            let wraps = units::count(table.len(), "wrap");
            output::say(format_args!(
                "{}: table of wrap ends, {wraps} with data, as it was when the cartridge was loaded\n",
                args.device
            ));
            MapFile::EndOfWrap(table)
        }
        None => {
            let places = probe_map(&mut drive, args.probes).map_err(|error| match error {
                RunError::HeadUntold => CliError::failed(error).hint(
                    "its cartridges can be mapped by timing: tapewise measure --only key-points",
                ),
                other => other.into(),
            })?;
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
