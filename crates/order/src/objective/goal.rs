//! What makes one order better than another: a few sums, compared one after the other.

use super::wanted::Limits;
use std::cmp::Ordering;

/// What an order is summed up in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Weighted lateness, in weighted microseconds.
    pub(super) lateness: i128,
    /// Total time in microseconds.
    pub(super) total: i64,
    /// Tape moved in LPOS units.
    pub(super) distance: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sum {
    Lateness,
    Total,
    Distance,
}

/// By how much a sum exceeds a limit.
#[derive(Clone, Copy, Debug)]
struct Excess {
    of: Sum,
    over: i128,
}

const TERMS: usize = 5;

/// What an order is compared by: the excesses of a [`Goal`], the first counting most.
pub(super) type Score = [i128; TERMS];

/// Limits first, then what is to be little, on a tie the next.
#[derive(Clone, Debug)]
pub(super) struct Goal([Excess; TERMS]);

/// A ten-thousandth: what may be given for less tape moved.
const SPARED_SHARE: i128 = 10_000;

impl Goal {
    /// Within limits least lateness, then least total, then least tape.
    pub(super) fn new(limits: &Limits) -> Goal {
        Goal([
            limit(Sum::Distance, limits.distance_lpos.map(i128::from)),
            limit(Sum::Total, limits.total.map(|total| i128::from(total.0))),
            least(Sum::Lateness),
            least(Sum::Total),
            least(Sum::Distance),
        ])
    }

    /// Least tape for nearly the lateness and total reached.
    pub(super) fn sparing(limits: &Limits, reached: &Sums) -> Goal {
        let nearly = |sum: i128| Some(sum + sum / SPARED_SHARE);
        let total = nearly(i128::from(reached.total));
        // Never beyond the caller's limit, unless there already.
        let most = limits
            .total
            .map(|total| i128::from(total.0.max(reached.total)));
        Goal([
            limit(Sum::Total, total.min(most.or(total))),
            limit(Sum::Lateness, nearly(reached.lateness)),
            least(Sum::Distance),
            least(Sum::Lateness),
            least(Sum::Total),
        ])
    }

    pub(super) fn keeps_limits(&self, score: &Score) -> bool {
        score[0] == 0 && score[1] == 0
    }

    pub(super) fn score(&self, sums: &Sums) -> Score {
        self.0.map(|excess| excess.value(sums))
    }

    /// Whether an order would be better than one that is `now`, when sums that are costly to know
    /// are asked for only where they decide.
    pub(super) fn better(
        &self,
        now: &Sums,
        then: &Sums,
        mut distance: impl FnMut() -> i64,
    ) -> bool {
        let mut then = *then;
        for excess in &self.0 {
            if excess.of == Sum::Distance && excess.over < i128::MAX {
                then.distance = distance();
            }
            match excess.value(&then).cmp(&excess.value(now)) {
                Ordering::Less => return true,
                Ordering::Greater => return false,
                Ordering::Equal => {}
            }
        }
        false
    }
}

impl Excess {
    #[inline]
    fn value(&self, sums: &Sums) -> i128 {
        let sum = match self.of {
            Sum::Lateness => sums.lateness,
            Sum::Total => i128::from(sums.total),
            Sum::Distance => i128::from(sums.distance),
        };
        // Sums are never negative, so that a limit of zero leaves the sum itself.
        sum.saturating_sub(self.over).max(0)
    }
}

fn limit(of: Sum, over: Option<i128>) -> Excess {
    Excess {
        of,
        over: over.unwrap_or(i128::MAX),
    }
}

fn least(of: Sum) -> Excess {
    Excess { of, over: 0 }
}
