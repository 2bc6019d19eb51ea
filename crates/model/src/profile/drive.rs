//! From a profile to what orders need: geometry, locate-time model, rates, nominal map.

use super::{Kind, Known, Locate, Profile, ProfileError, Sourced};
use crate::geometry::{Geometry, Layout};
use crate::key_points::{KeyPoints, NominalSections, Spread};
use crate::locate::{
    FourRegion, HelicalLinear, KeyPointCoefficients, KeyPointModel, LandingCoefficients,
    LandingModel, LocateModel, LtoCoefficients, LtoRegression, ShortSeek,
};
use crate::map::{BlockMap, NominalLayout};
use crate::micros::{Micros, Pace};
use crate::random::Random;
use crate::transfer::{Buffer, CompressedRate, DriveCompression, Transfer};

fn value<T: Clone>(known: &Known<T>) -> Option<T> {
    known.as_ref().map(|sourced| sourced.value.clone())
}

/// The generator's stream for the nominal cartridge, which has no spread.
const NO_SPREAD: Spread = Spread {
    track_sd_segments: 0.0,
    dip_sd_segments: 0.0,
};

/// Most bands of the landing-point model, which keeps a table of all pairs; LTO has 4.
const MAX_LANDING_BANDS: u16 = 16;

/// What is wrong with coefficients that are each possible: the field, and why.
fn landing_fault(c: &LandingCoefficients, bands: u16) -> Result<(), (&'static str, String)> {
    let pairs = usize::from(bands) * (usize::from(bands).max(1) - 1) / 2;
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

impl Profile {
    /// Refuses values that parse but cannot be.
    pub(super) fn check(&self, file: &str) -> Result<(), ProfileError> {
        let refuse = |field: &str, reason: String| {
            Err(ProfileError::Value {
                file: file.to_owned(),
                field: field.to_owned(),
                reason,
            })
        };
        let cartridge = &self.cartridge;
        if let (Some(low), Some(high)) = (value(&cartridge.lpos_min), value(&cartridge.lpos_max))
            && low >= high
        {
            return refuse(
                "cartridge.lpos_max",
                format!("is {high}, not above lpos_min {low}"),
            );
        }
        if value(&cartridge.lpos_max).is_some_and(|high| high > i32::MAX as u32) {
            return refuse("cartridge.lpos_max", "must fit in 31 bits".to_owned());
        }
        for (field, zero) in [
            ("cartridge.wraps", value(&cartridge.wraps) == Some(0)),
            ("cartridge.bands", value(&cartridge.bands) == Some(0)),
            ("cartridge.sections", value(&cartridge.sections) == Some(0)),
            ("cartridge.wrap_gb", value(&cartridge.wrap_gb) == Some(0.0)),
            (
                "transfer.rate_mb_s",
                value(&self.transfer.rate_mb_s) == Some(0.0),
            ),
        ] {
            if zero {
                return refuse(
                    field,
                    "cannot be 0; leave it out if it is unknown".to_owned(),
                );
            }
        }
        if let Some(Locate::KeyPoint {
            section_segments, ..
        }) = &self.locate
            && section_segments.value == 0
        {
            return refuse("locate.section_segments", "cannot be 0".to_owned());
        }
        if let Some(coefficients) = self.landing_coefficients() {
            let bands = value(&cartridge.bands).unwrap_or(1);
            if let Err((field, reason)) = landing_fault(&coefficients, bands) {
                return refuse(field, reason);
            }
        }
        if self.kind == Kind::Library && self.locate.is_some() {
            return refuse("locate", "a library has no locate-time model".to_owned());
        }
        Ok(())
    }

    fn need<T: Clone>(
        &self,
        known: &Known<T>,
        what: &str,
        consequence: &str,
    ) -> Result<T, ProfileError> {
        value(known).ok_or_else(|| ProfileError::Unknown {
            name: self.name.clone(),
            what: what.to_owned(),
            consequence: consequence.to_owned(),
        })
    }

    /// The shape of a cartridge.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] when the profile leaves out wraps or the LPOS range.
    pub fn geometry(&self) -> Result<Geometry, ProfileError> {
        let without = "requests cannot be placed on the tape";
        let cartridge = &self.cartridge;
        let layout = self.need(&cartridge.layout, "the layout", without)?;
        let lpos_min = value(&cartridge.lpos_min).unwrap_or(0);
        let lpos_max = self.need(&cartridge.lpos_max, "the range of LPOS", without)?;
        let wraps = match layout {
            Layout::Helical => 1,
            Layout::Serpentine => self.need(&cartridge.wraps, "the number of wraps", without)?,
        };
        let usable_m = value(&cartridge.usable_m);
        Ok(Geometry {
            layout,
            wraps,
            bands: value(&cartridge.bands).unwrap_or(1),
            lpos_min,
            lpos_max,
            metres_per_lpos: usable_m.map(|metres| metres / f64::from(lpos_max - lpos_min)),
            sections: value(&cartridge.sections).unwrap_or(DEFAULT_SECTIONS),
        })
    }

    /// Blocks of `block_bytes` that a wrap of nominal length holds, uncompressed.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] when the profile does not say how much a wrap holds.
    pub fn wrap_blocks(&self, block_bytes: u64) -> Result<f64, ProfileError> {
        let gb = self.need(
            &self.cartridge.wrap_gb,
            "what a wrap holds (wrap_gb)",
            "blocks cannot be placed on the tape; give the drive's end-of-wrap table",
        )?;
        Ok(gb * 1e9 / block_bytes.max(1) as f64)
    }

    /// The map of a full cartridge of nominal geometry.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] as [`Profile::geometry`] and [`Profile::wrap_blocks`].
    pub fn nominal_map(
        &self,
        layout: NominalLayout,
        block_bytes: u64,
    ) -> Result<BlockMap, ProfileError> {
        let error = value(&self.cartridge.nominal_error).unwrap_or(0.01);
        if let Some(key_points) = self.nominal_key_points() {
            // Key points count segments; blocks of another size fit another number of times.
            let map = key_points
                .block_map()
                .scaled(self.segment_bytes() / block_bytes.max(1) as f64);
            let source = crate::position::PositionSource::Nominal;
            return Ok(map.with_errors(source, error, 0));
        }
        Ok(BlockMap::nominal(
            &self.geometry()?,
            layout,
            self.wrap_blocks(block_bytes)?,
            error,
        ))
    }

    /// Bytes of the segments that key points are counted in.
    fn segment_bytes(&self) -> f64 {
        match &self.locate {
            Some(Locate::KeyPoint { segment_kb, .. }) => segment_kb.value * 1e3,
            _ => 1.0,
        }
    }

    /// How an LTFS volume of this kind is partitioned, `None` where the medium has one partition.
    pub fn ltfs_layout(&self) -> Option<NominalLayout> {
        Some(NominalLayout::Ltfs {
            index_wraps: value(&self.cartridge.ltfs_index_wraps)?,
            guard_wraps: value(&self.cartridge.guard_wraps)?,
        })
    }

    /// The nominal key points, for drives that are modelled by them.
    pub fn nominal_key_points(&self) -> Option<KeyPoints> {
        let nominal = self.nominal_sections()?;
        Some(KeyPoints::generate(
            nominal,
            NO_SPREAD,
            &mut Random::new(0, 0),
        ))
    }

    /// The nominal sections, for drives that are modelled by key points.
    pub fn nominal_sections(&self) -> Option<NominalSections> {
        let Some(Locate::KeyPoint {
            section_segments,
            last_section_segments,
            ..
        }) = &self.locate
        else {
            return None;
        };
        Some(NominalSections {
            tracks: value(&self.cartridge.wraps)?,
            sections: value(&self.cartridge.sections)?,
            section_segments: section_segments.value,
            last_section_segments: last_section_segments.value,
        })
    }

    /// How cartridges differ from the nominal one, for drives that are modelled by key points.
    pub fn key_point_spread(&self) -> Option<Spread> {
        let Some(Locate::KeyPoint {
            track_sd_segments,
            dip_sd_segments,
            ..
        }) = &self.locate
        else {
            return None;
        };
        Some(Spread {
            track_sd_segments: track_sd_segments.value,
            dip_sd_segments: dip_sd_segments.value,
        })
    }

    /// The locate-time model of a cartridge with the given key points, or of the nominal one.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] when too little is known of the drive to predict times.
    pub fn locate_model(
        &self,
        key_points: Option<&KeyPoints>,
    ) -> Result<LocateModel, ProfileError> {
        let unknown = || ProfileError::Unknown {
            name: self.name.clone(),
            what: "a locate-time model".to_owned(),
            consequence: "times cannot be predicted nor requests ordered".to_owned(),
        };
        let locate = self.locate.as_ref().ok_or_else(unknown)?;
        if let Locate::KeyPoint { .. } = locate {
            let nominal = self.nominal_key_points().ok_or_else(unknown)?;
            let coefficients = self.key_point_coefficients().ok_or_else(unknown)?;
            let key_points = key_points.unwrap_or(&nominal);
            return Ok(LocateModel::KeyPoint(KeyPointModel::new(
                &coefficients,
                key_points,
            )));
        }
        let geometry = self.geometry()?;
        Ok(match locate {
            Locate::HelicalLinear {
                startup_s,
                full_s,
                startup_hinted_s,
                short_startup_s,
                short_s_per_gb,
            } => {
                let short = value(short_startup_s).zip(value(short_s_per_gb));
                let short = short.map(|(startup_s, s_per_gb)| ShortSeek {
                    startup: Micros::from_secs_f64(startup_s),
                    pace: Pace::over(s_per_gb, LPOS_PER_GB),
                });
                let seek = HelicalLinear::new(
                    startup_s.value,
                    full_s.value,
                    geometry.lpos_min,
                    geometry.lpos_max,
                    short,
                );
                LocateModel::HelicalLinear(seek.with_hints(value(startup_hinted_s)))
            }
            Locate::FourRegion {
                ahead_s,
                ahead_s_per_track,
                behind_s,
                behind_s_per_track,
                offset_tracks,
            } => LocateModel::FourRegion(FourRegion::new(
                [ahead_s.value, ahead_s_per_track.value],
                [behind_s.value, behind_s_per_track.value],
                offset_tracks.value,
                geometry.lpos_min,
                geometry.lpos_max,
            )),
            Locate::LtoRegression { .. } => {
                let coefficients = self.lto_coefficients().ok_or_else(unknown)?;
                LocateModel::LtoRegression(LtoRegression::new(&coefficients, &geometry))
            }
            Locate::LandingPoint(_) => {
                let coefficients = self.landing_coefficients().ok_or_else(unknown)?;
                LocateModel::LandingPoint(LandingModel::new(&coefficients, &geometry))
            }
            Locate::KeyPoint { .. } => return Err(unknown()),
        })
    }

    /// The coefficients of the key-point model, if that is the drive's.
    pub fn key_point_coefficients(&self) -> Option<KeyPointCoefficients> {
        let Some(Locate::KeyPoint {
            read_s_per_section,
            scan_s_per_section,
            section_segments,
            case_s,
            residual_s,
            ..
        }) = &self.locate
        else {
            return None;
        };
        Some(KeyPointCoefficients {
            read_s_per_section: read_s_per_section.value,
            scan_s_per_section: scan_s_per_section.value,
            section_segments: section_segments.value,
            case_s: case_s.value,
            residual_s: value(residual_s),
        })
    }

    /// The coefficients of the LTO regression, if that is the drive's.
    pub fn lto_coefficients(&self) -> Option<LtoCoefficients> {
        let Some(Locate::LtoRegression {
            intercept_s,
            wrap_change_s,
            band_change_s,
            mid_cross_s,
            direction_change_s,
            step_back_s,
            per_lpos_s,
            residual_s,
        }) = &self.locate
        else {
            return None;
        };
        let seconds = |sourced: &Sourced<f64>| sourced.value;
        Some(LtoCoefficients {
            intercept_s: seconds(intercept_s),
            wrap_change_s: seconds(wrap_change_s),
            band_change_s: seconds(band_change_s),
            mid_cross_s: seconds(mid_cross_s),
            direction_change_s: seconds(direction_change_s),
            step_back_s: seconds(step_back_s),
            per_lpos_s: seconds(per_lpos_s),
            residual_s: seconds(residual_s),
        })
    }

    /// The coefficients of the landing-point model, if that is the drive's.
    pub fn landing_coefficients(&self) -> Option<LandingCoefficients> {
        let Some(Locate::LandingPoint(values)) = &self.locate else {
            return None;
        };
        Some(LandingCoefficients {
            same_wrap_s: values.same_wrap_s.value,
            other_wrap_s: values.other_wrap_s.value,
            band_change_s: values.band_change_s.value.clone(),
            mid_cross_s: values.mid_cross_s.value,
            outside_saves_per_lpos_s: values.outside_saves_per_lpos_s.value,
            travel_s: values.travel_s.value.clone(),
            travel_per_lpos_s: values.travel_per_lpos_s.value.clone(),
            read_on_s: values.read_on_s.value,
            read_per_lpos_s: values.read_per_lpos_s.value,
            wrap_start_s: values.wrap_start_s.value,
            forward_lpos: values.forward_lpos.value.clone(),
            reverse_lpos: values.reverse_lpos.value.clone(),
            landing_spread_lpos: value(&values.landing_spread_lpos).unwrap_or(0),
            residual_s: value(&values.residual_s),
        })
    }

    /// What the profile says of streaming.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] when the rate is not known.
    pub fn transfer(&self) -> Result<Transfer, ProfileError> {
        let transfer = &self.transfer;
        let rate_mb_s = self.need(
            &transfer.rate_mb_s,
            "the streaming rate",
            "times cannot be predicted",
        )?;
        let curve = |known: &Known<[f64; 2]>| value(known).map(|[a, b]| CompressedRate { a, b });
        let turnaround_s = value(&self.handling.turnaround_s).unwrap_or(0.0);
        Ok(Transfer {
            rate_mb_s,
            turnaround: Micros::from_secs_f64(turnaround_s),
            compressed_read: curve(&transfer.read_s_per_mb),
            compressed_write: curve(&transfer.write_s_per_mb),
            compression: value(&transfer.compression_ratio).map(|[a, b]| DriveCompression { a, b }),
            buffer: Buffer {
                delay_tolerance: value(&transfer.read_delay_ms)
                    .map(|ms| Micros::from_secs_f64(ms / 1e3)),
                size_mb: value(&transfer.buffer_mb),
                restart: value(&transfer.restart_s).map(Micros::from_secs_f64),
            },
        })
    }
}

/// Longitudinal positions on helical tape count decimal kilobytes.
const LPOS_PER_GB: f64 = 1e6;

/// The DLT4000's number of sections, used for other drives by the orders that work by section.
const DEFAULT_SECTIONS: u16 = 14;
