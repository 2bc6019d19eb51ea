//! A map that learns: positions that the drive reports correct a believed map.
//!
//! Let `p(b)` be the place of block `b` along the serpentine track as the believed map has it (wrap
//! times length of a wrap, plus the way along the wrap), and `p(b) + c(b)` the true one. Wraps hold
//! more or less than believed, so the offset `c` is taken to be a steady rate plus a random walk:
//!
//! ```text
//! c(p) = s p + W(p),   s ~ N(0, tau^2),   W Brownian, variance sigma^2 for each wrap
//! ```
//!
//! It is known at the beginning of a partition (0) and wherever the drive reported where it stood.
//! What follows is the conditional mean and deviation of such a process, in closed form: linear
//! between two knots; behind the last knot, a distance `d` on, at the rate seen,
//!
//! ```text
//! c = c_last + s' d,   s' = c_last / (p_last + sigma^2 / tau^2)
//! sd^2 = sigma^2 d1 d2 / (d1 + d2)                       between knots d1 and d2 away
//! sd^2 = sigma^2 d + d^2 / (1 / tau^2 + p_last / sigma^2)   behind the last
//! ```
//!
//! so the error vanishes at a knot and grows with the distance from it. `tau` is the error that the
//! believed map states, or the rate seen where that is more; `sigma` begins as the map states it and
//! is estimated from the steps between knots as they come in.

use crate::geometry::{Direction, Geometry};
use crate::map::{BlockMap, WrapSpan};
use crate::position::{Position, PositionSource};
use crate::random::Random;
use std::collections::BTreeMap;

/// Steps between knots that the stated wander counts for against what is seen.
const STATED_WEIGHT: f64 = 2.0;

/// Knots nearer to each other than this, in wraps, say nothing of how wraps differ.
const LEAST_STEP_WRAPS: f64 = 0.5;

/// How far a block may lie from where interpolation between the ends of its wrap has it, as a share
/// of the wrap: on the one tape with a public table and a reported position it was 0.7-0.8 %.
const INTERPOLATION_SHARE_OF_WRAP: f64 = 0.008;

/// Where the true place was seen, or is known.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    /// The place as believed, in wraps along the track of the partition.
    along: f64,
    /// How much farther the true place lies, in wraps.
    offset: f64,
    /// Reported by the drive; else known by definition, or from its table.
    seen: bool,
}

/// What is not known of a place: how far it may lie from where it is expected, and together with
/// which others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doubt {
    knot: (u8, u64),
    from: f64,
    length: f64,
    variance: f64,
    rate_variance: f64,
}

impl Doubt {
    /// Variance of the offset along the track, in wraps squared.
    pub fn variance(&self) -> f64 {
        self.covariance(self)
    }

    /// Covariance of the offsets at two places: places between the same two knots err together.
    pub fn covariance(&self, other: &Doubt) -> f64 {
        if self.knot != other.knot || self.length != other.length {
            return 0.0;
        }
        let (near, far) = (self.from.min(other.from), self.from.max(other.from));
        if self.length.is_infinite() {
            return self.variance * near + self.rate_variance * near * far;
        }
        let length = self.length.max(f64::MIN_POSITIVE);
        self.variance * near * (length - far).max(0.0) / length
    }
}

/// A believed map with the positions seen since.
#[derive(Clone, Debug)]
pub struct LearnedMap {
    believed: BlockMap,
    geometry: Geometry,
    /// Knots by partition and block edge: edge `b` is where block `b` begins.
    knots: BTreeMap<(u8, u64), Knot>,
    seen: usize,
    stated_wander: f64,
    wander: f64,
}

impl LearnedMap {
    /// A believed map with nothing seen yet.
    ///
    /// The beginnings of partitions are known, and of all wraps where a drive's table gave them.
    pub fn new(believed: BlockMap, geometry: &Geometry) -> LearnedMap {
        let from_table = believed.source() == PositionSource::EndOfWrapTable;
        let wrap_lpos = f64::from(geometry.wrap_lpos().max(1));
        // Between the ends of a wrap the deviation is at most half the wander.
        let stated_wander = if from_table {
            2.0 * f64::from(believed.lpos_error()) / wrap_lpos
        } else {
            believed.share_error()
        };
        let mut map = LearnedMap {
            geometry: geometry.clone(),
            knots: BTreeMap::new(),
            seen: 0,
            stated_wander,
            wander: stated_wander,
            believed,
        };
        let mut partition = None;
        for span in map.believed.spans().to_vec() {
            if from_table || partition != Some(span.partition) {
                map.know(span.partition, span.first_block, 0.0, false);
            }
            partition = Some(span.partition);
        }
        map
    }

