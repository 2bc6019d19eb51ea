//! Requests: the journal of what was asked for, each answered once.

use super::ids::{FileId, RequestId, VolumeId};
use super::{Result, Tally, Terms};
use crate::catalogue::error::CatalogueError;
use crate::placement::Asked;
use crate::record::Segment;
use std::collections::BTreeMap;
use tapewise_sim::mounts::Owner;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// Put it on tape.
    Store,
    /// Bring it back.
    Recall,
}

impl RequestKind {
    /// All of them.
    pub const ALL: [RequestKind; 2] = [RequestKind::Store, RequestKind::Recall];

    /// Its name in catalogues and answers.
    pub fn name(self) -> &'static str {
        match self {
            RequestKind::Store => "store",
            RequestKind::Recall => "recall",
        }
    }
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestState {
    /// Nobody has begun with it.
    Queued,
    /// Somebody has: a cartridge is on its way or in a drive.
    Started,
    /// Answered: the file is where it was wanted, or on as many volumes as were wanted.
    Delivered,
    /// Answered: it could not be done.
    Failed,
    /// Answered: nobody wants it any more.
    Cancelled,
}

impl RequestState {
    /// All of them.
    pub const ALL: [RequestState; 5] = [
        RequestState::Queued,
        RequestState::Started,
        RequestState::Delivered,
        RequestState::Failed,
        RequestState::Cancelled,
    ];

    /// Its name in catalogues and answers.
    pub fn name(self) -> &'static str {
        match self {
            RequestState::Queued => "queued",
            RequestState::Started => "started",
            RequestState::Delivered => "delivered",
            RequestState::Failed => "failed",
            RequestState::Cancelled => "cancelled",
        }
    }
}

/// What kept a request from being served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// No copy of the file is whole, and the cache does not have it.
    NoCopy,
    /// The tape could not be read.
    Unreadable,
    /// What was read is not what was stored.
    WrongContents,
    /// The destination does not take it.
    Destination,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 4] = [
        Cause::NoCopy,
        Cause::Unreadable,
        Cause::WrongContents,
        Cause::Destination,
    ];

    /// Its name in catalogues and answers.
    pub fn name(self) -> &'static str {
        match self {
            Cause::NoCopy => "no-copy",
            Cause::Unreadable => "unreadable",
            Cause::WrongContents => "wrong-contents",
            Cause::Destination => "destination",
        }
    }
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct Failure {
    /// What kept it from being served.
    pub cause: Cause,
    /// The same in words.
    pub words: String,
}

impl Failure {
    /// A failure of a cause, in words.
    pub fn new(cause: Cause, words: impl Into<String>) -> Failure {
        let words = words.into();
        Failure { cause, words }
    }
}

/// A recall that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecall {
    /// The file.
    pub file: FileId,
    /// Who asks.
    pub terms: Terms,
    /// Where it is to go; none where the cache is enough.
    pub destination: Option<Vec<u8>>,
}

/// A request as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The request.
    pub id: RequestId,
    /// What was asked for.
    pub kind: RequestKind,
    /// The file.
    pub file: FileId,
    /// Who asked.
    pub terms: Terms,
    /// Where a recall goes to, or a store comes from.
    pub place: Option<Vec<u8>>,
    /// How far it has come.
    pub state: RequestState,
    /// Why it failed, in words.
    pub reason: Option<String>,
    /// What kept it from being served; none where an older version noted words only.
    pub cause: Option<Cause>,
    /// When it was asked for.
    pub created_ns: i64,
    /// When somebody last began with it.
    pub started_ns: Option<i64>,
    /// When it was answered.
    pub done_ns: Option<i64>,
}

/// How a request ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done.
    Delivered,
    /// It could not be done, and why.
    Failed(Failure),
    /// Nobody wants it any more.
    Cancelled,
}

/// A queued recall, and what it needs of one volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The request.
    pub request: RequestId,
    /// The file.
    pub file: FileId,
    /// The number of the whole copy that lies here, or a part of which does.
    pub number: u32,
    /// Who asked, and what for.
    pub owner: Owner,
    /// The directory that it goes to; none where the cache is enough.
    pub place: Option<Vec<u8>>,
    /// Higher is sooner.
    pub priority: i64,
    /// When it has to be done.
    pub deadline_ns: Option<i64>,
    /// When it was asked for.
    pub created_ns: i64,
    /// Length of the file.
    pub file_bytes: u64,
    /// Length of the zstd frame that the copy is; none where it is the contents as they are.
    pub zstd_bytes: Option<u64>,
    /// Segments of the copy on this volume that follow one another in the file, in that order.
    pub segments: Vec<Segment>,
}

impl Waiting {
    /// Whether the part before this one has been read: of another volume, for the same recall.
    pub(crate) fn has_begun(&self) -> bool {
        let first = self.segments.first();
        first.is_some_and(|segment| segment.file_offset > 0)
    }

    /// Whether a segment of a copy on the same volume is the next one in the file. Otherwise bytes of
    /// other volumes come between the two, and it waits for itself.
    pub(crate) fn goes_on(&self, number: u32, segment: &Segment) -> bool {
        let last = self.segments.last();
        self.number == number && last.is_some_and(|last| last.is_followed_by(segment))
    }
}

/// What waits for a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeQueue {
    /// The volume.
    pub volume: VolumeId,
    /// Its label.
    pub label: String,
    /// The recalls, oldest first.
    pub waiting: Vec<Waiting>,
}

impl VolumeQueue {
    /// The recalls' numbers, in this order.
    pub fn requests(&self) -> Vec<RequestId> {
        self.waiting.iter().map(|one| one.request).collect()
    }
}

