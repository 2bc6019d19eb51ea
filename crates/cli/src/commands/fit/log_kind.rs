//! What `--log-format` takes, in words of the command line.

use crate::error::CliError;
use tapewise_fit::log::{self, LogError};

pub use tapewise_fit::log::{HEAD_BYTES, LogKind};

/// What `--log-format` takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Recognised by content.
    #[default]
    Auto,
    /// Event logs of tapewise.
    Events,
    /// CSV; the columns say which kind.
    Csv,
    /// The log of CTA's tape daemon.
    Cta,
}

impl LogFormat {
    /// The format that was given, `None` where the content decides.
    pub fn given(self) -> Option<log::LogFormat> {
        match self {
            LogFormat::Auto => None,
            LogFormat::Events => Some(log::LogFormat::Events),
            LogFormat::Csv => Some(log::LogFormat::Csv),
            LogFormat::Cta => Some(log::LogFormat::Cta),
        }
    }
}

/// The kind of a log, from its first [`HEAD_BYTES`].
///
/// # Errors
/// For a compressed file, which is not read.
pub fn recognise(head: &[u8], given: LogFormat) -> Result<LogKind, CliError> {
    log::recognise(head, given.given()).map_err(refused)
}

/// An error of a log in words, with what helps.
pub fn refused(error: LogError) -> CliError {
    let hint = match &error {
        LogError::Gzip => "pipe it in: `zcat LOG.gz | tapewise fit - ...`",
        LogError::Mixed => {
            "fit each kind by itself, and take the profile that was fitted to positions"
        }
        _ => return CliError::input(error),
    };
    CliError::input(error).hint(hint)
}
