//! What a person reads: every combination, the answer, or why there is none.

use super::grid::{Cell, Found, Guess, Meets};
use super::target::Metric;
use crate::commands::simulate::answer::Outcome;
use crate::commands::simulate::report::{caution, made, number, share};
use tapewise_plot::Table;
use tapewise_sim::library::Part;
use tapewise_sim::statistics::Interval;

pub fn text(found: &Found) -> String {
    let target = &found.target;
    let mut table = Table::new(
        "By formula; simulated where the target is near, with 95 % intervals over replications. Times in seconds",
        &[
            "drives",
            "robots",
            "window",
            "held",
            "robots busy",
            "mean",
            &target.metric.to_string(),
            "simulated",
            "held",
            "robots busy",
            "target",
        ],
    );
    for cell in found.cells() {
        table.row(row(found, cell));
    }
    let mut text = format!("{}\n{table}", headline(found));
    for reason in no_formula(found) {
        text += &format!("no formula: {reason}\n");
    }
    for remark in remarks(found) {
        text += &format!("{remark}\n");
    }
    for cell in found.cells() {
        if let Some(caution) = cell.estimates().and_then(|made| caution(&made.results)) {
            text += &format!("caution     {}: {caution}\n", cell.name());
        }
    }
    text + &answer(found) + "\n"
}

fn headline(found: &Found) -> String {
    let Some(first) = found.cells().next() else {
        return String::new();
    };
    let rate = match found.target.per_hour {
        Some(per_hour) => format!(" at {} requests an hour", number(per_hour)),
        None => String::new(),
    };
    // Others may have taken more replications, or another warm-up.
    let mut simulated = found.answer().into_iter().chain(found.cells());
    let simulated = simulated.find_map(|cell| Some((cell, cell.estimates()?)));
    let how = simulated.map_or_else(String::new, |(cell, simulated)| {
        let made = made(&cell.scenario, &simulated.results);
        format!("made        {}: {made}\n", cell.name())
    });
    format!(
        "target      {} under {} s{rate}, {}\n{how}",
        found.target.metric,
        number(found.target.limit_s),
        first.scenario.name
    )
}

fn row(found: &Found, cell: &Cell) -> Vec<String> {
    let mut row = vec![
        cell.drives.to_string(),
        cell.robots.to_string(),
        cell.window_s.to_string(),
    ];
    row.extend(match &cell.formula {
        Guess::Expected(expected) => [
            share(expected.drives_held),
            share(expected.robots_at_work),
            number(expected.mean_s),
            number(expected.target_s),
        ],
        Guess::Unstable { .. } => ["-", "-", "-", "unstable"].map(str::to_owned),
        Guess::None(_) => ["-"; 4].map(str::to_owned),
    });
    match (&cell.simulated, cell.metric(found.target.metric)) {
        (None, _) => {}
        (Some(Outcome::Steady(simulated)), Some(metric)) => {
            let library = &simulated.results.libraries[0];
            row.push(between(&metric));
            row.push(share(library.drives.estimate));
            row.push(share(library.robots.estimate));
        }
        (Some(_), _) => row.extend(["unstable", "", ""].map(str::to_owned)),
    }
    if let Some(meets) = cell.meets(&found.target) {
        row.push(meets.word().to_owned());
    }
    row
}

fn between(interval: &Interval) -> String {
    format!(
        "{} ({} to {})",
        number(interval.estimate),
        number(interval.low()),
        number(interval.high())
    )
}

/// Each reason once.
fn no_formula(found: &Found) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for cell in found.cells() {
        if let Guess::None(why) = &cell.formula
            && !reasons.contains(why)
        {
            reasons.push(why.clone());
        }
    }
    reasons
}

/// What keeps each row from meeting the target, or leaves it open with how many drives it does.
pub fn remarks(found: &Found) -> Vec<String> {
    let mut remarks = Vec::new();
    for row in &found.rows {
        let meets = |wanted| {
            let mut cells = row.iter();
            cells.find(|cell| cell.meets(&found.target) == Some(wanted))
        };
        match (meets(Meets::Unsure), meets(Meets::Yes), row.last()) {
            (Some(unsure), _, _) => remarks.push(remark(found, unsure)),
            (None, None, Some(last)) => remarks.push(remark(found, last)),
            _ => {}
        }
    }
    remarks
}

