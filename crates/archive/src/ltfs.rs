//! LTFS volumes, read from the tape without a mount. Nothing here writes to a tape, and nothing repairs one.
//!
//! An LTFS volume has two partitions (SNIA LTFS Format Specification 2.5, sections 5 and 6):
//!
//! ```text
//! VOL1 | label | | index |                     the index partition
//! VOL1 | label | | index | data | index | ...  the data partition          | is a filemark
//! ```
//!
//! | module | what it knows |
//! |---|---|
//! | [`label`] | the VOL1 label and what the cartridge's memory says of the volume |
//! | [`volume`] | both labels and the newest index of a volume, and whether it is whole |
//! | [`wanted`] | the blocks that hold a file, or a range of its bytes |
//! | [`deliver`] | makes files of what is read |

pub mod deliver;
pub mod label;
pub mod volume;
pub mod wanted;

mod blocks;
mod doubt;
mod fallback;

pub use fallback::Fallback;
