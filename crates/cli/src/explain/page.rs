//! What `--explain` prints, as a page for a browser.

use super::Report;
use crate::html::MADE_BY;
use crate::{plot, units};
use tapewise::{Found, Placed};
use tapewise_model::Micros;
use tapewise_order::Action;
use tapewise_plot::html::{Report as Page, Sheet};
use tapewise_plot::players::Track;
use tapewise_plot::{Drawn, Table};

/// Rows of the order that the page shows; the CSV has all.
const SHOWN: usize = 100;

impl Report<'_> {
    /// The page, with the head's path in this order beside that in another one.
    pub fn page(&self, other: &Found) -> Page {
        let (placed, chosen) = (self.explanation.placed, self.explanation.chosen);
        let (before, after) = (self.lines_before(), self.lines_after());
        let lines = before.into_iter().chain(after);
        let others = self.tables().into_iter().enumerate();
        let others = others.map(|(at, table)| Sheet::new(format!("orders-{}", at + 2), table));
        Page {
            title: format!(
                "tapewise order: {}",
                self.explanation.placed.batch.recognised
            ),
            answer: self.answer(),
            remarks: lines
                .map(|(head, rest)| format!("{head}: {rest}"))
                .collect(),
            figures: vec![Drawn {
                name: "head-path".to_owned(),
                svg: plot::side_by_side(placed, [other, chosen]),
            }],
            tracks: [other, chosen]
                .map(|found| Track::new(placed, found))
                .to_vec(),
            sheets: [Sheet::new("orders", self.table()), self.reads()]
                .into_iter()
                .chain(others)
                .collect(),
            made_by: MADE_BY.to_owned(),
        }
    }

    /// How long the order takes, and what it is worth.
    fn answer(&self) -> String {
        let (placed, chosen) = (self.explanation.placed, self.explanation.chosen);
        let reads = units::count(placed.batch.requests.len(), "read");
        let likely = chosen.total();
        let worst = match chosen.worst {
            worst if worst > likely => format!(" (at worst {worst})"),
            _ => String::new(),
        };
        let worth = self.explanation.worth();
        let worth = worth.map_or_else(String::new, |worth| {
            format!(
                ": {} than sorted by block, {} than in the order of the list",
                less_or_more(worth.against_sorted),
                less_or_more(worth.against_list)
            )
        });
        format!("{reads} in {likely}{worst}{worth}")
    }

    /// The order itself: what is read when.
    fn reads(&self) -> Sheet {
        let (placed, chosen) = (self.explanation.placed, self.explanation.chosen);
        let times = times(placed, chosen);
        let requests = placed.reading_order(&chosen.plan).into_iter();
        let rows: Vec<(&str, Option<Read>)> = requests
            .map(|at| (placed.batch.requests[at].id.as_str(), times[at]))
            .collect();
        let mut shown = Table::new("The order given", &["", "request", "begins", "reading"]);
        let mut all = Table::new("", &["number", "request", "begins_s", "reading_s"]);
        for (number, (id, read)) in (1..).zip(&rows) {
            let of = |cell: fn(Micros) -> String| {
                let cells = read.map(|read| [cell(read.begins), cell(read.reading)]);
                cells.unwrap_or_else(|| ["-", "-"].map(str::to_owned))
            };
            let head = || [format!("{number}"), (*id).to_owned()].into_iter();
            if number <= SHOWN {
                shown.row(head().chain(of(|time| time.to_string())));
            }
            all.row(head().chain(of(|time| time.as_secs_f64().to_string())));
        }
        if rows.len() > SHOWN {
            shown.note(format!("{} more are in the CSV", rows.len() - SHOWN));
        }
        Sheet::with_csv("order", shown, all.csv())
    }
}

/// When a request is first read, and how long it is read in all.
#[derive(Clone, Copy)]
struct Read {
    begins: Micros,
    reading: Micros,
}

/// By request of the batch; none for what needs no tape.
fn times(placed: &Placed, chosen: &Found) -> Vec<Option<Read>> {
    let mut times = vec![None; placed.batch.requests.len()];
    let steps = chosen.plan.steps.iter();
    for step in steps.filter(|step| step.action == Action::Read) {
        for &request in &placed.problem.visits()[step.visit as usize].requests {
            let (owner, _) = placed.owners[request as usize];
            let read = times[owner].get_or_insert(Read {
                begins: step.begin,
                reading: Micros::ZERO,
            });
            read.reading += step.duration;
        }
    }
    times
}

/// "1h20 less" or "3m10 more".
fn less_or_more(saved: Micros) -> String {
    match saved {
        saved if saved < Micros::ZERO => format!("{} more", Micros(-saved.0)),
        saved => format!("{saved} less"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_less_and_what_is_lost_is_more() {
        assert_eq!(less_or_more(Micros(80_000_000)), "1m20 less");
        assert_eq!(less_or_more(Micros(-80_000_000)), "1m20 more");
    }
}
