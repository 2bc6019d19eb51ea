//! Streaming: what it costs to read on from one place to another.

use crate::request::PlacedExtent;
use crate::tape::Tape;
use tapewise_model::{Geometry, Micros, Pace, Position};

/// One end of a visit: where the head comes in or goes out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    pub(crate) partition: u8,
    /// Coming in: first block to read. Going out: the block that would come next.
    pub(crate) block: u64,
    wrap: u16,
    /// Time at which streaming from the beginning of tape would pass here.
    pub(crate) clock: Micros,
}

/// The time at which streaming from the beginning of the tape passes a place.
pub(crate) struct StreamClock<'a> {
    geometry: &'a Geometry,
    pace: Pace,
    wrap: Micros,
}

impl<'a> StreamClock<'a> {
    pub(crate) fn new(tape: &'a Tape) -> StreamClock<'a> {
        let seconds = tape.wrap_bytes / (tape.transfer.rate_mb_s * 1e6);
        let pace = Pace::over(seconds, f64::from(tape.geometry.wrap_lpos()));
        let wrap = pace.time(i64::from(tape.geometry.wrap_lpos())) + tape.transfer.turnaround;
        StreamClock {
            geometry: &tape.geometry,
            pace,
            wrap,
        }
    }

    /// Where an extent is come in to.
    pub(crate) fn entry(&self, extent: &PlacedExtent) -> Gate {
        // The very last block number stands for nothing that follows: see `head`.
        self.gate(&extent.start, extent.first_block.min(u64::MAX - 1))
    }

    /// Where an extent is gone out of.
    pub(crate) fn exit(&self, extent: &PlacedExtent) -> Gate {
        self.gate(&extent.end, extent.last_block.saturating_add(1))
    }

    /// Where the head is. Its own block is unknown: no visit counts as following it.
    pub(crate) fn head(&self, position: &Position) -> Gate {
        self.gate(position, u64::MAX)
    }

    fn gate(&self, position: &Position, block: u64) -> Gate {
        let along = self.geometry.along(position.wrap, position.lpos);
        let clock = Micros(self.wrap.0 * i64::from(position.wrap)) + self.pace.time(along);
        Gate {
            partition: position.partition,
            block,
            wrap: position.wrap,
            clock,
        }
    }
}

impl Gate {
    /// The time to stream from here over the gap to where a visit begins.
    pub(crate) fn stream(&self, entry: &Gate) -> Micros {
        (entry.clock - self.clock).max(Micros::ZERO)
    }

    /// The time until the next block comes by itself: the turns at the ends of wraps, if any.
    pub(crate) fn turn(&self, entry: &Gate, turnaround: Micros) -> Micros {
        Micros(turnaround.0 * i64::from(entry.wrap.abs_diff(self.wrap)))
    }
}
