//! One cartridge's tape: how much each wrap takes, where on the tape a byte lies, and where a fast
//! search can land.
//!
//! Everything here is fixed by kind and seed. Bytes are *recorded* bytes, after compression and
//! format; `with_scale` lets one stored byte stand for many recorded ones.

use crate::shape::{Landings, Shape};
use tapewise_model::Random;

/// The random streams of a cartridge's seed.
const DENSITY_STREAM: u64 = 0x7461_7065;
const LANDING_STREAM: u64 = 0x6c61_6e64;

/// What a filemark takes of the tape, in bytes: not published for any drive, assumed.
pub(crate) const FILEMARK_BYTES: u64 = 512;

/// Stretches of one density on a wrap of a drive without sections; assumed.
const STRETCHES: u16 = 16;

/// A place of the head on the tape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// The wrap under the head.
    pub wrap: u16,
    /// The longitudinal position, in LPOS units from the beginning of tape.
    pub lpos: f64,
}

/// Why a tape cannot be cut as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TapeError {
    /// The partitions and the wraps between them do not fit.
    #[error("partitions need {needed} wraps with what lies between them, and the tape has {wraps}")]
    TooLong {
        /// Wraps asked for, guard wraps included.
        needed: u32,
        /// Wraps of the tape.
        wraps: u16,
    },
    /// A partition without wraps, or no partition at all.
    #[error("every tape has a partition, and every partition a wrap")]
    Empty,
}

/// One wrap: bytes against places, in straight pieces.
#[derive(Clone, Debug, PartialEq)]
struct Track {
    /// Bytes before, and place of, each piece's beginning and the last one's end.
    corners: Vec<(u64, f64)>,
    /// Where a fast search can end, in reading order.
    landings: Vec<f64>,
}

impl Track {
    fn bytes(&self) -> u64 {
        self.corners.last().map_or(0, |corner| corner.0)
    }

    fn lpos(&self, byte: u64) -> f64 {
        let piece = self.corners.partition_point(|corner| corner.0 <= byte);
        let piece = piece.clamp(1, self.corners.len() - 1);
        let ((from, lpos), (to, end)) = (self.corners[piece - 1], self.corners[piece]);
        lpos + (end - lpos) * (byte - from).min(to - from) as f64 / (to - from).max(1) as f64
    }

    fn byte(&self, lpos: f64) -> u64 {
        let ahead = |place: f64| (place - self.corners[0].1).abs();
        let piece = self
            .corners
            .partition_point(|corner| ahead(corner.1) <= ahead(lpos));
        let piece = piece.clamp(1, self.corners.len() - 1);
        let ((from, start), (to, end)) = (self.corners[piece - 1], self.corners[piece]);
        let share = ((lpos - start) / (end - start)).clamp(0.0, 1.0);
        from + ((to - from) as f64 * share) as u64
    }
}

/// The wraps of a partition, and the recorded bytes before each of them.
#[derive(Clone, Debug, PartialEq)]
struct Partition {
    first_wrap: u16,
    /// One more than it has wraps.
    starts: Vec<u64>,
}

/// One cartridge's tape.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    shape: Shape,
    scale: u64,
    tracks: Vec<Track>,
    partitions: Vec<Partition>,
}

impl Tape {
    /// The tape of a cartridge, as one partition.
    pub fn new(shape: &Shape, seed: u64) -> Tape {
        let shape = shape.clone();
        let mut density = Random::new(seed, DENSITY_STREAM);
        let mut landing = Random::new(seed, LANDING_STREAM);
        let phase = landing.normal() * shape.spread.landing_sd_lpos;
        let tracks: Vec<Track> = (0..shape.wraps)
            .map(|wrap| {
                let corners = corners(&shape, wrap, &mut density);
                let landings = landings(&shape, wrap, corners[0].1, phase, &mut landing);
                Track { corners, landings }
            })
            .collect();
        let mut tape = Tape {
            shape,
            scale: 1,
            tracks,
            partitions: Vec::new(),
        };
        tape.partitions = vec![tape.partition_of(0, tape.shape.wraps)];
        tape
    }

    /// The same tape, one stored byte standing for `scale` recorded ones: a small file fills a
    /// large tape, at the times and distances of the large one. A scale of 0 is taken as 1.
    pub fn with_scale(mut self, scale: u64) -> Tape {
        self.scale = scale.max(1);
        self
    }

