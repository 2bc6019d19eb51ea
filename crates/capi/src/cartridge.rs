//! What a cartridge handle holds: a profile with what is known of this very tape.

use crate::fault::{Fault, Status};
use crate::values::{LAYOUT_LTFS, LAYOUT_SINGLE, MAX_PARTITION, Place, WrapEnd};
use std::path::Path;
use tapewise::formats::map_file::{MapFile, ProbedPlace};
use tapewise::model::{EndOfWrap, Profile, profile};
use tapewise::{Cartridge, PartitionLayout};

/// The profile of that name, or of the TOML file if the name has a slash or ends in `.toml`.
fn profile_of(name: &str) -> Result<Profile, Fault> {
    let fault = |error: String| Fault::new(Status::Profile, error);
    if !name.contains('/') && !name.ends_with(".toml") {
        return profile::find(name).map_err(|error| fault(error.to_string()));
    }
    let text = std::fs::read_to_string(Path::new(name));
    let text = text.map_err(|error| fault(format!("{name}: {error}")))?;
    Profile::from_toml(name, &text).map_err(|error| fault(error.to_string()))
}

/// A cartridge of which only the profile is known.
///
/// # Errors
/// [`Status::Profile`].
pub fn open(name: &str) -> Result<Cartridge, Fault> {
    Ok(Cartridge::new(profile_of(name)?)?)
}

/// The same cartridge with the drive's table of wrap ends.
///
/// # Errors
/// [`Status::Usage`] if a wrap or partition is out of range.
pub fn with_wrap_ends(cartridge: &Cartridge, table: &[WrapEnd]) -> Result<Cartridge, Fault> {
    let entries = table.iter().enumerate().map(|(at, entry)| {
        Ok(EndOfWrap {
            wrap: wrap(entry.wrap).map_err(|why| of("wrap end", at, &why))?,
            partition: partition(entry.partition).map_err(|why| of("wrap end", at, &why))?,
            block: entry.block,
        })
    });
    let table = entries.collect::<Result<Vec<_>, Fault>>()?;
    let map = MapFile::EndOfWrap(table);
    Ok(cartridge.clone().with_map("table of wrap ends", map)?)
}

/// The same cartridge with places that the drive reported.
///
/// `beside_bytes` is 0 for places that belong to their blocks exactly, and else how many bytes of tape a place may lie
/// before its block.
///
/// # Errors
/// [`Status::Usage`] if a number is out of range, [`Status::Map`] if the cartridge has no such wrap.
pub fn with_places(
    cartridge: &Cartridge,
    places: &[Place],
    beside_bytes: u64,
) -> Result<Cartridge, Fault> {
    let found = places.iter().enumerate().map(|(at, place)| {
        if place.reserved != 0 {
            return Err(of("place", at, "the reserved field is not 0"));
        }
        Ok(ProbedPlace {
            partition: partition(place.partition).map_err(|why| of("place", at, &why))?,
            block: place.block,
            wrap: wrap(place.wrap).map_err(|why| of("place", at, &why))?,
            lpos: place.lpos,
        })
    });
    let places = found.collect::<Result<Vec<_>, Fault>>()?;
    let cartridge = cartridge.clone();
    Ok(match beside_bytes {
        0 => cartridge.with_map("reported places", MapFile::Probed(places))?,
        _ => cartridge.with_written_places("places from writing", places, beside_bytes)?,
    })
}

/// The same cartridge with a layout for its nominal geometry.
///
/// # Errors
/// [`Status::Usage`] for a number that is no layout.
pub fn with_layout(cartridge: &Cartridge, layout: u32) -> Result<Cartridge, Fault> {
    let layout = match layout {
        LAYOUT_SINGLE => PartitionLayout::Single,
        LAYOUT_LTFS => PartitionLayout::Ltfs,
        other => return Err(Fault::usage(format!("there is no layout {other}"))),
    };
    Ok(cartridge.clone().with_layout(layout))
}

fn of(what: &str, at: usize, why: &str) -> Fault {
    Fault::usage(format!("{what} {at}: {why}"))
}

/// A wrap that fits.
pub(crate) fn wrap(number: u32) -> Result<u16, String> {
    let most = u16::MAX;
    u16::try_from(number).map_err(|_| format!("wrap {number} is more than {most}"))
}

/// A partition that fits.
pub(crate) fn partition(number: u32) -> Result<u8, String> {
    match u8::try_from(number) {
        Ok(partition) if number <= MAX_PARTITION => Ok(partition),
        _ => Err(format!("partition {number} is more than {MAX_PARTITION}")),
    }
}
