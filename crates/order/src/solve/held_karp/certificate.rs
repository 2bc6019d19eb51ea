//! A proof that no order is shorter: prices of cities and of cuts.

use super::facets::ArcCut;
use crate::solve::cities::Cities;

/// Cities of which a tour must leave at least once: neither none nor all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The cities, in rising order.
    pub(crate) members: Vec<u32>,
    /// What leaving costs less when the certificate is read as prices, in microseconds; at least 0.
    pub(crate) price: i64,
}

/// A cut on arcs with its price, in microseconds for each weight; at least 0.
#[derive(Clone, Debug)]
pub(crate) struct PricedArcCut {
    /// The cut.
    pub(crate) cut: ArcCut,
    /// What each unit of its limit takes off the bound, and adds to its arcs.
    pub(crate) price: i64,
}

/// Dual prices of the assignment problem with cuts, in whole microseconds.
///
/// Whatever the prices of heads and cuts are, the sum of all prices is a lower bound, because the
/// price of a tail is never more than the least that leaving it costs: see [`Certificate::new`].
#[derive(Clone, Debug)]
pub(crate) struct Certificate {
    tails: Vec<i64>,
    heads: Vec<i64>,
    cuts: Vec<Cut>,
    arc_cuts: Vec<PricedArcCut>,
    /// For each tail the heads of arcs that cuts on arcs make dearer, and by how much.
    dearer: Vec<Vec<(u32, i64)>>,
    /// For each city the cuts it is in.
    memberships: Vec<Vec<u32>>,
}

impl Certificate {
    /// The certificate that prices of heads and of cuts allow: every tail is priced at the least
    /// reduced cost of its arcs, all of which are looked at.
    pub(crate) fn new(
        cities: &Cities,
        heads: Vec<i64>,
        cuts: Vec<Cut>,
        arc_cuts: Vec<PricedArcCut>,
    ) -> Certificate {
        debug_assert!(cuts.iter().all(|cut| cut.price >= 0));
        debug_assert!(arc_cuts.iter().all(|cut| cut.price >= 0));
        let mut dearer = vec![Vec::new(); cities.len()];
        for PricedArcCut { cut, price } in &arc_cuts {
            for &(tail, head, weight) in &cut.arcs {
                dearer[tail as usize].push((head, weight * price));
            }
        }
        let mut memberships = vec![Vec::new(); cities.len()];
        for (index, cut) in cuts.iter().enumerate() {
            for &city in &cut.members {
                memberships[city as usize].push(index as u32);
            }
        }
        let mut certificate = Certificate {
            tails: vec![0; cities.len()],
            heads,
            cuts,
            arc_cuts,
            dearer,
            memberships,
        };
        let mut row = vec![0; cities.len()];
        certificate.tails = (0..cities.len())
            .map(|tail| {
                certificate.reduced_costs(cities, tail, &mut row);
                row.iter().copied().min().unwrap_or(0)
            })
            .collect();
        certificate
    }

    /// The sum of all prices: no order spends less time between reads, in microseconds.
    pub(crate) fn bound(&self) -> i64 {
        let cuts = self.cuts.iter().map(|cut| cut.price);
        let arc_cuts = self.arc_cuts.iter();
        let arc_cuts = arc_cuts.map(|priced| -priced.price * priced.cut.limit);
        self.tails
            .iter()
            .chain(&self.heads)
            .copied()
            .chain(cuts)
            .chain(arc_cuts)
            .sum()
    }

    /// The price of leaving each city.
    pub(crate) fn tails(&self) -> &[i64] {
        &self.tails
    }

    /// What every arc from `tail` costs beyond the prices of its ends and of the cuts it leaves;
    /// never negative.
    pub(crate) fn reduced_costs(&self, cities: &Cities, tail: usize, row: &mut [i64]) {
        let leaving: i64 = self.cuts_of(tail).map(|cut| cut.price).sum();
        let price = self.tails[tail] + leaving;
        for (head, reduced) in row.iter_mut().enumerate() {
            *reduced = cities.cost(tail, head) - price - self.heads[head];
        }
        for cut in self.cuts_of(tail) {
            for &inside in &cut.members {
                row[inside as usize] += cut.price;
            }
        }
        for &(head, by) in &self.dearer[tail] {
            row[head as usize] += by;
        }
    }

    fn cuts_of(&self, city: usize) -> impl Iterator<Item = &Cut> {
        let of_city = &self.memberships[city];
        of_city.iter().map(|&index| &self.cuts[index as usize])
    }
}
