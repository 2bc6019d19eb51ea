//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod bench;
mod pool;
mod pool_bench;
mod pool_clean;
mod pool_failures;
mod pool_person;
mod pool_station;
mod pool_work;
mod stress;
