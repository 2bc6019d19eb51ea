//! Defaults that need not be typed again: from the environment, or from the configuration file.

use crate::error::CliError;
use clap::{Arg, Command};
use std::path::{Path, PathBuf};

/// What may be set, with the variable that sets it and the option that it stands for.
const KEYS: [(&str, &str, &str); 2] = [
    ("profile", "TAPEWISE_PROFILE", "--profile"),
    ("archive", "TAPEWISE_ARCHIVE", "--archive"),
];

/// The variable that names the configuration file.
const FILE: &str = "TAPEWISE_CONFIG";

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A variable of the environment.
    Environment(&'static str),
    /// The configuration file.
    File(PathBuf),
}

/// A value that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The value.
    pub text: String,
    /// Where it comes from.
    pub source: Source,
}

/// All settings.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The configuration file, if the environment tells where one would be.
    pub file: Option<PathBuf>,
    profile: Option<Value>,
    archive: Option<Value>,
}

impl Settings {
    /// Reads environment and configuration file.
    ///
    /// # Errors
    /// Bad input: a configuration file that cannot be read, or that has an unknown key.
    pub fn read() -> Result<Settings, CliError> {
        let file = file();
        let mut settings = match file.as_deref().filter(|file| file.exists()) {
            Some(path) => of_file(path)?,
            None => Settings::default(),
        };
        settings.file = file;
        for (key, variable, _) in KEYS {
            if let Some(text) = set(variable) {
                let source = Source::Environment(variable);
                *settings.place(key) = Some(Value { text, source });
            }
        }
        Ok(settings)
    }

    fn place(&mut self, key: &str) -> &mut Option<Value> {
        match key {
            "profile" => &mut self.profile,
            _ => &mut self.archive,
        }
    }

    /// The drive profile.
    pub fn profile(&self) -> Option<&Value> {
        self.profile.as_ref()
    }

    /// The archive.
    pub fn archive(&self) -> Option<&Value> {
        self.archive.as_ref()
    }

    /// Every key with its option and variable, and its value if it is set.
    pub fn all(
        &self,
    ) -> impl Iterator<Item = (&'static str, &'static str, &'static str, Option<&Value>)> {
        KEYS.into_iter().map(|(key, variable, option)| {
            let value = match key {
                "profile" => self.profile(),
                _ => self.archive(),
            };
            (key, option, variable, value)
        })
    }

    /// The command with these values as defaults of options that would have to be given.
    pub fn apply(&self, command: Command) -> Command {
        let mut command = command;
        for (key, _, _, value) in self.all() {
            let is_required = |arg: &Arg| arg.get_id() == key && arg.is_required_set();
            if let Some(value) = value
                && command.get_arguments().any(is_required)
            {
                // As long as the program: defaults of clap are.
                let text: &'static str = Box::leak(value.text.clone().into_boxed_str());
                command = command.mut_arg(key, |arg| arg.required(false).default_value(text));
            }
        }
        let verbs: Vec<String> = command
            .get_subcommands()
            .map(|verb| verb.get_name().to_owned())
            .collect();
        for verb in verbs {
            command = command.mut_subcommand(verb, |verb| self.apply(verb));
        }
        command
    }
}

/// A variable that is set to something.
fn set(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|text| !text.is_empty())
}

/// Where the configuration file is, or would be.
fn file() -> Option<PathBuf> {
    if let Ok(path) = std::env::var(FILE) {
        return Some(PathBuf::from(path)).filter(|path| !path.as_os_str().is_empty());
    }
    let directory = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let directory = directory.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")));
    Some(directory?.join("tapewise/config.toml"))
}

/// The settings of a configuration file. A path in it is taken from the file's directory.
fn of_file(path: &Path) -> Result<Settings, CliError> {
    let bad = |error: &dyn std::fmt::Display| CliError::input(error).of(path.display());
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
    let table: toml::Table = text.parse().map_err(|error| bad(&error))?;
    let mut settings = Settings::default();
    for (key, value) in table {
        if !KEYS.iter().any(|(known, _, _)| *known == key) {
            let known = KEYS.map(|(key, _, _)| key).join(", ");
            return Err(bad(&format!("unknown key `{key}`; there are: {known}")));
        }
        let Some(text) = value.as_str() else {
            return Err(bad(&format!("`{key}` must be a text in quotes")));
        };
        let is_path = key == "archive" || text.contains('/') || text.ends_with(".toml");
        let text = match path.parent() {
            Some(directory) if is_path => directory.join(text).display().to_string(),
            _ => text.to_owned(),
        };
        let source = Source::File(path.to_owned());
        *settings.place(&key) = Some(Value { text, source });
    }
    Ok(settings)
}
