//! What keeps a row of combinations from meeting the target, or leaves it open with how many drives it does.

use super::{Capacity, Combination, Forecast, Meets, Metric, Target};
use crate::library::Part;
use crate::results::PartMean;
use crate::simulate::{Outcome, Simulated, Unstable};
use crate::statistics::Interval;
use std::fmt;
use tapewise_model::Micros;
use tapewise_model::units::share;

/// Why a combination does not surely meet the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The combination's name; that of its row where the number of drives does not matter.
    pub of: String,
    /// The target's metric.
    pub metric: Metric,
    /// Its value, where it was simulated and is stable.
    pub value_s: Option<Interval>,
    /// What stands in the way.
    pub obstacle: Obstacle,
}

/// What stands in the way of a target.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Obstacle {
    /// Not known: it was not simulated.
    NotSimulated,
    /// The robots cannot bear the load, by formula, so that more drives do not help.
    RobotsSaturated {
        /// The formula's words.
        why: String,
    },
    /// Its queue grows for ever.
    Unstable(Unstable),
    /// The target is within the interval, so that more replications would tell.
    WithinInterval,
    /// By formula its queue grows, and replications have not settled, so that longer ones would tell.
    NotSettled,
    /// Waits for drives, of which more would help.
    Drives(Wait),
    /// Waits for robots, of which more would help.
    Robots(Wait),
    /// Waits for drives that wait for busy robots, so that more robots would help.
    BusyRobots {
        /// For drives and robots.
        wait: Wait,
        /// Share of the time in which a robot moves.
        busy: f64,
    },
    /// What is left without waits is too long already, so that neither drives nor robots help.
    Work {
        /// Mean response without waits for drives and robots, in seconds.
        left_s: f64,
        /// Mean response, in seconds.
        mean_s: f64,
        /// The longest parts of the mean response, longest first.
        longest: Vec<PartMean>,
    },
}

/// Time spent waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// On average, in seconds.
    pub wait_s: f64,
    /// Mean response, in seconds.
    pub mean_s: f64,
}

/// Waiting for less than this share of the response is hardly any.
const WAITS: f64 = 0.05;

/// Percentiles from here on lie above the mean where there is no long tail.
const HIGH_PERCENT: u8 = 75;

/// A robot that is busier than this holds up drives, for which then others wait.
const BUSY: f64 = 0.9;

/// Parts of the response that are named.
const NAMED: usize = 3;

impl Capacity {
    /// What keeps each row from meeting the target, or leaves it open with how many drives it does.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        for row in &self.rows {
            let meets = |wanted| {
                row.iter()
                    .find(|one| one.meets(&self.target) == Some(wanted))
            };
            match (meets(Meets::Unsure), meets(Meets::Yes), row.last()) {
                (Some(unsure), _, _) => remarks.push(Remark::new(unsure, &self.target)),
                (None, None, Some(last)) => remarks.push(Remark::new(last, &self.target)),
                _ => {}
            }
        }
        remarks
    }
}

impl Remark {
    fn new(one: &Combination, target: &Target) -> Remark {
        let obstacle = match (&one.simulated, &one.formula) {
            (None, _) => Obstacle::NotSimulated,
            (
                Some(Outcome::Unstable(_)),
                Forecast::Unstable {
                    what: "robots",
                    why,
                },
            ) => Obstacle::RobotsSaturated { why: why.clone() },
            (Some(Outcome::Unstable(why)), _) => Obstacle::Unstable(why.clone()),
            (Some(Outcome::Steady(_)), _)
                if one.meets(target) == Some(Meets::Unsure) && one.may_grow() =>
            {
                Obstacle::NotSettled
            }
            (Some(Outcome::Steady(_)), _) if one.meets(target) == Some(Meets::Unsure) => {
                Obstacle::WithinInterval
            }
            (Some(Outcome::Steady(simulated)), _) => Obstacle::of(simulated, target),
        };
        Remark {
            of: match obstacle {
                Obstacle::RobotsSaturated { .. } => one.row_name(),
                _ => one.name(),
            },
            metric: target.metric,
            value_s: one.metric(target.metric),
            obstacle,
        }
    }
}

