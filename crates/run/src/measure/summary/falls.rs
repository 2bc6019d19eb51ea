//! Where the time to seek falls from one target to the next: the drive lands at its next place.

use super::Seek;
use super::stat::Stat;

/// The falls of seek times over targets close to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Falls {
    /// LPOS in the middle between the two targets around each fall.
    pub lpos: Vec<f64>,
    /// LPOS from one fall to the next.
    pub spacing_lpos: Option<Stat>,
    /// Seconds by which the time falls.
    pub fall_s: Option<Stat>,
}

/// A fall of this many times the usual change from one target to the next is one.
const CLEAR: f64 = 6.0;

/// No fall is smaller than this: clocks and servo settling scatter by as much.
const LEAST_S: f64 = 0.8;

impl Falls {
    pub(super) fn of(seeks: impl Iterator<Item = Seek>) -> Option<Falls> {
        let mut points: Vec<(f64, f64)> = seeks
            .filter_map(|seek| Some((f64::from(seek.to.lpos?), seek.seconds)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points.len() < 8 {
            return None;
        }
        // Between falls the time rises with the way that is read; on a wrap towards the beginning
        // of tape the same picture stands the other way round.
        let changes: Vec<f64> = points
            .windows(2)
            .map(|pair| pair[1].1 - pair[0].1)
            .collect();
        let mut sizes: Vec<f64> = changes.iter().map(|change| change.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let usual = sizes[sizes.len() / 2];
        let clear = (CLEAR * usual).max(LEAST_S);
        let sums = changes.iter().filter(|change| change.abs() >= clear);
        let sign = if sums.sum::<f64>() > 0.0 { 1.0 } else { -1.0 };
        let falls = changes.iter().enumerate();
        let falls: Vec<usize> = falls
            .filter(|(_, change)| **change * sign >= clear)
            .map(|(at, _)| at)
            .collect();
        let lpos: Vec<f64> = falls
            .iter()
            .map(|&at| (points[at].0 + points[at + 1].0) / 2.0)
            .collect();
        let spacing: Vec<f64> = lpos.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let fall: Vec<f64> = falls.iter().map(|&at| changes[at].abs()).collect();
        Some(Falls {
            spacing_lpos: Stat::of(&spacing),
            fall_s: Stat::of(&fall),
            lpos,
        })
    }
}
