//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod bounds;
mod capacity;
mod closed_forms;
mod distribution;
mod expected;
mod fairness;
mod gniewek;
mod kernel;
mod library;
mod mounts;
mod outside;
mod policy;
mod queue;
mod scenario;
mod shares;
mod statistics;
mod study;
mod twin;
