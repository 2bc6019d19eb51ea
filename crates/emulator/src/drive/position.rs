//! Positioning: LOCATE, SPACE, REWIND, READ POSITION.

use super::{Drive, Loaded};
use crate::check::Check;
use crate::exchange::{Exchange, Stop};
use crate::medium::Partition;
use tapewise_scsi::SenseKey;

/// Where a positioning command ends, and what it has to say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    object: u64,
    says: Option<Check>,
}

impl Target {
    fn reached(object: u64) -> Target {
        Target { object, says: None }
    }

    fn but(object: u64, says: Check) -> Target {
        Target {
            object,
            says: Some(says),
        }
    }
}

impl Loaded {
    /// The partition under the head.
    ///
    /// # Errors
    /// An internal failure: a position is only ever set to a partition that exists.
    pub(super) fn current(&self) -> Result<&Partition, Check> {
        let partition = self.medium.partition(self.partition);
        partition.ok_or(Check::INTERNAL_FAILURE)
    }
}

impl Drive {
    /// Moves to an object of a partition and says what is to be said.
    fn go_to(
        &mut self,
        partition: u8,
        target: Target,
        immediate: bool,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), Stop> {
        self.flush(exchange)?;
        let loaded = self.ready()?;
        loaded.partition = partition;
        loaded.object = target.object;
        loaded.has_met_end = false;
        loaded.is_lost = false;
        let offset = loaded.current()?.offset(target.object);
        let motion = loaded.mechanics()?.locate(partition, offset);
        if immediate && target.says.is_none() {
            self.busy_until = exchange.now() + motion.time;
            self.count(motion);
        } else {
            self.moved(motion, exchange);
        }
        target.says.map_or(Ok(()), |check| Err(check.into()))
    }

    /// The partition that a LOCATE asks for.
    fn partition_asked(&mut self, change: bool, number: u8, byte: u16) -> Result<u8, Check> {
        let loaded = self.ready()?;
        match change {
            false => Ok(loaded.partition),
            true if number < loaded.medium.partition_count() => Ok(number),
            true => Err(Check::invalid_cdb(byte)),
        }
    }

    /// The object of this number, or end of data with what there is to say.
    fn object_asked(&mut self, partition: u8, object: u64) -> Result<Target, Check> {
        let loaded = self.ready()?;
        let partition = loaded.medium.partition(partition);
        let end = partition.ok_or(Check::INTERNAL_FAILURE)?.end_of_data();
        Ok(if object <= end {
            Target::reached(object)
        } else {
            Target::but(end, Check::END_OF_DATA)
        })
    }
}

/// REWIND.
pub(super) fn rewind(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    drive.flush(exchange)?;
    let loaded = drive.ready()?;
    let motion = loaded.mechanics()?.rewind();
    loaded.at_beginning();
    if exchange.bit(1, 0) {
        drive.busy_until = exchange.now() + motion.time;
        drive.count(motion);
    } else {
        drive.moved(motion, exchange);
    }
    Ok(())
}

/// LOCATE(10) (SSC-4, 6.5).
pub(super) fn locate_10(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    // BT, the vendor's own kind of block address, is the logical one here as on LTO: Linux's st sets it.
    let partition = drive.partition_asked(exchange.bit(1, 1), exchange.byte(8), 8)?;
    let target = drive.object_asked(partition, exchange.number::<4>(3))?;
    drive.go_to(partition, target, exchange.bit(1, 0), exchange)
}

/// LOCATE(16) (SSC-4, 7.3): to an object, past a number of filemarks, or to end of data.
pub(super) fn locate_16(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let partition = drive.partition_asked(exchange.bit(1, 1), exchange.byte(3), 3)?;
    let number = exchange.number::<8>(4);
    let target = match exchange.byte(1) >> 3 & 3 {
        0 => drive.object_asked(partition, number)?,
        1 => {
            let loaded = drive.ready()?;
            let here = loaded.medium.partition(partition);
            let here = here.ok_or(Check::INTERNAL_FAILURE)?;
            match number.checked_sub(1) {
                None => Target::reached(0),
                Some(mark) => match here.filemarks().get(mark as usize) {
                    Some(mark) => Target::reached(mark + 1),
                    None => Target::but(here.end_of_data(), Check::END_OF_DATA),
                },
            }
        }
        3 => {
            let end = drive.object_asked(partition, u64::MAX)?.object;
            Target::reached(end)
        }
        _ => return Err(Check::invalid_cdb_bits(1, 4).into()),
    };
    drive.go_to(partition, target, exchange.bit(1, 0), exchange)
}

/// SPACE(6) and SPACE(16) (SSC-4, 7.13 and 5.8): over blocks, over filemarks, to end of data.
pub(super) fn space(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let count = match exchange.opcode() {
        // 24 bits with a sign.
        0x11 => i64::from((exchange.number::<3>(2) as i32) << 8 >> 8),
        _ => exchange.number::<8>(4) as i64,
    };
    let loaded = drive.ready()?;
    let (partition, object) = (loaded.partition, loaded.object);
    let here = loaded.current()?;
    let target = match exchange.byte(1) & 0x0f {
        0 => over_blocks(here, object, count),
        1 => over_filemarks(here, object, count),
        3 => Target::reached(here.end_of_data()),
        _ => return Err(Check::invalid_cdb_bits(1, 3).into()),
    };
    drive.go_to(partition, target, false, exchange)
}

