//! Which cartridge is mounted next, and on which drive.
//!
//! The problem is a value: the cartridges that wait with what is known of their requests, the
//! drives that are free with what is in them, and what a mount would cost. A policy answers for
//! one cartridge on one drive how soon it should go; [`next`] takes the first. Nothing here knows
//! of the simulation: a program that has real drives asks the same question with the same value.
//!
//! ```
//! use tapewise_model::Micros;
//! use tapewise_sim::mounts::{
//!     Choice, FreeDrive, KindId, MountPolicy, MountRules, Shares, Situation, Waiting, next,
//! };
//!
//! let waiting = |cartridge, requests| Waiting {
//!     requests,
//!     ..Waiting::first(cartridge, u64::from(cartridge), Micros::ZERO)
//! };
//! let drive = FreeDrive { drive: 0, kind: KindId(0), loaded: false, since: Micros::ZERO };
//! let situation = Situation {
//!     now: Micros(5_000_000),
//!     waiting: &[waiting(0, 2), waiting(1, 7)],
//!     drives: &[drive],
//!     reads: &|_kind, _medium| true,
//!     cost: &|waiting, _drive| Micros(90_000_000 + 20_000_000 * i64::from(waiting.requests)),
//!     rules: &MountRules::default(),
//!     shares: &Shares::default(),
//! };
//! let mount = |cartridge| Choice::Mount { place: cartridge, drive: 0 };
//! assert_eq!(next(MountPolicy::Oldest, &situation), mount(0));
//! assert_eq!(next(MountPolicy::MostRequests, &situation), mount(1));
//! ```

mod ahead;
mod cta;
mod cut;
mod fifo;
mod home;
mod index;
mod left;
mod matching;
mod most_requests;
mod oldest;
mod priority;
mod reason;
mod settings;
mod shares;

pub use cut::{Elsewhere, cuts, yields};
pub use home::{Pace, take_home};
pub use left::Left;
pub use reason::{Reason, Why, reason};
pub use settings::{MountSettings, Owner, PolicyError};
pub use shares::{OwnerId, Share, Shares, Standing};

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use tapewise_model::Micros;

/// The caller's number of a kind of cartridge, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumId(pub usize);

/// The caller's number of a kind of drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindId(pub usize);

/// A cartridge that waits for a drive, with what is known of its requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    /// The caller's number of the cartridge.
    pub cartridge: u32,
    /// Its medium.
    pub medium: MediumId,
    /// Counts cartridges in the order in which they became ready to be mounted.
    pub ready: u64,
    /// Requests that wait for it.
    pub requests: u32,
    /// Their sizes, summed, in decimal MB.
    pub size_mb: f64,
    /// The number of the oldest of them, counted in the order of arrival.
    pub oldest: u64,
    /// When the oldest arrived.
    pub oldest_arrived: Micros,
    /// The times of arrival of all of them, summed, in microseconds. From 1970 on they may be more than 64 bits.
    pub arrived_us: i128,
    /// The urgency of the most urgent one; higher is sooner.
    pub priority: u8,
    /// How much they count together: a request of urgency `p` counts two to the power of `p`.
    pub weight: f64,
    /// For whom it would be mounted: whoever of those who wait for it goes first by their shares.
    pub owner: OwnerId,
    /// The drive that it is in, where nobody takes it out before it is asked for.
    pub here: Option<u32>,
}

impl Waiting {
    /// A cartridge that one request without a size waits for.
    pub fn first(cartridge: u32, number: u64, arrived: Micros) -> Waiting {
        let mut first = Waiting {
            ready: number,
            ..Waiting::nobody(cartridge, MediumId(0))
        };
        first.add(number, arrived, 0.0, 0);
        first
    }

    /// Nobody asks for it.
    pub fn nobody(cartridge: u32, medium: MediumId) -> Waiting {
        Waiting {
            cartridge,
            medium,
            ready: u64::MAX,
            requests: 0,
            size_mb: 0.0,
            oldest: u64::MAX,
            oldest_arrived: Micros(i64::MAX),
            arrived_us: 0,
            priority: 0,
            weight: 0.0,
            owner: OwnerId(0),
            here: None,
        }
    }

    /// One more request waits for it.
    pub fn add(&mut self, number: u64, arrived: Micros, size_mb: f64, priority: u8) {
        self.requests += 1;
        self.size_mb += size_mb;
        self.oldest = self.oldest.min(number);
        self.oldest_arrived = self.oldest_arrived.min(arrived);
        self.arrived_us += i128::from(arrived.0);
        self.priority = self.priority.max(priority);
        self.weight += two_to(priority);
    }

