//! What a person reads: one scenario in detail, or several as rows.

use crate::html::{MADE_BY, sentence};
use crate::units;
use tapewise_model::units::{number, share};
use tapewise_plot::html::{Report as Page, Sheet};
use tapewise_plot::{Drawn, Table};
use tapewise_sim::library::Slow;
use tapewise_sim::scenario::{Scenario, WarmUp};
use tapewise_sim::statistics::Interval;
use tapewise_sim::{Formula, Outcome, Results, Simulated, Simulation};

/// Slowest responses that are shown.
const SLOWEST: usize = 5;

pub fn text(answers: &[Simulation]) -> String {
    match answers {
        [only] => match only.steady() {
            Some(simulated) => one(&only.scenario, simulated),
            None => String::new(),
        },
        several => rows(several),
    }
}

/// With its half-width, to the same digit.
fn plus_minus(interval: &Interval) -> String {
    let digits = match (interval.estimate.abs(), interval.half_width) {
        (999.95.., _) => 0,
        (_, 0.095..) => 1,
        _ => 2,
    };
    format!(
        "{:.digits$} ±{:.digits$}",
        interval.estimate, interval.half_width
    )
}

/// With its ends.
fn ends(interval: &Interval) -> String {
    let digits = usize::from(interval.estimate.abs() < 999.95);
    format!(
        "{:.digits$} ({:.digits$} to {:.digits$})",
        interval.estimate,
        interval.low(),
        interval.high()
    )
}

fn share_ends(interval: &Interval) -> String {
    let percent = |value: f64| value * 100.0;
    format!(
        "{:.1} ±{:.1} %",
        percent(interval.estimate),
        percent(interval.half_width)
    )
}

/// How many replications of what, and what was cut off.
pub fn made(scenario: &Scenario, results: &Results) -> String {
    let cut = match (scenario.warm_up, results.mean_cut.round()) {
        (WarmUp::Keep, _) => "the beginning counts".to_owned(),
        (WarmUp::Automatic, 0.0) => "no warm-up to cut off (MSER-5)".to_owned(),
        (WarmUp::Automatic, mean) => {
            format!("the first {mean:.0} on average cut off as warm-up (MSER-5)")
        }
    };
    let unsettled = match results.unsettled {
        0 => String::new(),
        1 => "; 1 replication had not settled after its first half, so the first half was dropped"
            .to_owned(),
        count => format!(
            "; {count} replications had not settled after their first half, so the first half was dropped"
        ),
    };
    format!(
        "{} of {}, seed {}; {cut}{unsettled}",
        units::count(results.replications as usize, "replication"),
        units::count(scenario.requests as usize, "request"),
        results.seed
    )
}

/// A warning if most replications did not settle.
pub fn caution(results: &Results) -> Option<String> {
    (2 * results.unsettled > results.replications).then(|| {
        "most replications had not settled after their first half: these numbers depend on how long \
         the library is simulated; the replications are too short, or the load is near saturation; \
         simulate more requests to tell which"
            .to_owned()
    })
}

fn one(scenario: &Scenario, simulated: &Simulated) -> String {
    let tables =
        tables(scenario, simulated).map(|(_, table)| format!("\n{}", crate::output::table(&table)));
    lines(scenario, simulated).join("\n") + "\n" + &tables.concat()
}

