//! The emulated LTO-8 of the annex: which drive it is, and a sample of each of its positionings.

use tapewise_fit::Sample;
use tapewise_formats::event::{Action, Event, Spot};
use tapewise_model::{Micros, Position, PositionSource};

/// The drive whose mechanics are emulated; the slides' regression is of the same drive on M8 media.
pub const KIND: &str = "lto8";

/// Bytes on tape that a stored byte, and so a block, stands for: some 600 places on a wrap.
pub const SCALE: u64 = 100_000_000;

/// What a timed locate says, if the drive told both ends of the move.
pub fn sample(cartridge: u32, event: &Event) -> Option<Sample> {
    let position = |spot: Spot| {
        Some(Position {
            partition: spot.partition,
            wrap: spot.wrap?,
            lpos: spot.lpos?,
            source: PositionSource::Recorded,
            error_lpos: 0,
        })
    };
    let is_locate = event.action == Action::Locate && event.took_us > Micros::ZERO;
    Some(Sample {
        cartridge,
        from: position(event.from.filter(|_| is_locate)?)?,
        to: position(event.to?)?,
        time: event.took_us,
    })
}
