//! Which volume is read next.

use crate::catalogue::{RequestId, VolumeQueue};
use std::cmp::Reverse;
use std::collections::HashSet;

/// The volume to read next, with what can be read of it now: the highest priority first, then what is
/// in a drive, then where the most waits, then where it waits longest, then by label.
///
/// `come` says how many bytes of a copy have been read, and where another copy was begun an offset that
/// no part has: parts on several volumes are read in file order, and all of one copy.
pub(crate) fn next_volume(
    volumes: Vec<VolumeQueue>,
    come: &dyn Fn(RequestId, u32) -> u64,
    mounted: &HashSet<String>,
) -> Option<VolumeQueue> {
    let volumes = volumes.into_iter().filter_map(|mut queue| {
        queue.waiting.retain(|waiting| {
            let first = waiting.segments.first();
            first.is_none_or(|segment| segment.file_offset == come(waiting.request, waiting.number))
        });
        (!queue.waiting.is_empty()).then_some(queue)
    });
    volumes.max_by_key(|queue| {
        let waiting = &queue.waiting;
        (
            waiting.iter().map(|waiting| waiting.priority).max(),
            mounted.contains(&queue.label),
            waiting.len(),
            Reverse(waiting.iter().map(|waiting| waiting.created_ns).min()),
            Reverse(queue.label.clone()),
        )
    })
}
