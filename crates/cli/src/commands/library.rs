//! `tapewise library`: a robot with its slots.

mod accept;
mod bench;
mod clean;
mod inventory;
mod moves;
pub mod stress;

use crate::device;
use crate::error::CliError;
use std::process::ExitCode;

/// Show a library, move its cartridges, clean drives, and test how fast it is.
///
/// `accept` runs the tests of a new library. `stress` mounts and dismounts cartridges for days. `bench` measures how soon random retrievals are
/// answered.
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
