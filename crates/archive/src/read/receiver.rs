//! Who takes what is read, and why something that was wanted cannot be had.

use crate::record::Segment;

/// What changed since the last read of a tape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    #[default]
    Nothing,
    /// More is wanted of it, numbered on from what was wanted before: ordered together with what is still to be read.
    More(Vec<Vec<Segment>>),
    /// What is still to be read is left on the tape.
    Leave,
}

/// Why something that was wanted cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// The place cannot be read: sense in words.
    #[error("{0}")]
    Unreadable(String),
    /// A block of another length than index or catalogue imply.
    #[error("partition {partition}, block {block}: {bytes} bytes where the index has {expected}")]
    BlockLength {
        /// The partition.
        partition: u8,
        /// The block.
        block: u64,
        /// Its length.
        bytes: u64,
        /// What the index implies.
        expected: u64,
    },
    /// A filemark where the index has data.
    #[error("partition {partition}, block {block}: a filemark where the index has data")]
    Filemark {
        /// The partition.
        partition: u8,
        /// The block.
        block: u64,
    },
    /// On a volume of tar archives another member than the catalogue's, or none.
    #[error(
        "partition {partition}, block {block}: {found} where a file of {expected} bytes begins"
    )]
    Header {
        /// The partition.
        partition: u8,
        /// The block in which the contents should begin.
        block: u64,
        /// What stands before them.
        found: String,
        /// Bytes of the contents, as the catalogue has them.
        expected: u64,
    },
}

/// Takes what is read, on another thread than the drive's. What is wanted is known by its number.
///
/// An error ends the run. What goes wrong with one file only is for the receiver to remember.
pub trait Receiver: Send {
    /// Whether it is still wanted: asked before the tape moves for it, on the drive's thread.
    ///
    /// # Errors
    /// As for [`Receiver::begin`].
    fn is_wanted(&mut self, _want: usize) -> std::io::Result<bool> {
        Ok(true)
    }

    /// What changed: asked after every read, on the drive's thread. `left` gives what is still to be read.
    ///
    /// # Errors
    /// As for [`Receiver::begin`].
    fn change(&mut self, _left: &dyn Fn() -> Vec<usize>) -> std::io::Result<Change> {
        Ok(Change::Nothing)
    }

    /// It begins, from its first byte, also where some of it came before.
    ///
    /// # Errors
    /// Whatever keeps the run from going on.
    fn begin(&mut self, want: usize) -> std::io::Result<()>;

    /// Bytes of it behind those that came before, and where they belong; what no bytes come for is a
    /// hole.
    ///
    /// # Errors
    /// As for [`Receiver::begin`].
    fn bytes(&mut self, want: usize, offset: u64, bytes: &[u8]) -> std::io::Result<()>;

    /// All its bytes have come.
    ///
    /// # Errors
    /// As for [`Receiver::begin`].
    fn end(&mut self, want: usize) -> std::io::Result<()>;

    /// It cannot be had; some of its bytes may have come.
    ///
    /// # Errors
    /// As for [`Receiver::begin`].
    fn lost(&mut self, want: usize, why: &Lost) -> std::io::Result<()>;
}
