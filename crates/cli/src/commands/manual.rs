//! `tapewise manual`: man pages and shell completions, from the same definition as the help.

use crate::error::CliError;
use clap::CommandFactory;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write man pages and shell completions into a directory.
#[derive(clap::Args, Debug)]
pub struct Manual {
    /// Where to write them; made when it is not there.
    into: PathBuf,
}

/// Runs the verb.
pub fn run(args: &Manual) -> Result<ExitCode, CliError> {
    std::fs::create_dir_all(&args.into)
        .map_err(|e| CliError::failed(format!("{}: {e}", args.into.display())))?;
    clap_mangen::generate_to(crate::Cli::command(), &args.into).map_err(CliError::failed)?;
    for shell in [
        clap_complete::Shell::Bash,
        clap_complete::Shell::Zsh,
        clap_complete::Shell::Fish,
    ] {
        clap_complete::generate_to(shell, &mut crate::Cli::command(), "tapewise", &args.into)
            .map_err(CliError::failed)?;
    }
    Ok(ExitCode::SUCCESS)
}
