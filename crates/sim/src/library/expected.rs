//! What queueing formulas expect of a scenario: the quick answer beside the simulated one.
//!
//! The times of drives and robots are drawn from the very mechanics that the simulation uses, and
//! only their means and variances go into the formulas ([`Nested`]). So what differs between the
//! two answers is the queues, and nothing else.

use super::demand::Demand;
use super::mechanics::{Round, Target};
use super::site::{Hall, Site};
use crate::queue::nested::{Nested, RobotArrivals, Steady};
use crate::queue::{Load, QueueError, erlang};
use crate::scenario::{Arrivals, CartridgePick, Dismount, MountPolicy, Rewind};
use crate::stream::{Purpose, stream};
use tapewise_model::Random;

/// Requests whose times are drawn: their mean is then known to a hundredth of the deviation or two.
const DRAWN: f64 = 4000.0;

/// Mounts are drawn until the standard error of their mean time is at most this share of it: near saturation a queue turns
/// an error of 1 % into one of 10 %.
const SURE: f64 = 0.004;

/// At most this many times as many mounts are drawn as at first.
const DRAWN_AGAIN: usize = 10;

/// Mounts at least, where one mount has many requests.
const LEAST_MOUNTS: f64 = 50.0;

/// Why no formula answers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoFormula {
    /// The scenario has what formulas do not know.
    #[error("{reason}")]
    Unsuited {
        /// What it has.
        reason: &'static str,
    },
    /// More arrives than can be served.
    #[error("{what} would have to work {load:.2} times the time there is")]
    Saturated {
        /// Drives or robots.
        what: &'static str,
        /// Work that arrives, as a multiple of what can be done.
        load: f64,
    },
    /// The formula refused.
    #[error(transparent)]
    Queue(QueueError),
}

/// What formulas expect. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Drives and robots with their waits.
    pub steady: Steady,
    /// Share of the time in which a drive is held, waits for robots left out.
    pub drives_at_work: f64,
    /// Share of the time in which a robot moves.
    pub robots_at_work: f64,
    /// Requests of a mount, on average.
    pub batch_size: f64,
    /// Mean response.
    pub mean_s: f64,
    /// Before the answer.
    drive: Wait,
    robot: Wait,
    /// Responses of tape that wait for neither drive nor robot, drawn.
    unhindered_s: Vec<f64>,
    /// Responses of the disk in front, drawn, and the share of requests that it answers.
    disk_s: Vec<f64>,
    hit_share: f64,
}

/// A wait: how likely, and how long it then is on average.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wait {
    likely: f64,
    then_s: f64,
}

impl Wait {
    fn new(mean_s: f64, likely: f64) -> Wait {
        if mean_s > 0.0 && likely > 0.0 {
            Wait {
                likely,
                then_s: mean_s / likely,
            }
        } else {
            Wait {
                likely: 0.0,
                then_s: 1.0,
            }
        }
    }

    /// Probability that this wait and another, both exponential, exceed a time together.
    fn longer_than(&self, other: &Wait, time_s: f64) -> f64 {
        if time_s < 0.0 {
            return 1.0;
        }
        let (p, q) = (self.likely, other.likely);
        let (a, b) = (1.0 / self.then_s, 1.0 / other.then_s);
        let (first, second) = ((-a * time_s).exp(), (-b * time_s).exp());
        let both = if (b - a).abs() < 1e-6 * a {
            (1.0 + a * time_s) * first
        } else {
            (b * first - a * second) / (b - a)
        };
        p * (1.0 - q) * first + q * (1.0 - p) * second + p * q * both
    }
}

impl Expected {
    /// The response that a share `p` of requests does not exceed, in seconds.
    ///
    /// Waits for drive and robot are taken as exponential where they happen, and as independent of
    /// each other and of the rest: an approximation, good to some per cent below a utilisation of
    /// 0.8.
    ///
    /// # Errors
    /// [`QueueError::Parameter`] where `p` is not from 0 to below 1.
    pub fn quantile_s(&self, p: f64) -> Result<f64, QueueError> {
        crate::queue::share(p)?;
        Ok(crate::queue::quantile_s(p, self.mean_s, |time_s| {
            self.later_than(time_s)
        }))
    }

