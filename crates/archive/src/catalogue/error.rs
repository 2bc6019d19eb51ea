//! What can go wrong with a catalogue.

use crate::catalogue::ids::{FileId, RequestId, VolumeId, WriteId};
use std::io;
use std::path::PathBuf;

/// What operations of a catalogue return.
pub type Result<T> = std::result::Result<T, CatalogueError>;

/// Why an operation was refused or failed; nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The database itself failed: disk full, locked for too long, damaged.
    #[error("{0}")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database was reached, and its answer is not one that this program knows: to ask again would not help.
    #[error("{0}")]
    Answer(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A number of a list or an index that the database cannot hold.
    #[error("a number is too large: the catalogue counts bytes and blocks up to 2^63 - 1")]
    NumberTooLarge,
    /// A file beside the database, or of it, could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is a database, and not a catalogue.
    #[error(
        "{path} is a database of something else (application id {application_id:#x}): give the path of a catalogue, or of a file that does not exist yet"
    )]
    NotACatalogue {
        /// The file.
        path: PathBuf,
        /// What it says it is.
        application_id: i64,
    },
    /// A connection was lost in a commit, and the server could not be asked what became of it. The one case in which
    /// something may have been changed.
    #[error(
        "the connection was lost while a change was being committed, and it could not be found out whether it was: \
         look whether it is in the catalogue before doing it again. {source}"
    )]
    CommitUnknown {
        /// How the connection was lost.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A text is no URL of a database.
    #[error("no URL of a database, as postgresql://user@host/database: {what}")]
    NoUrl {
        /// What is wrong with it.
        what: String,
    },
    /// A text is the URL of a database, and what it says of encryption is no use.
    #[error("encryption of the connection to the catalogue's database: {what}")]
    Encryption {
        /// What is wrong with it, and what to do.
        what: String,
    },
    /// A certificate or key for the connection to the database cannot be used.
    #[error("{path}: no use for the connection to the catalogue's database: {what}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The database holds tables of something else, and no catalogue.
    #[error(
        "{path} holds no catalogue but tables of something else, {table} for one: give an empty database"
    )]
    OtherTables {
        /// The database.
        path: PathBuf,
        /// One of its tables.
        table: String,
    },
    /// The catalogue was moved to another place, and this is what was left.
    #[error(
        "{path} was moved to {to}: if `catalog move` was interrupted, run the same command again; if not, set \
         `catalogue` in archive.toml to that, or move it back from there"
    )]
    Moved {
        /// The file or database.
        path: PathBuf,
        /// Where it is now.
        to: String,
    },
    /// A move to this place has not ended: the old catalogue may still be the one that counts.
    #[error(
        "{path} is where `catalog move` was bringing the catalogue of {from} when it was interrupted: leave \
         archive.toml as it was before, and run the same command again"
    )]
    Arriving {
        /// The file or database.
        path: PathBuf,
        /// Where the catalogue comes from.
        from: String,
    },
    /// A catalogue goes where none is.
    #[error("{path} holds a catalogue already: give a place that holds none")]
    Occupied {
        /// The file or database.
        path: PathBuf,
    },
    /// A catalogue is moved only while nothing is under way.
    #[error(
        "the catalogue cannot be moved now: {what}. Let the work end, or stop it, and try again"
    )]
    InFlight {
        /// What is under way.
        what: String,
    },
    /// There was a catalogue, and it is gone.
    #[error(
        "{path} {what}: the catalogue was lost. Nothing was changed, and no new one was made, for it would not know \
         the files in the cache and on tape"
    )]
    Lost {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// An older program made it, and it was opened to be read only.
    #[error(
        "{path} has schema {found}, this program reads {known}: `tapewise catalog upgrade` brings it up to date"
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// Ours.
        known: u32,
    },
    /// A backup replaces what has its name.
    #[error(
        "{path} is the catalogue itself: write the backup to another file, better on another disk"
    )]
    BackupOntoItself {
        /// The file.
        path: PathBuf,
    },
    /// A backup does not replace what is no backup.
    #[error("{path} is {what}: write the backup to another file")]
    BackupOntoOther {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A newer program has worked on it.
    #[error(
        "{path} has schema {found}, this program knows up to {known}: use the newer program that wrote it, or restore a backup from before"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// Ours.
        known: u32,
    },
    /// Where it lies there can be no write-ahead log, as on network file systems.
    #[error(
        "{path}: its file system allows journal mode \"{mode}\" but no write-ahead log: put the catalogue on a local disk"
    )]
    NoWriteAheadLog {
        /// The file.
        path: PathBuf,
        /// What the database fell back to.
        mode: String,
    },
    /// It holds what no version of us writes.
    #[error("the catalogue is damaged: {0}; restore a backup")]
    Damaged(String),
    /// The index of names is not as it was made; the files themselves are as they were.
    #[error(
        "the index of names is damaged: {0}; `tapewise catalog index --anew` makes it again from the files"
    )]
    NameIndex(io::Error),
    /// No such volume.
    #[error("no volume has the number {}", .0.0)]
    NoVolume(VolumeId),
    /// A volume of that label or UUID is there already.
    #[error(
        "a volume with label {label} or UUID {uuid} is in the catalogue: `tapewise catalog forget` takes it out"
    )]
    VolumeKnown {
        /// The label.
        label: String,
        /// The UUID.
        uuid: String,
    },
    /// No such file.
    #[error("no file has the number {}", .0.0)]
    NoFile(FileId),
    /// A live file has this path.
    #[error(
        "{} is in the archive: `store --replace` puts a new version in its place, or take another path",
        String::from_utf8_lossy(path)
    )]
    PathTaken {
        /// The path.
        path: Vec<u8>,
    },
    /// A file is where another one needs a directory: no file system can hold both.
    #[error("{}", in_the_way(path, other))]
    InTheWay {
        /// The path of the file that is stored.
        path: Vec<u8>,
        /// The path of the one that the archive has.
        other: Vec<u8>,
    },
    /// The database has no room for a path of this length in its indexes.
    #[error("{}: {}", String::from_utf8_lossy(path), too_long(path.len(), *most))]
    PathTooLong {
        /// The path.
        path: Vec<u8>,
        /// The longest one that it takes, in bytes.
        most: usize,
    },
    /// A catalogue has paths that are too long for the place to which it is to go.
    #[error(
        "the catalogue stays where it is: a catalogue in PostgreSQL takes no path of more than {most} bytes, and this one \
         has {paths}. One of them has {} bytes: {}",
        .example.len(), String::from_utf8_lossy(example)
    )]
    PathsTooLong {
        /// How many.
        paths: u64,
        /// One of them.
        example: Vec<u8>,
        /// The longest one that the place takes, in bytes.
        most: usize,
    },
    /// What a list says of a file cannot be.
    #[error("{}: {what}", String::from_utf8_lossy(path))]
    Impossible {
        /// The file.
        path: Vec<u8>,
        /// What is wrong with it.
        what: String,
    },
    /// Where a write is said to have ended cannot be.
    #[error("write {} began in block {first_block} and cannot end before block {next_block}", .write.0)]
    WriteEnd {
        /// The write.
        write: WriteId,
        /// Where it began.
        first_block: u64,
        /// Where it is said to have ended.
        next_block: u64,
    },
    /// Only live files are recalled.
    #[error("file {} is {state}: only live files are recalled", .file.0)]
    NotLive {
        /// The file.
        file: FileId,
        /// What it is.
        state: &'static str,
    },
    /// A write is open on this volume.
    #[error(
        "write {} is open on volume {label}: commit or abandon it first", .write.0
    )]
    WriteOpen {
        /// The write.
        write: WriteId,
        /// The volume.
        label: String,
    },
    /// The volume takes no more.
    #[error("volume {label} is {state} and of format {format}: it is not written")]
    NotWritable {
        /// The volume.
        label: String,
        /// Its state.
        state: &'static str,
        /// Its format.
        format: &'static str,
    },
    /// No such write: it was committed or abandoned.
    #[error("write {} is not open: it was committed or abandoned", .0.0)]
    NoWrite(WriteId),
    /// A copy of that number is there, or under way.
    #[error("copy {number} of file {} is {state}", .file.0)]
    CopyExists {
        /// The file.
        file: FileId,
        /// The copy.
        number: u32,
        /// What it is.
        state: String,
    },
    /// No such copy.
    #[error("file {} has no copy {number}", .file.0)]
    NoCopy {
        /// The file.
        file: FileId,
        /// The copy.
        number: u32,
    },
    /// The file has not as many other whole copies as are wanted, or the copy is being written.
    #[error("copy {number} of file {} is kept: {wanted} are wanted, and {others} others are whole", .file.0)]
    CopyNeeded {
        /// The file.
        file: FileId,
        /// The copy.
        number: u32,
        /// Copies that are wanted.
        wanted: u32,
        /// Whole copies besides.
        others: u32,
    },
    /// Two copies on one volume are one copy.
    #[error("volume {label} holds copy {number} of file {}: another copy belongs on another volume", .file.0)]
    SameVolume {
        /// The file.
        file: FileId,
        /// The copy that is there.
        number: u32,
        /// The volume.
        label: String,
    },
    /// Files would be lost.
    #[error(
        "{} only copy on volume {label}: {}{}",
        if *files == 1 { "one file has its".to_owned() } else { format!("{files} files have their") },
        String::from_utf8_lossy(example),
        if *files == 1 { "" } else { " for one" }
    )]
    OnlyCopy {
        /// The volume.
        label: String,
        /// How many files.
        files: u64,
        /// The path of one.
        example: Vec<u8>,
    },
    /// What only the cartridge has would be lost.
    #[error("volume {label} holds what the catalogue lacks: {what}")]
    HoldsMore {
        /// The volume.
        label: String,
        /// What, as reading it in found it.
        what: String,
    },
    /// A sum contradicts the one in the catalogue.
    #[error("file {}: {given} contradicts {known} in the catalogue", .file.0)]
    OtherSum {
        /// The file.
        file: FileId,
        /// The sum in the catalogue.
        known: String,
        /// The one given.
        given: String,
    },
    /// No such request.
    #[error("no request has the number {}", .0.0)]
    NoRequest(RequestId),
    /// A request is answered once.
    #[error("request {} is {state} already", .request.0)]
    Answered {
        /// The request.
        request: RequestId,
        /// Its state.
        state: &'static str,
    },
    /// A store is delivered by the write that completes it, never by word.
    #[error("request {} stores file {}, which lacks copies: it is delivered when they are committed", .request.0, .file.0)]
    LacksCopies {
        /// The request.
        request: RequestId,
        /// Its file.
        file: FileId,
    },
    /// A mover was away for too long: what it had is somebody else's now, or free.
    #[error(
        "lease {epoch} is over: it was not renewed in time, and another mover may have drive and cartridge. \
         Nothing more is written for it"
    )]
    LeaseLost {
        /// The number of the lease.
        epoch: u64,
    },
    /// The file lies in the cache already.
    #[error("file {} is in the cache", .0.0)]
    IsCached(FileId),
}

impl CatalogueError {
    /// Whether the database failed: where it was asked to change something, the change may be in it.
    pub(crate) fn is_of_database(&self) -> bool {
        matches!(
            self,
            CatalogueError::Database(_)
                | CatalogueError::Answer(_)
                | CatalogueError::CommitUnknown { .. }
        )
    }
}

/// Why a path is not taken.
pub(crate) fn too_long(bytes: usize, most: usize) -> String {
    format!(
        "its path has {bytes} bytes, and a catalogue in PostgreSQL takes at most {most}: give it a shorter path"
    )
}

/// Two files of which one needs a directory in the other's place.
fn in_the_way(path: &[u8], other: &[u8]) -> String {
    let is_above = path.starts_with(other);
    let (path, other) = (
        String::from_utf8_lossy(path),
        String::from_utf8_lossy(other),
    );
    if is_above {
        format!(
            "{path}: {other} is a file in the archive, so no file can lie below it: `store --replace` puts the new files in \
             its place, or take another path"
        )
    } else {
        format!(
            "{path}: {other} is in the archive below this path, so no file can be there: take another path"
        )
    }
}