    /// The map believed before anything was seen.
    pub fn believed(&self) -> &BlockMap {
        &self.believed
    }

    /// Number of positions seen.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// How much the capacity of one wrap differs from the next, as a share: what the map states, or
    /// what was seen.
    pub fn wander(&self) -> f64 {
        self.wander
    }

    /// Takes in a position that the drive reported: where block `block` begins, or, `after` it has
    /// been read, where the head stands. A block of a partition that the map lacks teaches nothing.
    pub fn observe(&mut self, block: u64, after: bool, at: &Position) {
        let edge = block.saturating_add(u64::from(after));
        let Some(along) = self.believed_along(at.partition, edge) else {
            return;
        };
        let offset = self.along(at.wrap, at.lpos) - along;
        self.know(at.partition, edge, offset, true);
        self.seen += 1;
        self.estimate_wander();
    }

    /// Where `block` begins, or, with `after`, where the head stands when it has been read; `None`
    /// where the map has no such partition.
    ///
    /// A block beyond the believed end lies beyond it at the rate of the last wrap, at most at the
    /// end of the partition's last wrap: a tape may hold more than was believed. The error stated is
    /// one standard deviation.
    pub fn position(&self, partition: u8, block: u64, after: bool) -> Option<Position> {
        self.displaced(partition, block, after, 0.0)
    }

    /// The same, were it `wraps` farther along the track.
    pub fn displaced(
        &self,
        partition: u8,
        block: u64,
        after: bool,
        wraps: f64,
    ) -> Option<Position> {
        let edge = block.saturating_add(u64::from(after));
        let along = self.believed_along(partition, edge)?;
        let (offset, sd) = self.offset(partition, edge, along);
        let (first, last) = self.wraps(partition)?;
        let (low, high) = (f64::from(first), f64::from(last) + 1.0);
        let place = (along + offset + wraps).clamp(low, high);
        // What ends at the end of a wrap is on that wrap, what begins there is on the next.
        let wrap = if after {
            (place.ceil() - 1.0).max(low)
        } else {
            place.floor().min(high - 1.0)
        };
        let wrap_lpos = f64::from(self.geometry.wrap_lpos());
        let into = ((place - wrap) * wrap_lpos).round() as u32;
        let wrap = wrap as u16;
        let lpos = match self.geometry.direction(wrap) {
            Direction::Forward => self.geometry.lpos_min + into,
            Direction::Reverse => self.geometry.lpos_max.saturating_sub(into),
        };
        Some(Position {
            partition,
            wrap,
            lpos,
            source: self.believed.source(),
            error_lpos: (sd * wrap_lpos).round() as u32,
        })
    }

    /// What is not known of a place, [`LearnedMap::position`]'s arguments alike.
    pub fn doubt(&self, partition: u8, block: u64, after: bool) -> Option<Doubt> {
        let edge = block.saturating_add(u64::from(after));
        let along = self.believed_along(partition, edge)?;
        let (at, before) = self
            .knots
            .range((partition, 0)..=(partition, edge))
            .next_back()?;
        let mut behind = self.knots.range((partition, edge)..=(partition, u64::MAX));
        let length = behind.next().map(|(_, after)| after.along - before.along);
        let rate_variance = match length {
            Some(_) => 0.0,
            None => self.rate(partition, before).1,
        };
        Some(Doubt {
            knot: *at,
            from: along - before.along,
            length: length.unwrap_or(f64::INFINITY),
            variance: self.wander * self.wander,
            rate_variance,
        })
    }

