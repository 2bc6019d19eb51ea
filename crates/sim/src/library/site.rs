//! A scenario made ready: profiles looked up, times complete, load checked.

use super::estimate::MountCost;
use super::mechanics::{Mechanics, ReadOrder};
use super::weights::{mean_drawn, running_sums, zipf};
use crate::distribution::{Distribution, Way};
use crate::mounts::{FreeDrive, MediumId, Waiting};
use crate::scenario::{
    Arrivals, CartridgePick, Cleaning, Dismount, DriveGroup, Failures, Library, Overload,
    PlacePick, RobotGroup, Scenario, ScenarioError,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use tapewise_model::profile::ProfileError;
use tapewise_model::{Micros, Profile};
use tapewise_order::{Algorithm, Objective};

/// A scenario that can be run.
pub struct Site {
    pub(super) scenario: Scenario,
    pub(super) halls: Vec<Hall>,
    pub(super) order: ReadOrder,
    pub(super) library_weights: Vec<f64>,
    pub(super) priority_weights: Vec<f64>,
    pub(super) place_weights: Vec<f64>,
    /// By name.
    profiles: BTreeMap<String, Profile>,
}

/// A library made ready.
pub(super) struct Hall {
    pub kinds: Vec<Kind>,
    /// Kind of each drive.
    pub drives: Vec<usize>,
    pub robots: usize,
    pub get: Way,
    pub put: Way,
    pub cartridges: Shelf,
    /// Running sums of how often each is asked for, where that differs.
    pub popularity: Vec<f64>,
    /// What mounts cost on drives of each kind, if the mount policy asks.
    pub estimates: Vec<MountCost>,
    /// From the robot's way to a drive to the first search, and from the last read to an empty drive, on
    /// average over the drives.
    pub before_s: f64,
    pub after_s: f64,
}

/// The cartridges of a library, which are alike in groups.
#[derive(Default)]
pub(super) struct Shelf {
    /// The end of each group, its medium and its written part.
    groups: Vec<(usize, MediumId, f64)>,
}

impl Shelf {
    pub(super) fn len(&self) -> usize {
        self.groups.last().map_or(0, |&(end, ..)| end)
    }

    fn add(&mut self, count: u32, medium: MediumId, filled: f64) {
        self.groups
            .push((self.len() + count as usize, medium, filled));
    }

    /// How far a cartridge is from the first, as a share of the way to the last.
    pub(super) fn distance(&self, cartridge: u32) -> f64 {
        f64::from(cartridge) / (self.len() - 1).max(1) as f64
    }

    /// Medium and written part of a cartridge.
    pub(super) fn get(&self, cartridge: u32) -> (MediumId, f64) {
        let group = self
            .groups
            .partition_point(|&(end, ..)| end <= cartridge as usize);
        let (_, medium, filled) = self.groups[group];
        (medium, filled)
    }
}

/// Drives of one kind.
pub(super) struct Kind {
    pub mechanics: Mechanics,
    /// Whether it reads each medium.
    pub reads: Vec<bool>,
    pub cleaning: Option<Cleaning>,
    pub failures: Option<Failures>,
}

impl Hall {
    fn estimate(&mut self, order: ReadOrder) {
        let robot_s = [self.get.mean(0.5), self.put.mean(0.5)];
        let of = |kind: &Kind| MountCost::new(&kind.mechanics, order, robot_s);
        self.estimates = self.kinds.iter().map(of).collect();
        let mean = |time: &dyn Fn(&MountCost) -> Micros| {
            let sum: Micros = self
                .drives
                .iter()
                .map(|&kind| time(&self.estimates[kind]))
                .sum();
            sum.as_secs_f64() / self.drives.len() as f64
        };
        (self.before_s, self.after_s) = (mean(&MountCost::before), mean(&MountCost::after));
    }

    /// The time for which a mount would occupy the drive. A mount answers at most the given number of requests; their
    /// size is the mean of all that wait.
    pub(super) fn mount_cost(
        &self,
        waiting: &Waiting,
        most: Option<u32>,
        motion: &[Micros],
        drive: &FreeDrive,
    ) -> Micros {
        let estimate = self.estimates.get(drive.kind.0);
        let read = most.unwrap_or(u32::MAX).min(waiting.requests);
        let size_mb = waiting.size_mb * f64::from(read) / f64::from(waiting.requests.max(1));
        let cost = |of: &MountCost| match motion.get(drive.kind.0) {
            _ if waiting.here.is_some() => of.goes_on(read, size_mb),
            Some(&motion) => of.cost_of(motion, size_mb, drive.loaded),
            None => of.cost(read, size_mb, drive.loaded),
        };
        estimate.map_or(Micros::ZERO, cost)
    }

    /// Whether a drive reads what is wanted of its cartridge, as far as the mount has room, in less time than it takes to
    /// come back for it.
    pub(super) fn is_short(&self, wanted: &Waiting, room: u32, kind: usize) -> bool {
        let read = room.min(wanted.requests);
        let size_mb = wanted.size_mb * f64::from(read) / f64::from(wanted.requests.max(1));
        let estimate = self.estimates.get(kind);
        estimate.is_some_and(|cost| cost.is_short(read, size_mb))
    }
}

impl Site {
    /// Makes a scenario ready; `find` knows the profiles by name.
    ///
    /// # Errors
    /// [`ScenarioError`]: an impossible value, a profile that is not there or knows too little, or
    /// more load than drives or robots could bear in any order.
    pub fn new(
        scenario: &Scenario,
        find: impl Fn(&str) -> Result<Profile, ProfileError>,
    ) -> Result<Site, ScenarioError> {
        scenario.check()?;
        let profiles = RefCell::new(BTreeMap::new());
        let find = |name: &str| {
            find(name).inspect(|profile| {
                let known = (name.to_owned(), profile.clone());
                profiles.borrow_mut().extend([known]);
            })
        };
        let mut halls = Vec::new();
        for library in &scenario.libraries {
            halls.push(hall(scenario, library, &find)?);
        }
        let order = order(scenario, &halls)?;
        if scenario.policy.mount.prices() {
            halls.iter_mut().for_each(|hall| hall.estimate(order));
        }
        let shares = scenario.libraries.iter().map(|library| library.share);
        let urgency = scenario.what.priorities.iter().map(|class| class.share);
        let site = Site {
            library_weights: running_sums(shares),
            priority_weights: running_sums(urgency),
            place_weights: match scenario.what.places {
                PlacePick::Zipf { parts, exponent } => zipf(parts, exponent),
                _ => Vec::new(),
            },
            scenario: scenario.clone(),
            halls,
            order,
            profiles: profiles.into_inner(),
        };
        site.bears()?;
        Ok(site)
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// A number that differs between scenarios, for telling whether shards belong together (FNV-1a
    /// over everything that is stated, in profiles too).
    pub fn fingerprint(&self) -> u64 {
        let text = format!("{:?} {:?}", self.scenario, self.profiles);
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    pub(super) fn seed(&self) -> u64 {
        self.scenario.seed
    }

    /// Requests an hour in the long run, where they do not wait for answers.
    pub fn per_hour(&self) -> Option<f64> {
        match &self.scenario.arrivals {
            Arrivals::Poisson { per_hour }
            | Arrivals::Renewal { per_hour, .. }
            | Arrivals::Daily { per_hour, .. } => Some(*per_hour),
            Arrivals::Bursts {
                per_hour,
                a_day,
                size,
                ..
            } => Some(per_hour + a_day * *size as f64 / 24.0),
            Arrivals::Closed { .. } | Arrivals::Trace { .. } => None,
        }
    }

    /// Refuses more load than could be borne in any order. Where requests may share a mount without
    /// limit only their reads count, as waiting requests gather on their cartridges.
    fn bears(&self) -> Result<(), ScenarioError> {
        let Some(per_hour) = self.per_hour() else {
            return Ok(());
        };
        let scenario = &self.scenario;
        let cache = scenario.cache.as_ref();
        let missed = 1.0 - cache.and_then(|cache| cache.hit_share).unwrap_or(0.0);
        // A disk that keeps what was read last answers a share that is not known beforehand.
        if cache.is_some_and(|cache| cache.size_gb.is_some()) {
            return Ok(());
        }
        let shares: f64 = scenario.libraries.iter().map(|library| library.share).sum();
        let size_mb = scenario.what.size_mb.mean();
        for (library, hall) in scenario.libraries.iter().zip(&self.halls) {
            let per_s = per_hour / 3600.0 * missed * library.share / shares;
            let (place, distance) = self.mean_ways(hall);
            // A cartridge that stays in its drive may be asked for again without a mount.
            let mounts = match (scenario.policy.most_per_mount, scenario.policy.dismount) {
                (Some(most), Dismount::AtOnce) => 1.0 / f64::from(most),
                _ => 0.0,
            };
            let exchange = hall.get.mean(distance) + hall.put.mean(distance);
            let quickest = hall.drives.iter().map(|&kind| {
                let mechanics = &hall.kinds[kind].mechanics;
                let alone = (mounts == 1.0).then_some(place);
                let rewind = alone.map_or(0.0, |place| mechanics.rewind_mean_s(place));
                let mount = exchange + mechanics.load.mean() + mechanics.unload.mean() + rewind;
                mechanics.least_mean_s(size_mb, alone) + mount * mounts
            });
            let served = quickest.fold(0.0, |sum, s| sum + 1.0 / s);
            let unloads = hall.kinds.iter().map(|kind| kind.mechanics.unload.mean());
            let stands_by = if library.robot.waits_for_unload {
                unloads.fold(f64::INFINITY, f64::min)
            } else {
                0.0
            };
            let robot_s = exchange + stands_by + 2.0 * library.robot.settle_s.mean();
            let robots = per_s * mounts * robot_s / hall.robots as f64;
            for (what, load) in [("drives", per_s / served), ("robots", robots)] {
                if load >= 1.0 {
                    let overload = Overload {
                        scenario: scenario.name.clone(),
                        library: library.name.clone(),
                        what,
                        load,
                    };
                    return Err(overload.into());
                }
            }
        }
        Ok(())
    }

    /// Where requests lie on average: from the beginning of tape as a share of it, and from the first
    /// cartridge as a share of the way to the last.
    fn mean_ways(&self, hall: &Hall) -> (f64, f64) {
        let parts = self.place_weights.len().max(1);
        let middle = |part| (part as f64 + 0.5) / parts as f64;
        let of_written = mean_drawn(&self.place_weights, parts, middle);
        let count = hall.cartridges.len();
        let filled = mean_drawn(&hall.popularity, count, |index| {
            hall.cartridges.get(index as u32).1
        });
        let distance = mean_drawn(&hall.popularity, count, |index| {
            hall.cartridges.distance(index as u32)
        });
        (of_written * filled, distance)
    }
}

/// The order of reads in a mount. Those that price moves need a model that says what a move costs.
fn order(scenario: &Scenario, halls: &[Hall]) -> Result<ReadOrder, ScenarioError> {
    let refuse = |key: &str, value: &str, reason: &str| ScenarioError::Value {
        scenario: scenario.name.clone(),
        key: format!("policy.{key}"),
        reason: format!("`{value}` {reason}"),
    };
    let needs_model =
        "needs drives whose profile has a locate-time model; with stated searches there are";
    let (order, objective) = (&scenario.policy.order, &scenario.policy.objective);
    let mut kinds = halls.iter().flat_map(|hall| &hall.kinds);
    let modelled = kinds.all(|kind| kind.mechanics.is_modelled());
    let algorithm = match Algorithm::from_name(order) {
        Some(simple @ (Algorithm::Fifo | Algorithm::Sort)) => simple,
        Some(order) if modelled => order,
        Some(_) => {
            return Err(refuse(
                "order",
                order,
                &format!("{needs_model} fifo and sort"),
            ));
        }
        None => return Err(refuse("order", order, "is not an order")),
    };
    let objective = match Objective::from_name(objective) {
        Some(Objective::Total) => Objective::Total,
        Some(Objective::Mean) if modelled => Objective::Mean,
        Some(Objective::Mean) => {
            return Err(refuse(
                "objective",
                objective,
                &format!("{needs_model} orders for the total"),
            ));
        }
        _ => return Err(refuse("objective", objective, "is not `total` or `mean`")),
    };
    Ok(ReadOrder {
        algorithm,
        objective,
    })
}

type Find<'a> = &'a dyn Fn(&str) -> Result<Profile, ProfileError>;

fn lookup(
    scenario: &Scenario,
    key: &str,
    name: Option<&str>,
    find: Find,
) -> Result<Option<Profile>, ScenarioError> {
    let refuse = |error| ScenarioError::Profile {
        scenario: scenario.name.clone(),
        key: format!("{key}.profile"),
        error: Box::new(error),
    };
    name.map(find).transpose().map_err(refuse)
}

fn hall(scenario: &Scenario, library: &Library, find: Find) -> Result<Hall, ScenarioError> {
    let mut media: Vec<Option<&str>> = Vec::new();
    let mut cartridges = Shelf::default();
    for group in &library.cartridges {
        let name = group.media.as_deref();
        let medium = media.iter().position(|known| *known == name);
        let medium = medium.unwrap_or_else(|| {
            media.push(name);
            media.len() - 1
        });
        cartridges.add(group.count, MediumId(medium), group.filled);
    }
    let mut kinds = Vec::new();
    let mut drives = Vec::new();
    for (number, group) in library.drives.iter().enumerate() {
        let key = format!("library {}: drive[{number}]", library.name);
        let profile = lookup(scenario, &key, group.profile.as_deref(), find)?;
        drives.extend((0..group.count).map(|_| number));
        kinds.push(Kind {
            mechanics: Mechanics::new(scenario, group, &key, profile.as_ref())?,
            reads: media.iter().map(|&medium| reads(group, medium)).collect(),
            cleaning: group.cleaning.clone(),
            failures: group.failures.clone(),
        });
    }
    let (get, put) = robot(scenario, library, find)?;
    let popularity = match scenario.what.cartridges {
        CartridgePick::Zipf { exponent } => zipf(cartridges.len() as u32, exponent),
        _ => Vec::new(),
    };
    Ok(Hall {
        kinds,
        drives,
        robots: library.robot.count as usize,
        get,
        put,
        cartridges,
        popularity,
        estimates: Vec::new(),
        before_s: 0.0,
        after_s: 0.0,
    })
}

fn reads(group: &DriveGroup, medium: Option<&str>) -> bool {
    let listed = |medium: &str| group.reads.iter().any(|reads| reads == medium);
    group.reads.is_empty() || medium.is_none_or(listed)
}

/// What robots take: as stated, or as a profile says.
fn robot(scenario: &Scenario, library: &Library, find: Find) -> Result<(Way, Way), ScenarioError> {
    let RobotGroup {
        profile,
        get_s,
        put_s,
        ..
    } = &library.robot;
    let key = format!("library {}: robot", library.name);
    let profile = lookup(scenario, &key, profile.as_deref(), find)?;
    let robot = profile.as_ref().map(|profile| &profile.robot);
    let known = |mean: Option<f64>, deviation: Option<f64>| {
        let mean = mean?;
        let cv = deviation.map_or(0.0, |deviation| deviation / mean);
        Some(Way::Any(Distribution::with_variation(mean, cv)))
    };
    let value = |known: &tapewise_model::profile::Known<f64>| known.as_ref().map(|v| v.value);
    let get = robot.and_then(|r| known(value(&r.fetch_s), value(&r.fetch_sd_s)));
    let put = robot.and_then(|r| known(value(&r.return_s), value(&r.return_sd_s)));
    let missing = |name: &str| ScenarioError::Value {
        scenario: scenario.name.clone(),
        key: format!("{key}.{name}"),
        reason: "state it, or name a `profile` that knows it".to_owned(),
    };
    Ok((
        get_s.clone().or(get).ok_or_else(|| missing("get_s"))?,
        put_s.clone().or(put).ok_or_else(|| missing("put_s"))?,
    ))
}