    /// Share of requests whose response is longer than this.
    fn later_than(&self, time_s: f64) -> f64 {
        let later = |work_s: &f64| self.drive.longer_than(&self.robot, time_s - work_s);
        let tape = mean(self.unhindered_s.iter().map(later));
        let disk = mean(self.disk_s.iter().map(|s| f64::from(u8::from(*s > time_s))));
        (1.0 - self.hit_share) * tape + self.hit_share * disk
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

fn variance(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied());
    mean(values.iter().map(|value| (value - middle).powi(2)))
}

/// What mounts take, drawn.
#[derive(Default)]
struct Drawn {
    /// What each holds a drive, robots left out.
    held_s: Vec<f64>,
    /// How long a robot is busy with each of its moves.
    robot_s: Vec<f64>,
    /// How long it moves in both.
    moved_s: Vec<f64>,
    unhindered_s: Vec<f64>,
}

impl Drawn {
    fn is_sure(&self) -> bool {
        let held_s = mean(self.held_s.iter().copied());
        let error_s = (variance(&self.held_s) / self.held_s.len() as f64).sqrt();
        error_s <= SURE * held_s
    }
}

impl Site {
    /// What formulas expect, where arrivals are Poisson and drives and robots alike.
    ///
    /// Each mount serves the requests of one window, or one request where there is none: that
    /// requests gather on a cartridge while they wait for a drive is not in it, so it expects more
    /// where few cartridges are asked for.
    ///
    /// # Errors
    /// [`NoFormula`] with the reason.
    pub fn expected(&self) -> Result<Expected, NoFormula> {
        let (hall, per_s) = self.suited()?;
        let policy = &self.scenario.policy;
        let hit_share = (self.scenario.cache.as_ref())
            .and_then(|cache| cache.hit_share)
            .unwrap_or(0.0);
        let missed_per_s = per_s * (1.0 - hit_share);
        let of_one_per_s = missed_per_s / hall.cartridges.len() as f64;
        let batch_size = 1.0 + of_one_per_s * policy.window_s;
        let drawn = self.drawn(hall, of_one_per_s, batch_size);
        // To the formulas no service takes no time. A microsecond is as little as the simulation knows.
        let robot_s = mean(drawn.robot_s.iter().copied()).max(1e-6);
        let nested = Nested {
            arrivals_per_s: missed_per_s / batch_size,
            drives: hall.drives.len() as u32,
            drive_s: mean(drawn.held_s.iter().copied()).max(0.0),
            drive_variance_s2: variance(&drawn.held_s),
            robots: hall.robots as u32,
            visits: 2,
            robot_s,
            robot_scv: variance(&drawn.robot_s) / robot_s.powi(2).max(f64::MIN_POSITIVE),
            robot_arrivals: RobotArrivals::FromDrives,
        };
        let ways_per_s = 2.0 * nested.arrivals_per_s;
        let robots = load("robots", ways_per_s, robot_s, nested.robots)?;
        let steady = nested.solve().map_err(|error| match error {
            QueueError::Unstable { utilisation, .. } => NoFormula::Saturated {
                what: "drives",
                load: utilisation,
            },
            other => NoFormula::Queue(other),
        })?;
        let drives = load(
            "drives",
            nested.arrivals_per_s,
            steady.held_s,
            nested.drives,
        )?;
        // Where drives are emptied only when they are needed, put and get both stand before the answer.
        let ways = match policy.dismount {
            Dismount::WhenNeeded => 2,
            Dismount::AtOnce | Dismount::AfterIdle => 1,
        };
        let free_of_robot = (1.0 - erlang::waiting_probability(&robots)).powi(ways);
        let robot_wait_s = f64::from(ways) * steady.robot_wait_s;
        let moved_s = mean(drawn.moved_s.iter().copied());
        let own_s = mean(drawn.held_s.iter().copied()) + 2.0 * robot_s;
        let disk_s = self.disk_s();
        let tape_s = mean(drawn.unhindered_s.iter().copied()) + steady.drive_wait_s + robot_wait_s;
        Ok(Expected {
            drives_at_work: nested.arrivals_per_s * own_s / f64::from(nested.drives),
            robots_at_work: nested.arrivals_per_s * moved_s / f64::from(nested.robots),
            batch_size,
            mean_s: (1.0 - hit_share) * tape_s + hit_share * mean(disk_s.iter().copied()),
            drive: Wait::new(steady.drive_wait_s, erlang::waiting_probability(&drives)),
            robot: Wait::new(robot_wait_s, 1.0 - free_of_robot),
            unhindered_s: drawn.unhindered_s,
            disk_s,
            hit_share,
            steady,
        })
    }

