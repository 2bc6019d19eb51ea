//! Drives that are held while they wait for the robot.
//!
//! A request takes a drive and keeps it until it is done. Within that time it needs the robot, once
//! or more, and the wait for the robot is time of the drive. So the robot lengthens what the drives
//! take, and the number of drives bounds the queue at the robot.
//!
//! The robot is solved first, then the drives with what it costs them. How requests come to the
//! robot is a choice: at random, as if there were any number of drives, or from the drives, of
//! which each waits at most once. The second is much nearer to what a recursion over random
//! arrivals finds, and knows at which rate the drives are full because they wait for the robot.

use super::exponential::Exponential;
use super::general::{self, Approximation, exponential_wait_variance_s2};
use super::{Load, QueueError, erlang, not_negative, positive};

/// How requests come to the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotArrivals {
    /// Poisson, whatever waits already: what is usual, and too long near saturation.
    Poisson,
    /// From so many drives, of which each has one request at the robot at most.
    ///
    /// Good to 15 % up to a robot utilisation of 0.83; at 0.94 with twelve drives the wait for the
    /// robot is a third too short. Simulate there.
    FromDrives,
}

/// Drives and robots that serve requests together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nested {
    /// Requests in a second, Poisson.
    pub arrivals_per_s: f64,
    /// Drives; a request holds one from its start to its end.
    pub drives: u32,
    /// Seconds that a request holds its drive, the robot's work and waits left out.
    pub drive_s: f64,
    /// Variance of the same, in s^2.
    pub drive_variance_s2: f64,
    /// Robots that can work at once.
    pub robots: u32,
    /// How often a request needs a robot.
    pub visits: u32,
    /// Seconds of one visit.
    pub robot_s: f64,
    /// Squared coefficient of variation of a visit.
    pub robot_scv: f64,
    /// How requests come to the robot.
    pub robot_arrivals: RobotArrivals,
}

/// What drives and robots then do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Mean wait for a robot at each visit, in seconds.
    pub robot_wait_s: f64,
    /// Share of the time that a robot works.
    pub robot_utilisation: f64,
    /// Mean time that a request holds a drive, robot and waits for it included, in seconds.
    pub held_s: f64,
    /// Squared coefficient of variation of that time.
    pub held_scv: f64,
    /// Mean wait for a drive, in seconds.
    pub drive_wait_s: f64,
    /// Share of the time that a drive is held, waits for the robot included.
    pub drive_utilisation: f64,
}

impl Nested {
    /// Solves robot and drives.
    ///
    /// # Errors
    /// [`QueueError::Unstable`] where robots or drives cannot carry the load, the waits for the
    /// robot counted; [`QueueError::Parameter`] where a value makes no sense.
    pub fn solve(&self) -> Result<Steady, QueueError> {
        not_negative("the drive's own time", self.drive_s)?;
        not_negative(
            "the variance of the drive's own time",
            self.drive_variance_s2,
        )?;
        positive("the number of robot visits", f64::from(self.visits))?;
        let visits = f64::from(self.visits);
        let robot = Load::new(self.arrivals_per_s * visits, self.robot_s, self.robots)?;
        let among = match self.robot_arrivals {
            RobotArrivals::Poisson => None,
            RobotArrivals::FromDrives => Some(self.among_drives(&robot)?),
        };
        let robot_wait_s = match among {
            None => general::mean_wait_s(&robot, self.robot_scv, Approximation::Interpolation)?,
            Some(waits) => waits.robot_s,
        };
        let held_s = self.drive_s + visits * (robot_wait_s + self.robot_s);
        let wait_variance_s2 =
            exponential_wait_variance_s2(robot_wait_s, erlang::waiting_probability(&robot));
        let visit_variance_s2 = wait_variance_s2 + self.robot_scv * self.robot_s * self.robot_s;
        let held_variance_s2 = self.drive_variance_s2 + visits * visit_variance_s2;
        let held_scv = held_variance_s2 / (held_s * held_s);
        let drives = Load::new(self.arrivals_per_s, held_s, self.drives)?;
        let wait_s = general::mean_wait_s(&drives, held_scv, Approximation::Interpolation)?;
        let drive_wait_s = match among {
            None => wait_s,
            // The chain is exponential; what less variation saves is as in a station without a
            // robot. So many drives that a wait is below the least number save nothing.
            Some(waits) => match Exponential::new(drives).mean_wait_s() {
                0.0 => waits.drive_s,
                exponential_s => waits.drive_s * wait_s / exponential_s,
            },
        };
        Ok(Steady {
            robot_wait_s,
            robot_utilisation: robot.utilisation(),
            held_s,
            held_scv,
            drive_wait_s,
            drive_utilisation: drives.utilisation(),
        })
    }

