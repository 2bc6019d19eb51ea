//! Where the linear programme starts: the arcs it begins with, and a basis that is optimal for them.

use super::certificate::Certificate;
use crate::solve::cities::Cities;
use crate::solve::tour::Tour;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Arcs of least reduced cost out of every city, and into it, that the programme begins with.
const NEAR_ARCS: usize = 6;

/// Arcs to begin with, by tail; those of the basis come first for every tail.
pub(crate) struct Start {
    /// The assignment and a tree that joins its cities, which together are an optimal basis.
    pub(crate) basis: Vec<(u32, u32)>,
    /// Other arcs of little reduced cost, and those of the tour.
    pub(crate) others: Vec<(u32, u32)>,
}

impl Start {
    /// A start with these arcs and no basis.
    pub(crate) fn cold(arcs: Vec<(u32, u32)>) -> Start {
        Start {
            basis: Vec::new(),
            others: arcs,
        }
    }

    /// The start from a cheapest assignment with its certificate, and a tour.
    pub(crate) fn new(
        cities: &Cities,
        successor: &[u32],
        certificate: &Certificate,
        tour: &Tour,
    ) -> Start {
        let mut arcs = near_arcs(cities, certificate);
        for (tail, head) in tour.arcs() {
            arcs[tail.index()].push((0, head.0));
        }
        // The reduced cost of the tour's arcs was not at hand.
        let mut row = vec![0; cities.len()];
        for (tail, near) in arcs.iter_mut().enumerate() {
            if let Some(last) = near.last_mut() {
                certificate.reduced_costs(cities, tail, &mut row);
                last.0 = row[last.1 as usize];
            }
            near.sort_unstable();
            near.dedup();
        }
        let mut basis: Vec<(u32, u32)> = (0..).zip(successor.iter().copied()).collect();
        basis.extend(shortest_tree(successor, &arcs));
        let others = (0..)
            .zip(&arcs)
            .flat_map(|(tail, near)| near.iter().map(move |&(_, head)| (tail, head)));
        Start {
            basis,
            others: others.collect(),
        }
    }
}

/// For every tail the heads that are among its nearest, or that it is among the nearest of, with
/// their reduced costs.
fn near_arcs(cities: &Cities, certificate: &Certificate) -> Vec<Vec<(i64, u32)>> {
    let n = cities.len();
    let mut arcs: Vec<Vec<(i64, u32)>> = Vec::with_capacity(n);
    let mut nearest_tails: Vec<Vec<(i64, u32)>> = vec![Vec::with_capacity(NEAR_ARCS + 1); n];
    let mut row = vec![0; n];
    for tail in 0..n {
        certificate.reduced_costs(cities, tail, &mut row);
        let mut near = Vec::with_capacity(NEAR_ARCS + 1);
        for (head, &reduced) in row.iter().enumerate().filter(|&(head, _)| head != tail) {
            offer(&mut near, (reduced, head as u32));
            offer(&mut nearest_tails[head], (reduced, tail as u32));
        }
        arcs.push(near);
    }
    for (head, tails) in nearest_tails.into_iter().enumerate() {
        for (reduced, tail) in tails {
            arcs[tail as usize].push((reduced, head as u32));
        }
    }
    arcs
}

fn offer(nearest: &mut Vec<(i64, u32)>, arc: (i64, u32)) {
    if nearest.len() == NEAR_ARCS {
        if arc >= nearest[NEAR_ARCS - 1] {
            return;
        }
        nearest.pop();
    }
    let place = nearest.partition_point(|kept| *kept < arc);
    nearest.insert(place, arc);
}

/// The arcs over which every tail is reached at least reduced cost when a tail leads to the tails
/// that its arcs' heads are assigned to: moving prices along it makes them all tight.
fn shortest_tree(successor: &[u32], arcs: &[Vec<(i64, u32)>]) -> Vec<(u32, u32)> {
    let mut owner = vec![0; successor.len()];
    for (tail, &head) in (0..).zip(successor) {
        owner[head as usize] = tail;
    }
    let mut reached = vec![false; successor.len()];
    let mut tree = Vec::with_capacity(successor.len());
    let mut heap = BinaryHeap::from([Reverse((0i64, 0u32, None))]);
    while let Some(Reverse((distance, tail, over))) = heap.pop() {
        if std::mem::replace(&mut reached[tail as usize], true) {
            continue;
        }
        tree.extend(over);
        for &(reduced, head) in &arcs[tail as usize] {
            let next: u32 = owner[head as usize];
            if !reached[next as usize] {
                heap.push(Reverse((distance + reduced, next, Some((tail, head)))));
            }
        }
    }
    tree
}
