//! FORMAT MEDIUM: partitions of whole wraps, with guard wraps between them.

use super::Drive;
use super::mode_values::PartitionPlan;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};
use crate::mechanics::Mechanics;
use tapewise_model::{Micros, Random};

/// A partition of IBM's LTO drives is at least two wraps, and a whole number of pairs.
const PAIR: u16 = 2;

/// Writing the structures of a partition anew takes about so long; assumed.
const FORMAT: Micros = Micros(60_000_000);

/// FORMAT MEDIUM (SSC-4, 7.1): format 0 makes one partition, 1 those of mode page 11h, 2 both.
pub(super) fn format_medium(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let plan = match exchange.byte(2) & 0x0f {
        0 => None,
        1 | 2 => Some(drive.mode.partitions.clone().ok_or(Check::SEQUENCE)?),
        _ => return Err(Check::invalid_cdb_bits(2, 3).into()),
    };
    drive.require_writable()?;
    let loaded = drive.ready()?;
    if loaded.partition != 0 || loaded.object != 0 {
        // Only at the beginning of partition 0.
        return Err(Check::new(tapewise_scsi::SenseKey::IllegalRequest, 0x3b0c).into());
    }
    let wraps = match plan {
        None => Vec::new(),
        Some(plan) => wraps(drive, &plan)?,
    };
    let noise = Random::new(drive.seed, drive.life.loads).below(u64::MAX);
    let all = [drive.kind.shape.wraps];
    let loaded = drive.loaded.as_mut().ok_or(Check::NO_MEDIUM)?;
    let cut = if wraps.is_empty() { &all[..] } else { &wraps };
    let Ok(tape) = loaded.tape.clone().with_partitions(cut) else {
        return Err(Check::invalid_parameter(8).into());
    };
    if let Err(error) = loaded.medium.format(&wraps) {
        return Err(drive.host_disk(error).into());
    }
    loaded.medium.memory.initialisations += 1;
    loaded.tape = tape.clone();
    let (mechanics, _) = Mechanics::load(&drive.kind.mechanism, tape, None, Random::new(noise, 0));
    loaded.mechanics = Some(mechanics);
    loaded.at_beginning();
    loaded.wrap_ends.clear();
    exchange.spend(FORMAT);
    Ok(())
}

/// How many wraps each partition of a plan gets.
fn wraps(drive: &Drive, plan: &PartitionPlan) -> Result<Vec<u16>, Check> {
    let shape = &drive.kind.shape;
    let count = match plan {
        PartitionPlan::DriveChooses(count) => usize::from(*count),
        PartitionPlan::Sizes(sizes) => sizes.len(),
    };
    let guards = shape.guard_wraps * (count as u16).saturating_sub(1);
    let all = shape.wraps.saturating_sub(guards);
    let sizes = match plan {
        // The drive's own choice for two is a small first one, as LTFS wants it.
        PartitionPlan::DriveChooses(1) => return Ok(Vec::new()),
        PartitionPlan::DriveChooses(_) => {
            let mut sizes = vec![Some(0); count];
            sizes[count - 1] = None;
            sizes
        }
        PartitionPlan::Sizes(sizes) => sizes.clone(),
    };
    let mut wraps: Vec<u16> = sizes
        .iter()
        .map(|size| match size {
            None => 0,
            Some(bytes) => {
                let pairs = (*bytes as f64 / (shape.wrap_bytes * f64::from(PAIR))).round();
                (pairs as u16).max(1).saturating_mul(PAIR)
            }
        })
        .collect();
    let given = wraps
        .iter()
        .fold(0u16, |sum, &wraps| sum.saturating_add(wraps));
    let open = sizes.iter().filter(|size| size.is_none()).count();
    let left = all.checked_sub(given).ok_or(Check::invalid_parameter(8))?;
    match (open, sizes.iter().position(Option::is_none)) {
        (0, _) => {}
        (1, Some(rest)) if left > 0 => wraps[rest] = left,
        _ => return Err(Check::invalid_parameter(8)),
    }
    Ok(match wraps.len() {
        1 => Vec::new(),
        _ => wraps,
    })
}
