//! The target's metric against the number of drives.

use super::grid::{Found, Guess};
use crate::commands::simulate::report::number;
use crate::error::CliError;
use crate::plot::figure::{Drawn, Figure};
use tapewise_sim::statistics::Interval;

/// What is beyond so many times the target would press the rest together.
const FAR: f64 = 4.0;

/// The picture: intervals as bands, formulas as thin lines, the target across.
///
/// # Errors
/// Where it cannot be made.
pub fn picture(found: &Found) -> Result<Drawn, CliError> {
    let target = &found.target;
    let first = found.cells().next();
    let name = first.map_or("", |cell| cell.scenario.name.as_str());
    let title = format!(
        "{} of responses by drives, {name} (thin: by formula)",
        target.metric
    );
    let near = |seconds: &f64| *seconds <= FAR * target.limit_s;
    let mut figure = Figure::new("capacity", title, "drives", "response, s");
    for row in &found.rows {
        let Some(cell) = row.first() else { continue };
        let formula = row.iter().filter_map(|cell| match &cell.formula {
            Guess::Expected(expected) => Some((f64::from(cell.drives), expected.target_s)),
            Guess::Unstable { .. } | Guess::None(_) => None,
        });
        let simulated: Vec<(f64, Interval)> = (row.iter())
            .filter_map(|cell| Some((f64::from(cell.drives), cell.metric(target.metric)?)))
            .filter(|place| near(&place.1.estimate))
            .collect();
        let low = simulated.iter().map(|(drives, s)| (*drives, s.low()));
        let high = simulated.iter().map(|(drives, s)| (*drives, s.high()));
        let dots = simulated.iter().map(|(drives, s)| (*drives, s.estimate));
        let line = simulated.iter().map(|(drives, s)| (*drives, s.estimate));
        figure = figure
            .thin(formula.filter(|place| near(&place.1)))
            .area(low.chain(high.rev()))
            .on_line(dots)
            .line(&cell.row_name(), line);
    }
    let most = found.cells().map(|cell| cell.drives).max().unwrap_or(1);
    let across = [(0.0, target.limit_s), (f64::from(most), target.limit_s)];
    let target_name = format!("target {} s", number(target.limit_s));
    figure.guide(&target_name, across).draw()
}
