//! A robot: how long its moves take, and what its controller remembers.

use crate::attention::{Attentions, UNIT_RESET};
use crate::elements::Element;
use crate::robot_times::RobotTimes;
use tapewise_model::{Micros, Random, profile};

/// What a robot's controller remembers.
#[derive(Debug, Default)]
pub(crate) struct Controller {
    pub attentions: Attentions,
    /// Initiators that prevent the removal of cartridges through the stations.
    pub prevented: Vec<usize>,
}

impl Controller {
    /// A way of an initiator is gone, and with the last one what it prevents.
    pub fn lose_nexus(&mut self, nexus: usize) {
        if self.attentions.close(nexus) {
            self.prevented.retain(|&one| one != nexus);
            self.attentions.forget(nexus);
        }
    }

    /// LOGICAL UNIT RESET.
    pub fn reset_unit(&mut self) {
        self.prevented.clear();
        self.attentions.raise(UNIT_RESET, None);
    }
}

/// The robot's pace.
pub(crate) struct Robot {
    times: RobotTimes,
    pub inventory: Micros,
    random: Random,
}

/// An inventory of one frame, where the profile does not say; assumed.
const INVENTORY_S: f64 = 60.0;

impl Robot {
    /// The robot of a library's profile, if there is one.
    pub fn find(name: &str, seed: u64) -> Option<Robot> {
        let profile = profile::find(name).ok()?;
        let inventory_s = profile.robot.inventory_s.as_ref().map(|known| known.value);
        Some(Robot {
            times: RobotTimes::of(&profile)?,
            inventory: Micros::from_secs_f64(inventory_s.unwrap_or(INVENTORY_S)),
            random: Random::new(seed, 0),
        })
    }

    /// From one element to another. Published are the ways between shelf and drive; another way is
    /// taken to be half of one and half of the other.
    pub fn carry(&mut self, from: Element, to: Element) -> Micros {
        match (from, to) {
            (Element::Drive(_), Element::Drive(_)) => self.half_of_each(0),
            (from, Element::Drive(_)) => self.times.fetch(slot(from), &mut self.random),
            (Element::Drive(_), to) => self.times.put_back(slot(to), &mut self.random),
            (_, to) => self.half_of_each(slot(to)),
        }
    }

    fn half_of_each(&mut self, slot: u32) -> Micros {
        let fetch = self.times.fetch(slot, &mut self.random);
        let put_back = self.times.put_back(slot, &mut self.random);
        Micros((fetch.0 + put_back.0) / 2)
    }

    /// Without a cartridge: half of a fetch, assumed.
    pub fn travel(&mut self, to: Element) -> Micros {
        Micros(self.times.fetch(slot(to), &mut self.random).0 / 2)
    }
}

/// The slot whose place along the library stands for an element's: stations and drives are taken to
/// stand where the slots begin.
fn slot(element: Element) -> u32 {
    match element {
        Element::Slot(number) => u32::from(number),
        _ => 0,
    }
}
