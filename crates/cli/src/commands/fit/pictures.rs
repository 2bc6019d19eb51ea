//! The pictures of a fit: SVG files in a directory.

use crate::error::CliError;
use crate::output::{self, say};
use std::path::Path;
use tapewise_fit::{Comparison, Sample};
use tapewise_model::Geometry;
use tapewise_plot::fit_pictures;

/// Draws all pictures that the records have something for.
pub fn draw(
    directory: &Path,
    samples: &[Sample],
    geometry: &Geometry,
    comparison: &Comparison,
) -> Result<(), CliError> {
    std::fs::create_dir_all(directory)
        .map_err(|error| CliError::failed(error).of(directory.display()))?;
    for (name, picture) in fit_pictures(samples, geometry, comparison) {
        let path = directory.join(name);
        match picture {
            None => say(format_args!(
                "{}: not drawn, no record of that kind\n",
                path.display()
            )),
            Some(svg) => output::write(Some(&path), |out| {
                out.write_all(svg.as_bytes()).map_err(CliError::failed)
            })?,
        }
    }
    Ok(())
}
