//! The exact order of a small batch: dynamic programming over subsets, with times as labels.
//!
//! What a set of visits read costs those that follow depends on the time it took, so a subset with
//! its last visit has several labels: those of which neither is certain to lead to something better
//! than the other. With only total time or the mean to minimise, one label is enough.

use super::batch::Batch;
use tapewise_model::Micros;

/// The largest batch that is solved exactly.
pub(super) const MAX_VISITS: usize = 14;

/// One way to read a set of visits.
#[derive(Clone, Copy, Debug)]
struct Label {
    time: i64,
    /// Weighted lateness so far.
    cost: i128,
    /// The label it goes on from.
    before: u32,
    last: u32,
}

/// What is yet to read while a set has been read.
struct Rest {
    dues: Vec<(i64, i64)>,
    weight: i64,
}

/// The order of least lateness, then total; `None` above [`MAX_VISITS`] visits.
///
/// With a limit on the total, first of all the one that exceeds it least.
pub(super) fn exact(batch: &Batch, limit: Option<Micros>) -> Option<Vec<u32>> {
    let n = batch.len();
    if n > MAX_VISITS {
        return None;
    }
    let mut labels: Vec<Label> = Vec::new();
    // The labels of `read` with `last` read last: `spans[read * n + last]`.
    let mut spans = vec![(0u32, 0u32); (1 << n) * n];
    let mut candidates: Vec<Label> = Vec::new();
    for read in 1usize..1 << n {
        let rest = Rest::new(batch, read);
        for last in (0..n).filter(|last| read >> last & 1 == 1) {
            candidates.clear();
            let before = read & !(1 << last);
            let mut go_on = |time: i64, cost: i128, tail: usize, before: u32| {
                let arc = batch.cities.cost(tail, last);
                let time = time + arc + batch.service[last];
                candidates.push(Label {
                    time,
                    cost: cost + batch.dues.lateness(last as u32, time),
                    before,
                    last: last as u32,
                });
            };
            if before == 0 {
                go_on(0, 0, n, u32::MAX);
            }
            for tail in (0..n).filter(|tail| before >> tail & 1 == 1) {
                let (begin, end) = spans[before * n + tail];
                for at in begin..end {
                    let label = labels[at as usize];
                    go_on(label.time, label.cost, tail, at);
                }
            }
            let begin = labels.len();
            keep_best(&mut labels, &mut candidates, &rest, limit.is_some());
            spans[read * n + last] = (begin as u32, labels.len() as u32);
        }
    }
    Some(walk_back(batch, &labels, &spans, limit))
}

impl Rest {
    fn new(batch: &Batch, read: usize) -> Rest {
        let unread = (0..batch.len()).filter(|visit| read >> visit & 1 == 0);
        let dues: Vec<(i64, i64)> = unread
            .flat_map(|visit| batch.dues.of(visit as u32))
            .map(|due| (due.deadline, due.weight))
            .collect();
        Rest {
            weight: dues.iter().map(|due| due.1).sum(),
            dues,
        }
    }

    /// The weight that is late from `time` on, whatever comes: each delay costs at least as much.
    fn late_weight(&self, time: i64) -> i64 {
        let late = self.dues.iter().filter(|due| due.0 <= time);
        late.map(|due| due.1).sum()
    }
}

/// Appends those candidates that no other makes superfluous.
///
/// Whatever is read next, an earlier label keeps what it has gained and gains at least the weight
/// that is late by now for each microsecond; a later one loses at most all the weight that is left
/// for each. Where the total is limited, being late cannot be made up for.
fn keep_best(labels: &mut Vec<Label>, candidates: &mut [Label], rest: &Rest, limited: bool) {
    candidates.sort_unstable_by_key(|label| (label.time, label.cost, label.before));
    let begin = labels.len();
    for &later in candidates.iter() {
        let dominated = labels[begin..].iter().any(|earlier| {
            let delay = i128::from(later.time - earlier.time);
            earlier.cost <= later.cost
                || earlier.cost <= later.cost + i128::from(rest.late_weight(earlier.time)) * delay
        });
        if dominated {
            continue;
        }
        if !limited {
            let mut kept = begin;
            for at in begin..labels.len() {
                let earlier = labels[at];
                let delay = i128::from(later.time - earlier.time);
                if later.cost + i128::from(rest.weight) * delay >= earlier.cost {
                    labels[kept] = earlier;
                    kept += 1;
                }
            }
            labels.truncate(kept);
        }
        labels.push(later);
    }
}

fn walk_back(
    batch: &Batch,
    labels: &[Label],
    spans: &[(u32, u32)],
    limit: Option<Micros>,
) -> Vec<u32> {
    let n = batch.len();
    let longest = limit.map_or(i64::MAX, |limit| limit.0);
    let all = (1usize << n) - 1;
    let score = |label: &Label| {
        let total = label.time + batch.cities.cost(label.last as usize, n);
        ((total - longest).max(0), label.cost, total)
    };
    let best = (0..n)
        .map(|last| spans[all * n + last])
        .flat_map(|(begin, end)| begin..end)
        .min_by_key(|&at| (score(&labels[at as usize]), at));
    let path = std::iter::successors(best, |&at| {
        let before = labels[at as usize].before;
        (before != u32::MAX).then_some(before)
    });
    let mut sequence: Vec<u32> = path.map(|at| labels[at as usize].last).collect();
    sequence.reverse();
    sequence
}