    /// The same of a request as it was asked.
    pub fn add_asked(&mut self, one: &Asked) {
        self.add(one.number, one.arrived, one.size_mb, one.priority);
    }

    /// The same, where owners have shares: it would be mounted for whoever of those who wait for it goes first, and is
    /// known by what owners of that standing wait for. What the others wait for must not bring those forward.
    #[must_use]
    pub fn for_owners(
        self,
        shares: &Shares,
        requests: impl Iterator<Item = Asked> + Clone,
    ) -> Waiting {
        let owners = requests.clone().map(|request| request.owner);
        let owner = shares.neediest(owners).unwrap_or_default();
        let standing = shares.standing(owner);
        self.for_owner(
            owner,
            requests.filter(|one| shares.standing(one.owner) == standing),
        )
    }

    /// The same, where it is known for whom it would be mounted, and what for.
    #[must_use]
    pub fn for_owner(self, owner: OwnerId, requests: impl Iterator<Item = Asked>) -> Waiting {
        let mut seen = Waiting {
            ready: self.ready,
            here: self.here,
            owner,
            ..Waiting::nobody(self.cartridge, self.medium)
        };
        requests.for_each(|one| seen.add_asked(&one));
        seen
    }

    /// What waits for `other` waits for it too.
    pub fn join(&mut self, other: &Waiting) {
        self.requests += other.requests;
        self.size_mb += other.size_mb;
        self.oldest = self.oldest.min(other.oldest);
        self.oldest_arrived = self.oldest_arrived.min(other.oldest_arrived);
        self.arrived_us += other.arrived_us;
        self.priority = self.priority.max(other.priority);
        self.weight += other.weight;
    }

    /// Whether its oldest request has waited for `overdue_s`.
    pub fn is_overdue(&self, now: Micros, rules: &MountRules) -> bool {
        let overdue = Micros::from_secs_f64(rules.overdue_s);
        self.requests > 0 && self.oldest_arrived + overdue <= now
    }

    /// How long its requests have waited, summed.
    pub fn waited(&self, now: Micros) -> Micros {
        let waited_us = i128::from(now.0) * i128::from(self.requests) - self.arrived_us;
        Micros(i64::try_from(waited_us).unwrap_or(i64::MAX))
    }
}

/// Two to the power of a number, by its exponent alone: this is asked more often than the library function is quick.
fn two_to(power: u8) -> f64 {
    f64::from_bits((1023 + u64::from(power)) << 52)
}

/// A request that waits for a cartridge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Who asked.
    pub owner: OwnerId,
    /// Its number, counted in the order of arrival.
    pub number: u64,
    /// When it arrived.
    pub arrived: Micros,
    /// Its size, in decimal MB.
    pub size_mb: f64,
    /// Its urgency; higher is sooner.
    pub priority: u8,
}

/// A drive that could be given a cartridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeDrive {
    /// The caller's number of the drive.
    pub drive: u32,
    /// Its kind.
    pub kind: KindId,
    /// Whether a cartridge that nobody asks for is still in it.
    pub loaded: bool,
    /// Since when it has been free.
    pub since: Micros,
}

impl FreeDrive {
    /// Which of several is taken, the least: an empty one before one with a cartridge, then the one free for longest.
    #[inline]
    pub fn turn(&self) -> (bool, Micros, u32) {
        (self.loaded, self.since, self.drive)
    }
}

/// What is known when a drive becomes free or a request arrives.
pub struct Situation<'a> {
    /// The time.
    pub now: Micros,
    /// Cartridges that could be mounted, in the order in which they became ready.
    pub waiting: &'a [Waiting],
    /// Drives that could be given one.
    pub drives: &'a [FreeDrive],
    /// Whether a kind of drive reads a medium.
    pub reads: &'a dyn Fn(KindId, MediumId) -> bool,
    /// The time for which a cartridge would occupy a drive: from the drive's last cartridge, if it
    /// is still there, to this one back in its slot.
    pub cost: &'a dyn Fn(&Waiting, &FreeDrive) -> Micros,
    /// The numbers that a site chooses.
    pub rules: &'a MountRules,
    /// Who has how many drives, and who should have.
    pub shares: &'a Shares,
}

