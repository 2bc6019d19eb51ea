//! Improvement: moving runs of visits to where they cost less.
//!
//! The only moves used keep the direction of every run, because on a tape the way back costs
//! something else: a run of visits is taken out and put between two others (Or-3opt). Candidates
//! for "what comes after this visit" are its near neighbours.

use crate::order::Order;
use crate::orders::nearest::Nearest;
use crate::problem::Problem;
use crate::solve::cities::Cities;

/// Near neighbours looked at for each visit.
const NEIGHBOURS: usize = 10;

/// Longest run that is moved.
const LONGEST_RUN: usize = 50;

/// Improves an order by Or-3opt until no move gains, or `moves_tried` have been tried.
///
/// Never gives a longer order; deterministic.
pub fn improve(problem: &Problem, order: &Order, moves_tried: u64) -> Order {
    if problem.len() < 2 {
        return order.clone();
    }
    let mut nearest = Nearest::new(problem);
    let mut near_visits = |visit| {
        let near = nearest.near(visit, NEIGHBOURS).into_iter();
        near.map(|(_, to)| to).collect()
    };
    let near: Vec<Vec<u32>> = (0..problem.len() as u32).map(&mut near_visits).collect();
    improve_among(&Cities::sparse(problem), &near, order, moves_tried)
}

/// The same for any costs, with the visits that may well come after each city given: in `near`, by
/// tail, as many tails as there are lists.
pub(crate) fn improve_among(
    cities: &Cities,
    near: &[Vec<u32>],
    order: &Order,
    mut moves_tried: u64,
) -> Order {
    let mut tour = Tour::new(cities, order);
    loop {
        let mut gained = false;
        for (tail, near) in (0u32..).zip(near) {
            for &next in near {
                if moves_tried == 0 {
                    return tour.into_order();
                }
                moves_tried -= 1;
                gained |= tour.try_to_follow(tail, next);
            }
        }
        if !gained {
            return tour.into_order();
        }
    }
}

struct Tour<'a> {
    cities: &'a Cities<'a>,
    sequence: Vec<u32>,
    /// How many visits come before what follows each city; of the closing city that is none.
    after: Vec<u32>,
}

impl<'a> Tour<'a> {
    fn new(cities: &'a Cities<'a>, order: &Order) -> Tour<'a> {
        let sequence = order.visits().to_vec();
        let mut after = vec![0; cities.len()];
        for (at, &visit) in (1..).zip(&sequence) {
            after[visit as usize] = at;
        }
        Tour {
            cities,
            sequence,
            after,
        }
    }

    fn into_order(self) -> Order {
        Order::of(self.sequence)
    }

    /// The cost from the visit at place `from - 1` to the one at `to`; `from` 0 is the head, and
    /// `to` behind the last visit is where the head is to be left.
    fn link(&self, from: usize, to: usize) -> i64 {
        let closing = self.sequence.len();
        let tail = from
            .checked_sub(1)
            .map_or(closing, |at| self.sequence[at] as usize);
        let head = self
            .sequence
            .get(to)
            .map_or(closing, |&visit| visit as usize);
        self.cities.cost(tail, head)
    }

    /// Tries to make `next` come right after `tail`, by moving the run that begins with `next`, of
    /// the length that gains most; says whether it gained.
    fn try_to_follow(&mut self, tail: u32, next: u32) -> bool {
        let after = self.after[tail as usize] as usize;
        let begin = self.after[next as usize] as usize - 1;
        if begin == after {
            return false;
        }
        // Taken out: the arcs after `tail`, before the run and behind it. Put in: `tail` to the
        // run, the run to what came after `tail`, and the gap closed.
        let removed = self.link(after, after) + self.link(begin, begin);
        let joined = self.cities.cost(tail as usize, next as usize);
        if joined >= removed {
            return false;
        }
        let limit = if begin < after {
            after - 1
        } else {
            self.sequence.len()
        };
        let mut best = (0, 0);
        for end in begin + 1..=limit.min(begin + LONGEST_RUN) {
            let gain = removed + self.link(end, end)
                - joined
                - self.link(end, after)
                - self.link(begin, end);
            if gain > best.0 {
                best = (gain, end);
            }
        }
        let (gain, end) = best;
        if gain == 0 {
            return false;
        }
        let before = cfg!(debug_assertions).then(|| self.length());
        self.move_run(begin, end, after);
        debug_assert_eq!(before.map(|length| length - gain), Some(self.length()));
        true
    }

    fn move_run(&mut self, begin: usize, end: usize, after: usize) {
        let changed = if begin < after {
            begin..after
        } else {
            after..end
        };
        if begin < after {
            self.sequence[begin..after].rotate_left(end - begin);
        } else {
            self.sequence[after..end].rotate_right(end - begin);
        }
        for at in changed {
            self.after[self.sequence[at] as usize] = at as u32 + 1;
        }
    }

    fn length(&self) -> i64 {
        (0..=self.sequence.len()).map(|at| self.link(at, at)).sum()
    }
}
