//! The drive's own table of where the wraps of its cartridge end.

use crate::error::RunError;
use tapewise_model::EndOfWrap;
use tapewise_scsi::TapeDrive;

/// The highest partition that a cartridge can have (SSC-5, 8.5.3).
const LAST_PARTITION: u16 = 3;

/// The table as it was when the cartridge was loaded, empty for a cartridge without data; none where
/// the drive has no such table (before LTO-7).
///
/// # Errors
/// [`RunError::Scsi`], and [`RunError::Unsuitable`] for a partition that no cartridge can have.
pub fn wrap_ends(drive: &mut TapeDrive) -> Result<Option<Vec<EndOfWrap>>, RunError> {
    let Some(told) = drive.end_of_wrap_table()? else {
        return Ok(None);
    };
    let entries = told.iter().map(|end| match end.partition {
        partition @ 0..=LAST_PARTITION => Ok(EndOfWrap {
            wrap: end.wrap,
            partition: partition as u8,
            block: end.block,
        }),
        partition => Err(RunError::Unsuitable(format!(
            "the drive's table of wrap ends has wrap {} in partition {partition}; \
             a cartridge has partitions 0 to {LAST_PARTITION}",
            end.wrap
        ))),
    });
    entries.collect::<Result<_, RunError>>().map(Some)
}
