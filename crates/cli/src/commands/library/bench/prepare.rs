//! `tapewise library bench prepare`: cartridges full of objects.

use super::super::consent;
use super::super::inventory::READY_LIMIT;
use super::super::stress::tested;
use super::{at, read_stocked};
use crate::device::Devices;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::progress::{Meter, State};
use crate::{log_file, output, quantity, units};
use std::fs::File;
use std::path::PathBuf;
use tapewise_formats::bench_csv::{Stocked, write_stocked, write_stocked_header};
use tapewise_library::bench::prepare::{Terms, prepare};
use tapewise_library::stress::SlottedCartridge;
use tapewise_run::{NoLog, RunError};
use tapewise_scsi::Inventory;

/// Fill cartridges with objects of 26 KB, as the benchmark reads them.
///
/// tapewise writes one cartridge after the other in one drive, each until it is full or has as many
/// objects as --objects says, and adds a row to the table for each finished cartridge. After Ctrl-C the
/// same command continues with the cartridges that are not in the table; the cartridge that was
/// half written then needs --overwrite. If cartridges hold blocks of equal length from their beginning
/// on, you can write the table by hand instead.
#[derive(clap::Args, Debug)]
pub struct Prepare {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The drive to write in.
    #[arg(long, value_name = "DEVICE")]
    drive: String,
    /// Labels of the cartridges, separated by commas, in the order in which they will be requested.
    #[arg(long, value_name = "LABELS", value_delimiter = ',', required = true)]
    cartridges: Vec<String>,
    /// Table of what is on them, as CSV. Cartridges that are in the table already are left alone.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Size of an object, which is one block.
    #[arg(long, value_name = "BYTES", default_value_t = 26_000, value_parser = quantity::size_in::<u32>(1..=0xff_ffff))]
    object_bytes: u32,
    /// Objects on a cartridge, at most.
    #[arg(long, value_name = "N", value_parser = quantity::count_in::<u64>(1..=u64::MAX))]
    objects: Option<u64>,
    /// Allow writing on the cartridges.
    #[arg(long)]
    write: bool,
    /// With --write: write even if there is data on them. That data is lost.
    #[arg(long, requires = "write")]
    overwrite: bool,
    /// Allow a real robot to move.
    #[arg(long)]
    yes_move: bool,
}

/// Runs the verb.
pub fn run(args: &Prepare) -> Result<(), CliError> {
    if !args.write {
        let what = format!("would write on {}", args.cartridges.join(", "));
        return Err(CliError::with(Exit::Refused, what).hint("add --write to allow it"));
    }
    consent(&args.device, args.yes_move)?;
    let done = done(args)?;
    let stop = stop_on_interrupt()?;
    let mut devices = Devices::default();
    let mut changer = devices.changer(&args.device)?;
    changer.wait_until_ready(READY_LIMIT)?;
    let inventory = changer.inventory()?;
    let mut drive = tested(&mut devices, &args.drive, &inventory)?;
    let wanted = wanted(args, &inventory)?;
    let scale = devices.byte_scale(&args.drive)?.unwrap_or(1);
    let object_bytes = on_the_medium(args, scale)?;
    let mut table =
        log_file::append_lines(&args.output).map_err(|error| at(&args.output, &error))?;
    output::say(format_args!(
        "the robot moves: {} to be written, {} done before\n",
        units::count(wanted.len() - done.len(), "cartridge"),
        done.len()
    ));
    for (place, cartridge) in wanted.iter().enumerate().skip(done.len()) {
        let terms = Terms {
            object_bytes: object_bytes as usize,
            most: args.objects.unwrap_or(u64::MAX),
            overwrite: args.overwrite,
            seed: place as u64 + 1,
        };
        let meter = Meter::new();
        let objects = prepare(
            &mut changer,
            &mut drive,
            cartridge,
            terms,
            &mut NoLog,
            &stop,
            &mut |now| {
                meter.show(State {
                    cartridge: Some(cartridge.label.clone()),
                    bytes: Some(now.blocks * u64::from(object_bytes)),
                    ..State::counted("object", now.blocks, args.objects).doing("write")
                });
            },
        )
        .map_err(|error| refused(error, cartridge))?;
        drop(meter);
        output::say(format_args!("{}: {objects} objects\n", cartridge.label));
        let stocked = Stocked {
            number: place as u32 + 1,
            label: cartridge.label.clone(),
            objects,
            object_bytes,
        };
        note(&mut table, &stocked).map_err(|error| at(&args.output, &error))?;
    }
    Ok(())
}

/// How many bytes an object has on the medium; on an emulated one a byte may stand for many.
fn on_the_medium(args: &Prepare, scale: u64) -> Result<u32, CliError> {
    let object_bytes = u64::from(args.object_bytes);
    if object_bytes.is_multiple_of(scale) {
        Ok((object_bytes / scale) as u32)
    } else {
        let what = format!(
            "--object-bytes {object_bytes}: not a multiple of {scale}, what a byte of {} stands for",
            args.drive
        );
        let nearest = object_bytes.next_multiple_of(scale);
        Err(CliError::input(what).hint(format!("--object-bytes {nearest} is one")))
    }
}

fn refused(error: RunError, cartridge: &SlottedCartridge) -> CliError {
    match error {
        RunError::Unsuitable(what) => {
            CliError::with(Exit::Refused, what).hint("add --overwrite if the data may be lost")
        }
        error => CliError::from(error).of(&cartridge.label),
    }
}

/// Adds a row, below the header where the file is empty.
fn note(table: &mut File, stocked: &Stocked) -> std::io::Result<()> {
    if table.metadata()?.len() == 0 {
        write_stocked_header(table)?;
    }
    write_stocked(table, stocked)?;
    table.sync_data()
}

/// What was prepared before: the first of the cartridges.
fn done(args: &Prepare) -> Result<Vec<Stocked>, CliError> {
    let is_there = std::fs::metadata(&args.output).is_ok_and(|file| file.len() > 0);
    if !is_there {
        return Ok(Vec::new());
    }
    let done = read_stocked(&args.output)?;
    let labels = done.iter().map(|one| &one.label);
    if labels.eq(args.cartridges.iter().take(done.len())) {
        Ok(done)
    } else {
        let what = format!(
            "{} lists other cartridges, or the same in another order",
            args.output.display()
        );
        Err(CliError::input(what))
    }
}

/// The cartridges with their slots.
fn wanted(args: &Prepare, inventory: &Inventory) -> Result<Vec<SlottedCartridge>, CliError> {
    let all = SlottedCartridge::all(inventory);
    let find = |label: &String| {
        let found = all.iter().find(|one| one.label == *label).cloned();
        found.ok_or_else(|| {
            CliError::input(format!("no cartridge {label} is in a slot"))
                .hint("`tapewise library inventory` shows what is where")
        })
    };
    args.cartridges.iter().map(find).collect()
}
