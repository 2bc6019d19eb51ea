//! The orders of the literature and of other systems, one file each.

pub(crate) mod coalesce;
pub(crate) mod cta;
pub(crate) mod fifo;
pub(crate) mod kind;
pub(crate) mod loss;
pub(crate) mod nearest;
pub(crate) mod opt;
pub(crate) mod random;
pub(crate) mod rao;
pub(crate) mod scan;
pub(crate) mod sections;
pub(crate) mod sltf;
pub(crate) mod sort;
pub(crate) mod tournament;
pub(crate) mod two_pass;
pub(crate) mod weave;
pub(crate) mod whole_tape;
pub(crate) mod woven;