    /// The mean waits, of each visit and for a drive, with so many drives that each has one request
    /// at the robot at most.
    ///
    /// Drives and robot together are one station that serves faster the more requests have a drive
    /// (the flow-equivalent server of K. M. Chandy, U. Herzog and L. Woo, *Parametric analysis of
    /// queuing networks*, 1975): a chain of births at the rate of arrival, and of deaths at the
    /// rate of `n` drives going round. Above `drives` requests it is geometric.
    fn among_drives(&self, robot: &Load) -> Result<Waits, QueueError> {
        not_negative("the squared coefficient of variation", self.robot_scv)?;
        positive("the number of drives", f64::from(self.drives))?;
        let wanted_per_s = robot.arrivals_per_s();
        let (mut weight, mut weights, mut waiting) = (1.0, 1.0, 0.0);
        let mut round = Round::default();
        for _ in 0..self.drives {
            round = self.with_one_more_drive(&round);
            weight *= wanted_per_s / round.visits_per_s;
            weights += weight;
            waiting += weight * round.waiting;
            // Far above the number that is ever busy the products would run out of range.
            if weights > 1e200 {
                weight /= weights;
                waiting /= weights;
                weights = 1.0;
            }
        }
        let utilisation = wanted_per_s / round.visits_per_s;
        if utilisation >= 1.0 {
            return Err(QueueError::Unstable {
                offered: utilisation * f64::from(self.drives),
                servers: self.drives,
                utilisation,
            });
        }
        let behind = weight * utilisation / (1.0 - utilisation);
        let total = weights + behind;
        Ok(Waits {
            robot_s: (waiting + behind * round.waiting) / total / wanted_per_s,
            drive_s: behind / (1.0 - utilisation) / total / self.arrivals_per_s,
        })
    }

    /// What goes on when one more drive goes round between robot and its own time, always busy.
    ///
    /// Mean value analysis (M. Reiser, *A queueing network analysis of computer communication
    /// networks with window flow control*, 1979): who comes finds what one drive fewer would leave
    /// there, and the visit under way half over, more by its variation. Several robots are one of
    /// their joint speed and a delay (A. Seidmann, P. Schweitzer and S. Shalev-Oren 1987).
    fn with_one_more_drive(&self, fewer: &Round) -> Round {
        let drives = fewer.drives + 1.0;
        let step_s = self.robot_s / f64::from(self.robots);
        let left_s = step_s * (1.0 + self.robot_scv) / 2.0;
        let wait_s = fewer.waiting * step_s + fewer.busy * left_s;
        let own_s = self.drive_s / f64::from(self.visits);
        let visits_per_s = drives / (own_s + self.robot_s + wait_s);
        Round {
            drives,
            visits_per_s,
            waiting: visits_per_s * wait_s,
            busy: visits_per_s * step_s,
        }
    }
}

/// Mean waits, in seconds.
#[derive(Clone, Copy, Debug)]
struct Waits {
    /// Of each visit to the robot.
    robot_s: f64,
    /// For a drive, as if what drives and robot do together took exponential times.
    drive_s: f64,
}

/// So many drives, all busy.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    drives: f64,
    /// Visits to the robot.
    visits_per_s: f64,
    /// Drives that wait for the robot, in the mean.
    waiting: f64,
    /// Share of the time that the robot works.
    busy: f64,
}
