//! The shape of a cartridge: wraps, bands, directions and the range of longitudinal positions.

/// Which way the head reads along a wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Away from the beginning of tape: even wraps.
    Forward,
    /// Towards the beginning of tape: odd wraps.
    Reverse,
}

/// How data lies on the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Wraps to and fro along the tape.
    Serpentine,
    /// Short diagonal stripes: logical order is physical order.
    Helical,
}

/// What is common to all cartridges of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Serpentine or helical.
    pub layout: Layout,
    /// Number of wraps (DLT: tracks; helical: 1).
    pub wraps: u16,
    /// Number of data bands; wraps are split evenly among them in numerical order.
    pub bands: u16,
    /// Lowest LPOS of data.
    pub lpos_min: u32,
    /// Highest LPOS of data.
    pub lpos_max: u32,
    /// Metres of tape for each LPOS unit, where known.
    pub metres_per_lpos: Option<f64>,
    /// Sections a wrap is divided into (DLT4000: 14), for the orders that work by section.
    pub sections: u16,
}

/// How many pairs of different bands there are.
pub fn band_pairs(bands: u16) -> usize {
    let bands = usize::from(bands);
    bands * bands.saturating_sub(1) / 2
}

impl Geometry {
    /// The reading direction of a wrap: even wraps run away from the beginning of tape.
    pub fn direction(&self, wrap: u16) -> Direction {
        if wrap.is_multiple_of(2) {
            Direction::Forward
        } else {
            Direction::Reverse
        }
    }

    /// The data band of a wrap, 0 to `bands - 1`, in the order in which bands are filled.
    /// A wrap beyond the last counts to the last band.
    pub fn band(&self, wrap: u16) -> u16 {
        let wrap = u32::from(wrap.min(self.wraps.saturating_sub(1)));
        (wrap * u32::from(self.bands) / u32::from(self.wraps.max(1))) as u16
    }

    /// The number of a pair of different bands, in the order 0-1, 0-2, ..., 1-2, ...
    pub fn band_pair(&self, a: u16, b: u16) -> Option<usize> {
        let (low, high) = (usize::from(a.min(b)), usize::from(a.max(b)));
        let before: usize = (0..low)
            .map(|band| usize::from(self.bands) - 1 - band)
            .sum();
        (low != high).then(|| before + high - low - 1)
    }

    /// The line across the middle of the tape, in LPOS units.
    pub fn lpos_middle(&self) -> u32 {
        self.lpos_min + (self.lpos_max - self.lpos_min) / 2
    }

    /// The length of a wrap in LPOS units.
    pub fn wrap_lpos(&self) -> u32 {
        self.lpos_max - self.lpos_min
    }

    /// How far along its wrap a place is in reading direction, in LPOS units. A place off the data
    /// counts as the nearer end of it.
    pub fn along(&self, wrap: u16, lpos: u32) -> i64 {
        let lpos = lpos.clamp(self.lpos_min, self.lpos_max);
        i64::from(match self.direction(wrap) {
            Direction::Forward => lpos - self.lpos_min,
            Direction::Reverse => self.lpos_max - lpos,
        })
    }

    /// The tape that passes the head when it streams from one wrap and LPOS on to another, in LPOS
    /// units: to the end of each wrap and on.
    pub fn streamed_lpos(&self, from: (u16, u32), to: (u16, u32)) -> u64 {
        let wraps = i64::from(to.0) - i64::from(from.0);
        let ahead = wraps * i64::from(self.wrap_lpos()) + self.along(to.0, to.1)
            - self.along(from.0, from.1);
        // Positions of a map that is a little wrong can run backward.
        ahead.unsigned_abs()
    }

    /// The section of a longitudinal position, 0 nearest the beginning of tape, all of one length.
    ///
    /// A cartridge with key points knows its own sections better: see [`crate::KeyPoints`].
    pub fn section(&self, lpos: u32) -> u16 {
        let into = u64::from(lpos.clamp(self.lpos_min, self.lpos_max) - self.lpos_min);
        let section = into * u64::from(self.sections) / (u64::from(self.wrap_lpos()) + 1);
        section as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lto8() -> Geometry {
        Geometry {
            layout: Layout::Serpentine,
            wraps: 208,
            bands: 4,
            lpos_min: 2_696,
            lpos_max: 171_097,
            metres_per_lpos: None,
            sections: 14,
        }
    }

    #[test]
    fn lto8_has_52_wraps_in_each_of_four_bands() {
        let geometry = lto8();
        let bands: Vec<u16> = [0, 51, 52, 103, 104, 155, 156, 207]
            .map(|w| geometry.band(w))
            .into();
        assert_eq!(bands, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn sections_run_from_the_beginning_of_tape_to_its_end() {
        let geometry = lto8();
        assert_eq!(geometry.section(0), 0);
        assert_eq!(geometry.section(2_696), 0);
        assert_eq!(geometry.section(171_097), 13);
        assert_eq!(geometry.section(u32::MAX), 13);
    }
}
