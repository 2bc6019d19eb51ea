//! From a profile to what orders need: geometry, locate-time model, rates, nominal map.

use super::{Kind, Known, Locate, Profile, ProfileError};
use crate::geometry::{Geometry, Layout};
use crate::key_points::{KeyPoints, NominalSections, Spread};
use crate::learned_key_points::KeyPointBelief;
use crate::locate::{KeyPointCoefficients, LocateModel, LtoCoefficients, Shape};
use crate::map::{BlockMap, NominalLayout};
use crate::micros::Micros;
use crate::random::Random;
use crate::sourced::value;
use crate::transfer::{Buffer, CompressedRate, DriveCompression, Transfer};

/// The generator's stream for the nominal cartridge, which has no spread.
const NO_SPREAD: Spread = Spread {
    track_sd_segments: 0.0,
    dip_sd_segments: 0.0,
};

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
        let bands = value(&cartridge.bands).unwrap_or(1);
        let fault = self.locate.as_ref().and_then(|locate| locate.fault(bands));
        if let Some((field, reason)) = fault {
            return refuse(field, reason);
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
                .scaled(self.segment_bytes().unwrap_or(1.0) / block_bytes.max(1) as f64);
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
        let Some(Locate::KeyPoint(values)) = &self.locate else {
            return None;
        };
        Some(NominalSections {
            tracks: value(&self.cartridge.wraps)?,
            sections: value(&self.cartridge.sections)?,
            section_segments: values.section_segments.value,
            last_section_segments: values.last_section_segments.value,
        })
    }

    /// How cartridges differ from the nominal one, for drives that are modelled by key points.
    pub fn key_point_spread(&self) -> Option<Spread> {
        let Some(Locate::KeyPoint(values)) = &self.locate else {
            return None;
        };
        Some(Spread {
            track_sd_segments: values.track_sd_segments.value,
            dip_sd_segments: values.dip_sd_segments.value,
        })
    }

    /// Bytes of the segments that key points are counted in.
    pub fn segment_bytes(&self) -> Option<f64> {
        match &self.locate {
            Some(Locate::KeyPoint(values)) => Some(values.segment_kb.value * 1e3),
            _ => None,
        }
    }

    /// What is believed of a cartridge that nothing was timed on, for drives that are modelled by key points.
    ///
    /// Tracks and sections are taken to vary independently, by as much as it takes for a block to be as far from its
    /// nominal place as `nominal_error` says: two standard deviations at the end of the tape.
    pub fn key_point_belief(&self) -> Option<KeyPointBelief> {
        let sections = self.nominal_sections()?;
        let segments = self.nominal_key_points()?.segments() as f64;
        let end_sd = value(&self.cartridge.nominal_error)? * segments / 2.0;
        let track_sd = end_sd / f64::from(sections.tracks).sqrt();
        Some(KeyPointBelief {
            sections,
            spread: Spread {
                track_sd_segments: track_sd,
                dip_sd_segments: track_sd / f64::from(sections.sections).sqrt(),
            },
            coefficients: self.key_point_coefficients()?,
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
        let nominal = self.nominal_key_points();
        let shape = Shape {
            geometry: &self.geometry()?,
            key_points: key_points.or(nominal.as_ref()),
        };
        locate.model(&shape).ok_or_else(unknown)
    }

    /// Fixed time of a seek and additional time across the whole tape, as the locate-time model has
    /// them, in seconds.
    pub(super) fn startup_and_full_s(&self) -> Option<(f64, f64)> {
        let nominal = self.nominal_key_points();
        let shape = Shape {
            geometry: &self.geometry().ok()?,
            key_points: nominal.as_ref(),
        };
        self.locate.as_ref()?.startup_and_full_s(&shape)
    }

    /// The coefficients of the key-point model, if that is the drive's.
    pub fn key_point_coefficients(&self) -> Option<KeyPointCoefficients> {
        match &self.locate {
            Some(Locate::KeyPoint(values)) => Some(values.coefficients()),
            _ => None,
        }
    }

    /// The coefficients of the LTO regression, if that is the drive's.
    pub fn lto_coefficients(&self) -> Option<LtoCoefficients> {
        match &self.locate {
            Some(Locate::LtoRegression(values)) => Some(values.coefficients()),
            _ => None,
        }
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

/// The DLT4000's number of sections, used for other drives by the orders that work by section.
const DEFAULT_SECTIONS: u16 = 14;
