//! What each owner has of the drives, and what holds recalls back.

use super::busy::Floor;
use super::wanted::WantedVolume;
use crate::catalogue::Waiting;
use crate::deliver::shown;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use tapewise_sim::mounts::{MountRules, MountSettings, Owner, OwnerId, Shares};

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

/// What each owner has of the drives, and what waits for more.
pub(crate) fn owner_shares(
    settings: &MountSettings,
    volumes: &[WantedVolume],
    floor: &Floor<'_>,
) -> Vec<OwnerShare> {
    let division = Division::of(settings, volumes, floor);
    let mut counted = HashSet::new();
    let ids = (0..division.owners.len() as u32).map(OwnerId);
    let limits: Vec<Option<Hold>> = (ids.clone())
        .map(|id| {
            let standing = division.shares.standing(id);
            standing.is_at_limit.then(|| Hold::User {
                drives: (division.shares).drives_of(division.rules.share(id).user),
            })
        })
        .collect();
    let mut waiting = vec![0; limits.len()];
    let mut held = vec![BTreeMap::new(); limits.len()];
    for (one, OwnerId(id)) in division
        .recalls(volumes)
        .filter(|(one, _)| counted.insert(one.request))
    {
        let id = id as usize;
        waiting[id] += 1;
        let hold = limits[id].clone();
        if let Some(hold) = hold.or_else(|| destination_hold(settings, one, floor)) {
            *held[id].entry(hold).or_insert(0) += 1;
        }
    }
    let counts = waiting.into_iter().zip(held);
    let owners = division.owners.iter().zip(ids).zip(counts);
    owners
        .map(|((&owner, id), (waiting, held))| {
            let (drives, due) = division.shares.has_and_due(id);
            OwnerShare {
                owner: owner.clone(),
                drives,
                due,
                waiting,
                held: held.into_iter().collect(),
            }
        })
        .collect()
}

/// Why the directory that a recall goes to takes no more. What was begun on another volume goes on.
pub(super) fn destination_hold(
    settings: &MountSettings,
    waiting: &Waiting,
    floor: &Floor<'_>,
) -> Option<Hold> {
    let most = settings.recalls_per_destination?;
    let place = waiting.place.as_ref().filter(|_| !waiting.has_begun())?;
    let begun = floor.begun.get(place).copied().unwrap_or(0);
    (begun >= u64::from(most)).then(|| Hold::Destination {
        place: place.clone(),
        begun,
    })
}

/// The drives, divided among those who ask.
pub(super) struct Division<'a> {
    /// In order: the number of each is its place.
    pub owners: Vec<&'a Owner>,
    /// Who wants something of each volume, in order.
    pub of_volumes: Vec<Vec<OwnerId>>,
    pub rules: MountRules,
    pub shares: Shares,
}

impl<'a> Division<'a> {
    /// Who has how many drives.
    pub fn of(
        settings: &MountSettings,
        volumes: &'a [WantedVolume],
        floor: &Floor<'a>,
    ) -> Division<'a> {
        let mut found: HashMap<&Owner, u32> = HashMap::new();
        let mut number = |owner: &'a Owner| {
            let next = found.len() as u32;
            OwnerId(*found.entry(owner).or_insert(next))
        };
        let mut of_volumes: Vec<Vec<OwnerId>> = volumes
            .iter()
            .map(|wanted| {
                let owners = wanted.sums().of_owners.iter();
                owners.map(|(owner, _)| number(owner)).collect()
            })
            .collect();
        let at_work: Vec<OwnerId> = floor.at_work.iter().map(number).collect();
        let mut owners: Vec<(&Owner, u32)> = found.into_iter().collect();
        owners.sort_unstable();
        let mut ids = vec![OwnerId(0); owners.len()];
        for (id, (_, number)) in (0..).map(OwnerId).zip(&owners) {
            ids[*number as usize] = id;
        }
        for number in of_volumes.iter_mut().flatten() {
            *number = ids[number.0 as usize];
        }
        let owners: Vec<&Owner> = owners.into_iter().map(|(owner, _)| owner).collect();
        let rules = settings.rules(owners.iter().copied());
        let mut shares = Shares::of(floor.drives, &rules);
        for &id in &ids {
            shares.waits(id, rules.share(id));
        }
        for OwnerId(number) in at_work {
            let id = ids[number as usize];
            shares.works(id, rules.share(id));
        }
        Division {
            owners,
            of_volumes,
            rules,
            shares,
        }
    }

    /// The recalls of the volumes, and whose each of them is.
    pub fn recalls(
        &self,
        volumes: &'a [WantedVolume],
    ) -> impl Iterator<Item = (&'a Waiting, OwnerId)> {
        let all = volumes.iter().flat_map(|wanted| &wanted.queue().waiting);
        all.map(|one| (one, self.id(&one.owner)))
    }

    /// The number of an owner for whom something waits or is read.
    pub fn id(&self, owner: &Owner) -> OwnerId {
        let place = self.owners.binary_search(&owner);
        OwnerId(place.map_or(0, |place| place as u32))
    }
}
