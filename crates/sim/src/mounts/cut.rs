//! Whether a mount ends for something elsewhere: between two reads for what must not wait for its end, and after what it
//! was for, for owners who go before those who want more of it.

use super::{MountPolicy, MountRules, Shares, Waiting};
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

/// Whether a drive that has read what it was mounted for is given away, and does not go on with what others want of its
/// cartridge (`left`): somebody waits who goes before them by their shares, and no drive on its way to be empty will
/// serve those. `waiting` are the cartridges that this drive could read.
pub fn yields(
    shares: &Shares,
    left: &Waiting,
    waiting: impl Iterator<Item = Waiting>,
    soon_empty: usize,
) -> bool {
    let here = shares.standing(left.owner);
    let before = waiting.filter(|one| shares.standing(one.owner) < here);
    before.take(soon_empty + 1).count() > soon_empty
}
