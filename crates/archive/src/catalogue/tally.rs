//! How many recalls have ended, for whoever counts on and on.

use super::RequestId;
use std::ops::Add;

/// How recalls have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Those whose files were delivered.
    pub delivered: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Those that failed.
    pub failed: u64,
}

impl Add for Ended {
    type Output = Ended;

    fn add(self, more: Ended) -> Ended {
        Ended {
            delivered: self.delivered + more.delivered,
            bytes: self.bytes + more.bytes,
            failed: self.failed + more.failed,
        }
    }
}

/// A count of recalls that can be gone on with. Whatever came before `first` has ended and is counted for good, so the
/// next count looks at what came after it only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    pub(super) first: RequestId,
    pub(super) before: Ended,
    pub(super) after: Ended,
}

impl Default for Tally {
    /// Nothing was counted yet.
    fn default() -> Tally {
        Tally {
            first: RequestId(0),
            before: Ended::default(),
            after: Ended::default(),
        }
    }
}

impl Tally {
    /// All that have ended.
    pub fn total(&self) -> Ended {
        self.before + self.after
    }
}
