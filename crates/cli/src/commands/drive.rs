//! `tapewise drive`: one tape drive.

mod cartridge;
mod check;
mod map;
mod position;
mod release;
mod show;
mod status;

use crate::error::CliError;
use crate::{device, json, output};
use std::process::ExitCode;
use std::time::Duration;
use tapewise_run::Notice;

/// Show, load, unload, map and check a tape drive, and decode its answers.
#[derive(clap::Args, Debug)]
#[command(after_help = device::NAMES)]
pub struct Drive {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Status(status::Status),
    Position(position::Position),
    Load(Load),
    Unload(Unload),
    Map(map::Map),
    Check(check::Check),
    Show(show::Show),
    Release(release::Release),
}

/// Load the cartridge in the drive, and wait until it can be read.
#[derive(clap::Args, Debug)]
struct Load {
    /// The drive.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Rewind the tape and eject the cartridge.
#[derive(clap::Args, Debug)]
struct Unload {
    /// The drive.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How long a cartridge may take to be ready: an LTO-9 one that is new is measured for up to two
/// hours, and the drive says only that it is not ready yet.
pub const READY_LIMIT: Duration = Duration::from_secs(3 * 3600);

/// Says what is worth a word while a drive is asked.
fn heed(notice: Notice) {
    output::say(format_args!("tapewise: {notice}\n"));
}

/// Which drive it was, for a program.
fn done(verb: &str, device: &str, as_json: bool) -> Result<(), CliError> {
    if as_json {
        json::print(verb, &serde_json::json!({ "device": device }))?;
    }
    Ok(())
}

/// Runs the verb.
pub fn run(args: &Drive) -> Result<ExitCode, CliError> {
    match &args.action {
        Action::Status(args) => status::run(args)?,
        Action::Position(args) => position::run(args)?,
        Action::Map(args) => map::run(args)?,
        Action::Check(args) => check::run(args)?,
        Action::Show(args) => show::run(args)?,
        Action::Release(args) => release::run(args)?,
        Action::Load(args) => {
            let mut drive = device::tape_for_use(&args.device)?;
            drive.load()?;
            drive.wait_until_ready(READY_LIMIT)?;
            output::say(format_args!("{}: loaded\n", args.device));
            done("drive-load", &args.device, args.json)?;
        }
        Action::Unload(args) => {
            let mut drive = device::tape_for_use(&args.device)?;
            drive.wait_until_ready(READY_LIMIT)?;
            drive.unload()?;
            output::say(format_args!(
                "{}: the cartridge can be taken\n",
                args.device
            ));
            done("drive-unload", &args.device, args.json)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
