//! What each order would take beside the one that was found, and what would make it better: values
//! only, whoever shows them finds the words.

use crate::effort::Effort;
use crate::found::{Found, Origin};
use crate::goal::Aim;
use crate::place::Placed;
use std::borrow::Cow;
use tapewise_model::profile::Known;
use tapewise_model::{Layout, Micros, PositionSource, Profile};
use tapewise_order::robust::{Misfit, Sensitivity, price_under, tape_with_model_of};
use tapewise_order::{Algorithm, Alternatives, Figures, OPT_MAX_VISITS, Objective, Tape, sort};

/// The orders of a short explanation, beside the one asked for.
pub const SHORT: [Algorithm; 4] = [
    Algorithm::Fifo,
    Algorithm::Sort,
    Algorithm::Cta,
    Algorithm::Best,
];

/// An order of the table.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Which order.
    pub origin: Origin,
    /// What it takes; `None` if there is no such order here.
    pub found: Option<Cow<'a, Found>>,
}

/// An order and what stands beside it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation<'a> {
    /// The batch that is ordered.
    pub placed: &'a Placed,
    /// The order given.
    pub chosen: &'a Found,
    /// The orders of the table, the one given among them.
    pub rows: Vec<Row<'a>>,
    /// The order that would be taken if the map were sure, if another was taken because it is not.
    pub held_back: Option<HeldBack>,
}

/// An order that is not given because the map is unsure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// Its total if blocks lie as the map says.
    pub likely: Micros,
    /// Its total if map and model are as far off as they may be.
    pub worst: Micros,
    /// The same of sorted order.
    pub sorted_worst: Micros,
    /// Of the other maps tried the one on which it exceeds sorted order by most: what both take there. None if it
    /// exceeds it on none.
    pub beside_sorted: Option<(Micros, Micros)>,
    /// Whether no order is shorter, with these times.
    pub optimal: bool,
}

/// Why the table has no times for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotThere {
    /// Only the drive can tell its own order.
    AskTheDrive,
    /// The drive recommends no order.
    NoRao,
    /// OPT is exact for up to this many visits.
    TooManyVisits(usize),
    /// The order is for LTO.
    LtoOnly,
    /// The order does not apply.
    DoesNotApply,
}

/// What would make the positions better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetterMap {
    /// The drive's table of wrap ends.
    WrapEnds,
    /// Key points, by timing.
    KeyPoints,
    /// Places that the drive reports for a few blocks.
    Probes,
    /// Positions recorded when the files were written.
    Recorded,
}

/// What the order given saves against two others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// Time saved against sorting; negative if the order is longer.
    pub against_sorted: Micros,
    /// Time saved against the order of the list; negative if the order is longer.
    pub against_list: Micros,
    /// End-to-end passes of tape fewer than sorting moves, rounded to whole ones.
    pub passes_fewer: f64,
}

/// What an objective's order costs by all objectives.
#[derive(Clone, Debug)]
pub struct TradeOff {
    /// The objective; `None` for the order of least total without limits.
    pub objective: Option<Objective>,
    /// Times, lateness and tape moved. The total has no unload in it.
    pub figures: Figures,
    /// Whether it is the order given.
    pub is_given: bool,
}

