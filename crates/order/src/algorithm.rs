//! Every order by name: a new one is one file and one line here.

use crate::order::Order;
use crate::orders::coalesce::{TWO_SECTIONS_SEGMENTS, coalesced};
use crate::orders::{cta, fifo, loss, opt, random, scan, sltf, sort, two_pass, weave};
use crate::problem::Problem;
use crate::robust::alternatives::Alternatives;
use crate::solve::best::best;
use crate::solve::effort::Effort;
use crate::solve::solution::Solution;

/// An algorithm that orders a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// As listed.
    Fifo,
    /// By block number.
    Sort,
    /// In random order.
    Random,
    /// The elevator by section of 1996.
    Scan,
    /// CERN's two passes by direction and LPOS.
    TwoPass,
    /// The weave pattern of 1996.
    Weave,
    /// Shortest locate time first.
    Sltf,
    /// SLTF over coalesced requests.
    SltfCoalesced,
    /// LOSS over all arcs.
    Loss,
    /// LOSS over coalesced requests.
    LossCoalesced,
    /// LOSS over few arcs, repeated.
    LossSparse,
    /// Exact, for up to 16 visits.
    Opt,
    /// CTA's SLTF in windows.
    Cta,
    /// The default.
    Best,
}

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

impl Algorithm {
    /// All of them, in the order in which tables list them.
    pub const ALL: [Algorithm; 14] = [
        Algorithm::Fifo,
        Algorithm::Sort,
        Algorithm::Random,
        Algorithm::Scan,
        Algorithm::TwoPass,
        Algorithm::Weave,
        Algorithm::Sltf,
        Algorithm::SltfCoalesced,
        Algorithm::Loss,
        Algorithm::LossCoalesced,
        Algorithm::LossSparse,
        Algorithm::Opt,
        Algorithm::Cta,
        Algorithm::Best,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Fifo => "fifo",
            Algorithm::Sort => "sort",
            Algorithm::Random => "random",
            Algorithm::Scan => "scan",
            Algorithm::TwoPass => "two-pass",
            Algorithm::Weave => "weave",
            Algorithm::Sltf => "sltf",
            Algorithm::SltfCoalesced => "sltf-coalesced",
            Algorithm::Loss => "loss",
            Algorithm::LossCoalesced => "loss-coalesced",
            Algorithm::LossSparse => "loss-sparse",
            Algorithm::Opt => "opt",
            Algorithm::Cta => "cta",
            Algorithm::Best => "best",
        }
    }

    /// The name in tables, as people say it.
    pub fn title(self) -> &'static str {
        match self {
            Algorithm::Fifo => "as listed",
            Algorithm::Sort => "sorted by block",
            Algorithm::Random => "random",
            Algorithm::Scan => "SCAN by section",
            Algorithm::TwoPass => "SCAN, two passes",
            Algorithm::Weave => "WEAVE",
            Algorithm::Sltf => "SLTF",
            Algorithm::SltfCoalesced => "SLTF, coalesced",
            Algorithm::Loss => "LOSS",
            Algorithm::LossCoalesced => "LOSS, coalesced",
            Algorithm::LossSparse => "LOSS, sparse",
            Algorithm::Opt => "OPT",
            Algorithm::Cta => "SLTF (as in CTA)",
            Algorithm::Best => "tapewise best",
        }
    }

    /// The version of the algorithm: raised whenever the same input may give another order.
    pub fn version(self) -> u32 {
        match self {
            Algorithm::Best => 2,
            _ => 1,
        }
    }

    /// The algorithm of that name.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }

    /// Orders a batch; `None` where the algorithm does not apply: OPT above 16 visits, CTA's on a
    /// tape without bands.
    pub fn order(self, problem: &Problem, inputs: &Inputs) -> Option<Order> {
        self.solve(problem, inputs).map(|solution| solution.order)
    }

    /// Orders a batch, and says what it finds out about how good any order can be.
    pub fn solve(self, problem: &Problem, inputs: &Inputs) -> Option<Solution> {
        let threshold = inputs.coalesce_blocks;
        let order = match self {
            Algorithm::Fifo => fifo::fifo(problem),
            Algorithm::Sort => sort::sort(problem),
            Algorithm::Random => random::random(problem, inputs.seed),
            Algorithm::Scan => scan::scan(problem),
            Algorithm::TwoPass => two_pass::two_pass(problem),
            Algorithm::Weave => weave::weave(problem),
            Algorithm::Sltf => sltf::sltf(problem),
            Algorithm::SltfCoalesced => coalesced(problem, threshold, sltf::sltf),
            Algorithm::Loss => loss::loss(problem),
            Algorithm::LossCoalesced => coalesced(problem, threshold, loss::loss),
            Algorithm::LossSparse => loss::sparse_loss(problem),
            Algorithm::Opt => opt::opt(problem)?,
            // Its cost is made of wraps and bands.
            Algorithm::Cta if problem.tape().geometry.bands > 1 => cta::cta_sltf(problem, true),
            Algorithm::Cta => return None,
            Algorithm::Best => {
                return Some(best(
                    problem,
                    inputs.alternatives,
                    &inputs.effort,
                    inputs.seed,
                ));
            }
        };
        Some(Solution::from(order))
    }
}
