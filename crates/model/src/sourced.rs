//! Values that say where they come from.

use serde::{Deserialize, Serialize};

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value, in the unit its name ends in.
    pub value: T,
    /// A key of the profile's `[sources]`.
    pub source: String,
    /// How it was derived, or what speaks against it.
    pub note: Option<String>,
}

/// A value that may be unknown; if known, its source is too.
pub type Known<T> = Option<Sourced<T>>;

/// The value alone.
pub(crate) fn value<T: Clone>(known: &Known<T>) -> Option<T> {
    known.as_ref().map(|sourced| sourced.value.clone())
}
