//! The cartridge that most requests wait for. Nothing limits how long a single request waits.

use super::{PolicyKind, Why};
use std::cmp::Reverse;

/// As the list of policies knows it.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "most-requests",
    rank: |_, waiting, _| Ok((Reverse(u64::from(waiting.requests)), waiting.oldest)),
    why: Why::MostRequests,
};