    /// The library and its arrivals a second, if formulas know everything that the scenario has.
    fn suited(&self) -> Result<(&Hall, f64), NoFormula> {
        let unsuited = |reason| Err(NoFormula::Unsuited { reason });
        let scenario = &self.scenario;
        let per_hour = match scenario.arrivals {
            Arrivals::Poisson { per_hour } => per_hour,
            Arrivals::Renewal { per_hour, cv: 1.0 } => per_hour,
            _ => return unsuited("arrivals are not Poisson"),
        };
        let ([library], [hall]) = (&scenario.libraries[..], &self.halls[..]) else {
            return unsuited("several libraries");
        };
        let policy = &scenario.policy;
        let in_runs = matches!(scenario.what.cartridges, CartridgePick::Clustered { .. });
        let even = matches!(
            scenario.what.cartridges,
            CartridgePick::Uniform | CartridgePick::InTurn
        );
        let windows = policy.window_s > 0.0;
        if library.drives.len() != 1 {
            return unsuited("drives of several kinds");
        }
        if library.drives.iter().any(|group| group.failures.is_some()) {
            return unsuited("drives that fail");
        }
        if scenario
            .cache
            .as_ref()
            .is_some_and(|cache| cache.size_gb.is_some())
        {
            return unsuited("a cache whose share of hits is not known");
        }
        if policy.dismount == Dismount::AfterIdle {
            return unsuited("cartridges stay in their drives for a while");
        }
        if in_runs {
            return unsuited("requests come in runs for one cartridge");
        }
        if policy.mount == MountPolicy::Priority && !scenario.what.priorities.is_empty() {
            return unsuited("some requests go before others");
        }
        if policy.mount == MountPolicy::Cta {
            return unsuited("cartridges wait until a mount is worth it");
        }
        let rules = &policy.rules;
        let has_limits = rules.drives_per_user.is_some() || rules.spare_drives > 0;
        if matches!(policy.mount, MountPolicy::Index | MountPolicy::Ahead) && has_limits {
            return unsuited("no user is given all drives");
        }
        if windows && !even {
            return unsuited("windows on cartridges that are not asked for alike");
        }
        if windows && (policy.window_requests.is_some() || policy.most_per_mount.is_some()) {
            return unsuited("windows that requests end");
        }
        Ok((hall, per_hour / 3600.0))
    }

    /// What the disk in front takes, drawn.
    fn disk_s(&self) -> Vec<f64> {
        let mut random = stream(self.seed(), 0, Purpose::Cache);
        match &self.scenario.cache {
            Some(cache) => (0..DRAWN as usize)
                .map(|_| cache.answer_s.sample(&mut random))
                .collect(),
            None => Vec::new(),
        }
    }

    /// Draws mounts, each with the requests of a window.
    fn drawn(&self, hall: &Hall, of_one_per_s: f64, batch_size: f64) -> Drawn {
        let window_s = self.scenario.policy.window_s;
        let mut draw = Draw {
            site: self,
            hall,
            demand: Demand::new(self, 0),
            random: stream(self.seed(), 0, Purpose::Drives),
            round: Round::default(),
            drawn: Drawn::default(),
        };
        let mut gaps = stream(self.seed(), 0, Purpose::Arrivals);
        let mounts = (DRAWN / batch_size).max(LEAST_MOUNTS) as usize;
        for number in 0..DRAWN_AGAIN * mounts {
            if number > 0 && number % mounts == 0 && draw.drawn.is_sure() {
                break;
            }
            // The first opens the window and waits it out.
            let mut window_waits_s = vec![window_s];
            let mut gap_s = || -gaps.unit().ln() / of_one_per_s;
            let mut left_s = window_s - gap_s();
            while left_s > 0.0 {
                window_waits_s.push(left_s);
                left_s -= gap_s();
            }
            draw.mount(&window_waits_s);
        }
        draw.drawn
    }
}

fn load(what: &'static str, per_s: f64, each_s: f64, servers: u32) -> Result<Load, NoFormula> {
    Load::new(per_s, each_s, servers).map_err(|error| match error {
        QueueError::Unstable { utilisation, .. } => NoFormula::Saturated {
            what,
            load: utilisation,
        },
        other => NoFormula::Queue(other),
    })
}

/// Mounts being drawn.
struct Draw<'a> {
    site: &'a Site,
    hall: &'a Hall,
    demand: Demand<'a>,
    random: Random,
    round: Round,
    drawn: Drawn,
}

