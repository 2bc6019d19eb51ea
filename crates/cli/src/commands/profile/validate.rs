//! `tapewise profile validate`.

use super::{print, text};
use crate::error::CliError;
use crate::profiles::{self, Source};
use std::process::ExitCode;
use tapewise_model::profile::{Kind, Profile, ProfileError, values};

/// Check profiles that you wrote: every field, value, source and model.
///
/// tapewise prints what each valid profile can be used for. If a profile is wrong, the exit code is 2
/// and the message gives file, line and field.
#[derive(clap::Args, Debug)]
pub struct Validate {
    /// Files to check.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
}

/// Runs the verb: all files are checked before it gives up.
pub fn run(args: &Validate) -> Result<ExitCode, CliError> {
    let mut valid = String::new();
    let mut faults = Vec::new();
    for file in &args.files {
        let checked = profiles::read(file)
            .and_then(|source| check(&source).map_err(|fault| fault.to_string()));
        match checked {
            Ok(words) => valid.push_str(&format!("{words}\n")),
            Err(fault) => faults.push(fault),
        }
    }
    print(&valid)?;
    if faults.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(CliError::input(faults.join("\ntapewise: "))
        .hint("docs/reference/profiles.md says what each field means"))
}

/// What is wrong with a profile, and where.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    file: String,
    line: Option<usize>,
    field: Option<String>,
    reason: String,
}

impl std::fmt::Display for Fault {
    /// `file:line: field: reason`, as compilers say it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ": {field}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

fn check(source: &Source) -> Result<String, Fault> {
    match Profile::from_toml(&source.file, &source.text) {
        Ok(profile) => Ok(praise(source, &profile)),
        Err(error) => Err(fault(source, error)),
    }
}

fn fault(source: &Source, error: ProfileError) -> Fault {
    let at_field = |field: String, reason: String| Fault {
        file: source.file.clone(),
        line: text::line_of_field(&source.text, &field),
        field: Some(field),
        reason,
    };
    match error {
        ProfileError::UnknownSource {
            field, source_key, ..
        } => at_field(
            field,
            format!("names the source `{source_key}`, which [sources] does not list"),
        ),
        ProfileError::Value { field, reason, .. } => at_field(field, reason),
        ProfileError::Toml { message, .. } => in_toml(source, message),
        other => Fault {
            file: source.file.clone(),
            line: None,
            field: None,
            reason: other.to_string(),
        },
    }
}

/// Where the parser stopped: it knows the place in the text, from which the field follows.
fn in_toml(source: &Source, message: String) -> Fault {
    let text = &source.text;
    // The table first: what is no TOML at all has no fields.
    let error = match toml::from_str::<toml::Table>(text) {
        Err(error) => Some((error, false)),
        Ok(_) => toml::from_str::<Profile>(text)
            .err()
            .map(|error| (error, true)),
    };
    let Some((error, is_toml)) = error else {
        return Fault {
            file: source.file.clone(),
            line: None,
            field: None,
            reason: message,
        };
    };
    let reason = error.message().replace('\n', ", ");
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map(|before| before.matches('\n').count());
    let field = line.and_then(|line| field_at(text, line));
    let field = field.filter(|_| is_toml);
    // What is missing at the top is on no line; the parser names the first.
    let missing_at_top = reason.starts_with("missing field") && line == Some(0);
    Fault {
        file: source.file.clone(),
        line: line.filter(|_| !missing_at_top).map(|line| line + 1),
        field: field.filter(|_| !missing_at_top),
        reason,
    }
}

/// The section and key on a line, counted from 0.
fn field_at(text: &str, line: usize) -> Option<String> {
    let header = |line: &str| {
        let inside = line.trim().strip_prefix('[')?.split(']').next()?;
        Some(inside.trim_matches('[').to_owned())
    };
    let here = text.lines().nth(line)?;
    if let Some(section) = header(here) {
        return Some(section);
    }
    let key = here.split_once('=')?.0.trim().to_owned();
    let section = text.lines().take(line).filter_map(header).last();
    Some(section.map_or(key.clone(), |section| format!("{section}.{key}")))
}

/// What a valid profile holds, and what it is not good for.
fn praise(source: &Source, profile: &Profile) -> String {
    let table: toml::Table = toml::from_str(&source.text).unwrap_or_default();
    let mut words = format!(
        "{}: valid, {} {}, {}: {} values from {} sources",
        source.file,
        text::kind(profile.kind),
        profile.name,
        profile.status,
        values(&table).len(),
        profile.sources.len()
    );
    if profile.kind == Kind::Library {
        return words;
    }
    let lacks = [
        profile.geometry().err(),
        profile.wrap_blocks(1).err(),
        profile.transfer().err(),
        profile.locate_model(None).err(),
    ];
    let mut lacking = false;
    for lack in lacks.into_iter().flatten() {
        if let ProfileError::Unknown {
            what, consequence, ..
        } = lack
        {
            lacking = true;
            words.push_str(&format!("\n  but {what} is not known, so {consequence}"));
        }
    }
    if !lacking {
        words.push_str("; requests can be placed, ordered and timed");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::profile::BUILTIN;

    fn builtin(name: &str) -> String {
        let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name).unwrap();
        (*text).to_owned()
    }

    fn fault_of(text: String) -> String {
        let file = "my.toml".to_owned();
        check(&Source { file, text }).unwrap_err().to_string()
    }

    #[test]
    fn every_profile_that_comes_with_tapewise_is_valid() {
        for (name, text) in BUILTIN {
            let file = format!("{name}.toml");
            let text = (*text).to_owned();
            let words = check(&Source { file, text }).unwrap();
            assert!(words.contains("valid, "), "{words}");
        }
    }

    #[test]
    fn a_valid_profile_says_what_it_cannot_do() {
        let says = |name: &str| {
            let file = "my.toml".to_owned();
            let text = builtin(name);
            check(&Source { file, text }).unwrap()
        };
        assert!(says("lto8").ends_with("; requests can be placed, ordered and timed"));
        assert!(says("ts1170").contains("but a locate-time model is not known"));
    }

    #[test]
    fn faults_name_file_line_and_field() {
        let with = |from: &str, to: &str| {
            let text = builtin("dat-4mm");
            assert!(text.contains(from), "{from}");
            fault_of(text.replace(from, to))
        };
        assert_eq!(
            with(
                "mount_s = { value = 50, source = \"JM98\" }",
                "mount_s = { value = 50, source = \"JM99\" }"
            ),
            "my.toml:27: handling.mount_s: names the source `JM99`, which [sources] does not list"
        );
        assert_eq!(
            with("mount_s = { value = 50,", "mount_s = { value = -50,"),
            "my.toml:27: handling.mount_s: is -50, but cannot be negative"
        );
        assert!(
            with("mount_s = { value = 50,", "mounts_s = { value = 50,")
                .starts_with("my.toml:27: handling.mounts_s: unknown field `mounts_s`")
        );
        assert!(
            with("mount_s = { value = 50,", "mount_s = { value = \"x\",")
                .starts_with("my.toml:27: handling.mount_s: invalid type")
        );
        assert!(with("[handling]", "[handling").starts_with("my.toml:26: "));
        assert!(
            with(
                "full_s = { value = 110, source = \"JM98\" }\nshort",
                "short"
            )
            .starts_with("my.toml:36: locate: missing field `full_s`"),
        );
        assert_eq!(
            with("title = \"4mm DAT\"\n", ""),
            "my.toml: missing field `title`"
        );
    }
}
