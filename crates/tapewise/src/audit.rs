//! Where the drive-hours of a log went, and what its reads would have cost in other orders.
//!
//! [`Mounts`] takes the events of a log one by one, so memory does not grow with the log. It keeps
//! the [`Ledger`] of what every moment was spent on, and hands out each [`Mount`] when it ends.
//! [`price`] then says what the reads of a mount cost in other orders on a cartridge, which is a
//! value: load each profile and each map once. [`Findings`] are all mounts with their prices, their sums, and how far
//! the model can be trusted.

mod document;
mod findings;
mod hours;
mod mounts;
mod moves;
mod prices;

pub use findings::{Findings, PricedMount, Sums, Trust};
pub use hours::{Hours, Ledger, NOT_SAID, Spent, sorted};
pub use mounts::{Mount, Mounts, Read};
pub use moves::{Moves, Verdict};
pub use prices::{ORDERS, PriceError, Prices, price};
