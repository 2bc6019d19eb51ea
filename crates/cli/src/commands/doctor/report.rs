//! The report of a host that goes into a bug report: all we need to know, and no names, paths or serial numbers.

use super::{Finding, text};
use crate::error::CliError;
use crate::settings::{Settings, Source};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use tapewise_archive::open::Archive;

/// The report as text. `root` is the `/` of the host.
pub fn report(
    root: &Path,
    findings: &[Finding],
    missing: usize,
    archive: Option<&Path>,
) -> Result<String, CliError> {
    let mut report = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(report, "{label:<11} {value}");
    };
    line("tapewise", crate::VERSION);
    line("system", &system(root));
    line("kernel", &first_line(root, "proc/sys/kernel/osrelease"));
    line("machine", &machine(root));
    line("settings", &settings()?);
    if let Some(directory) = archive {
        line("archive", &contents(directory)?);
    }
    report.push('\n');
    report.push_str(&text(findings, missing));
    Ok(report)
}

fn first_line(root: &Path, path: &str) -> String {
    let text = fs::read_to_string(root.join(path)).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}

/// The distribution by the name that it gives itself.
fn system(root: &Path) -> String {
    match os_release(root, "PRETTY_NAME") {
        name if name.is_empty() => "unknown".to_owned(),
        name => name,
    }
}

/// What the distribution says of itself under `key`; empty if it does not.
pub fn os_release(root: &Path, key: &str) -> String {
    let text = fs::read_to_string(root.join("etc/os-release")).unwrap_or_default();
    let value = |line: &str| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned);
    let value = text.lines().find_map(value).unwrap_or_default();
    value.trim_matches('"').to_owned()
}

fn machine(root: &Path) -> String {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = first_line(root, "proc/meminfo");
    let memory = memory
        .trim_start_matches("MemTotal:")
        .trim_start()
        .to_owned();
    let architecture = std::env::consts::ARCH;
    format!("{architecture}, {processors} processors, {memory} memory")
}

/// What is set and where. A value that is a path is left out.
fn settings() -> Result<String, CliError> {
    let settings = Settings::read()?;
    let set: Vec<String> = settings
        .all()
        .filter_map(|(key, _, variable, value)| {
            let value = value?;
            let shown = if value.text.contains('/') || key == "archive" {
                "(a path)"
            } else {
                &value.text
            };
            let from = match value.source {
                Source::Environment(_) => variable,
                Source::File(_) => "the configuration file",
            };
            Some(format!("{key} = {shown} by {from}"))
        })
        .collect();
    Ok(if set.is_empty() {
        "none".to_owned()
    } else {
        set.join("; ")
    })
}

/// How large an archive is, and in which states its cartridges are.
fn contents(directory: &Path) -> Result<String, CliError> {
    let archive = Archive::open_to_read(directory).map_err(CliError::failed)?;
    let catalogue = &archive.catalogue;
    let volumes = catalogue.volumes().map_err(CliError::failed)?;
    let mut states: Vec<String> = volumes
        .iter()
        .map(|(_, volume)| format!("{:?}", volume.state).to_lowercase())
        .collect();
    states.sort();
    let counted: Vec<String> = states
        .chunk_by(|one, other| one == other)
        .map(|same| format!("{} {}", same.len(), same[0]))
        .collect();
    let schema = catalogue.schema_version();
    let cartridges = if counted.is_empty() {
        "none".to_owned()
    } else {
        counted.join(", ")
    };
    Ok(format!(
        "catalogue schema {schema}; cartridges: {cartridges}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_tells_system_and_findings() {
        let root = tempfile::tempdir().expect("a directory");
        let file = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory made");
            fs::write(path, text).expect("a file written");
        };
        file(
            "etc/os-release",
            "NAME=X\nPRETTY_NAME=\"Rocky Linux 9.4\"\n",
        );
        file("proc/sys/kernel/osrelease", "5.14.0-427\n");
        file(
            "proc/meminfo",
            "MemTotal:       24000000 kB\nMemFree: 1 kB\n",
        );
        let finding = Finding::new("drive", super::super::State::Missing, "has no sg");
        let report = report(root.path(), &[finding], 1, None).expect("a report");
        for line in [
            "system      Rocky Linux 9.4\n",
            "kernel      5.14.0-427\n",
            ", 24000000 kB memory\n",
            "\nMISSING  drive: has no sg\n1 thing missing\n",
        ] {
            assert!(report.contains(line), "{report}");
        }
        let unknown = system(&root.path().join("nowhere"));
        assert_eq!(unknown, "unknown");
    }
}