/// The numbers of the policies, as a site chooses them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MountRules {
    /// CTA: the age of the oldest request at which a cartridge is mounted however little is asked
    /// of it.
    pub least_age_s: f64,
    /// CTA: this many requests are worth a mount at once.
    pub enough_requests: u32,
    /// CTA: this much data is worth a mount at once.
    pub enough_gb: f64,
    /// Index: a cartridge whose oldest request has waited this long goes before all that have not.
    pub overdue_s: f64,
    /// Index: how much more a request weighs that has waited longer than is usual: the power of how many times as long.
    pub age: f64,
    /// Index: the owners' shares of the drives, by number; whoever is not listed has 1.
    pub shares: Vec<f64>,
    /// Index: drives that no user alone is given, so that the others find one that is free.
    pub spare_drives: u32,
    /// Index: the most drives that one user is given.
    pub drives_per_user: Option<u32>,
    /// Index: users and activities of the owners, by number, as [`MountSettings`] has them. Whoever is not listed is a
    /// user of the first activity, with the share in `shares`.
    #[serde(skip)]
    pub owners: Vec<Share>,
}

impl MountRules {
    /// The share of an owner.
    pub fn share(&self, OwnerId(owner): OwnerId) -> Share {
        let alone = || Share {
            activity: 0,
            of_activity: 1.0,
            user: owner,
            of_user: self.shares.get(owner as usize).copied().unwrap_or(1.0),
        };
        self.owners
            .get(owner as usize)
            .copied()
            .unwrap_or_else(alone)
    }
}

impl Default for MountRules {
    fn default() -> MountRules {
        MountRules {
            least_age_s: 300.0,
            enough_requests: 10_000,
            enough_gb: 500.0,
            overdue_s: 4.0 * 3600.0,
            age: 1.0,
            shares: Vec::new(),
            spare_drives: 0,
            drives_per_user: None,
            owners: Vec::new(),
        }
    }
}

/// How soon a cartridge should go: the least first. The number behind breaks ties: the age.
pub(crate) type Rank = (Reverse<u64>, u64);

/// What goes before a policy's own rank: owners that have fewer drives than their share, then what is in the drive.
type Place = (Standing, bool, Rank);

/// One policy as the list knows it; each stands in a file of its own.
pub(crate) struct PolicyKind {
    /// Its name in a scenario.
    pub(crate) name: &'static str,
    /// How soon a cartridge should go on a drive, or the time before which it should not. The time is how long all that
    /// waits has waited on average.
    pub(crate) rank: fn(&Situation, Micros, &Waiting, &FreeDrive) -> Result<Rank, Micros>,
    /// What it prefers.
    pub(crate) why: Why,
}

impl PolicyKind {
    /// Whether it asks what a mount costs.
    fn prices(&self) -> bool {
        self.why == Why::Worth
    }
}

