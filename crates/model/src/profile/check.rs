//! What is wrong with the text of a profile, with line and field.

use super::text::line_of_field;
use super::{Profile, ProfileError};

/// What is wrong with a profile, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file's name.
    pub file: String,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// The section and key, where they are known.
    pub field: Option<String>,
    /// What is wrong.
    pub reason: String,
}

impl std::error::Error for Fault {}

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

impl Profile {
    /// Reads a profile as [`Profile::from_toml`] does, and says where in the text it is wrong.
    ///
    /// # Errors
    /// [`Fault`] with line and field, as far as they are known.
    pub fn checked(file: &str, text: &str) -> Result<Profile, Fault> {
        Profile::from_toml(file, text).map_err(|error| fault(file, text, error))
    }

    /// What is not known of a drive, and what it can therefore not be used for.
    pub fn lacks(&self) -> Vec<ProfileError> {
        let lacks = [
            self.geometry().err(),
            self.wrap_blocks(1).err(),
            self.transfer().err(),
            self.locate_model(None).err(),
        ];
        let unknown = |error: &ProfileError| matches!(error, ProfileError::Unknown { .. });
        lacks.into_iter().flatten().filter(unknown).collect()
    }
}

fn fault(file: &str, text: &str, error: ProfileError) -> Fault {
    let at_field = |field: String, reason: String| Fault {
        file: file.to_owned(),
        line: line_of_field(text, &field),
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
        ProfileError::Toml { message, .. } => in_toml(file, text, message),
        other => Fault {
            file: file.to_owned(),
            line: None,
            field: None,
            reason: other.to_string(),
        },
    }
}

/// Where the parser stopped: it knows the place in the text, from which the field follows.
fn in_toml(file: &str, text: &str, message: String) -> Fault {
    // The table first: what is no TOML at all has no fields.
    let error = match toml::from_str::<toml::Table>(text) {
        Err(error) => Some((error, false)),
        Ok(_) => toml::from_str::<Profile>(text)
            .err()
            .map(|error| (error, true)),
    };
    let Some((error, is_toml)) = error else {
        return Fault {
            file: file.to_owned(),
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
        file: file.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::BUILTIN;

    fn builtin(name: &str) -> String {
        let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name).unwrap();
        (*text).to_owned()
    }

    fn fault_of(text: String) -> String {
        Profile::checked("my.toml", &text).unwrap_err().to_string()
    }

    #[test]
    fn every_profile_that_comes_with_tapewise_is_valid() {
        for (name, text) in BUILTIN {
            Profile::checked(&format!("{name}.toml"), text).unwrap();
        }
    }

    #[test]
    fn what_a_profile_lacks_is_listed() {
        let lacks = |name: &str| Profile::checked("my.toml", &builtin(name)).unwrap().lacks();
        assert!(lacks("lto8").is_empty());
        assert!(!lacks("ts1170").is_empty());
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
