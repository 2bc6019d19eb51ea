//! Every combination by formula, and those around the least that meets the target simulated.

use super::target::{Metric, Target};
use crate::commands::simulate::answer::{self, Outcome, Simulated};
use crate::commands::simulate::report;
use crate::error::CliError;
use crate::scenario;
use rayon::prelude::*;
use tapewise_sim::library::NoFormula;
use tapewise_sim::statistics::Interval;
use tapewise_sim::{Scenario, ScenarioError};

/// Combinations of drives, robots and windows.
pub struct Grid {
    target: Target,
    /// In each row the numbers of drives, from the least; else alike.
    rows: Vec<Vec<Cell>>,
}

/// A combination.
#[derive(Debug)]
pub struct Cell {
    pub scenario: Scenario,
    pub drives: u32,
    pub robots: u32,
    pub window_s: f64,
    pub formula: Guess,
    pub simulated: Option<Outcome>,
}

/// What formulas say.
#[derive(Clone, Debug, PartialEq)]
pub enum Guess {
    Expected(Expected),
    /// More arrives than can be served, by drives or robots.
    Unstable {
        what: &'static str,
        why: String,
    },
    /// No formula applies.
    None(String),
}

/// What formulas expect.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Expected {
    /// Share of the time in which a drive is held.
    pub drives_held: f64,
    pub robots_at_work: f64,
    pub mean_s: f64,
    /// The target's metric.
    pub target_s: f64,
}

/// What the search found.
pub struct Found {
    pub target: Target,
    pub rows: Vec<Vec<Cell>>,
}

/// How a combination stands to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meets {
    /// The whole interval is below.
    Yes,
    /// The target is within the interval: more replications would tell.
    Unsure,
    No,
}

impl Meets {
    pub fn word(self) -> &'static str {
        match self {
            Meets::Yes => "met",
            Meets::Unsure => "unsure",
            Meets::No => "missed",
        }
    }
}

impl Cell {
    /// The target's metric, where it was simulated and is stable.
    pub fn metric(&self, metric: Metric) -> Option<Interval> {
        let results = &self.estimates()?.results;
        match metric {
            Metric::Mean => Some(results.mean_s),
            Metric::Percentile(percent) => report::percentile(results, percent),
        }
    }

    pub fn estimates(&self) -> Option<&Simulated> {
        match &self.simulated {
            Some(Outcome::Steady(simulated)) => Some(simulated),
            Some(Outcome::Unstable(_)) | None => None,
        }
    }

    /// `None` where it was not simulated.
    pub fn meets(&self, target: &Target) -> Option<Meets> {
        let simulated = self.simulated.as_ref()?;
        Some(match (simulated, self.metric(target.metric)) {
            (Outcome::Steady(_), Some(s)) if s.high() <= target.limit_s => Meets::Yes,
            (Outcome::Steady(_), Some(s)) if s.low() <= target.limit_s => Meets::Unsure,
            _ => Meets::No,
        })
    }

    /// "6 drives, 1 robot, no window".
    pub fn name(&self) -> String {
        let drives = crate::units::count(self.drives as usize, "drive");
        format!("{drives}, {}", self.row_name())
    }

    /// The same without drives.
    pub fn row_name(&self) -> String {
        let robots = crate::units::count(self.robots as usize, "robot");
        match self.window_s {
            0.0 => format!("{robots}, no window"),
            window_s => format!("{robots}, window {window_s} s"),
        }
    }
}

impl Found {
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.rows.iter().flatten()
    }

    /// The combination that meets the target with fewest drives, then robots, then window.
    pub fn answer(&self) -> Option<&Cell> {
        let met = self
            .cells()
            .filter(|cell| cell.meets(&self.target) == Some(Meets::Yes));
        met.min_by(|a, b| {
            let fewest = (a.drives, a.robots).cmp(&(b.drives, b.robots));
            fewest.then(a.window_s.total_cmp(&b.window_s))
        })
    }
}

impl Grid {
    /// Computes every combination by formula.
    ///
    /// # Errors
    /// Bad input.
    pub fn new(
        base: &Scenario,
        target: Target,
        drives: &[u32],
        robots: &[u32],
        windows_s: &[f64],
    ) -> Result<Grid, CliError> {
        let mut rows = Vec::new();
        for &robots in robots {
            for &window_s in windows_s {
                let cells: Result<Vec<Cell>, CliError> = drives
                    .par_iter()
                    .map(|&drives| cell(base, target, drives, robots, window_s))
                    .collect();
                rows.push(cells?);
            }
        }
        Ok(Grid { target, rows })
    }

