//! `tapewise profile`: what we know of drives and libraries, and how well.

mod compare;
mod list;
mod show;
mod validate;

use crate::error::CliError;
use crate::output;
use std::process::ExitCode;

/// List, show, compare and validate profiles of drives and libraries.
///
/// A profile is one TOML file. Those in profiles/ come with tapewise. Instead of a NAME you can give a
/// FILE: anything with a `/` in it, or ending in `.toml`.
#[derive(clap::Args, Debug)]
pub struct Profile {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    List(list::List),
    Show(show::Show),
    Compare(compare::Compare),
    Validate(validate::Validate),
}

/// Runs the verb.
pub fn run(args: &Profile) -> Result<ExitCode, CliError> {
    let text = match &args.action {
        Action::List(args) => list::text(args)?,
        Action::Show(args) => show::text(args)?,
        Action::Compare(args) => compare::text(args)?,
        Action::Validate(args) => return validate::run(args),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> Result<(), CliError> {
    output::write(None, |out| {
        out.write_all(text.as_bytes()).map_err(CliError::failed)
    })
}
