//! Pages for a browser on their way to files.

use crate::error::CliError;
use crate::output;
use std::path::Path;
use tapewise_formats::event::{Action, Event};
use tapewise_plot::Table;
use tapewise_plot::html::{Report, Sheet};

/// The program and its version, as pages name it.
pub const MADE_BY: &str = concat!("tapewise ", env!("CARGO_PKG_VERSION"));

/// Writes a page, which appears whole.
pub fn write(path: &Path, report: &Report) -> Result<(), CliError> {
    let page = report.html();
    output::write(Some(path), |out| {
        out.write_all(page.as_bytes()).map_err(CliError::failed)
    })
}

/// A line that begins with its name in a column of its own, as a sentence on a page.
pub fn sentence(line: &str) -> String {
    match line.split_once("  ") {
        Some((name, rest)) => format!("{name}: {}", rest.trim_start()),
        None => line.to_owned(),
    }
}

/// What a drive and a robot did: how often and how long on the page, every move in the CSV.
pub fn moves<'a>(events: impl Iterator<Item = &'a Event>) -> Sheet {
    let columns = [
        "action",
        "purpose",
        "at_s",
        "took_s",
        "from_block",
        "to_block",
        "bytes",
    ];
    let mut all = Table::new("", &columns);
    // In the order in which each was first seen.
    let mut kinds: Vec<(Action, Vec<f64>)> = Vec::new();
    for event in events {
        let took_s = event.took_us.as_secs_f64();
        match kinds.iter_mut().find(|(action, _)| *action == event.action) {
            Some((_, times)) => times.push(took_s),
            None => kinds.push((event.action, vec![took_s])),
        }
        let block = |spot: Option<tapewise_formats::event::Spot>| {
            let block = spot.and_then(|spot| spot.block);
            block.map_or_else(String::new, |block| block.to_string())
        };
        all.row([
            event.action.to_string(),
            event.purpose.clone().unwrap_or_default(),
            event.at_us.as_secs_f64().to_string(),
            took_s.to_string(),
            block(event.from),
            block(event.to),
            event.bytes.to_string(),
        ]);
    }
    let mut shown = Table::new(
        "What was done",
        &["action", "times", "mean, s", "longest, s"],
    );
    for (action, times) in kinds {
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let longest = times.iter().copied().fold(0.0, f64::max);
        shown.row([
            action.to_string(),
            times.len().to_string(),
            format!("{mean:.2}"),
            format!("{longest:.2}"),
        ]);
    }
    Sheet::with_csv("moves", shown, all.csv())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_column_becomes_a_sentence() {
        assert_eq!(
            sentence("made        6 replications"),
            "made: 6 replications"
        );
        assert_eq!(sentence("3 drives: p95 is near"), "3 drives: p95 is near");
    }
}
