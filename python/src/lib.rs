//! The functions below the Python package: plain values in, plain values out. Classes, representations and pictures are
//! Python; every decision is made in the crates below.

mod arguments;
mod arrow;
mod attention;
mod emulated;
mod errors;
mod logs;
mod orders;
mod profiles;
mod scenarios;

use pyo3::prelude::*;

/// The part of the package that is written in Rust.
#[pymodule(name = "_tapewise")]
mod native {
    #[pymodule_export]
    use super::arrow::arrow_stream;
    #[pymodule_export]
    use super::emulated::{Drive, emulated_kinds};
    #[pymodule_export]
    use super::logs::{audit, fit};
    #[pymodule_export]
    use super::orders::{find, moves, order_names, price, read_requests};
    #[pymodule_export]
    use super::profiles::{paper_claims, profile_facts, profile_names, profile_text};
    #[pymodule_export]
    use super::scenarios::{
        replay, scenario_cases, scenario_facts, scenario_names, scenario_text, simulate,
        size_library,
    };
}
