//! The cartridge in the drive: where its blocks lie, and where the head is.

use crate::commands::drive::map;
use crate::error::CliError;
use crate::{profiles, units};
use tapewise_archive::ltfs::read::Cartridge;
use tapewise_emulator::DriveKind;
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_model::{BlockMap, Position, PositionSource, Profile};
use tapewise_order::{Algorithm, Tape};
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
        let density = drive
            .mode(MEDIUM_PARTITION_PAGE)?
            .block
            .map(|block| block.density);
        kinds.retain(|kind| Some(kind.density_code) == density);
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

/// What is known of the cartridge, and whence: the drive's own table of wrap ends, else the nominal
/// geometry, which is put right by what the drive tells while it reads.
pub fn cartridge(
    drive: &mut TapeDrive,
    profile: &Profile,
    layout: &LtfsLayout,
    byte_scale: u64,
) -> Result<(Cartridge, String), CliError> {
    let tape = Tape::new(profile, None)?;
    let recorded_bytes = layout.block_size.saturating_mul(byte_scale);
    let table = map::table(drive)?.filter(|table| !table.is_empty());
    let (map, provenance) = match table {
        Some(table) => {
            let wraps = units::count(table.len(), "wrap");
            let wrap_blocks = profile.wrap_blocks(recorded_bytes).ok();
            let map = BlockMap::from_end_of_wrap(&tape.geometry, &table, wrap_blocks);
            let map =
                map.map_err(|e| CliError::failed(format!("the drive's table of wrap ends: {e}")))?;
            (
                map,
                format!("the drive's table of wrap ends, {wraps} with data"),
            )
        }
        None => {
            let layout = profile.ltfs_layout().ok_or_else(|| {
                CliError::input(format!(
                    "profile {}: its partitions are not known",
                    profile.name
                ))
            })?;
            let map = profile.nominal_map(layout, recorded_bytes)?;
            let error = map.share_error() * 100.0;
            let title = &profile.title;
            (
                map,
                format!(
                    "nominal geometry of {title}, taken as +-{error} %, learned while it is read"
                ),
            )
        }
    };
    let cartridge = Cartridge {
        tape,
        map,
        block_bytes: layout.block_size,
        byte_scale,
        algorithm: Algorithm::Best,
    };
    Ok((cartridge, provenance))
}

/// Where the head is, and whether the drive will tell that after every read. A drive that does not is
/// rewound, so that it is known once.
pub fn head(drive: &mut TapeDrive, cartridge: &Cartridge) -> Result<(Position, bool), CliError> {
    let told = drive.physical_position()?;
    let partition = drive.position()?.partition;
    if let Some((wrap, lpos)) = told.and_then(|told| Some((told.wrap?, told.lpos))) {
        let head = Position {
            partition,
            wrap,
            lpos,
            source: PositionSource::Recorded,
            error_lpos: 0,
        };
        return Ok((head, true));
    }
    drive.locate(0, 0)?;
    let head = Position::beginning_of_tape(cartridge.tape.geometry.lpos_min);
    Ok((head, false))
}
