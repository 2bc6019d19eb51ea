//! Copies files one after the other: one thread reads, so that the tape streams on while the other syncs a file.

use super::report::Report;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};
use tapewise_archive::deliver::{DeliverError, Delivery, Destination, Expected, InnerPath};

/// Bytes read at once.
const BUFFER_BYTES: usize = 4 << 20;

/// Buffers between the threads: what a drive reads in half a second, which a disk takes to sync.
const BUFFERS: usize = 32;

/// A file to be copied.
#[derive(Debug)]
pub struct Item {
    /// Where it appears.
    pub path: InnerPath,
    /// Where it is read.
    pub source: PathBuf,
    /// What is known of it.
    pub expected: Expected,
}

/// How long the reading of a file took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    /// Until its first bytes were there.
    pub positioning: Duration,
    /// From then on; waiting for the destination is in it.
    pub reading: Duration,
}

/// What the reading thread is to go on with.
struct Wanted<'a> {
    /// Nothing any more.
    stop: &'a AtomicBool,
    /// All but the rest of this file, which has failed.
    not: AtomicUsize,
}

/// What the reading thread has to say.
enum Piece {
    /// A file begins.
    Begin(usize),
    /// The next bytes of it: so many of a buffer.
    Data(Vec<u8>, usize),
    /// It ends.
    End(Took),
    /// It cannot be read on.
    Failed(io::Error),
}

/// Copies files in their order until the flag is set; what became of each goes to the report.
///
/// A file that fails is said and left out; when the destination is full, nothing more is read.
pub fn copy(
    items: &[&Item],
    destination: &Destination,
    stop: &AtomicBool,
    report: &mut Report,
    say: &dyn Fn(&dyn std::fmt::Display),
) {
    let (pieces_in, pieces) = sync_channel(BUFFERS);
    let (empty, empty_out) = channel();
    for _ in 0..BUFFERS {
        // The other end is in this function.
        let _ = empty.send(vec![0; BUFFER_BYTES]);
    }
    let wanted = Wanted {
        stop,
        not: AtomicUsize::new(usize::MAX),
    };
    let wanted = &wanted;
    std::thread::scope(|scope| {
        scope.spawn(move || read_all(items, &pieces_in, &empty_out, wanted));
        let mut writer = Writer {
            items,
            destination,
            wanted,
            report,
            say,
        };
        writer.write_all(pieces, empty);
    });
}

/// Reads the files; ends when told to, or when nobody takes the pieces any more.
fn read_all(
    items: &[&Item],
    pieces: &SyncSender<Piece>,
    empty: &Receiver<Vec<u8>>,
    wanted: &Wanted<'_>,
) {
    for (at, item) in items.iter().enumerate() {
        if wanted.stop.load(Ordering::Relaxed) || pieces.send(Piece::Begin(at)).is_err() {
            return;
        }
        let last = match read_file(at, item, pieces, empty, wanted) {
            Ok(Some(took)) => Piece::End(took),
            Ok(None) => return,
            Err(error) => Piece::Failed(error),
        };
        if pieces.send(last).is_err() {
            return;
        }
    }
}

/// Reads a file; `None` when it was not read to its end because nobody wants it any more.
fn read_file(
    at: usize,
    item: &Item,
    pieces: &SyncSender<Piece>,
    empty: &Receiver<Vec<u8>>,
    wanted: &Wanted<'_>,
) -> io::Result<Option<Took>> {
    let begin = Instant::now();
    let mut first_bytes = None;
    let mut file = File::open(&item.source)?;
    loop {
        if wanted.not.load(Ordering::Relaxed) == at {
            return Ok(Some(Took::default()));
        }
        let Ok(mut buffer) = empty.recv() else {
            return Ok(None);
        };
        let mut filled = 0;
        while filled < buffer.len() {
            if wanted.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match file.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // The buffer goes back by way of the other thread; whoever has no more of them would wait for ever.
                    let _ = pieces.send(Piece::Data(buffer, filled));
                    return Err(error);
                }
            }
            first_bytes.get_or_insert_with(Instant::now);
        }
        let is_last = filled < buffer.len();
        if pieces.send(Piece::Data(buffer, filled)).is_err() {
            return Ok(None);
        }
        if is_last {
            let first_bytes = first_bytes.unwrap_or_else(Instant::now);
            return Ok(Some(Took {
                positioning: first_bytes.duration_since(begin),
                reading: first_bytes.elapsed(),
            }));
        }
    }
}

/// The thread that writes.
struct Writer<'a> {
    items: &'a [&'a Item],
    destination: &'a Destination,
    wanted: &'a Wanted<'a>,
    report: &'a mut Report,
    say: &'a dyn Fn(&dyn std::fmt::Display),
}

impl Writer<'_> {
    /// Writes what is read; the ends of the channels are dropped at the end, so that the other thread ends too.
    fn write_all(&mut self, pieces: Receiver<Piece>, empty: Sender<Vec<u8>>) {
        let mut current: Option<Delivery> = None;
        let mut at = 0;
        for piece in pieces {
            if let Piece::Begin(next) = piece {
                at = next;
            }
            if let Err(error) = self.take(piece, at, &mut current, &empty) {
                current = None;
                self.wanted.not.store(at, Ordering::Relaxed);
                (self.say)(&error);
                self.report.failed(&error);
                if error.is_full() {
                    return;
                }
            }
        }
    }

    /// Does what a piece of a file asks for; a file that has failed has no delivery any more.
    fn take(
        &mut self,
        piece: Piece,
        at: usize,
        current: &mut Option<Delivery>,
        empty: &Sender<Vec<u8>>,
    ) -> Result<(), DeliverError> {
        let item = self.items[at];
        match piece {
            Piece::Begin(_) => {
                *current = Some(self.destination.begin(&item.path, item.expected.clone())?);
            }
            Piece::Data(buffer, filled) => {
                let written = match current {
                    Some(delivery) => delivery.write(&buffer[..filled]),
                    None => Ok(()),
                };
                // A reader that has ended needs no buffers.
                let _ = empty.send(buffer);
                written?;
            }
            Piece::End(took) => {
                if let Some(delivery) = current.take() {
                    self.report.delivered(delivery.finish()?, took);
                }
            }
            Piece::Failed(error) => {
                if current.take().is_some() {
                    (self.say)(&format_args!("{}: {error}", item.source.display()));
                    self.report.unreadable(&error);
                }
            }
        }
        Ok(())
    }
}
