//! What a plan takes of its cartridge's life. What the cartridge has been through before is not known
//! to a plan: the drive says it (`tapewise drive status --active`).

use crate::placement::Placed;
use crate::units;
use tapewise_formats::plan_json::{PlanRated, PlanWear};
use tapewise_model::{Measure, Used, Wear};
use tapewise_order::Totals;

/// The wear of a plan: its way, and the load in which it is carried out.
fn of(totals: &Totals) -> Wear {
    Wear {
        distance_lpos: totals.distance_lpos,
        loads: 1,
    }
}

fn used(placed: &Placed, wear: &Wear) -> Vec<Used> {
    let geometry = &placed.problem.tape().geometry;
    placed.profile.rated_life().used(wear, geometry)
}

/// The wear for a person, with a warning where a single plan takes most of a life.
pub fn line(placed: &Placed, totals: &Totals) -> String {
    let wear = of(totals);
    let geometry = &placed.problem.tape().geometry;
    let metres = match wear.metres(geometry) {
        Some(metres) => format!("{} of tape, ", units::metres(metres)),
        None => String::new(),
    };
    let passes = wear.passes(geometry);
    let moved = format!("{metres}{passes:.1} end-to-end passes, 1 load");
    let used = used(placed, &wear);
    if used.is_empty() {
        return format!("{moved}; the profile knows no rated life");
    }
    let shares: Vec<String> = used.iter().map(share_words).collect();
    let warnings: String = used
        .iter()
        .filter_map(Used::warning)
        .map(|warning| format!("; WARNING: {warning}"))
        .collect();
    format!("{moved}; {} of the rated life{warnings}", shares.join(", "))
}

/// "0.29 % of 22000 km"
fn share_words(used: &Used) -> String {
    let percent = units::percent(used.share() * 100.0);
    let life = match used.measure {
        Measure::Metres => units::metres(used.rated),
        Measure::Passes | Measure::Loads => format!("{:.0} {}", used.rated, used.measure.name()),
    };
    format!("{percent} % of {life}")
}

/// The wear as the JSON contract has it.
pub fn document(placed: &Placed, totals: &Totals) -> PlanWear {
    let wear = of(totals);
    // Few digits, so that the text is the same on every machine.
    let rounded = |number: f64, steps: f64| (number * steps).round() / steps;
    let rated = |used: Used| PlanRated {
        measure: used.measure.name().to_owned(),
        life: used.rated as u64,
        share: rounded(used.share(), 1e6),
    };
    PlanWear {
        passes: rounded(wear.passes(&placed.problem.tape().geometry), 1e3),
        loads: wear.loads,
        rated: used(placed, &wear).into_iter().map(rated).collect(),
    }
}