impl<'a> Explanation<'a> {
    /// Puts orders beside the chosen one: those of [`SHORT`], or with `all` every one. `known` are
    /// orders that need not be computed again.
    pub fn new(
        placed: &'a Placed,
        chosen: &'a Found,
        known: &'a [Found],
        all: bool,
        effort: &Effort,
    ) -> Explanation<'a> {
        Explanation {
            rows: rows(placed, chosen, known, all, effort),
            held_back: held_back(placed, chosen, effort),
            placed,
            chosen,
        }
    }

    /// What an order of the table takes.
    pub fn found(&self, origin: Origin) -> Option<&Found> {
        let row = self.rows.iter().find(|row| row.origin == origin)?;
        row.found.as_deref()
    }

    /// The best bound that any of the orders came with.
    pub fn bound(&self) -> Option<Micros> {
        let bounds = self.rows.iter();
        bounds.filter_map(|row| row.found.as_ref()?.bound).max()
    }

    /// Total of sorted order at worst, if the chosen one can take longer: nothing keeps an order for
    /// an objective from that.
    pub fn sorted_is_safer(&self) -> Option<Micros> {
        let sorted = self.found(Origin::Algorithm(Algorithm::Sort))?;
        self.chosen
            .is_less_safe_than(sorted)
            .then_some(sorted.worst)
    }

    /// What the order saves; `None` if sorting or the list's order is not in the table.
    pub fn worth(&self) -> Option<Worth> {
        let sorted = self.found(Origin::Algorithm(Algorithm::Sort))?;
        let listed = self.found(Origin::Algorithm(Algorithm::Fifo))?;
        let geometry = &self.placed.problem.tape().geometry;
        let moved = |found: &Found| found.plan.totals.distance_lpos as f64;
        let length = f64::from(geometry.wrap_lpos().max(1));
        Some(Worth {
            against_sorted: sorted.total() - self.chosen.total(),
            against_list: listed.total() - self.chosen.total(),
            passes_fewer: ((moved(sorted) - moved(self.chosen)) / length).round(),
        })
    }

    /// What each objective costs the others; empty without the order of least total in the table.
    pub fn trade_off(&self, aim: &Aim, effort: &Effort) -> Vec<TradeOff> {
        let (placed, chosen) = (self.placed, self.chosen);
        let Some(best) = self.found(Origin::BEST) else {
            return Vec::new();
        };
        let row = |objective, found: &Found| TradeOff {
            objective,
            figures: Figures::of(&placed.problem, &aim.wishes, &found.plan.order),
            is_given: found.origin == chosen.origin,
        };
        let mut rows = vec![row(None, best)];
        for objective in Objective::ALL {
            if chosen.origin == Origin::Objective(objective) {
                rows.push(row(Some(objective), chosen));
            } else if objective == Objective::Mean
                || (objective == Objective::Deadline && aim.has_deadlines)
            {
                let (found, _) = aim.pursue(placed, objective, best, effort);
                rows.push(row(Some(objective), &found));
            }
        }
        rows
    }

    /// What errors of map and model would cost the order, and sorting.
    pub fn sensitivity(&self) -> Sensitivity {
        let (placed, order) = (self.placed, &self.chosen.plan.order);
        Sensitivity::new(&placed.problem, order, placed.map.as_ref())
    }
}

impl Found {
    /// Whether it can take longer than another order if the map is off: only orders for an objective
    /// can, the default one is chosen so that it cannot.
    pub fn is_less_safe_than(&self, sorted: &Found) -> bool {
        matches!(self.origin, Origin::Objective(_)) && self.worst > sorted.worst
    }
}

fn is_true(known: &Known<bool>) -> Option<bool> {
    known.as_ref().map(|known| known.value)
}

impl Placed {
    /// Why there are no times for an order; `None` if nobody would expect any.
    pub fn why_not(&self, origin: Origin) -> Option<NotThere> {
        Some(match origin {
            Origin::Drive => {
                if is_true(&self.profile.features.rao)? {
                    NotThere::AskTheDrive
                } else {
                    NotThere::NoRao
                }
            }
            Origin::Algorithm(Algorithm::Opt) => NotThere::TooManyVisits(OPT_MAX_VISITS),
            Origin::Algorithm(Algorithm::Cta) => NotThere::LtoOnly,
            _ => NotThere::DoesNotApply,
        })
    }

    /// What would make the positions better; `None` if they were measured.
    pub fn better_map(&self) -> Option<BetterMap> {
        let helical = self.problem.tape().geometry.layout == Layout::Helical;
        if self.source != PositionSource::Nominal || helical {
            return None;
        }
        let tells_wrap_ends = is_true(&self.profile.features.end_of_wrap_table);
        Some(match tells_wrap_ends {
            Some(true) => BetterMap::WrapEnds,
            _ if self.profile.nominal_sections().is_some() => BetterMap::KeyPoints,
            Some(false) => BetterMap::Probes,
            None => BetterMap::Recorded,
        })
    }

