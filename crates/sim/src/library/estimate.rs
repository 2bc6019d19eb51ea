//! What a mount would cost, estimated: a policy compares thousands of cartridges at a time.

use super::mechanics::{Mechanics, ReadOrder, Round, Target};
use tapewise_model::profile::ProfileError;
use tapewise_model::{Micros, Profile, Random};
use tapewise_order::{Algorithm, Objective};

/// Mounts are tried with 1, 2, 4, ... requests up to two to the power of this.
const DOUBLINGS: usize = 8;

/// Batches tried for each number of requests.
const TRIED: u64 = 3;

/// The time of a drive for mounts of any number of requests.
#[derive(Clone, Debug)]
pub struct MountCost {
    /// Robot, load and unload, without any read.
    mount: Micros,
    /// To unload the cartridge that is still in the drive and take it back.
    exchange: Micros,
    /// Searches and rewind of 1, 2, 4, ... requests at random places, in the order that is used.
    motion: Vec<Micros>,
    s_per_mb: f64,
    /// From the robot's way to the drive to the first search.
    before: Micros,
    /// From the last of a few reads to an empty drive.
    after: Micros,
}

impl MountCost {
    /// For drives of a profile with a locate-time model; `robot_s` is the mean of the robot's ways to a drive and
    /// back.
    ///
    /// # Errors
    /// What the profile does not know.
    pub fn of_profile(profile: &Profile, robot_s: [f64; 2]) -> Result<MountCost, ProfileError> {
        let order = ReadOrder {
            algorithm: Algorithm::Loss,
            objective: Objective::Total,
        };
        let mechanics = Mechanics::of_profile(profile)?;
        Ok(MountCost::new(&mechanics, order, robot_s))
    }

    /// Tries batches on the mechanics of a drive; `robot_s` is the mean of its ways to a drive and
    /// back.
    pub(super) fn new(mechanics: &Mechanics, order: ReadOrder, robot_s: [f64; 2]) -> MountCost {
        let [get_s, put_s] = robot_s;
        let (load_s, unload_s) = (mechanics.load.mean(), mechanics.unload.mean());
        let rewinds = (0..TRIED).map(|stream| batch(mechanics, order, 1, stream)[1]);
        let rewind = Micros(rewinds.sum::<Micros>().0 / TRIED as i64);
        let motion = (0..=DOUBLINGS).map(|doublings| {
            let one = |stream| batch(mechanics, order, 1 << doublings, stream);
            let tried = (0..TRIED).flat_map(one);
            Micros(tried.sum::<Micros>().0 / TRIED as i64)
        });
        MountCost {
            mount: Micros::from_secs_f64(get_s + load_s + unload_s + put_s),
            exchange: Micros::from_secs_f64(unload_s + put_s),
            motion: motion.collect(),
            s_per_mb: mechanics.least_mean_s(1.0, None),
            before: Micros::from_secs_f64(get_s + load_s),
            after: rewind + Micros::from_secs_f64(unload_s + put_s),
        }
    }

    /// The time from the robot's way to the drive to the first search.
    pub fn before(&self) -> Micros {
        self.before
    }

    /// The time from the last of a few reads to an empty drive.
    pub fn after(&self) -> Micros {
        self.after
    }

    /// The time from the drive's last cartridge, if it is still there, to this one in its slot.
    pub fn cost(&self, requests: u32, size_mb: f64, loaded: bool) -> Micros {
        self.cost_of(self.motion(requests.max(1)), size_mb, loaded)
    }

    /// The same with the searches and the rewind of this very mount.
    pub(super) fn cost_of(&self, motion: Micros, size_mb: f64, loaded: bool) -> Micros {
        let before = if loaded { self.exchange } else { Micros::ZERO };
        before + self.mount + motion + Micros::from_secs_f64(size_mb * self.s_per_mb)
    }

    /// The time to read on, of the cartridge that is in the drive.
    pub fn goes_on(&self, requests: u32, size_mb: f64) -> Micros {
        self.motion(requests.max(1)) + Micros::from_secs_f64(size_mb * self.s_per_mb)
    }

    /// Whether reading on takes less time than another mount for the same would take besides. Both are without the rewind
    /// that follows in any case.
    pub fn is_short(&self, requests: u32, size_mb: f64) -> bool {
        let rewind = self.after - self.exchange;
        self.goes_on(requests, size_mb) - rewind < self.mount + rewind
    }

    /// Between two numbers that were tried, and beyond the last, on a straight line.
    fn motion(&self, requests: u32) -> Micros {
        let below = (requests.ilog2() as usize).min(DOUBLINGS - 1);
        let (low, high) = (self.motion[below], self.motion[below + 1]);
        let into = i64::from(requests) - (1 << below);
        low + Micros((high - low).0 * into / (1 << below))
    }
}

/// Searches and rewind of one batch at random places.
fn batch(mechanics: &Mechanics, order: ReadOrder, requests: usize, stream: u64) -> [Micros; 2] {
    let mut random = Random::new(0, stream);
    let targets: Vec<Target> = (0..requests)
        .map(|_| Target {
            place: random.unit(),
            size_mb: 0.0,
        })
        .collect();
    let mut round = Round::default();
    mechanics.plan(mechanics.rewound, &targets, order, &mut random, &mut round);
    let searches: Micros = round.legs.iter().map(|leg| leg.search).sum();
    let rewind = round
        .legs
        .last()
        .map(|leg| mechanics.rewind(&leg.to, &mut random));
    [searches, rewind.unwrap_or(Micros::ZERO)]
}
