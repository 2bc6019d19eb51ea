//! How hard to look for an order, on a clock of the caller's.

use std::cell::Cell;
use std::fmt;
use tapewise_model::Micros;

/// How hard to look for an order: the work of [`tapewise_order::Effort`], bounded by time on a clock
/// of the caller's.
///
/// The same seed and the same work give the same order on every machine. Only a search that the clock
/// cuts short may give another one next time; [`Found::cut_short`](crate::Found::cut_short) says so.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Whether to go on until no order can be shorter, or the time is out.
    pub prove: bool,
    /// Time that each search may take on the clock; `None` is as long as the work lasts.
    pub budget: Option<Micros>,
    /// The time since some fixed moment. A clock that stands still bounds nothing.
    pub clock: &'a (dyn Fn() -> Micros + Sync),
}

impl Effort<'_> {
    /// The usual work, no clock, no proof.
    pub fn usual() -> Effort<'static> {
        Effort {
            seed: 1,
            prove: false,
            budget: None,
            clock: &|| Micros::ZERO,
        }
    }
}

impl<'a> Effort<'a> {
    /// The same without a proof: for orders that only stand beside the one asked for.
    pub fn without_proof(self) -> Effort<'a> {
        Effort {
            prove: false,
            ..self
        }
    }

    /// A clock that starts now.
    pub(crate) fn start(&self) -> Stopwatch<'a> {
        Stopwatch {
            clock: self.clock,
            begin: (self.clock)(),
            budget: self.budget,
            ran_out: Cell::new(false),
        }
    }
}

impl fmt::Debug for Effort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effort")
            .field("seed", &self.seed)
            .field("prove", &self.prove)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

/// Tells when the time is out, and remembers that it did.
pub(crate) struct Stopwatch<'a> {
    clock: &'a (dyn Fn() -> Micros + Sync),
    begin: Micros,
    budget: Option<Micros>,
    ran_out: Cell<bool>,
}

impl Stopwatch<'_> {
    /// Whether the time is out.
    pub(crate) fn is_out(&self) -> bool {
        let out = self.budget.is_some_and(|budget| self.elapsed() >= budget);
        self.ran_out.set(self.ran_out.get() || out);
        out
    }

    /// Whether anybody was told that it is.
    pub(crate) fn ran_out(&self) -> bool {
        self.ran_out.get()
    }

    /// Time since it was started.
    pub(crate) fn elapsed(&self) -> Micros {
        (self.clock)() - self.begin
    }
}
