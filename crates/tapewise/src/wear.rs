//! What a plan takes of its cartridge's life. What the cartridge has been through before is not known
//! to a plan: the drive tells it.

use crate::place::Placed;
use tapewise_formats::plan_json::{PlanRated, PlanWear};
use tapewise_model::{Used, Wear};
use tapewise_order::Totals;

impl Placed {
    /// The wear of a plan: the tape that it moves, and the load in which it is carried out.
    pub fn wear(&self, totals: &Totals) -> Wear {
        Wear {
            distance_lpos: totals.distance_lpos,
            loads: 1,
        }
    }

    /// The shares of the rated life that a wear uses up, one for each measure the profile knows.
    pub fn used(&self, wear: &Wear) -> Vec<Used> {
        let geometry = &self.problem.tape().geometry;
        self.profile.rated_life().used(wear, geometry)
    }

    /// The wear as the plan document has it.
    pub(crate) fn wear_document(&self, totals: &Totals) -> PlanWear {
        let wear = self.wear(totals);
        // Few digits, so that the text is the same on every machine.
        let rounded = |number: f64, steps: f64| (number * steps).round() / steps;
        let rated = |used: Used| PlanRated {
            measure: used.measure.name().to_owned(),
            life: used.rated as u64,
            share: rounded(used.share(), 1e6),
        };
        PlanWear {
            passes: rounded(wear.passes(&self.problem.tape().geometry), 1e3),
            loads: wear.loads,
            rated: self.used(&wear).into_iter().map(rated).collect(),
        }
    }
}
