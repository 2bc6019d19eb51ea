//! What a fit found, for a person.

use crate::units;
use std::fmt::Write;
use std::path::Path;
use tapewise_fit::{
    Candidate, Coefficients, Comparison, Folding, Kind, Landed, Outcome, Places, Score, Scored,
    Table as Regression, Trust,
};
use tapewise_model::locate::{CurvesCoefficients, LandingCoefficients};
use tapewise_plot::Table;

/// The report as text.
pub fn text(found: &Outcome) -> String {
    let comparison = &found.comparison;
    let mut text = String::new();
    for scored in &comparison.scored {
        // Of the regressions the one of the choice, else CERN's: three tables help nobody.
        let wanted = scored.candidate == Candidate::LtoRegression
            || scored.candidate == comparison.choice().candidate;
        if let Some(table) = scored.fitted.table.as_ref().filter(|_| wanted) {
            text.push_str(&regression(scored.candidate, table));
            text.push('\n');
        }
        if let (Coefficients::LandingPoint(found), Some(landed)) =
            (&scored.fitted.coefficients, &scored.fitted.landed)
        {
            text.push_str(&landing(found, landed, scored.fitted.outliers));
            text.push('\n');
        }
        if let Coefficients::Curves(found) = &scored.fitted.coefficients
            && scored.candidate == comparison.choice().candidate
        {
            text.push_str(&curves(found, scored.fitted.outliers));
            text.push('\n');
        }
    }
    text.push_str(&crate::output::table(&held_out(comparison)));
    text.push('\n');
    text.push_str(&verdict(found));
    text
}

/// What follows once the profile is there.
pub fn written(path: &Path) -> String {
    format!(
        "Profile written to {}; `tapewise order --profile {}` uses it.\n",
        path.display(),
        as_argument(path)
    )
}

/// How the ends of the moves were placed; nothing where the drive told.
fn placed(found: &Outcome) -> String {
    let way = match found.places {
        Places::Recorded => return String::new(),
        Places::Nominal => "by nominal geometry: the log has block numbers only",
        Places::NominalKeyPoints => {
            "by the profile's nominal key points: the log has block numbers only;\n--map gives those of the cartridge"
        }
        Places::Map => "by the map of the cartridge",
        Places::Found => "by maps that were found from all of them, those held out too",
    };
    let beyond = match found.beyond {
        0 => String::new(),
        count => format!("; {count} beyond the end of the map were left out"),
    };
    format!("Moves were placed {way}{beyond}.\n")
}

/// A path as `--profile` takes it: with a slash or the ending that tells it from a name.
fn as_argument(path: &Path) -> String {
    let shown = path.display().to_string();
    if shown.contains('/') || shown.ends_with(".toml") {
        shown
    } else {
        format!("./{shown}")
    }
}

/// A coefficient with enough digits, without an exponent where it needs none.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    }
}

/// A probability as `lm` prints it.
fn probability(p: f64) -> String {
    match p {
        p if p < 2.2e-16 => "<2e-16".to_owned(),
        p if p < 1e-3 => format!("{p:.2e}"),
        _ => format!("{p:.4}"),
    }
}

fn stars(p: f64) -> &'static str {
    match p {
        p if p < 0.001 => "***",
        p if p < 0.01 => "**",
        p if p < 0.05 => "*",
        p if p < 0.1 => ".",
        _ => "",
    }
}

fn regression(candidate: Candidate, regression: &Regression) -> String {
    let title = format!("{}, all records", candidate.name());
    let mut table = Table::new(
        title,
        &["", "Estimate", "Std. Error", "t value", "Pr(>|t|)", ""],
    );
    for term in &regression.terms {
        let cells = match term.estimate {
            Some(estimate) => [
                figure(estimate),
                figure(term.std_error),
                format!("{:.1}", term.t),
                probability(term.p),
                stars(term.p).to_owned(),
            ],
            None => ["-", "-", "-", "-", "left out: no record shows it"].map(str::to_owned),
        };
        table.row([term.name.clone()].into_iter().chain(cells));
    }
    table.note("Signif. codes: 0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1");
    table.note(format!(
        "Residual standard error: {:.3} s on {} degrees of freedom\n\
         Multiple R-squared: {:.4}, Adjusted R-squared: {:.4}\n\
         F-statistic: {:.1} on {} and {} DF, p-value: {}",
        regression.residual,
        regression.degrees,
        regression.r_squared,
        regression.adjusted_r_squared,
        regression.f.0,
        regression.f.1,
        regression.degrees,
        probability(regression.f_p)
    ));
    crate::output::table(&table)
}

