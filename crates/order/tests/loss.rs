//! LOSS against the rule of 1996 applied step by step to a full matrix.

use crate::common;

use common::{Mix, describe, drive, drives, for_random_cases};
use tapewise_model::{Micros, Random};
use tapewise_order::{Problem, is_permutation, loss, sltf, sparse_loss};

/// City `visits` is the head; it has ways out only.
struct Matrix {
    visits: usize,
    /// `None` for an arc that is deleted, by tail, then head.
    arcs: Vec<Vec<Option<Micros>>>,
}

impl Matrix {
    fn new(problem: &Problem) -> Matrix {
        let n = problem.len();
        let arc = |tail: usize, head: usize| match (tail, head) {
            (tail, head) if tail == head => None,
            (tail, head) if tail == n => Some(problem.first_arc(head)),
            (tail, head) => Some(problem.arc(tail, head)),
        };
        let row = |tail| (0..n).map(|head| arc(tail, head)).collect();
        Matrix {
            visits: n,
            arcs: (0..=n).map(row).collect(),
        }
    }

    /// The two shortest of some arcs; of equal ones that to or from the lower city.
    fn two_shortest(arcs: impl Iterator<Item = (Option<Micros>, usize)>) -> Vec<(Micros, usize)> {
        let mut left: Vec<_> = arcs.filter_map(|(arc, city)| Some((arc?, city))).collect();
        left.sort();
        left.truncate(2);
        left
    }

    /// The arc to take next: the shortest of the city with the highest loss.
    ///
    /// Ties: the lower city first, the head last; out before in. A way in without alternative is
    /// forced; a way out without one loses nothing, because a path need not go on.
    fn choose(&self) -> Option<(usize, usize)> {
        let mut chosen: Option<(Micros, (usize, usize))> = None;
        for city in 0..=self.visits {
            let out = Self::two_shortest(self.arcs[city].iter().copied().zip(0..));
            let out_loss = match out[..] {
                [shortest, second] => Some((second.0 - shortest.0, (city, shortest.1))),
                [only] => Some((Micros::ZERO, (city, only.1))),
                _ => None,
            };
            let inward = (0..=self.visits)
                .filter(|_| city < self.visits)
                .map(|tail| (self.arcs[tail][city], tail));
            let inward = Self::two_shortest(inward);
            let in_loss = match inward[..] {
                [shortest, second] => Some((second.0 - shortest.0, (shortest.1, city))),
                [only] => Some((Micros::FAR, (only.1, city))),
                _ => None,
            };
            for loss in [out_loss, in_loss].into_iter().flatten() {
                if chosen.is_none_or(|chosen| loss.0 > chosen.0) {
                    chosen = Some(loss);
                }
            }
        }
        chosen.map(|(_, arc)| arc)
    }

    /// Takes an arc: deletes the others out of its tail and into its head, and the one that would
    /// close its path to a cycle.
    fn take(&mut self, (tail, head): (usize, usize), successor: &mut [Option<usize>]) {
        successor[tail] = Some(head);
        self.arcs[tail].fill(None);
        for row in &mut self.arcs {
            row[head] = None;
        }
        let is_start = |&city: &usize| !successor.contains(&Some(city));
        for start in (0..self.visits).filter(is_start) {
            let path = std::iter::successors(Some(start), |&city| successor[city]);
            let end = path.last().expect("a path has a last city");
            self.arcs[end][start] = None;
        }
    }
}

fn by_the_rule(problem: &Problem) -> Vec<u32> {
    let mut matrix = Matrix::new(problem);
    let mut successor = vec![None; problem.len() + 1];
    while let Some(arc) = matrix.choose() {
        matrix.take(arc, &mut successor);
    }
    std::iter::successors(successor[problem.len()], |&city| successor[city])
        .map(|city| city as u32)
        .collect()
}

#[test]
fn it_takes_the_arcs_that_the_rule_takes() {
    for_random_cases(5_100, 40, |drive, random, case| {
        let requests = common::few(random).min(40);
        let problem = drive.random_problem(requests, Mix::Any, random);
        assert_eq!(
            loss(&problem).visits(),
            by_the_rule(&problem),
            "{}",
            describe(drive, &problem, case)
        );
    });
}

