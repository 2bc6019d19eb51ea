//! The C face of tapewise: which order reads a batch from tape soonest, for a host program in C or C++.
//!
//! `include/tapewise.h` is made from this crate, `include/tapewise.hpp` stands on it. The crate adds no algorithm:
//! every call goes to the crate `tapewise`. [`cartridge`] and [`batch`] are ordinary Rust and hold what a handle holds;
//! [`calls`] turns pointers into values, catches panics and keeps error texts.
//!
//! Nothing here is global. No thread is started, so a host may fork at any time. Handles are independent of each other;
//! one handle is used by one thread at a time.

pub mod batch;
#[allow(unsafe_code)]
pub mod calls;
pub mod cartridge;
mod fault;
#[allow(unsafe_code)]
mod pointers;
pub mod values;

pub use fault::{Fault, Status};
