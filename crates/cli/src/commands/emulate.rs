//! `tapewise emulate`: an emulated drive or library in a directory, and behind an iSCSI address.

mod content;
pub mod ltfs;
mod serve;
mod status;
mod unfinished;

use crate::error::CliError;
use crate::{device, output, quantity, units};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_emulator::{Clock, Library, LibrarySpec};
use unfinished::Unfinished;

/// Make an emulated drive or library in a directory.
///
/// Every verb that takes a device can use it. Its drives have their own mechanics and their own clock.
/// Its cartridges are files in the directory, so data stays on them. Times measured on it say nothing
/// about hardware.
///
/// With --iscsi, tapewise serves the library to other programs as an iSCSI target until Ctrl-C. If the
/// directory already has a library, tapewise opens it.
#[derive(clap::Args, Debug)]
#[command(after_help = device::NAMES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Emulate {
    #[command(subcommand)]
    about: Option<About>,
    /// A directory that does not exist or is empty; with --iscsi also one with a library.
    #[arg(value_name = "DIR", required = true)]
    directory: Option<PathBuf>,
    /// The kind of drive, as in `tapewise profile list`.
    #[arg(long, value_name = "KIND", default_value = "lto8")]
    drive: String,
    /// A robot with slots and several drives, as in `tapewise profile list`; without it one drive
    /// with its cartridge loaded.
    #[arg(long, value_name = "ROBOT")]
    robot: Option<String>,
    /// Drives of the library.
    #[arg(long, value_name = "N", default_value_t = 2, requires = "robot", value_parser = quantity::count::<u16>)]
    drives: u16,
    /// Slots of the library.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "robot", value_parser = quantity::count::<u16>)]
    slots: u16,
    /// Blank cartridges in the first slots.
    #[arg(long, value_name = "N", default_value_t = 10, requires = "robot", value_parser = quantity::count::<u16>)]
    cartridges: u16,
    /// Bytes of tape that each byte on a cartridge stands for, so that a small disk holds a full
    /// tape; times are those of the full sizes.
    #[arg(long, value_name = "BYTES", default_value_t = 1, value_parser = quantity::size_in::<u64>(1..=u64::MAX))]
    scale: u64,
    /// Emulated seconds for each real second: 1 is real time. Without this option time is virtual: only commands
    /// take time, and nobody waits. With --iscsi, this run uses the value given here, whatever the library has.
    #[arg(long, value_name = "N", value_parser = quantity::positive)]
    clock_scale: Option<f64>,
    /// Another seed makes other cartridges and other noise.
    #[arg(long, default_value_t = 1, value_parser = quantity::count::<u64>)]
    seed: u64,
    #[command(flatten)]
    content: content::Content,
    #[command(flatten)]
    serve: serve::Serve,
}

/// What can be asked about an emulated library.
#[derive(clap::Subcommand, Debug)]
enum About {
    Status(status::Status),
}

/// Runs the verb.
pub fn run(args: &Emulate) -> Result<ExitCode, CliError> {
    if let Some(About::Status(status)) = &args.about {
        return status::run(status);
    }
    let Some(directory) = &args.directory else {
        return Err(CliError::input("no directory is named"));
    };
    let plan = serve::plan(&args.serve)?;
    let is_there = args.serve.iscsi.is_some() && LibrarySpec::path(directory).is_file();
    let content = content::plan(&args.content)?;
    // Dropped after the library, which has its files open.
    let unfinished = if is_there {
        None
    } else {
        Some(Unfinished::begin(directory)?)
    };
    let mut made = Vec::new();
    let library = if is_there {
        if !content.is_empty() {
            let place = directory.display();
            return Err(CliError::input(format!(
                "{place}: the library is there already, and --ltfs and --fill write on the cartridges of a new one"
            )));
        }
        let mut spec = LibrarySpec::read(directory)?;
        spec.clock_scale = args.clock_scale.or(spec.clock_scale);
        Library::open(directory, spec.clock())?
    } else {
        create(args, &content, directory, &mut made)?
    };
    let serving = match plan {
        Some(plan) => Some(serve::begin(plan, &library)?),
        None => None,
    };
    if let Some(unfinished) = unfinished {
        unfinished.keep();
    }
    for line in made {
        output::say(format_args!("{line}\n"));
    }
    match serving {
        Some(serving) => serving.go_on(&library, directory),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Makes the library that the options describe, and says in lines what was made.
fn create(
    args: &Emulate,
    content: &[content::Planned],
    directory: &Path,
    made: &mut Vec<String>,
) -> Result<Library, CliError> {
    let mut spec = match &args.robot {
        None => LibrarySpec::one_drive(&args.drive, args.seed),
        Some(robot) => LibrarySpec::with_robot(
            robot,
            &args.drive,
            args.drives,
            args.slots,
            args.cartridges,
            args.seed,
        ),
    };
    spec.clock_scale = args.clock_scale;
    content::make_room(content, &mut spec)?;
    for cartridge in &mut spec.cartridges {
        cartridge.scale = args.scale;
    }
    let clock = match args.serve.iscsi {
        Some(_) => spec.clock(),
        None => Clock::virtual_time(),
    };
    let library = Library::create(directory, &spec, clock)?;
    let written = content::write(content, &library)?;
    if args.robot.is_none() {
        library.load_cartridge(&spec.cartridges[0].barcode)?;
    }
    let place = directory.display();
    made.push(format!(
        "emulated:{place}: {} of kind {}, {}",
        units::count(spec.drives.len(), "drive"),
        args.drive,
        units::count(spec.cartridges.len(), "cartridge")
    ));
    made.extend(written);
    Ok(library)
}
