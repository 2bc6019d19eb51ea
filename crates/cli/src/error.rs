//! What went wrong, said so that it can be acted on, with the documented exit code.

use crate::output::say;
use std::fmt;
use std::process::ExitCode;

/// The exit codes of this program; docs/reference/exit-codes.md is their contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Something failed that is none of the other cases.
    Failed = 1,
    /// Wrong usage or bad input.
    Input = 2,
}

/// An error for a person: what was wrong, where, and what to do.
#[derive(Debug)]
pub struct CliError {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

impl CliError {
    /// Bad input or usage.
    pub fn input(message: impl fmt::Display) -> CliError {
        CliError {
            exit: Exit::Input,
            message: message.to_string(),
            hint: None,
        }
    }

    /// A failure that the input is not to blame for.
    pub fn failed(message: impl fmt::Display) -> CliError {
        CliError {
            exit: Exit::Failed,
            message: message.to_string(),
            hint: None,
        }
    }

    /// The same with what to do about it.
    pub fn hint(self, hint: impl Into<String>) -> CliError {
        CliError {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The same, said of one request.
    pub fn at(self, id: &str) -> CliError {
        CliError {
            message: format!("request {id}: {}", self.message),
            ..self
        }
    }

    /// Prints the error to standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        say(format_args!("tapewise: {}\n", self.message));
        if let Some(hint) = &self.hint {
            say(format_args!("hint: {hint}\n"));
        }
        ExitCode::from(self.exit as u8)
    }
}

impl From<tapewise_model::profile::ProfileError> for CliError {
    fn from(error: tapewise_model::profile::ProfileError) -> CliError {
        CliError::input(error)
    }
}
