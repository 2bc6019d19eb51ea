//! Gniewek, Davidson & Caldwell 1999: random retrievals from an IBM 3575, measured and modelled.
//!
//! The benchmark is simulated with `scenarios/gniewek-1999.toml`, where every value says whether it
//! is the paper's or assumed; one set of values serves all cases. The paper made one run of each
//! case. We make many, so that it is known what chance does to a run of 1,000 retrievals, and hold
//! the paper's run against them.

mod bench;
mod bursts;
mod distribution;
mod drives;
mod model;
mod sequence;
mod tuning;

use crate::PaperError;
use crate::claims::{Computed, Ours, Paper};
use bench::Bench;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Runs of each case. The band that 95 of 100 runs lie in is then known within a few per cent.
const RUNS: u64 = 400;

/// The same with `--full`.
const FULL_RUNS: u64 = 4_000;

/// What the paper publishes beside the claims. Times are in seconds.
#[derive(Deserialize)]
struct Facts {
    service_s: Service,
    cases: BTreeMap<String, Published>,
    table_1: Sequence,
    tuning: Tuning,
    bursts: Bursts,
    figure_4: Bar,
}

/// Table 4.
#[derive(Deserialize)]
struct Service {
    drive_unload: f64,
    robot_put: f64,
    robot_get: f64,
    drive_load: f64,
    search_read: f64,
    rewind: f64,
}

/// A case in Tables 2, 3 and 5, by the paper's names.
#[derive(Deserialize)]
struct Published {
    /// Mean response, measured.
    #[serde(rename = "EM")]
    measured: f64,
    /// Mean response by the paper's queueing model.
    #[serde(rename = "QM")]
    modelled: f64,
    /// The fitted Erlang distribution: shift, phases and mean.
    #[serde(rename = "F")]
    shift: f64,
    #[serde(rename = "k")]
    phases: u32,
    #[serde(rename = "FM")]
    fitted_mean: f64,
    median: f64,
    variance: f64,
}

/// Table 1: requests with their responses.
#[derive(Deserialize)]
struct Sequence {
    location: Vec<f64>,
    interarrival_s: Vec<f64>,
    six_drives_s: Vec<f64>,
    four_drives_s: Vec<f64>,
}

#[derive(Deserialize)]
struct Tuning {
    before: Moments,
    after: Moments,
}

#[derive(Deserialize)]
struct Moments {
    mean: f64,
    variance: f64,
}

/// Close requests that most of the long responses came from.
#[derive(Deserialize)]
struct Bursts {
    sequences: u64,
    requests: [usize; 2],
    per_hour: [f64; 2],
}

/// The one bar of a histogram that the text names.
#[derive(Deserialize)]
struct Bar {
    right_edge_s: f64,
    retrievals: u64,
}

/// What the gated claims rest on.
pub fn gated(paper: &Paper, seed: u64, full: bool) -> Result<Ours, PaperError> {
    let facts: Facts = paper.facts_as()?;
    let bench = Bench::new(&facts, seed, if full { FULL_RUNS } else { RUNS })?;
    let mut ours = Ours::default();
    model::utilisations(&bench, &mut ours)?;
    model::means(&bench, &mut ours)?;
    sequence::claim(&bench, &mut ours)?;
    Ok(ours)
}

/// Tables and claims of the paper.
pub fn compute(paper: &Paper, seed: u64, full: bool) -> Result<Computed, PaperError> {
    let facts: Facts = paper.facts_as()?;
    let bench = Bench::new(&facts, seed, if full { FULL_RUNS } else { RUNS })?;
    let mut ours = Ours::default();
    let (shapes, mut figures) = distribution::tables(&bench, &mut ours)?;
    let (tuning, figure_2) = tuning::table(&bench)?;
    figures.insert(0, figure_2);
    let mut tables = vec![
        sequence::table(&bench)?,
        tuning,
        model::utilisations(&bench, &mut ours)?,
        model::means(&bench, &mut ours)?,
        model::software(&bench)?,
    ];
    sequence::claim(&bench, &mut ours)?;
    tables.extend(shapes);
    tables.push(drives::added(&bench)?);
    tables.push(drives::chosen(&bench)?);
    tables.extend(bursts::tables(&bench)?);
    Ok(Computed {
        tables,
        figures,
        ours,
    })
}
