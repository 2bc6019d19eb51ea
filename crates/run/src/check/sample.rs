//! Which blocks are gone to: a designed sample, good however early it is cut off.

/// What a locate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// To anywhere on the recorded tape.
    Far,
    /// To somewhere around.
    Near,
    /// To the first block.
    Beginning,
}

impl Move {
    /// All kinds.
    pub const ALL: [Move; 3] = [Move::Far, Move::Near, Move::Beginning];

    /// The purpose that the events state.
    pub fn name(self) -> &'static str {
        match self {
            Move::Far => "far",
            Move::Near => "near",
            Move::Beginning => "beginning",
        }
    }
}

/// A far one takes as long as ten near ones, so most are near: the time is shared about evenly between
/// near ones and the others. The one after [`Move::Beginning`] begins at the beginning of tape, which
/// every recall does.
const CYCLE: [Move; 24] = {
    let mut cycle = [Move::Near; 24];
    cycle[0] = Move::Far;
    cycle[12] = Move::Far;
    cycle[23] = Move::Beginning;
    cycle
};

/// The targets of `count` locates over `blocks` blocks, the first from block 0.
///
/// Far targets follow the golden ratio: however many there are, they are spread evenly. Distances of
/// near ones are spread evenly by their logarithm, from two blocks to a two-hundredth of the tape (a
/// wrap of LTO-8), half of them back: time goes with the way along the tape, so that many are short.
pub fn sample(blocks: u64, count: usize) -> Vec<(Move, u64)> {
    const NEAREST_BLOCKS: f64 = 2.0;
    const GOLDEN: f64 = 0.618_033_988_749_895;
    const SILVER: f64 = 0.414_213_562_373_095;
    let last = blocks.saturating_sub(1);
    let share = |nth: u32, ratio: f64| (f64::from(nth) * ratio).fract();
    let farthest = (blocks as f64 / 200.0).max(NEAREST_BLOCKS);
    let (mut far, mut near) = (0, 0);
    let mut at = 0_u64;
    let cycle = CYCLE.into_iter().cycle().take(count);
    let next = |kind| {
        at = match kind {
            Move::Beginning => 0,
            Move::Far => {
                far += 1;
                (share(far, GOLDEN) * blocks as f64) as u64
            }
            Move::Near => {
                near += 1;
                let octaves = (farthest / NEAREST_BLOCKS).log2();
                let step = (NEAREST_BLOCKS * (share(near, SILVER) * octaves).exp2()) as u64;
                let back = near % 2 == 0 && at >= step || at + step > last;
                if back {
                    at.saturating_sub(step)
                } else {
                    at + step
                }
            }
        }
        .min(last);
        (kind, at)
    };
    cycle.map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_of_the_sample_is_spread_over_the_tape() {
        const BLOCKS: u64 = 1_000_000;
        let all = sample(BLOCKS, 200);
        assert_eq!(all.len(), 200);
        for first in [48, 96, 200] {
            let mut far: Vec<u64> = all[..first]
                .iter()
                .filter(|(kind, _)| *kind == Move::Far)
                .map(|(_, block)| *block)
                .collect();
            far.push(0);
            far.push(BLOCKS);
            far.sort_unstable();
            let widest = far.windows(2).map(|pair| pair[1] - pair[0]).max();
            // Perfectly even gaps would be one share; the golden ratio leaves none above 2.2.
            let share = BLOCKS / (far.len() as u64 - 1);
            assert!(widest < Some(share * 11 / 5), "{first}: {widest:?}");
        }
        assert_eq!(sample(BLOCKS, 40), all[..40]);
    }

    #[test]
    fn wherever_it_is_cut_off_every_kind_has_its_share() {
        let all = sample(1_000_000, 200);
        for first in 24..=200 {
            let share = |kind| {
                let of_kind = all[..first].iter().filter(|(it, _)| *it == kind);
                of_kind.count() as f64 / first as f64
            };
            assert!((share(Move::Far) - 2.0 / 24.0).abs() < 0.04, "{first}");
            assert!(
                (share(Move::Beginning) - 1.0 / 24.0).abs() < 0.03,
                "{first}"
            );
        }
    }

    #[test]
    fn a_sample_of_any_number_of_blocks_stays_on_them() {
        for blocks in [0, 1, 2, 7, 50, u64::MAX / 2] {
            for (_, block) in sample(blocks, 200) {
                assert!(block < blocks.max(1), "{block} of {blocks}");
            }
        }
    }
}
