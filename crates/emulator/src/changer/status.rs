//! What the robot says of each element (READ ELEMENT STATUS, mode page 1Dh).

use crate::check::Check;
use crate::elements::{Element, TYPES};
use crate::exchange::{Exchange, Stop};
use crate::inquiry::{designation, padded};
use crate::world::World;

/// READ ELEMENT STATUS (SMC-3, 6.12).
pub(super) fn read_status(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let kind = exchange.byte(1) & 0x0f;
    if kind > 4 {
        return Err(Check::invalid_cdb_bits(1, 3).into());
    }
    let start = exchange.number::<2>(2) as u16;
    let most = exchange.number::<2>(4) as usize;
    let with_tags = exchange.bit(1, 4);
    let with_serials = exchange.bit(6, 0) && !world.spec.faults.no_drive_serials;
    let allocation = exchange.number::<3>(7);
    let mut wanted: Vec<(u8, u16)> = TYPES
        .into_iter()
        .filter(|&code| kind == 0 || kind == code)
        .flat_map(|code| {
            world
                .elements()
                .range(code)
                .map(move |address| (code, address))
        })
        .filter(|&(_, address)| address >= start)
        .collect();
    wanted.sort_by_key(|&(_, address)| address);
    wanted.truncate(most);

    let mut pages = Vec::new();
    for page in wanted.chunk_by(|one, next| one.0 == next.0) {
        let code = page[0].0;
        let descriptors: Vec<Vec<u8>> = page
            .iter()
            .map(|&(_, address)| descriptor(world, code, address, with_tags, with_serials))
            .collect();
        let length = descriptors.iter().map(Vec::len).max().unwrap_or(0);
        pages.extend([code, u8::from(with_tags) << 7]);
        pages.extend((length as u16).to_be_bytes());
        pages.extend(((length * descriptors.len()) as u32).to_be_bytes());
        for mut descriptor in descriptors {
            descriptor.resize(length, 0);
            pages.extend(descriptor);
        }
    }
    let mut answer = Vec::with_capacity(8 + pages.len());
    answer.extend(
        wanted
            .first()
            .map_or(0, |&(_, address)| address)
            .to_be_bytes(),
    );
    answer.extend((wanted.len() as u16).to_be_bytes());
    answer.extend((pages.len() as u32).to_be_bytes());
    answer.extend(pages);
    let cut = world.spec.faults.element_status_cut_bytes;
    answer.truncate(answer.len().saturating_sub(cut).max(8));
    exchange.answer(&answer, allocation);
    Ok(())
}

fn descriptor(
    world: &World,
    code: u8,
    address: u16,
    with_tags: bool,
    with_serials: bool,
) -> Vec<u8> {
    const FULL: u8 = 0x01;
    const ACCESS: u8 = 0x08;
    const EXPORT_AND_IMPORT: u8 = 0x30;
    let held = world.shelf.at(address);
    let drive = match world.elements().element(address) {
        Some(Element::Drive(number)) => world.drives.get(usize::from(number)),
        _ => None,
    };
    let mut flags = u8::from(held.is_some()) * FULL;
    flags |= match code {
        1 => 0,
        3 => ACCESS | EXPORT_AND_IMPORT,
        _ if drive.is_some_and(|drive| drive.is_threaded()) => 0,
        _ => ACCESS,
    };
    let mut bytes = vec![0; 12];
    bytes[..2].copy_from_slice(&address.to_be_bytes());
    bytes[2] = flags;
    if let Some(source) = held.and_then(|held| held.source) {
        bytes[9] = 0x80;
        bytes[10..12].copy_from_slice(&source.to_be_bytes());
    }
    if with_tags {
        let mut tag = [0; 36];
        if let Some(held) = held {
            tag[..32].copy_from_slice(&padded::<32>(&held.barcode));
        }
        bytes.extend(tag);
    }
    if with_serials {
        match drive {
            Some(drive) => bytes.extend(designation(&drive.identity())),
            None => bytes.extend([0; 4]),
        }
    }
    bytes
}

/// MODE SENSE(6) and (10): the element address assignment page 1Dh (SMC-3, 7.3.4).
pub(super) fn mode_sense(world: &mut World, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let is_long = exchange.opcode() == 0x5a;
    let page = exchange.byte(2) & 0x3f;
    if page != 0x1d && page != 0x3f {
        return Err(Check::invalid_cdb_bits(2, 5).into());
    }
    let elements = world.elements();
    let mut answer = vec![0; if is_long { 8 } else { 4 }];
    answer.extend([0x1d, 0x12]);
    for code in 1..=4 {
        let range = elements.range(code);
        answer.extend(range.start.to_be_bytes());
        answer.extend((range.end - range.start).to_be_bytes());
    }
    answer.extend([0, 0]);
    exchange.answer_mode(answer);
    Ok(())
}
