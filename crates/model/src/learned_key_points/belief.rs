//! What locates are, and what is believed of a cartridge before they tell more.

use crate::key_points::{NominalSections, Spread};
use crate::locate::KeyPointCoefficients;
use crate::micros::Micros;

/// Standard error of a locate in seconds where no profile states one.
const USUAL_NOISE_S: f64 = 1.0;

/// A locate from one segment to another, and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedLocate {
    /// The segment before which the head stood.
    pub from: u64,
    /// The segment that was located.
    pub to: u64,
    /// How long that took.
    pub time: Micros,
}

/// What is believed of a cartridge and its drive before anything was timed.
#[derive(Clone, Debug)]
pub struct KeyPointBelief {
    /// The nominal sizes.
    pub sections: NominalSections,
    /// How cartridges differ from them.
    pub spread: Spread,
    /// Speeds, which are taken as they are, and constants, which are learned.
    pub coefficients: KeyPointCoefficients,
}

impl KeyPointBelief {
    pub(super) fn tracks(&self) -> usize {
        usize::from(self.sections.tracks)
    }

    pub(super) fn sections(&self) -> usize {
        usize::from(self.sections.sections)
    }

    /// Where the sections of a track nominally begin, in reading order, from its beginning.
    pub(super) fn nominal(&self, track: usize) -> impl Iterator<Item = f64> + use<> {
        let (usual, last) = (
            f64::from(self.sections.section_segments),
            f64::from(self.sections.last_section_segments),
        );
        // A reverse track begins with the short section.
        let short = if track.is_multiple_of(2) {
            0.0
        } else {
            usual - last
        };
        (0..self.sections()).map(move |section| match section {
            0 => 0.0,
            _ => section as f64 * usual - short,
        })
    }

    /// What a track holds in the mean: by the end of the tape where that is known.
    pub(super) fn track_length(&self, end: Option<u64>) -> f64 {
        let sections = f64::from(self.sections.sections) - 1.0;
        let nominal = sections * f64::from(self.sections.section_segments)
            + f64::from(self.sections.last_section_segments);
        end.map_or(nominal, |end| end as f64 / self.tracks() as f64)
    }

    /// Standard error of a locate, in seconds.
    pub(super) fn noise_s(&self) -> f64 {
        self.coefficients.residual_s.unwrap_or(USUAL_NOISE_S)
    }
}
