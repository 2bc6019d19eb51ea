//! The file formats that tapewise reads and writes, one file each.
//!
//! Readers take a [`std::io::BufRead`] and return what they recognised together with [`notice::Notice`]s where
//! something was ignored or assumed; nothing falls back silently. Writers take a [`std::io::Write`]. Nothing here
//! opens a file, prints, or asks the clock. Errors carry line, column and text; the name of the file is the caller's
//! to add, because it is the caller that opened it.
//!
//! | in | out |
//! |---|---|
//! | [`list`], [`csv_requests`], [`jsonl`] | [`list_out`], [`csv_out`] |
//! | [`ltfs_index`] and [`ltfs_label`], then [`ltfs_select`] and [`ltfs_extent`] | [`script_out`], [`powershell_out`] |
//! | [`ltfs_xattr`] (a mounted LTFS) | [`plan_json`] (read too) |
//! | [`cta_tapefile`], [`bsr`], [`hsi`] | |
//! | [`event_log`] (what a drive did) | [`event_log`] |
//! | [`locate_csv`] (measured locates) | |
//! | [`cta_log`], [`block_moves_csv`] (moves by blocks) | |
//! | [`mhl`] (sums of files) | [`mhl`] |
//! | [`bench_csv`] (a benchmark's retrievals and cartridges) | [`bench_csv`] |
//! | [`rao`] (the drive's own order), from [`rao_dump`], for [`rao_batch`] | [`rao`] |
//!
//! # Example
//! From a list of names and the index of an LTFS volume to requests, and back to a list:
//!
//! ```
//! use tapewise_formats::list::{Separator, read_list};
//! use tapewise_formats::list_out::write_list;
//! use tapewise_formats::ltfs_extent::{LtfsLayout, ltfs_requests};
//! use tapewise_formats::ltfs_index::read_ltfs_index;
//! use tapewise_formats::ltfs_select::select;
//!
//! let xml = r#"<ltfsindex version="2.4.0"><volumeuuid>5005b061</volumeuuid>
//!   <directory><name>vol</name><contents>
//!     <file><name>a.mov</name><length>600000</length><extentinfo><extent>
//!       <fileoffset>0</fileoffset><partition>b</partition><startblock>40</startblock>
//!       <byteoffset>0</byteoffset><bytecount>600000</bytecount></extent></extentinfo></file>
//!     <file><name>b.mov</name><length>0</length></file>
//!   </contents></directory></ltfsindex>"#;
//! let (index, files) = read_ltfs_index(xml.as_bytes())?;
//! assert_eq!((index.file_count, index.extent_bytes), (2, 600_000));
//!
//! let wanted = read_list(&b"/a.mov\nmissing.mov\n"[..], Separator::Newline)?;
//! let found = select(&files, &wanted.names, None)?;
//! assert_eq!(found.not_found[0].bytes, b"missing.mov");
//!
//! let chosen = found.files.iter().map(|&at| &files[at]);
//! let read = ltfs_requests(chosen, &LtfsLayout::assumed(), Some(&index.volume_uuid))?;
//! let extent = &read.requests[0].extents[0];
//! assert_eq!((extent.partition, extent.start_block, extent.block_count), (Some(1), 40, 2));
//! assert!(read.notices[0].text.contains("assumed blocks of 524288 bytes"));
//!
//! let mut out = Vec::new();
//! write_list(&mut out, read.requests.iter().map(|request| &request.id), Separator::Newline)?;
//! assert_eq!(out, b"a.mov\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounded;
mod byte_order;
mod csv_table;
mod json_error;
mod number;
mod time_column;
mod xml;
mod xml_error;

pub mod asked_csv;
pub mod audit_csv;
pub mod bench_csv;
pub mod block_moves_csv;
pub mod bsr;
pub mod csv_out;
pub mod csv_requests;
pub mod cta_log;
pub mod cta_tapefile;
pub mod deadline;
pub mod detect;
pub mod event;
pub mod event_log;
pub mod fields;
pub mod format;
pub mod hsi;
pub mod jsonl;
pub mod list;
pub mod list_out;
pub mod locate_csv;
pub mod ltfs_attribute;
pub mod ltfs_extent;
pub mod ltfs_index;
pub mod ltfs_label;
pub mod ltfs_path;
pub mod ltfs_select;
pub mod ltfs_volume_out;
pub mod ltfs_xattr;
pub mod map_file;
pub mod mhl;
pub mod misleading;
pub mod name_match;
pub mod notice;
pub mod plan_json;
pub mod powershell_out;
pub mod rao;
pub mod rao_batch;
pub mod rao_dump;
pub mod request;
pub mod script_out;

pub use bounded::LineError;
pub use csv_table::TableError;
pub use detect::{Detection, FORMATS, detect};
pub use format::{Content, Format};
pub use notice::Notice;
pub use number::NumberFault;
pub use request::{Extent, Request, Requests, WrapLpos};
pub use xml_error::XmlError;
