//! Profiles: what we know of a drive.

use crate::arguments::input_error;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tapewise::model::Profile;
use tapewise::model::profile::{BUILTIN, Kind, find, names};

/// The names of the profiles that come with tapewise.
#[pyfunction]
pub fn profile_names() -> Vec<&'static str> {
    names().collect()
}

/// The text of a profile that comes with tapewise.
#[pyfunction]
pub fn profile_text(name: &str) -> PyResult<&'static str> {
    let found = BUILTIN.iter().find(|(known, _)| *known == name);
    match found {
        Some((_, text)) => Ok(text),
        None => Err(find(name).map_or_else(input_error, |_| input_error(name))),
    }
}

/// What a profile says of itself; an error if its text is no profile.
#[pyfunction]
pub fn profile_facts<'py>(py: Python<'py>, name: &str, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let profile = Profile::from_toml(name, text).map_err(input_error)?;
    let dict = PyDict::new(py);
    dict.set_item("name", &profile.name)?;
    dict.set_item("title", &profile.title)?;
    dict.set_item(
        "kind",
        if profile.kind == Kind::Drive {
            "drive"
        } else {
            "library"
        },
    )?;
    dict.set_item("status", profile.status.to_string())?;
    dict.set_item("summary", &profile.summary)?;
    dict.set_item(
        "capacity_gb",
        profile
            .cartridge
            .capacity_gb
            .as_ref()
            .map(|known| known.value),
    )?;
    dict.set_item(
        "wraps",
        profile.cartridge.wraps.as_ref().map(|known| known.value),
    )?;
    Ok(dict)
}

/// What five papers publish as numbers, as TOML.
#[pyfunction]
pub fn paper_claims() -> &'static str {
    include_str!("../../crates/papers/claims.toml")
}
