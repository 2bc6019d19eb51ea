//! Whether a mount ends between two reads, for something that is overdue elsewhere.

use super::{MountPolicy, MountRules, Waiting};
use tapewise_model::Micros;

/// Whether a drive stops reading for one of the cartridges that wait for it: for one whose oldest request is
/// overdue and older than all that the drive has left, which begin with number `oldest_left`.
///
/// The request that is oldest of all is never cut off, so the library cannot go round in circles.
pub fn cuts<'a>(
    policy: MountPolicy,
    now: Micros,
    oldest_left: u64,
    waiting: impl IntoIterator<Item = &'a Waiting>,
    rules: &MountRules,
) -> bool {
    let overdue = Micros::from_secs_f64(rules.overdue_s);
    let goes_before = |w: &Waiting| w.oldest < oldest_left && w.oldest_arrived + overdue <= now;
    policy == MountPolicy::Ahead && waiting.into_iter().any(goes_before)
}
