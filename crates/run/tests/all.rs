//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod blocks;
mod carry_out;
mod common;
mod key_points;
mod key_points_emulated;
mod measure_1998;
mod measure_again;
mod measure_places;
mod measure_short_tape;
mod measure_steps;
mod measure_unread;
mod measure_writing;
