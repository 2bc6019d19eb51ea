//! The transports, one file each. Those that reach a real drive are Linux's.

mod exchange;
#[cfg(target_os = "linux")]
mod iscsi;
mod iscsi_url;
mod record;
mod replay;
#[cfg(target_os = "linux")]
mod sg;
#[cfg(target_os = "linux")]
mod st;
#[cfg(target_os = "linux")]
mod st_sense;

#[cfg(target_os = "linux")]
pub use iscsi::Iscsi;
pub use iscsi_url::IscsiUrl;
pub use record::{Keep, Record};
pub use replay::{Replay, ReplayError};
#[cfg(target_os = "linux")]
pub use sg::Sg;
#[cfg(target_os = "linux")]
pub use st::St;
