//! All tests of the crate in one program: what they share is compiled once.

mod desk;
mod firefox;
mod one_file;
mod page;
mod papers;
mod sizing;
