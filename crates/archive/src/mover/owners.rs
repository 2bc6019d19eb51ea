//! What each owner has of the drives, and what holds recalls back.

use super::choice::{Chooser, Floor};
use crate::catalogue::{VolumeQueue, Waiting};
use crate::deliver::shown;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use tapewise_sim::mounts::{MountRules, Owner, OwnerId, Shares};

/// What an owner has of the drives, and what waits for more.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnerShare {
    /// A user, in an activity.
    pub owner: Owner,
    /// Drives that work for the owner.
    pub drives: usize,
    /// Drives that are due, beside the others who wait or are served.
    pub due: f64,
    /// Recalls in the queue.
    pub waiting: usize,
    /// What holds some of them back, and how many.
    pub held: Vec<(Hold, usize)>,
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// As many drives work for the user as one user is given.
    User {
        /// How many.
        drives: usize,
    },
    /// As many recalls to a directory have been begun as may be.
    Destination {
        /// The directory.
        place: Vec<u8>,
        /// How many.
        begun: u64,
    },
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::User { drives: 1 } => write!(f, "1 drive works for this user, and no more may"),
            Hold::User { drives } => {
                write!(f, "{drives} drives work for this user, and no more may")
            }
            Hold::Destination { place, begun } => write!(
                f,
                "drives have begun {begun} of the recalls to {}, and no more may be begun",
                shown(place)
            ),
        }
    }
}

impl Chooser<'_> {
    /// What each owner has of the drives, and what waits for more.
    pub fn shares(&self, volumes: &[VolumeQueue], floor: &Floor<'_>) -> Vec<OwnerShare> {
        let division = self.division(volumes, floor);
        let mut counted = HashSet::new();
        let of_owner = |(owner, id): (&&Owner, OwnerId)| {
            let standing = division.shares.standing(id);
            let user = standing.is_at_limit.then(|| Hold::User {
                drives: (division.shares).drives_of(division.rules.share(id).user),
            });
            let (drives, due) = division.shares.has_and_due(id);
            let mut held = BTreeMap::new();
            let mut waiting = 0;
            let all = volumes.iter().flat_map(|queue| &queue.waiting);
            for one in all.filter(|one| one.owner == **owner) {
                if !counted.insert(one.request) {
                    continue;
                }
                waiting += 1;
                let hold = user.clone().or_else(|| self.destination_hold(one, floor));
                if let Some(hold) = hold {
                    *held.entry(hold).or_insert(0) += 1;
                }
            }
            OwnerShare {
                owner: (*owner).clone(),
                drives,
                due,
                waiting,
                held: held.into_iter().collect(),
            }
        };
        let owners = division.owners.iter().zip((0..).map(OwnerId));
        owners.map(of_owner).collect()
    }

    /// Who has how many drives.
    pub(super) fn division<'b>(
        &self,
        volumes: &'b [VolumeQueue],
        floor: &Floor<'b>,
    ) -> Division<'b> {
        let all = || volumes.iter().flat_map(|queue| &queue.waiting);
        let waiting = all().map(|one| &one.owner);
        let owners: BTreeSet<&Owner> = waiting.chain(floor.at_work).collect();
        let rules = self.settings.rules(owners.iter().copied());
        let mut division = Division {
            shares: Shares::of(floor.drives, &rules),
            owners: owners.into_iter().collect(),
            rules,
        };
        for one in all() {
            let id = division.id(&one.owner);
            division.shares.waits(id, division.rules.share(id));
        }
        for owner in floor.at_work {
            let id = division.id(owner);
            division.shares.works(id, division.rules.share(id));
        }
        division
    }

    /// Why the directory that a recall goes to takes no more. What was begun on another volume goes on.
    pub(super) fn destination_hold(&self, waiting: &Waiting, floor: &Floor<'_>) -> Option<Hold> {
        let most = self.settings.recalls_per_destination?;
        let place = waiting.place.as_ref().filter(|_| !waiting.has_begun())?;
        let begun = floor.begun.get(place).copied().unwrap_or(0);
        (begun >= u64::from(most)).then(|| Hold::Destination {
            place: place.clone(),
            begun,
        })
    }
}

/// The drives, divided among those who ask.
pub(super) struct Division<'a> {
    /// In order: the number of each is its place.
    pub owners: Vec<&'a Owner>,
    pub rules: MountRules,
    pub shares: Shares,
}

impl Division<'_> {
    pub fn id(&self, owner: &Owner) -> OwnerId {
        OwnerId(self.owners.partition_point(|&other| other < owner) as u32)
    }
}