    /// In each row, simulates until the fewest drives that meet the target and their neighbours are
    /// known. That more drives never do worse is taken as given.
    ///
    /// # Errors
    /// Replications that cannot be made.
    pub fn search(mut self) -> Result<Found, CliError> {
        for row in &mut self.rows {
            let least = least(row, &self.target)?;
            for neighbour in [least.checked_sub(1), Some(least), Some(least + 1)] {
                if let Some(cell) = neighbour.and_then(|number| row.get_mut(number)) {
                    simulate(cell)?;
                }
            }
        }
        Ok(Found {
            target: self.target,
            rows: self.rows,
        })
    }
}

/// The first cell of a row that meets the target; the row's length where none does.
fn least(row: &mut [Cell], target: &Target) -> Result<usize, CliError> {
    let guesses: Vec<&Guess> = row.iter().map(|cell| &cell.formula).collect();
    let (mut next, knows) = start(&guesses, target);
    let (mut least, mut most) = (0, row.len());
    while least < most {
        simulate(&mut row[next])?;
        let met = row[next].meets(target) == Some(Meets::Yes);
        if met {
            most = next
        } else {
            least = next + 1
        }
        // A formula is near: one step. Without one, halves.
        next = match (knows, met) {
            (true, true) => next.saturating_sub(1),
            (true, false) => next + 1,
            (false, _) => (least + most) / 2,
        };
    }
    Ok(least)
}

/// Where a search begins, and whether formulas know that it is near the answer.
fn start(guesses: &[&Guess], target: &Target) -> (usize, bool) {
    let guessed = guesses.iter().position(|guess| match guess {
        Guess::Expected(expected) => expected.target_s <= target.limit_s,
        Guess::Unstable { .. } | Guess::None(_) => false,
    });
    let is_none = |guess: &&Guess| matches!(guess, Guess::None(_));
    match guessed {
        Some(near) => (near, true),
        None if guesses.iter().any(is_none) => (guesses.len() / 2, false),
        None => (guesses.len() - 1, true),
    }
}

fn cell(
    base: &Scenario,
    target: Target,
    drives: u32,
    robots: u32,
    window_s: f64,
) -> Result<Cell, CliError> {
    let mut scenario = base.clone();
    let library = &mut scenario.libraries[0];
    library.drives[0].count = drives;
    library.robot.count = robots;
    scenario.policy.window_s = window_s;
    if window_s == 0.0 {
        // It ends a window, and there is none.
        scenario.policy.window_requests = None;
    }
    scenario.check().map_err(scenario::refused)?;
    let formula = match scenario::ready(&scenario)? {
        Err(unstable) => Guess::Unstable {
            what: match unstable {
                ScenarioError::Unstable { what, .. } => what,
                _ => "drives or robots",
            },
            why: unstable.to_string(),
        },
        Ok(site) => match site.expected() {
            Err(why @ NoFormula::Saturated { what, .. }) => Guess::Unstable {
                what,
                why: why.to_string(),
            },
            Err(why) => Guess::None(why.to_string()),
            Ok(expected) => {
                let target_s = match target.metric {
                    Metric::Mean => expected.mean_s,
                    Metric::Percentile(percent) => expected
                        .quantile_s(f64::from(percent) / 100.0)
                        .map_err(CliError::failed)?,
                };
                Guess::Expected(Expected {
                    drives_held: expected.steady.drive_utilisation,
                    robots_at_work: expected.robots_at_work,
                    mean_s: expected.mean_s,
                    target_s,
                })
            }
        },
    };
    Ok(Cell {
        scenario,
        drives,
        robots,
        window_s,
        formula,
        simulated: None,
    })
}

fn simulate(cell: &mut Cell) -> Result<(), CliError> {
    if cell.simulated.is_some() {
        return Ok(());
    }
    let outcome = match scenario::ready(&cell.scenario)? {
        Err(unstable) => Outcome::Unstable(unstable.to_string()),
        Ok(site) => {
            let before = format!("{}: ", cell.name());
            answer::outcome(&site, answer::study(&site, &before)?)?
        }
    };
    cell.simulated = Some(outcome);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_begins_where_formulas_say_and_in_the_middle_where_they_do_not() {
        let target = Target::parse("mean < 60 s").expect("a target");
        let expected = |target_s| {
            Guess::Expected(Expected {
                drives_held: 0.5,
                robots_at_work: 0.1,
                mean_s: target_s,
                target_s,
            })
        };
        let unstable = Guess::Unstable {
            what: "drives",
            why: String::new(),
        };
        let none = Guess::None(String::new());
        let (slow, quick) = (expected(70.0), expected(50.0));
        assert_eq!(
            start(&[&unstable, &slow, &quick, &quick], &target),
            (2, true)
        );
        // More drives than were asked about would do, or none do.
        assert_eq!(start(&[&unstable, &unstable, &slow], &target), (2, true));
        assert_eq!(start(&[&unstable; 3], &target), (2, true));
        assert_eq!(start(&[&none; 12], &target), (6, false));
        // That few drives are too few says nothing of how many are enough.
        assert_eq!(
            start(&[&unstable, &none, &none, &none, &none], &target),
            (2, false)
        );
    }
}
