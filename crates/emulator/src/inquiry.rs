//! Who a device is: INQUIRY and its pages, REPORT LUNS.

use crate::check::Check;
use crate::exchange::{Exchange, Stop};

/// Peripheral device type of tape drives.
pub(crate) const TAPE: u8 = 0x01;
/// Peripheral device type of medium changers.
pub(crate) const CHANGER: u8 = 0x08;

/// The names of a device.
pub(crate) struct Identity<'a> {
    pub device_type: u8,
    /// 8 characters at most.
    pub vendor: &'a str,
    /// 16 at most.
    pub product: &'a str,
    /// 4 at most.
    pub revision: &'a str,
    pub serial: &'a str,
}

/// Answers INQUIRY (SPC-5, 6.7): standard data, pages 00h, 80h, 83h, and those the caller adds.
pub(crate) fn answer(
    identity: &Identity<'_>,
    more_pages: &[(u8, Vec<u8>)],
    exchange: &mut Exchange<'_>,
) -> Result<(), Stop> {
    let allocation = exchange.number::<2>(3);
    let page = exchange.byte(2);
    if !exchange.bit(1, 0) {
        if page != 0 {
            return Err(Check::invalid_cdb(2).into());
        }
        exchange.answer(&standard(identity), allocation);
        return Ok(());
    }
    let body = match page {
        0x00 => [0x00, 0x80, 0x83]
            .into_iter()
            .chain(more_pages.iter().map(|(code, _)| *code))
            .collect(),
        0x80 => identity.serial.as_bytes().to_vec(),
        0x83 => identification(identity),
        _ => match more_pages.iter().find(|(code, _)| *code == page) {
            Some((_, body)) => body.clone(),
            None => return Err(Check::invalid_cdb(2).into()),
        },
    };
    let mut answer = vec![identity.device_type, page];
    answer.extend((body.len() as u16).to_be_bytes());
    answer.extend(body);
    exchange.answer(&answer, allocation);
    Ok(())
}

/// REPORT LUNS: one unit, number 0.
pub(crate) fn report_luns(exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let mut answer = [0; 16];
    answer[3] = 8;
    let allocation = exchange.number::<4>(6);
    exchange.answer(&answer, allocation);
    Ok(())
}

/// `text` in a field of `N` bytes, padded with spaces, cut when it is longer.
pub(crate) fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [b' '; N];
    for (to, from) in field.iter_mut().zip(text.bytes()) {
        *to = from;
    }
    field
}

/// Length of the standard data, with the version descriptors and what is reserved after them.
const STANDARD: usize = 96;

/// The standards that a device says it keeps to, without claiming a version (SPC-5, 6.7.2 and annex E): SAM-5, SPC-4,
/// that of its type, iSCSI.
fn versions(device_type: u8) -> [u16; 4] {
    let of_type = match device_type {
        TAPE => 0x0520,
        CHANGER => 0x0480,
        _ => return [0; 4],
    };
    [0x00a0, 0x0460, of_type, 0x0960]
}

pub(crate) fn standard(identity: &Identity<'_>) -> [u8; STANDARD] {
    let mut data = [0; STANDARD];
    data[0] = identity.device_type;
    data[1] = 0x80;
    data[2] = 0x06;
    data[3] = 0x02;
    data[4] = STANDARD as u8 - 5;
    data[7] = 0x02;
    data[8..16].copy_from_slice(&padded::<8>(identity.vendor));
    data[16..32].copy_from_slice(&padded::<16>(identity.product));
    data[32..36].copy_from_slice(&padded::<4>(identity.revision));
    for (at, version) in data[58..]
        .chunks_exact_mut(2)
        .zip(versions(identity.device_type))
    {
        at.copy_from_slice(&version.to_be_bytes());
    }
    data
}

/// The T10 vendor identification: vendor, product, serial number (SPC-5, 7.7.6.4).
pub(crate) fn designation(identity: &Identity<'_>) -> Vec<u8> {
    let mut name = padded::<8>(identity.vendor).to_vec();
    name.extend(padded::<16>(identity.product));
    name.extend(identity.serial.bytes());
    let mut designator = vec![0x02, 0x01, 0x00, name.len() as u8];
    designator.extend(name);
    designator
}

/// Page 83h: the T10 designator and a locally assigned name of 64 bits that follows from it.
fn identification(identity: &Identity<'_>) -> Vec<u8> {
    let mut body = designation(identity);
    let name = u64::from(crc32fast::hash(&body)) << 24 | u64::from(body[3]);
    body.extend([0x01, 0x03, 0x00, 0x08]);
    body.extend((name & 0x0fff_ffff_ffff_ffff | 0x3000_0000_0000_0000).to_be_bytes());
    body
}
