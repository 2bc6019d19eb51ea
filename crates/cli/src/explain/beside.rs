//! Tables beside the main one: what objectives cost each other, other drives, what errors cost.

use super::{Report, Rows};
use crate::error::CliError;
use crate::goal::Goal;
use crate::placement::Placed;
use crate::profiles;
use crate::search::{Origin, Row};
use crate::units;
use tapewise_model::Micros;
use tapewise_order::robust::{Change, Sensitivity, price_under, tape_with_model_of};
use tapewise_order::{Algorithm, Figures, Objective, Tape};
use tapewise_plot::Table;

const GIVEN: &str = "<- the order given";

/// What each objective costs the others.
pub(super) fn trade_off(report: &Report, goal: &Goal, best: &Row) -> Table {
    let placed = report.placed;
    let mut columns = vec!["objective", "total", "mean", "95 % read"];
    if goal.has_deadlines {
        columns.extend(["late", "lateness"]);
    }
    columns.extend(["tape moved", ""]);
    let mut table = Table::new("what each objective costs the others", &columns);
    let mut row = |name: &str, row: &Row| {
        let figures = Figures::of(&placed.problem, &goal.wishes, &row.plan.order);
        let total = figures.total + placed.unload();
        let times = [total, figures.mean, figures.p95].map(|time| time.to_string());
        let late = [figures.late.to_string(), figures.lateness.to_string()];
        let late = late.into_iter().filter(|_| goal.has_deadlines);
        let moved = units::tape_moved(figures.distance_lpos, &placed.problem.tape().geometry);
        let is_given = row.origin == report.chosen.origin;
        let mark = if is_given { GIVEN } else { "" };
        let name = std::iter::once(name.to_owned());
        table.row(
            name.chain(times)
                .chain(late)
                .chain([moved, mark.to_owned()]),
        );
    };
    row("total", best);
    for objective in Objective::ALL {
        if report.chosen.origin == Origin::Objective(objective) {
            let name = match objective {
                Objective::Total => "total, less tape",
                other => other.name(),
            };
            row(name, report.chosen);
        } else if objective == Objective::Mean
            || (objective == Objective::Deadline && goal.has_deadlines)
        {
            let (found, _) = goal.pursue(placed, objective, best, report.search);
            row(objective.name(), &found);
        }
    }
    table.note("mean: when a request is read, on average, each counting 1 + priority");
    if goal.has_deadlines {
        table.note(
            "late: requests read after their deadlines; lateness: the sum of how much, each counting 1 + priority",
        );
    }
    table
}

/// Other drives to price orders under.
pub struct Others {
    tapes: Vec<(String, Tape)>,
}

impl Others {
    /// The drives of some profiles, with the cartridge at hand.
    ///
    /// # Errors
    /// Bad input: no such profile, or one whose cartridge has other wraps, bands or positions.
    pub fn load(placed: &Placed, names: &[String]) -> Result<Others, CliError> {
        let tape = |name: &String| {
            let profile = profiles::load_drive(name)?;
            let misfit = |error| {
                let hint = "only a drive whose cartridge is laid out alike can be compared";
                CliError::input(format!("--price-under {name}: {error}")).hint(hint)
            };
            let tape = tape_with_model_of(placed.problem.tape(), &profile).map_err(misfit)?;
            // Whether the places fit is known only when a batch is priced.
            placed.problem.under(&tape).map_err(misfit)?;
            Ok((profile.name, tape))
        };
        let tapes = names.iter().map(tape).collect::<Result<_, CliError>>()?;
        Ok(Others { tapes })
    }

    /// Totals of the orders that matter under each of them.
    pub(super) fn table(&self, placed: &Placed, rows: &Rows, chosen: &Row) -> Table {
        let own = format!("{} (as planned)", placed.profile.name);
        let mut columns = vec!["order", &own];
        columns.extend(self.tapes.iter().map(|(name, _)| name.as_str()));
        columns.push("");
        let mut table = Table::new(
            "the same orders and places under the times of other profiles",
            &columns,
        );
        let shown = [Algorithm::Sort, Algorithm::Cta].map(Origin::Algorithm);
        for (origin, row) in rows {
            let is_chosen = *origin == chosen.origin;
            let matters = shown.contains(origin) || *origin == Origin::Drive || is_chosen;
            let Some(row) = row.filter(|_| matters) else {
                continue;
            };
            let priced = self.tapes.iter().map(|(_, tape)| {
                let totals = price_under(&placed.problem, &row.plan.order, tape);
                totals.map_or("-".to_owned(), |totals| {
                    (totals.total + placed.unload()).to_string()
                })
            });
            let first = [origin.title().to_owned(), row.total().to_string()];
            let mark = if is_chosen { GIVEN } else { "" };
            table.row(first.into_iter().chain(priced).chain([mark.to_owned()]));
        }
        table
    }
}

/// What errors of map and model cost the order, and sorting.
pub(super) fn sensitivity(placed: &Placed, chosen: &Row) -> Table {
    let found = Sensitivity::new(&placed.problem, &chosen.plan.order, placed.map.as_ref());
    let mut table = Table::new(
        "what errors would cost",
        &["if", "order given", "sorted", "by chance"],
    );
    let signed = |time: Micros| match time {
        Micros(0) => "-".to_owned(),
        // Less than the digits show has no sign.
        time if time.0.abs() < 50_000 => Micros::ZERO.to_string(),
        time if time > Micros::ZERO => format!("+{time}"),
        time => time.to_string(),
    };
    let mut row = |what: &str, change: Change| {
        let spread = match change.spread {
            Micros::ZERO => "-".to_owned(),
            spread => format!("+-{spread}"),
        };
        let cells = [signed(change.order), signed(change.sorted), spread];
        table.row(std::iter::once(what.to_owned()).chain(cells));
    };
    row("every locate takes 1 s longer", found.locates_longer_by_1_s);
    row(
        "every locate is off by about 1 s, by chance",
        found.locates_scattered_by_1_s,
    );
    if placed.map.is_some() {
        row(
            "all wraps hold 0.1 % more or less than the map says",
            found.map_off_by_a_thousandth,
        );
        row(
            "each wrap holds about 0.1 % more or less, by chance",
            found.wraps_scattered_by_a_thousandth,
        );
    }
    table
}
