//! ERASE(6) (SSC-4, clause 6): what lies after the head is gone, at once or by running over all of it.

use super::Drive;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};
use crate::mechanics::{Mechanics, Stretch};

/// A short erase writes an end of data; LONG writes over the tape to the end of the partition, which takes hours.
pub(super) fn erase(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let (is_long, immediate) = (exchange.bit(1, 0), exchange.bit(1, 1));
    drive.require_writable()?;
    drive.flush(exchange)?;
    let loaded = drive.ready()?;
    let (partition, object) = (loaded.partition, loaded.object);
    let from = loaded.current()?.offset(object);
    let stretch = Stretch {
        partition,
        from,
        to: loaded.tape.capacity(partition).max(from),
        host_bytes: loaded.tape.capacity(partition).saturating_sub(from),
        gzip_ratio: None,
    };
    let Some(here) = loaded.medium.partition_mut(partition) else {
        return Err(Check::INTERNAL_FAILURE.into());
    };
    if let Err(error) = here.truncate(object).and_then(|()| here.sync()) {
        return Err(drive.host_disk(error).into());
    }
    loaded.has_met_end = false;
    if !is_long {
        return Ok(());
    }
    let motion = Mechanics::write(loaded.mechanics()?, stretch, exchange.now());
    if immediate {
        drive.busy_until = exchange.now() + motion.time;
        drive.count(motion);
    } else {
        drive.moved(motion, exchange);
    }
    Ok(())
}
