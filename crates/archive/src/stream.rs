//! Blocks between drive and disk on threads of their own, in buffers that are used again.
//!
//! The drive stays on the thread that owns it; disks and checksums get a thread of their own. Between
//! them goes a ring of page-aligned [`Buffer`]s, made once: the drive reads straight into one of
//! them, or writes straight from it, and the other side works on the same bytes. Whoever is slower
//! makes the other one wait. When one side fails, the other is told at its next step and ends too;
//! the error that comes out is the one that came first.
//!
//! - [`read_ahead`]: the drive reads while a [`Sink`](tapewise_run::Sink) takes what was read before.
//! - [`write_behind`]: blocks are made while the drive writes those made before.

mod read_ahead;
mod write_behind;

pub use read_ahead::read_ahead;
pub use write_behind::{Draining, Filling, write_behind};

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use tapewise_run::Buffer;

/// Buffers that two threads pass to each other.
#[derive(Debug)]
pub struct Ring {
    buffers: Vec<Buffer>,
    count: usize,
    buffer_bytes: usize,
    /// One side works at a time.
    is_alone: bool,
}

/// Each side holds one buffer, and one more lets them overlap.
const FEWEST_BUFFERS: usize = 3;

impl Ring {
    /// So many buffers (at least three) of so many bytes each. Their size should be that of the
    /// blocks: a drive that is asked for more bytes than a block has needs to say so each time.
    pub fn new(count: usize, buffer_bytes: usize) -> Ring {
        Ring {
            // Made when they are first lent.
            buffers: Vec::new(),
            count: count.max(FEWEST_BUFFERS),
            buffer_bytes,
            is_alone: false,
        }
    }

    /// The same for disk and drive that wait for each other at every block, so that the same seed gives the same steps
    /// in the same order: what is read needs no thread beside the drive's, and what is written is made in turns with it.
    #[must_use]
    pub fn alone(self) -> Ring {
        Ring {
            is_alone: true,
            ..self
        }
    }

    /// Bytes of a buffer.
    pub fn buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }

    /// Puts all buffers where both sides find them. Those that an error has lost are made anew.
    fn lend(&mut self) -> (SyncSender<Buffer>, Receiver<Buffer>) {
        // One more than there are: a drive brings a buffer of its own into the ring.
        let (give_back, free) = sync_channel(self.count + 1);
        // Alone, whoever has the one buffer works.
        let count = if self.is_alone { 1 } else { self.count };
        self.buffers.truncate(count);
        let missing = count - self.buffers.len();
        let fresh = (0..missing).map(|_| Buffer::new(self.buffer_bytes));
        for buffer in self.buffers.drain(..).chain(fresh) {
            // There is room for all of them, and the receiver is still here.
            let _ = give_back.try_send(buffer);
        }
        (give_back, free)
    }

    /// Takes back what is free when both sides have ended.
    fn take_back(&mut self, free: &Receiver<Buffer>) {
        self.buffers.extend(free.try_iter());
    }
}
