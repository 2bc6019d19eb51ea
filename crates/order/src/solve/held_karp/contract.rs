//! What is left of a batch when only tours below a limit are of interest.
//!
//! Reduced costs say what an arc costs beyond the bound. An arc for which that reaches the gap to
//! the limit is in no tour of interest, and where all other ways out of a city and into the next
//! together reach it, the arc between them is in every one. So most cities join to chains, and what
//! is left to decide are a few arcs between the ends of chains.

use super::certificate::Certificate;
use crate::solve::cities::{Cities, City};
use crate::solve::tour::Tour;
use tapewise_model::Micros;

/// A batch with its certain arcs taken.
pub(crate) struct Contracted {
    /// The chains as cities of their own; an arc that is ruled out costs [`Micros::FAR`].
    pub(crate) cities: Cities<'static>,
    /// The arcs between them that are not ruled out.
    pub(crate) arcs: Vec<(u32, u32)>,
    /// The cost of the arcs that are taken for certain.
    pub(crate) taken: i64,
    /// The cities of each chain.
    chains: Vec<Vec<City>>,
}

/// A chain by its number, which is that of a city of what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chain(u32);

/// No city.
const NOBODY: City = City(u32::MAX);

/// What is known of tours that cost less than the bound of a certificate and a gap.
pub(crate) enum Remains {
    /// There is none.
    Nothing,
    /// This is the only one that there can be.
    One(Tour),
    /// They are tours of this.
    Some(Contracted),
    /// More than so many arcs a city are left.
    TooMuch,
}

/// An arc that may be in a tour of interest.
#[derive(Clone, Copy)]
struct Arc {
    tail: City,
    head: City,
    reduced: i64,
}

/// Contracts cities for tours that cost less than the certificate's bound and `gap`; up to `most`
/// arcs a city.
pub(crate) fn contract(
    cities: &Cities,
    certificate: &Certificate,
    gap: i64,
    most: usize,
) -> Remains {
    let n = cities.len();
    let mut row = vec![0; n];
    let mut arcs = Vec::new();
    for tail in 0..n {
        certificate.reduced_costs(cities, tail, &mut row);
        let cheap = (0..n).filter(|&head| head != tail && row[head] < gap);
        arcs.extend(cheap.map(|head| Arc {
            tail: City(tail as u32),
            head: City(head as u32),
            reduced: row[head],
        }));
        if arcs.len() > most * n {
            return Remains::TooMuch;
        }
    }
    let certain = certain_arcs(n, &arcs, gap);
    let Some(chains) = chains(n, &certain) else {
        return Remains::Nothing;
    };
    if let [only] = chains.as_slice() {
        return Remains::One(Tour::new(cities, from_last(only.clone())));
    }
    Remains::Some(Contracted::new(cities, &arcs, chains))
}

/// The arcs without which no tour stays below the gap: whose tail has no other way out, and whose
/// head no other way in, that together cost less.
fn certain_arcs(n: usize, arcs: &[Arc], gap: i64) -> Vec<(City, City)> {
    // Of the ways out of and into every city the cheapest and the next: (cost, other end).
    let mut out = vec![[(gap, NOBODY); 2]; n];
    let mut into = vec![[(gap, NOBODY); 2]; n];
    let offer = |best: &mut [(i64, City); 2], way: (i64, City)| {
        if way < best[0] {
            *best = [way, best[0]];
        } else if way < best[1] {
            best[1] = way;
        }
    };
    for arc in arcs {
        offer(&mut out[arc.tail.index()], (arc.reduced, arc.head));
        offer(&mut into[arc.head.index()], (arc.reduced, arc.tail));
    }
    let other = |best: &[(i64, City); 2], not: City| {
        if best[0].1 == not {
            best[1].0
        } else {
            best[0].0
        }
    };
    let certain = arcs.iter().filter(|arc| {
        let out = other(&out[arc.tail.index()], arc.head);
        let into = other(&into[arc.head.index()], arc.tail);
        out + into >= gap
    });
    certain.map(|arc| (arc.tail, arc.head)).collect()
}

/// The chains that certain arcs make of cities; `None` where they contradict one another.
fn chains(n: usize, certain: &[(City, City)]) -> Option<Vec<Vec<City>>> {
    let mut next = vec![NOBODY; n];
    let mut before = vec![NOBODY; n];
    for &(tail, head) in certain {
        if next[tail.index()] != NOBODY || before[head.index()] != NOBODY {
            return None;
        }
        next[tail.index()] = head;
        before[head.index()] = tail;
    }
    if n > 0 && !before.contains(&NOBODY) {
        // A tour, or several cycles: opened before the first city it is one chain, or not all.
        next[before[0].index()] = NOBODY;
        before[0] = NOBODY;
    }
    let starts = (0..n as u32)
        .map(City)
        .filter(|&city| before[city.index()] == NOBODY);
    let chains: Vec<Vec<City>> = starts
        .map(|start| {
            let step = |&city: &City| Some(next[city.index()]).filter(|&city| city != NOBODY);
            std::iter::successors(Some(start), step).collect()
        })
        .collect();
    // A city that no chain holds lies on a cycle.
    (chains.iter().map(Vec::len).sum::<usize>() == n).then_some(chains)
}

impl Contracted {
    fn new(cities: &Cities, arcs: &[Arc], chains: Vec<Vec<City>>) -> Contracted {
        let n = chains.len();
        // For a first city of a chain the chain, and for a last one.
        let mut starts = vec![None; cities.len()];
        let mut ends = vec![None; cities.len()];
        let mut taken = 0;
        for (index, chain) in (0u32..).zip(&chains) {
            starts[chain[0].index()] = Some(Chain(index));
            ends[chain[chain.len() - 1].index()] = Some(Chain(index));
            let links = chain.windows(2);
            taken += links
                .map(|pair| cities.cost(pair[0].index(), pair[1].index()))
                .sum::<i64>();
        }
        let mut costs = vec![Micros::FAR.0; n * n];
        let mut left = Vec::new();
        for arc in arcs {
            let between = (ends[arc.tail.index()], starts[arc.head.index()]);
            if let (Some(Chain(tail)), Some(Chain(head))) = between
                && tail != head
            {
                let cost = cities.cost(arc.tail.index(), arc.head.index());
                costs[tail as usize * n + head as usize] = cost;
                left.push((tail, head));
            }
        }
        Contracted {
            cities: Cities::with_costs(n, costs),
            arcs: left,
            taken,
            chains,
        }
    }

    /// A tour of the chains as one of the cities.
    pub(crate) fn expand(&self, tour: &Tour) -> Tour {
        let chains = tour.cities.iter().map(|&chain| &self.chains[chain.index()]);
        let cities = from_last(chains.flatten().copied().collect());
        Tour {
            cities,
            cost: tour.cost + self.taken,
        }
    }
}

/// The same tour, ending with the last city.
fn from_last(mut tour: Vec<City>) -> Vec<City> {
    let place = (0..tour.len()).max_by_key(|&place| tour[place]);
    tour.rotate_left(place.map_or(0, |place| place + 1));
    tour
}
