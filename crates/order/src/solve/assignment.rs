//! The assignment bound: the cheapest way to give every city a successor, cycles allowed.
//!
//! A path from the head over all visits gives every city (the visits and the head) one successor
//! (a visit, or the end), so the cheapest assignment is never dearer than the best order. Its dual
//! prices prove that without looking at any order: see [`Assignment::bound`]. The bound is loose
//! for small batches and becomes tight as they grow.
//!
//! There is no matrix. A [`Matching`] over a few arcs of each row is made cheapest; then all other
//! arcs are priced by the geometry of the model ([`Pricing`]), and those that undercut the prices
//! join, until none does (column generation).

mod candidates;
mod matching;

#[cfg(test)]
mod tests;

use crate::problem::Problem;
use crate::solve::chains::chains;
use crate::solve::offers::Offers;
use crate::solve::pricing::Pricing;
use candidates::Candidates;
use matching::{Arc, Matching};
use tapewise_model::Micros;

/// Up to here chains save nothing.
const STRAIGHT_VISITS: usize = 1_500;

/// Rounds in which rows only bid for columns before they are given them for good; fewer where
/// hardly any row is left open.
const BIDDING_ROUNDS: usize = 3;

/// Visits ahead that a visit of a chain may go to from the beginning.
const AHEAD: usize = 3;

/// A price at which no column is worth having.
const OUT_OF_REACH: i64 = -1_000_000_000_000;

/// Arcs that join at a time for each row.
const JOINING: usize = 8;

/// A cheapest assignment with the dual prices that prove it.
///
/// Cities are numbered like visits, with the head behind the last as a row, and the end behind the
/// last as a column.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// For each city what comes after it: a visit, or the number of visits for the end.
    pub successor: Vec<u32>,
    /// The dual price of each row in microseconds.
    pub(crate) rows: Vec<i64>,
    /// The dual price of each column.
    pub(crate) columns: Vec<i64>,
    candidates: Candidates,
}

impl Assignment {
    /// The cheapest assignment of a batch.
    pub fn new(problem: &Problem) -> Assignment {
        Assignment::within(problem, &|| false)
    }

    /// The cheapest assignment of a batch, or what there is of it when the time is out: then every
    /// city has a successor and the prices prove a bound, but a lower one than was to be had.
    pub(crate) fn within(problem: &Problem, out_of_time: &dyn Fn() -> bool) -> Assignment {
        if problem.is_empty() {
            return Assignment {
                successor: vec![0],
                rows: vec![0],
                columns: vec![0],
                candidates: Candidates::default(),
            };
        }
        let generation = |problem| Generation::new(Pricing::new(problem), out_of_time);
        let straight = || generation(problem).solve();
        if problem.len() <= STRAIGHT_VISITS {
            return straight();
        }
        let chains = chains(problem);
        if chains.len() > problem.len() / 4 * 3 {
            return straight();
        }
        let contracted = problem.contracted(&chains);
        let coarse = Generation::new(Pricing::new(&contracted), out_of_time).solve();
        generation(problem).refine(&coarse, &chains)
    }

    /// The sum of the dual prices: no order spends less time between reads.
    ///
    /// It proves itself wherever no arc is cheaper than the prices of its two ends together, which
    /// [`Assignment::is_proof`] checks.
    pub fn bound(&self) -> Micros {
        Micros(self.rows.iter().sum::<i64>() + self.columns.iter().sum::<i64>())
    }

    /// Where to go from a city at little reduced cost, the least first: the arcs that a search for
    /// orders looks at.
    pub fn candidates(&self, city: u32) -> &[u32] {
        self.candidates.of(city)
    }

    /// Whether the dual prices are feasible: every arc costs at least the prices of its two ends.
    /// Looks at all arcs, so it takes time that grows with the square of the batch.
    pub fn is_proof(&self, problem: &Problem) -> bool {
        let n = problem.len();
        let mut times = vec![Micros::ZERO; n];
        (0..=n).all(|tail| {
            problem.arcs((tail < n).then_some(tail), &mut times);
            let arcs = times.iter().enumerate().filter(|&(head, _)| head != tail);
            let mut arcs = arcs.map(|(head, time)| (head, time.0));
            let end = (tail < n).then(|| (n, problem.end_cost(tail).0));
            let row = self.rows[tail];
            arcs.all(|(head, cost)| cost >= row + self.columns[head])
                && end.is_none_or(|(head, cost)| cost >= row + self.columns[head])
        })
    }
}

