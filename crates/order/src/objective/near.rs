//! Which visits may well follow which: short lists of near ones, both ways.

use crate::orders::nearest::Nearest;
use crate::problem::Problem;
use crate::solve::cities::{Cities, MATRIX_MAX_VISITS};
use tapewise_model::Micros;

/// Near visits on each list.
const NEAR: usize = 8;

/// The cheapest visits to go on to from every city, and to come from; of those near along the tape
/// where there is no matrix.
pub(super) struct Near {
    after: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
}

impl Near {
    pub(super) fn new(problem: &Problem, cities: &Cities) -> Near {
        let n = problem.len();
        let mut times = vec![Micros::ZERO; n];
        let mut near_after = |tail: usize| -> Vec<u32> {
            problem.arcs((tail < n).then_some(tail), &mut times);
            let others = (0..n as u32).filter(|&to| to as usize != tail);
            cheapest(others.map(|to| (times[to as usize].0, to)).collect())
        };
        let after: Vec<Vec<u32>> = if n <= MATRIX_MAX_VISITS {
            (0..=n).map(near_after).collect()
        } else {
            let mut nearest = Nearest::new(problem);
            let mut near = |visit| nearest.near(visit, NEAR).into_iter().map(|(_, to)| to);
            let mut lists: Vec<Vec<u32>> = (0..n as u32).map(|v| near(v).collect()).collect();
            lists.push(near_after(n));
            lists
        };
        let before = if n <= MATRIX_MAX_VISITS {
            let near_before = |head: usize| {
                let others = (0..=n).filter(|&from| from != head);
                cheapest(
                    others
                        .map(|from| (cities.cost(from, head), from as u32))
                        .collect(),
                )
            };
            (0..n).map(near_before).collect()
        } else {
            turned(cities, &after)
        };
        Near { after, before }
    }

    /// Visits near behind a city.
    pub(super) fn after(&self, tail: u32) -> &[u32] {
        &self.after[tail as usize]
    }

    /// Cities from which a visit is near.
    pub(super) fn before(&self, head: u32) -> &[u32] {
        &self.before[head as usize]
    }
}

/// For each visit the nearest of those whose lists it is on.
fn turned(cities: &Cities, after: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); after.len()];
    for (tail, list) in after.iter().enumerate() {
        for &head in list {
            let cost = cities.cost(tail, head as usize);
            before[head as usize].push((cost, tail as u32));
        }
    }
    before.into_iter().map(cheapest).collect()
}

fn cheapest(mut found: Vec<(i64, u32)>) -> Vec<u32> {
    if found.len() > NEAR {
        found.select_nth_unstable(NEAR);
        found.truncate(NEAR);
    }
    found.sort_unstable();
    found.into_iter().map(|(_, city)| city).collect()
}
