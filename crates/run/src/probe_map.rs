//! A map of a cartridge whose drive has no table of wrap ends: a few places, asked for.

use crate::error::RunError;
use crate::facts::partitions;
use tapewise_formats::map_file::ProbedPlace;
use tapewise_scsi::TapeDrive;

/// Goes to evenly spread blocks and to the end of data of each partition, and asks where that is.
///
/// # Errors
/// [`RunError::Scsi`]; [`RunError::HeadUntold`] and [`RunError::NoData`].
pub fn probe_map(drive: &mut TapeDrive, probes: u64) -> Result<Vec<ProbedPlace>, RunError> {
    let mut places = Vec::new();
    for partition in 0..partitions(drive)? {
        drive.locate(partition, 0)?;
        drive.space_to_end_of_data()?;
        let end = drive.position()?.block;
        for nth in (1..=probes).rev() {
            let block = (u128::from(end) * u128::from(nth) / u128::from(probes)) as u64;
            if block < end {
                drive.locate(partition, block)?;
            }
            let at = drive.physical_position()?.ok_or(RunError::HeadUntold)?;
            // One byte cannot say a wrap above 254: such a place teaches nothing.
            if let Some(wrap) = at.wrap
                && block > 0
            {
                places.push(ProbedPlace {
                    partition,
                    block,
                    wrap,
                    lpos: at.lpos,
                });
            }
        }
    }
    if places.is_empty() {
        return Err(RunError::NoData);
    }
    places.sort_by_key(|place| (place.partition, place.block));
    Ok(places)
}
