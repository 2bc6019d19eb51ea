//! `tapewise help TOPIC`: the help of a verb, or a page of the manual, from the program itself.

mod guides;

use crate::error::CliError;
use crate::output;
use clap::CommandFactory;
use guides::GUIDES;
use std::process::ExitCode;

/// Print the help of a verb, or a page of the manual.
///
/// Without a topic, list all topics.
#[derive(clap::Args, Debug)]
pub struct Help {
    /// A verb, such as `order` or `drive status`, or a page, such as `formats`.
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
}

/// The pages that are man pages too, by the name of their topic.
pub const PAGES: [(&str, &str); 30] = [
    (
        "acceptance-report",
        include_str!("../../reference/acceptance-report.md"),
    ),
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
    ("install", include_str!("../../reference/install.md")),
    ("json", include_str!("../../reference/json.md")),
    (
        "locates-csv",
        include_str!("../../reference/locates-csv.md"),
    ),
    ("map-csv", include_str!("../../reference/map-csv.md")),
    ("metrics", include_str!("../../reference/metrics.md")),
    ("names", include_str!("../../reference/names.md")),
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
    ("targets", include_str!("../../reference/targets.md")),
    ("upgrade", include_str!("../../reference/upgrade.md")),
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
    let found = PAGES.iter().chain(GUIDES).find(|(name, _)| *name == topic);
    found.map(|(_, text)| *text)
}

/// The first heading of a page, without its mark.
fn title(text: &str) -> &str {
    let heading = text.lines().find(|line| line.starts_with("# "));
    heading.unwrap_or_default().trim_start_matches(['#', ' '])
}

fn topics() -> String {
    let mut text = crate::Cli::command().render_long_help().to_string();
    let parts = [("Reference", PAGES.as_slice()), ("Guides", GUIDES)];
    for (part, pages) in parts {
        text.push_str(&format!("\n{part} (tapewise help TOPIC)\n"));
        for (name, page) in pages {
            text.push_str(&format!("  {name:<34} {}\n", title(page)));
        }
    }
    text
}

fn of_verb(verbs: &[String]) -> Result<String, CliError> {
    let mut command = crate::Cli::command();
    command.build();
    let mut at = command;
    for verb in verbs {
        let Some(next) = at.find_subcommand(verb).cloned() else {
            return Err(CliError::input(format!("no help on {}", verbs.join(" ")))
                .hint("`tapewise help` lists the verbs and the pages"));
        };
        at = next;
    }
    Ok(at.render_long_help().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the Markdown files below a directory of the sources.
    fn files(directory: &str) -> Vec<String> {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
        let entries = std::fs::read_dir(&directory).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().path())
            .filter_map(|path| Some(path.file_name()?.to_str()?.strip_suffix(".md")?.to_owned()))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn every_page_has_a_title_and_every_file_is_a_page() {
        assert_eq!(files("reference").len(), PAGES.len());
        let names: Vec<&str> = GUIDES.iter().map(|(name, _)| *name).collect();
        assert_eq!(files("guides"), names);
        for (name, text) in PAGES.iter().chain(GUIDES) {
            assert!(!title(text).is_empty(), "{name}");
            let verb = crate::Cli::command().find_subcommand(name).is_some();
            assert!(
                !verb,
                "{name}: `tapewise help {name}` is the help of the verb"
            );
        }
    }
}
