//! Johnson & Miller 1998: six drives and four robots, measured; their summaries computed again.
//!
//! The numbers come from our profiles and the models built on them. Where a table of the paper is
//! itself a measurement, the profile holds it, and what is shown is whether the two agree.

mod measured;
mod seeks;
mod short;
mod summary;
mod table_3;
mod transfer;

use crate::PaperError;
use crate::claims::{Computed, Ours, Paper};
use serde::Deserialize;
use std::collections::BTreeMap;
use tapewise_model::profile::{self, Known};
use tapewise_model::{Geometry, LocateModel, Position, PositionSource, Profile, Transfer};

/// The drives in the order of Table 4, each with its profile.
const DRIVES: [(&str, &str); 6] = [
    (DAT_4MM, "dat-4mm"),
    (AMPEX, "ampex-dst310"),
    (SONY, "sony-dtf"),
    (DLT4000, "dlt4000-jm98"),
    (DLT7000, "dlt7000"),
    (IBM3590, "ibm3590"),
];
const DAT_4MM: &str = "4mm DAT";
const AMPEX: &str = "Ampex DST 310";
const SONY: &str = "Sony DTF";
const DLT4000: &str = "DLT 4000";
const DLT7000: &str = "DLT 7000";
const IBM3590: &str = "IBM 3590";

/// The finer model of the DLT 4000, and how tables call it.
const KEY_POINTS: (&str, &str) = ("DLT 4000 by key points", "dlt4000");

/// What the paper publishes beside the claims.
#[derive(Deserialize)]
struct Facts {
    table_3: Vec<table_3::Branch>,
    fast_seek_over_read_speed: BTreeMap<String, f64>,
    short_seek_4mm: Line,
    ampex_cycle: seeks::MeasuredCycle,
    robots: BTreeMap<String, summary::MeasuredRobot>,
    drives: BTreeMap<String, summary::MeasuredDrive>,
}

/// Seconds by distance in GB.
#[derive(Deserialize)]
struct Line {
    startup_s: f64,
    #[serde(rename = "s_per_GB")]
    s_per_gb: f64,
}

/// A drive as our profile has it.
struct Drive {
    name: &'static str,
    profile: Profile,
    geometry: Geometry,
    model: LocateModel,
    transfer: Transfer,
    /// What a track (helical: the tape) holds, in MB.
    track_mb: f64,
}

impl Drive {
    fn new((name, profile): (&'static str, &str)) -> Result<Drive, PaperError> {
        let profile = profile::find(profile)?;
        Ok(Drive {
            name,
            geometry: profile.geometry()?,
            model: profile.locate_model(None)?,
            transfer: profile.transfer()?,
            track_mb: profile.wrap_blocks(1_000_000)?,
            profile,
        })
    }

    /// A place on a track, as a share of the tape from its beginning.
    fn place(&self, track: u16, share: f64) -> Position {
        let into = share * f64::from(self.geometry.wrap_lpos());
        Position {
            partition: 0,
            wrap: track,
            lpos: self.geometry.lpos_min + into.round() as u32,
            source: PositionSource::Exact,
            error_lpos: 0,
        }
    }

    fn seek_s(&self, from: &Position, to: &Position) -> f64 {
        self.model.locate(from, to).as_secs_f64()
    }

    fn rewind_s(&self, from: &Position) -> f64 {
        self.model.rewind(&self.model.point(from)).as_secs_f64()
    }

    /// A value that this reproduction cannot do without.
    fn need(&self, known: &Known<f64>, what: &str) -> Result<f64, PaperError> {
        known.as_ref().map(|sourced| sourced.value).ok_or_else(|| {
            PaperError::from(format!("profile {}: {what} is missing", self.profile.name))
        })
    }
}

/// All drives with the paper's own numbers.
struct Bench<'a> {
    drives: Vec<Drive>,
    key_points: Drive,
    paper: &'a Paper,
    facts: Facts,
    seed: u64,
}

impl Bench<'_> {
    fn new(paper: &Paper, seed: u64) -> Result<Bench<'_>, PaperError> {
        Ok(Bench {
            drives: DRIVES
                .into_iter()
                .map(Drive::new)
                .collect::<Result<_, _>>()?,
            key_points: Drive::new(KEY_POINTS)?,
            facts: paper.facts_as()?,
            paper,
            seed,
        })
    }

    fn drive(&self, name: &str) -> &Drive {
        let found = self.drives.iter().find(|drive| drive.name == name);
        found.expect("every drive of the paper is loaded")
    }

    fn theirs(&self, drive: &Drive) -> Result<&summary::MeasuredDrive, PaperError> {
        let missing = || PaperError::from(format!("claims.toml: no {}", drive.name));
        self.facts.drives.get(drive.name).ok_or_else(missing)
    }
}

/// What the gated claims rest on.
pub fn gated(paper: &Paper, seed: u64) -> Result<Ours, PaperError> {
    let bench = Bench::new(paper, seed)?;
    let mut ours = Ours::default();
    table_3::tables(&bench, &mut ours)?;
    transfer::tables(&bench, &mut ours)?;
    summary::table_5(&bench, &mut ours)?;
    measured::gated(&bench, &mut ours)?;
    Ok(ours)
}

/// Tables and claims of the paper.
pub fn compute(paper: &Paper, seed: u64) -> Result<Computed, PaperError> {
    let bench = Bench::new(paper, seed)?;
    let mut ours = Ours::default();
    let mut tables = vec![summary::table_1(&bench)?, summary::table_2(&bench)?];
    tables.extend(seeks::tables(&bench)?);
    tables.extend(table_3::tables(&bench, &mut ours)?);
    tables.extend(short::tables(&bench)?);
    tables.extend(transfer::tables(&bench, &mut ours)?);
    tables.push(summary::table_4(&bench)?);
    tables.extend(summary::table_5(&bench, &mut ours)?);
    let (measured, figures) = measured::report(&bench, &mut ours)?;
    tables.extend(measured);
    Ok(Computed {
        tables,
        figures,
        ours,
    })
}

/// How far ours is off theirs, in per cent.
fn off_pct(ours: f64, theirs: f64) -> f64 {
    (ours / theirs - 1.0) * 100.0
}