/// Column generation: arcs join a matching until none is missing.
struct Generation<'a, P> {
    offers: P,
    out_of_time: &'a dyn Fn() -> bool,
    matching: Matching,
    /// By row: the least cost less price when it was last priced. Prices of columns only fall, so
    /// it stays a lower bound.
    least: Vec<i64>,
    joining: Vec<(u32, Arc)>,
}

impl<'a, P: Offers> Generation<'a, P> {
    fn new(offers: P, out_of_time: &'a dyn Fn() -> bool) -> Generation<'a, P> {
        let cities = offers.cities();
        Generation {
            offers,
            out_of_time,
            matching: Matching::new(cities),
            least: vec![i64::MIN; cities],
            joining: Vec::new(),
        }
    }

    fn solve(mut self) -> Assignment {
        self.start();
        self.matching.reduce_rows();
        for _ in 0..BIDDING_ROUNDS {
            if !self.join() || self.matching.open() * 4 < self.offers.cities() {
                break;
            }
            self.matching.reduce_rows();
        }
        self.matching.complete(self.out_of_time);
        self.join_all()
    }

    fn join_all(mut self) -> Assignment {
        while !(self.out_of_time)() && self.join() {
            self.matching.complete(self.out_of_time);
        }
        self.finish()
    }

    fn finish(mut self) -> Assignment {
        if self.matching.open() > 0 || (self.out_of_time)() {
            self.stop_short();
        }
        let candidates = self.candidates();
        // Where a model only knows a lower bound of a cost, the row's price gives way.
        let rows = self.matching.rows.iter().zip(&self.least);
        Assignment {
            rows: rows.map(|(&row, &least)| row.min(least)).collect(),
            successor: self.matching.column_of,
            columns: self.matching.columns,
            candidates,
        }
    }

    /// Begins from the assignment of chains of visits instead of from nothing.
    fn refine(mut self, coarse: &Assignment, chains: &[Vec<u32>]) -> Assignment {
        self.extend(coarse, chains);
        self.join_all()
    }

    /// Gives rows that are still open any column, and lowers the price of every row until no arc
    /// undercuts it.
    fn stop_short(&mut self) {
        self.matching.give_away();
        let prices = &self.matching.columns;
        self.offers.set_prices(prices);
        for (row, least) in self.least.iter_mut().enumerate() {
            *least = i64::MAX;
            self.offers
                .offers(row, prices, |_, reduced| *least = reduced.min(*least));
        }
        self.matching.rows.copy_from_slice(&self.least);
    }

    /// Takes over the successors and prices of chains. Within a chain every visit is followed by
    /// the next; its row is priced against the other chains only, and the next column so that the
    /// arc between them is tight: the lowest price it can have, which undercuts least.
    fn extend(&mut self, coarse: &Assignment, chains: &[Vec<u32>]) {
        let end = self.offers.cities() - 1;
        let columns = &mut self.matching.columns;
        columns.fill(OUT_OF_REACH);
        let first = |chain: u32| chains.get(chain as usize).map_or(end, |c| c[0] as usize);
        let last = |chain: usize| chains.get(chain).map_or(end, |c| c[c.len() - 1] as usize);
        for (chain, &price) in coarse.columns.iter().enumerate() {
            columns[first(chain as u32)] = price;
        }
        self.offers.set_prices(columns);
        let mut successor = vec![0; end + 1];
        for (chain, &next) in coarse.successor.iter().enumerate() {
            successor[last(chain)] = first(next);
        }
        let mut inner = Vec::new();
        for link in chains.iter().flat_map(|chain| chain.windows(2)) {
            let (row, next) = (link[0] as usize, link[1] as usize);
            successor[row] = next;
            let mut least = i64::MAX;
            self.offers
                .offers(row, columns, |_, reduced| least = least.min(reduced));
            inner.push((next, self.offers.cost(row, next) - least));
        }
        for (column, price) in inner {
            columns[column] = price;
        }
        self.offers.set_prices(columns);
        for (row, &column) in successor.iter().enumerate() {
            let cost = self.offers.cost(row, column);
            let column = column as u32;
            self.joining.push((row as u32, Arc { column, cost }));
            for ahead in 1..=AHEAD {
                let next = row + 1 + ahead;
                if row < end && next < end && next != row {
                    let cost = self.offers.cost(row, next);
                    self.joining.push((
                        row as u32,
                        Arc {
                            column: next as u32,
                            cost,
                        },
                    ));
                }
            }
            let begin = self.joining.len();
            let (joining, prices) = (&mut self.joining, &self.matching.columns);
            self.offers.offers(row, prices, |column, reduced| {
                let cost = reduced + prices[column as usize];
                joining.push((row as u32, Arc { column, cost }));
            });
            self.keep_undercutting(begin, i64::MAX);
        }
        self.matching.add(&self.joining);
        self.matching.assign(&successor);
    }

    /// The arcs to begin with: the offers at no prices at all, and the logical order, so that every
    /// row can have a column.
    fn start(&mut self) {
        let cities = self.offers.cities();
        self.offers.set_prices(&self.matching.columns);
        for row in 0..cities {
            let next = if row + 1 < cities { row + 1 } else { 0 };
            let next = Arc {
                column: next as u32,
                cost: self.offers.cost(row, next),
            };
            self.joining.push((row as u32, next));
            let joining = &mut self.joining;
            self.offers
                .offers(row, &self.matching.columns, |column, cost| {
                    joining.push((row as u32, Arc { column, cost }));
                });
        }
        for (row, arc) in &mut self.joining {
            arc.cost = self.offers.cost(*row as usize, arc.column as usize);
        }
        self.matching.add(&self.joining);
        self.matching.reduce_columns();
    }

    /// Prices the rows whose prices rose, adds the arcs that undercut them and frees those rows;
    /// whether there were any.
    fn join(&mut self) -> bool {
        self.joining.clear();
        self.offers.set_prices(&self.matching.columns);
        for row in 0..self.offers.cities() {
            let open = self.matching.column_of[row] == matching::NOBODY;
            let price = if open {
                i64::MAX
            } else {
                self.matching.rows[row]
            };
            if price <= self.least[row] {
                continue;
            }
            let begin = self.joining.len();
            let (joining, mut least) = (&mut self.joining, i64::MAX);
            let prices = &self.matching.columns;
            self.offers.offers(row, prices, |column, reduced| {
                least = least.min(reduced);
                if reduced < price {
                    let cost = reduced + prices[column as usize];
                    joining.push((row as u32, Arc { column, cost }));
                }
            });
            self.least[row] = least;
            if self.joining.len() > begin {
                self.keep_undercutting(begin, price);
            }
            if self.joining.len() > begin && !open {
                self.matching.free(row as u32);
            }
        }
        self.matching.add(&self.joining);
        !self.joining.is_empty()
    }

    /// The arcs of least reduced cost of every row, of those that were ever offered.
    fn candidates(&self) -> Candidates {
        let mut candidates = Candidates::default();
        let prices = &self.matching.columns;
        let mut arcs = Vec::new();
        for row in 0..self.offers.cities() as u32 {
            let known = self.matching.arcs(row).iter();
            let reduced = |arc: &Arc| (arc.cost - prices[arc.column as usize], arc.column);
            arcs.clear();
            arcs.extend(known.map(reduced));
            self.offers.offers(row as usize, prices, |column, reduced| {
                arcs.push((reduced, column))
            });
            candidates.push(&mut arcs);
        }
        candidates
    }

    /// Of the arcs found for a row, those that undercut its price indeed, the best of them.
    fn keep_undercutting(&mut self, begin: usize, price: i64) {
        let (offers, prices) = (&self.offers, &self.matching.columns);
        let mut kept = begin;
        for at in begin..self.joining.len() {
            let (row, arc) = self.joining[at];
            let cost = offers.cost(row as usize, arc.column as usize);
            if cost - prices[arc.column as usize] < price {
                self.joining[kept] = (row, Arc { cost, ..arc });
                kept += 1;
            }
        }
        self.joining.truncate(kept);
        if kept - begin > JOINING {
            let arcs = &mut self.joining[begin..];
            arcs.sort_unstable_by_key(|(_, arc)| arc.cost - prices[arc.column as usize]);
            self.joining.truncate(begin + JOINING);
        }
    }
}
