//! Every order by name: a new one is one file in `orders/` and one line in the list below.

use crate::order::Order;
use crate::orders::kind::{Inputs, OrderKind};
use crate::orders::{cta, fifo, loss, opt, random, scan, sltf, sort, two_pass, weave};
use crate::problem::Problem;
use crate::solve::best;
use crate::solve::solution::Solution;

/// Makes an enumeration of a list: the name of an order here, and what its file says of it.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $name:ident: $kind:expr,)*) => {
        /// An algorithm that orders a batch.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Algorithm {
            $($(#[$doc])* $name,)*
        }

        impl Algorithm {
            /// All of them, in the order in which tables list them.
            pub const ALL: [Algorithm; [$(Algorithm::$name,)*].len()] = [$(Algorithm::$name,)*];

            fn kind(self) -> &'static OrderKind {
                match self {
                    $(Algorithm::$name => &$kind,)*
                }
            }
        }
    };
}

algorithms! {
    /// As listed.
    Fifo: fifo::KIND,
    /// By block number.
    Sort: sort::KIND,
    /// In random order.
    Random: random::KIND,
    /// The elevator by section of 1996.
    Scan: scan::KIND,
    /// CERN's two passes by direction and LPOS.
    TwoPass: two_pass::KIND,
    /// The weave pattern of 1996.
    Weave: weave::KIND,
    /// Shortest locate time first.
    Sltf: sltf::KIND,
    /// SLTF over coalesced requests.
    SltfCoalesced: sltf::COALESCED,
    /// LOSS over all arcs.
    Loss: loss::KIND,
    /// LOSS over coalesced requests.
    LossCoalesced: loss::COALESCED,
    /// LOSS over few arcs, repeated.
    LossSparse: loss::SPARSE,
    /// Exact, for up to 16 visits.
    Opt: opt::KIND,
    /// CTA's SLTF in windows.
    Cta: cta::KIND,
    /// The default.
    Best: best::KIND,
}

impl Algorithm {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.kind().name
    }

    /// The name in tables, as people say it.
    pub fn title(self) -> &'static str {
        self.kind().title
    }

    /// The version of the algorithm: raised whenever the same input may give another order.
    pub fn version(self) -> u32 {
        self.kind().version
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
        (self.kind().solve)(problem, inputs)
    }
}
