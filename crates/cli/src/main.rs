//! tapewise: order reads from tape so that they finish soonest.

mod commands;
mod error;
mod table;

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
    Reproduce(commands::reproduce::Reproduce),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.verb {
        Verb::Reproduce(args) => commands::reproduce::run(args),
    };
    result.unwrap_or_else(|error| error.report())
}
