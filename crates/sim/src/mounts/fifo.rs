//! First come, first served: the cartridge that has been ready for longest.

use super::{PolicyKind, Why};
use std::cmp::Reverse;

/// As the list of policies knows it.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "fifo",
    rank: |_, waiting, _| Ok((Reverse(0), waiting.ready)),
    why: Why::Ready,
};
