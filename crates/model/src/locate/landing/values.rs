//! What a profile states of the landing-point model.

use super::{LandingCoefficients, LandingModel};
use crate::geometry::band_pairs;
use crate::locate::stated::{Shape, Stated};
use crate::sourced::{Known, Sourced, value};
use serde::{Deserialize, Serialize};

/// What a profile states of it; [`LandingCoefficients`] documents each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct LandingValues {
    pub same_wrap_s: Sourced<[f64; 2]>,
    pub other_wrap_s: Sourced<[f64; 4]>,
    pub band_change_s: Sourced<Vec<f64>>,
    pub mid_cross_s: Sourced<f64>,
    pub outside_saves_per_lpos_s: Sourced<f64>,
    pub travel_s: Sourced<Vec<f64>>,
    pub travel_per_lpos_s: Sourced<Vec<f64>>,
    pub read_on_s: Sourced<f64>,
    pub read_per_lpos_s: Sourced<f64>,
    pub wrap_start_s: Sourced<[f64; 2]>,
    pub forward_lpos: Sourced<Vec<u32>>,
    pub reverse_lpos: Sourced<Vec<u32>>,
    pub landing_spread_lpos: Known<u32>,
    pub residual_s: Known<f64>,
}

impl LandingValues {
    /// The coefficients without their sources.
    pub fn coefficients(&self) -> LandingCoefficients {
        LandingCoefficients {
            same_wrap_s: self.same_wrap_s.value,
            other_wrap_s: self.other_wrap_s.value,
            band_change_s: self.band_change_s.value.clone(),
            mid_cross_s: self.mid_cross_s.value,
            outside_saves_per_lpos_s: self.outside_saves_per_lpos_s.value,
            travel_s: self.travel_s.value.clone(),
            travel_per_lpos_s: self.travel_per_lpos_s.value.clone(),
            read_on_s: self.read_on_s.value,
            read_per_lpos_s: self.read_per_lpos_s.value,
            wrap_start_s: self.wrap_start_s.value,
            forward_lpos: self.forward_lpos.value.clone(),
            reverse_lpos: self.reverse_lpos.value.clone(),
            landing_spread_lpos: value(&self.landing_spread_lpos).unwrap_or(0),
            residual_s: value(&self.residual_s),
        }
    }
}

impl Stated for LandingValues {
    const NAME: &'static str = "landing-point";
    type Model = LandingModel;

    fn model(&self, shape: &Shape<'_>) -> Option<LandingModel> {
        Some(LandingModel::new(&self.coefficients(), shape.geometry))
    }

    /// A locate ahead in the same direction on another wrap of the band, by the line of long travel, without
    /// the reading.
    fn startup_and_full_s(&self, shape: &Shape<'_>) -> Option<(f64, f64)> {
        let length = f64::from(shape.geometry.wrap_lpos());
        let lines = self.travel_s.value.iter();
        let lines = lines.zip(&self.travel_per_lpos_s.value);
        let (startup_s, pace) = lines.min_by(|a, b| a.1.total_cmp(b.1))?;
        Some((self.other_wrap_s.value[0] + startup_s, pace * length))
    }

    fn fault(&self, bands: u16) -> Option<(&'static str, String)> {
        fault(&self.coefficients(), bands).err()
    }
}

/// Most bands of the landing-point model, which keeps a table of all pairs; LTO has 4.
const MAX_LANDING_BANDS: u16 = 16;

/// What is wrong with coefficients that are each possible: the field, and why.
fn fault(c: &LandingCoefficients, bands: u16) -> Result<(), (&'static str, String)> {
    let pairs = band_pairs(bands);
    if bands > MAX_LANDING_BANDS {
        let reason = format!("is {bands}; the landing-point model has at most {MAX_LANDING_BANDS}");
        return Err(("cartridge.bands", reason));
    }
    if c.band_change_s.len() != pairs {
        let found = c.band_change_s.len();
        let reason = format!("has {found} times, but {bands} bands make {pairs} pairs");
        return Err(("locate.band_change_s", reason));
    }
    if c.travel_s.is_empty() || c.travel_s.len() != c.travel_per_lpos_s.len() {
        let (fixed, paces) = (c.travel_s.len(), c.travel_per_lpos_s.len());
        let reason =
            format!("has {fixed} lines, travel_per_lpos_s has {paces}; as many, at least one");
        return Err(("locate.travel_s", reason));
    }
    let quickest = c
        .travel_per_lpos_s
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min);
    if c.outside_saves_per_lpos_s > quickest {
        let saved = c.outside_saves_per_lpos_s;
        let reason = format!("is {saved}, more than the {quickest} that travel takes");
        return Err(("locate.outside_saves_per_lpos_s", reason));
    }
    let least = c.same_wrap_s.iter().chain(&c.other_wrap_s);
    let least = least.fold(f64::INFINITY, |least, &s| least.min(s));
    if c.mid_cross_s + least < 0.0 {
        let reason = format!(
            "is {}, which makes a move of {least} s take less than nothing",
            c.mid_cross_s
        );
        return Err(("locate.mid_cross_s", reason));
    }
    Ok(())
}
