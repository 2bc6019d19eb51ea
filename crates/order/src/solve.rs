//! Our own order: bounds, searches and proofs.

pub(crate) mod assignment;
pub(crate) mod best;
pub(crate) mod chains;
pub(crate) mod cities;
pub(crate) mod effort;
pub(crate) mod held_karp;
pub(crate) mod improve;
pub(crate) mod offers;
pub(crate) mod patch;
pub(crate) mod pricing;
pub(crate) mod search;
pub(crate) mod shortest;
pub(crate) mod simplex;
pub(crate) mod solution;
pub(crate) mod tour;
