//! `tapewise catalog`: what lies where, and whether it is still right.

mod add;
mod find;
mod index;
mod init;
mod move_off;
mod move_to;
mod rebuild;
mod reconcile;
mod retire;
mod tend;
mod upgrade;

use crate::error::CliError;
use std::process::ExitCode;
pub(super) use tend::volume;

/// Make an archive, find files in it, verify, repack and back up.
#[derive(clap::Args, Debug)]
pub struct Catalog {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    Init(init::Init),
    Add(add::Add),
    Find(find::Find),
    Index(index::Index),
    Volumes(find::VolumesArgs),
    Verify(tend::Verify),
    Migrate(move_off::Migrate),
    Repack(move_off::Repack),
    Scrub(tend::Scrub),
    Rebuild(rebuild::Rebuild),
    Forget(retire::Forget),
    Retire(retire::Retire),
    Check(tend::Check),
    Backup(tend::Backup),
    Reconcile(reconcile::Reconcile),
    Upgrade(upgrade::Upgrade),
    Move(move_to::Move),
}

/// Runs the verb.
pub fn run(args: &Catalog) -> Result<ExitCode, CliError> {
    match &args.what {
        What::Init(args) => init::run(args),
        What::Add(args) => add::run(args),
        What::Find(args) => find::run(args),
        What::Index(args) => index::run(args),
        What::Volumes(args) => find::volumes(args),
        What::Verify(args) => tend::verify(args),
        What::Migrate(args) => move_off::migrate(args),
        What::Repack(args) => move_off::repack(args),
        What::Scrub(args) => tend::scrub(args),
        What::Rebuild(args) => rebuild::run(args),
        What::Forget(args) => retire::forget(args),
        What::Retire(args) => retire::retire(args),
        What::Check(args) => tend::check(args),
        What::Backup(args) => tend::backup(args),
        What::Reconcile(args) => reconcile::run(args),
        What::Upgrade(args) => upgrade::run(args),
        What::Move(args) => move_to::run(args),
    }
}