#[test]
fn it_takes_the_arcs_that_the_rule_takes_in_large_batches() {
    for_random_cases(34, 41, |drive, random, case| {
        let requests = 100 + random.below(80) as usize;
        let problem = drive.random_problem(requests, Mix::Any, random);
        assert_eq!(
            loss(&problem).visits(),
            by_the_rule(&problem),
            "{}",
            describe(drive, &problem, case)
        );
    });
}

#[test]
fn it_is_shorter_than_nearest_first_on_the_drive_it_was_proposed_for() {
    let dlt = drive("dlt4000");
    let mut random = Random::new(44, 0);
    let mut sums = [Micros::ZERO; 2];
    for _ in 0..40 {
        let requests = dlt.uniform_requests(96, &mut random);
        let problem = dlt.problem(dlt.plain_options(), &requests);
        sums[0] += loss(&problem).locate_time(&problem);
        sums[1] += sltf(&problem).locate_time(&problem);
    }
    assert!(sums[0] < sums[1], "{sums:?}");
}

/// On few groups of destinations (four regions have two) the sparse form sees few arcs, and is
/// worse: 27 % on the DLT 4000 of 1998. By key points it is at most 2 % longer, on LTO 4 %.
#[test]
fn the_sparse_form_is_a_few_per_cent_longer_on_average() {
    let mut report = String::new();
    let mut all = 0.0;
    for (index, drive) in drives().iter().enumerate() {
        let mut random = Random::new(42, index as u64);
        let mut sums = [0.0, 0.0];
        for requests in [257, 300, 400, 700] {
            let requests = drive.uniform_requests(requests, &mut random);
            let problem = drive.problem(drive.random_options(&mut random), &requests);
            let (sparse, dense) = (sparse_loss(&problem), loss(&problem));
            assert!(is_permutation(sparse.visits()) && sparse.visits().len() == problem.len());
            sums[0] += sparse.locate_time(&problem).as_secs_f64();
            sums[1] += dense.locate_time(&problem).as_secs_f64();
        }
        let longer = 100.0 * (sums[0] / sums[1] - 1.0);
        report += &format!("{:14} {longer:+.1} %\n", drive.name);
        let most = if drive.tape.model.name() == "four-region" {
            40.0
        } else {
            15.0
        };
        assert!(longer <= most, "{report}");
        all += longer / drives().len() as f64;
    }
    assert!(all <= 15.0, "{report}");
}

/// Reading on within a section is quickest, so what lies in one section is one city from the start.
#[test]
fn the_sparse_form_reads_a_section_by_key_points_in_one_go() {
    let dlt = drive("dlt4000");
    let mut random = Random::new(45, 0);
    let requests = dlt.uniform_requests(2_000, &mut random);
    let problem = dlt.problem(dlt.plain_options(), &requests);
    let order = sparse_loss(&problem);
    let section = |visit: &u32| {
        let start = &problem.starts()[*visit as usize];
        (start.wrap, problem.tape().section(start))
    };
    let runs: Vec<&[u32]> = order
        .visits()
        .chunk_by(|one, other| section(one) == section(other))
        .collect();
    assert!(runs.iter().all(|run| run.is_sorted()));
    let mut seen: Vec<_> = runs.iter().map(|run| section(&run[0])).collect();
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "a section is read in several parts");
    let (sparse, dense) = (order, loss(&problem));
    let longer =
        sparse.locate_time(&problem).as_secs_f64() / dense.locate_time(&problem).as_secs_f64();
    assert!(longer < 1.02, "{longer}");
}

#[test]
fn the_sparse_form_orders_dense_batches_too() {
    for_random_cases(51, 43, |drive, random, case| {
        let requests = 257 + random.below(400) as usize;
        let problem = drive.random_problem(requests, Mix::Any, random);
        let order = sparse_loss(&problem);
        assert!(
            order.visits().len() == problem.len() && is_permutation(order.visits()),
            "{}",
            describe(drive, &problem, case)
        );
    });
}
