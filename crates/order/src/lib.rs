//! Orders for reading from tape: the orders of the literature, ours, and the plan.
//!
//! A [`Problem`] is a batch of requests on one cartridge with the price of every move; an
//! [`Algorithm`] gives it an [`Order`]; a [`Plan`] says step by step what the drive then does.
//!
//! ```
//! use tapewise_model::{NominalLayout, Position, profile};
//! use tapewise_order::{Algorithm, End, Inputs, Options, Plan, Problem, Request, Scenarios};
//! use tapewise_order::{Segment, Tape};
//!
//! let lto8 = profile::find("lto8")?;
//! let map = lto8.nominal_map(NominalLayout::Single, 524_288)?;
//! let requests: Vec<Request> = [9_000_000, 40_000, 9_100_000, 2_000_000]
//!     .iter()
//!     .map(|&block| Ok(Request::single(Segment::on_map(&map, 0, block, block + 1_999, 1 << 30)?)))
//!     .collect::<Result<_, tapewise_model::MapError>>()?;
//! let tape = Tape::new(&lto8, None)?;
//! let head = Position::beginning_of_tape(tape.geometry.lpos_min);
//! let options = Options { head, end: End::Anywhere, read_through: true };
//! let problem = Problem::new(tape, options, &requests);
//! let scenarios = Scenarios::new(&problem, Some(&map));
//! let order = Algorithm::Best.order(&problem, &Inputs::new(&scenarios)).unwrap();
//! let plan = Plan::new(&problem, order);
//! assert_eq!(plan.order.requests(&problem).len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod algorithm;
mod assignment;
mod best;
mod bound;
mod coalesce;
mod cta;
mod fifo;
mod improve;
mod loss;
mod nearest;
mod opt;
mod order;
mod patch;
mod plan;
mod problem;
mod random;
mod request;
mod scan;
mod sections;
mod sltf;
mod sort;
mod stream;
mod two_pass;
mod uncertainty;
mod visit;
mod weave;
mod whole_tape;

pub use algorithm::{Algorithm, Inputs};
pub use assignment::{ArcMatrix, Assignment, DENSE_ASSIGNMENT_MAX_VISITS};
pub use bound::lower_bound;
pub use coalesce::{TWO_SECTIONS_SEGMENTS, coalesce, coalesced, expand};
pub use cta::cta_sltf;
pub use fifo::fifo;
pub use improve::improve;
pub use loss::{loss, sparse_loss};
pub use opt::{OPT_MAX_VISITS, opt};
pub use order::{Order, is_permutation};
pub use patch::patch;
pub use plan::{Action, Plan, Step, Totals};
pub use problem::{End, Motion, Options, Problem, Tape};
pub use request::{Request, Segment};
pub use scan::scan;
pub use sltf::sltf;
pub use sort::sort;
pub use two_pass::two_pass;
pub use uncertainty::Scenarios;
pub use visit::Visit;
pub use weave::weave;
pub use whole_tape::read_whole_tape;
