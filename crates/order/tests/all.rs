//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod algorithm;
mod alternatives;
mod assignment;
mod best;
mod coalesce;
mod common;
mod cta;
mod improve;
mod learn;
mod loss;
mod ltsp;
mod objective;
mod opt;
mod optima;
mod plan;
mod problem;
mod properties;
mod rao;
mod replan;
mod robust;
mod scan;
mod sltf;
mod two_pass;
mod weave;
mod whole_tape;