impl Draw<'_> {
    /// One mount, with requests that have waited so long for its window to close.
    fn mount(&mut self, window_waits_s: &[f64]) {
        let (scenario, hall) = (&self.site.scenario, self.hall);
        let (library, kind) = (&scenario.libraries[0], &hall.kinds[0]);
        let (cartridge, targets) = self.targets(window_waits_s.len());
        let random = &mut self.random;
        let distance = f64::from(cartridge) / (hall.cartridges.len() - 1).max(1) as f64;
        let get_s = hall.get.time(distance, random).as_secs_f64();
        let put_s = hall.put.time(distance, random).as_secs_f64();
        let mechanics = &kind.mechanics;
        let load_s = mechanics.load.sample(random) + library.software.poll_s * random.unit();
        let unload_s = mechanics.unload.sample(random);
        mechanics.plan(
            mechanics.rewound,
            &targets,
            self.site.order,
            random,
            &mut self.round,
        );
        let end = self
            .round
            .legs
            .last()
            .map_or(mechanics.rewound, |leg| leg.to);
        let rewind_s = mechanics.rewind(&end, random).as_secs_f64();
        let before_s = match (scenario.policy.dismount, scenario.policy.rewind) {
            (Dismount::WhenNeeded, Rewind::AtDismount) => rewind_s + unload_s + put_s,
            (Dismount::WhenNeeded, Rewind::AfterAnswer) => unload_s + put_s,
            (Dismount::AtOnce | Dismount::AfterIdle, _) => 0.0,
        };
        let mut reading_s = 0.0;
        for leg in &self.round.legs {
            reading_s += (leg.search + leg.read).as_secs_f64();
            for index in leg.answers.clone() {
                let request = self.round.sequence[index] as usize;
                let software_s = library.software.request_s.sample(random)
                    + library.software.answer_s.sample(random);
                let work_s = before_s + get_s + load_s + reading_s;
                let waited_s = window_waits_s[request] + software_s;
                self.drawn.unhindered_s.push(work_s + waited_s);
            }
        }
        let cleaning = kind.cleaning.as_ref();
        let cleaning_s = cleaning
            .filter(|cleaning| random.unit() * f64::from(cleaning.every_mounts) < 1.0)
            .map_or(0.0, |cleaning| cleaning.takes_s.sample(random));
        let robot = &library.robot;
        let [after_get_s, after_put_s] = [(); 2].map(|()| robot.settle_s.sample(random));
        // A robot that stands by while the drive unloads is busy with it; one that settles holds no
        // drive.
        let stands_by_s = if robot.waits_for_unload {
            unload_s
        } else {
            0.0
        };
        let held_s = load_s + reading_s + rewind_s + unload_s + cleaning_s;
        let beside_s = stands_by_s + after_get_s + after_put_s;
        self.drawn.held_s.push(held_s - beside_s);
        self.drawn.moved_s.push(get_s + put_s);
        self.drawn.robot_s.push(get_s + after_get_s);
        self.drawn.robot_s.push(stands_by_s + put_s + after_put_s);
    }

    /// A cartridge and so many reads of it.
    fn targets(&mut self, count: usize) -> (u32, Vec<Target>) {
        let first = self.demand.take();
        let (_, filled) = self.hall.cartridges.get(first.cartridge);
        let others = (1..count).map(|_| self.demand.take());
        let all = std::iter::once(first).chain(others).map(|wanted| Target {
            place: wanted.place * filled,
            size_mb: wanted.size_mb,
        });
        (first.cartridge, all.collect())
    }
}
