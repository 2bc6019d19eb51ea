//! The key points of a DLT's cartridge, where the log that is fitted has the probes that find them.

use crate::error::CliError;
use crate::output::say;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tapewise_formats::event_log::read_events;
use tapewise_formats::map_file::MapFile;
use tapewise_model::Profile;
use tapewise_run::measure::key_points;

/// The map that an event log with block numbers has of its cartridge. `None` where the log has not all probes, and for
/// several logs: they may be of several cartridges, and a fit takes one map.
pub fn in_log(logs: &[PathBuf], drive: &Profile) -> Result<Option<MapFile>, CliError> {
    let (Some(nominal), [path]) = (drive.nominal_sections(), logs) else {
        return Ok(None);
    };
    if path == Path::new("-") {
        return Ok(None);
    }
    let name = path.display();
    let file = File::open(path).map_err(|error| CliError::input(error).of(&name))?;
    let log =
        read_events(BufReader::new(file)).map_err(|error| CliError::input(error).of(&name))?;
    let Some(found) = key_points::of_whole_log(|| log.events(), nominal) else {
        return Ok(None);
    };
    say(format_args!(
        "{name}: the probes in it find the key points of its cartridge; they place the blocks\n"
    ));
    Ok(Some(MapFile::KeyPoints(found.key_points)))
}