fn landing(found: &LandingCoefficients, landed: &Landed, outliers: usize) -> String {
    let mut table = Table::new("landing points, all records", &["", "s", "records"]);
    let constants = constants(found.same_wrap_s, found.other_wrap_s, found.read_on_s);
    for ((name, seconds), count) in constants.zip(landed.support) {
        table.row([name.to_owned(), format!("{seconds:.2}"), count.to_string()]);
    }
    let mut line = |name: String, seconds: f64| {
        table.row([name, format!("{seconds:.2}"), String::new()]);
    };
    for (name, seconds) in band_changes(&found.band_change_s) {
        line(name, seconds);
    }
    line(
        "head and landing in different halves".to_owned(),
        found.mid_cross_s,
    );
    for (&seconds, pace) in found.travel_s.iter().zip(&found.travel_per_lpos_s) {
        line(format!("travel at {:.4e} s/LPOS", pace), seconds);
    }
    let [forward, reverse] = landed.points;
    table.note(format!(
        "{}: {forward} on forward wraps, {reverse} on reverse wraps; reading {:.4e} s/LPOS\n\
         {} got no weight. Constants without a record come from the others.",
        landed.structure.name(),
        found.read_per_lpos_s,
        units::count(outliers, "outlier"),
    ));
    crate::output::table(&table)
}

/// The constants of moves, with their names.
fn constants(
    same_wrap_s: [f64; 2],
    other_wrap_s: [f64; 4],
    read_on_s: f64,
) -> impl Iterator<Item = (&'static str, f64)> {
    let seconds = same_wrap_s
        .into_iter()
        .chain(other_wrap_s)
        .chain([read_on_s]);
    std::iter::zip(Landed::CONSTANTS, seconds)
}

/// What changes of band add, with the names of their pairs.
fn band_changes(seconds: &[f64]) -> impl Iterator<Item = (String, f64)> {
    let bands = (0..16).find(|bands| bands * (bands - 1) / 2 == seconds.len() as i32);
    let bands = bands.unwrap_or(0);
    let pairs = (0..bands).flat_map(move |low| (low + 1..bands).map(move |high| (low, high)));
    let pairs = pairs.map(|(low, high)| format!("band {low} to {high} or back"));
    pairs.zip(seconds.iter().copied())
}

fn curves(found: &CurvesCoefficients, outliers: usize) -> String {
    let mut table = Table::new("curves, all records", &["", "s"]);
    let mut line = |name: String, seconds: f64| {
        table.row([name, format!("{seconds:.2}")]);
    };
    for (name, seconds) in constants(found.same_wrap_s, found.other_wrap_s, found.read_on_s) {
        line(name.to_owned(), seconds);
    }
    for (name, seconds) in band_changes(&found.band_change_s) {
        line(name, seconds);
    }
    for (&wraps, &seconds) in std::iter::zip(&found.step_wraps, &found.step_s) {
        line(format!("a step of {wraps} wraps"), seconds);
    }
    let mut notes = vec![match found.pace.iter().copied().reduce(f64::max) {
        Some(slowest) => format!(
            "the pace of {} stretches of tape: the slowest takes {slowest:.2} times as long as the fastest",
            found.pace.len()
        ),
        None => "an even pace along the tape".to_owned(),
    }];
    if found.away_s != found.towards_s || found.away_per_way_s != found.towards_per_way_s {
        notes.push(
            "winding towards the beginning of tape is not as fast as away from it".to_owned(),
        );
    }
    if !found.step_s.is_empty() {
        let when = if found.steps_beside {
            "while the tape runs"
        } else {
            "while the tape stands"
        };
        notes.push(format!("the head steps {when}"));
    }
    if let Some(lpos) = found.station_lpos {
        let far = found.far_wraps.len();
        notes.push(format!(
            "{far} wraps lie on another side than the others, by way of LPOS {lpos}"
        ));
    }
    if let Some(lpos) = found.read_on_lpos {
        notes.push(format!("the drive reads on for at most {lpos} LPOS"));
    }
    table.note(format!(
        "Drawn: {}.\nReading {:.4e} s/LPOS. {} got no weight.",
        notes.join(";\n"),
        found.read_per_lpos_s,
        units::count(outliers, "outlier"),
    ));
    crate::output::table(&table)
}

