//! What a person reads: every combination, the answer, or why there is none.

use crate::commands::simulate::report::{caution, made};
use tapewise_model::units::{number, share};
use tapewise_plot::Table;
use tapewise_sim::Outcome;
use tapewise_sim::capacity::{Capacity, Combination, Forecast};
use tapewise_sim::statistics::Interval;

pub fn text(found: &Capacity) -> String {
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
    for one in found.combinations() {
        table.row(row(found, one));
    }
    let mut text = format!("{}\n{table}", headline(found));
    for reason in no_formula(found) {
        text += &format!("no formula: {reason}\n");
    }
    for remark in found.remarks() {
        text += &format!("{remark}\n");
    }
    for one in found.combinations() {
        if let Some(caution) = one.steady().and_then(|made| caution(&made.results)) {
            text += &format!("caution     {}: {caution}\n", one.name());
        }
    }
    text + &answer(found) + "\n"
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
        "target      {} under {} s{rate}, {}\n{how}",
        found.target.metric,
        number(found.target.limit_s),
        first.scenario.name
    )
}

fn row(found: &Capacity, one: &Combination) -> Vec<String> {
    let mut row = vec![
        one.drives.to_string(),
        one.robots.to_string(),
        one.window_s.to_string(),
    ];
    row.extend(match &one.formula {
        Forecast::Expected(expected) => [
            share(expected.drives_held),
            share(expected.robots_at_work),
            number(expected.mean_s),
            number(expected.target_s),
        ],
        Forecast::Unstable { .. } => ["-", "-", "-", "unstable"].map(str::to_owned),
        Forecast::None(_) => ["-"; 4].map(str::to_owned),
    });
    match (&one.simulated, one.metric(found.target.metric)) {
        (None, _) => {}
        (Some(Outcome::Steady(simulated)), Some(metric)) => {
            let library = &simulated.results.libraries[0];
            row.push(between(&metric));
            row.push(share(library.drives.estimate));
            row.push(share(library.robots.estimate));
        }
        (Some(_), _) => row.extend(["unstable", "", ""].map(str::to_owned)),
    }
    if let Some(meets) = one.meets(&found.target) {
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

fn answer(found: &Capacity) -> String {
    match found.answer() {
        Some(one) => {
            let metric = one.metric(found.target.metric);
            let metric = metric.map_or_else(String::new, |s| between(&s));
            format!(
                "answer      {}: {} {metric} s",
                one.name(),
                found.target.metric
            )
        }
        None => "answer      none of these meets the target".to_owned(),
    }
}
