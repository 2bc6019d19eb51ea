//! tapewise: order reads from tape so that they finish soonest.

mod batch;
mod commands;
mod error;
mod explain;
mod output;
mod placement;
mod plan_document;
mod plot;
mod profiles;
mod table;
mod units;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Order reads from tape so that they finish soonest.
#[derive(Parser, Debug)]
#[command(name = "tapewise", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Order(Box<commands::order::OrderArgs>),
    Convert(commands::convert::Convert),
    Reproduce(commands::reproduce::Reproduce),
    Demo(commands::demo::Demo),
    #[command(hide = true)]
    Manual(commands::manual::Manual),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.verb {
        Verb::Order(args) => commands::order::run(args),
        Verb::Reproduce(args) => commands::reproduce::run(args),
        Verb::Demo(args) => commands::demo::run(args),
        Verb::Convert(args) => commands::convert::run(args),
        Verb::Manual(args) => commands::manual::run(args),
    };
    result.unwrap_or_else(|error| error.report())
}
