//! Bounds of real batches: an assignment, and cuts until its support is connected.

use super::{Outcome, Recorded, Relation};
use crate::solve::cities::Cities;
use crate::{Assignment, End, Options, PlacedExtent, Problem, Request, Tape};
use tapewise_model::{BlockMap, KeyPoints, NominalLayout, Random, profile};

const TOLERANCE: f64 = 1e-6;

/// The first programme and the cuts of one batch, with a few of its arcs as columns.
pub(super) struct Tour<'a> {
    pub(super) programme: Recorded,
    matrix: Cities<'a>,
    /// What the assignment costs.
    pub(super) assignment: f64,
    arcs: Vec<(usize, usize)>,
    is_column: Vec<bool>,
    /// Whether a city is inside, for every cut.
    pub(super) cuts: Vec<Vec<bool>>,
}

impl<'a> Tour<'a> {
    pub(super) fn new(problem: &'a Problem) -> Tour<'a> {
        let matrix = Cities::dense(problem);
        let n = matrix.len();
        let assignment = Assignment::new(problem);
        let successor = assignment.successor.iter().map(|&head| head as usize);
        let successor: Vec<usize> = successor.collect();
        let (heads, tree) = tight_tree(&matrix, &successor);
        let tails: Vec<i64> = (0..n)
            .map(|tail| {
                let head = successor[tail];
                matrix.cost(tail, head) - heads[head]
            })
            .collect();
        let mut tour = Tour {
            programme: Recorded::default(),
            assignment: assignment.bound().0 as f64,
            arcs: Vec::new(),
            is_column: vec![false; n * n],
            cuts: Vec::new(),
            matrix,
        };
        for _ in 0..2 * n {
            tour.programme.add_row(Relation::Equal, 1.0, &[]);
        }
        let assigned = successor.iter().copied().enumerate();
        for (tail, head) in assigned.chain(tree) {
            tour.add_arc(tail, head);
        }
        let basis: Vec<u32> = (0..tour.arcs.len() as u32).collect();
        for city in 0..n {
            let reduced = |(tail, head): (usize, usize)| {
                let cost = tour.matrix.cost(tail, head);
                (cost - tails[tail] - heads[head], (tail, head))
            };
            let out = (0..n).map(|other| reduced((city, other)));
            let into = (0..n).map(|other| reduced((other, city)));
            let (mut out, mut into): (Vec<_>, Vec<_>) = (out.collect(), into.collect());
            out.sort_unstable();
            into.sort_unstable();
            for (_, (tail, head)) in out.into_iter().take(8).chain(into.into_iter().take(5)) {
                tour.add_arc(tail, head);
            }
        }
        tour.programme.simplex.start_from(&basis);
        tour
    }

    pub(super) fn cities(&self) -> usize {
        self.matrix.len()
    }

    fn add_arc(&mut self, tail: usize, head: usize) {
        let n = self.cities();
        if tail == head || std::mem::replace(&mut self.is_column[tail * n + head], true) {
            return;
        }
        let mut terms = vec![(tail as u32, 1.0), ((n + head) as u32, 1.0)];
        for (cut, inside) in self.cuts.iter().enumerate() {
            if inside[tail] && !inside[head] {
                terms.push(((2 * n + cut) as u32, 1.0));
            }
        }
        let cost = self.matrix.cost(tail, head) as f64;
        self.programme.add_column(cost, &terms);
        self.arcs.push((tail, head));
    }

    /// The arcs that are used, most used first.
    fn support(&self) -> Vec<(f64, usize, usize)> {
        let arcs = self.arcs.iter().enumerate();
        let used = arcs.map(|(c, &(tail, head))| {
            let value = self.programme.simplex.value(c as u32);
            (value, tail, head)
        });
        let mut support: Vec<_> = used.filter(|arc| arc.0 > TOLERANCE).collect();
        support.sort_by(|a, b| b.0.total_cmp(&a.0));
        support
    }

    /// Cuts off the components of the support, as arcs join it in order of use, wherever too
    /// little leaves one; returns how many.
    pub(super) fn cut(&mut self) -> usize {
        let n = self.cities();
        let support = self.support();
        let mut component: Vec<usize> = (0..n).collect();
        let before = self.cuts.len();
        for &(_, tail, head) in &support {
            let (old, new) = (component[head], component[tail]);
            if old == new {
                continue;
            }
            component
                .iter_mut()
                .filter(|c| **c == old)
                .for_each(|c| *c = new);
            let inside: Vec<bool> = component.iter().map(|&c| c == new).collect();
            let leaving = support.iter().filter(|arc| inside[arc.1] && !inside[arc.2]);
            let leaving: f64 = leaving.map(|arc| arc.0).sum();
            if leaving < 0.9 && inside.contains(&false) {
                self.cuts.push(inside);
            }
        }
        for inside in &self.cuts[before..] {
            let crossing = self.arcs.iter().enumerate();
            let crossing = crossing.filter(|(_, arc)| inside[arc.0] && !inside[arc.1]);
            let terms: Vec<_> = crossing.map(|(column, _)| (column as u32, 1.0)).collect();
            self.programme.add_row(Relation::AtLeast, 1.0, &terms);
        }
        self.cuts.len() - before
    }

    /// Adds the arcs with negative reduced costs, at most five from each city; returns how many.
    pub(super) fn price(&mut self) -> usize {
        let n = self.cities();
        let dual = |row: usize| self.programme.simplex.dual(row as u32);
        let duals: Vec<f64> = (0..2 * n + self.cuts.len()).map(dual).collect();
        let mut reduced: Vec<f64> = (0..n * n)
            .map(|arc| {
                let cost = self.matrix.cost(arc / n, arc % n) as f64;
                cost - duals[arc / n] - duals[n + arc % n]
            })
            .collect();
        for (inside, price) in self.cuts.iter().zip(&duals[2 * n..]) {
            let tails = (0..n).filter(|&tail| *price != 0.0 && inside[tail]);
            for tail in tails {
                for (arc, inside) in reduced[tail * n..][..n].iter_mut().zip(inside) {
                    *arc -= if *inside { 0.0 } else { *price };
                }
            }
        }
        let before = self.arcs.len();
        for tail in 0..n {
            let row = reduced[tail * n..][..n].iter().enumerate();
            let mut row: Vec<(f64, usize)> = row.map(|(head, &value)| (value, head)).collect();
            row.retain(|arc| arc.0 < -1.0);
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (_, head) in row.into_iter().take(5) {
                self.add_arc(tail, head);
            }
        }
        self.arcs.len() - before
    }
}

/// Dual prices of the heads, and a tree of tight arcs, both from shortest paths over alternating
/// arcs: with the assigned arcs it makes a basis that is optimal for the assignment.
fn tight_tree(matrix: &Cities, successor: &[usize]) -> (Vec<i64>, Vec<(usize, usize)>) {
    let n = matrix.len();
    let mut distance = vec![i64::MAX; n];
    let mut tail_of = vec![usize::MAX; n];
    let mut predecessor = vec![0; n];
    for (tail, &head) in successor.iter().enumerate() {
        predecessor[head] = tail;
    }
    let mut waiting = std::collections::VecDeque::from([0]);
    distance[0] = 0;
    while let Some(at) = waiting.pop_front() {
        let tail = predecessor[at];
        let base = distance[at] - matrix.cost(tail, at);
        for head in (0..n).filter(|&head| head != tail) {
            let through = base + matrix.cost(tail, head);
            if through < distance[head] {
                distance[head] = through;
                tail_of[head] = tail;
                waiting.push_back(head);
            }
        }
    }
    let tree = (1..n).map(|head| (tail_of[head], head)).collect();
    (distance, tree)
}

/// A batch as the paper has it, on a cartridge with key points.
pub(super) fn dlt4000(requests: usize, seed: u64) -> Problem {
    let profile = profile::find("dlt4000").unwrap();
    let sections = profile.nominal_sections().unwrap();
    let spread = profile.key_point_spread().unwrap();
    let key_points = KeyPoints::generate(sections, spread, &mut Random::new(seed, 0));
    let tape = Tape::new(&profile, Some(&key_points)).unwrap();
    problem(tape, &key_points.block_map(), requests, seed)
}

/// A batch of files of 1 GB on a full cartridge of nominal geometry.
pub(super) fn lto8(requests: usize, seed: u64) -> Problem {
    let profile = profile::find("lto8").unwrap();
    let map = profile.nominal_map(NominalLayout::Single, 1 << 18).unwrap();
    problem(Tape::new(&profile, None).unwrap(), &map, requests, seed)
}

fn problem(tape: Tape, map: &BlockMap, requests: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed, 1);
    let blocks = (map.end_block(0) / 10_000).clamp(1, 4_000);
    let mut place = || random.below(map.end_block(0) / blocks) * blocks;
    let options = Options {
        head: map.position(0, place()).unwrap(),
        end: End::Anywhere,
        read_through: true,
    };
    let requests: Vec<Request> = (0..requests)
        .map(|_| {
            let block = place();
            Request::single(
                PlacedExtent::on_map(map, 0, block, block + blocks - 1, 1 << 30).unwrap(),
            )
        })
        .collect();
    Problem::new(tape, options, &requests)
}