/// Makes an enumeration of a list: the name of a policy here, and what its file says of it.
macro_rules! policies {
    ($($(#[$doc:meta])* $name:ident: $kind:expr,)*) => {
        /// Which cartridge a free drive gets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum MountPolicy {
            $($(#[$doc])* $name,)*
        }

        impl MountPolicy {
            /// All of them, in the order in which tables list them.
            pub const ALL: [MountPolicy; [$(MountPolicy::$name,)*].len()] =
                [$(MountPolicy::$name,)*];

            fn kind(self) -> &'static PolicyKind {
                match self {
                    $(MountPolicy::$name => &$kind,)*
                }
            }
        }
    };
}

policies! {
    /// The one that was ready to be mounted first.
    Fifo: fifo::KIND,
    /// The one with the oldest request.
    Oldest: oldest::KIND,
    /// The one with most requests; of these the one with the oldest.
    MostRequests: most_requests::KIND,
    /// The one with the most urgent request; of these the one with the oldest.
    Priority: priority::KIND,
    /// As CTA does: thresholds first, then urgency, then age.
    Cta: cta::KIND,
    /// Ours: most waiting served per second of the drive, with a limit to every wait.
    Index: index::KIND,
    /// Ours: the index, with free drives matched at once, cartridges taken home early, and mounts cut
    /// short for what is overdue.
    Ahead: ahead::KIND,
}

impl MountPolicy {
    /// Its name in a scenario.
    pub fn name(self) -> &'static str {
        self.kind().name
    }

    /// The policy of a name.
    pub fn from_name(name: &str) -> Option<MountPolicy> {
        MountPolicy::ALL
            .into_iter()
            .find(|policy| policy.name() == name)
    }

    /// Whether it asks what a mount costs. Such a policy sees to owners' shares too.
    pub fn prices(self) -> bool {
        self.kind().prices()
    }

    /// Whether it mounts a cartridge that waits alone at once, on the first drive that reads it.
    pub fn takes_what_comes(self) -> bool {
        matches!(
            self,
            MountPolicy::Fifo
                | MountPolicy::Oldest
                | MountPolicy::MostRequests
                | MountPolicy::Priority
        )
    }
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Mount the cartridge at this place of the list on this drive, by its place in the list.
    Mount {
        /// Place in [`Situation::waiting`].
        place: usize,
        /// Place in [`Situation::drives`].
        drive: usize,
    },
    /// Nothing is due before that time, unless something arrives; `None`: not before something
    /// happens.
    Wait(Option<Micros>),
}

/// What a policy does in a situation: the same for the same value, on any machine.
///
/// Of the drives that read a medium an empty one is taken before one that has a cartridge, and of
/// these the one that has been free for longest. A cartridge that is in a drive stays in it.
pub fn next(policy: MountPolicy, situation: &Situation) -> Choice {
    // Looked for once for each of the first media; few libraries have more.
    let mut at_hand: [Option<Option<usize>>; 8] = [None; 8];
    let mut drive_for = |medium: MediumId| match at_hand.get_mut(medium.0) {
        Some(known) => *known.get_or_insert_with(|| free_drive(situation, medium)),
        None => free_drive(situation, medium),
    };
    let mut best: Option<(Place, usize, usize)> = None;
    let mut not_before: Option<Micros> = None;
    let mut ranked = Vec::new();
    let (prices, rank) = (policy.prices(), policy.kind().rank);
    let usual = if prices {
        usual_wait(situation)
    } else {
        Micros::ZERO
    };
    let matches = policy == MountPolicy::Ahead && differ(situation.drives);
    for (place, waiting) in situation.waiting.iter().enumerate() {
        let drive = match waiting.here {
            Some(here) => (situation.drives.iter()).position(|drive| drive.drive == here),
            None => drive_for(waiting.medium),
        };
        let standing = standing(policy, situation, waiting);
        let Some(drive) = drive.filter(|_| !standing.is_at_limit) else {
            continue;
        };
        // A policy that prices mounts knows what it saves to go on.
        let goes_on = !prices && waiting.here.is_some();
        let rank = rank(situation, usual, waiting, &situation.drives[drive]);
        match rank.map(|rank| (standing, !goes_on, rank)) {
            Ok(rank) if matches => ranked.push((rank, place)),
            Ok(rank) if best.is_none_or(|(least, ..)| rank < least) => {
                best = Some((rank, place, drive));
            }
            Ok(_) => {}
            Err(time) => not_before = Some(not_before.map_or(time, |known| known.min(time))),
        }
    }
    let first = if matches {
        matching::first(situation, &ranked)
    } else {
        best.map(|(_, place, drive)| (place, drive))
    };
    match first {
        Some((place, drive)) => Choice::Mount { place, drive },
        None => Choice::Wait(not_before),
    }
}

/// What stands before the next drive of whoever a cartridge would be mounted for, if the policy sees to shares.
fn standing(policy: MountPolicy, situation: &Situation, waiting: &Waiting) -> Standing {
    if policy.prices() {
        situation.shares.standing(waiting.owner)
    } else {
        Standing::default()
    }
}

/// How long all requests that wait have waited, on average.
fn usual_wait(situation: &Situation) -> Micros {
    let waiting = situation.waiting.iter();
    let (sum, requests) = waiting.fold((0, 0), |(sum, requests), one| {
        let waited = i128::from(one.waited(situation.now).0);
        (sum + waited, requests + i128::from(one.requests))
    });
    Micros((sum / requests.max(1)) as i64)
}

/// Whether there are free drives of several kinds.
fn differ(drives: &[FreeDrive]) -> bool {
    drives.windows(2).any(|two| two[0].kind != two[1].kind)
}

fn free_drive(situation: &Situation, medium: MediumId) -> Option<usize> {
    let reads = |&place: &usize| (situation.reads)(situation.drives[place].kind, medium);
    let places = (0..situation.drives.len()).filter(reads);
    places.min_by_key(|&place| situation.drives[place].turn())
}