impl Obstacle {
    fn of(simulated: &Simulated, target: &Target) -> Obstacle {
        let results = &simulated.results;
        let mean_s = results.mean_s.estimate;
        let part_s = |wanted: Part| {
            let part = results.parts.iter().find(|part| part.part == wanted);
            part.map_or(0.0, |part| part.s.estimate)
        };
        let (drive_s, robot_s) = (part_s(Part::DriveWait), part_s(Part::RobotWait));
        let left_s = mean_s - drive_s - robot_s;
        // Of a mean it is known what is left without waits. That has no long tail, so a high percentile of
        // it is no lower; of a low one nothing is known.
        let is_no_lower = match target.metric {
            Metric::Mean => true,
            Metric::Percentile(percent) => percent >= HIGH_PERCENT,
        };
        let may_help = |wait_s: f64| {
            let is_enough = left_s <= target.limit_s;
            (is_enough || !is_no_lower) && wait_s > WAITS * mean_s
        };
        let waiting = |wait_s| Wait { wait_s, mean_s };
        let busy = results.libraries[0].robots.estimate;
        if busy > BUSY && may_help(drive_s + robot_s) {
            let wait = waiting(drive_s + robot_s);
            return Obstacle::BusyRobots { wait, busy };
        }
        if may_help(drive_s) {
            return Obstacle::Drives(waiting(drive_s));
        }
        if may_help(robot_s) {
            return Obstacle::Robots(waiting(robot_s));
        }
        let mut longest = results.parts.clone();
        longest.sort_by(|a, b| b.s.estimate.total_cmp(&a.s.estimate));
        longest.truncate(NAMED);
        Obstacle::Work {
            left_s,
            mean_s,
            longest,
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: ", self.of)?;
        match &self.obstacle {
            Obstacle::NotSimulated => return f.write_str("not simulated"),
            Obstacle::RobotsSaturated { why } => {
                return write!(f, "more drives do not help: {why}");
            }
            Obstacle::Unstable(why) => return why.fmt(f),
            _ => {}
        }
        let value = self.value_s.map(|s| between(&s)).unwrap_or_default();
        write!(f, "{} {value}: ", self.metric)?;
        let spent = |wait: &Wait, what: &str| {
            let (wait, mean) = (time(wait.wait_s), time(wait.mean_s));
            format!("{wait} of {mean} on average are spent waiting for {what}")
        };
        match &self.obstacle {
            Obstacle::BusyRobots { wait, busy } => {
                let (spent, busy) = (spent(wait, "drives and robots"), share(*busy));
                write!(
                    f,
                    "{spent}, and robots are busy {busy} of the time: more drives do not help, more robots do"
                )
            }
            Obstacle::Drives(wait) => write!(f, "{}: more drives help", spent(wait, "a drive")),
            Obstacle::Robots(wait) => {
                let spent = spent(wait, "a robot");
                write!(f, "{spent}: more drives do not help, more robots do")
            }
            Obstacle::Work {
                left_s,
                mean_s,
                longest,
            } => {
                let longest = longest
                    .iter()
                    .map(|part| format!("{} {}", part.part.name(), time(part.s.estimate)));
                write!(
                    f,
                    "without any wait for drive or robot {} of {} are left, so more of them do not help; \
                     what takes longest: {}",
                    time(*left_s),
                    time(*mean_s),
                    longest.collect::<Vec<_>>().join(", ")
                )
            }
            Obstacle::NotSettled => f.write_str(
                "by formula more arrives than can be served, and nothing shows that the replications have settled; simulate more requests",
            ),
            _ => f.write_str(
                "the target is within the interval; more --replications make it narrower",
            ),
        }
    }
}

/// An estimate with the ends of its interval.
fn between(interval: &Interval) -> String {
    format!(
        "{} ({} to {})",
        time(interval.estimate),
        time(interval.low()),
        time(interval.high())
    )
}

/// As times are printed everywhere.
fn time(seconds: f64) -> Micros {
    Micros::from_secs_f64(seconds)
}
