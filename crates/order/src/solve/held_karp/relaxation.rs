//! The linear programme of a batch: every city left once and entered once, every cut left once.
//!
//! Arcs are columns and join when their reduced cost says so; cuts are rows and join when they are
//! violated. The linear programme works in floating point and only proposes prices: what counts is
//! the [`Certificate`] made of them in whole microseconds.

use super::certificate::{Certificate, Cut, PricedArcCut};
use super::facets::{ArcCut, violated_arc_cuts};
use super::separation::{Share, violated_sets};
use super::start::Start;
use crate::solve::cities::{Cities, City};
use crate::solve::effort::Meter;
use crate::solve::simplex::{Basis, Outcome, Relation, Simplex, Stop};
use std::collections::HashMap;
use tapewise_model::Micros;

/// Microseconds to the unit of the linear programme, in which its tolerances are meant.
const UNIT_US: f64 = 1e6;

/// Arcs that a city brings in at most in one round of pricing.
const PRICED_ARCS: usize = 4;

/// Work of a row in a pivot, as measured against the work of a search.
const ROW_WORK: u64 = 5;

/// Pivots that take as long as factorising the basis.
const FACTORISED_PIVOTS: usize = 8;

/// Rows times pivots between two looks at the meter: some hundredths of a second.
const PIVOTED_ROWS: usize = 400_000;

/// The linear programme with the cities, arcs and cuts that its columns and rows stand for.
pub(crate) struct Relaxation<'a> {
    cities: &'a Cities<'a>,
    programme: Simplex,
    /// The arcs in the order of their columns; see [`Relaxation::column`].
    arcs: Vec<(u32, u32)>,
    /// Arcs that are not to be used: ruled out for good, or by the branch at hand.
    barred: Vec<bool>,
    /// For each tail its heads with their arcs, sorted.
    arcs_of: Vec<Vec<(u32, u32)>>,
    /// The cities of every subtour cut, and its row.
    cuts: Vec<(Vec<u32>, u32)>,
    /// For each city the subtour cuts it is in.
    memberships: Vec<Vec<u32>>,
    /// The cuts on arcs, and their rows.
    arc_cuts: Vec<(ArcCut, u32)>,
    /// For each arc that is in such cuts, column or not, their numbers and its weights.
    weights: HashMap<(u32, u32), Vec<(u32, i64)>>,
}

