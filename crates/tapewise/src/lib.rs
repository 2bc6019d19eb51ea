//! x

pub mod audit;
pub mod batch;
pub mod cartridge;
pub mod explain;
pub mod goal;
mod location;
mod place;
mod plan_document;
pub mod rao;
pub mod search;
pub mod units;
mod wear;

pub use batch::Batch;
pub use cartridge::{Cartridge, CartridgeError, MapOrigin, PartitionLayout};
pub use goal::{Aim, Goal, GoalError};
pub use location::{EndLocation, Location, LocationError};
pub use place::{ExtentOrder, PlaceError, Placed, Placement, PositionError};
pub use search::{Effort, Found, Origin, SearchError};
