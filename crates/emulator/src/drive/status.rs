//! What a drive says of itself: TEST UNIT READY, REQUEST SENSE, INQUIRY, limits, densities.

use super::Drive;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};
use crate::inquiry::{self, padded};
use crate::kind::Family;

/// TEST UNIT READY: what the table demands of the medium is all there is to it.
pub(super) fn test_unit_ready(_: &mut Drive, _: &mut Exchange<'_>) -> Result<(), Stop> {
    Ok(())
}

/// REQUEST SENSE (SPC-5, 6.39): a pending unit attention, else no sense; in any case the position.
pub(super) fn request_sense(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    if exchange.bit(1, 0) {
        return Err(Check::invalid_cdb_bits(1, 0).into());
    }
    let check = match drive.attentions.take(exchange.nexus) {
        Some(attention) => attention,
        None if exchange.now() < drive.busy_until => Check::OPERATION_IN_PROGRESS,
        None if drive.wants_cleaning() => Check::CLEANING_REQUESTED,
        None => drive.last_check.unwrap_or(Check::NONE),
    };
    let sense = drive.sense(&check, exchange.opcode());
    let allocation = exchange.number::<1>(4);
    exchange.answer(sense.bytes(), allocation);
    Ok(())
}

/// INQUIRY; drives of this century add page B0h (WORM from LTO-3 on) and B1h (manufacturer's serial number).
pub(super) fn inquire(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let mut pages = Vec::new();
    if drive.is_modern() {
        let has_worm = !["lto1", "lto2", "ibm3580"].contains(&drive.kind.name.as_str());
        pages.push((0xb0, vec![u8::from(has_worm), 0]));
        pages.push((0xb1, padded::<12>(&drive.serial).to_vec()));
    }
    inquiry::answer(&drive.identity(), &pages, exchange)
}

pub(super) fn report_luns(_: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    inquiry::report_luns(exchange)
}

/// READ BLOCK LIMITS (SSC-4, 7.5): from one byte to the largest block, in steps of one.
pub(super) fn read_block_limits(
    drive: &mut Drive,
    exchange: &mut Exchange<'_>,
) -> Result<(), Stop> {
    let [_, high, middle, low] = drive.kind.identity.largest_block.to_be_bytes();
    exchange.answer(&[0, high, middle, low, 0, 1], 6);
    Ok(())
}

/// Densities of LTO: code, bits in a millimetre of track, tracks, name and description, as LTO drives report them.
const LTO: [(u8, u32, u16, &str, &str); 10] = [
    (0x40, 4880, 384, "U-18", "Ultrium 1/8T"),
    (0x42, 4880, 512, "U-28", "Ultrium 2/8T"),
    (0x44, 9638, 704, "U-316", "Ultrium 3/16T"),
    (0x46, 12_725, 896, "U-416", "Ultrium 4/16T"),
    (0x58, 15_142, 1280, "U-516", "Ultrium 5/16T"),
    (0x5a, 15_142, 2176, "U-616", "Ultrium 6/16T"),
    (0x5c, 19_107, 3584, "U-732", "Ultrium 7/32T"),
    (0x5e, 20_669, 6656, "U-832", "Ultrium 8/32T"),
    (0x60, 23_031, 8960, "U-932", "Ultrium 9/32T"),
    (0x62, 21_657, 15_104, "U-1032", "Ultrium 10/32T"),
];

/// Who gave the density its code.
pub(super) fn organisation(drive: &Drive) -> &'static str {
    match drive.kind.family {
        Family::Lto => "LTO-CVE",
        Family::Ibm3592 | Family::Ibm3590 | Family::Ibm3570 => "IBM",
        Family::T10000 => "STK",
        _ => "TAPEWISE",
    }
}

/// REPORT DENSITY SUPPORT (SSC-4, 7.10): the one density there is, of drive or medium.
pub(super) fn report_density(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    if exchange.bit(1, 1) {
        return Err(Check::invalid_cdb_bits(1, 1).into());
    }
    if exchange.bit(1, 0) && drive.loaded.is_none() {
        return Err(Check::NO_MEDIUM.into());
    }
    let shape = &drive.kind.shape;
    let metres = (shape.lpos_max - shape.lpos_min) * shape.metres_per_lpos;
    let capacity_mb = (drive.kind.capacity_bytes() / 1_000_000) as u32;
    // What a wrap holds over its length, all its channels together.
    let all_bits_per_mm = (shape.wrap_bytes * 8.0 / (metres.max(1e-9) * 1e3)) as u32;
    let code = drive.kind.identity.density_code;
    let of_lto = LTO
        .iter()
        .find(|one| one.0 == code && drive.kind.family == Family::Lto);
    let (_, bits_per_mm, tracks, name, title) = of_lto.copied().unwrap_or((
        code,
        all_bits_per_mm,
        shape.wraps,
        &drive.kind.name,
        &drive.kind.title,
    ));
    let mut descriptor = [0; 52];
    (descriptor[0], descriptor[1]) = (code, code);
    descriptor[2] = 0xa0;
    descriptor[5..8].copy_from_slice(&bits_per_mm.to_be_bytes()[1..]);
    descriptor[8..10].copy_from_slice(&127u16.to_be_bytes());
    descriptor[10..12].copy_from_slice(&tracks.to_be_bytes());
    descriptor[12..16].copy_from_slice(&capacity_mb.to_be_bytes());
    descriptor[16..24].copy_from_slice(&padded::<8>(organisation(drive)));
    descriptor[24..32].copy_from_slice(&padded::<8>(name));
    descriptor[32..52].copy_from_slice(&padded::<20>(title));
    let mut answer = vec![0; 4];
    answer[..2].copy_from_slice(&(descriptor.len() as u16 + 2).to_be_bytes());
    answer.extend(descriptor);
    let allocation = exchange.number::<2>(7);
    exchange.answer(&answer, allocation);
    Ok(())
}
