//! How many recalls have ended, for whoever counts on and on.

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

impl Ended {
    /// What has ended since an earlier count. A catalogue that was restored may have less than before: then nothing has.
    pub fn since(self, earlier: Ended) -> Ended {
        Ended {
            delivered: self.delivered.saturating_sub(earlier.delivered),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            failed: self.failed.saturating_sub(earlier.failed),
        }
    }
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

/// How many numbers of recalls a block has.
const BLOCK: u64 = 10_000;

/// A count of recalls that can be gone on with. Blocks of recalls that have all ended are counted for good, so a recall
/// that stays open for months has only its own block counted again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    pub(super) block: u64,
    /// The first block that nobody has looked at yet.
    pub(super) next: u64,
    /// The blocks before it that are counted again: something in them is open, or more may come.
    pub(super) again: Vec<u64>,
    pub(super) before: Ended,
    pub(super) after: Ended,
}

impl Default for Tally {
    /// Nothing was counted yet.
    fn default() -> Tally {
        Tally::by_blocks_of(BLOCK)
    }
}

impl Tally {
    /// Nothing was counted yet. A block has this many numbers of recalls.
    pub fn by_blocks_of(block: u64) -> Tally {
        Tally {
            block: block.max(1),
            next: 0,
            again: Vec::new(),
            before: Ended::default(),
            after: Ended::default(),
        }
    }

    /// All that have ended.
    pub fn total(&self) -> Ended {
        self.before + self.after
    }

    /// How many blocks the next count looks at, beside new ones.
    pub fn counted_again(&self) -> usize {
        self.again.len()
    }
}
