//! The drive's own order, from the files that its answers are in.

use crate::batch::read_bytes;
use crate::error::CliError;
use std::path::PathBuf;
use tapewise::{Found, Placed};
use tapewise_formats::rao::read_answers;
use tapewise_formats::rao_dump::read_dump;

/// The order of the drive's answers, each file with one or several.
///
/// # Errors
/// Bad input: a file that is no answer, or none to these requests.
pub fn order(placed: &Placed, files: &[PathBuf]) -> Result<Found, CliError> {
    let mut answers = Vec::new();
    for file in files {
        let name = file.display();
        let bytes = read_bytes(file)?;
        let data = read_dump(&bytes).map_err(|error| CliError::input(error).of(name))?;
        let read = read_answers(&data);
        answers.extend(read.map_err(|error| CliError::input(error).of(file.display()))?);
    }
    placed
        .drive_order(&answers)
        .map_err(|error| CliError::of_drive_order("--rao-order", error))
}
