//! The cartridge's chip: READ ATTRIBUTE and WRITE ATTRIBUTE (SPC-5, 6.17, 6.54 and 7.4).

use super::{Drive, Loaded, status};
use crate::check::Check;
use crate::exchange::{Exchange, Stop};
use crate::inquiry::padded;
use crate::medium::HostAttribute;

const MIB: u64 = 1 << 20;

/// What hosts may write: 0800h to 0BFFh.
const HOST: std::ops::RangeInclusive<u16> = 0x0800..=0x0bff;

const BINARY: u8 = 0;
const ASCII: u8 = 1;

/// One attribute as it goes over the wire.
struct Attribute {
    id: u16,
    read_only: bool,
    format: u8,
    value: Vec<u8>,
}

impl Attribute {
    fn number<const N: usize>(id: u16, value: u64) -> Attribute {
        Attribute {
            id,
            read_only: true,
            format: BINARY,
            value: value.to_be_bytes()[8 - N..].to_vec(),
        }
    }

    fn text<const N: usize>(id: u16, text: &str) -> Attribute {
        Attribute {
            id,
            read_only: true,
            format: ASCII,
            value: padded::<N>(text).to_vec(),
        }
    }
}

/// READ ATTRIBUTE: values (service action 00h) or the list of identifiers (01h).
pub(super) fn read(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let partition = exchange.byte(7);
    let first = exchange.number::<2>(8);
    let allocation = exchange.number::<4>(10);
    let Some(loaded) = &drive.loaded else {
        return Err(Check::NO_MEDIUM.into());
    };
    if partition >= loaded.medium.partition_count() {
        return Err(Check::invalid_cdb(7).into());
    }
    let mut attributes = attributes(drive, loaded, partition);
    attributes.sort_by_key(|attribute| attribute.id);
    attributes.retain(|attribute| u64::from(attribute.id) >= first);
    let mut answer = vec![0; 4];
    for attribute in attributes {
        answer.extend(attribute.id.to_be_bytes());
        if exchange.service_action() == 0 {
            answer.push(u8::from(attribute.read_only) << 7 | attribute.format);
            answer.extend((attribute.value.len() as u16).to_be_bytes());
            answer.extend(attribute.value);
        }
    }
    let length = answer.len() as u32 - 4;
    answer[..4].copy_from_slice(&length.to_be_bytes());
    exchange.answer(&answer, allocation);
    Ok(())
}

/// Bytes of the memory in a cartridge, by its density; the last one's for those that are not published.
fn memory_bytes(drive: &Drive) -> u64 {
    match drive.kind.identity.density_code {
        0x40..=0x44 => 4096,
        0x46 | 0x58 => 8160,
        0x5a..=0x5e => 16_352,
        _ => 32_736,
    }
}

fn attributes(drive: &Drive, loaded: &Loaded, partition: u8) -> Vec<Attribute> {
    let memory = &loaded.medium.memory;
    let scale = loaded.tape.scale();
    let capacity = loaded.tape.capacity(partition).saturating_mul(scale);
    let used = loaded.medium.partition(partition);
    let used = used
        .map_or(0, |one| one.offset(one.end_of_data()))
        .saturating_mul(scale);
    let shape = &drive.kind.shape;
    let length_m = (shape.lpos_max - shape.lpos_min) * shape.metres_per_lpos;
    let density = u64::from(drive.kind.identity.density_code);
    let mut attributes = vec![
        Attribute::number::<8>(0x0000, capacity.saturating_sub(used) / MIB),
        Attribute::number::<8>(0x0001, capacity / MIB),
        Attribute::number::<8>(0x0002, 0),
        Attribute::number::<8>(0x0003, memory.loads),
        Attribute::number::<8>(0x0004, memory_bytes(drive) / 4),
        Attribute::text::<8>(0x0005, status::organisation(drive)),
        Attribute::number::<1>(0x0006, density),
        Attribute::number::<2>(0x0007, memory.initialisations),
        Attribute::number::<8>(0x0220, memory.bytes_written / MIB),
        Attribute::number::<8>(0x0221, memory.bytes_read / MIB),
        Attribute::text::<8>(0x0400, "TAPEWISE"),
        Attribute::text::<32>(0x0401, &memory.serial),
        Attribute::number::<4>(0x0402, length_m as u64),
        Attribute::number::<1>(0x0405, density),
        Attribute::number::<8>(0x0407, memory_bytes(drive)),
        // 80h: WORM.
        Attribute::number::<1>(0x0408, u64::from(drive.is_worm()) << 7),
    ];
    for (id, serial) in (0x020a..=0x020d).zip(&memory.drives) {
        let maker = format!("{:<8}{serial}", drive.kind.identity.vendor);
        attributes.push(Attribute::text::<40>(id, &maker));
    }
    let of_host = memory.host.iter().filter(|one| one.partition == partition);
    attributes.extend(of_host.map(|one| Attribute {
        id: one.id,
        read_only: false,
        format: one.format,
        value: one.value.clone(),
    }));
    attributes
}

/// WRITE ATTRIBUTE: all of the list or nothing.
pub(super) fn write(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let partition = exchange.byte(7);
    let length = exchange.number::<4>(10);
    if length == 0 {
        return Ok(());
    }
    let list = exchange.received(length)?;
    let loaded = drive.ready()?;
    if partition >= loaded.medium.partition_count() {
        return Err(Check::invalid_cdb(7).into());
    }
    let said = list
        .get(..4)
        .map(|head| u32::from_be_bytes([head[0], head[1], head[2], head[3]]));
    if said.map(u64::from) != Some(length.saturating_sub(4)) {
        return Err(Check::PARAMETER_LIST_LENGTH.into());
    }
    let mut attributes = Vec::new();
    let mut at = 4;
    while at < list.len() {
        let head = list.get(at..at + 5).ok_or(Check::PARAMETER_LIST_LENGTH)?;
        let id = u16::from_be_bytes([head[0], head[1]]);
        let end = at + 5 + usize::from(u16::from_be_bytes([head[3], head[4]]));
        let value = list.get(at + 5..end).ok_or(Check::PARAMETER_LIST_LENGTH)?;
        if !HOST.contains(&id) {
            return Err(Check::invalid_parameter(at as u16).into());
        }
        attributes.push(HostAttribute {
            id,
            format: head[2] & 3,
            partition,
            value: value.to_vec(),
        });
        at = end;
    }
    let memory = &mut loaded.medium.memory;
    for attribute in attributes {
        memory.set_host_attribute(attribute);
    }
    let synced = loaded.medium.sync();
    synced.map_err(|error| drive.host_disk(error).into())
}
