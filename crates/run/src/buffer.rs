//! Room for a block, made once and handed around.
//!
//! It begins at a page, so that a kernel that can move data without copying it may do so. It is
//! moved, swapped and sent to other threads; the bytes stay where they are.

use std::ops::Deref;

/// Size of a page on every machine that we know drives on, or a multiple of it.
const PAGE_BYTES: usize = 4096;

/// Room for a block, and the block in it. It derefs to the block.
#[derive(Debug)]
pub struct Buffer {
    store: Vec<u8>,
    /// Where the first page begins in the store.
    from: usize,
    room_bytes: usize,
    filled_bytes: usize,
}

impl Buffer {
    /// An empty buffer with room for so many bytes.
    pub fn new(room_bytes: usize) -> Buffer {
        let store = vec![0; room_bytes + PAGE_BYTES];
        // Where the address cannot be known (an interpreter may say so) alignment is not needed.
        let from = store.as_ptr().align_offset(PAGE_BYTES);
        Buffer {
            from: if from < PAGE_BYTES { from } else { 0 },
            store,
            room_bytes,
            filled_bytes: 0,
        }
    }

    /// How many bytes it has room for.
    pub fn room_bytes(&self) -> usize {
        self.room_bytes
    }

    /// All of its room, whatever stands in it.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.store[self.from..self.from + self.room_bytes]
    }

    /// Says that the block in it are its first `bytes` bytes, at most all.
    pub fn fill(&mut self, bytes: usize) {
        self.filled_bytes = bytes.min(self.room_bytes);
    }

    /// The room behind what is filled.
    pub fn rest(&mut self) -> &mut [u8] {
        let filled = self.filled_bytes;
        &mut self.room()[filled..]
    }

    /// Puts as many bytes behind what is filled as there is room for, and says how many.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let rest = self.rest();
        let count = bytes.len().min(rest.len());
        rest[..count].copy_from_slice(&bytes[..count]);
        self.filled_bytes += count;
        count
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.store[self.from..self.from + self.filled_bytes]
    }
}
