//! Blocks are made while the drive writes those made before.

use super::Ring;
use std::io::Result;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder};
use tapewise_run::{Buffer, Source};

/// A block on its way to the drive.
struct Made {
    block: Buffer,
    /// Something begins in it whose place on the tape is worth asking for.
    is_beginning: bool,
}

/// The side that makes blocks.
pub struct Filling {
    free: Receiver<Buffer>,
    pass: SyncSender<Made>,
    /// Whether blocks are made only while the drive waits for one.
    is_alone: bool,
    /// The buffer that says so.
    turn: Option<Buffer>,
}

impl Filling {
    /// An empty buffer; none when nobody writes any more, and making more is of no use.
    pub fn buffer(&mut self) -> Option<Buffer> {
        let mut buffer = match self.turn.take() {
            Some(buffer) => buffer,
            None => self.free.recv().ok()?,
        };
        buffer.fill(0);
        Some(buffer)
    }

    /// Gives a block to the drive, and says whether something begins in it whose place on the tape is
    /// worth asking for. None when nobody writes any more.
    pub fn give(&mut self, block: Buffer, is_beginning: bool) -> Option<()> {
        let made = Made {
            block,
            is_beginning,
        };
        self.pass.send(made).ok()?;
        self.wait_for_turn()
    }

    /// Waits until the drive wants a block, where the two take turns. None when nobody writes any more.
    fn wait_for_turn(&mut self) -> Option<()> {
        if self.is_alone {
            self.turn = Some(self.free.recv().ok()?);
        }
        Some(())
    }
}

/// The side that writes: a source of blocks in runs, each of which ends where the place on the tape
/// is worth asking for, but not before it has so many bytes.
pub struct Draining {
    passed: Receiver<Made>,
    give_back: SyncSender<Buffer>,
    least_run_bytes: u64,
    run_bytes: u64,
    /// What the drive writes now.
    held: Option<Buffer>,
    /// What begins the next run.
    next: Option<Buffer>,
    has_ended: bool,
}

impl Draining {
    /// Whether everything was given: what ended the last run was no place to be asked for.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }
}

impl Source for Draining {
    fn block(&mut self) -> Result<Option<&[u8]>> {
        if let Some(written) = self.held.take() {
            // Where nobody wants it back it is dropped here.
            let _ = self.give_back.try_send(written);
        }
        let block = match self.next.take() {
            Some(block) => block,
            None => match self.passed.recv() {
                Ok(made) if made.is_beginning && self.run_bytes >= self.least_run_bytes => {
                    self.next = Some(made.block);
                    self.run_bytes = 0;
                    return Ok(None);
                }
                Ok(made) => made.block,
                Err(_) => {
                    self.has_ended = true;
                    return Ok(None);
                }
            },
        };
        self.run_bytes += block.len() as u64;
        Ok(Some(self.held.insert(block)))
    }
}

/// Runs `make` on another thread while `write` takes what it makes, in runs of at least
/// `least_run_bytes`, and gives what both gave. When `write` ends early `make` is told that nobody
/// writes any more; when `make` ends early [`Draining`] ends, and what `make` gives says why.
///
/// # Errors
/// When the system gives no thread: then nothing was made and nothing written.
pub fn write_behind<M: Send, T>(
    ring: &mut Ring,
    least_run_bytes: u64,
    make: impl FnOnce(&mut Filling) -> M + Send,
    write: impl FnOnce(&mut Draining) -> T,
) -> Result<(M, T)> {
    let (give_back, free) = ring.lend();
    let (pass, passed) = sync_channel(ring.count);
    let mut draining = Draining {
        passed,
        give_back,
        least_run_bytes,
        run_bytes: 0,
        // Given back with the first block that is asked for.
        held: ring.is_alone.then(|| free.try_recv().ok()).flatten(),
        next: None,
        has_ended: false,
    };
    let mut filling = Filling {
        free,
        pass,
        is_alone: ring.is_alone,
        turn: None,
    };
    let (made, written, free) = thread::scope(|scope| -> Result<(M, T, Receiver<Buffer>)> {
        // Without a thread the ring's buffers are lost with the closure, and made anew when it is lent again.
        let making = Builder::new().spawn_scoped(scope, move || {
            filling.wait_for_turn();
            let made = make(&mut filling);
            (made, filling.free)
        })?;
        let written = write(&mut draining);
        drop(draining);
        match making.join() {
            Ok((made, free)) => Ok((made, written, free)),
            Err(panic) => resume_unwind(panic),
        }
    })?;
    ring.take_back(&free);
    Ok((made, written))
}
