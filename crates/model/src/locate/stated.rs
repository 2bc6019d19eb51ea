//! What a profile states of a drive's locate times: the coefficients of its model, each with its source.

use crate::geometry::Geometry;
use crate::key_points::KeyPoints;

/// What models ask of a cartridge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'a> {
    /// Its geometry.
    pub geometry: &'a Geometry,
    /// Its key points, or those of the nominal cartridge, if the drive is modelled by them.
    pub key_points: Option<&'a KeyPoints>,
}

/// The coefficients of a model as a profile has them.
pub(super) trait Stated {
    /// The name of the model, as profiles spell it.
    const NAME: &'static str;

    /// The model.
    type Model;

    /// The model for a cartridge of this shape; `None` if it needs more than is known of it.
    fn model(&self, shape: &Shape<'_>) -> Option<Self::Model>;

    /// Fixed time of a seek, and additional time across the whole tape, in seconds.
    fn startup_and_full_s(&self, shape: &Shape<'_>) -> Option<(f64, f64)>;

    /// What is wrong with values that are each possible, on a cartridge with so many bands: the field, and why.
    fn fault(&self, _bands: u16) -> Option<(&'static str, String)> {
        None
    }
}
