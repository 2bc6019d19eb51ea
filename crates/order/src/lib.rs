//! Orders for reading from tape: the orders of the literature, ours, and the plan.
//!
//! A [`Problem`] is a batch of requests on one cartridge with the price of every move; an
//! [`Algorithm`] gives it an [`Order`]; a [`Plan`] says step by step what the drive then does.
//!
//! ```
//! use tapewise_model::{NominalLayout, Position, profile};
//! use tapewise_order::{Algorithm, End, Inputs, Options, Plan, Problem, Request, Alternatives};
//! use tapewise_order::{PlacedExtent, Tape};
//!
//! let lto8 = profile::find("lto8")?;
//! let map = lto8.nominal_map(NominalLayout::Single, 524_288)?;
//! let requests: Vec<Request> = [9_000_000, 40_000, 9_100_000, 2_000_000]
//!     .iter()
//!     .map(|&block| Ok(Request::single(PlacedExtent::on_map(&map, 0, block, block + 1_999, 1 << 30)?)))
//!     .collect::<Result<_, tapewise_model::MapError>>()?;
//! let tape = Tape::new(&lto8, None)?;
//! let head = Position::beginning_of_tape(tape.geometry.lpos_min);
//! let options = Options { head, end: End::Anywhere, read_through: true };
//! let problem = Problem::new(tape, options, &requests);
//! let alternatives = Alternatives::new(&problem, Some(&map));
//! let order = Algorithm::Best.order(&problem, &Inputs::new(&alternatives)).unwrap();
//! let plan = Plan::new(&problem, order);
//! assert_eq!(plan.order.requests(&problem).len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Unit tests share the batches of `tests/common`, which call this crate by its name.
#[cfg(test)]
extern crate self as tapewise_order;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;

mod algorithm;
mod objective;
mod order;
mod orders;
mod plan;
mod problem;
pub mod replan;
mod request;
pub mod robust;
mod solve;
mod stream;
mod tape;
mod visit;

pub use algorithm::Algorithm;
pub use objective::{
    Figures, Limits, MEAN_EXTRA_PERCENT, Objective, Outcome, Wishes, completions, order_for,
    trade_off,
};
pub use order::{NotAPermutation, Order, is_permutation};
pub use orders::coalesce::{coalesce, coalesced, expand};
pub use orders::cta::cta_sltf;
pub use orders::fifo::fifo;
pub use orders::kind::{Inputs, TWO_SECTIONS_SEGMENTS};
pub use orders::loss::{loss, sparse_loss};
pub use orders::opt::{OPT_MAX_VISITS, opt};
pub use orders::rao::{RAO_WINDOW, SequenceFault, emulated_rao, rao};
pub use orders::scan::scan;
pub use orders::sltf::{sltf, sltf_by_sections};
pub use orders::sort::sort;
pub use orders::two_pass::two_pass;
pub use orders::weave::weave;
pub use orders::whole_tape::read_whole_tape;
pub use plan::{Action, Plan, Step, Totals};
pub use problem::{End, Motion, Options, Problem};
pub use request::{PlacedExtent, Request};
pub use robust::Alternatives;
pub use solve::assignment::Assignment;
pub use solve::best::best;
pub use solve::effort::Effort;
pub use solve::improve::improve;
pub use solve::patch::patch;
pub use solve::solution::Solution;
pub use tape::Tape;
pub use visit::Visit;
