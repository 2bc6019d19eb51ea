//! The commands, one file each.

mod test_unit_ready;

pub use test_unit_ready::TestUnitReady;
