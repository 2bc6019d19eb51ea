//! A proof that no order is shorter: prices of cities and of cuts.

use crate::solve::cities::Cities;

/// Cities of which a tour must leave at least once: neither none nor all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The cities, in rising order.
    pub(crate) members: Vec<u32>,
    /// What leaving costs less when the certificate is read as prices, in microseconds; at least 0.
    pub(crate) price: i64,
}

/// Dual prices of the assignment problem with subtour cuts, in whole microseconds.
///
/// Whatever the prices of heads and cuts are, the sum of all prices is a lower bound, because the
/// price of a tail is never more than the least that leaving it costs: see [`Certificate::new`].
#[derive(Clone, Debug)]
pub(crate) struct Certificate {
    tails: Vec<i64>,
    heads: Vec<i64>,
    cuts: Vec<Cut>,
    /// For each city the cuts it is in.
    memberships: Vec<Vec<u32>>,
}

impl Certificate {
    /// The certificate that prices of heads and of cuts allow: every tail is priced at the least
    /// reduced cost of its arcs, all of which are looked at.
    pub(crate) fn new(cities: &Cities, heads: Vec<i64>, cuts: Vec<Cut>) -> Certificate {
        debug_assert!(cuts.iter().all(|cut| cut.price >= 0));
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
        self.tails
            .iter()
            .chain(&self.heads)
            .copied()
            .chain(cuts)
            .sum()
    }

    /// The price of leaving each city.
    pub(crate) fn tails(&self) -> &[i64] {
        &self.tails
    }

    /// The price of entering each city.
    pub(crate) fn heads(&self) -> &[i64] {
        &self.heads
    }

    /// The cuts with their prices.
    pub(crate) fn cuts(&self) -> &[Cut] {
        &self.cuts
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
    }

    fn cuts_of(&self, city: usize) -> impl Iterator<Item = &Cut> {
        let of_city = &self.memberships[city];
        of_city.iter().map(|&index| &self.cuts[index as usize])
    }
}
