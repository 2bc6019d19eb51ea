//! How many bytes the path to a drive carries with one command, as far as it was found out.

use crate::error::ScsiError;
use crate::transport::TransportError;

/// A page: every path carries as much.
pub(super) const SMALLEST: usize = 4096;

/// What the path refused, and what to do then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathLimit {
    /// The shortest read that was refused, and the shorter one that was tried in its place.
    refused: Option<(usize, usize)>,
    /// The length of the block that the drive called longer than what was asked for.
    told: Option<usize>,
}

impl PathLimit {
    /// How much of a buffer to ask for. A length that was refused is tried again only when the drive
    /// has told that the block is that long: an adapter that was short of memory may have it now.
    pub fn room(&self, buffer_bytes: usize) -> usize {
        match self.refused {
            Some((refused, smaller)) if buffer_bytes >= refused && !self.is_told(buffer_bytes) => {
                smaller
            }
            _ => buffer_bytes,
        }
    }

    /// How much to ask for after a read of `room` bytes has failed; `None` when the failure has
    /// another cause, or when no shorter read would get the block.
    pub fn smaller(&mut self, room: usize, error: &ScsiError) -> Option<usize> {
        let ScsiError::Transport {
            source: TransportError::TooLarge { limit_bytes, .. },
            ..
        } = error
        else {
            return None;
        };
        if self.is_told(room) || room <= SMALLEST {
            return None;
        }
        let smaller = match (SMALLEST..room).contains(limit_bytes) {
            true => *limit_bytes,
            // The path does not know its own limit.
            false => (room / 2).max(SMALLEST),
        };
        self.refused = Some((room, smaller));
        Some(smaller)
    }

    /// The drive says that a block is so long.
    pub fn told(&mut self, block_bytes: u64) {
        self.told = usize::try_from(block_bytes).ok();
    }

    fn is_told(&self, bytes: usize) -> bool {
        self.told == Some(bytes)
    }
}
