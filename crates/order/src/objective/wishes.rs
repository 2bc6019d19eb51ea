//! What those who ask want: how much a request counts, and when it is due.

use super::wanted::Objective;
use crate::problem::Problem;
use tapewise_model::Micros;

/// The largest weight: sums of weighted microseconds stay far from any overflow.
const MAX_WEIGHT: u32 = 1_000_000;

/// Weight and deadline of each request, by its index; a request that is not listed counts 1 and is
/// never due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// How many requests of weight 1 it counts as.
    pub weight: Vec<u32>,
    /// When it is to be read, from now; negative where that has passed.
    pub deadline: Vec<Option<Micros>>,
}

impl Wishes {
    /// Wishes from priorities, higher is sooner, and deadlines.
    ///
    /// A request of priority `p` counts as `1 + p` requests of priority 0. Where there are
    /// negative priorities, the lowest takes the place of 0. Weights end at a million.
    pub fn new(priority: &[i64], deadline: &[Option<Micros>]) -> Wishes {
        let lowest = priority.iter().copied().min().unwrap_or(0).min(0);
        let weight = |&priority: &i64| {
            let above = priority.saturating_sub(lowest).min(i64::from(MAX_WEIGHT));
            (above as u32 + 1).min(MAX_WEIGHT)
        };
        Wishes {
            weight: priority.iter().map(weight).collect(),
            deadline: deadline.to_vec(),
        }
    }

    /// How much a request counts.
    pub fn weight(&self, request: u32) -> u32 {
        let weight = self.weight.get(request as usize).copied();
        weight.unwrap_or(1).min(MAX_WEIGHT)
    }

    /// When a request is due.
    pub fn deadline(&self, request: u32) -> Option<Micros> {
        self.deadline.get(request as usize).copied().flatten()
    }
}

/// A deadline with the weight of the requests of a visit that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) deadline: i64,
    pub(super) weight: i64,
}

/// What each visit is due for, by rising deadlines: what it costs to end it at a given time.
///
/// The cost of a visit that ends at `t` is the sum of `weight * max(0, t - deadline)`: convex, and
/// straight between deadlines.
#[derive(Clone, Debug)]
pub(super) struct Dues {
    first: Vec<u32>,
    dues: Vec<Due>,
    /// Whether everything is due now, so that all costs are straight lines.
    pub(super) all_now: bool,
}

impl Dues {
    pub(super) fn new(problem: &Problem, objective: Objective, wishes: &Wishes) -> Dues {
        let (mut first, mut dues) = (vec![0], Vec::<Due>::new());
        for visit in problem.visits() {
            let begin = dues.len();
            for &request in &visit.requests {
                let deadline = match objective {
                    Objective::Total => None,
                    Objective::Mean => Some(Micros::ZERO),
                    Objective::Deadline => wishes.deadline(request),
                };
                let weight = i64::from(wishes.weight(request));
                dues.extend(deadline.filter(|_| weight > 0).map(|deadline| Due {
                    deadline: deadline.0.clamp(-Micros::FAR.0, Micros::FAR.0),
                    weight,
                }));
            }
            dues[begin..].sort_unstable();
            merge_alike(&mut dues, begin);
            first.push(dues.len() as u32);
        }
        // The city where the tour closes is due for nothing.
        first.push(dues.len() as u32);
        let all_now = dues.iter().all(|due| due.deadline <= 0);
        Dues {
            first,
            dues,
            all_now,
        }
    }

    /// The dues of a visit, by rising deadlines.
    #[inline(always)]
    pub(super) fn of(&self, visit: u32) -> &[Due] {
        let visit = visit as usize;
        &self.dues[self.first[visit] as usize..self.first[visit + 1] as usize]
    }

    /// Weighted lateness of a visit that ends at `time`.
    #[inline]
    pub(super) fn lateness(&self, visit: u32, time: i64) -> i128 {
        let late = self.of(visit).iter().take_while(|due| due.deadline < time);
        late.map(|due| i128::from(due.weight) * i128::from(time - due.deadline))
            .sum()
    }

    /// What a little more time adds, and what a little less saves: weights due by `time`, and
    /// before it.
    #[inline]
    pub(super) fn slopes(&self, visit: u32, time: i64) -> (i64, i64) {
        let dues = self.of(visit).iter();
        dues.fold((0, 0), |(rise, fall), due| {
            let of = |due_then: bool| if due_then { due.weight } else { 0 };
            (
                rise + of(due.deadline <= time),
                fall + of(due.deadline < time),
            )
        })
    }

    /// How much later, and how much sooner, a visit can end before it passes a deadline.
    pub(super) fn rooms(&self, visit: u32, time: i64) -> (i64, i64) {
        let dues = self.of(visit);
        let passed = dues.partition_point(|due| due.deadline < time);
        let sooner = passed.checked_sub(1).map(|at| time - dues[at].deadline);
        // A deadline that falls on `time` is passed by the least delay; the slope that applies to
        // a delay counts it already.
        let next = dues.iter().find(|due| due.deadline > time);
        let later = next.map(|due| due.deadline - time);
        (later.unwrap_or(i64::MAX), sooner.unwrap_or(i64::MAX))
    }

    /// The weight of a visit.
    pub(super) fn weight(&self, visit: u32) -> i64 {
        self.of(visit).iter().map(|due| due.weight).sum()
    }
}

/// Joins dues of one deadline, from `begin` on.
fn merge_alike(dues: &mut Vec<Due>, begin: usize) {
    let mut kept = begin;
    for at in begin..dues.len() {
        if kept > begin && dues[kept - 1].deadline == dues[at].deadline {
            dues[kept - 1].weight += dues[at].weight;
        } else {
            dues[kept] = dues[at];
            kept += 1;
        }
    }
    dues.truncate(kept);
}
