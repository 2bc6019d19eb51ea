//! A whole archive in one process, with everything that can go wrong around it, by seed.

mod devices;
mod events;
mod fate;
mod files;
mod oracle;
mod run;
mod shrink;
mod world;

pub use events::{Event, What};
pub use fate::{End, Kind, Plan, Wrong};
pub use run::{Broken, Counts, live};
pub use shrink::shrink;
