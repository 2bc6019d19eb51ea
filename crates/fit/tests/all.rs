//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod blind;
mod common;
mod curves;
mod landing;
mod least_squares;
mod outcome;
