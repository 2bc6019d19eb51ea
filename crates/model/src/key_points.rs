//! The key points of a DLT4000 cartridge: where its tracks and sections begin.

use crate::geometry::Geometry;
use crate::map::{BlockMap, WrapSpan};
use crate::position::PositionSource;
use crate::random::Random;

/// Segment numbers at which the tracks and sections of one cartridge begin (Hillyer &
/// Silberschatz 1996, section 3).
///
/// Longitudinal positions count segments from the beginning of tape, so that a forward track runs
/// from 0 up and a reverse track from where tracks usually end down. Usually: a track that holds more
/// or less than the others does not move where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPoints {
    /// For each track the first segment of each section in reading order.
    starts: Vec<Vec<u64>>,
    /// One past the last segment of the tape.
    segments: u64,
    /// Where reverse tracks begin: the length of the median track, in segments.
    turn: u32,
    /// Length of the longest track, in segments.
    length: u32,
    /// How far they may be off, in segments: one standard deviation.
    error: u32,
}

/// How the tracks and sections of cartridges differ from the nominal ones.
///
/// The paper says that they differ and does not publish by how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Standard deviation of a track's length, in segments.
    pub track_sd_segments: f64,
    /// Standard deviation of a section boundary's place, in segments.
    pub dip_sd_segments: f64,
}

/// The nominal sizes of a cartridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NominalSections {
    /// Number of tracks.
    pub tracks: u16,
    /// Sections of a track.
    pub sections: u16,
    /// Segments of a section.
    pub section_segments: u32,
    /// Segments of the section farthest from the beginning of tape.
    pub last_section_segments: u32,
}

impl KeyPoints {
    /// Key points from the first segment of each section, by track, in reading order.
    ///
    /// # Errors
    /// Gives the reason in words when the numbers do not strictly increase along the tape.
    pub fn new(starts: Vec<Vec<u64>>, segments: u64) -> Result<KeyPoints, String> {
        let flat: Vec<u64> = starts.iter().flatten().copied().chain([segments]).collect();
        if let Some(at) = flat.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(format!(
                "key point {} is not after key point {}",
                flat[at + 1],
                flat[at]
            ));
        }
        if starts.first().and_then(|track| track.first()) != Some(&0) {
            return Err("the first key point must be segment 0".to_owned());
        }
        if starts.iter().any(|track| track.len() != starts[0].len()) {
            return Err(format!(
                "every track must have {} key points",
                starts[0].len()
            ));
        }
        Ok(KeyPoints::build(starts, segments))
    }

    pub(crate) fn build(starts: Vec<Vec<u64>>, segments: u64) -> KeyPoints {
        let track_ends = starts
            .iter()
            .skip(1)
            .map(|track| track[0])
            .chain([segments]);
        let mut lengths: Vec<u64> = starts
            .iter()
            .zip(track_ends)
            .map(|(track, end)| end - track[0])
            .collect();
        lengths.sort_unstable();
        let length = |at: usize| lengths.get(at).map_or(0, |&length| length as u32);
        KeyPoints {
            turn: length(lengths.len() / 2),
            length: length(lengths.len().saturating_sub(1)),
            starts,
            segments,
            error: 0,
        }
    }

    /// The same key points where they may be off by this much, in segments: one standard deviation.
    #[must_use]
    pub fn with_error(self, error: u32) -> KeyPoints {
        KeyPoints { error, ..self }
    }

    /// How far they may be off, in segments: 0 where each was found by timing.
    pub fn error(&self) -> u32 {
        self.error
    }

    /// A cartridge drawn at random around the nominal one: each track's length and each section
    /// boundary's place vary independently, normally, with the given spread.
    pub fn generate(nominal: NominalSections, spread: Spread, random: &mut Random) -> KeyPoints {
        let mut starts = Vec::new();
        let mut next = 0u64;
        for track in 0..nominal.tracks {
            // A reverse track begins at the far end, with the short section.
            let short_section = if track.is_multiple_of(2) {
                nominal.sections - 1
            } else {
                0
            };
            let mut places = vec![0.0f64];
            let mut boundary = 0.0;
            for section in 0..nominal.sections {
                let size = if section == short_section {
                    nominal.last_section_segments
                } else {
                    nominal.section_segments
                };
                boundary += f64::from(size);
                let is_end = section == nominal.sections - 1;
                let sd = if is_end {
                    spread.track_sd_segments
                } else {
                    spread.dip_sd_segments
                };
                let place = (boundary + random.normal() * sd).round();
                // A spread as wide as a section must not fold one boundary over another.
                places.push(place.max(places[places.len() - 1] + 1.0));
            }
            let length = places.pop().unwrap_or(0.0) as u64;
            starts.push(places.iter().map(|&place| next + place as u64).collect());
            next += length;
        }
        KeyPoints::build(starts, next)
    }

    /// Number of segments on the cartridge.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Length of the longest track in segments: the far end of the tape.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Number of tracks.
    pub fn tracks(&self) -> u16 {
        self.starts.len() as u16
    }

    /// Sections of a track.
    pub fn sections(&self) -> u16 {
        self.starts.first().map_or(0, |track| track.len() as u16)
    }

    /// The first segments of a track's sections, in reading order.
    pub fn track(&self, track: u16) -> &[u64] {
        &self.starts[usize::from(track)]
    }

    /// The longitudinal position of a segment of a track.
    fn lpos(&self, track: u16, segment: u64) -> u32 {
        let into = (segment - self.track(track)[0]) as u32;
        if track.is_multiple_of(2) {
            into
        } else {
            self.turn.saturating_sub(into)
        }
    }

    /// The longitudinal positions at which a track's sections begin, in reading order.
    pub fn section_lpos(&self, track: u16) -> Vec<u32> {
        self.track(track)
            .iter()
            .map(|&segment| self.lpos(track, segment))
            .collect()
    }

    /// The map from blocks (segments) to places that these key points give.
    pub fn block_map(&self) -> BlockMap {
        let mut spans = Vec::new();
        for track in 0..self.tracks() {
            let starts = self.track(track);
            let track_end = self
                .starts
                .get(usize::from(track) + 1)
                .map_or(self.segments, |t| t[0]);
            for (section, &first) in starts.iter().enumerate() {
                let end = starts.get(section + 1).copied().unwrap_or(track_end);
                spans.push(WrapSpan {
                    partition: 0,
                    wrap: track,
                    first_block: first,
                    end_block: end,
                    lpos_first: self.lpos(track, first),
                    lpos_end: self.lpos(track, end),
                });
            }
        }
        BlockMap::of_sorted(spans, PositionSource::KeyPoints, 0.0, self.error)
    }

    /// The geometry of the cartridge, `nominal` with this cartridge's length, tracks and sections.
    pub fn geometry(&self, nominal: &Geometry) -> Geometry {
        Geometry {
            lpos_min: 0,
            lpos_max: self.length,
            wraps: self.tracks(),
            sections: self.sections(),
            ..nominal.clone()
        }
    }
}
