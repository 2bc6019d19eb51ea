//! Improvement: moving runs of visits to where they cost less.
//!
//! The only moves used keep the direction of every run, because on a tape the way back costs
//! something else: a run of visits is taken out and put between two others (Or-3opt). Candidates
//! for "what comes after this visit" are its near neighbours.

use crate::order::Order;
use crate::orders::nearest::Nearest;
use crate::problem::Problem;
use tapewise_model::Micros;

/// Near neighbours looked at for each visit.
const NEIGHBOURS: usize = 10;

/// Longest run that is moved.
const LONGEST_RUN: usize = 50;

/// Improves an order by Or-3opt until no move gains, or `moves_tried` have been tried.
///
/// Never gives a longer order; deterministic.
pub fn improve(problem: &Problem, order: &Order, mut moves_tried: u64) -> Order {
    if problem.len() < 2 {
        return order.clone();
    }
    let mut nearest = Nearest::new(problem);
    let near: Vec<Vec<u32>> = (0..problem.len() as u32)
        .map(|visit| {
            nearest
                .near(visit, NEIGHBOURS)
                .into_iter()
                .map(|(_, to)| to)
                .collect()
        })
        .collect();
    let mut tour = Tour::new(problem, order);
    loop {
        let mut gained = false;
        for visit in 0..problem.len() as u32 {
            for &next in &near[visit as usize] {
                if moves_tried == 0 {
                    return tour.into_order();
                }
                moves_tried -= 1;
                gained |= tour.try_to_follow(visit, next);
            }
        }
        if !gained {
            return tour.into_order();
        }
    }
}

struct Tour<'a> {
    problem: &'a Problem,
    sequence: Vec<u32>,
    place: Vec<u32>,
}

impl<'a> Tour<'a> {
    fn new(problem: &'a Problem, order: &Order) -> Tour<'a> {
        let sequence = order.visits().to_vec();
        let mut place = vec![0; sequence.len()];
        for (at, &visit) in sequence.iter().enumerate() {
            place[visit as usize] = at as u32;
        }
        Tour {
            problem,
            sequence,
            place,
        }
    }

    fn into_order(self) -> Order {
        Order::new(self.sequence)
    }

    /// The time from the visit at place `from - 1` to the one at `to`; `from` 0 is the head, and
    /// `to` behind the last visit is where the head is to be left.
    fn link(&self, from: usize, to: usize) -> Micros {
        match (
            from.checked_sub(1).map(|at| self.sequence[at]),
            self.sequence.get(to),
        ) {
            (Some(from), Some(&to)) => self.problem.arc(from as usize, to as usize),
            (None, Some(&to)) => self.problem.first_arc(to as usize),
            (Some(from), None) => self.problem.end_cost(from as usize),
            (None, None) => Micros::ZERO,
        }
    }

    /// Tries to make `next` come right after `visit`, by moving the run that begins with `next`,
    /// of the length that gains most; says whether it gained.
    fn try_to_follow(&mut self, visit: u32, next: u32) -> bool {
        let after = self.place[visit as usize] as usize + 1;
        let begin = self.place[next as usize] as usize;
        if begin == after {
            return false;
        }
        // Taken out: the arcs after `visit`, before the run and behind it. Put in: `visit` to the
        // run, the run to what came after `visit`, and the gap closed.
        let removed = self.link(after, after) + self.link(begin, begin);
        let joined = self.problem.arc(visit as usize, next as usize);
        if joined >= removed {
            return false;
        }
        let limit = if begin < after {
            after - 1
        } else {
            self.sequence.len()
        };
        let mut best = (Micros::ZERO, 0);
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
        if gain == Micros::ZERO {
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
            self.place[self.sequence[at] as usize] = at as u32;
        }
    }

    fn length(&self) -> Micros {
        (0..=self.sequence.len()).map(|at| self.link(at, at)).sum()
    }
}
