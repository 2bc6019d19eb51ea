//! Whether a mount ends between two reads, for something elsewhere that must not wait for its end.

use super::{MountPolicy, MountRules, Shares, Waiting};
use tapewise_model::Micros;

/// What waits for a drive elsewhere in the library.
pub struct Elsewhere<'a, I> {
    /// The cartridges that this drive could read.
    pub waiting: I,
    /// Drives on their way to be empty: each of them serves one of these cartridges.
    pub soon_empty: usize,
    /// Who has how many drives.
    pub shares: &'a Shares,
    /// The numbers that a site chooses.
    pub rules: &'a MountRules,
}

/// Whether a drive stops reading for one of the cartridges that wait elsewhere: for one whose oldest request is
/// overdue, or for one of an owner that has fewer drives than its share if the owner that this drive works for
/// (`left.owner`) can spare it. If what the drive has not read yet (`left`) is overdue, the drive goes on.
///
/// So the mount of something overdue is never cut, and every mount of an overdue request answers it. No drive stops
/// for a cartridge that a drive on its way to be empty will serve.
pub fn cuts(
    policy: MountPolicy,
    now: Micros,
    left: &Waiting,
    elsewhere: Elsewhere<'_, impl IntoIterator<Item = Waiting>>,
) -> bool {
    if policy != MountPolicy::Ahead || left.is_overdue(now, elsewhere.rules) {
        return false;
    }
    let shares = elsewhere.shares;
    let spares = shares.can_spare(left.owner);
    let goes_before = |waiting: &Waiting| {
        let is_owed = spares && waiting.requests > 0 && !shares.is_served(waiting.owner);
        waiting.is_overdue(now, elsewhere.rules) || is_owed
    };
    let before = elsewhere.waiting.into_iter().filter(goes_before);
    before.take(elsewhere.soon_empty + 1).count() > elsewhere.soon_empty
}
