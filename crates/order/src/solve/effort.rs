//! How much may be spent on an order.

use std::cell::Cell;

/// How much may be spent on looking for a better order and for a proof.
///
/// Work is counted in arcs looked at, so that the same work gives the same order on every machine;
/// the clock, which only the caller has, can cut it short.
pub struct Effort<'a> {
    work: Cell<u64>,
    out_of_time: &'a dyn Fn() -> bool,
    cut_short: Cell<bool>,
}

/// Arcs looked at in about half a second on one core of 2020.
pub const USUAL_WORK: u64 = 100_000_000;

impl<'a> Effort<'a> {
    /// That much work, unless `out_of_time` says so before.
    pub fn new(work: u64, out_of_time: &'a dyn Fn() -> bool) -> Effort<'a> {
        Effort {
            work: Cell::new(work),
            out_of_time,
            cut_short: Cell::new(false),
        }
    }

    /// The work that is usual for a batch, with no clock.
    pub fn usual() -> Effort<'static> {
        Effort::new(USUAL_WORK, &|| false)
    }

    /// Takes some work off; says whether there was any left, and time as well.
    pub(crate) fn spend(&self, work: u64) -> bool {
        let left = self.work.get();
        self.work.set(left.saturating_sub(work));
        left > 0 && !self.is_out_of_time()
    }

    /// The work that is left.
    pub(crate) fn left(&self) -> u64 {
        self.work.get()
    }

    /// Whether the clock has run out.
    pub(crate) fn is_out_of_time(&self) -> bool {
        let out = self.cut_short.get() || (self.out_of_time)();
        self.cut_short.set(out);
        out
    }

    /// Whether the clock cut the work short, so that another run may give another order.
    pub fn was_cut_short(&self) -> bool {
        self.cut_short.get()
    }
}
