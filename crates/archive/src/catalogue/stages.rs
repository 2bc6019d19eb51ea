//! Stage requests: files that somebody asked for together over HTTP, to lie in the disk cache for a while.
//!
//! A stage is a list of files, each with a recall into the cache. Stages that ask for the same file share one recall,
//! so the tape is read once for all of them. The cache keeps a file for a stage from the moment it is asked for until
//! its lifetime is over, which begins when the file is there.

use super::Result;
use super::ids::{FileId, RequestId};
use super::requests::RequestState;
use std::collections::{HashMap, HashSet};

/// Why none of the paths that a client may mean is a file that can be had.
pub fn why_no_file(paths: &[Vec<u8>], directories: &HashSet<Vec<u8>>) -> &'static str {
    if paths.iter().any(|path| directories.contains(path)) {
        "this is a directory: ask for the files in it"
    } else {
        "the archive has no such file"
    }
}

/// A list of files that somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewStage {
    /// What it is called from now on; nobody else's.
    pub id: String,
    /// Who asks.
    pub user: String,
    /// What the client called it: a second stage of the same name is the first one sent again.
    pub repeat_key: Option<String>,
    /// A checksum of what was asked for, to tell a repetition from another request with the same key.
    pub asked_hash: Vec<u8>,
    /// The files; each spelling once.
    pub files: Vec<WantedFile>,
}

/// A file that is to be staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedFile {
    /// The path as the client wrote it.
    pub spelling: String,
    /// The paths in the archive that the spelling may mean, the likeliest first; or why it means none.
    pub paths: std::result::Result<Vec<Vec<u8>>, String>,
    /// How long the cache keeps the file once it is there, nanoseconds.
    pub lifetime_ns: i64,
    /// What the file is for, as the site divides its drives; empty where the client did not say.
    pub activity: String,
}

/// What came of a new stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It is entered.
    New,
    /// It had been entered before, under this id.
    Repeated(String),
    /// Its key stands for a stage that asked for something else.
    OtherContents,
    /// Too many files wait already.
    TooMany(OpenFiles),
}

/// How many files of stages wait, of all users or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFiles {
    /// How many wait.
    pub open: u64,
    /// How many may.
    pub most: u64,
}

/// A stage, and how far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its id.
    pub id: String,
    /// Who asked.
    pub user: String,
    /// When it was asked for.
    pub created_ns: i64,
    /// Whether it is held back.
    pub is_held: bool,
    /// Its files, by spelling.
    pub files: Vec<StagedFile>,
}

/// A file of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedFile {
    /// The path as the client wrote it.
    pub spelling: String,
    /// The file; none where the path means none.
    pub file: Option<FileId>,
    /// Its recall; none where it was in the cache already, or was refused.
    pub request: Option<RequestId>,
    /// How far it is for this stage.
    pub state: RequestState,
    /// Why it failed.
    pub reason: Option<String>,
    /// When somebody began to read it.
    pub started_ns: Option<i64>,
    /// When it came to an end.
    pub done_ns: Option<i64>,
}

impl Stage {
    /// The recalls that it waits for, and how far they are.
    pub fn open(&self) -> Vec<(RequestId, RequestState)> {
        let open = self.files.iter().filter(|file| file.done_ns.is_none());
        open.filter_map(|file| Some((file.request?, file.state)))
            .collect()
    }
}

/// A stage, and how far it is, without a list of its files: those of a thousand stages would be millions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageInBrief {
    /// Its id.
    pub id: String,
    /// Who asked.
    pub user: String,
    /// When it was asked for.
    pub created_ns: i64,
    /// Whether it is held back.
    pub is_held: bool,
    /// How many of its files have each state.
    pub files: HashMap<RequestState, usize>,
    /// The recalls that it waits for, and how far they are.
    pub open: Vec<(RequestId, RequestState)>,
    /// The first of the files that failed, by spelling, each with why it did.
    pub failed: Vec<(String, String)>,
}

/// What is known of stages. One user does not see those of another.
pub trait Stages: Send + Sync {
    /// Enters a stage with the recalls that it needs, as a whole, unless too many files would wait.
    fn begin_stage(&self, stage: &NewStage, limits: &[OpenFiles], at_ns: i64) -> Result<Submitted>;

    /// Files of stages that wait, by user. Looks at each of them.
    fn open_files(&self) -> Result<HashMap<String, u64>>;

    /// A stage, if there is one.
    fn stage(&self, user: &str, id: &str) -> Result<Option<Stage>>;

    /// Who asked for a stage, if there is one of this id.
    fn stage_owner(&self, id: &str) -> Result<Option<String>>;

    /// The stages that want a recall.
    fn stages_of(&self, request: RequestId) -> Result<Vec<String>>;

    /// The stages that are kept, of one user or of all, newest first, at most `limit`.
    /// Each has at most `failed` of the files that failed.
    fn stages(&self, user: Option<&str>, limit: usize, failed: usize) -> Result<Vec<StageInBrief>>;

    /// Gives the recalls of a stage that wait another priority; higher is sooner. Other stages that wait for the same
    /// recalls gain or lose by it too.
    fn prioritise_stage(&self, id: &str, priority: i64) -> Result<()>;

    /// Holds a stage back, or lets it go on. A recall that waits is held back while all stages that want it are; one
    /// that somebody has begun to read goes on.
    fn hold_stage(&self, id: &str, is_held: bool) -> Result<()>;

    /// Cancels files of a stage that have not come to an end. A recall that no other stage waits for is cancelled
    /// too, also while its cartridge is being read.
    fn cancel_stage(&self, id: &str, spellings: &[String], at_ns: i64) -> Result<()>;

    /// Cancels all of a stage and forgets it.
    fn delete_stage(&self, id: &str, at_ns: i64) -> Result<()>;

    /// Lets the cache drop files that a stage keeps there.
    fn release_stage(&self, id: &str, files: &[FileId]) -> Result<()>;

    /// Lets the cache drop files that any stage of a user keeps there.
    fn release_files(&self, user: &str, files: &[FileId]) -> Result<()>;

    /// Begins the lifetimes of files that have arrived, gives up the places of those that will not, and forgets
    /// stages that ended `keep_ns` ago, unless a lifetime goes on. Returns how many were forgotten.
    fn settle_stages(&self, keep_ns: i64, at_ns: i64) -> Result<u64>;

    /// Enters a stage and takes it out again, for whoever wants to know whether a catalogue that failed can be written.
    fn try_to_write(&self) -> Result<()>;
}
