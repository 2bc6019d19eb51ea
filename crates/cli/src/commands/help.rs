//! `tapewise help TOPIC`: the help of a verb, or a page of the reference, from the program itself.

use crate::error::CliError;
use crate::output;
use clap::CommandFactory;
use std::process::ExitCode;

/// Print the help of a verb, or a page of the reference.
///
/// Without a topic, list all topics.
#[derive(clap::Args, Debug)]
pub struct Help {
    /// A verb, such as `order` or `drive status`, or a page, such as `formats`.
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
}

/// The pages, by the name of their topic.
pub const PAGES: [(&str, &str); 24] = [
    ("archive", include_str!("../../reference/archive.md")),
    ("audit-csv", include_str!("../../reference/audit.md")),
    ("bench-csv", include_str!("../../reference/bench-csv.md")),
    ("cta-log", include_str!("../../reference/cta-log.md")),
    (
        "drive-report",
        include_str!("../../reference/drive-report.md"),
    ),
    (
        "drive-status",
        include_str!("../../reference/drive-status.md"),
    ),
    ("emulator", include_str!("../../reference/emulator.md")),
    ("event-log", include_str!("../../reference/event-log.md")),
    ("exit-codes", include_str!("../../reference/exit-codes.md")),
    ("formats", include_str!("../../reference/formats.md")),
    ("json", include_str!("../../reference/json.md")),
    (
        "locates-csv",
        include_str!("../../reference/locates-csv.md"),
    ),
    ("map-csv", include_str!("../../reference/map-csv.md")),
    ("pages", include_str!("../../reference/pages.md")),
    ("plan-json", include_str!("../../reference/plan-json.md")),
    ("profiles", include_str!("../../reference/profiles.md")),
    ("progress", include_str!("../../reference/progress.md")),
    ("rao", include_str!("../../reference/rao.md")),
    (
        "requests-csv",
        include_str!("../../reference/requests-csv.md"),
    ),
    ("scenario", include_str!("../../reference/scenario.md")),
    ("scsi", include_str!("../../reference/scsi.md")),
    (
        "simulation-json",
        include_str!("../../reference/simulation-json.md"),
    ),
    ("site", include_str!("../../reference/site.md")),
    (
        "tape-format",
        include_str!("../../reference/tape-format.md"),
    ),
];

/// Runs the verb.
pub fn run(args: &Help) -> Result<ExitCode, CliError> {
    let text = match args.topic.as_slice() {
        [] => topics(),
        [topic] if page(topic).is_some() => page(topic).unwrap_or_default().to_owned(),
        verbs => of_verb(verbs)?,
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn page(topic: &str) -> Option<&'static str> {
    let topic = topic.to_lowercase();
    let found = PAGES.iter().find(|(name, _)| *name == topic);
    found.map(|(_, text)| *text)
}

/// The first line of a page, without its mark.
fn title(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches(['#', ' '])
}

fn topics() -> String {
    let mut text = crate::Cli::command().render_long_help().to_string();
    text.push_str("\nPages of the reference (tapewise help TOPIC)\n");
    for (name, page) in PAGES {
        text.push_str(&format!("  {name:<16} {}\n", title(page)));
    }
    text
}

fn of_verb(verbs: &[String]) -> Result<String, CliError> {
    let mut command = crate::Cli::command();
    command.build();
    let mut at = command;
    for verb in verbs {
        let Some(next) = at.find_subcommand(verb).cloned() else {
            let pages = PAGES.map(|(name, _)| name).join(", ");
            return Err(
                CliError::input(format!("no help on {}", verbs.join(" "))).hint(format!(
                    "`tapewise help` lists the verbs; the pages are {pages}"
                )),
            );
        };
        at = next;
    }
    Ok(at.render_long_help().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_title_and_every_file_of_the_reference_is_a_page() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/reference");
        let files = std::fs::read_dir(directory).unwrap().count();
        assert_eq!(files, PAGES.len());
        for (name, text) in PAGES {
            assert!(!title(text).is_empty(), "{name}");
            let verb = crate::Cli::command().find_subcommand(name).is_some();
            assert!(
                !verb,
                "{name}: `tapewise help {name}` is the help of the verb"
            );
        }
    }
}
