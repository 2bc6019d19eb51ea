//! `tapewise library clean`: a drive gets a cleaning cartridge.

use crate::device::Devices;
use crate::error::CliError;
use crate::{json, output};
use tapewise_formats::event::Event;
use tapewise_library::pool::{Pool, Said};

/// Clean a drive with a cleaning cartridge of its library, and bring the cartridge back.
///
/// Labels of cleaning cartridges begin with CLN. If there is a cartridge in the drive, it goes back to
/// its slot first. If the drive refuses a cleaning cartridge, tapewise reports it and takes the next one.
#[derive(clap::Args, Debug)]
pub struct Clean {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The drive.
    #[arg(long, value_name = "DEVICE")]
    drive: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn run(args: &Clean) -> Result<(), CliError> {
    let mut devices = Devices::default();
    let drive = devices.tape_for_use(&args.drive)?;
    let robot = devices.changer(&args.device)?;
    let listener = Box::new(|said: Said<'_>| output::say(format_args!("{}\n", said.words)));
    let mut pool = Pool::new(vec![drive], vec![robot], None, listener)?;
    let mut log: Vec<Event> = Vec::new();
    let cleaner = pool.clean(0, &mut log)?;
    output::say(format_args!("{} was cleaned with {cleaner}\n", args.drive));
    if args.json {
        let document =
            serde_json::json!({ "drive": args.drive, "cleaned_with": cleaner.to_string() });
        json::print("library-clean", &document)?;
    }
    Ok(())
}
