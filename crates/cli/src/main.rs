//! tapewise: order reads from tape so that they finish soonest.

mod archive;
mod batch;
mod commands;
mod device;
mod error;
mod explain;
mod goal;
mod interrupt;
mod judge;
mod log_file;
mod now;
mod output;
mod person;
mod placement;
mod plot;
mod profiles;
mod rao;
mod scenario;
mod search;
mod units;
mod wear;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Order reads from tape so that they finish soonest.
#[derive(Parser, Debug)]
#[command(name = "tapewise", version = VERSION, max_term_width = 100, help_template = HELP)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// The version, with the commit where `make dist` has set `TAPEWISE_VERSION`.
const VERSION: &str = match option_env!("TAPEWISE_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// The verbs in groups, which clap cannot do by itself; a test keeps it true.
const HELP: &str = "\
{about}

{usage-heading} tapewise <VERB> [OPTIONS]

Read
  order      Order reads so that they finish soonest
  convert    Turn requests of any format into CSV or a list
  recall     Bring files back from tape, in the order in which they are there soonest

Drive
  drive      Look at a tape drive, load and unload it, map its cartridge, check it, show its answers
  library    See what stands where in a library; move cartridges, clean drives, stress it, bench its answers
  fit        Fit a drive's locate times from its log, and write a profile
  measure    Measure how long a drive takes for everything it does, and write the event log
  profile    List, show, compare and validate profiles of drives and libraries

Plan
  simulate   Simulate a library under load: response times and what they are made of, with intervals
  capacity   Find how many drives and robots, and which batch window, meet a target of response times

Archive
  store      Put files into an archive and onto tape. Experimental until real drives have proven it
  catalog    Make an archive; find what lies where; verify, repack and back up

Evidence
  audit      Say where the drive-hours of a log went, and what other orders would have cost
  demo       Show the main job without hardware: write, recall three ways, compare, carry on after a crash
  reproduce  Compute the tables and figures of a paper again, ours beside theirs
  emulate    Make an emulated drive or library in a directory, for every verb that takes a device
  doctor     Say what this machine lacks to use its drives, and who holds them
  sense      Say in words what a drive or a library meant

Options
{options}

tapewise <VERB> --help says more of a verb. List in on standard input, result on standard output,
everything else on standard error.
";

#[derive(Subcommand, Debug)]
enum Verb {
    Order(Box<commands::order::OrderArgs>),
    Convert(commands::convert::Convert),
    Recall(Box<commands::recall::Recall>),
    Store(commands::store::Store),
    Catalog(commands::catalog::Catalog),
    Drive(commands::drive::Drive),
    Library(commands::library::Library),
    Fit(commands::fit::Fit),
    Measure(Box<commands::measure::Measure>),
    Profile(commands::profile::Profile),
    Simulate(Box<commands::simulate::Simulate>),
    Capacity(Box<commands::capacity::Capacity>),
    Reproduce(commands::reproduce::Reproduce),
    Audit(commands::audit::Audit),
    Demo(commands::demo::Demo),
    Emulate(commands::emulate::Emulate),
    Doctor(commands::doctor::Doctor),
    Sense(commands::sense::SenseArgs),
    #[command(hide = true)]
    Manual(commands::manual::Manual),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.verb {
        Verb::Order(args) => commands::order::run(args),
        Verb::Convert(args) => commands::convert::run(args),
        Verb::Recall(args) => commands::recall::run(args),
        Verb::Store(args) => commands::store::run(args),
        Verb::Catalog(args) => commands::catalog::run(args),
        Verb::Drive(args) => commands::drive::run(args),
        Verb::Library(args) => commands::library::run(args),
        Verb::Fit(args) => commands::fit::run(args),
        Verb::Measure(args) => commands::measure::run(args),
        Verb::Profile(args) => commands::profile::run(args),
        Verb::Simulate(args) => commands::simulate::run(args),
        Verb::Capacity(args) => commands::capacity::run(args),
        Verb::Reproduce(args) => commands::reproduce::run(args),
        Verb::Audit(args) => commands::audit::run(args),
        Verb::Demo(args) => commands::demo::run(args),
        Verb::Emulate(args) => commands::emulate::run(args),
        Verb::Doctor(args) => commands::doctor::run(args),
        Verb::Sense(args) => commands::sense::run(args),
        Verb::Manual(args) => commands::manual::run(args),
    };
    result.unwrap_or_else(|error| error.report())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_help_names_every_verb_with_its_own_words() {
        for verb in Cli::command()
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set())
        {
            let about = verb
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            let line = format!("  {:<10} {about}\n", verb.get_name());
            assert!(HELP.contains(&line), "{line:?}");
        }
        Cli::command().debug_assert();
    }
}
