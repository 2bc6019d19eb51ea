//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod answers;
mod cdbs;
mod changer;
mod devices;
mod drive;
mod fake;
mod hex;
mod position;
mod ready;
mod recorded;
mod recording;
mod request_sense;
mod reserve;
mod sense;
mod small_adapter;
mod survives;