/// The tables of one case, with their names.
fn tables(scenario: &Scenario, simulated: &Simulated) -> [(&'static str, Table); 4] {
    let results = &simulated.results;
    [
        ("responses", responses(simulated)),
        ("parts", parts(results)),
        ("in-use", libraries(results)),
        ("slowest", slowest(scenario, &results.slowest)),
    ]
}

/// The same as a page for a browser.
pub fn page(answers: &[Simulation], figures: Vec<Drawn>) -> Page {
    let mut remarks = Vec::new();
    let mut sheets = Vec::new();
    match answers {
        [only] => {
            if let Some(simulated) = only.steady() {
                let lines = lines(&only.scenario, simulated);
                remarks = lines.iter().map(|line| sentence(line)).collect();
                let tables = tables(&only.scenario, simulated).into_iter();
                sheets.extend(tables.map(|(name, table)| Sheet::new(name, table)));
            }
        }
        several => sheets.push(Sheet::with_csv("cases", rows_table(several), csv(several))),
    }
    Page {
        title: "tapewise simulate".to_owned(),
        answer: answer(answers),
        remarks,
        figures,
        sheets,
        tracks: Vec::new(),
        made_by: MADE_BY.to_owned(),
    }
}

/// The response of one case, or the shortest and the longest mean of several.
fn answer(answers: &[Simulation]) -> String {
    let steady: Vec<_> = (answers.iter())
        .filter_map(|answer| Some((answer.scenario.name.as_str(), &answer.steady()?.results)))
        .collect();
    let by_mean = |one: &&(&str, &Results), other: &&(&str, &Results)| {
        one.1.mean_s.estimate.total_cmp(&other.1.mean_s.estimate)
    };
    let said = |(name, results): &(&str, &Results)| {
        let p95 = results.percentile(95);
        let p95 = p95.map_or_else(String::new, |s| {
            format!(", 95 % within {}", units::time_between(&s))
        });
        format!(
            "{name}: mean response {}{p95}",
            units::time_between(&results.mean_s)
        )
    };
    let ends = steady
        .iter()
        .min_by(by_mean)
        .zip(steady.iter().max_by(by_mean));
    let unstable = match answers.len() - steady.len() {
        0 => String::new(),
        some => format!("; {} unstable", units::count(some, "case")),
    };
    match ends {
        None => "every case is unstable".to_owned(),
        Some((only, _)) if steady.len() == 1 => said(only) + &unstable,
        Some((least, most)) => format!(
            "{}: from {} to {}{unstable}",
            units::count(answers.len(), "case"),
            said(least),
            said(most)
        ),
    }
}

/// A row for each case; what is not known is empty. Times in seconds, shares from 0 to 1.
fn csv(answers: &[Simulation]) -> String {
    const PERCENTS: [u8; 4] = [50, 90, 95, 99];
    let mut columns = vec!["case".to_owned()];
    for name in ["mean"]
        .map(str::to_owned)
        .into_iter()
        .chain(PERCENTS.map(|p| format!("p{p}")))
    {
        columns.extend(["", "_low", "_high"].map(|end| format!("{name}{end}_s")));
    }
    columns.push("answers_per_hour".to_owned());
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("", &columns);
    for answer in answers {
        let mut row = vec![answer.scenario.name.clone()];
        if let Some(simulated) = answer.steady() {
            let results = &simulated.results;
            let times = [Some(results.mean_s)].into_iter();
            for time in times.chain(PERCENTS.map(|percent| results.percentile(percent))) {
                let numbers = time.map(|s| [s.estimate, s.low(), s.high()].map(|s| s.to_string()));
                row.extend(numbers.unwrap_or_default());
            }
            row.push(simulated.per_hour.estimate.to_string());
        }
        row.resize(columns.len(), String::new());
        table.row(row);
    }
    table.csv()
}

/// What there is to know of one case, a line each.
fn lines(scenario: &Scenario, simulated: &Simulated) -> Vec<String> {
    let results = &simulated.results;
    let mut lines = vec![
        if scenario.about.is_empty() {
            scenario.name.clone()
        } else {
            format!("{}: {}", scenario.name, scenario.about)
        },
        format!("made        {}", made(scenario, results)),
        format!(
            "throughput  {} answers an hour; {} requests inside on average, {} of them waiting for a drive",
            ends(&simulated.per_hour),
            number(simulated.inside.estimate),
            number(simulated.waiting.estimate)
        ),
    ];
    lines.push(match &simulated.formula {
        Ok(formula) => format!(
            "formula     mean {}; drives held {}, robots at work {}",
            units::time(formula.mean_s),
            share(formula.drives),
            share(formula.robots)
        ),
        Err(why) => format!("formula     none: {why}"),
    });
    lines.extend(caution(results).map(|caution| format!("caution     {caution}")));
    lines
}

/// One of a formula's numbers.
type OfFormula = fn(&Formula) -> f64;

fn responses(simulated: &Simulated) -> Table {
    let results = &simulated.results;
    let formula = simulated.formula.as_ref().ok();
    let mut columns = vec!["", "simulated", "from", "to"];
    columns.extend(formula.map(|_| "formula"));
    let title = "Response, s (95 % interval over replications)";
    let mut table = Table::new(title, &columns);
    let mut row = |name: String, s: &Interval, of: Option<OfFormula>| {
        // Nothing takes less than no time.
        let mut cells = vec![name];
        cells.extend([s.estimate, s.low().max(0.0), s.high()].map(number));
        cells.extend(of.zip(formula).map(|(of, formula)| number(of(formula))));
        table.row(cells);
    };
    row("mean".to_owned(), &results.mean_s, Some(|f| f.mean_s));
    for at in &results.percentiles {
        let (name, of): (String, Option<OfFormula>) = match at.percent {
            50 => ("median".to_owned(), Some(|f| f.median_s)),
            90 => ("p90".to_owned(), Some(|f| f.p90_s)),
            95 => ("p95".to_owned(), Some(|f| f.p95_s)),
            99 => ("p99".to_owned(), Some(|f| f.p99_s)),
            percent => (format!("p{percent}"), None),
        };
        row(name, &at.s, of);
    }
    row("variance, s^2".to_owned(), &results.variance_s2, None);
    table
}

fn parts(results: &Results) -> Table {
    let mut table = Table::new("Parts of the mean response, s", &["", "mean", "±", "share"]);
    for part in &results.parts {
        let share = part.s.estimate / results.mean_s.estimate;
        table.row([
            part.part.name().to_owned(),
            format!("{:.2}", part.s.estimate),
            format!("{:.2}", part.s.half_width),
            format!("{:.1} %", share * 100.0),
        ]);
    }
    table
}

fn libraries(results: &Results) -> Table {
    let mut table = Table::new(
        "Share of the time in use",
        &[
            "library",
            "drives held",
            "without waits for robots",
            "robots",
            "mounts/h",
            "reads/mount",
            "cleanings",
            "failures",
        ],
    );
    for library in &results.libraries {
        table.row([
            library.name.clone(),
            share_ends(&library.drives),
            share_ends(&library.drives_at_work),
            share_ends(&library.robots),
            plus_minus(&library.mounts_per_hour),
            format!("{:.2}", library.reads_per_mount.estimate),
            library.cleanings.to_string(),
            library.failures.to_string(),
        ]);
    }
    table
}

fn slowest(scenario: &Scenario, slowest: &[Slow]) -> Table {
    let mut table = Table::new(
        "Slowest responses",
        &[
            "response",
            "because of",
            "longest parts",
            "after",
            "library",
            "replication",
            "request",
        ],
    );
    for slow in slowest.iter().take(SLOWEST) {
        let mut parts: Vec<_> = tapewise_sim::library::Part::ALL.into_iter().collect();
        parts.sort_by_key(|&part| std::cmp::Reverse(slow.parts[part]));
        let longest = parts.iter().take(3).filter(|&&part| slow.parts[part].0 > 0);
        let longest = longest.map(|&part| format!("{} {}", part.name(), slow.parts[part]));
        table.row([
            slow.response.to_string(),
            slow.cause.to_string(),
            longest.collect::<Vec<_>>().join(", "),
            slow.arrived.to_string(),
            scenario.libraries[usize::from(slow.library)].name.clone(),
            slow.replication.to_string(),
            slow.number.to_string(),
        ]);
    }
    table
}

fn rows(answers: &[Simulation]) -> String {
    crate::output::table(&rows_table(answers))
}

fn rows_table(answers: &[Simulation]) -> Table {
    let mut table = Table::new(
        "Responses in seconds, ± half of the 95 % interval over replications",
        &[
            "case",
            "mean",
            "p95",
            "p99",
            "drives",
            "robots",
            "formula",
            "its p95",
            "median",
            "p90",
            "variance",
            "at work",
            "answers/h",
        ],
    );
    for answer in answers {
        table.row(match &answer.outcome {
            Outcome::Steady(simulated) => row(&answer.scenario, simulated),
            Outcome::Unstable(_) => vec![answer.scenario.name.clone(), "unstable".to_owned()],
        });
    }
    table.note("drives: share of the time held, waits for robots included; at work: without them");
    let made = |answer: &Simulation| Some(made(&answer.scenario, &answer.steady()?.results));
    notes(&mut table, answers, made);
    notes(&mut table, answers, |answer| {
        caution(&answer.steady()?.results)
    });
    let no_formula = |answer: &Simulation| {
        let why = answer.steady()?.formula.as_ref().err()?;
        Some(format!("no formula: {why}"))
    };
    notes(&mut table, answers, no_formula);
    for answer in answers {
        if let Outcome::Unstable(why) = &answer.outcome {
            table.note(why.to_string());
        }
    }
    table
}

/// What is to be said of cases: once where it holds for several, with their names unless for all.
fn notes(table: &mut Table, answers: &[Simulation], of: impl Fn(&Simulation) -> Option<String>) {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    let steady = answers.iter().filter(|answer| answer.steady().is_some());
    for answer in steady.clone() {
        let Some(note) = of(answer) else { continue };
        let name = answer.scenario.name.as_str();
        match said.iter_mut().find(|(other, _)| *other == note) {
            Some((_, names)) => names.push(name),
            None => said.push((note, vec![name])),
        }
    }
    for (note, names) in said {
        if names.len() == steady.clone().count() {
            table.note(note)
        } else {
            table.note(format!("{}: {note}", names.join(", ")))
        }
    }
}

fn row(scenario: &Scenario, simulated: &Simulated) -> Vec<String> {
    let results = &simulated.results;
    let at = |percent| {
        results
            .percentile(percent)
            .map_or_else(String::new, |s| plus_minus(&s))
    };
    let busy = |of: fn(&tapewise_sim::LibraryUse) -> &Interval| {
        let shares = results.libraries.iter().map(|library| of(library).estimate);
        let least = shares.clone().fold(f64::INFINITY, f64::min);
        let most = shares.fold(0.0, f64::max);
        match results.libraries.len() {
            1 => share(most),
            _ => format!("{:.0} to {:.0} %", least * 100.0, most * 100.0),
        }
    };
    let formula = |of: OfFormula| {
        let formula = simulated.formula.as_ref();
        formula.map_or_else(|_| "-".to_owned(), |formula| number(of(formula)))
    };
    vec![
        scenario.name.clone(),
        plus_minus(&results.mean_s),
        at(95),
        at(99),
        busy(|library| &library.drives),
        busy(|library| &library.robots),
        formula(|f| f.mean_s),
        formula(|f| f.p95_s),
        at(50),
        at(90),
        plus_minus(&results.variance_s2),
        busy(|library| &library.drives_at_work),
        plus_minus(&simulated.per_hour),
    ]
}
