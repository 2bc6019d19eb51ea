//! The transports, one file each.

mod exchange;
mod iscsi;
mod record;
mod replay;
mod sg;
mod st;
mod st_sense;

pub use iscsi::{Iscsi, IscsiUrl};
pub use record::{Keep, Record};
pub use replay::{Replay, ReplayError};
pub use sg::Sg;
pub use st::St;
