//! How much may be spent on an order.

use std::cell::Cell;
use std::fmt;

/// How much may be spent on looking for a better order and for a proof.
///
/// Work is counted, so that the same work gives the same order on every machine; a clock, which
/// only the caller has, can but cut it short.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Arcs looked at, at most.
    pub work: u64,
    /// Whether to go on until the order is proven to be the shortest.
    pub prove: bool,
    /// Whether the time is up.
    pub out_of_time: &'a dyn Fn() -> bool,
}

/// Arcs looked at in some tenths of a second on one core.
const USUAL_WORK: u64 = 70_000_000;

impl Effort<'_> {
    /// What is usual, with no clock.
    pub fn usual() -> Effort<'static> {
        Effort {
            work: USUAL_WORK,
            prove: false,
            out_of_time: &|| false,
        }
    }
}

impl fmt::Debug for Effort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effort")
            .field("work", &self.work)
            .field("prove", &self.prove)
            .finish_non_exhaustive()
    }
}

/// An effort as it is being spent.
pub(crate) struct Meter<'a> {
    left: Cell<u64>,
    out_of_time: &'a dyn Fn() -> bool,
    cut_short: Cell<bool>,
}

impl<'a> Meter<'a> {
    /// That much work, unless the clock of `effort` says so before.
    pub(crate) fn new(effort: &Effort<'a>, work: u64) -> Meter<'a> {
        Meter {
            left: Cell::new(work),
            out_of_time: effort.out_of_time,
            cut_short: Cell::new(false),
        }
    }

    /// A meter of its own with that much of the work, or with all that is left.
    pub(crate) fn part(&self, work: u64) -> Meter<'a> {
        let work = work.min(self.left.get());
        self.left.set(self.left.get() - work);
        Meter {
            left: Cell::new(work),
            out_of_time: self.out_of_time,
            cut_short: Cell::new(false),
        }
    }

    /// Takes some work off; says whether there was any left, and time as well.
    pub(crate) fn spend(&self, work: u64) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(work));
        left > 0 && !self.is_out_of_time()
    }

    /// The work that is left.
    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Whether all work is spent or the clock has run out.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0 || self.is_out_of_time()
    }

    /// Whether the clock has run out.
    pub(crate) fn is_out_of_time(&self) -> bool {
        let out = self.cut_short.get() || (self.out_of_time)();
        self.cut_short.set(out);
        out
    }
}
