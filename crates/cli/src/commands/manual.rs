//! `tapewise manual`: man pages and shell completions, from the same definition as the help.

mod reference;
mod sections;

use super::help::PAGES;
use crate::error::CliError;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write man pages and shell completions into a directory.
#[derive(clap::Args, Debug)]
pub struct Manual {
    /// Where to write them. tapewise makes the directory if it is missing.
    into: PathBuf,
}

/// Runs the verb.
pub fn run(args: &Manual) -> Result<ExitCode, CliError> {
    std::fs::create_dir_all(&args.into)
        .map_err(|e| CliError::failed(format!("{}: {e}", args.into.display())))?;
    let mut command = crate::Cli::command().disable_help_subcommand(true);
    command.build();
    write_pages(&command, &args.into)?;
    for (topic, text) in PAGES {
        let name = format!("tapewise-{topic}");
        let section = if OF_A_SITE.contains(&topic) { 8 } else { 5 };
        let text = reference::page(&name, section, text);
        write(&args.into, &name, section, text.as_bytes())?;
    }
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

/// The pages for those who run a machine.
const OF_A_SITE: [&str; 3] = ["install", "site", "upgrade"];

/// A page for a command, and one for each verb below it.
fn write_pages(command: &Command, into: &Path) -> Result<(), CliError> {
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        write_pages(verb, into)?;
    }
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let name = name.replace(' ', "-");
    let text = page(command, &name).map_err(CliError::failed)?;
    write(into, &name, 1, &text)
}

fn write(into: &Path, name: &str, section: u8, text: &[u8]) -> Result<(), CliError> {
    let path = into.join(format!("{name}.{section}"));
    std::fs::write(&path, text).map_err(|error| CliError::failed(error).of(path.display()))
}

fn page(command: &Command, name: &str) -> std::io::Result<Vec<u8>> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    // Title, section, no date (the same sources give the same page), program, manual.
    writeln!(
        text,
        ".TH {} 1 \"\" \"tapewise {}\" \"tapewise manual\"",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION")
    )?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut text)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    sections::roff(name).to_writer(&mut text)?;
    Ok(text)
}
