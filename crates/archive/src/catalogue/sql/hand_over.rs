//! Items that one thread makes and another one takes, so that each has a processor of its own.

use crate::catalogue::{CatalogueError, Result};
use std::io::ErrorKind;
use std::iter::from_fn;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// Items that are handed over at once.
const PORTION: usize = 1_000;

/// Portions that may wait: memory does not grow with the items.
const WAITING: usize = 8;

/// Lets `take` have the items in a thread of its own, while this one makes them; what `take` returns.
pub fn hand_over<T: Send, V: Send>(
    items: &mut dyn Iterator<Item = Result<T>>,
    take: impl FnOnce(&mut dyn Iterator<Item = Result<T>>) -> Result<V> + Send,
) -> Result<V> {
    let (send, receive) = sync_channel(WAITING);
    thread::scope(|scope| {
        // Dropped if `items` panics: the taker would wait for ever.
        let send = send;
        let taker = scope.spawn(move || take(&mut taken(&receive)));
        loop {
            let (portion, is_last) = portion(items);
            // A taker that is gone has failed and says why.
            if send.send((portion, is_last)).is_err() || is_last {
                break;
            }
        }
        taker.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// The next items, up to a mistake or the end; whether they are the last.
fn portion<T>(items: &mut dyn Iterator<Item = Result<T>>) -> (Vec<Result<T>>, bool) {
    let mut portion = Vec::with_capacity(PORTION);
    while portion.len() < PORTION {
        let Some(item) = items.next() else {
            return (portion, true);
        };
        let is_last = item.is_err();
        portion.push(item);
        if is_last {
            return (portion, true);
        }
    }
    (portion, false)
}

/// The items that arrive. If their maker panics, the last one is an error: a part of them must not pass for all.
fn taken<T>(portions: &Receiver<(Vec<Result<T>>, bool)>) -> impl Iterator<Item = Result<T>> {
    let (mut portion, mut is_last) = (Vec::new().into_iter(), false);
    from_fn(move || {
        loop {
            if let Some(item) = portion.next() {
                return Some(item);
            }
            if is_last {
                return None;
            }
            let Ok((next, last)) = portions.recv() else {
                is_last = true;
                return Some(Err(broken_off()));
            };
            (portion, is_last) = (next.into_iter(), last);
        }
    })
}

fn broken_off() -> CatalogueError {
    CatalogueError::Io {
        path: PathBuf::from("list"),
        source: ErrorKind::UnexpectedEof.into(),
    }
}