    /// A cartridge as it may be, drawn at random from all that agree with what was seen.
    ///
    /// The offset is drawn at the beginning of every wrap, one after the other, each given those
    /// before it: draws of all wraps together follow the process exactly.
    pub fn drawn(&self, random: &mut Random) -> LearnedMap {
        let mut drawn = self.clone();
        let mut before = None;
        for span in self.believed.spans() {
            let (partition, edge) = (span.partition, span.first_block);
            let same_wrap = before.replace((partition, span.wrap)) == Some((partition, span.wrap));
            if same_wrap || self.knots.contains_key(&(partition, edge)) {
                continue;
            }
            if let Some(along) = drawn.believed_along(partition, edge) {
                let (offset, sd) = drawn.offset(partition, edge, along);
                let offset = offset + sd * random.normal();
                drawn.know(partition, edge, offset, true);
            }
        }
        drawn
    }

    /// The map that was learned: every wrap ends where its end is expected to lie.
    ///
    /// Its error, one standard deviation, is the largest at any beginning of a wrap up to the last
    /// place seen, at least what interpolation within a wrap costs; what it is more at the end of the
    /// map is spread over the blocks as a share of their number.
    pub fn block_map(&self) -> BlockMap {
        let mut spans: Vec<WrapSpan> = Vec::with_capacity(self.believed.spans().len());
        let (mut error, mut share_error) = (INTERPOLATION_SHARE_OF_WRAP, 0.0_f64);
        for believed in self.believed.spans() {
            let partition = believed.partition;
            let before = spans.last().filter(|before| before.partition == partition);
            if before.is_some_and(|before| before.wrap == believed.wrap) {
                continue; // sections of one wrap: learned as a whole
            }
            let first_block = before.map_or(0, |before| before.end_block);
            let end_block = self.edge_at(partition, f64::from(believed.wrap) + 1.0);
            if end_block <= first_block {
                continue; // so much lies before it that nothing is left for this wrap
            }
            if let Some(along) = self.believed_along(partition, first_block) {
                let sd = self.offset(partition, first_block, along).1;
                let mut behind = self
                    .knots
                    .range((partition, first_block)..=(partition, u64::MAX));
                match behind.next() {
                    Some(_) => error = error.max(sd),
                    None => share_error = share_error.max((sd - error).max(0.0) / along.max(1.0)),
                }
            }
            let (near, far) = (self.geometry.lpos_min, self.geometry.lpos_max);
            let (lpos_first, lpos_end) = match self.geometry.direction(believed.wrap) {
                Direction::Forward => (near, far),
                Direction::Reverse => (far, near),
            };
            spans.push(WrapSpan {
                partition,
                wrap: believed.wrap,
                first_block,
                end_block,
                lpos_first,
                lpos_end,
            });
        }
        let lpos_error = (error * f64::from(self.geometry.wrap_lpos())).round() as u32;
        BlockMap::of_sorted(spans, PositionSource::Probed, share_error, lpos_error)
    }

    /// The first block edge of a partition that is expected at `along` or behind, in wraps.
    fn edge_at(&self, partition: u8, along: f64) -> u64 {
        let expected = |edge: u64| {
            let believed = self.believed_along(partition, edge).unwrap_or(0.0);
            believed + self.offset(partition, edge, believed).0
        };
        // Twice what is believed is more than any tape holds.
        let (mut below, mut above) = (0, 2 * self.believed.end_block(partition).max(1));
        while below < above {
            let middle = below + (above - below) / 2;
            if expected(middle) < along {
                below = middle + 1
            } else {
                above = middle
            }
        }
        below
    }

    fn know(&mut self, partition: u8, edge: u64, offset: f64, seen: bool) {
        if let Some(along) = self.believed_along(partition, edge) {
            let knot = Knot {
                along,
                offset,
                seen,
            };
            self.knots.insert((partition, edge), knot);
        }
    }

    /// First and last wrap of a partition.
    fn wraps(&self, partition: u8) -> Option<(u16, u16)> {
        let spans = self.believed.spans();
        let from = spans.partition_point(|span| span.partition < partition);
        let to = spans.partition_point(|span| span.partition <= partition);
        let of_partition = &spans[from..to];
        Some((of_partition.first()?.wrap, of_partition.last()?.wrap))
    }

