//! The program as its users meet it: commands in, bytes and exit codes out.
//!
//! `snapshots/` holds whole sessions as contracts; after a change that is meant, print them again with
//! `TRYCMD=overwrite cargo test -p tapewise-cli --test front_door snapshots`. No test asserts a time of ours.

mod acceptance;
mod any_drive;
mod archive;
mod audit;
mod bad_input;
mod buckets;
mod capacity;
mod catalog_add;
mod config;
mod drives;
mod emulate;
mod evidence;
mod faults;
mod first_minutes;
mod fit;
mod goals;
mod guest;
mod html;
mod json;
mod libraries;
mod library_bench;
mod limits;
mod lost_catalogue;
mod ltfs;
mod measure;
mod memory;
mod mount;
mod mover;
mod names;
mod output;
mod page;
mod positions;
mod postgres;
mod private;
mod program;
mod progress;
mod pull_list;
mod rao;
mod recall_ltfs;
mod recall_mount;
mod serve;
mod served;
mod simulate;
mod snapshots;
mod tapes;
mod tend;
mod threads;
mod together;
mod traced;
mod unkind;
mod upgrade;
mod watched;
mod words;
