//! Who has how many drives, and who should have.
//!
//! An owner is whoever a site divides its drives among: users, groups or activities. Owners for whom something waits
//! or a drive works are *active*, and the drives are due to them in proportion to their shares. An owner that has as
//! many drives as are due to it is *served*: what others wait for goes first.

/// The caller's number of an owner, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerId(pub u32);

/// The owners that are active, with the drives that work for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    drives: usize,
    /// By number: share, drives at work, and whether anything is asked for.
    owners: Vec<(f64, usize, bool)>,
    /// Of the active owners.
    sum: f64,
}

impl Shares {
    /// Nobody is active yet in a library of so many drives.
    pub fn of(drives: usize) -> Shares {
        Shares {
            drives,
            ..Shares::default()
        }
    }

    /// Something waits for a cartridge that an owner asked for.
    pub fn waits(&mut self, OwnerId(owner): OwnerId, share: f64) {
        let owner = owner as usize;
        if self.owners.len() <= owner {
            self.owners.resize(owner + 1, (0.0, 0, false));
        }
        let known = &mut self.owners[owner];
        if !known.2 {
            (known.0, known.2) = (share, true);
            self.sum += share;
        }
    }

    /// A drive works for an owner.
    pub fn works(&mut self, owner: OwnerId, share: f64) {
        self.waits(owner, share);
        self.owners[owner.0 as usize].1 += 1;
    }

    /// Whether an owner has as many drives as are due to it. Where only one is active, it never has.
    pub fn is_served(&self, owner: OwnerId) -> bool {
        let (has, due) = self.has_and_due(owner);
        self.sum > 0.0 && has as f64 >= due
    }

    /// Whether an owner would still have as many drives as are due to it if one of them stopped.
    pub fn can_spare(&self, owner: OwnerId) -> bool {
        let (has, due) = self.has_and_due(owner);
        self.sum > 0.0 && has as f64 - 1.0 >= due
    }

    /// Whether one more drive for an owner would leave less than `spare` to all others; never where there is no other
    /// drive than those.
    pub(super) fn leaves_less_than(&self, spare: usize, owner: OwnerId) -> bool {
        let (has, _) = self.has_and_due(owner);
        (1..self.drives).contains(&spare) && has + spare >= self.drives
    }

    /// Of several owners the one that has the fewest drives for its share, by number among equals.
    pub fn neediest(&self, owners: impl IntoIterator<Item = OwnerId>) -> Option<OwnerId> {
        let served = |owner: OwnerId| {
            let (has, due) = self.has_and_due(owner);
            has as f64 / due.max(f64::MIN_POSITIVE)
        };
        let less = |a: &OwnerId, b: &OwnerId| served(*a).total_cmp(&served(*b)).then(a.cmp(b));
        owners.into_iter().min_by(less)
    }

    fn has_and_due(&self, OwnerId(owner): OwnerId) -> (usize, f64) {
        let known = self.owners.get(owner as usize);
        let (share, has, _) = known.copied().unwrap_or_default();
        (has, self.drives as f64 * share / self.sum)
    }
}
