//! `tapewise library`: a robot with its slots.

mod accept;
mod bench;
mod clean;
mod inventory;
mod moves;
pub mod stress;

use crate::device::{self, Way};
use crate::error::{CliError, Exit};
use crate::units;
use std::process::ExitCode;
use tapewise_library::stress::Failure;

/// Show a library, move its cartridges, clean drives, and test how fast it is.
///
/// `accept` runs the tests of a new library. `stress` mounts and dismounts cartridges for days. `bench` measures how soon
/// random retrievals are answered.
#[derive(clap::Args, Debug)]
#[command(after_help = device::NAMES)]
pub struct Library {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Inventory(inventory::Inventory),
    Mount(moves::Mount),
    Dismount(moves::Dismount),
    Import(moves::Import),
    Export(moves::Export),
    Clean(clean::Clean),
    Accept(accept::Accept),
    Stress(stress::Stress),
    Bench(bench::Bench),
}

/// Runs the verb.
pub fn run(args: &Library) -> Result<ExitCode, CliError> {
    match &args.action {
        Action::Inventory(args) => inventory::run(args)?,
        Action::Mount(args) => moves::mount(args)?,
        Action::Dismount(args) => moves::dismount(args)?,
        Action::Import(args) => moves::import(args)?,
        Action::Export(args) => moves::export(args)?,
        Action::Clean(args) => clean::run(args)?,
        Action::Accept(args) => accept::run(args)?,
        Action::Stress(args) => stress::run(args)?,
        Action::Bench(args) => bench::run(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Nothing moves in a real library unless that was agreed to. Gives how the library is reached.
fn consent(device: &str, yes_move: bool) -> Result<Way, CliError> {
    let way = device::way(device)?;
    if way == Way::Emulated || yes_move {
        return Ok(way);
    }
    let what = format!("{device} is a real robot, which would move");
    let hint = "use --yes-move if no other program uses the library";
    Err(CliError::with(Exit::Refused, what).hint(hint))
}

/// Whether a test ended as it should: which cartridges are not in their slots, and what failed.
fn ended(left: &[String], failed: Option<String>, interrupted: bool) -> Result<(), CliError> {
    if !left.is_empty() {
        let what = format!("not in their slots: {}", left.join(", "));
        let hint = "`tapewise library inventory --scan` says where they are";
        return Err(CliError::with(Exit::Hardware, what).hint(hint));
    }
    if let Some(failed) = failed {
        return Err(CliError::with(Exit::Hardware, failed));
    }
    if interrupted {
        let what = "interrupted; all cartridges are back in their slots";
        return Err(CliError::with(Exit::Interrupted, what));
    }
    Ok(())
}

/// When a step failed, which one, and why.
fn said(failure: &Failure) -> String {
    format!(
        "after {}: {:?} of {}, drive {}: {}",
        units::time(failure.at.as_secs_f64()),
        failure.action,
        failure.label,
        failure.element,
        failure.said
    )
}
