//! Where the wraps of a cartridge end.

use crate::medium::Medium;
use crate::tape::Tape;

/// The last object on a wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrapEnd {
    pub(super) wrap: u16,
    pub(super) partition: u8,
    /// The last object that ends on the wrap; end of data itself for the wrap that holds it.
    pub(super) object: u64,
}

/// What the table says of a cartridge: wraps with user data only, guard wraps not at all.
pub(super) fn snapshot(tape: &Tape, medium: &Medium) -> Vec<WrapEnd> {
    let mut ends = Vec::new();
    for number in 0..medium.partition_count() {
        let Some(partition) = medium.partition(number) else {
            continue;
        };
        let end_of_data = partition.end_of_data();
        if end_of_data == 0 {
            continue;
        }
        let last_wrap = tape.place(number, partition.offset(end_of_data)).wrap;
        for wrap in tape.place(number, 0).wrap..=last_wrap {
            let Some((_, end)) = tape.end_of_wrap(wrap) else {
                continue;
            };
            let object = if wrap == last_wrap {
                end_of_data
            } else {
                partition.object_at(end).saturating_sub(1)
            };
            ends.push(WrapEnd {
                wrap,
                partition: number,
                object,
            });
        }
    }
    ends
}
