//! What a plan takes of its cartridge's life. What the cartridge has been through before is not known
//! to a plan: the drive says it (`tapewise drive status --active`).

use crate::units;
use tapewise::Placed;
use tapewise_model::{Measure, Used};
use tapewise_order::Totals;

/// The wear for a person, with a warning where a single plan takes most of a life.
pub fn line(placed: &Placed, totals: &Totals) -> String {
    let wear = placed.wear(totals);
    let geometry = &placed.problem.tape().geometry;
    let metres = match wear.metres(geometry) {
        Some(metres) => format!("{} of tape, ", units::metres(metres)),
        None => String::new(),
    };
    let passes = wear.passes(geometry);
    let moved = format!("{metres}{passes:.1} end-to-end passes, 1 load");
    let used = placed.used(&wear);
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
