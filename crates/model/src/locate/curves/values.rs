//! What a profile states of the model of curves.

use super::{CurvesCoefficients, CurvesModel};
use crate::geometry::band_pairs;
use crate::locate::stated::{Shape, Stated};
use crate::sourced::{Known, Sourced, value};
use serde::{Deserialize, Serialize};

/// What a profile states of it; [`CurvesCoefficients`] documents each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct CurvesValues {
    pub same_wrap_s: Sourced<[f64; 2]>,
    pub other_wrap_s: Sourced<[f64; 4]>,
    pub band_change_s: Sourced<Vec<f64>>,
    pub pace: Sourced<Vec<f64>>,
    pub away_s: Sourced<Vec<f64>>,
    pub away_per_way_s: Sourced<Vec<f64>>,
    pub towards_s: Sourced<Vec<f64>>,
    pub towards_per_way_s: Sourced<Vec<f64>>,
    pub step_wraps: Sourced<Vec<u16>>,
    pub step_s: Sourced<Vec<f64>>,
    pub steps_beside: Sourced<bool>,
    pub station_lpos: Known<u32>,
    pub far_wraps: Known<Vec<u16>>,
    pub read_on_s: Sourced<f64>,
    pub read_per_lpos_s: Sourced<f64>,
    pub read_on_lpos: Known<u32>,
    pub residual_s: Known<f64>,
}

impl CurvesValues {
    /// The coefficients without their sources.
    pub fn coefficients(&self) -> CurvesCoefficients {
        CurvesCoefficients {
            same_wrap_s: self.same_wrap_s.value,
            other_wrap_s: self.other_wrap_s.value,
            band_change_s: self.band_change_s.value.clone(),
            pace: self.pace.value.clone(),
            away_s: self.away_s.value.clone(),
            away_per_way_s: self.away_per_way_s.value.clone(),
            towards_s: self.towards_s.value.clone(),
            towards_per_way_s: self.towards_per_way_s.value.clone(),
            step_wraps: self.step_wraps.value.clone(),
            step_s: self.step_s.value.clone(),
            steps_beside: self.steps_beside.value,
            station_lpos: value(&self.station_lpos),
            far_wraps: value(&self.far_wraps).unwrap_or_default(),
            read_on_s: self.read_on_s.value,
            read_per_lpos_s: self.read_per_lpos_s.value,
            read_on_lpos: value(&self.read_on_lpos),
            residual_s: value(&self.residual_s),
        }
    }
}

impl Stated for CurvesValues {
    const NAME: &'static str = "curves";
    type Model = CurvesModel;

    fn model(&self, shape: &Shape<'_>) -> Option<CurvesModel> {
        Some(CurvesModel::new(&self.coefficients(), shape.geometry))
    }

    /// A locate ahead in the same direction to the next wrap of the band, by the line of long travel.
    fn startup_and_full_s(&self, shape: &Shape<'_>) -> Option<(f64, f64)> {
        let length = f64::from(shape.geometry.wrap_lpos());
        let pace = &self.pace.value;
        let mean = if pace.is_empty() {
            1.0
        } else {
            pace.iter().sum::<f64>() / pace.len() as f64
        };
        let lines = std::iter::zip(&self.away_s.value, &self.away_per_way_s.value);
        let (startup_s, per_way_s) = lines.min_by(|a, b| a.1.total_cmp(b.1))?;
        let step_s = self.step_s.value.first().copied().unwrap_or(0.0);
        Some((
            self.other_wrap_s.value[0] + startup_s + step_s,
            per_way_s * mean * length,
        ))
    }

    fn fault(&self, bands: u16) -> Option<(&'static str, String)> {
        fault(&self.coefficients(), bands).err()
    }
}

/// Most bands, of which a table of all pairs is kept; LTO has 4.
const MAX_BANDS: u16 = 16;
/// How many times longer than the fastest stretch of tape another one may take.
const MAX_PACE: f64 = 100.0;

/// What is wrong with coefficients that are each possible: the field, and why.
fn fault(c: &CurvesCoefficients, bands: u16) -> Result<(), (&'static str, String)> {
    let pairs = band_pairs(bands);
    if bands > MAX_BANDS {
        let reason = format!("is {bands}; the model of curves has at most {MAX_BANDS}");
        return Err(("cartridge.bands", reason));
    }
    if c.band_change_s.len() != pairs {
        let found = c.band_change_s.len();
        let reason = format!("has {found} times, but {bands} bands make {pairs} pairs");
        return Err(("locate.band_change_s", reason));
    }
    for (field, startups, paces) in [
        ("locate.away_s", &c.away_s, &c.away_per_way_s),
        ("locate.towards_s", &c.towards_s, &c.towards_per_way_s),
    ] {
        if startups.is_empty() || startups.len() != paces.len() {
            let (fixed, paces) = (startups.len(), paces.len());
            let reason =
                format!("has {fixed} lines, but there are {paces} paces; as many, at least one");
            return Err((field, reason));
        }
    }
    if let Some(pace) = c.pace.iter().find(|pace| !(1.0..=MAX_PACE).contains(*pace)) {
        let reason =
            format!("has {pace}; paces count from 1, that of the fastest stretch, to {MAX_PACE}");
        return Err(("locate.pace", reason));
    }
    let rises = c.step_wraps.windows(2).all(|pair| pair[0] < pair[1]);
    if c.step_wraps.len() != c.step_s.len() || !rises {
        let (wraps, times) = (c.step_wraps.len(), c.step_s.len());
        let reason = format!(
            "has {wraps} numbers for {times} times in step_s; as many are needed, each above the last"
        );
        return Err(("locate.step_wraps", reason));
    }
    if c.station_lpos.is_none() && !c.far_wraps.is_empty() {
        let reason = "lists wraps of a second side, but station_lpos is missing".to_owned();
        return Err(("locate.far_wraps", reason));
    }
    Ok(())
}
