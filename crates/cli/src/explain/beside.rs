//! Tables beside the main one: what objectives cost each other, other drives, what errors cost.

use crate::error::CliError;
use crate::profiles;
use crate::search::SearchArgs;
use crate::units;
use tapewise::explain::Explanation;
use tapewise::{Aim, Origin, Placed};
use tapewise_model::Micros;
use tapewise_order::robust::Change;
use tapewise_order::{Algorithm, Objective, Tape};
use tapewise_plot::Table;

const GIVEN: &str = "<- the order given";

/// What each objective costs the others; no table without the order of least total.
pub(super) fn trade_off(
    explanation: &Explanation,
    aim: &Aim,
    search: &SearchArgs,
) -> Option<Table> {
    let placed = explanation.placed;
    let rows = explanation.trade_off(aim, &search.effort());
    if rows.is_empty() {
        return None;
    }
    let mut columns = vec!["objective", "total", "mean", "95 % read"];
    if aim.has_deadlines {
        columns.extend(["late", "lateness"]);
    }
    columns.extend(["tape moved", ""]);
    let mut table = Table::new("what each objective costs the others", &columns);
    for row in rows {
        let figures = row.figures;
        let name = match row.objective {
            None => "total",
            Some(Objective::Total) => "total, less tape",
            Some(other) => other.name(),
        };
        let total = figures.total + placed.unload();
        let times = [total, figures.mean, figures.p95].map(|time| time.to_string());
        let late = [figures.late.to_string(), figures.lateness.to_string()];
        let late = late.into_iter().filter(|_| aim.has_deadlines);
        let moved = units::tape_moved(figures.distance_lpos, &placed.problem.tape().geometry);
        let mark = if row.is_given { GIVEN } else { "" };
        let name = std::iter::once(name.to_owned());
        let cells = name.chain(times).chain(late);
        table.row(cells.chain([moved, mark.to_owned()]));
    }
    table.note("mean: when a request is read, on average, each counting 1 + priority");
    if aim.has_deadlines {
        table.note(
            "late: requests read after their deadlines; lateness: the sum of their delays, each counting 1 + priority",
        );
    }
    Some(table)
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
            let tape = placed.tape_under(&profile).map_err(misfit)?;
            Ok((profile.name, tape))
        };
        let tapes = names.iter().map(tape).collect::<Result<_, CliError>>()?;
        Ok(Others { tapes })
    }

    /// Totals of the orders that matter under each of them.
    pub(super) fn table(&self, explanation: &Explanation) -> Table {
        let (placed, chosen) = (explanation.placed, explanation.chosen);
        let own = format!("{} (as planned)", placed.profile.name);
        let mut columns = vec!["order", &own];
        columns.extend(self.tapes.iter().map(|(name, _)| name.as_str()));
        columns.push("");
        let mut table = Table::new(
            "the same orders and places under the times of other profiles",
            &columns,
        );
        let shown = [Algorithm::Sort, Algorithm::Cta].map(Origin::Algorithm);
        for row in &explanation.rows {
            let origin = row.origin;
            let is_chosen = origin == chosen.origin;
            let matters = shown.contains(&origin) || origin == Origin::Drive || is_chosen;
            let Some(found) = row.found.as_ref().filter(|_| matters) else {
                continue;
            };
            let priced = self.tapes.iter().map(|(_, tape)| {
                let total = placed.total_under(found, tape);
                total.map_or("-".to_owned(), |total| total.to_string())
            });
            let first = [origin.title().to_owned(), found.total().to_string()];
            let mark = if is_chosen { GIVEN } else { "" };
            table.row(first.into_iter().chain(priced).chain([mark.to_owned()]));
        }
        table
    }
}

/// What errors of map and model cost the order, and sorting.
pub(super) fn sensitivity(explanation: &Explanation) -> Table {
    let found = explanation.sensitivity();
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
    if explanation.placed.map.is_some() {
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