#[test]
fn tour_bounds_of_batches_are_certified() {
    for (name, problem) in [
        ("dlt4000, 100", dlt4000(100, 1)),
        ("dlt4000, 300", dlt4000(300, 2)),
        ("lto8, 30", lto8(30, 3)),
        ("lto8, 100", lto8(100, 3)),
        ("lto8, 300", lto8(300, 4)),
    ] {
        let mut tour = Tour::new(&problem);
        assert_eq!(tour.programme.optimise(), Outcome::Optimal, "{name}");
        assert_eq!(
            tour.programme.simplex.pivots(),
            0,
            "{name}: the basis was optimal"
        );
        let mut bound = tour.programme.simplex.objective();
        assert!(
            (bound - tour.assignment).abs() < 1.0,
            "{name}: the assignment"
        );
        loop {
            let cuts = tour.cut();
            assert_eq!(tour.programme.optimise(), Outcome::Optimal, "{name}");
            tour.programme
                .certify(&format!("{name}, after {cuts} cuts"));
            let raised = tour.programme.simplex.objective();
            assert!(raised > bound - 1.0, "{name}: {raised} after {bound}");
            let arcs = tour.price();
            assert_eq!(tour.programme.optimise(), Outcome::Optimal, "{name}");
            tour.programme
                .certify(&format!("{name}, after {arcs} arcs"));
            bound = tour.programme.simplex.objective();
            assert!(
                bound < raised + 1.0,
                "{name}: {bound} with more arcs than for {raised}"
            );
            if cuts + arcs == 0 {
                break;
            }
        }
        assert!(bound > tour.assignment - 1.0, "{name}");
    }
}

