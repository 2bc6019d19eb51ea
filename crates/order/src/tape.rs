//! The drive and cartridge that a batch is read on.

use tapewise_model::profile::ProfileError;
use tapewise_model::{Geometry, KeyPoints, LocateModel, Point, Position, Profile, Transfer};

/// The drive and cartridge that a batch is read on.
#[derive(Clone, Debug)]
pub struct Tape {
    /// Shape of the cartridge.
    pub geometry: Geometry,
    /// Time from place to place.
    pub model: LocateModel,
    /// Streaming.
    pub transfer: Transfer,
    /// Bytes on a wrap that is full.
    pub wrap_bytes: f64,
}

impl Tape {
    /// The tape that passes the head from one place to another, in LPOS units: streaming, it runs
    /// to the end of each wrap and on.
    pub fn distance_lpos(&self, from: &Position, to: &Position, streaming: bool) -> u64 {
        if streaming {
            (self.geometry).streamed_lpos((from.wrap, from.lpos), (to.wrap, to.lpos))
        } else {
            u64::from(from.lpos.abs_diff(to.lpos))
        }
    }

    /// The drive of a profile with a cartridge of these key points, or the nominal one.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] where the profile knows too little.
    pub fn new(profile: &Profile, key_points: Option<&KeyPoints>) -> Result<Tape, ProfileError> {
        let nominal = profile.geometry()?;
        Ok(Tape {
            geometry: key_points.map_or(nominal.clone(), |points| points.geometry(&nominal)),
            model: profile.locate_model(key_points)?,
            transfer: profile.transfer()?,
            wrap_bytes: profile.wrap_blocks(1)?,
        })
    }

    /// The section of a point: the cartridge's own where its key points are known, else equal parts.
    pub fn section(&self, point: &Point) -> u16 {
        self.model
            .section(point)
            .unwrap_or_else(|| self.geometry.section(point.lpos as u32))
    }
}
