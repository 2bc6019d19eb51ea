//! Whether a mount ends between two reads, for something that is overdue elsewhere.

use super::{MountPolicy, MountRules, Waiting};
use tapewise_model::Micros;

/// Whether a drive stops reading for one of the cartridges that wait for it: for one whose oldest request is
/// overdue. `left` is what the drive has not read yet; if that is overdue too, the drive goes on.
///
/// So the mount of something overdue is never cut, and every mount of an overdue request answers it.
pub fn cuts<'a>(
    policy: MountPolicy,
    now: Micros,
    left: &Waiting,
    waiting: impl IntoIterator<Item = &'a Waiting>,
    rules: &MountRules,
) -> bool {
    let overdue = Micros::from_secs_f64(rules.overdue_s);
    let is_overdue = |w: &Waiting| w.requests > 0 && w.oldest_arrived + overdue <= now;
    policy == MountPolicy::Ahead && !is_overdue(left) && waiting.into_iter().any(is_overdue)
}
