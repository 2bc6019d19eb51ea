//! From requests to the order in which a tape is read soonest, and to the plan that a drive carries
//! out.
//!
//! Random reads from tape cost tens of seconds each, because data lies on a serpentine track: block
//! numbers say little about how far the tape has to move. This crate is the one way from a list of
//! requests to a plan; the program `tapewise` and its archive go this way too.
//!
//! | step | value | module |
//! |---|---|---|
//! | what is to be read | [`Batch`] | [`batch`]: requests of any format |
//! | on which cartridge | [`Cartridge`] | [`cartridge`]: profile, map and layout; which map counts |
//! | where that is | [`Placed`] | [`Cartridge::place`]: every extent with its position |
//! | for what | [`Goal`] | total time, mean completion, deadlines, tape moved |
//! | in which order | [`Found`] | [`Placed::search`]: plan, worst case, bound |
//! | as a document | [`PlanDocument`](formats::plan_json::PlanDocument) | [`Placed::document`] |
//! | beside other orders | [`Explanation`](explain::Explanation) | [`explain`] |
//! | what was done already | [`Prices`](audit::Prices) | [`audit`]: logs, priced in other orders |
//!
//! # Example
//! Eight files of an LTO-8 cartridge, read in the order that is fastest with the times of the profile:
//!
//! ```
//! use tapewise::batch::Source;
//! use tapewise::model::profile;
//! use tapewise::{Cartridge, Effort, Goal, Placement};
//!
//! let list = "id,start_block,block_count\n\
//!             a,9000000,2000\nb,40000,2000\nc,9100000,2000\nd,2000000,2000\n\
//!             e,700000,2000\nf,15000000,2000\ng,3000,2000\nh,12000000,2000\n";
//! let batch = Source::recognise("list", list.as_bytes(), None)?.requests(Some(524_288))?;
//! let cartridge = Cartridge::new(profile::find("lto8")?)?;
//! let placed = cartridge.place(batch, &Placement::default())?;
//! let found = placed.search(&Goal::default(), &Effort::usual())?;
//!
//! let ids: Vec<&str> = placed.ids(&found.plan).collect();
//! assert_eq!(ids.len(), 8);
//! let sorted = placed.order(tapewise::order::Algorithm::Sort, &Effort::usual())?;
//! assert!(found.worst <= sorted.worst);
//! assert!(found.bound.unwrap() <= found.total());
//! println!("{ids:?}: {found}");
//! println!("{}", placed.provenance);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Time is whole microseconds ([`Micros`](model::Micros)), tape is counted in blocks and LPOS.
//! Nothing here opens a file, prints, reads the environment or asks a clock: the caller hands readers
//! and a clock in. The same batch, cartridge and seed give the same plan on every machine.

pub mod audit;
pub mod batch;
pub mod cartridge;
mod effort;
pub mod explain;
mod found;
mod goal;
mod location;
mod place;
mod plan_document;
pub mod rao;
mod search;
pub mod tapes;
mod wear;

pub use batch::Batch;
pub use cartridge::{Cartridge, CartridgeError, MapOrigin, PartitionLayout};
pub use effort::Effort;
pub use found::{Found, Origin};
pub use goal::{Aim, Goal, GoalError};
pub use location::{EndLocation, Location, LocationError};
pub use place::{ExtentOrder, Owners, PlaceError, Placed, Placement, PositionError};
pub use search::SearchError;
pub use tapewise_formats as formats;
pub use tapewise_model as model;
pub use tapewise_order as order;
