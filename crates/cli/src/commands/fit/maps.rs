//! Writes the maps that were found from times.

use crate::error::CliError;
use crate::output;
use std::io::Write;
use std::path::Path;
use tapewise_fit::Maps;
use tapewise_formats::map_file::{MapFile, write_map};
use tapewise_model::Geometry;

/// Writes each map that was found as `VOLUME.csv`; the nominal ones are the profile's anyway.
pub fn write(maps: &Maps, directory: &Path, geometry: &Geometry) -> Result<(), CliError> {
    let found = maps.fit.volumes.iter().filter(|v| v.support.is_found());
    let found: Vec<_> = found.map(|volume| (volume.name.clone(), volume)).collect();
    write_each(directory, &found, |volume, out| {
        let map = MapFile::EndOfWrap(volume.wrap_ends(geometry));
        write_map(out, &map).map_err(CliError::failed)
    })
}

/// Writes something of each volume as `VOLUME.csv`.
pub fn write_each<T>(
    directory: &Path,
    volumes: &[(String, T)],
    write: impl Fn(&T, &mut dyn Write) -> Result<(), CliError>,
) -> Result<(), CliError> {
    if let Some((name, _)) = volumes.iter().find(|(name, _)| !is_file_name(name)) {
        return Err(CliError::input(format!(
            "--maps: volume \"{name}\" cannot name a file"
        )));
    }
    std::fs::create_dir_all(directory)
        .map_err(|error| CliError::failed(error).of(directory.display()))?;
    for (name, volume) in volumes {
        let path = directory.join(format!("{name}.csv"));
        output::write(Some(&path), |out| write(volume, out))?;
    }
    Ok(())
}

/// A name that stays in its directory and can be seen there.
fn is_file_name(name: &str) -> bool {
    !name.starts_with('.') && !name.contains(['/', '\0'])
}
