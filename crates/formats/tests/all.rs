//! All tests of this crate as one program: what they share is compiled once, and linked once.

mod asked_csv;
mod audit_csv;
mod block_moves_csv;
mod bsr;
mod csv_out;
mod csv_requests;
mod cta_log;
mod cta_tapefile;
mod event_log;
mod format;
mod hsi;
mod jsonl;
mod list;
mod list_out;
mod locate_csv;
mod ltfs_extent;
mod ltfs_index;
mod ltfs_label;
mod ltfs_select;
mod ltfs_xattr;
mod map_file;
mod name_match;
mod plan_json;
mod rao;
mod script_out;
