//! What a list of orders says of each: name, title, version and the function that orders.

use crate::problem::Problem;
use crate::robust::alternatives::Alternatives;
use crate::solve::effort::Effort;
use crate::solve::solution::Solution;

/// The coalescing threshold that the paper found good: two sections of a DLT4000, in segments of
/// 32 KB.
pub const TWO_SECTIONS_SEGMENTS: u64 = 1410;

/// What an algorithm may need beside the batch.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Other maps as likely as the one at hand.
    pub alternatives: &'a Alternatives,
    /// Seed, for the algorithms that draw.
    pub seed: u64,
    /// Threshold in blocks for the coalescing algorithms; two sections of a DLT4000 by default.
    pub coalesce_blocks: u64,
    /// What may be spent, for the orders that search.
    pub effort: Effort<'a>,
}

impl<'a> Inputs<'a> {
    /// Seed 1, the paper's threshold and the usual effort.
    pub fn new(alternatives: &'a Alternatives) -> Inputs<'a> {
        Inputs {
            alternatives,
            seed: 1,
            coalesce_blocks: TWO_SECTIONS_SEGMENTS,
            effort: Effort::usual(),
        }
    }
}

/// One order as the list of algorithms knows it; each stands in the file of its order.
pub(crate) struct OrderKind {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// The name in tables, as people say it.
    pub(crate) title: &'static str,
    /// Raised whenever the same input may give another order.
    pub(crate) version: u32,
    /// Orders a batch; `None` if the algorithm does not apply to it.
    pub(crate) solve: fn(&Problem, &Inputs) -> Option<Solution>,
}