/// Waiting for less than this share of the response is hardly any.
const WAITS: f64 = 0.05;

/// Percentiles from here on lie above the mean where there is no long tail.
const HIGH_PERCENT: u8 = 75;

/// A robot that is busier than this holds up drives, for which then others wait.
const BUSY: f64 = 0.9;

/// Why a combination does not surely meet the target.
fn remark(found: &Found, cell: &Cell) -> String {
    let simulated = match &cell.simulated {
        Some(Outcome::Steady(simulated)) => simulated,
        Some(Outcome::Unstable(why)) => return unstable(cell, why),
        None => return format!("{}: not simulated", cell.name()),
    };
    let results = &simulated.results;
    let metric = cell.metric(found.target.metric);
    let metric = metric.map_or_else(String::new, |s| between(&s));
    let of = format!("{}: {} {metric} s", cell.name(), found.target.metric);
    if cell.meets(&found.target) == Some(Meets::Unsure) {
        return format!(
            "{of}: the target is within the interval; more --replications make it narrower"
        );
    }
    let mean_s = results.mean_s.estimate;
    let part_s = |wanted: Part| {
        let part = results.parts.iter().find(|part| part.part == wanted);
        part.map_or(0.0, |part| part.s.estimate)
    };
    let (drive_s, robot_s) = (part_s(Part::DriveWait), part_s(Part::RobotWait));
    // Of a mean it is known what is left without waits. That has no long tail, so a high percentile of
    // it is no lower; of a low one nothing is known.
    let is_no_lower = match found.target.metric {
        Metric::Mean => true,
        Metric::Percentile(percent) => percent >= HIGH_PERCENT,
    };
    let may_help = |wait_s: f64| {
        let is_enough = mean_s - drive_s - robot_s <= found.target.limit_s;
        (is_enough || !is_no_lower) && wait_s > WAITS * mean_s
    };
    let spent = |wait_s: f64, what: &str| {
        let (wait, mean) = (number(wait_s), number(mean_s));
        format!("{of}: {wait} of {mean} s on average are spent waiting for {what}")
    };
    let busy = results.libraries[0].robots.estimate;
    if busy > BUSY && may_help(drive_s + robot_s) {
        let spent = spent(drive_s + robot_s, "drives and robots");
        let busy = share(busy);
        return format!(
            "{spent}, and robots are busy {busy} of the time: more drives do not help, more robots do"
        );
    }
    if may_help(drive_s) {
        return format!("{}: more drives help", spent(drive_s, "a drive"));
    }
    if may_help(robot_s) {
        let spent = spent(robot_s, "a robot");
        return format!("{spent}: more drives do not help, more robots do");
    }
    let mut parts: Vec<_> = results.parts.iter().collect();
    parts.sort_by(|a, b| b.s.estimate.total_cmp(&a.s.estimate));
    let longest = parts.iter().take(3);
    let longest: Vec<String> = longest
        .map(|part| format!("{} {} s", part.part.name(), number(part.s.estimate)))
        .collect();
    format!(
        "{of}: without any wait for drive or robot {} of {} s are left, so more of them do not help; \
         what takes longest: {}",
        number(mean_s - drive_s - robot_s),
        number(mean_s),
        longest.join(", ")
    )
}

fn unstable(cell: &Cell, why: &str) -> String {
    match &cell.formula {
        Guess::Unstable {
            what: "robots",
            why,
        } => format!("{}: more drives do not help: {why}", cell.row_name()),
        _ => format!("{}: {why}", cell.name()),
    }
}

fn answer(found: &Found) -> String {
    match found.answer() {
        Some(cell) => {
            let metric = cell.metric(found.target.metric);
            let metric = metric.map_or_else(String::new, |s| between(&s));
            format!(
                "answer      {}: {} {metric} s",
                cell.name(),
                found.target.metric
            )
        }
        None => "answer      none of these meets the target".to_owned(),
    }
}
