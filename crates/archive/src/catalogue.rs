//! Which file lies where, and what was asked for: SQLite or PostgreSQL, behind a trait.
//!
//! A [`Catalogue`] is eight sets of operations, one for each thing it knows: [`Volumes`], [`Files`],
//! [`Writes`], [`Requests`], [`Failures`], [`Stages`], [`CacheRecords`] and [`Leases`]. Every operation is one
//! transaction: it has happened as a whole and survives the process and the machine's power, or it has not happened. No
//! type of a database stands in an interface, and no answer keeps a statement open. The operations are written once,
//! in `sql`, for both databases.
//!
//! What a person was told is stored is *live*: it has whole copies on volumes, or lies in the disk
//! cache, which keeps it until it has as many copies as were wanted. A write is begun before the
//! tape moves and committed after the drive has flushed; between the two nothing is acknowledged, and
//! what stands on the tape behind the volume's `next_block` is overwritten by the next write.
//!
//! Times are nanoseconds since 1970 and come from the caller; there is no clock here.

mod cached;
mod error;
mod failures;
mod files;
mod ids;
mod leases;
mod moving;
mod names;
mod pattern;
mod place;
mod postgres;
mod requests;
mod sql;
mod sqlite;
mod stages;
mod tally;
mod upgrade;
mod volumes;
mod writes;

pub use cached::{CacheRecords, Cached, Evicted, Holds, Tie};
pub(crate) use error::too_long;
pub use error::{CatalogueError, Result};
pub use failures::Failures;
pub use files::{
    Copy, CopyState, Entry, FileState, Files, Found, NewFile, NewStore, Placed, Terms,
};
pub use ids::{CacheKey, FileId, RequestId, VolumeId, WriteId};
pub use leases::{Claim, Holder, Lease, Leases, OutOfUse, Outage, Resource, Wanted};
pub use moving::move_catalogue;
pub use names::PART_NAMES;
pub use pattern::Pattern;
pub use place::Place;
pub use postgres::{PostgresCatalogue, PostgresUrl};
pub use requests::{
    Answer, Begun, BegunMount, Cause, Failure, NewRecall, Newest, OpenRecalls, RecallQueue,
    Request, RequestKind, RequestState, Requests, VolumeQueue, VolumeWait, Waiting,
};
pub use sql::Held;
pub use sqlite::{KNOWN as KNOWN_SCHEMA, SqliteCatalogue};
pub use stages::{
    NewStage, OpenFiles, Stage, StageInBrief, StagedFile, Stages, Submitted, WantedFile,
    why_no_file,
};
pub use tally::{Ended, Tally};
pub use upgrade::Upgrade;
use volumes::FULL_IN_BACKUP;
pub use volumes::{
    Fact, Forgotten, HOLDS_MORE, LOAD_COUNT, ListItem, Loss, NOT_VERIFIED, OnVolume, RETIRED,
    Recorded, Rediscovered, Rejoined, VERIFIED, Volumes,
};
pub use writes::{Migration, Missing, OpenWrite, Part, Writes, Written};

use std::path::Path;

/// What a database server has to clean up, and what keeps it from that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// How many transactions have begun since the oldest one whose view of the data is still held.
    pub oldest_view_transactions: u64,
    /// Rows that nobody sees any more, by table of the queue.
    pub dead_rows: Vec<(String, u64)>,
}

/// All that an archive remembers.
pub trait Catalogue:
    Volumes + Files + Writes + Requests + Failures + Stages + CacheRecords + Leases
{
    /// The version of the schema it works with.
    fn schema_version(&self) -> u32;

    /// What slows its server down; none where there is no server.
    fn server_state(&self) -> Result<Option<ServerState>>;

    /// What contradicts itself, a sentence each; nothing where all is well.
    ///
    /// The database's own checks come first, then what must hold of an archive: whole copies are
    /// whole, nothing overlaps, every live file is somewhere. At most 100 findings of a kind.
    fn integrity(&self) -> Result<Vec<String>>;

    /// Writes a copy of all of it to a file, which appears by rename when it is whole and on disk. In it
    /// no volume takes more: what is written after it would be overwritten.
    fn backup(&self, path: &Path) -> Result<()>;
}
