//! Mode parameters: block length, compression, device configuration, partitions (SSC-4, 8.5).

use super::Drive;
use super::mode_values::{Mode, PartitionPlan};
use crate::attention::MODE_CHANGED;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};

/// Pages whose values are those of the standard's defaults and cannot be changed, with their lengths: read-write error
/// recovery, disconnect-reconnect, control, informational exceptions (SPC-5, 7.5; SSC-4, 8.5).
const FIXED: [(u8, usize); 4] = [(0x01, 12), (0x02, 16), (0x0a, 12), (0x1c, 12)];

const COMPRESSION: u8 = 0x0f;
const CONFIGURATION: u8 = 0x10;
const PARTITIONS: u8 = 0x11;

/// MODE SENSE(6) and (10).
pub(super) fn sense(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let is_long = exchange.opcode() == 0x5a;
    let no_block_descriptor = exchange.bit(1, 3);
    let (control, page) = (exchange.byte(2) >> 6, exchange.byte(2) & 0x3f);
    if control == 3 {
        return Err(Check::new(tapewise_scsi::SenseKey::IllegalRequest, 0x3900).into());
    }
    let known = pages(drive);
    let wanted: Vec<u8> = match page {
        0x3f => known,
        0 => Vec::new(),
        _ if known.contains(&page) => vec![page],
        _ => return Err(Check::invalid_cdb_bits(2, 5).into()),
    };
    let mut bodies = Vec::new();
    for page in wanted {
        let mut body = page_body(drive, page);
        if control == 1 {
            // What MODE SELECT may change, as ones.
            body[2..].fill(0);
            match page {
                _ if is_fixed(page) => {}
                COMPRESSION => body[2] = 0x80,
                CONFIGURATION => body[14] = 0xff,
                _ => body[3..].fill(0xff),
            }
        }
        bodies.extend(body);
    }
    let descriptor = if no_block_descriptor {
        Vec::new()
    } else {
        block_descriptor(drive)
    };
    // Buffered mode 1, and whether the cartridge is write-protected.
    let specific = 0x10 | u8::from(drive.is_write_protected()) << 7;
    let mut answer = if is_long {
        vec![0, 0, 0, specific, 0, 0, 0, descriptor.len() as u8]
    } else {
        vec![0, 0, specific, descriptor.len() as u8]
    };
    answer.extend(descriptor);
    answer.extend(bodies);
    exchange.answer_mode(answer);
    Ok(())
}

fn is_fixed(page: u8) -> bool {
    FIXED.iter().any(|(code, _)| *code == page)
}

/// The pages of a drive, ascending.
fn pages(drive: &Drive) -> Vec<u8> {
    let mut pages = Vec::new();
    if drive.is_modern() {
        pages.extend(FIXED.map(|(code, _)| code));
    }
    if drive.kind.compression.is_some() {
        pages.push(COMPRESSION);
    }
    pages.push(CONFIGURATION);
    if drive.is_modern() {
        pages.push(PARTITIONS);
    }
    pages.sort_unstable();
    pages
}

fn block_descriptor(drive: &Drive) -> Vec<u8> {
    let mut descriptor = vec![drive.kind.identity.density_code, 0, 0, 0];
    descriptor.extend(drive.mode.block_length.to_be_bytes());
    descriptor
}

fn page_body(drive: &Drive, page: u8) -> Vec<u8> {
    if let Some((code, length)) = FIXED.iter().find(|(code, _)| *code == page) {
        let mut body = vec![0; *length];
        body[0] = *code;
        body[1] = *length as u8 - 2;
        return body;
    }
    match page {
        COMPRESSION => {
            let mut body = vec![0; 16];
            body[0] = COMPRESSION;
            body[1] = 0x0e;
            // DCE and DCC; DDE is always on. The algorithm is called 10h, unregistered.
            body[2] = u8::from(drive.mode.compresses) << 7 | 0x40;
            body[3] = 0x80;
            body[7] = if drive.mode.compresses { 0x10 } else { 0 };
            body[11] = 0x10;
            body
        }
        CONFIGURATION => {
            let mut body = vec![0; 16];
            body[0] = CONFIGURATION;
            body[1] = 0x0e;
            body[3] = drive.loaded.as_ref().map_or(0, |loaded| loaded.partition);
            // BIS: block numbers are kept; EOD in the stream; SEW: writing stops at early warning
            // only to say so; the compression byte repeats page 0Fh.
            body[8] = 0x40;
            body[10] = 0x18;
            body[14] = u8::from(drive.mode.compresses);
            body
        }
        _ => partition_page(drive),
    }
}

