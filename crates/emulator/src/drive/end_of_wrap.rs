//! READ END OF WRAP POSITION: the last object on each wrap, as things were at load.

use super::Drive;
use super::wrap_end::WrapEnd;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};

/// Answers A3h/1Fh with qualifier 45h, in the short form or in the long one.
pub(super) fn read(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    if exchange.byte(2) != 0x45 {
        return Err(Check::invalid_cdb(2).into());
    }
    let (of_wrap, is_long) = (exchange.bit(3, 0), exchange.bit(3, 1));
    let wrap = exchange.number::<2>(4);
    let allocation = exchange.number::<4>(6);
    let loaded = drive.ready()?;
    let ends = &loaded.wrap_ends;
    let chosen = |end: &&WrapEnd| !of_wrap || u64::from(end.wrap) == wrap;
    let mut answer = Vec::new();
    if is_long {
        let chosen: Vec<&WrapEnd> = ends.iter().filter(chosen).collect();
        if of_wrap && chosen.is_empty() {
            return Err(Check::invalid_cdb(4).into());
        }
        answer.extend((2 + 12 * chosen.len() as u16).to_be_bytes());
        answer.extend([0; 2]);
        for end in chosen {
            answer.extend(end.wrap.to_be_bytes());
            answer.extend(u16::from(end.partition).to_be_bytes());
            answer.extend([0; 2]);
            answer.extend(&end.object.to_be_bytes()[2..]);
        }
    } else {
        // The short form tells of one wrap: the one asked for, or the first.
        let Some(end) = ends.iter().find(chosen) else {
            return Err(Check::invalid_cdb(4).into());
        };
        answer.extend([0, 8, 0, 0]);
        answer.extend(&end.object.to_be_bytes()[2..]);
    }
    exchange.answer(&answer, allocation);
    Ok(())
}
