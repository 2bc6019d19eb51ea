//! Copies files one after the other: one thread reads, so that the tape streams on while the other syncs a file.

use super::{DeliverError, Delivered, Delivery, Destination, Expected, InnerPath};
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Bytes read at once.
const BUFFER_BYTES: usize = 4 << 20;

/// Buffers between the threads: what a drive reads in half a second, which a disk takes to sync.
const BUFFERS: usize = 32;

/// A file to be copied.
#[derive(Clone, Debug)]
pub struct CopyItem {
    /// Where it appears.
    pub path: InnerPath,
    /// Where it is read.
    pub source: PathBuf,
    /// What is known of it.
    pub expected: Expected,
}

/// How long the reading of a file took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// Until its first bytes were there.
    pub positioning: Duration,
    /// From then on; waiting for the destination is in it.
    pub reading: Duration,
}

/// What became of a file.
#[derive(Debug)]
pub enum Copied {
    /// It is in its place, whole and compared.
    Delivered(Delivered, Took),
    /// It could not be delivered.
    Failed(DeliverError),
    /// It could not be read.
    Unreadable(PathBuf, io::Error),
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

/// Copies files in their order until the flag is set, and tells what became of each.
///
/// A file that fails is left out; when the destination is full, nothing more is read.
pub fn copy(
    items: &[&CopyItem],
    destination: &Destination,
    stop: &AtomicBool,
    told: &mut dyn FnMut(Copied),
) {
    let wanted = Wanted {
        stop,
        not: AtomicUsize::new(usize::MAX),
    };
    let wanted = &wanted;
    std::thread::scope(|scope| {
        let (pieces_in, pieces) = sync_channel(BUFFERS);
        let (empty, empty_out) = buffers(BUFFERS);
        let reading = Builder::new().spawn_scoped(scope, move || {
            let mut pass = |piece| pieces_in.send(piece).is_ok();
            read_all(items, &mut pass, &empty_out, wanted);
        });
        let (empty, alone) = match reading {
            Ok(_) => (empty, None),
            // No thread can be had: this one reads and writes in turn.
            Err(_) => {
                let (empty, empty_out) = buffers(1);
                (empty, Some(empty_out))
            }
        };
        let mut writer = Writer {
            items,
            destination,
            wanted,
            told,
            current: None,
            at: 0,
            empty,
        };
        let mut take = |piece| writer.take(piece);
        match alone {
            Some(empty_out) => read_all(items, &mut take, &empty_out, wanted),
            // What is dropped at the end tells the other thread to end too.
            None => drop(pieces.into_iter().all(take)),
        }
    });
}

/// Buffers, at the end from which they are taken, and the end to which they are given back.
fn buffers(count: usize) -> (Sender<Vec<u8>>, Receiver<Vec<u8>>) {
    let (empty, empty_out) = channel();
    for _ in 0..count {
        // The other end is in this function.
        let _ = empty.send(vec![0; BUFFER_BYTES]);
    }
    (empty, empty_out)
}

/// Takes a piece; false when no more are wanted.
type Pass<'a> = &'a mut dyn FnMut(Piece) -> bool;

/// Reads the files; ends when told to, or when nobody takes the pieces any more.
fn read_all(items: &[&CopyItem], pass: Pass<'_>, empty: &Receiver<Vec<u8>>, wanted: &Wanted<'_>) {
    for (at, item) in items.iter().enumerate() {
        if wanted.stop.load(Ordering::Relaxed) || !pass(Piece::Begin(at)) {
            return;
        }
        let last = match read_file(at, item, pass, empty, wanted) {
            Ok(Some(took)) => Piece::End(took),
            Ok(None) => return,
            Err(error) => Piece::Failed(error),
        };
        if !pass(last) {
            return;
        }
    }
}

/// Reads a file; `None` when it was not read to its end because nobody wants it any more.
fn read_file(
    at: usize,
    item: &CopyItem,
    pass: Pass<'_>,
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
                    let _ = pass(Piece::Data(buffer, filled));
                    return Err(error);
                }
            }
            first_bytes.get_or_insert_with(Instant::now);
        }
        let is_last = filled < buffer.len();
        if !pass(Piece::Data(buffer, filled)) {
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

/// The side that writes.
struct Writer<'a> {
    items: &'a [&'a CopyItem],
    destination: &'a Destination,
    wanted: &'a Wanted<'a>,
    told: &'a mut dyn FnMut(Copied),
    /// The file that is being written; a file that has failed has none.
    current: Option<Delivery>,
    /// Its number.
    at: usize,
    /// Where buffers go that were written.
    empty: Sender<Vec<u8>>,
}

impl Writer<'_> {
    /// Does what a piece asks for; false when the destination is full.
    fn take(&mut self, piece: Piece) -> bool {
        if let Piece::Begin(next) = piece {
            self.at = next;
        }
        let Err(error) = self.carry_out(piece) else {
            return true;
        };
        self.current = None;
        self.wanted.not.store(self.at, Ordering::Relaxed);
        let is_full = error.is_of_destination();
        (self.told)(Copied::Failed(error));
        !is_full
    }

    fn carry_out(&mut self, piece: Piece) -> Result<(), DeliverError> {
        let item = self.items[self.at];
        match piece {
            Piece::Begin(_) => {
                self.current = Some(self.destination.begin(&item.path, item.expected.clone())?);
            }
            Piece::Data(buffer, filled) => {
                let written = match &mut self.current {
                    Some(delivery) => delivery.write(&buffer[..filled]),
                    None => Ok(()),
                };
                // A reader that has ended needs no buffers.
                let _ = self.empty.send(buffer);
                written?;
            }
            Piece::End(took) => {
                if let Some(delivery) = self.current.take() {
                    (self.told)(Copied::Delivered(delivery.finish()?, took));
                }
            }
            Piece::Failed(error) => {
                if self.current.take().is_some() {
                    (self.told)(Copied::Unreadable(item.source.clone(), error));
                }
            }
        }
        Ok(())
    }
}
