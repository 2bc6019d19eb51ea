//! What a service tells whoever runs it: lines for people, or with `--log-format json` an object a line for programs
//! that collect logs.
//!
//! `output::say` writes here too, so everything on standard error has one form.

use crate::now::now_ns;
use crate::terminal::{for_terminal, write_error};
use jiff::Timestamp;
use serde::Serialize;
use std::fmt::Display;
use std::sync::OnceLock;

/// The form of what is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

/// The option of verbs that go on until they are stopped.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Args {
    /// Write what is printed on standard error as text, or as a JSON object a line for programs that collect logs.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        conflicts_with = "progress"
    )]
    pub log_format: LogFormat,
}

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The program ends.
    Error,
    /// Something went wrong, and the program goes on.
    Warning,
    /// All is well.
    Info,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct About<'a> {
    /// The number of a recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<i64>,
    /// The label of a cartridge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<&'a str>,
    /// The serial number of a drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<&'a str>,
    /// The lease under which it was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// What a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'a str>,
}

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    level: Level,
    message: &'a str,
    #[serde(flatten)]
    about: About<'a>,
}

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Decides, once for the whole program, in which form it tells things.
pub fn begin(format: LogFormat) {
    FORMAT.get_or_init(|| format);
}

/// Whether programs read what is told.
pub fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

/// Tells that something went as it should.
pub fn info(about: About<'_>, message: impl Display) {
    tell(Level::Info, about, message);
}

/// Tells that something went wrong, and that the program goes on.
pub fn warn(about: About<'_>, message: impl Display) {
    tell(Level::Warning, about, message);
}

fn tell(level: Level, about: About<'_>, message: impl Display) {
    let message = message.to_string();
    if is_json() {
        write(level, about, &message);
    } else {
        write_error(&for_terminal(&format!("tapewise: {message}\n")));
    }
}

/// Writes a line for a program.
pub fn write(level: Level, about: About<'_>, message: &str) {
    write_error(&line(level, about, message, now_ns()));
}

fn line(level: Level, about: About<'_>, message: &str, now_ns: i64) -> String {
    let time = Timestamp::from_nanosecond(now_ns.into()).unwrap_or_default();
    let line = Line {
        time: format!("{time:.6}"),
        level,
        message,
        about,
    };
    // Its keys are strings: no line is ever lost here.
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_programs_is_one_object_with_what_it_is_about() {
        let about = About {
            request: Some(17),
            volume: Some("T00001L8"),
            ..About::default()
        };
        let said = line(
            Level::Warning,
            about,
            "two\nlines",
            1_700_000_000_000_000_000,
        );
        assert_eq!(
            said,
            "{\"time\":\"2023-11-14T22:13:20.000000Z\",\"level\":\"warning\",\"message\":\"two\\nlines\",\
             \"request\":17,\"volume\":\"T00001L8\"}\n"
        );
    }
}