/// How times changed over the log, and which terms the records did not determine.
fn doubts(comparison: &Comparison) -> String {
    let mut text = String::new();
    if let Some(drift) = comparison.drift {
        let percent = 100.0 * drift.share;
        let (size, longer) = (percent.abs(), if percent < 0.0 { "less" } else { "longer" });
        let how = match drift.from_record {
            Some(record) => format!("from record {} on, all at once", record + 1),
            None => "growing evenly over the log".to_owned(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "Moves take {size:.1} % {longer} at the end of the log than at its beginning ({:.1} % standard error),\n\
             {how}. The fit is as of the end of the log.",
            100.0 * drift.std_error
        );
    }
    let undetermined: Vec<String> = comparison
        .choice()
        .fitted
        .undetermined
        .iter()
        .map(ToString::to_string)
        .collect();
    if !undetermined.is_empty() {
        let _ = writeln!(
            text,
            "Not determined by these records (too few, or a standard error above the term itself):\n{}.",
            undetermined.join("; ")
        );
    }
    text
}

/// Models side by side, the chosen one first, then by their errors: a narrow terminal leaves out the last ones.
fn held_out(comparison: &Comparison) -> Table {
    let choice = comparison.choice().candidate;
    let mut models: Vec<&Scored> = comparison.scored.iter().collect();
    models.sort_by(|a, b| a.overall.bulk_s.total_cmp(&b.overall.bulk_s));
    models.sort_by_key(|scored| scored.candidate != choice);
    let mut columns = vec!["kind of move", "records"];
    columns.extend(models.iter().map(|scored| scored.candidate.name()));
    let title = match comparison.folding {
        Folding::Cartridges => {
            "Standard error in s, and share off by more than 2 s, on cartridges held out"
        }
        Folding::Blocks => {
            "Standard error in s, and share off by more than 2 s, on records held out"
        }
    };
    let mut table = Table::new(title, &columns);
    let mut row = |name: &str, score: &dyn Fn(&Scored) -> Score| {
        let count = models.first().map_or(0, |scored| score(scored).count);
        let cells = models.iter().map(|scored| {
            let score = score(scored);
            match score.count {
                0 => "-".to_owned(),
                _ => format!("{:.2} {:4.0} %", score.residual_s, 100.0 * score.off),
            }
        });
        table.row(
            [name.to_owned(), count.to_string()]
                .into_iter()
                .chain(cells),
        );
    };
    row("all", &|scored| scored.overall);
    for (at, kind) in Kind::ALL.iter().enumerate() {
        row(kind.name(), &|scored| scored.kinds[at]);
    }
    let mut overall = |name: &str, value: &dyn Fn(&Score) -> String| {
        let cells = models.iter().map(|scored| value(&scored.overall));
        table.row([name.to_owned(), String::new()].into_iter().chain(cells));
    };
    overall("all but outliers", &|score| {
        format!("{:.2}       ", score.bulk_s)
    });
    overall("R-squared", &|score| format!("{:.4}     ", score.r_squared));
    table
}

fn verdict(found: &Outcome) -> String {
    let (records, comparison) = (&found.records, &found.comparison);
    let choice = comparison.choice();
    let mut text = placed(found);
    let mut rest: Vec<&Scored> = comparison.scored.iter().collect();
    rest.retain(|scored| scored.candidate != choice.candidate);
    rest.sort_by(|a, b| a.overall.bulk_s.total_cmp(&b.overall.bulk_s));
    let beside = rest.first().map_or(String::new(), |other| {
        let error = other.overall.bulk_s;
        format!(" ({}: {error:.2} s)", other.candidate.name())
    });
    let without = match comparison.outliers {
        0 => ".\n".to_owned(),
        many => format!(
            ",\nwithout {} that no model explains. ",
            units::count(many, "outlier")
        ),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "For the profile: {}, {:.2} s on held-out records{beside}{without}\
         The profile gets the simplest model within 2 % of the best.",
        choice.candidate.name(),
        choice.overall.bulk_s,
    );
    text.push_str(&doubts(comparison));
    if comparison.folding == Folding::Blocks {
        let _ = writeln!(
            text,
            "{}: too few to hold whole ones out, so how they differ is not in these errors.",
            units::count(comparison.cartridges, "cartridge")
        );
    }
    if found.places == Places::Found {
        text.push_str("How wrong the maps are is in the errors by moves and by volumes above, not in these.\n");
    }
    if comparison.trust() == Trust::Rough {
        let share = 100.0 * choice.overall.bulk_r_squared;
        let _ = writeln!(
            text,
            "A rough fit: it explains {share:.0} % of the differences between the times of records held out.\n\
             Plans made with it may gain less than they promise."
        );
    }
    if records.emulated {
        text.push_str("The log is of an emulated drive: it proves nothing about hardware.\n");
    }
    text
}
