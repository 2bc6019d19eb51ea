//! Where the time to seek falls from one target to the next: the drive lands at its next place.
//!
//! In reading order the time rises with the way that is read, and falls where the next landing
//! point comes within reach: a saw. With the rise taken off it is a staircase that only goes down.
//! Medians over a few targets on either side find its steps, so that a seek that was tried again,
//! seconds late, makes none.

use super::Move;
use super::stat::{Stat, median};
use std::collections::BTreeMap;

/// The falls of seek times over targets close to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Falls {
    /// LPOS in the middle between the two targets around each fall.
    pub lpos: Vec<f64>,
    /// LPOS from one fall to the next on the same wrap.
    pub spacing_lpos: Option<Stat>,
    /// Seconds by which the time falls.
    pub fall_s: Option<Stat>,
    /// All targets in reading order: LPOS, seconds.
    pub measured: Vec<(f64, f64)>,
}

/// Targets on either side that say where the staircase stands.
const SIDE: usize = 3;

/// A step this many times as deep as what neighbouring targets usually differ by is one.
const CLEAR: f64 = 6.0;

/// No step is smaller than this: clocks and servo settling scatter by as much.
const LEAST_S: f64 = 0.8;

/// The fewest targets on a wrap that show anything.
const FEWEST: usize = 4 * SIDE;

impl Falls {
    pub(super) fn of(seeks: impl Iterator<Item = Move>) -> Option<Falls> {
        // By block: the order in which a wrap is read, whichever way it runs.
        let mut wraps: BTreeMap<Option<u16>, Vec<(u64, f64, f64)>> = BTreeMap::new();
        for seek in seeks {
            if let Some(to) = seek.to
                && let (Some(block), Some(lpos)) = (to.block, to.lpos)
            {
                let targets = wraps.entry(to.wrap).or_default();
                targets.push((block, f64::from(lpos), seek.seconds));
            }
        }
        let mut found = Falls {
            lpos: Vec::new(),
            spacing_lpos: None,
            fall_s: None,
            measured: Vec::new(),
        };
        let (mut spacing, mut fall_s) = (Vec::new(), Vec::new());
        for targets in wraps.values_mut().filter(|targets| targets.len() >= FEWEST) {
            targets.sort_by_key(|target| target.0);
            let stairs = without_rise(targets);
            let falls = steps_down(&stairs);
            let between = |at: usize| (targets[at].1 + targets[at + 1].1) / 2.0;
            let lpos: Vec<f64> = falls.iter().map(|&(at, _)| between(at)).collect();
            spacing.extend(lpos.windows(2).map(|pair| (pair[1] - pair[0]).abs()));
            fall_s.extend(falls.iter().map(|&(_, depth)| depth));
            found.lpos.extend(lpos);
            let places = targets.iter().map(|&(_, lpos, seconds)| (lpos, seconds));
            found.measured.extend(places);
        }
        found.spacing_lpos = Stat::of(&spacing);
        found.fall_s = Stat::of(&fall_s);
        (!found.measured.is_empty()).then_some(found)
    }
}

/// The seconds of each target without what they rise with each LPOS that is read. Half of all
/// changes and more are on one stair, so the median of them is that rise.
fn without_rise(targets: &[(u64, f64, f64)]) -> Vec<f64> {
    let rises = targets.windows(2).filter_map(|pair| {
        let way = (pair[1].1 - pair[0].1).abs();
        (way > 0.0).then(|| (pair[1].2 - pair[0].2) / way)
    });
    let rise = median(rises.collect()).unwrap_or(0.0);
    let first = targets.first().map_or(0.0, |target| target.1);
    let stairs = targets
        .iter()
        .map(|&(_, lpos, seconds)| seconds - rise * (lpos - first).abs());
    stairs.collect()
}

