//! Writes the maps that were found from times.

use crate::error::CliError;
use crate::output;
use std::path::Path;
use tapewise_fit::Maps;
use tapewise_formats::map_file::{MapFile, write_map};
use tapewise_model::Geometry;

/// Writes each map that was found as `VOLUME.csv`; the nominal ones are the profile's anyway.
pub fn write(maps: &Maps, directory: &Path, geometry: &Geometry) -> Result<(), CliError> {
    let found = maps.fit.volumes.iter().filter(|v| v.support.is_found());
    let found: Vec<_> = found.collect();
    if let Some(volume) = found.iter().find(|v| !is_file_name(&v.name)) {
        return Err(CliError::input(format!(
            "--maps: volume \"{}\" cannot name a file",
            volume.name
        )));
    }
    std::fs::create_dir_all(directory)
        .map_err(|error| CliError::failed(error).of(directory.display()))?;
    for volume in found {
        let map = MapFile::EndOfWrap(volume.wrap_ends(geometry));
        let path = directory.join(format!("{}.csv", volume.name));
        output::write(Some(&path), |out| {
            write_map(out, &map).map_err(CliError::failed)
        })?;
    }
    Ok(())
}

/// A name that stays in its directory and can be seen there.
fn is_file_name(name: &str) -> bool {
    !name.starts_with('.') && !name.contains(['/', '\0'])
}
