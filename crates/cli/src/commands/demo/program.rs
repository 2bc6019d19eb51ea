//! This program, run as a user runs it.

use crate::error::CliError;
use std::ffi::OsStr;
use std::process::{Command, Output, Stdio};

/// A word of a command line.
pub type Word<'a> = &'a dyn AsRef<OsStr>;

/// Runs this program with these words; what it prints on standard output.
pub fn tapewise(words: &[Word<'_>]) -> Result<String, CliError> {
    let output = run(words)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(CliError::failed(format!(
            "`{}` failed: {}",
            line_of(words),
            said.trim_end()
        )));
    }
    String::from_utf8(output.stdout).map_err(CliError::failed)
}

/// The same, which is to be killed on its way.
pub fn tapewise_killed(words: &[Word<'_>]) -> Result<(), CliError> {
    if run(words)?.status.code().is_some() {
        return Err(CliError::failed(format!(
            "`{}` ended, and was to be killed before",
            line_of(words)
        )));
    }
    Ok(())
}

fn run(words: &[Word<'_>]) -> Result<Output, CliError> {
    let program = std::env::current_exe().map_err(CliError::failed)?;
    let mut command = Command::new(program);
    command
        .args(words.iter().map(|word| word.as_ref()))
        .stdin(Stdio::null());
    command.output().map_err(CliError::failed)
}

/// A command line as a user would type it.
pub fn line_of(words: &[Word<'_>]) -> String {
    let words = words
        .iter()
        .map(|word| word.as_ref().to_string_lossy().into_owned());
    let line: Vec<String> = ["tapewise".to_owned()].into_iter().chain(words).collect();
    line.join(" ")
}
