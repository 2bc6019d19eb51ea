//! The cartridge with the oldest request.

use super::{PolicyKind, Why};
use std::cmp::Reverse;

/// As the list of policies knows it.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "oldest",
    rank: |_, waiting, _| Ok((Reverse(0), waiting.oldest)),
    why: Why::Oldest,
};