/// As a branch and bound does: one arc forbidden at a time, and back again.
#[test]
fn branches_are_certified_and_undone() {
    let problem = lto8(60, 5);
    let mut tour = Tour::new(&problem);
    assert_eq!(tour.programme.optimise(), Outcome::Optimal);
    while tour.cut() > 0 {
        assert_eq!(tour.programme.optimise(), Outcome::Optimal);
    }
    let root = tour.programme.simplex.basis();
    let bound = tour.programme.simplex.objective();
    let used: Vec<u32> = (0..tour.arcs.len() as u32)
        .filter(|&column| tour.programme.simplex.value(column) > TOLERANCE)
        .collect();
    let mut infeasible = 0;
    for pair in used.windows(2) {
        for &column in pair {
            tour.programme.forbid(column, true);
        }
        match tour.programme.optimise() {
            Outcome::Optimal => {
                tour.programme.certify("a branch");
                assert!(tour.programme.simplex.objective() > bound - 1.0);
            }
            outcome => {
                assert_eq!(outcome, Outcome::Infeasible);
                infeasible += 1;
            }
        }
        for &column in pair {
            tour.programme.forbid(column, false);
        }
        tour.programme.simplex.restore(&root);
    }
    assert!(
        infeasible < used.len() / 2,
        "{infeasible} branches without a tour"
    );
    assert_eq!(tour.programme.optimise(), Outcome::Optimal);
    assert!((tour.programme.simplex.objective() - bound).abs() < 1.0);
}

/// Bad starts are where a method could go round in circles: nearly all steps are degenerate.
#[test]
fn every_start_leads_to_the_same_bound() {
    for (name, problem) in [("dlt4000", dlt4000(200, 7)), ("lto8", lto8(200, 8))] {
        let mut tour = Tour::new(&problem);
        assert_eq!(tour.programme.optimise(), Outcome::Optimal);
        while tour.cut() > 0 {
            assert_eq!(tour.programme.optimise(), Outcome::Optimal);
        }
        let bound = tour.programme.simplex.objective();
        let columns = tour.programme.simplex.columns() as u32;
        let assigned: Vec<u32> = (0..tour.cities() as u32).collect();
        let mut shuffled: Vec<u32> = (0..columns).collect();
        Random::new(9, 0).shuffle(&mut shuffled);
        for start in [&[][..], &assigned, &shuffled] {
            tour.programme.simplex.start_from(start);
            let context = format!("{name} from {} columns", start.len());
            assert_eq!(tour.programme.optimise(), Outcome::Optimal, "{context}");
            tour.programme.certify(&context);
            let objective = tour.programme.simplex.objective();
            assert!(
                (objective - bound).abs() < 1.0,
                "{context}: {objective} for {bound}"
            );
        }
    }
}
