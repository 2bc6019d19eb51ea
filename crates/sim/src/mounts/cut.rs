//! Whether a mount ends between two reads, for something elsewhere that must not wait for its end.

use super::{MountPolicy, MountRules, Waiting};
use tapewise_model::Micros;

/// What waits for a drive elsewhere in the library.
pub struct Elsewhere<'a, I> {
    /// The cartridges that this drive could read.
    pub waiting: I,
    /// Drives on their way to be empty: each of them serves one of these cartridges.
    pub soon_empty: usize,
    /// The numbers that a site chooses.
    pub rules: &'a MountRules,
}

/// Whether a drive stops reading for one of the cartridges that wait elsewhere: for one whose oldest request is
/// overdue. If what the drive has not read yet (`left`) is overdue too, the drive goes on.
///
/// So the mount of something overdue is never cut, and every mount of an overdue request answers it. No drive stops
/// for a cartridge that a drive on its way to be empty will serve.
pub fn cuts(
    policy: MountPolicy,
    now: Micros,
    left: &Waiting,
    elsewhere: Elsewhere<'_, impl IntoIterator<Item = Waiting>>,
) -> bool {
    let Elsewhere {
        waiting,
        soon_empty,
        rules,
    } = elsewhere;
    if policy != MountPolicy::Ahead || left.is_overdue(now, rules) {
        return false;
    }
    let overdue = waiting.into_iter().filter(|one| one.is_overdue(now, rules));
    overdue.take(soon_empty + 1).count() > soon_empty
}
