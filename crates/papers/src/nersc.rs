//! NERSC 2001, a beta test of LTO: a library under continuous mounting, a drive that streams or does not.
//!
//! Everything is done by the emulated IBM 3584 with LTO-1 drives and the code that would drive real
//! ones. What the robot and the drive take for a mount comes from the paper; what comes of many at
//! once, of files and of filemarks does not. Hosts of 2001 are not emulated.

mod drive;
mod library;
#[cfg(target_os = "linux")]
mod migrate;
mod sizing;
mod way;

use crate::PaperError;
use crate::claims::{Computed, Ours, Paper};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What the paper publishes beside the claims.
#[derive(Deserialize)]
struct Facts {
    mount_s: [f64; 2],
    unmount_s: [f64; 2],
    inventory_s_per_frame_max: f64,
    hpss: Hpss,
    /// Write and read, in MB/s, by path.
    #[serde(rename = "table_1_MB_s")]
    table_1: BTreeMap<String, Rates>,
    #[serde(rename = "table_2_MB_s")]
    table_2: Seeks,
}

/// How the paper's storage class was set up.
#[derive(Deserialize)]
struct Hpss {
    #[serde(rename = "media_block_KB")]
    block_kb: usize,
    blocks_between_tapemarks: u64,
}

#[derive(Deserialize)]
struct Rates {
    compressible: [f64; 2],
    noncompressible: [f64; 2],
}

/// Data passed over, in MB, by seconds.
#[derive(Deserialize)]
struct Seeks {
    #[serde(rename = "append_to_EOT_over_17_GB")]
    append: f64,
    #[serde(rename = "forward_fsf_100_MB_file")]
    forward: f64,
    #[serde(rename = "backward_bsf_100_MB_file")]
    backward: f64,
}

/// What the gated claims rest on.
pub fn gated(paper: &Paper, seed: u64) -> Result<Ours, PaperError> {
    let facts: Facts = paper.facts_as()?;
    let mut ours = Ours::default();
    sizing::tables(&mut ours);
    library::gated(seed, &mut ours)?;
    drive::gated(&facts, seed, &mut ours)?;
    Ok(ours)
}

/// Tables and claims of the paper.
pub fn compute(paper: &Paper, seed: u64, full: bool) -> Result<Computed, PaperError> {
    let facts: Facts = paper.facts_as()?;
    let mut ours = Ours::default();
    let mut tables = library::tables(&facts, seed, full, &mut ours)?;
    tables.extend(sizing::tables(&mut ours));
    let (measured, figures) = drive::tables(&facts, seed, &mut ours)?;
    tables.extend(measured);
    Ok(Computed {
        tables,
        figures,
        ours,
    })
}