/// The queued recalls, by what they wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallQueue {
    /// By volume, in order of labels. A file with copies on several volumes stands under each. Copies on volumes that
    /// are out of use are left out.
    pub volumes: Vec<VolumeQueue>,
    /// Those that need no tape: their files lie in the cache, or are empty.
    pub at_hand: Vec<(RequestId, FileId)>,
    /// Those that cannot be served: no copy of their file is whole, or only on broken volumes.
    pub stranded: Vec<(RequestId, FileId)>,
    /// Those that wait until a volume that is disabled is put into use again, each with its label: all whole copies of
    /// their file are on such.
    pub disabled: Vec<(RequestId, String)>,
    /// The newest request of all when this was read.
    pub newest: RequestId,
}

/// What is known of requests.
pub trait Requests: Send + Sync {
    /// Writes recalls into the journal, all or none.
    fn submit(&self, recalls: &[NewRecall], at_ns: i64) -> Result<Vec<RequestId>>;

    /// As [`Requests::submit`], but a recall of a file to a place that has no answer yet is not
    /// written down twice: its request is given, whoever asked for it.
    fn join(&self, recalls: &[NewRecall], at_ns: i64) -> Result<Vec<RequestId>>;

    /// A request.
    fn request(&self, id: RequestId) -> Result<Request>;

    /// The requests that have no answer, oldest first.
    fn unanswered(&self) -> Result<Vec<Request>>;

    /// Those of these requests that have no answer.
    fn unanswered_among(&self, requests: &[RequestId]) -> Result<Vec<RequestId>>;

    /// The queued recalls that are held back.
    fn held_back(&self) -> Result<Vec<RequestId>>;

    /// The recalls that were entered last, at most `most`, the last one first: who asked for which file, and when.
    fn asked(&self, most: usize) -> Result<Vec<Asked>>;

    /// How many recalls have no answer, and since when, without a list of them.
    fn open_recalls(&self) -> Result<OpenRecalls>;

    /// Counts the recalls that have ended, on from the last count.
    fn tally(&self, last: &Tally) -> Result<Tally>;

    /// How much waits in the queue for each volume, in order of labels, without a list of it. A file with copies on
    /// several volumes counts for each; what lies in the cache, or is held back, for none.
    fn waits(&self) -> Result<Vec<VolumeWait>>;

    /// The newest request, and whether a recall that came after another one waits in the queue and has a whole copy on
    /// a volume. It takes no longer where much waits, so that a drive can ask between two reads.
    fn newest(&self, after: RequestId, volume: VolumeId) -> Result<Newest>;

    /// Notes that somebody begins with requests; one that is answered is an error.
    fn start(&self, requests: &[RequestId], at_ns: i64) -> Result<()>;

    /// Puts everything that was started back into the queue, except what is begun for a lease in force: for a start
    /// after a kill, or when a drive failed. Returns how many.
    fn requeue_started(&self) -> Result<u64>;

    /// Puts those of these requests back into the queue that somebody has begun with and nobody has answered.
    fn requeue(&self, requests: &[RequestId]) -> Result<()>;

    /// Answers a request, once: whoever comes second gets an error and delivers nothing.
    ///
    /// A file that was only announced is retired when its store fails or is cancelled.
    fn answer(&self, request: RequestId, answer: &Answer, at_ns: i64) -> Result<()>;

    /// Cancels those of these recalls that wait in the queue, and returns them. A recall that somebody has
    /// begun to read, or that was answered, is left alone.
    fn withdraw(&self, requests: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>>;

    /// The queued recalls that are not held back, by what they wait for.
    fn recall_queue(&self) -> Result<RecallQueue>;

    /// As [`Requests::recall_queue`], of those that were asked for after this request.
    fn recalls_after(&self, request: RequestId) -> Result<RecallQueue>;

    /// As [`Requests::recall_queue`], of these requests.
    fn recalls_among(&self, requests: &[RequestId]) -> Result<RecallQueue>;

    /// What [`Requests::recall_queue`] has of a volume.
    fn recalls_of(&self, label: &str) -> Result<Option<VolumeQueue>>;

    /// The recalls that somebody has begun with, by the volumes that have copies of their files.
    fn started_recalls(&self) -> Result<RecallQueue>;

    /// What drives have begun to read, whoever has them.
    fn begun(&self) -> Result<Begun>;
}

/// What drives have begun to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begun {
    /// The mounts.
    pub mounts: Vec<BegunMount>,
    /// How many of the recalls go to each directory; those into the cache are left out.
    pub places: BTreeMap<Vec<u8>, u64>,
}

/// A mount whose recalls have been begun, together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BegunMount {
    /// The epoch of its lease; none where a process works alone.
    pub epoch: Option<u64>,
    /// Whose the oldest of its recalls is.
    pub owner: Owner,
}

/// What came last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// The newest request.
    pub request: RequestId,
    /// Whether the volume is wanted for something that came.
    pub is_wanted: bool,
}

/// How much waits for a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeWait {
    /// Its label.
    pub label: String,
    /// Recalls in the queue.
    pub recalls: u64,
    /// Bytes of their copies on this volume.
    pub bytes: u64,
    /// When the oldest of them was asked for.
    pub oldest_ns: i64,
}

/// Recalls that have no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenRecalls {
    /// Those in the queue that may be read.
    pub queued: u64,
    /// Those in the queue that are held back.
    pub held: u64,
    /// Those that somebody has begun with.
    pub started: u64,
    /// When the oldest of them was asked for that is not held back.
    pub oldest_ns: Option<i64>,
}

impl CatalogueError {
    /// Whether the request that was to be started or answered had been cancelled before.
    pub fn is_withdrawn(&self) -> bool {
        matches!(self, CatalogueError::Answered { state, .. } if *state == RequestState::Cancelled.name())
    }
}
