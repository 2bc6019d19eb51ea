//! The drive reads while a sink takes what was read before.

use super::Ring;
use std::io::{Error, Result};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use tapewise_run::{Buffer, Item, Piece, Sink};

/// What goes from the drive to the sink.
enum Passed {
    Begin(Piece),
    Block(Piece, u64, Buffer),
    Filemark(Piece, u64),
    End(Piece),
}

/// Runs `read` with a sink that hands everything on to `sink` on another thread, and gives what
/// `read` gave, and why the sink failed if that came too late for `read` to hear of it: behind the
/// last block of a piece that was given up.
///
/// The end of a piece waits until the sink has ended it, so that whoever reads may say that the piece
/// was delivered. What the sink says against a piece comes out of the next call, at the latest out of
/// the piece's end.
pub fn read_ahead<T>(
    ring: &mut Ring,
    sink: &mut (dyn Sink + Send),
    read: impl FnOnce(&mut dyn Sink) -> T,
) -> (T, Result<()>) {
    if ring.is_alone {
        return (read(sink), Ok(()));
    }
    let (give_back, free) = ring.lend();
    // All buffers may be on their way, each behind the beginning of a piece.
    let (pass, passed) = sync_channel(2 * ring.count);
    let (say, said) = sync_channel(1);
    let (result, unheard, free) = thread::scope(|scope| {
        let (hand, handed) = sync_channel::<&mut (dyn Sink + Send)>(1);
        let taking = thread::Builder::new().spawn_scoped(scope, move || {
            if let Ok(sink) = handed.recv() {
                take(sink, &passed, &give_back, &say);
            }
        });
        let Ok(taking) = taking else {
            // No thread can be had: the drive waits for the disk at every block.
            return (read(sink), Ok(()), free);
        };
        // The thread takes it at once.
        let _ = hand.send(sink);
        drop(hand);
        let mut ahead = Ahead { free, pass, said };
        let result = read(&mut ahead);
        let Ahead { free, pass, said } = ahead;
        drop(pass);
        if let Err(panic) = taking.join() {
            resume_unwind(panic);
        }
        (result, said.try_recv().unwrap_or(Ok(())), free)
    });
    ring.take_back(&free);
    (result, unheard)
}

/// Takes what is passed until there is no more, or the sink fails.
fn take(
    sink: &mut dyn Sink,
    passed: &Receiver<Passed>,
    give_back: &SyncSender<Buffer>,
    say: &SyncSender<Result<()>>,
) {
    for passed in passed {
        let is_end = matches!(passed, Passed::End(_));
        let done = match passed {
            Passed::Begin(piece) => sink.begin(&piece),
            Passed::Filemark(piece, block) => sink.item(&piece, block, Item::Filemark),
            Passed::Block(piece, block, mut buffer) => {
                let done = sink.item(&piece, block, Item::Block(&mut buffer));
                // Where nobody wants it back it is dropped here.
                let _ = give_back.try_send(buffer);
                done
            }
            Passed::End(piece) => sink.end(&piece),
        };
        let has_failed = done.is_err();
        if has_failed || is_end {
            // Whoever reads waits for the end of a piece, so there is room for what is said.
            let _ = say.try_send(done);
        }
        if has_failed {
            return;
        }
    }
}

/// The sink on the drive's side.
struct Ahead {
    free: Receiver<Buffer>,
    pass: SyncSender<Passed>,
    said: Receiver<Result<()>>,
}

impl Ahead {
    fn pass(&mut self, passed: Passed) -> Result<()> {
        match self.pass.send(passed) {
            Ok(()) => Ok(()),
            Err(_) => self.wait(),
        }
    }

    /// What the other side says next: that a piece has ended, or why it has ended itself.
    fn wait(&mut self) -> Result<()> {
        match self.said.recv() {
            Ok(said) => said,
            Err(_) => Err(Error::other("the thread that takes what is read has ended")),
        }
    }
}

impl Sink for Ahead {
    fn begin(&mut self, piece: &Piece) -> Result<()> {
        self.pass(Passed::Begin(*piece))
    }

    fn item(&mut self, piece: &Piece, block: u64, item: Item<'_>) -> Result<()> {
        let passed = match item {
            Item::Filemark => Passed::Filemark(*piece, block),
            Item::Block(buffer) => match self.free.recv() {
                Ok(spare) => Passed::Block(*piece, block, std::mem::replace(buffer, spare)),
                Err(_) => return self.wait(),
            },
        };
        self.pass(passed)
    }

    fn end(&mut self, piece: &Piece) -> Result<()> {
        self.pass(Passed::End(*piece))?;
        self.wait()
    }
}