    /// The same tape cut into partitions of so many wraps, partition 0 at wrap 0, with the kind's
    /// guard wraps between them.
    ///
    /// # Errors
    /// [`TapeError::TooLong`] or [`TapeError::Empty`].
    pub fn with_partitions(mut self, wraps: &[u16]) -> Result<Tape, TapeError> {
        if wraps.is_empty() || wraps.contains(&0) {
            return Err(TapeError::Empty);
        }
        let guards = u32::from(self.shape.guard_wraps) * (wraps.len() as u32 - 1);
        let needed = wraps.iter().map(|&count| u32::from(count)).sum::<u32>() + guards;
        if needed > u32::from(self.shape.wraps) {
            let wraps = self.shape.wraps;
            return Err(TapeError::TooLong { needed, wraps });
        }
        let mut first = 0;
        self.partitions = wraps
            .iter()
            .map(|&count| {
                let partition = self.partition_of(first, count);
                first += count + self.shape.guard_wraps;
                partition
            })
            .collect();
        Ok(self)
    }

    fn partition_of(&self, first_wrap: u16, wraps: u16) -> Partition {
        let tracks = &self.tracks[usize::from(first_wrap)..usize::from(first_wrap + wraps)];
        let mut starts = vec![0];
        let mut bytes = 0;
        for track in tracks {
            bytes += track.bytes();
            starts.push(bytes);
        }
        Partition { first_wrap, starts }
    }

    /// Recorded bytes for each stored one.
    pub fn scale(&self) -> u64 {
        self.scale
    }

    /// What all cartridges of the kind have in common.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of partitions.
    pub fn partitions(&self) -> u8 {
        self.partitions.len() as u8
    }

    /// Wraps of a partition; 0 where there is no such partition.
    pub fn partition_wraps(&self, partition: u8) -> u16 {
        let partition = self.partitions.get(usize::from(partition));
        partition.map_or(0, |partition| partition.starts.len() as u16 - 1)
    }

    /// Stored bytes that a partition takes; 0 where there is no such partition.
    pub fn capacity(&self, partition: u8) -> u64 {
        let partition = self.partitions.get(usize::from(partition));
        partition
            .and_then(|partition| partition.starts.last())
            .map_or(0, |bytes| bytes / self.scale)
    }

    /// The stored offset from which on a drive warns of a partition's end.
    ///
    /// Assumed: the last 5 % of its last wrap.
    pub fn early_warning(&self, partition: u8) -> u64 {
        let Some(found) = self.partitions.get(usize::from(partition)) else {
            return 0;
        };
        let wraps = found.starts.len();
        let last_wrap = found.starts[wraps - 1] - found.starts[wraps - 2];
        self.capacity(partition) - last_wrap / 20 / self.scale
    }

    /// Where a stored byte lies. What is beyond the end lies at the end, and what is in a partition
    /// that does not exist, at the beginning of tape.
    pub fn place(&self, partition: u8, offset: u64) -> Spot {
        let Some(found) = self.partitions.get(usize::from(partition)) else {
            return self.load_point();
        };
        let recorded = offset.saturating_mul(self.scale);
        let wraps = found.starts.len() - 1;
        let index = found.starts.partition_point(|&start| start <= recorded);
        let index = index.clamp(1, wraps) - 1;
        let wrap = found.first_wrap + index as u16;
        let lpos = self.tracks[usize::from(wrap)].lpos(recorded - found.starts[index]);
        Spot { wrap, lpos }
    }

    /// The stored byte at a place, with its partition; `None` on a guard wrap.
    pub fn offset(&self, spot: Spot) -> Option<(u8, u64)> {
        let (partition, index) = self.partition_at(spot.wrap)?;
        let byte = self.tracks[usize::from(spot.wrap)].byte(spot.lpos);
        let recorded = self.partitions[usize::from(partition)].starts[index] + byte;
        Some((partition, recorded / self.scale))
    }

    /// Partition, and stored offset of the first byte that is not on this wrap any more; `None` on
    /// a guard wrap.
    pub fn end_of_wrap(&self, wrap: u16) -> Option<(u8, u64)> {
        let (partition, index) = self.partition_at(wrap)?;
        let end = self.partitions[usize::from(partition)].starts[index + 1];
        Some((partition, end.div_ceil(self.scale)))
    }

    /// The partition of a wrap, and the wrap's number in it.
    fn partition_at(&self, wrap: u16) -> Option<(u8, usize)> {
        self.partitions
            .iter()
            .enumerate()
            .find_map(|(number, partition)| {
                let index = usize::from(wrap.checked_sub(partition.first_wrap)?);
                (index + 1 < partition.starts.len()).then_some((number as u8, index))
            })
    }

    /// Wrap ends that lie between two stored offsets of a partition.
    pub fn wrap_ends_between(&self, partition: u8, from: u64, to: u64) -> u16 {
        self.place(partition, to)
            .wrap
            .saturating_sub(self.place(partition, from).wrap)
    }