impl<'a> Relaxation<'a> {
    /// The assignment problem over some arcs, from an optimal basis of it.
    ///
    /// A way out of every city and a way into it that are as dear as a whole tour, `dear`, keep it
    /// feasible whatever a branch does without.
    pub(crate) fn new(cities: &'a Cities<'a>, start: &Start, dear: i64) -> Relaxation<'a> {
        let mut programme = Simplex::new();
        for row in 0..2 * cities.len() as u32 {
            programme.add_row(Relation::Equal, 1.0, &[]);
            programme.add_column(Self::units(dear), &[(row, 1.0)]);
        }
        let mut relaxation = Relaxation {
            cities,
            programme,
            arcs: Vec::new(),
            barred: Vec::new(),
            arcs_of: vec![Vec::new(); cities.len()],
            cuts: Vec::new(),
            memberships: vec![Vec::new(); cities.len()],
            arc_cuts: Vec::new(),
            weights: HashMap::new(),
        };
        let mut basis = Vec::with_capacity(start.basis.len());
        for &(tail, head) in &start.basis {
            let (arc, _) = relaxation.add_arc(tail, head);
            basis.push(relaxation.column(arc));
        }
        for &(tail, head) in &start.others {
            relaxation.add_arc(tail, head);
        }
        relaxation.programme.start_from(&basis);
        relaxation
    }

    /// The column of an arc: behind the dear ways out of and into the cities.
    fn column(&self, arc: u32) -> u32 {
        2 * self.cities.len() as u32 + arc
    }

    /// The number of an arc, and whether it is new.
    fn add_arc(&mut self, tail: u32, head: u32) -> (u32, bool) {
        let known = &self.arcs_of[tail as usize];
        let place = match known.binary_search_by_key(&head, |arc| arc.0) {
            Ok(place) => return (known[place].1, false),
            Err(place) => place,
        };
        let n = self.cities.len() as u32;
        let mut terms = vec![(tail, 1.0), (n + head, 1.0)];
        let cuts = self.memberships[tail as usize].iter();
        let cuts = cuts.map(|&cut| &self.cuts[cut as usize]);
        let leaves = cuts.filter(|(members, _)| members.binary_search(&head).is_err());
        terms.extend(leaves.map(|&(_, row)| (row, 1.0)));
        let weights = self.weights.get(&(tail, head)).into_iter().flatten();
        terms.extend(weights.map(|&(cut, weight)| {
            let row = self.arc_cuts[cut as usize].1;
            (row, -weight as f64)
        }));
        let cost = Self::units(self.cities.cost(tail as usize, head as usize));
        self.programme.add_column(cost, &terms);
        let arc = self.arcs.len() as u32;
        self.arcs.push((tail, head));
        self.barred.push(false);
        self.arcs_of[tail as usize].insert(place, (head, arc));
        (arc, true)
    }

    fn add_cut(&mut self, members: Vec<u32>) {
        let index = self.cuts.len() as u32;
        let mut terms = Vec::new();
        for &tail in &members {
            self.memberships[tail as usize].push(index);
            terms.push((tail, 1.0));
            let leave = self.arcs_of[tail as usize]
                .iter()
                .filter(|(head, _)| members.binary_search(head).is_err());
            terms.extend(leave.map(|&(_, arc)| (self.column(arc), 1.0)));
        }
        let row = self.programme.add_row(Relation::AtLeast, 1.0, &terms);
        self.cuts.push((members, row));
    }

    fn add_arc_cut(&mut self, cut: ArcCut) {
        let index = self.arc_cuts.len() as u32;
        let mut terms = Vec::new();
        for &(tail, head, weight) in &cut.arcs {
            let of_arc = self.weights.entry((tail, head)).or_default();
            of_arc.push((index, weight));
            if let Some(arc) = self.arc(tail, head) {
                terms.push((self.column(arc), -weight as f64));
            }
        }
        let limit = -cut.limit as f64;
        let row = self.programme.add_row(Relation::AtLeast, limit, &terms);
        self.arc_cuts.push((cut, row));
    }

    /// The number of an arc, where it is a column.
    fn arc(&self, tail: u32, head: u32) -> Option<u32> {
        let known = &self.arcs_of[tail as usize];
        let place = known.binary_search_by_key(&head, |arc| arc.0).ok()?;
        Some(known[place].1)
    }

    /// Optimises over the arcs at hand, adding cuts until none is violated, or until cuts on arcs
    /// raise the objective by less than `least_gain` a round.
    pub(crate) fn cut(&mut self, stop: &Stop, least_gain: f64, meter: &Meter) -> Outcome {
        // The objective when cuts on arcs were last added.
        let mut before = f64::NEG_INFINITY;
        loop {
            let stop = Stop {
                max_pivots: stop
                    .max_pivots
                    .min(PIVOTED_ROWS / self.programme.rows() + 20),
                ..*stop
            };
            let outcome = self.optimise(&stop, meter);
            if outcome == Outcome::PivotLimit && !meter.is_spent() {
                continue;
            }
            if outcome != Outcome::Optimal || meter.is_spent() {
                return outcome;
            }
            let shares = self.shares();
            let mut violated = violated_sets(self.cities.len(), &shares);
            // A cut that is there may look violated where dear ways out of cities are in use.
            violated.retain(|members| self.cuts.iter().all(|(known, _)| known != members));
            let objective = self.objective();
            let arc_cuts = if violated.is_empty() && objective >= before + least_gain {
                violated_arc_cuts(&shares)
            } else {
                Vec::new()
            };
            if !arc_cuts.is_empty() {
                before = objective;
            }
            if violated.is_empty() && arc_cuts.is_empty() {
                return outcome;
            }
            for members in violated {
                self.add_cut(members);
            }
            for cut in arc_cuts {
                self.add_arc_cut(cut);
            }
        }
    }

    /// The arcs of the solution with their shares.
    pub(crate) fn shares(&self) -> Vec<Share> {
        let shares = (0u32..).zip(&self.arcs).map(|(arc, &(tail, head))| {
            let share = self.programme.value(self.column(arc));
            (tail, head, share)
        });
        shares.filter(|share| share.2 > 1e-9).collect()
    }

    /// The certificate that the present prices allow.
    pub(crate) fn certificate(&self) -> Certificate {
        let arc_cuts = self.arc_cuts.iter().map(|(cut, row)| PricedArcCut {
            cut: cut.clone(),
            price: self.price(*row as usize).max(0),
        });
        let arc_cuts = arc_cuts.filter(|priced| priced.price > 0).collect();
        Certificate::new(
            self.cities,
            self.head_prices(),
            self.priced_cuts(),
            arc_cuts,
        )
    }

    fn price(&self, row: usize) -> i64 {
        (self.programme.dual(row as u32) * UNIT_US).round() as i64
    }

    fn head_prices(&self) -> Vec<i64> {
        let n = self.cities.len();
        (n..2 * n).map(|row| self.price(row)).collect()
    }

    fn priced_cuts(&self) -> Vec<Cut> {
        let cuts = self.cuts.iter().map(|(members, row)| Cut {
            members: members.clone(),
            price: self.price(*row as usize).max(0),
        });
        cuts.filter(|cut| cut.price > 0).collect()
    }

    /// Adds the arcs that the certificate's full pricing found too cheap; their number.
    fn price_in(&mut self, certificate: &Certificate) -> usize {
        let mut added = 0;
        let mut row = vec![0; self.cities.len()];
        let mut cheapest: Vec<(i64, u32)> = Vec::new();
        for tail in 0..self.cities.len() {
            let lowered = self.price(tail) - certificate.tails()[tail];
            if lowered <= 1 {
                continue;
            }
            certificate.reduced_costs(self.cities, tail, &mut row);
            cheapest.clear();
            let cheaper = row.iter().enumerate().filter(|arc| *arc.1 < lowered - 1);
            cheapest.extend(cheaper.map(|(head, &reduced)| (reduced, head as u32)));
            cheapest.sort_unstable();
            for &(_, head) in cheapest.iter().take(PRICED_ARCS) {
                added += usize::from(self.add_arc(tail as u32, head).1);
            }
        }
        added
    }

    /// Cuts and prices until neither finds anything, or until the bound reaches `target`; the best
    /// certificate on the way.
    pub(crate) fn bound(&mut self, target: i64, meter: &Meter) -> Certificate {
        let mut best: Option<Certificate> = None;
        loop {
            let outcome = self.cut(&Stop::AT_OPTIMUM, Self::units(1), meter);
            let certificate = self.certificate();
            let n = self.cities.len() as u64;
            let may_go_on = meter.spend(n * n);
            let added = match outcome {
                Outcome::Optimal if may_go_on && certificate.bound() < target => {
                    self.price_in(&certificate)
                }
                _ => 0,
            };
            if best
                .as_ref()
                .is_none_or(|best| certificate.bound() > best.bound())
            {
                best = Some(certificate);
            }
            match best {
                Some(best) if added == 0 => return best,
                _ => {}
            }
        }
    }

    /// The cities.
    pub(crate) fn cities(&self) -> &'a Cities<'a> {
        self.cities
    }

    /// A cost as the linear programme counts it.
    pub(crate) fn units(cost_us: i64) -> f64 {
        cost_us as f64 / UNIT_US
    }

    /// Bars the arcs whose reduced cost is `gap` or more for good.
    pub(crate) fn bar_arcs_above(&mut self, certificate: &Certificate, gap: i64) {
        let mut row = vec![0; self.cities.len()];
        let mut above = Vec::new();
        for (tail, arcs) in self.arcs_of.iter().enumerate() {
            certificate.reduced_costs(self.cities, tail, &mut row);
            let dear = arcs.iter().filter(|(head, _)| row[*head as usize] >= gap);
            above.extend(dear.map(|&(_, arc)| arc));
        }
        self.bar(&above, true);
    }

    /// Where the linear programme stands.
    pub(crate) fn basis(&self) -> Basis {
        self.programme.basis()
    }

    /// Goes back to where it stood.
    pub(crate) fn restore(&mut self, basis: &Basis) {
        self.programme.restore(basis);
    }

    /// Bars arcs, or takes them back.
    pub(crate) fn bar(&mut self, arcs: &[u32], barred: bool) {
        for &arc in arcs {
            self.programme.forbid(self.column(arc), barred);
            self.barred[arc as usize] = barred;
        }
    }

    /// The bound that the present prices prove for tours of arcs that are not barred.
    pub(crate) fn bound_of_allowed(&self) -> i64 {
        let n = self.cities.len();
        // Of tails 0, so that reduced costs say what these are worth.
        let mut prices = vec![0; self.programme.rows()];
        for (row, price) in prices.iter_mut().enumerate().skip(n) {
            *price = self.price(row);
        }
        let cut_rows = self.cuts.iter().map(|(_, row)| (1, *row));
        let arc_cuts = self.arc_cuts.iter();
        let limits = cut_rows.chain(arc_cuts.map(|(cut, row)| (-cut.limit, *row)));
        let mut bound: i64 = prices[n..2 * n].iter().sum();
        for (limit, row) in limits {
            let price = &mut prices[row as usize];
            *price = (*price).max(0);
            bound += limit * *price;
        }
        let tails = self.arcs_of.iter().enumerate().map(|(tail, arcs)| {
            let allowed = arcs.iter().filter(|&&(_, arc)| !self.barred[arc as usize]);
            let reduced = allowed.map(|&(head, arc)| {
                let terms = self.programme.terms(self.column(arc)).iter();
                let paid = terms.map(|&(row, weight)| weight as i64 * prices[row as usize]);
                self.cities.cost(tail, head as usize) - paid.sum::<i64>()
            });
            // A city without a way out: no tour at all.
            reduced.min().unwrap_or(Micros::FAR.0)
        });
        bound + tails.sum::<i64>()
    }

    /// Number of arcs.
    pub(crate) fn arcs(&self) -> usize {
        self.arcs.len()
    }

    /// Optimises over the arcs and cuts at hand.
    pub(crate) fn optimise(&mut self, stop: &Stop, meter: &Meter) -> Outcome {
        let outcome = self.programme.optimise(stop);
        let steps = (self.programme.pivots() + FACTORISED_PIVOTS) as u64;
        meter.spend(steps * self.programme.rows() as u64 * ROW_WORK);
        outcome
    }

    /// The objective, as the linear programme counts it.
    pub(crate) fn objective(&self) -> f64 {
        self.programme.objective()
    }

    /// The arcs that are taken in part, with their shares.
    pub(crate) fn fractional(&self) -> Vec<(u32, f64)> {
        (0..self.arcs.len() as u32)
            .map(|arc| (arc, self.programme.value(self.column(arc))))
            .filter(|(_, share)| (1e-6..=1.0 - 1e-6).contains(share))
            .collect()
    }

    /// The arcs taken whole, as the successor of each city; `None` where a city has none.
    pub(crate) fn whole_arcs(&self) -> Option<Vec<City>> {
        let mut successor = vec![None; self.cities.len()];
        for (tail, head, share) in self.shares() {
            if share > 0.5 {
                successor[tail as usize] = Some(City(head));
            }
        }
        successor.into_iter().collect()
    }

    /// The allowed arcs that cannot be taken beside this one: those that leave its tail or enter
    /// its head.
    pub(crate) fn rivals(&self, arc: u32) -> Vec<u32> {
        let (tail, head) = self.arcs[arc as usize];
        let others = (0u32..).zip(&self.arcs).filter(|&(other, &(t, h))| {
            other != arc && !self.barred[other as usize] && (t == tail || h == head)
        });
        others.map(|(other, _)| other).collect()
    }
}
