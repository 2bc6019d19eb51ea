//! GENERATE and RECEIVE RECOMMENDED ACCESS ORDER: the drive's own order of reading.
//!
//! How real drives order is their makers' secret. The order here is a stand-in of ours: always the
//! segment that is nearest by the mechanics' own geometry, wrap by wrap. The layout of the
//! estimated times is not published, so they are left zero, as a host that has not seen a capture
//! would have to read them.

use super::Drive;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};
use crate::tape::{Spot, Tape};

/// Most segments in one request (IBM LTO SCSI reference, 4.6.3.2).
const MOST: usize = 2730;
/// Bytes of a descriptor without geometry.
const DESCRIPTOR: usize = 32;

/// A user data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    name: [u8; 10],
    partition: u8,
    begin: u64,
    end: u64,
}

impl Segment {
    fn decode(bytes: &[u8]) -> Option<Segment> {
        let number = |at: usize| Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        Some(Segment {
            name: bytes.get(5..15)?.try_into().ok()?,
            partition: *bytes.get(15)?,
            begin: number(16)?,
            end: number(24)?,
        })
    }

    fn encode(&self) -> [u8; DESCRIPTOR] {
        let mut bytes = [0; DESCRIPTOR];
        bytes[1] = DESCRIPTOR as u8 - 2;
        bytes[5..15].copy_from_slice(&self.name);
        bytes[15] = self.partition;
        bytes[16..24].copy_from_slice(&self.begin.to_be_bytes());
        bytes[24..].copy_from_slice(&self.end.to_be_bytes());
        bytes
    }

    fn is_point(&self) -> bool {
        self.begin == self.end
    }
}

/// A segment with its places on tape.
struct Placed {
    segment: Segment,
    begin: Spot,
    end: Spot,
}

/// GENERATE RECOMMENDED ACCESS ORDER.
pub(super) fn generate(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let reorders = match exchange.byte(2) & 7 {
        1 => false,
        2 => true,
        _ => return Err(Check::invalid_cdb_bits(2, 2).into()),
    };
    if exchange.byte(3) & 7 != 0 {
        // With geometry: its layout is not known.
        return Err(Check::invalid_cdb_bits(3, 2).into());
    }
    let length = exchange.number::<4>(6);
    let list = exchange.received(length)?;
    if list.is_empty() {
        drive.access_order.clear();
        return Ok(());
    }
    let segments = parse(list)?;
    for (number, segment) in segments.iter().enumerate() {
        let loaded = drive.ready()?;
        let is_known = segment.partition < loaded.medium.partition_count();
        if !is_known || segment.end < segment.begin {
            return Err(Check::invalid_parameter((8 + number * DESCRIPTOR) as u16).into());
        }
    }
    let ordered = if reorders {
        order(drive, segments)?
    } else {
        segments
    };
    let mut answer = vec![exchange.byte(2) & 7, 0, 0, 0];
    answer.extend(((ordered.len() * DESCRIPTOR) as u32).to_be_bytes());
    answer.extend(ordered.iter().flat_map(Segment::encode));
    drive.access_order = answer;
    Ok(())
}

fn parse(list: &[u8]) -> Result<Vec<Segment>, Check> {
    let head = list.get(4..8).ok_or(Check::PARAMETER_LIST_LENGTH)?;
    let said = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let bytes = list.get(8..8 + said).ok_or(Check::PARAMETER_LIST_LENGTH)?;
    if !said.is_multiple_of(DESCRIPTOR) || said / DESCRIPTOR > MOST {
        return Err(Check::invalid_parameter(4));
    }
    bytes
        .chunks_exact(DESCRIPTOR)
        .enumerate()
        .map(|(number, bytes)| {
            let wrong = Check::invalid_parameter((8 + number * DESCRIPTOR) as u16);
            let is_whole = bytes[..2] == [0, DESCRIPTOR as u8 - 2];
            is_whole
                .then(|| Segment::decode(bytes))
                .flatten()
                .ok_or(wrong)
        })
        .collect()
}

/// The first single-object segment is where to start; one at the end, or just before the last, is
/// where to end; a last one of zeros stands for the unloaded position. The rest is reordered.
fn order(drive: &mut Drive, mut segments: Vec<Segment>) -> Result<Vec<Segment>, Check> {
    let unloaded = segments.pop_if(|last| last.partition == 0 && last.begin == 0 && last.end == 0);
    let start = segments.iter().position(Segment::is_point);
    let start = start.map(|at| segments.remove(at));
    let stop = segments.pop_if(|last| last.is_point());
    let loaded = drive.ready()?;
    let place = |partition: u8, object: u64| {
        let offset = loaded
            .medium
            .partition(partition)
            .map_or(0, |one| one.offset(object));
        loaded.tape.place(partition, offset)
    };
    let mut here = match &start {
        Some(start) => place(start.partition, start.begin),
        None => place(loaded.partition, loaded.object),
    };
    let mut left: Vec<Placed> = segments
        .into_iter()
        .map(|segment| Placed {
            segment,
            begin: place(segment.partition, segment.begin),
            end: place(segment.partition, segment.end),
        })
        .collect();
    let mut ordered = Vec::with_capacity(left.len() + 3);
    ordered.extend(start);
    while !left.is_empty() {
        let far = |placed: &Placed| distance(&loaded.tape, here, placed.begin);
        let nearest = (0..left.len()).min_by(|&a, &b| far(&left[a]).total_cmp(&far(&left[b])));
        let Some(nearest) = nearest else { break };
        let next = left.remove(nearest);
        here = next.end;
        ordered.push(next.segment);
    }
    ordered.extend(stop);
    ordered.extend(unloaded);
    Ok(ordered)
}

/// Metres along the tape, with what another wrap and a turn round are taken to be worth.
fn distance(tape: &Tape, from: Spot, to: Spot) -> f64 {
    const OTHER_WRAP_M: f64 = 40.0;
    const TURN_M: f64 = 60.0;
    let sign = if to.wrap.is_multiple_of(2) { 1.0 } else { -1.0 };
    let other_wrap = if from.wrap == to.wrap {
        0.0
    } else {
        OTHER_WRAP_M
    };
    let turn = if (to.lpos - from.lpos) * sign < 0.0 {
        TURN_M
    } else {
        0.0
    };
    tape.metres(from.lpos, to.lpos) + other_wrap + turn
}

/// RECEIVE RECOMMENDED ACCESS ORDER: the limits, or the list last generated, from an offset on.
pub(super) fn receive(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let allocation = exchange.number::<4>(6);
    if exchange.bit(1, 7) {
        let mut limits = (MOST as u16).to_be_bytes().to_vec();
        limits.extend((DESCRIPTOR as u16).to_be_bytes());
        exchange.answer(&limits, allocation);
        return Ok(());
    }
    if exchange.byte(10) & 7 != 0 {
        return Err(Check::invalid_cdb_bits(10, 2).into());
    }
    let offset = exchange.number::<4>(2) as usize;
    let Some(list) = drive
        .access_order
        .get(offset..)
        .filter(|_| offset.is_multiple_of(4))
    else {
        return Err(Check::invalid_cdb(2).into());
    };
    let list = match list {
        [] => vec![0; 8],
        list => list.to_vec(),
    };
    exchange.answer(&list, allocation);
    Ok(())
}
