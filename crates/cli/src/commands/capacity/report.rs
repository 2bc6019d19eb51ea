//! What a person reads: every combination, the answer, or why there is none.

use super::price::Price;
use crate::commands::simulate::report::{caution, made};
use crate::html::{MADE_BY, sentence};
use crate::units::{count, time, time_between};
use tapewise_model::units::{number, share};
use tapewise_plot::html::{Report as Page, Sheet};
use tapewise_plot::{Drawn, Table};
use tapewise_sim::Outcome;
use tapewise_sim::capacity::{Capacity, Combination, Forecast, Meets};
use tapewise_sim::statistics::Interval;

/// Combinations with this many drives more or less than the answer are near it.
const NEAR_DRIVES: u32 = 2;

/// The answer first, then the rows around it, or all of them.
pub fn text(found: &Capacity, price: Option<&Price>, all: bool) -> String {
    let answer: String = (answers(found, price).iter())
        .map(|(label, words)| format!("{label:<11} {words}\n"))
        .collect();
    let table = crate::output::table(&rows(found, price, all));
    let mut text = format!("{answer}{}\n{table}", headline(found));
    for remark in remarks(found) {
        text += &format!("{remark}\n");
    }
    text
}

/// The same as a page for a browser.
pub fn page(found: &Capacity, price: Option<&Price>, all: bool, figures: Vec<Drawn>) -> Page {
    let mut answers = answers(found, price).into_iter();
    let (_, answer) = answers.next().unwrap_or_default();
    let others = answers.map(|(label, words)| format!("{label}: {words}"));
    let made = headline(found);
    let made = made.lines().map(sentence);
    Page {
        title: "tapewise capacity".to_owned(),
        answer,
        remarks: others
            .chain(made)
            .chain(remarks(found).iter().map(|line| sentence(line)))
            .collect(),
        figures,
        sheets: vec![Sheet::with_csv(
            "capacity",
            rows(found, price, all),
            super::table::csv(found, price),
        )],
        tracks: Vec::new(),
        made_by: MADE_BY.to_owned(),
    }
}

/// A row for each combination near the answer, or for all.
fn rows(found: &Capacity, price: Option<&Price>, all: bool) -> Table {
    let metric = found.target.metric.to_string();
    let mut columns = vec![
        "drives",
        "robots",
        "window",
        "mean",
        &metric,
        "simulated",
        "target",
    ];
    columns.extend(price.map(|_| "cost a year"));
    columns.extend([
        "held",
        "robots busy",
        "simulated held",
        "simulated robots busy",
    ]);
    let mut table = Table::new(
        "By formula; simulated where the target is near, with 95 % intervals over replications. Times in seconds",
        &columns,
    );
    let is_near = |one: &&Combination| {
        let near = |answer: &Combination| answer.drives.abs_diff(one.drives) <= NEAR_DRIVES;
        all || found.answer().is_none_or(near)
    };
    for one in found.combinations().filter(is_near) {
        table.row(row(found, one, price));
    }
    let left_out = found.combinations().filter(|one| !is_near(one)).count();
    if left_out > 0 {
        let combinations = count(left_out, "combination");
        table.note(format!(
            "{combinations} further from the answer left out: --all prints them"
        ));
    }
    table
}

/// What is to be known of formulas and simulations.
fn remarks(found: &Capacity) -> Vec<String> {
    let no_formula = no_formula(found).into_iter();
    let no_formula = no_formula.map(|reason| format!("no formula: {reason}"));
    let cautions = found.combinations().filter_map(|one| {
        let caution = caution(&one.steady()?.results)?;
        Some(format!("caution     {}: {caution}", one.name()))
    });
    let remarks = found.remarks().into_iter();
    let remarks = remarks.map(|remark| remark.to_string());
    no_formula.chain(remarks).chain(cautions).collect()
}

