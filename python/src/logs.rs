//! Logs: what a drive did becomes a profile, or is priced in other orders.

use crate::arguments::{CartridgeArguments, input_error};
use crate::attention::{Wish, attended, on_threads, with_effort};
use crate::errors::FitError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use tapewise::audit::{Mount, Mounts, ORDERS, PriceError, Prices, price};
use tapewise::formats::event_log::{EventReader, Record};
use tapewise::model::{Micros, Profile};
use tapewise_fit::log::Records;
use tapewise_fit::{FitOptions, Kind, Trust, fit_records, fitted_profile};

/// Fits a profile to a log of locates.
#[pyfunction]
pub fn fit<'py>(
    py: Python<'py>,
    log_name: String,
    log: PyBackedBytes,
    base_text: String,
    name: String,
    block_size: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let wrong = |error: String| FitError::new_err(error);
    let base = Profile::from_toml("base", &base_text).map_err(input_error)?;
    let options = FitOptions {
        block_bytes: block_size,
        map: None,
    };
    let fitted = attended(py, move |_| {
        on_threads(None, || {
            let mut records = Records::default();
            records
                .read(&log_name, &log[..], None)
                .map_err(|(_, error)| error.to_string())?;
            records.check().map_err(|error| error.to_string())?;
            let found = fit_records(records, &base, options).map_err(|error| error.to_string())?;
            let text = fitted_profile(&base, &found, &name).to_toml(&base_text);
            Ok((found, text.map_err(|error| error.to_string())?))
        })?
    })?;
    let (found, text) = fitted.map_err(wrong)?;
    let comparison = &found.comparison;
    let choice = comparison.choice();
    let dict = PyDict::new(py);
    dict.set_item("text", text)?;
    dict.set_item("model", choice.candidate.name())?;
    dict.set_item(
        "trust",
        match comparison.trust() {
            Trust::Good => "good",
            Trust::Rough => "rough",
            Trust::None => "none",
        },
    )?;
    dict.set_item("residual_s", choice.overall.residual_s)?;
    dict.set_item("median_error_s", choice.overall.median_s)?;
    dict.set_item("r_squared", choice.overall.r_squared)?;
    dict.set_item("predicted_s", &choice.predicted_s)?;
    dict.set_item(
        "measured_s",
        found
            .records
            .samples
            .iter()
            .map(|sample| sample.time.as_secs_f64())
            .collect::<Vec<_>>(),
    )?;
    let kinds = PyDict::new(py);
    kinds.set_item(
        "kind",
        Kind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
    )?;
    kinds.set_item(
        "count",
        choice
            .kinds
            .iter()
            .map(|score| score.count)
            .collect::<Vec<_>>(),
    )?;
    kinds.set_item(
        "mean_error_s",
        choice
            .kinds
            .iter()
            .map(|score| score.mean_s)
            .collect::<Vec<_>>(),
    )?;
    kinds.set_item(
        "residual_s",
        choice
            .kinds
            .iter()
            .map(|score| score.residual_s)
            .collect::<Vec<_>>(),
    )?;
    dict.set_item("kinds", kinds)?;
    Ok(dict)
}

/// Prices the mounts of an event log in other orders.
#[pyfunction]
pub fn audit<'py>(
    py: Python<'py>,
    log: &[u8],
    cartridge: CartridgeArguments,
    seed: u64,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let cartridge = cartridge.cartridge()?;
    let mut closed: Vec<Mount> = Vec::new();
    let mut mounts = Mounts::default();
    let mut events = EventReader::new(log);
    while let Some(record) = events.next_record().map_err(input_error)? {
        match record {
            Record::Header(header) => mounts.begin(&header, &mut |mount| closed.push(mount)),
            Record::Event(event) => mounts.add(&event, &mut |mount| closed.push(mount)),
        }
    }
    mounts.end(&mut |mount| closed.push(mount));
    closed.retain(|mount| !mount.reads.is_empty() || mount.unplaced > 0);
    let wish = Wish {
        seed,
        prove: false,
        work: None,
        budget_s: None,
    };
    let priced = attended(py, move |stop| {
        with_effort(wish, stop, |effort| {
            let price = |mount| {
                let priced = price(&mount, &cartridge, effort);
                (mount, priced)
            };
            closed.into_iter().map(price).collect::<Vec<_>>()
        })
    })?;
    let row = |(mount, priced): (Mount, Result<Prices, PriceError>)| {
        let dict = PyDict::new(py);
        dict.set_item("drive", &mount.drive)?;
        dict.set_item("volume", &mount.volume)?;
        dict.set_item("reads", mount.reads.len())?;
        dict.set_item("locating_s", mount.moving().as_secs_f64())?;
        dict.set_item("reading_s", mount.reading.as_secs_f64())?;
        match priced {
            Ok(prices) => {
                dict.set_item("as_read_s", prices.as_read.as_secs_f64())?;
                for (origin, price) in ORDERS.iter().zip(prices.orders) {
                    let key = format!(
                        "{}_s",
                        origin.versioned().split('/').next().unwrap_or_default()
                    );
                    dict.set_item(key, price.map(Micros::as_secs_f64))?;
                }
                dict.set_item("why_not_priced", py.None())?;
            }
            Err(error) => dict.set_item("why_not_priced", error.to_string())?,
        }
        Ok(dict)
    };
    priced.into_iter().map(row).collect()
}