/// Mode page 11h: sizes in units of 10^9 bytes.
fn partition_page(drive: &Drive) -> Vec<u8> {
    const GIGABYTES: u8 = 9;
    let counts = drive.loaded.as_ref().map(|loaded| {
        (0..loaded.medium.partition_count())
            .map(|number| loaded.tape.capacity(number))
            .collect::<Vec<u64>>()
    });
    let counts = counts.unwrap_or_default();
    let mut body = vec![
        PARTITIONS,
        0,
        drive.kind.features.partitions.saturating_sub(1),
    ];
    body.push((counts.len() as u8).saturating_sub(1));
    // IDP, sizes in powers of ten (PSUM 11b), partitions made by FORMAT MEDIUM (POFM).
    body.extend([0x20 | 0x18 | 0x04, 0x03, GIGABYTES, 0]);
    for bytes in counts {
        body.extend(((bytes / 1_000_000_000) as u16).to_be_bytes());
    }
    body[1] = body.len() as u8 - 2;
    body
}

/// MODE SELECT(6) and (10).
pub(super) fn select(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let is_long = exchange.opcode() == 0x55;
    let length = if is_long {
        exchange.number::<2>(7)
    } else {
        exchange.number::<1>(4)
    };
    if length == 0 {
        return Ok(());
    }
    let list = exchange.received(length)?;
    let (header, descriptor_length) = if is_long {
        (
            8,
            list.get(6..8)
                .map(|l| usize::from(l[0]) << 8 | usize::from(l[1])),
        )
    } else {
        (4, list.get(3).map(|&length| usize::from(length)))
    };
    let descriptor_length = descriptor_length.ok_or(Check::PARAMETER_LIST_LENGTH)?;
    let mut at = header + descriptor_length;
    let mut mode = drive.mode.clone();
    match list.get(header..at) {
        Some([]) => {}
        Some(&[density, _, _, _, _, b5, b6, b7]) => {
            // 7Fh means no change; 0 the default.
            if ![0, 0x7f, drive.kind.identity.density_code].contains(&density) {
                return Err(Check::invalid_parameter(header as u16).into());
            }
            mode.block_length = u32::from_be_bytes([0, b5, b6, b7]);
            if mode.block_length > drive.kind.identity.largest_block {
                return Err(Check::invalid_parameter(header as u16 + 5).into());
            }
        }
        _ => return Err(Check::PARAMETER_LIST_LENGTH.into()),
    }
    while at < list.len() {
        let end = at + 2 + usize::from(*list.get(at + 1).ok_or(Check::PARAMETER_LIST_LENGTH)?);
        let page = list.get(at..end).ok_or(Check::PARAMETER_LIST_LENGTH)?;
        select_page(drive, &mut mode, page, at as u16)?;
        at = end;
    }
    drive.mode = mode;
    drive.attentions.raise(MODE_CHANGED, Some(exchange.nexus));
    Ok(())
}

fn select_page(drive: &Drive, mode: &mut Mode, page: &[u8], at: u16) -> Result<(), Check> {
    let code = page[0] & 0x3f;
    if !pages(drive).contains(&code) {
        return Err(Check::invalid_parameter(at));
    }
    match code {
        _ if is_fixed(code) => {}
        COMPRESSION => {
            let flags = page.get(2).ok_or(Check::PARAMETER_LIST_LENGTH)?;
            mode.compresses = flags & 0x80 != 0;
        }
        CONFIGURATION => {
            let compression = page.get(14).ok_or(Check::PARAMETER_LIST_LENGTH)?;
            mode.compresses = *compression != 0 && drive.kind.compression.is_some();
        }
        _ => mode.partitions = Some(partition_plan(drive, page, at)?),
    }
    Ok(())
}

fn partition_plan(drive: &Drive, page: &[u8], at: u16) -> Result<PartitionPlan, Check> {
    if page.len() < 8 {
        return Err(Check::PARAMETER_LIST_LENGTH);
    }
    let additional = page[3];
    if additional >= drive.kind.features.partitions {
        return Err(Check::invalid_parameter(at + 3));
    }
    if page[4] & 0xc0 != 0 {
        return Ok(PartitionPlan::DriveChooses(additional + 1));
    }
    if page[4] & 0x20 == 0 {
        return Err(Check::invalid_parameter(at + 4));
    }
    // PSUM: bytes, kilobytes, megabytes, or powers of ten as the units field says.
    let unit = match page[4] >> 3 & 3 {
        0 => 1,
        1 => 1_000,
        2 => 1_000_000,
        _ => 10u64
            .checked_pow(u32::from(page[6] & 0x0f))
            .unwrap_or(u64::MAX),
    };
    let sizes: Vec<Option<u64>> = page[8..]
        .chunks_exact(2)
        .take(usize::from(additional) + 1)
        .map(|size| u16::from_be_bytes([size[0], size[1]]))
        .map(|size| (size != 0xffff).then(|| u64::from(size).saturating_mul(unit)))
        .collect();
    if sizes.len() != usize::from(additional) + 1 {
        return Err(Check::PARAMETER_LIST_LENGTH);
    }
    Ok(PartitionPlan::Sizes(sizes))
}
