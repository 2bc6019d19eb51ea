//! Who has how many drives, and who should have.
//!
//! An owner is a user in an activity. Owners for whom something waits or a drive works are *active*. The drives are
//! divided twice: among the active activities in proportion to their shares, and what is due to an activity among its
//! active users in proportion to theirs. Whoever has as many drives as are due is *served*: what others wait for goes
//! first. A user who has all drives that one user is given, in whatever activities, is given no other one.

use super::MountRules;
use std::cmp::Ordering;

/// The caller's number of an owner, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerId(pub u32);

/// What is due to an owner, beside others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// The caller's number of the activity, from 0.
    pub activity: u32,
    /// The share of the activity among all activities.
    pub of_activity: f64,
    /// The caller's number of the user, from 0: the same in all activities.
    pub user: u32,
    /// The share of the user among those of the activity.
    pub of_user: f64,
}

/// What stands before an owner's next drive; the least goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// The user has all drives that one user is given.
    pub is_at_limit: bool,
    /// The activity has as many drives as are due to it.
    pub activity_is_served: bool,
    /// The user has as many drives as are due within the activity.
    pub user_is_served: bool,
}

/// The owners that are active, with the drives that work for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    drives: usize,
    most_per_user: usize,
    /// By number, with the drives at work; none where nothing is asked for.
    owners: Vec<Option<(Share, usize)>>,
    activities: Vec<Activity>,
    /// Of the active activities.
    sum: f64,
    /// Drives at work, by the number of the user.
    users: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Activity {
    /// Zero where it is not active.
    share: f64,
    /// The shares of its active users, summed.
    of_users: f64,
    has: usize,
}

impl Shares {
    /// Nobody is active yet in a library of this many drives.
    pub fn of(drives: usize, rules: &MountRules) -> Shares {
        // Where there are no other drives than the spare ones, they are not kept from anybody.
        let spare = Some(rules.spare_drives as usize).filter(|spare| *spare < drives);
        let limit = rules
            .drives_per_user
            .map_or(usize::MAX, |most| most as usize);
        Shares {
            drives,
            most_per_user: limit.min(drives - spare.unwrap_or(0)),
            ..Shares::default()
        }
    }

    /// Something waits for a cartridge that an owner asked for.
    pub fn waits(&mut self, OwnerId(owner): OwnerId, share: Share) {
        let known = at(&mut self.owners, owner);
        if known.is_some() {
            return;
        }
        *known = Some((share, 0));
        let activity = at(&mut self.activities, share.activity);
        if activity.share == 0.0 {
            activity.share = share.of_activity;
            self.sum += share.of_activity;
        }
        activity.of_users += share.of_user;
    }

    /// A drive works for an owner.
    pub fn works(&mut self, owner: OwnerId, share: Share) {
        self.waits(owner, share);
        if let Some((_, has)) = at(&mut self.owners, owner.0) {
            *has += 1;
        }
        at(&mut self.activities, share.activity).has += 1;
        *at(&mut self.users, share.user) += 1;
    }

    /// What stands before an owner's next drive. Where only one owner is active, only the limit does.
    pub fn standing(&self, owner: OwnerId) -> Standing {
        let Some((share, _)) = self.active(owner) else {
            return Standing::default();
        };
        let [activity, user] = self.used(owner);
        Standing {
            is_at_limit: self.drives_of(share.user) >= self.most_per_user,
            activity_is_served: activity >= 1.0,
            user_is_served: user >= 1.0,
        }
    }

    /// Of several owners the one that goes first: by what stands before them, then by how much of what is due to
    /// activity and user they have, then by number.
    pub fn neediest(&self, owners: impl IntoIterator<Item = OwnerId>) -> Option<OwnerId> {
        owners.into_iter().min_by(|a, b| self.compare(*a, *b))
    }

    fn compare(&self, a: OwnerId, b: OwnerId) -> Ordering {
        let [(of_a, a_has), (of_b, b_has)] = [a, b].map(|one| (self.standing(one), self.used(one)));
        let by_need = a_has[0]
            .total_cmp(&b_has[0])
            .then(a_has[1].total_cmp(&b_has[1]));
        of_a.cmp(&of_b).then(by_need).then(a.cmp(&b))
    }

    /// The drives that work for an owner, and those that are due to it.
    pub fn has_and_due(&self, owner: OwnerId) -> (usize, f64) {
        let known = self.active(owner);
        known.map_or((0, 0.0), |(share, has)| (has, self.due(&share).1))
    }

    /// The drives that work for a user, in all activities.
    pub fn drives_of(&self, user: u32) -> usize {
        self.users.get(user as usize).copied().unwrap_or(0)
    }

    /// How much of what is due to them an owner's activity has, and its user.
    fn used(&self, owner: OwnerId) -> [f64; 2] {
        let Some((share, has)) = self.active(owner) else {
            return [0.0; 2];
        };
        let (of_activity, of_user) = self.due(&share);
        let activity_has = self.activities[share.activity as usize].has;
        [
            activity_has as f64 / of_activity.max(f64::MIN_POSITIVE),
            has as f64 / of_user.max(f64::MIN_POSITIVE),
        ]
    }

    /// The drives that are due to an active owner's activity, and to its user.
    fn due(&self, share: &Share) -> (f64, f64) {
        let activity = &self.activities[share.activity as usize];
        let of_activity = self.drives as f64 * activity.share / self.sum;
        (of_activity, of_activity * share.of_user / activity.of_users)
    }

    fn active(&self, OwnerId(owner): OwnerId) -> Option<(Share, usize)> {
        self.owners.get(owner as usize).copied().flatten()
    }
}

/// What has a number in a list, which grows to have it.
fn at<T: Clone + Default>(list: &mut Vec<T>, number: u32) -> &mut T {
    let number = number as usize;
    if list.len() <= number {
        list.resize(number + 1, T::default());
    }
    &mut list[number]
}
