//! The functions below the Python package: plain values in, plain values out. Classes, representations and pictures are
//! Python; every decision is made in the crates `tapewise` and `tapewise-fit`.

mod arguments;
mod attention;
mod errors;
mod logs;
mod orders;
mod profiles;

use pyo3::prelude::*;

/// The part of the package that is written in Rust.
#[pymodule(name = "_tapewise")]
mod native {
    #[pymodule_export]
    use super::errors::{CartridgeError, FitError, InputError, SearchError, TapewiseError};
    #[pymodule_export]
    use super::logs::{audit, fit};
    #[pymodule_export]
    use super::orders::{find, moves, order_names, price, read_requests};
    #[pymodule_export]
    use super::profiles::{profile_facts, profile_names, profile_text};
}
