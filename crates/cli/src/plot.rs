//! Pictures on their way to files: an order beside sorting, and figures in a directory.

use crate::error::CliError;
use crate::output;
use crate::search::SearchArgs;
use crate::units;
use std::path::Path;
use tapewise::{Found, Origin, Placed};
use tapewise_order::Algorithm;
use tapewise_plot::{Drawn, NothingToDraw, Panel, head_paths};

/// The order that another one is shown beside: sorting, or the list's if the other one is itself sorted.
///
/// # Errors
/// When there is nothing to compare with.
pub fn other(placed: &Placed, found: &Found, search: &SearchArgs) -> Result<Found, CliError> {
    let other = if found.origin == Origin::Algorithm(Algorithm::Sort) {
        Algorithm::Fifo
    } else {
        Algorithm::Sort
    };
    Ok(placed.order(other, &search.effort())?)
}

/// The paths of two orders of one batch beside each other.
pub fn side_by_side(placed: &Placed, orders: [&Found; 2]) -> String {
    let panels = orders.map(|found| Panel {
        title: format!("{}, as predicted", found.origin.title()),
        plan: &found.plan,
    });
    let title = format!(
        "{}, {}",
        placed.profile.title,
        units::count(placed.problem.len(), "read")
    );
    head_paths(&panels, &placed.problem.tape().geometry, &title)
}

/// Writes each figure into the directory, and makes the directory if need be.
///
/// # Errors
/// What the file system says, with the name of the file.
pub fn write(directory: &Path, figures: &[Drawn]) -> Result<(), CliError> {
    let bad = |error| CliError::failed(format!("{}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(bad)?;
    for figure in figures {
        let path = directory.join(format!("{}.svg", figure.name));
        output::write(Some(&path), |out| {
            out.write_all(figure.svg.as_bytes())
                .map_err(CliError::failed)
        })?;
    }
    Ok(())
}

impl From<NothingToDraw> for CliError {
    fn from(error: NothingToDraw) -> CliError {
        CliError::failed(error)
    }
}
