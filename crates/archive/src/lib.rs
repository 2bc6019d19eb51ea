//! Files on tape and back: what is where, written so that others can read it, and brought back whole.
//!
//! | module | what it knows |
//! |---|---|
//! | [`record`] | volumes, files, copies, segments, requests: the words all others share |
//! | [`sums`] | checksums on the way, and the lists that people keep of them |
//! | [`deliver`] | files appear in a destination whole, verified and never outside of it |
//! | [`bucket`] | S3 buckets, where files are delivered and objects are stored from |
//! | [`read`] | what is wanted of a tape, read in our order; learns the tape meanwhile |
//! | [`stream`] | blocks between drive and disk on threads of their own, in buffers that are used again |
//! | [`volume`] | our volumes: a label that explains itself, tar segments between filemarks |
//! | [`ltfs`] | LTFS volumes, read from the tape without a mount |
//! | [`catalogue`] | which file lies where: SQLite, behind a trait |
//! | [`open`] | an archive in a directory, opened, and what a killed run left put right |
//! | [`damage`] | files of the cache that are damaged or gone, found by whoever only looks |
//! | [`settings`] | what its settings say |
//! | [`reserve`] | room for the catalogue on a full disk |
//! | [`placement`] | which files that wait for tape share a cartridge |
//! | [`cache`] | the disk in front: high and low water, pins, never the only copy dropped |
//! | [`forecast`] | when each recall of the queue is likely to be answered |
//! | [`pull_list`] | which cartridges a recall needs, in which order, and how long each takes |
//! | [`kept`] | what takes long to be found out is kept for a while |
//! | [`store`] | files come in: summed, on disk, acknowledged |
//! | [`movers`] | whether anybody is there who carries out what waits |
//! | [`mover`] | what moves files between cache and tape: migrate, recall, verify, repack |

mod at_work;
pub mod bucket;
pub mod cache;
pub mod catalogue;
pub mod damage;
pub mod deliver;
mod finishing;
pub mod forecast;
pub mod foreign;
pub mod kept;
pub mod ltfs;
pub mod mover;
pub mod movers;
pub mod open;
pub mod placement;
pub mod pull_list;
pub mod read;
pub mod record;
pub mod reserve;
pub mod settings;
pub mod store;
pub mod stream;
pub mod sums;
pub mod volume;
