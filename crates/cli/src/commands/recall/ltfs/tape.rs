//! The cartridge in the drive: its profile, and where its blocks lie.

use crate::error::CliError;
use crate::profiles;
use tapewise::CartridgeError;
use tapewise_archive::read::{Known, MapSource, MappedTape, NoMap};
use tapewise_archive::record::VolumeFormat;
use tapewise_emulator::DriveKind;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_model::Profile;
use tapewise_scsi::TapeDrive;

/// Any mode page has the block descriptor in front; this one every LTO drive has.
const MEDIUM_PARTITION_PAGE: u8 = 0x11;

/// The profile that was asked for, or the one of the drive's name in INQUIRY, with how it was found.
/// Where drives of several generations of cartridge have one name, the cartridge's density decides.
pub fn profile(asked: Option<&str>, drive: &mut TapeDrive) -> Result<(Profile, String), CliError> {
    if let Some(asked) = asked {
        return Ok((profiles::load_drive(asked)?, "as asked for".to_owned()));
    }
    let product = drive.identity().product.clone();
    let kinds = DriveKind::names().filter_map(DriveKind::find);
    let mut kinds: Vec<DriveKind> = kinds
        .filter(|kind| kind.identity.product == product)
        .collect();
    if kinds.len() > 1 {
        let density = match drive.mode(MEDIUM_PARTITION_PAGE) {
            // The kernel's tape driver cannot ask: the profile must be named.
            Err(error) if error.is_unsupported() => None,
            mode => mode?.block.map(|block| block.density),
        };
        kinds.retain(|kind| Some(kind.identity.density_code) == density);
    }
    let [kind] = &kinds[..] else {
        return Err(CliError::input(format!(
            "no profile is known for a {product} with this cartridge"
        ))
        .hint("name one with --profile; `tapewise profile list` shows them"));
    };
    Ok((
        profiles::load_drive(&kind.name)?,
        format!("by the drive's name {product}"),
    ))
}

/// What is known of the cartridge, and where that comes from.
pub fn cartridge(
    drive: &mut TapeDrive,
    profile: &Profile,
    layout: &LtfsLayout,
    byte_scale: u64,
) -> Result<(MappedTape, MapSource), CliError> {
    let known = Known {
        profile,
        format: VolumeFormat::Ltfs,
        block_bytes: layout.block_size,
        byte_scale,
        written: &[],
    };
    MappedTape::in_drive(drive, &known).map_err(|error| match error {
        NoMap::Drive(error) => error.into(),
        NoMap::Cartridge(error @ CartridgeError::Table { .. }) => CliError::failed(error),
        NoMap::Cartridge(error) => CliError::input(error),
    })
}