    /// Requests that share blocks with others and are read with them.
    pub fn shared(&self) -> usize {
        let has_blocks = |(owner, _): &&(usize, usize)| {
            let request = &self.batch.requests[*owner];
            !request.extents.is_empty()
        };
        self.owners.iter().filter(has_blocks).count() - self.problem.len()
    }

    /// Bytes to read.
    pub fn bytes(&self) -> u64 {
        let visits = self.problem.visits().iter();
        let extents = visits.flat_map(|visit| &visit.extents);
        extents
            .map(|extent| extent.bytes)
            .fold(0, u64::saturating_add)
    }

    /// The times of another profile, for this cartridge.
    ///
    /// # Errors
    /// [`Misfit`], if the other profile's cartridge has other wraps, bands or positions.
    pub fn tape_under(&self, profile: &Profile) -> Result<Tape, Misfit> {
        let tape = tape_with_model_of(self.problem.tape(), profile)?;
        // Whether the positions fit is known only when the batch is priced.
        self.problem.under(&tape)?;
        Ok(tape)
    }

    /// The total of an order with the times of [`Placed::tape_under`]; `None` if they do not fit.
    pub fn total_under(&self, found: &Found, tape: &Tape) -> Option<Micros> {
        let totals = price_under(&self.problem, &found.plan.order, tape).ok()?;
        Some(totals.total + self.unload())
    }
}

fn rows<'a>(
    placed: &Placed,
    chosen: &'a Found,
    known: &'a [Found],
    all: bool,
    effort: &Effort,
) -> Vec<Row<'a>> {
    let given = || std::iter::once(chosen).chain(known);
    let algorithms: &[Algorithm] = if all { &Algorithm::ALL } else { &SHORT };
    let mut origins: Vec<Origin> = algorithms.iter().copied().map(Origin::Algorithm).collect();
    for found in given().filter(|found| found.origin != Origin::Drive) {
        if !origins.contains(&found.origin) {
            origins.push(found.origin);
        }
    }
    origins.push(Origin::Drive);
    let row = |origin: Origin| {
        let known = given().find(|found| found.origin == origin);
        let found = match (known, origin) {
            (Some(found), _) => Some(Cow::Borrowed(found)),
            (None, Origin::Algorithm(algorithm)) => {
                placed.order(algorithm, effort).ok().map(Cow::Owned)
            }
            (None, _) => None,
        };
        Row { origin, found }
    };
    let mut rows: Vec<Row> = origins.into_iter().map(row).collect();
    if all && let Some(found) = placed.stand_in(effort) {
        rows.push(Row {
            origin: Origin::StandIn,
            found: Some(Cow::Owned(found)),
        });
    }
    rows
}

fn held_back(placed: &Placed, chosen: &Found, effort: &Effort) -> Option<HeldBack> {
    if chosen.origin != Origin::BEST || chosen.optimal || placed.alternatives.is_empty() {
        return None;
    }
    let shortest = placed.solve(&Alternatives::none(), Algorithm::Best, effort)?;
    let likely = shortest.order.total_time(&placed.problem) + placed.unload();
    // A difference that the shown times would not show says nothing.
    if likely >= chosen.total() || likely.to_string() == chosen.total().to_string() {
        return None;
    }
    let (alternatives, problem) = (&placed.alternatives, &placed.problem);
    let sorted = sort(problem);
    let [worst, sorted_worst] = [&shortest.order, &sorted]
        .map(|order| alternatives.worst_total(problem, order) + placed.unload());
    let [totals, sorted] =
        [&shortest.order, &sorted].map(|order| alternatives.totals(problem, order));
    let pairs = totals.into_iter().zip(sorted);
    let beside_sorted = pairs.max_by_key(|(total, sorted)| *total - *sorted);
    let beside_sorted = beside_sorted.filter(|(total, sorted)| total > sorted);
    let unload = placed.unload();
    Some(HeldBack {
        likely,
        worst,
        sorted_worst,
        beside_sorted: beside_sorted.map(|(total, sorted)| (total + unload, sorted + unload)),
        optimal: shortest.is_optimal(&placed.problem),
    })
}