    /// Where the tape lies when a rewound cartridge is loaded.
    pub fn load_point(&self) -> Spot {
        let first = self.tracks.first().map_or(0.0, |track| track.corners[0].1);
        let middle = self.shape.lpos_max - self.shape.lpos_min;
        let lpos = first + middle * self.shape.load_point;
        Spot { wrap: 0, lpos }
    }

    /// Where a wrap's data begins and ends, in LPOS, in reading order.
    pub fn wrap_span(&self, wrap: u16) -> Option<(f64, f64)> {
        let corners = &self.tracks.get(usize::from(wrap))?.corners;
        Some((corners.first()?.1, corners.last()?.1))
    }

    /// Where on a wrap a fast search can end, in reading order, the wrap's beginning first.
    pub fn landings(&self, wrap: u16) -> &[f64] {
        self.tracks
            .get(usize::from(wrap))
            .map_or(&[], |track| &track.landings)
    }

    /// The data band of a wrap.
    pub fn band(&self, wrap: u16) -> u16 {
        let (bands, wraps) = (u32::from(self.shape.bands), u32::from(self.shape.wraps));
        (u32::from(wrap) * bands / wraps.max(1)) as u16
    }

    /// Metres of tape between two longitudinal positions.
    pub fn metres(&self, from_lpos: f64, to_lpos: f64) -> f64 {
        (to_lpos - from_lpos).abs() * self.shape.metres_per_lpos
    }

    /// Bytes recorded on a metre of a wrap, on average.
    pub fn bytes_per_metre(&self) -> f64 {
        self.shape.wrap_bytes / self.metres(self.shape.lpos_min, self.shape.lpos_max)
    }
}

/// Whether a wrap is read away from the beginning of tape.
pub(crate) fn is_forward(wrap: u16) -> bool {
    wrap.is_multiple_of(2)
}

/// A wrap's bytes against places: of one density where wraps have sections (there bad spots shorten
/// the track), else in stretches that differ.
fn corners(shape: &Shape, wrap: u16, random: &mut Random) -> Vec<(u64, f64)> {
    let spread = &shape.spread;
    let length = shape.lpos_max - shape.lpos_min;
    let shift = (random.normal() * spread.wrap_end_sd_lpos).clamp(-0.02 * length, 0.02 * length);
    // The wrap's last place moves; where it begins is where the head turned around.
    let (start, end) = if is_forward(wrap) {
        (shape.lpos_min, shape.lpos_max + shift)
    } else {
        (shape.lpos_max, shape.lpos_min - shift)
    };
    let sections = matches!(shape.landings, Landings::Sections { .. });
    let stretches = if sections { 1 } else { STRETCHES };
    let nominal = shape.wrap_bytes * (end - start).abs() / length / f64::from(stretches);
    let mut corners = vec![(0, start)];
    let mut bytes = 0.0;
    for stretch in 1..=stretches {
        let mut share = 1.0 + spread.density_sd * random.normal();
        if random.unit() < spread.bad_spot_chance {
            share -= random.unit() * spread.bad_spot_most;
        }
        bytes += (nominal * share.max(0.1)).round();
        let along = f64::from(stretch) / f64::from(stretches);
        corners.push((bytes as u64, start + (end - start) * along));
    }
    corners
}

/// The landing points of a wrap that begins at `start`, in reading order.
fn landings(shape: &Shape, wrap: u16, start: f64, phase: f64, random: &mut Random) -> Vec<f64> {
    let length = shape.lpos_max - shape.lpos_min;
    let steps: Vec<f64> = match shape.landings {
        Landings::Anywhere => return Vec::new(),
        Landings::Sections { count, last } => {
            let section = length / (f64::from(count) - 1.0 + last);
            (1..count).map(|step| f64::from(step) * section).collect()
        }
        Landings::Every { metres } => {
            let step = metres / shape.metres_per_lpos;
            let count = (length / step).ceil() as u32;
            (1..count)
                .map(|number| f64::from(number) * step + phase)
                .collect()
        }
    };
    let mut places: Vec<f64> = steps
        .into_iter()
        .map(|step| shape.lpos_min + step + random.normal() * shape.spread.landing_sd_lpos)
        .collect();
    if !is_forward(wrap) {
        places.reverse();
    }
    // Spread must not put one landing point before another, nor before the wrap's beginning.
    let mut ordered = vec![start];
    let sign = if is_forward(wrap) { 1.0 } else { -1.0 };
    for place in places {
        let last = ordered[ordered.len() - 1];
        if (place - last) * sign > 0.0 {
            ordered.push(place);
        }
    }
    ordered
}
