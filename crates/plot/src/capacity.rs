//! The target's metric against the number of drives.

use crate::figure::{Drawn, Figure, NothingToDraw, TOLD_APART};
use tapewise_model::units::number;
use tapewise_sim::capacity::{Capacity, Combination, Forecast};
use tapewise_sim::statistics::Interval;

/// A picture goes up to so many times the target, or the best of a row: longer times would leave too little room for
/// all others.
const FAR: f64 = 4.0;
/// Formulas are drawn for this many drives more and fewer than were simulated.
const BESIDE_DRIVES: f64 = 2.0;

/// Intervals as bands, formulas as thin lines, the target across; as many pictures as it takes to tell the
/// rows apart. A row that is unstable at all numbers of drives is left out. Formulas are drawn for all
/// numbers of drives if `all` are asked for or nothing meets the target.
///
/// # Errors
/// Where one cannot be made.
pub fn capacity_pictures(found: &Capacity, all: bool) -> Result<Vec<Drawn>, NothingToDraw> {
    let rows = found.rows.iter().map(|row| (row, simulated(found, row)));
    let rows: Vec<Row<'_>> = rows.filter(|(_, places)| !places.is_empty()).collect();
    let all = all || found.answer().is_none();
    let groups = if rows.is_empty() {
        vec![&rows[..]]
    } else {
        rows.chunks(TOLD_APART).collect()
    };
    let name = |number: usize| match groups.len() {
        1 => "capacity".to_owned(),
        _ => format!("capacity-{}", number + 1),
    };
    let drawn = groups.iter().enumerate();
    drawn
        .map(|(number, group)| picture(found, name(number), group, all))
        .collect()
}

/// Drives, and the target's metric with its interval.
type Place = (f64, Interval);

/// A row, and what of it was simulated.
type Row<'c> = (&'c Vec<Combination>, Vec<Place>);

/// Seconds up to which the picture goes: each row has its best place on it.
fn far_s(found: &Capacity, rows: &[Row<'_>]) -> f64 {
    let best = rows.iter().map(|(_, places)| {
        let places = places.iter().map(|(_, s)| s.estimate);
        places.fold(f64::INFINITY, f64::min)
    });
    FAR * best.fold(found.target.limit_s, f64::max)
}

/// What the formula says of a row.
fn by_formula(row: &[Combination]) -> impl Iterator<Item = (f64, f64)> {
    row.iter().filter_map(|one| match &one.formula {
        Forecast::Expected(expected) => Some((f64::from(one.drives), expected.target_s)),
        Forecast::Unstable { .. } | Forecast::None(_) => None,
    })
}

fn simulated(found: &Capacity, row: &[Combination]) -> Vec<Place> {
    let metric = found.target.metric;
    row.iter()
        .filter_map(|one| Some((f64::from(one.drives), one.metric(metric)?)))
        .collect()
}

fn picture(
    found: &Capacity,
    name: String,
    rows: &[Row<'_>],
    all: bool,
) -> Result<Drawn, NothingToDraw> {
    let target = &found.target;
    let first = found.combinations().next();
    let scenario = first.map_or("", |one| one.scenario.name.as_str());
    let far_s = far_s(found, rows);
    // Formulas go a little beyond what was simulated, so the picture's width is for what was.
    let drawn = || {
        let places = rows.iter().flat_map(|(_, places)| places);
        places.map(|(drives, _)| *drives)
    };
    let least = drawn().fold(f64::INFINITY, f64::min) - BESIDE_DRIVES;
    let most = drawn().fold(0.0, f64::max) + BESIDE_DRIVES;
    let is_beside = |drives: f64| all || (least..=most).contains(&drives);
    let seconds = rows.iter().flat_map(|(row, places)| {
        let beside = by_formula(row).filter(|(drives, _)| is_beside(*drives));
        beside
            .map(|(_, s)| s)
            .chain(places.iter().map(|(_, s)| s.estimate))
    });
    let is_above = seconds.fold(0.0, f64::max) > far_s;
    let above = if is_above {
        format!("; above {} s not drawn", number(far_s))
    } else {
        String::new()
    };
    let title = format!(
        "{} of responses by drives, {scenario} (thin: by formula{above})",
        target.metric
    );
    let mut figure = Figure::new(name, title, "drives", "response, s");
    for (row, simulated) in rows {
        let Some(one) = row.first() else { continue };
        let formula = by_formula(row).filter(|&(drives, s)| s <= far_s && is_beside(drives));
        let simulated: Vec<&Place> = (simulated.iter())
            .filter(|(_, s)| s.estimate <= far_s)
            .collect();
        let low = simulated.iter().map(|(drives, s)| (*drives, s.low()));
        let high = simulated.iter().map(|(drives, s)| (*drives, s.high()));
        let dots = simulated.iter().map(|(drives, s)| (*drives, s.estimate));
        figure = figure
            .thin(formula)
            .area(low.chain(high.rev()))
            .on_line(dots.clone())
            .line(&one.row_name(), dots);
    }
    let tried = || {
        let drives = found.combinations().map(|one| f64::from(one.drives));
        drives.filter(|&drives| is_beside(drives))
    };
    let fewest = tried().fold(most, f64::min);
    let across = [fewest, tried().fold(fewest, f64::max)].map(|drives| (drives, target.limit_s));
    let target_name = format!("target {} s", number(target.limit_s));
    figure.guide(&target_name, across).counts().draw()
}
