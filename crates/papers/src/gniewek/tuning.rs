//! Figure 2: what the change of software did for four drives at 150 requests an hour.

use super::bench::{BEFORE, Band, Bench};
use super::distribution::{counts_of_all, per_thousand, steps};
use crate::PaperError;
use tapewise_plot::{Drawn, Figure, Table};
use tapewise_sim::statistics::ShiftedErlang;

/// The case that was tuned.
const CASE: &str = "150-4";

/// Seconds from one asking whether a drive is ready to the next. The paper says that more frequent
/// asking helped, and prints no interval.
const POLLS_S: [f64; 3] = [10.0, 5.0, 0.0];

/// Order of unload and get against the interval of asking; and the figure.
pub fn table(bench: &Bench) -> Result<(Table, Drawn), PaperError> {
    let (before, after) = (&bench.facts.tuning.before, &bench.facts.tuning.after);
    let mut table = Table::new(
        "Figure 2: case 150-4 before and after the change of software, theirs and ours",
        &[
            "to take a cartridge away",
            "ready asked every s",
            "theirs mean",
            "variance",
            "ours mean",
            "variance",
        ],
    );
    let printed = |of: &super::Moments| [of.mean.to_string(), of.variance.to_string()];
    let mut drawn = Vec::new();
    for (name, order, case, theirs) in [
        ("before", "robot acquired, then unload", BEFORE, before),
        ("after", "unload, then robot acquired", CASE, after),
    ] {
        let stated = bench.scenario(case)?;
        for poll_s in POLLS_S {
            let mut scenario = stated.clone();
            for library in &mut scenario.libraries {
                library.software.poll_s = poll_s;
            }
            let is_stated = scenario == stated;
            let made;
            let runs = match bench.case(case) {
                Ok(same) if is_stated => &same.runs,
                _ => {
                    made = bench.study(scenario, bench.runs())?;
                    &made
                }
            };
            let [mean, variance] = if is_stated {
                printed(theirs)
            } else {
                ["-", "-"].map(str::to_owned)
            };
            table.row([
                order.to_owned(),
                format!("{poll_s:.0}"),
                mean,
                variance,
                Band::of(&runs.means()).to_string(),
                Band::of(&runs.variances()).to_string(),
            ]);
            if is_stated {
                drawn.push((name, counts_of_all(runs)));
            }
        }
    }
    table.note(
        "the paper names the order of \"unload\" and \"acquire\" and how drives are asked, without more: that the \
         robot stood by while a drive unloaded is how we read it",
    );
    table.note(format!(
        "every {} s is assumed; asked at once is the bound of what a driver can win",
        bench.scenario(CASE)?.libraries[0].software.poll_s
    ));
    Ok((table, figure(bench, &drawn)?))
}

/// The histograms before and after.
fn figure(bench: &Bench, drawn: &[(&str, Vec<u64>)]) -> Result<Drawn, PaperError> {
    if drawn.len() != 2 {
        let what =
            "figure 2: ready is asked at no interval that scenarios/gniewek-1999.toml states";
        return Err(PaperError::from(what));
    }
    let theirs = bench.case(CASE)?.theirs;
    let fit = ShiftedErlang::new(theirs.shift, theirs.phases, theirs.fitted_mean)?;
    let mut figure = Figure::new(
        "figure-02",
        "Case 150-4: responses of 1,000 requests before and after the change of software",
        "response, s (bins of 5 s)",
        "requests",
    )
    .guide("their fit, after", per_thousand(&fit));
    for (name, counts) in drawn {
        figure = figure.line(name, steps(counts));
    }
    Ok(figure.draw()?)
}
