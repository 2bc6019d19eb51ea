//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod answers_decode;
mod any_command;
mod commands;
mod common;
mod drive_position;
mod drive_transfer;
mod faults;
mod fence;
mod host;
mod host_disk;
mod initiator;
mod iscsi;
mod judges;
mod kinds;
mod library;
mod mechanics_dlt;
mod mechanics_helical;
mod mechanics_lto;
mod mechanics_transfer;
mod medium;
mod recorder;
mod robot_times;
mod tape;
mod unkind;
