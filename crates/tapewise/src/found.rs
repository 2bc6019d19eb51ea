//! An order that was found: how it came about, and what it takes.

use std::fmt;
use tapewise_model::Micros;
use tapewise_order::{Algorithm, Objective, Plan};

/// How an order comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// By an algorithm.
    Algorithm(Algorithm),
    /// By our search for an objective, within limits.
    Objective(Objective),
    /// Recommended by the drive (RAO).
    Drive,
    /// Emulated, because no drive was asked.
    StandIn,
}

impl Origin {
    /// Our default.
    pub const BEST: Origin = Origin::Algorithm(Algorithm::Best);

    /// The name in tables, as people say it.
    pub fn title(self) -> &'static str {
        match self {
            Origin::Algorithm(algorithm) => algorithm.title(),
            Origin::Objective(Objective::Total) => "tapewise, less tape",
            Origin::Objective(Objective::Mean) => "tapewise, mean",
            Origin::Objective(Objective::Deadline) => "tapewise, deadline",
            Origin::Drive => "drive's own RAO",
            Origin::StandIn => "emulated RAO (a stand-in)",
        }
    }

    /// The name and version in plans: `best/3`.
    pub fn versioned(self) -> String {
        match self {
            Origin::Algorithm(algorithm) => {
                format!("{}/{}", algorithm.name(), algorithm.version())
            }
            // The search for an objective begins with the default order and is part of it.
            Origin::Objective(_) => Origin::BEST.versioned(),
            Origin::Drive => "drive/1".to_owned(),
            Origin::StandIn => "emulated-drive/1".to_owned(),
        }
    }

    /// What the order is good for.
    pub fn objective(self) -> Objective {
        match self {
            Origin::Objective(objective) => objective,
            _ => Objective::Total,
        }
    }
}

/// One order with what it takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// How it came about.
    pub origin: Origin,
    /// What the drive does, step by step, with the totals.
    pub plan: Plan,
    /// Its total if map and model are as far off as they may be.
    pub worst: Micros,
    /// A total that no order falls below, if one is known.
    pub bound: Option<Micros>,
    /// Whether no order is better for its objective, with these times.
    pub optimal: bool,
    /// Whether time ran out while it was looked for.
    pub cut_short: bool,
    /// Time to find it, on the caller's clock.
    pub computed: Micros,
    /// Seed of what was drawn.
    pub seed: u64,
    /// The usual order, from which the search began, if the goal is more than the total.
    pub began_from: Option<Box<Found>>,
}

impl Found {
    /// Until everything is read and the head is where it is to be left.
    pub fn total(&self) -> Micros {
        self.plan.totals.total
    }

    /// Whether it reads in the order of blocks.
    pub fn is_sorted(&self) -> bool {
        self.plan.order.visits().is_sorted()
    }
}

impl fmt::Display for Found {
    /// The total, what no order falls below, and the worst case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "total {}, bound ", self.total())?;
        match self.bound {
            Some(bound) => write!(f, "{bound}")?,
            None => f.write_str("not known")?,
        }
        write!(f, ", worst {}", self.worst)
    }
}