    /// A physical place in wraps along the track.
    fn along(&self, wrap: u16, lpos: u32) -> f64 {
        let geometry = &self.geometry;
        let lpos = lpos.clamp(geometry.lpos_min, geometry.lpos_max);
        let into = match geometry.direction(wrap) {
            Direction::Forward => lpos - geometry.lpos_min,
            Direction::Reverse => geometry.lpos_max - lpos,
        };
        f64::from(wrap) + f64::from(into) / f64::from(geometry.wrap_lpos().max(1))
    }

    /// The believed place of a block edge in wraps along the track.
    fn believed_along(&self, partition: u8, edge: u64) -> Option<f64> {
        let spans = self.believed.spans();
        let behind =
            spans.partition_point(|span| (span.partition, span.first_block) <= (partition, edge));
        let span = spans[..behind]
            .last()
            .filter(|span| span.partition == partition)?;
        let first = self.along(span.wrap, span.lpos_first);
        let last = self.along(span.wrap, span.lpos_end);
        let blocks = (span.end_block - span.first_block).max(1) as f64;
        Some(first + (last - first) * (edge - span.first_block) as f64 / blocks)
    }

    /// Expected offset at a block edge, and its standard deviation, in wraps.
    fn offset(&self, partition: u8, edge: u64, along: f64) -> (f64, f64) {
        let mut before = self.knots.range((partition, 0)..=(partition, edge));
        let mut after = self.knots.range((partition, edge)..=(partition, u64::MAX));
        let Some((_, before)) = before.next_back() else {
            return (0.0, 0.0); // the beginning of a partition is a knot: nothing lies before it
        };
        let variance = self.wander * self.wander;
        let from = along - before.along;
        let Some((_, after)) = after.next() else {
            let (rate, rate_variance) = self.rate(partition, before);
            let sd = (variance * from + rate_variance * from * from).sqrt();
            return (before.offset + rate * from, sd);
        };
        let to = after.along - along;
        let length = (from + to).max(f64::MIN_POSITIVE);
        let offset = before.offset + (after.offset - before.offset) * from / length;
        (offset, (variance * from * to / length).sqrt())
    }

    /// The rate at which the offset grows behind the last knot, and the variance of it.
    fn rate(&self, partition: u8, last: &Knot) -> (f64, f64) {
        let begin = self.wraps(partition).map_or(0.0, |(first, _)| first.into());
        let passed = last.along - begin;
        let variance = self.wander * self.wander;
        let seen = if passed > 0.0 {
            last.offset / passed
        } else {
            0.0
        };
        let stated = self.believed.share_error();
        let spread = (stated * stated).max(seen * seen);
        if spread == 0.0 {
            return (0.0, 0.0);
        }
        let rate = last.offset / (passed + variance / spread).max(f64::MIN_POSITIVE);
        let certainty = 1.0 / spread + passed / variance.max(f64::MIN_POSITIVE);
        (rate, 1.0 / certainty)
    }

    /// How much wraps differ, from the steps between knots, the stated wander counting for some.
    fn estimate_wander(&mut self) {
        let mut squares = STATED_WEIGHT * self.stated_wander * self.stated_wander;
        let mut steps = STATED_WEIGHT;
        let mut last: Option<(u8, Knot)> = None;
        let mut rate = 0.0;
        for (&(partition, _), &knot) in &self.knots {
            let Some((_, before)) = last.filter(|(of, _)| *of == partition) else {
                let end = self.knots.range((partition, 0)..=(partition, u64::MAX));
                let end = end.last().map_or(knot, |(_, knot)| *knot);
                let passed = (end.along - knot.along).max(f64::MIN_POSITIVE);
                rate = (end.offset - knot.offset) / passed.max(1.0);
                last = Some((partition, knot));
                continue;
            };
            let length = knot.along - before.along;
            if length >= LEAST_STEP_WRAPS {
                if knot.seen || before.seen {
                    let surprise = knot.offset - before.offset - rate * length;
                    squares += surprise * surprise / length;
                    steps += 1.0;
                }
                last = Some((partition, knot));
            }
        }
        self.wander = (squares / steps).sqrt();
    }
}
