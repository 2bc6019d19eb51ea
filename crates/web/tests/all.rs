//! All tests of the crate in one program: what they share is compiled once.

mod browser;
mod desk;
mod driven;
mod firefox;
mod one_file;
mod page;
mod papers;
mod sizing;
