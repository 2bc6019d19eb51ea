//! How long a robot takes between shelf and drive.
//!
//! "Small and nearly deterministic", and where the tape stands has little effect (Johnson & Miller
//! 1998, section 5.1): here the slot moves the time by little more than one standard deviation.

use tapewise_model::profile::Known;
use tapewise_model::{Micros, Profile, Random, profile};

/// The times of one library's robot.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotTimes {
    fetch: Move,
    put_back: Move,
    slots: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Move {
    mean_s: f64,
    sd_s: f64,
}

/// Spread of the times whose spread is not published ("small"); assumed.
const SD_S: f64 = 0.1;

impl RobotTimes {
    /// The robot of a library's profile: `None` if there is no such library, or nothing is known
    /// of its robot.
    pub fn find(name: &str) -> Option<RobotTimes> {
        RobotTimes::of(&profile::find(name).ok()?)
    }

    /// The robot of a library. Where only whole mounts were measured, what they take beyond the
    /// drive's own time is the robot's.
    pub fn of(profile: &Profile) -> Option<RobotTimes> {
        let robot = &profile.robot;
        let beyond = |range: [f64; 2], drive_s: f64| Move {
            mean_s: (range[0] + range[1]) / 2.0 - drive_s,
            // A range of 5 s taken for four standard deviations.
            sd_s: (range[1] - range[0]) / 4.0,
        };
        let known = |mean: Option<f64>, sd: Option<f64>| {
            mean.map(|mean_s| Move {
                mean_s,
                sd_s: sd.unwrap_or(SD_S),
            })
        };
        let fetch = known(number(&robot.fetch_s), number(&robot.fetch_sd_s))
            .or_else(|| Some(beyond(number(&robot.mount_range_s)?, IBM3584_DRIVE_S[0])))?;
        let put_back = known(number(&robot.return_s), number(&robot.return_sd_s))
            .or_else(|| Some(beyond(number(&robot.unmount_range_s)?, IBM3584_DRIVE_S[1])))?;
        let slots = number(&robot.slots).unwrap_or(1).max(1);
        Some(RobotTimes {
            fetch,
            put_back,
            slots,
        })
    }

    /// From the shelf to a drive. Slots count from 0.
    pub fn fetch(&self, slot: u32, random: &mut Random) -> Micros {
        self.fetch.time(self.along(slot), random)
    }

    /// From a drive to the shelf. Slots count from 0.
    pub fn put_back(&self, slot: u32, random: &mut Random) -> Micros {
        self.put_back.time(self.along(slot), random)
    }

    /// Where a slot stands, from -1 to 1.
    fn along(&self, slot: u32) -> f64 {
        2.0 * (f64::from(slot.min(self.slots - 1)) + 0.5) / f64::from(self.slots) - 1.0
    }
}

/// Load and unload of the LTO-1 drives in the IBM 3584 of NERSC 2001, in seconds.
const IBM3584_DRIVE_S: [f64; 2] = [20.0, 18.0];

/// The slot's part of the variance: evenly spread slots have a standard deviation of 1/sqrt(3), so
/// with half the variance each the whole is the published one.
const SLOT_SD: f64 = 1.224_744_871_391_589;

impl Move {
    fn time(self, along: f64, random: &mut Random) -> Micros {
        let chance = random.normal() * std::f64::consts::FRAC_1_SQRT_2;
        let seconds = self.mean_s + self.sd_s * (SLOT_SD * along + chance);
        Micros::from_secs_f64(seconds.max(self.mean_s / 2.0))
    }
}

/// The value of a profile's entry, if the profile has it.
fn number<T: Clone>(known: &Known<T>) -> Option<T> {
    known.as_ref().map(|sourced| sourced.value.clone())
}