/// Where a staircase goes down, by the number of the target above each step, and how deep.
fn steps_down(stairs: &[f64]) -> Vec<(usize, f64)> {
    let changes = stairs.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let Some(usual) = median(changes.collect()) else {
        return Vec::new();
    };
    let clear = (CLEAR * usual).max(LEAST_S);
    let level = |side: &[f64]| median(side.to_vec());
    let sides = |at: usize| {
        let above = level(&stairs[at + 1 - SIDE..=at])?;
        Some((at, above, level(&stairs[at + 1..=at + SIDE])?))
    };
    // Both sides whole: at either end one late target would make a step.
    let deep: Vec<(usize, f64, f64)> = (SIDE - 1..stairs.len().saturating_sub(SIDE))
        .filter_map(sides)
        .filter(|&(_, above, below)| above - below >= clear)
        .collect();
    // Around a step several medians see it.
    let steps = deep.chunk_by(|a, b| b.0 == a.0 + 1).filter_map(|near| {
        let depth = |&(_, above, below): &(usize, f64, f64)| above - below;
        let deepest = near.iter().max_by(|a, b| depth(a).total_cmp(&depth(b)))?;
        let middle = (deepest.1 + deepest.2) / 2.0;
        // A seek may be late but is never early: the first low one is behind the step.
        let low = near.iter().find(|&&(at, ..)| stairs[at + 1] < middle)?;
        Some((low.0, depth(deepest)))
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tapewise_formats::event::Spot;

    /// A saw of these teeth over targets 10 LPOS apart on a wrap, the seconds late of some.
    fn saw(wrap: u16, tooth: usize, late: impl Fn(usize) -> f64) -> Vec<Move> {
        let seek = |at: usize| {
            let read = (at % tooth) as f64 * 0.4;
            let far = (at / tooth) as f64 * 0.5;
            let way = 10 * at as u32;
            let spot = Spot {
                block: Some(1_000 + at as u64),
                wrap: Some(wrap),
                lpos: Some(if wrap.is_multiple_of(2) {
                    way
                } else {
                    90_000 - way
                }),
                ..Spot::default()
            };
            Move {
                from: None,
                to: Some(spot),
                seconds: 20.0 + read + far + late(at),
            }
        };
        (0..120).map(seek).collect()
    }

    #[test]
    fn a_saw_falls_at_the_end_of_every_tooth_whichever_way_the_wrap_is_read() {
        let forward = Falls::of(saw(4, 15, |_| 0.0).into_iter()).unwrap();
        let expected: Vec<f64> = (1..8).map(|tooth| 150.0 * f64::from(tooth) - 5.0).collect();
        assert_eq!(forward.lpos, expected);
        let reverse = Falls::of(saw(5, 15, |_| 0.0).into_iter()).unwrap();
        let mirrored: Vec<f64> = expected.iter().map(|lpos| 90_000.0 - lpos).collect();
        assert_eq!(reverse.lpos, mirrored);
        assert_eq!(forward.fall_s, reverse.fall_s);
        // A tooth of 15 targets is read for 6 s; half a second of that goes by far away.
        let fall = forward.fall_s.unwrap();
        assert!((fall.mean - 5.5).abs() < 1e-6, "{fall:?}");
        assert!((reverse.spacing_lpos.unwrap().mean - 150.0).abs() < 1e-9);
    }

    #[test]
    fn two_wraps_are_two_saws() {
        let both = saw(4, 15, |_| 0.0).into_iter().chain(saw(5, 15, |_| 0.0));
        let falls = Falls::of(both).unwrap();
        assert_eq!(falls.lpos.len(), 14);
        assert_eq!(falls.spacing_lpos.unwrap().max, 150.0);
    }

    #[test]
    fn a_straight_rise_falls_nowhere() {
        let falls = Falls::of(saw(4, 1_000, |_| 0.0).into_iter()).unwrap();
        assert_eq!(falls.lpos, Vec::<f64>::new());
        assert_eq!(falls.spacing_lpos, None);
    }

    proptest! {
        #[test]
        fn a_seek_that_was_tried_again_makes_no_fall_and_hides_none(
            (late, noise) in (0usize..120, 0u64..1_000)
        ) {
            let mut random = tapewise_model::Random::new(noise, 1);
            let noise: Vec<f64> = (0..120).map(|_| random.normal() * 0.1).collect();
            let hit = |at| noise[at] + if at == late { 9.0 } else { 0.0 };
            let falls = Falls::of(saw(4, 15, hit).into_iter()).unwrap();
            prop_assert_eq!(falls.lpos.len(), 7, "{:?}", falls.lpos);
            for (tooth, lpos) in (1..8).zip(&falls.lpos) {
                // Late where it is the first behind a fall, it looks like the last before it.
                prop_assert!((lpos - (150.0 * f64::from(tooth) - 5.0)).abs() <= 10.0);
            }
        }
    }
}