fn headline(found: &Capacity) -> String {
    let Some(first) = found.combinations().next() else {
        return String::new();
    };
    let rate = match found.target.per_hour {
        Some(per_hour) => format!(" at {} requests an hour", number(per_hour)),
        None => String::new(),
    };
    // Others may have taken more replications, or another warm-up.
    let mut simulated = found.answer().into_iter().chain(found.combinations());
    let simulated = simulated.find_map(|one| Some((one, one.steady()?)));
    let how = simulated.map_or_else(String::new, |(one, simulated)| {
        let made = made(&one.scenario, &simulated.results);
        format!("made        {}: {made}\n", one.name())
    });
    format!(
        "target      {} under {}{rate}, {}\n{how}",
        found.target.metric,
        time(found.target.limit_s),
        first.scenario.name
    )
}

fn row(found: &Capacity, one: &Combination, price: Option<&Price>) -> Vec<String> {
    let [mean, metric, held, busy] = match &one.formula {
        Forecast::Expected(expected) => [
            number(expected.mean_s),
            number(expected.target_s),
            share(expected.drives_held),
            share(expected.robots_at_work),
        ],
        Forecast::Unstable { .. } => ["-", "unstable", "-", "-"].map(str::to_owned),
        Forecast::None(_) => ["-"; 4].map(str::to_owned),
    };
    let simulated = match (&one.simulated, one.metric(found.target.metric)) {
        (None, _) => Default::default(),
        (Some(Outcome::Steady(simulated)), Some(metric)) => {
            let library = &simulated.results.libraries[0];
            let shares = [library.drives, library.robots].map(|used| share(used.estimate));
            let [held, busy] = shares;
            [between(&metric), held, busy]
        }
        (Some(_), _) => ["unstable", "", ""].map(str::to_owned),
    };
    let [response, simulated_held, simulated_busy] = simulated;
    let meets = one.meets(&found.target).map_or("", Meets::word).to_owned();
    let mut row = vec![
        one.drives.to_string(),
        one.robots.to_string(),
        one.window_s.to_string(),
        mean,
        metric,
        response,
        meets,
    ];
    row.extend(price.map(|price| {
        let cost = price.of_a_year(one);
        cost.map_or_else(String::new, |cost| format!("{cost:.0}"))
    }));
    row.extend([held, busy, simulated_held, simulated_busy]);
    row
}

pub fn between(interval: &Interval) -> String {
    format!(
        "{} ({} to {})",
        number(interval.estimate),
        number(interval.low()),
        number(interval.high())
    )
}

/// Each reason once.
fn no_formula(found: &Capacity) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for one in found.combinations() {
        if let Forecast::None(why) = &one.formula {
            let why = why.to_string();
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
    }
    reasons
}

/// The answer in a line, with its cost; and what meets the target for less, if something does.
fn answers(found: &Capacity, price: Option<&Price>) -> Vec<(&'static str, String)> {
    let Some(best) = found.answer() else {
        let is_unsure = |one: &Combination| one.meets(&found.target) == Some(Meets::Unsure);
        let said = if found.combinations().any(is_unsure) {
            "unsure: none of these surely meets the target"
        } else {
            "none of these meets the target"
        };
        return vec![("answer", said.to_owned())];
    };
    let line = |label, one: &Combination| {
        let metric = one.metric(found.target.metric);
        let metric = metric.map_or_else(String::new, |s| time_between(&s));
        let cost = price.and_then(|price| price.of_a_year(one));
        let cost = cost.map_or_else(String::new, |cost| format!(", {cost:.0} a year"));
        let (name, what) = (one.name(), found.target.metric);
        (label, format!("{name}: {what} {metric}{cost}"))
    };
    let cheapest = price.and_then(|price| {
        let met = found.combinations();
        let met = met.filter(|one| one.meets(&found.target) == Some(Meets::Yes));
        let priced = met.filter_map(|one| Some((price.of_a_year(one)?, one)));
        let (least, cheapest) = priced.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
        price
            .of_a_year(best)
            .is_some_and(|cost| least < cost)
            .then_some(cheapest)
    });
    let cheapest = cheapest.map(|one| line("cheapest", one));
    [line("answer", best)].into_iter().chain(cheapest).collect()
}
