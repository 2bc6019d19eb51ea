//! Orders to begin a search from.

use super::Objective;
use super::batch::Batch;
use crate::order::Order;
use crate::orders::nearest::Nearest;
use crate::orders::sltf::sltf;
use crate::orders::sort::sort;
use crate::orders::two_pass::two_pass;
use crate::problem::Problem;

/// Visits up to which the start by rate is made: it looks at all unread visits at every step.
const RATE_VISITS: usize = 4_096;

/// Numbers of deadline classes tried.
const CLASSES: [usize; 5] = [2, 3, 4, 8, 16];

/// Starts for an objective: sorted, in two passes (little tape moved), SLTF, and what suits it.
pub(super) fn constructed(
    batch: &Batch,
    objective: Objective,
    given: &[Order],
) -> impl Iterator<Item = Vec<u32>> {
    let problem = batch.problem;
    let greedy = sltf(problem);
    let mut starts = Vec::new();
    if objective == Objective::Mean && problem.len() <= RATE_VISITS {
        starts.push(by_rate(batch));
    }
    if objective == Objective::Deadline {
        let shortest = given
            .iter()
            .filter(|order| order.visits().len() == problem.len())
            .min_by_key(|order| order.total_time(problem))
            .unwrap_or(&greedy);
        let mut before = Vec::new();
        for count in CLASSES {
            let classes = classes(batch, count);
            if classes == before {
                break;
            }
            let mut sequence = shortest.visits().to_vec();
            sequence.sort_by_key(|&visit| classes[visit as usize]);
            starts.push(sequence);
            starts.push(nearest_by_class(problem, &classes));
            before = classes;
        }
    }
    let usual = [sort(problem), two_pass(problem), greedy];
    let usual = usual.map(|order| order.visits().to_vec());
    usual.into_iter().chain(starts)
}

/// Always on to the visit with the least time for its weight: the rule of Smith (1956) with the
/// way there as part of the work.
fn by_rate(batch: &Batch) -> Vec<u32> {
    let n = batch.len();
    let mut unread: Vec<u32> = (0..n as u32).collect();
    let mut sequence = Vec::with_capacity(n);
    let mut at = n;
    while let Some(found) = (0..unread.len()).min_by(|&one, &other| {
        let work = |visit: u32| {
            let time = batch.cities.cost(at, visit as usize) + batch.service[visit as usize];
            (i128::from(time), i128::from(batch.dues.weight(visit)))
        };
        let ((one_time, one_weight), (time, weight)) = (work(unread[one]), work(unread[other]));
        (one_time * weight)
            .cmp(&(time * one_weight))
            .then(unread[one].cmp(&unread[other]))
    }) {
        let visit = unread.swap_remove(found);
        sequence.push(visit);
        at = visit as usize;
    }
    sequence
}

/// The class of each visit, 0 the one that is due first: `count` of about the same size, the same
/// deadline always in one class, and what is never due in the last.
fn classes(batch: &Batch, count: usize) -> Vec<usize> {
    let deadline = |visit: u32| {
        batch
            .dues
            .of(visit)
            .first()
            .map_or(i64::MAX, |due| due.deadline)
    };
    let mut by_deadline: Vec<u32> = (0..batch.len() as u32).collect();
    by_deadline.sort_by_key(|&visit| (deadline(visit), visit));
    let due = by_deadline.partition_point(|&visit| deadline(visit) < i64::MAX);
    let mut classes = vec![count; batch.len()];
    let mut before = None;
    for (rank, &visit) in by_deadline[..due].iter().enumerate() {
        classes[visit as usize] = match before {
            Some((same, class)) if same == deadline(visit) => class,
            _ => rank * count / due,
        };
        before = Some((deadline(visit), classes[visit as usize]));
    }
    classes
}

/// SLTF class by class.
fn nearest_by_class(problem: &Problem, classes: &[usize]) -> Vec<u32> {
    let mut sequence = Vec::with_capacity(problem.len());
    let last = classes.iter().copied().max().unwrap_or(0);
    let mut at = None;
    for class in 0..=last {
        let mut unread = Nearest::new(problem);
        for (visit, _) in classes.iter().enumerate().filter(|&(_, &of)| of != class) {
            unread.remove(visit as u32);
        }
        while let Some(next) = unread.nearest(at) {
            unread.remove(next);
            sequence.push(next);
            at = Some(next);
        }
    }
    sequence
}