fn over_blocks(here: &Partition, object: u64, count: i64) -> Target {
    let marks = here.filemarks();
    let next_mark = marks.partition_point(|&mark| mark < object);
    let steps = count.unsigned_abs();
    if count >= 0 {
        let wanted = object.saturating_add(steps);
        let left = |done: u64| (steps - done) as i64;
        if let Some(&mark) = marks.get(next_mark)
            && mark < wanted
        {
            return Target::but(mark + 1, stopped_at_filemark(left(mark - object)));
        }
        let end = here.end_of_data();
        if wanted > end {
            let check = Check::END_OF_DATA.information(left(end - object));
            return Target::but(end, check);
        }
        return Target::reached(wanted);
    }
    let left = |done: u64| (steps - done) as i64;
    if let Some(&mark) = next_mark.checked_sub(1).and_then(|last| marks.get(last))
        && object - mark <= steps
    {
        return Target::but(mark, stopped_at_filemark(left(object - mark - 1)));
    }
    match object.checked_sub(steps) {
        Some(wanted) => Target::reached(wanted),
        None => Target::but(0, stopped_at_beginning(left(object))),
    }
}

fn over_filemarks(here: &Partition, object: u64, count: i64) -> Target {
    let marks = here.filemarks();
    let next_mark = marks.partition_point(|&mark| mark < object) as u64;
    let steps = count.unsigned_abs();
    if count == 0 {
        return Target::reached(object);
    }
    if count > 0 {
        let ahead = marks.len() as u64 - next_mark;
        if steps > ahead {
            let check = Check::END_OF_DATA.information((steps - ahead) as i64);
            return Target::but(here.end_of_data(), check);
        }
        return Target::reached(marks[(next_mark + steps - 1) as usize] + 1);
    }
    match next_mark.checked_sub(steps) {
        Some(mark) => Target::reached(marks[mark as usize]),
        None => Target::but(0, stopped_at_beginning((steps - next_mark) as i64)),
    }
}

fn stopped_at_filemark(left: i64) -> Check {
    Check::new(SenseKey::NoSense, 0x0001)
        .information(left)
        .filemark()
}

fn stopped_at_beginning(left: i64) -> Check {
    Check::new(SenseKey::NoSense, 0x0004)
        .information(left)
        .end_of_medium()
}

/// READ POSITION (SSC-4, 7.7): short, and on drives of this century long and extended.
pub(super) fn read_position(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let is_modern = drive.is_modern();
    let is_near_end = drive.is_near_end()?;
    let loaded = drive.ready()?;
    let here = loaded.current()?;
    let object = loaded.object;
    let waiting = here.unsafe_objects();
    let on_tape = object.saturating_sub(waiting);
    const IS_BEGINNING: u8 = 0x80;
    const IS_END: u8 = 0x40;
    const BYTES_UNKNOWN: u8 = 0x10;
    const POSITION_UNKNOWN: u8 = 0x04;
    let mut flags = u8::from(object == 0) * IS_BEGINNING;
    flags |= u8::from(is_near_end) * IS_END;
    if loaded.is_lost {
        flags |= POSITION_UNKNOWN;
    }
    match exchange.service_action() {
        // 01h asks for the vendor's own kind of block address, which is the logical one: Linux's st does.
        0x00 | 0x01 => {
            let mut answer = [0; 20];
            answer[0] = flags | BYTES_UNKNOWN;
            answer[1] = loaded.partition;
            match (u32::try_from(object), u32::try_from(on_tape)) {
                (Ok(object), Ok(on_tape)) => {
                    answer[4..8].copy_from_slice(&object.to_be_bytes());
                    answer[8..12].copy_from_slice(&on_tape.to_be_bytes());
                }
                // Too large for the form: position error.
                _ => answer[0] |= 0x02,
            }
            answer[13..16].copy_from_slice(&(waiting as u32).to_be_bytes()[1..]);
            exchange.answer(&answer, 20);
        }
        0x06 if is_modern => {
            let mut answer = [0; 32];
            // Here bit 3 says that the file number is unknown, bit 2 that the object is.
            answer[0] = flags;
            answer[4..8].copy_from_slice(&u32::from(loaded.partition).to_be_bytes());
            answer[8..16].copy_from_slice(&object.to_be_bytes());
            let file = here.filemarks().partition_point(|&mark| mark < object) as u64;
            answer[16..24].copy_from_slice(&file.to_be_bytes());
            exchange.answer(&answer, 32);
        }
        0x08 if is_modern => {
            let mut answer = [0; 32];
            answer[0] = flags | BYTES_UNKNOWN;
            answer[1] = loaded.partition;
            answer[3] = 0x1c;
            answer[5..8].copy_from_slice(&(waiting as u32).to_be_bytes()[1..]);
            answer[8..16].copy_from_slice(&object.to_be_bytes());
            answer[16..24].copy_from_slice(&on_tape.to_be_bytes());
            let allocation = exchange.number::<2>(7);
            exchange.answer(&answer, allocation);
        }
        _ => return Err(Check::invalid_cdb_bits(1, 4).into()),
    }
    Ok(())
}
