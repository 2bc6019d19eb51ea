//! `tapewise profile validate`.

use super::print;
use crate::error::CliError;
use crate::json;
use crate::profiles::{self, Source};
use std::process::ExitCode;
use tapewise_model::profile::{Fault, Kind, Profile, ProfileError, values};

/// Check profiles that you wrote: every field, value, source and model.
///
/// tapewise prints what each valid profile can be used for. If a profile is wrong, the exit code is 2
/// and the message gives file, line and field.
#[derive(clap::Args, Debug)]
pub struct Validate {
    /// Files to check.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the verb: all files are checked before it gives up.
pub fn run(args: &Validate) -> Result<ExitCode, CliError> {
    let mut valid = String::new();
    let mut faults = Vec::new();
    let mut files = Vec::new();
    for file in &args.files {
        let checked = profiles::read(file)
            .and_then(|source| check(&source).map_err(|fault| fault.to_string()));
        let why = checked.as_ref().err();
        files.push(serde_json::json!({ "file": file, "valid": why.is_none(), "why": why }));
        match checked {
            Ok(words) => valid.push_str(&format!("{words}\n")),
            Err(fault) => faults.push(fault),
        }
    }
    if args.json {
        json::print("profile-validate", &serde_json::json!({ "files": files }))?;
    } else {
        print(&valid)?;
    }
    if faults.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(CliError::input(faults.join("\ntapewise: "))
        .hint("`tapewise help profiles` says what each field means"))
}

fn check(source: &Source) -> Result<String, Fault> {
    Profile::checked(&source.file, &source.text).map(|profile| praise(source, &profile))
}

/// What a valid profile holds, and what it is not good for.
fn praise(source: &Source, profile: &Profile) -> String {
    let table: toml::Table = toml::from_str(&source.text).unwrap_or_default();
    let mut words = format!(
        "{}: valid, {} {}, {}: {} values from {} sources",
        source.file,
        profile.kind.name(),
        profile.name,
        profile.status,
        values(&table).len(),
        profile.sources.len()
    );
    if profile.kind == Kind::Library {
        return words;
    }
    let lacks = profile.lacks();
    for lack in &lacks {
        if let ProfileError::Unknown {
            what, consequence, ..
        } = lack
        {
            words.push_str(&format!("\n  but {what} is not known, so {consequence}"));
        }
    }
    if lacks.is_empty() {
        words.push_str("; requests can be placed, ordered and timed");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::profile::BUILTIN;

    #[test]
    fn a_valid_profile_says_what_it_cannot_do() {
        let says = |name: &str| {
            let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name).unwrap();
            let (file, text) = ("my.toml".to_owned(), (*text).to_owned());
            check(&Source { file, text }).unwrap()
        };
        assert!(says("lto8").ends_with("; requests can be placed, ordered and timed"));
        assert!(says("ts1170").contains("but a locate-time model is not known"));
    }
}
