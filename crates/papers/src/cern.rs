//! CERN 2018, LTO performance: the orders compared on LTO, and what positioning does to the rate.
//!
//! The cost of a move is the regression of the slides' annex as it stands: whole files, from the
//! beginning of tape, without reading over gaps. What the slides do not say of their batches, and
//! we had to choose, stands in [`study`]. What is fitted by us, on emulated drives, in [`fitted`].

mod annex;
mod emulated_lto8;
mod enterprise;
mod fitted;
mod orders;
mod rates;
mod step_back;
mod study;
mod workload;

use crate::PaperError;
use crate::claims::{Computed, Ours, Paper};
use serde::Deserialize;
use std::collections::BTreeMap;
use tapewise_model::{Profile, profile};
use tapewise_plot::Table;
use workload::Cartridge;

/// Batches of each case without `--full`: means stand within about 1 % of those of 1000.
const TRIALS: u64 = 60;

/// "Running O(1000) grouped recalls" (Traversal algorithm I).
const TRIALS_FULL: u64 = 1_000;

/// What the slides publish beside the claims.
#[derive(Deserialize)]
struct Facts {
    regression: BTreeMap<String, f64>,
    drive_table: BTreeMap<String, MeasuredDrive>,
}

/// A column of the slide "LTO vs Enterprise: key points".
#[derive(Deserialize)]
struct MeasuredDrive {
    #[serde(rename = "rate_MB_s")]
    rate_mb_s: f64,
    /// Mean from file to file in logical order.
    position_s: f64,
    /// The same in the order that the drive recommends.
    position_rao_s: Option<f64>,
}

/// What all parts share.
struct Bench {
    facts: Facts,
    /// The media that the regression was fitted on.
    m8: Cartridge,
    /// The media it is transferred to.
    lto8: Cartridge,
    trials: u64,
    seed: u64,
}

impl Bench {
    fn new(paper: &Paper, seed: u64, full: bool) -> Result<Bench, PaperError> {
        Ok(Bench {
            facts: paper.facts_as()?,
            m8: Cartridge::new(&profile::find(M8)?)?,
            lto8: Cartridge::new(&profile::find(LTO8)?)?,
            trials: if full { TRIALS_FULL } else { TRIALS },
            seed,
        })
    }
}

/// The profiles of both media.
const M8: &str = "lto7-m8";
const LTO8: &str = "lto8";

/// What the gated claims rest on.
pub fn gated(paper: &Paper, seed: u64, full: bool) -> Result<Ours, PaperError> {
    let bench = Bench::new(paper, seed, full)?;
    let mut ours = Ours::default();
    study::gated(&bench, &mut ours)?;
    rates::gated(&bench, &mut ours)?;
    Ok(ours)
}

/// Tables and claims of the slides.
pub fn compute(paper: &Paper, seed: u64, full: bool) -> Result<Computed, PaperError> {
    let bench = Bench::new(paper, seed, full)?;
    let mut tables = vec![regression(
        &bench.facts,
        &[&profile::find(M8)?, &profile::find(LTO8)?],
    )?];
    let mut ours = Ours::default();
    let mut figures = Vec::new();
    for (part, drawn) in [
        study::tables(&bench, &mut ours)?,
        rates::tables(&bench, &mut ours)?,
        fitted::report(&bench.facts, seed, &mut ours)?,
    ] {
        tables.extend(part);
        figures.extend(drawn);
    }
    tables.push(step_back::table(&bench)?);
    tables.push(enterprise::table(&bench, &mut ours)?);
    figures.push(annex::histogram(&bench)?);
    Ok(Computed {
        tables,
        figures,
        ours,
    })
}

/// The annex beside the profiles: the drive tables that everything below rests on.
fn regression(facts: &Facts, profiles: &[&Profile]) -> Result<Table, PaperError> {
    let mut table = Table::new(
        "Annex: coefficients, theirs and those of our profiles (s; per_lpos in s for each LPOS)",
        &["coefficient", "slides", "lto7-m8", "lto8"],
    );
    let ours: Vec<_> = profiles
        .iter()
        .map(|profile| {
            let unknown = || PaperError::from(format!("profile {}: no regression", profile.name));
            profile.lto_coefficients().ok_or_else(unknown)
        })
        .collect::<Result<_, _>>()?;
    type Coefficient = fn(&tapewise_model::locate::LtoCoefficients) -> f64;
    let rows: [(&str, Coefficient); 8] = [
        ("intercept", |c| c.intercept_s),
        ("wrap_change", |c| c.wrap_change_s),
        ("band_change", |c| c.band_change_s),
        ("mid_cross", |c| c.mid_cross_s),
        ("direction_change", |c| c.direction_change_s),
        ("step_back", |c| c.step_back_s),
        ("per_lpos", |c| c.per_lpos_s),
        ("residual_standard_error", |c| c.residual_s),
    ];
    for (name, of) in rows {
        let theirs = facts
            .regression
            .get(name)
            .ok_or_else(|| PaperError::from(format!("claims.toml has no coefficient {name}")))?;
        let values = [*theirs].into_iter().chain(ours.iter().map(of));
        let cells = values.map(|value| format!("{value:.7}"));
        table.row([name.to_owned()].into_iter().chain(cells));
    }
    table.note("Fitted by CERN on LTO-7 M8 media, 886,035 positionings; lto8: the same drive, transferred.");
    Ok(table)
}
