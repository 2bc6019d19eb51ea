//! Replications divided over machines: a part made and written, parts read and put together.

use super::answer::{Answer, Outcome, outcome, refused};
use crate::error::CliError;
use crate::scenario;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tapewise_sim::{Scenario, Shard, Study};

/// Version of the file; another one is refused.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tapewise_shard: u32,
    /// One of each case that can be stable.
    studies: Vec<Study>,
}

/// Makes a part of every case's replications; the text of its file.
///
/// # Errors
/// Bad input: a case with fewer replications than parts; replications that cannot be made.
pub fn make(cases: &[Scenario], shard: Shard) -> Result<String, CliError> {
    let mut studies = Vec::new();
    for case in cases {
        if let Ok(site) = scenario::ready(case)? {
            studies.push(site.study(shard).map_err(refused)?);
        }
    }
    let file = File {
        tapewise_shard: VERSION,
        studies,
    };
    Ok(serde_json::to_string(&file).map_err(CliError::failed)? + "\n")
}

/// Puts the parts in these files together.
///
/// # Errors
/// Bad input: a file that is none, of another scenario, or missing parts.
pub fn merge(cases: &[Scenario], paths: &[PathBuf]) -> Result<Vec<Answer>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        files.push((path, read(path)?));
    }
    let mut answers = Vec::new();
    for case in cases {
        let outcome = match scenario::ready(case)? {
            Err(unstable) => Outcome::Unstable(unstable.to_string()),
            Ok(site) => {
                let mut parts = Vec::new();
                for (path, file) in &files {
                    let mut studies = file.studies.iter();
                    let study = studies.find(|study| study.scenario == case.name);
                    let study = study.filter(|study| study.fingerprint == site.fingerprint());
                    parts.push(study.cloned().ok_or_else(|| {
                        let name = &case.name;
                        CliError::input(format!("{}: not of this scenario {name}", path.display()))
                            .hint("give the scenario, --set, --seed and --replications as for --shard")
                    })?);
                }
                outcome(&site, Study::merge(parts).map_err(refused)?)?
            }
        };
        answers.push(Answer {
            scenario: case.clone(),
            outcome,
        });
    }
    Ok(answers)
}

fn read(path: &PathBuf) -> Result<File, CliError> {
    let bad = |why: &dyn std::fmt::Display| CliError::input(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
    let file: File = serde_json::from_str(&text)
        .map_err(|error| bad(&format_args!("not what --shard writes: {error}")))?;
    match file.tapewise_shard {
        VERSION => Ok(file),
        other => Err(bad(&format_args!(
            "version {other}; this program reads {VERSION}"
        ))),
    }
}
