//! Where blocks lie along the serpentine track: a rate, and a bend built of hats.
//!
//! Let `x` be a block's number over the nominal blocks of a wrap: its place along the track in
//! wraps, were the tape nominal. Its true place is taken to be
//!
//! ```text
//! p(x) = (1 + r) x + sum of a_k h_k(x)
//! ```
//!
//! with hats `h_k` of height 1 on halves, quarters, eighths ... of `[0, S]`, the part of the tape
//! that was moved on. When wraps hold more or less than each other by chance, `p` wanders like
//! Brownian motion; in this basis (P. Levy's construction of it) all coefficients are independent:
//!
//! ```text
//! r ~ N(0, tau^2 + sigma^2 / S),   a_k ~ N(0, sigma^2 w_k / 2)
//! ```
//!
//! with `w_k` half the width of the hat, `sigma` how much one wrap differs from the next, `tau` how
//! much tapes differ as a whole.

use super::cost::FinePosition;
use tapewise_model::{Direction, Geometry};

/// The half width, in wraps, below which hats are not divided: within a wrap there is nothing to find.
const LEAST_HALF_WIDTH_WRAPS: f64 = 0.75;

/// A hat: its peak and half its width, in wraps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hat {
    pub peak: f64,
    pub half_width: f64,
}

impl Hat {
    #[inline]
    pub(super) fn at(self, x: f64) -> f64 {
        (1.0 - (x - self.peak).abs() / self.half_width).max(0.0)
    }
}

/// The place of every block of one volume along its track.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Track {
    /// Nominal wraps from block 0 to the last block moved to.
    span: f64,
    levels: u32,
    pub rate: f64,
    /// Coefficients of hats: level by level, from the widest.
    pub bends: Vec<f64>,
}

impl Track {
    /// The nominal track over `span` nominal wraps.
    pub(super) fn nominal(span: f64) -> Track {
        let span = span.max(f64::MIN_POSITIVE);
        let mut levels = 0;
        while span / f64::from(2 << levels) >= LEAST_HALF_WIDTH_WRAPS {
            levels += 1;
        }
        Track {
            span,
            levels,
            rate: 0.0,
            bends: vec![0.0; (1 << levels) - 1],
        }
    }

    pub(super) fn span(&self) -> f64 {
        self.span
    }

    /// The hat of a coefficient.
    pub(super) fn hat(&self, index: usize) -> Hat {
        let level = (index + 1).ilog2();
        let nth = index + 1 - (1 << level);
        let half_width = self.span / f64::from(2 << level);
        Hat {
            peak: half_width * (2 * nth + 1) as f64,
            half_width,
        }
    }

    /// The place along the track, in wraps, of what nominally lies at `x`.
    pub(super) fn along(&self, x: f64) -> f64 {
        let mut bend = 0.0;
        // One hat of each level covers x.
        for level in 0..self.levels {
            let half_width = self.span / f64::from(2 << level);
            let nth = ((x / (2.0 * half_width)) as usize).min((1 << level) - 1);
            let index = (1 << level) - 1 + nth;
            bend += self.bends[index] * self.hat(index).at(x);
        }
        x * (1.0 + self.rate) + bend
    }

    /// The nominal place of what lies `along` wraps along the track: the inverse of [`Track::along`].
    pub(super) fn nominal_at(&self, along: f64) -> f64 {
        let (mut low, mut high) = (0.0, 2.0 * along.max(1.0));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.along(middle) < along {
                low = middle
            } else {
                high = middle
            }
        }
        0.5 * (low + high)
    }
}

/// The place that lies `along` wraps along the track; beyond the ends of the tape, its ends.
#[inline]
pub(super) fn place(geometry: &Geometry, along: f64) -> FinePosition {
    let last = f64::from(geometry.wraps.saturating_sub(1));
    let wrap = along.floor().clamp(0.0, last);
    let into = (along - wrap).clamp(0.0, 1.0) * f64::from(geometry.wrap_lpos());
    let wrap = wrap as u16;
    let lpos = match geometry.direction(wrap) {
        Direction::Forward => f64::from(geometry.lpos_min) + into,
        Direction::Reverse => f64::from(geometry.lpos_max) - into,
    };
    FinePosition { wrap, lpos }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hats_of_a_level_cover_the_span_and_do_not_overlap() {
        let track = Track::nominal(208.0);
        assert_eq!(track.bends.len(), 255);
        for level in 0..8 {
            let hats: Vec<Hat> = ((1 << level) - 1..(1 << (level + 1)) - 1)
                .map(|index| track.hat(index))
                .collect();
            assert_eq!(hats[0].peak, hats[0].half_width);
            let last = hats[hats.len() - 1];
            assert!((last.peak + last.half_width - 208.0).abs() < 1e-9);
            for pair in hats.windows(2) {
                let gap = pair[1].peak - pair[0].peak - 2.0 * pair[0].half_width;
                assert!(gap.abs() < 1e-9);
            }
        }
    }

    #[test]
    fn the_quick_sum_is_the_sum_over_all_hats() {
        let mut track = Track::nominal(100.0);
        track.rate = 0.01;
        for (at, bend) in track.bends.iter_mut().enumerate() {
            *bend = ((at * 37) % 11) as f64 / 1e4;
        }
        for step in 0..=1_050 {
            let x = f64::from(step) / 10.0;
            let all: f64 = (0..track.bends.len())
                .map(|index| track.bends[index] * track.hat(index).at(x))
                .sum();
            assert!((track.along(x) - 1.01 * x - all).abs() < 1e-12, "{x}");
            assert!((track.nominal_at(track.along(x)) - x).abs() < 1e-9, "{x}");
        }
    }
}
