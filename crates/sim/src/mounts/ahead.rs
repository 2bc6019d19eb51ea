//! Ours: the index, and what an index cannot say.
//!
//! * Which cartridge is next is the [index](super::index)'s choice.
//! * Several free drives are matched at once (`matching`), so that a drive that reads everything is
//!   not given away for a cartridge that another one could read.
//! * Cartridges that nobody asks for go home before their drive is needed (`home`).
//! * A mount ends between two reads if a request elsewhere is overdue and nothing that is left is
//!   (`cut`). So what is overdue waits for one read, and not for the end of a mount.

use super::{PolicyKind, index};

/// As the list of policies knows it.
pub(super) const KIND: PolicyKind = PolicyKind {
    name: "ahead",
    rank: index::KIND.rank,
    why: index::KIND.why,
};
