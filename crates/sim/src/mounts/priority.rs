//! The cartridge with the most urgent request.

use super::{PolicyKind, Why};
use std::cmp::Reverse;

/// As the list of policies knows it.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "priority",
    rank: |_, waiting, _| Ok((Reverse(u64::from(waiting.priority)), waiting.oldest)),
    why: Why::Urgent,
};
