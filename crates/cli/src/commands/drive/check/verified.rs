//! The README's table of verified drives, from the reports that people sent in.

use crate::error::CliError;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tapewise_run::check::{DriveReport, VERSION, Way};

const BEGIN: &str = "<!-- made by `make verified` from the reports in verified/ -->";
const END: &str = "<!-- end of verified -->";

/// The marked block of the README: how many real drives there are reports of, and which.
///
/// # Errors
/// Bad input: a folder that cannot be read, a file that is no report, a report of another version,
/// or one of an emulated drive.
pub fn block(folder: &Path) -> Result<String, CliError> {
    let reports: Vec<(String, DriveReport)> = names(folder)?
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let report = read(&path).map_err(|error| error.of(path.display()))?;
            Ok((name.into_owned(), report))
        })
        .collect::<Result<_, CliError>>()?;
    let mut text = format!(
        "{BEGIN}\nReal drives verified so far: **{}**.\n",
        drives(&reports)
    );
    if !reports.is_empty() {
        text.push_str(
            "\n| drive | firmware | profile | locates | error, mean | error, rms | off by > 2 s | report |\n\
             |---|---|---|---:|---:|---:|---:|---|\n",
        );
    }
    for (name, report) in &reports {
        row(&mut text, name, report);
    }
    text.push_str(END);
    text.push('\n');
    Ok(text)
}

/// Drives by their pseudonyms: one may have several reports. One without a serial number counts.
fn drives(reports: &[(String, DriveReport)]) -> usize {
    let mut named: Vec<&str> = reports
        .iter()
        .filter_map(|(_, report)| report.drive.pseudonym.as_deref())
        .collect();
    let unnamed = reports.len() - named.len();
    named.sort_unstable();
    named.dedup();
    named.len() + unnamed
}

fn names(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let bad = |error| CliError::input(error).of(folder.display());
    let mut paths = std::fs::read_dir(folder)
        .map_err(bad)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<PathBuf>>>()
        .map_err(bad)?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<DriveReport, CliError> {
    let bytes = std::fs::read(path).map_err(CliError::input)?;
    let report: DriveReport = serde_json::from_slice(&bytes).map_err(CliError::input)?;
    if report.tapewise_drive_report != VERSION {
        return Err(CliError::input(format!(
            "a report of version {}, this program reads version {VERSION}",
            report.tapewise_drive_report
        )));
    }
    match report.way {
        Way::Sg => Ok(report),
        Way::Iscsi | Way::Replay | Way::Emulated => Err(CliError::input(
            "the drive was not reached through the kernel's SCSI generic driver, so the report verifies no real drive",
        )),
    }
}

fn row(text: &mut String, name: &str, report: &DriveReport) {
    let drive = &report.drive;
    let errors = report
        .judged
        .as_ref()
        .and_then(|judged| Some((&judged.profile, judged.all()?)));
    let judged = match errors {
        Some((profile, all)) => format!(
            "{profile} | {} | {:+.1} s | {:.1} s | {:.0} %",
            all.locates,
            all.mean_s,
            all.rms_s,
            all.off_share * 100.0
        ),
        None => "- | - | - | - | -".to_owned(),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "| {} {} | {} | {judged} | [report](verified/{name}) |",
        plain(&drive.vendor),
        plain(&drive.product),
        plain(&drive.revision),
    );
}

/// What a drive says of itself, without what would end a cell of the table.
fn plain(text: &str) -> String {
    text.replace(['|', '\n', '\r', '<', '['], " ")
}
