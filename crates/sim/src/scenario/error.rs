//! What can be wrong with a scenario.

use tapewise_model::profile::ProfileError;

/// Why a scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The text is not a scenario.
    #[error("{place}not a scenario: {message}")]
    Toml {
        /// The case, where there are several.
        place: String,
        /// The parser's message with line, column and key.
        message: String,
    },
    /// A value is impossible.
    #[error("scenario {scenario}: {key}: {reason}")]
    Value {
        /// The scenario's name.
        scenario: String,
        /// Dotted path of the value.
        key: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// One scenario was asked for.
    #[error("the text has {cases} cases; choose one")]
    Cases {
        /// How many there are.
        cases: usize,
    },
    /// A profile cannot be used.
    #[error("scenario {scenario}: {key}: {error}")]
    Profile {
        /// The scenario's name.
        scenario: String,
        /// Dotted path of the profile's name.
        key: String,
        /// What is wrong with it.
        error: Box<ProfileError>,
    },
    /// More arrives than can be served.
    #[error(transparent)]
    Unstable(#[from] Overload),
}

/// More arrives than can be served, whatever the order: the queue would grow for ever.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "scenario {scenario}: unstable: {what} of library {library} would have to work {load:.2} times \
     the time there is; reduce the request rate, add {what}, or serve more requests per mount"
)]
pub struct Overload {
    /// The scenario's name.
    pub scenario: String,
    /// The library's name.
    pub library: String,
    /// Drives or robots.
    pub what: &'static str,
    /// Work that arrives, as a multiple of what can be done.
    pub load: f64,
}
