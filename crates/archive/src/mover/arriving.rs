//! A file that comes from tape: to its destination or into the cache, expanded where it is a zstd frame.

use super::MoveError;
use super::place::Underway;
use crate::cache::{Cache, Incoming};
use crate::catalogue::{Catalogue, FileId};
use crate::deliver::DeliverError;
use crate::record::File;
use crate::sums::{Sum, Summer};
use crate::volume::Expander;
use std::io::{Error, Result, Write};

/// Where it goes.
enum Target {
    /// A place of whoever asked.
    Place(Box<Underway>),
    /// The cache, with the sums of what has come.
    Cache(Incoming, Summer),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Target::Place(underway) => underway.write(bytes).map_err(Error::other)?,
            Target::Cache(incoming, summer) => {
                incoming.write_all(bytes)?;
                summer.update(bytes);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A file that comes from tape.
pub(super) struct Arriving(Form);

enum Form {
    Plain(Target),
    Frame(Expander<'static, Target>),
}

/// How an arrival ended.
pub(super) enum Arrived {
    /// It is in its place.
    Whole,
    /// All of it has come; what is left is to compare it, to sync it, and to give it its name.
    Unnamed(Box<Underway>),
    /// Its contents are not what they should be; nothing is left of it.
    Wrong(String),
}

impl Arriving {
    /// A file on its way to its destination.
    pub fn into_place(underway: Underway, is_frame: bool) -> Result<Arriving> {
        Arriving::new(Target::Place(Box::new(underway)), is_frame)
    }

    /// A file on its way into the cache.
    pub fn into_cache(
        cache: &Cache,
        file: &File,
        is_frame: bool,
        at_ns: i64,
    ) -> std::result::Result<Arriving, MoveError> {
        let incoming = cache.reserve(file.bytes, at_ns)?.create()?;
        let summer = Summer::new(file.sums.iter().map(|sum| sum.kind));
        let copy = |source| MoveError::Copy {
            path: file.path.clone(),
            source,
        };
        Arriving::new(Target::Cache(incoming, summer), is_frame).map_err(copy)
    }

    fn new(place: Target, is_frame: bool) -> Result<Arriving> {
        Ok(Arriving(if is_frame {
            Form::Frame(Expander::new(place)?)
        } else {
            Form::Plain(place)
        }))
    }

    /// The next bytes as they stand on the tape.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.0 {
            Form::Plain(place) => place.write_all(bytes),
            Form::Frame(expander) => expander.push(bytes),
        }
    }

    /// All bytes have come: gives the file its place in the cache if they are right. What goes to a destination
    /// is given back, for whoever can wait for it.
    pub fn finish(
        self,
        (cache, catalogue): (&Cache, &dyn Catalogue),
        id: FileId,
        file: &File,
        at_ns: i64,
    ) -> std::result::Result<Arrived, MoveError> {
        let place = match self.0 {
            Form::Plain(place) => place,
            Form::Frame(expander) => match expander.finish() {
                Ok(place) => place,
                Err(error) => return not_ended(error, file),
            },
        };
        match place {
            Target::Place(underway) => Ok(Arrived::Unnamed(underway)),
            Target::Cache(incoming, summer) => {
                let found = summer.finish();
                if let Some(known) = file.sums.iter().find(|known| !found.contains(known)) {
                    let other = found.iter().find(|sum| sum.kind == known.kind);
                    let read = other.map_or_else(String::new, Sum::to_string);
                    return Ok(Arrived::Wrong(format!("{read} was read, {known} is known")));
                }
                let arrived = incoming.finish()?;
                if arrived.bytes() != file.bytes {
                    let what = format!("{} bytes came of {}", arrived.bytes(), file.bytes);
                    return Ok(Arrived::Wrong(what));
                }
                cache.stage(catalogue, arrived, id, at_ns)?;
                Ok(Arrived::Whole)
            }
        }
    }
}

/// The last bytes of a frame could not be taken: they are wrong, or their place does not take them.
fn not_ended(error: Error, file: &File) -> std::result::Result<Arrived, MoveError> {
    match error.downcast::<DeliverError>() {
        Ok(error) if !error.is_of_contents() => Err(error.into()),
        Ok(error) => Ok(Arrived::Wrong(error.to_string())),
        Err(source) if source.raw_os_error().is_some() => Err(MoveError::Copy {
            path: file.path.clone(),
            source,
        }),
        Err(error) => Ok(Arrived::Wrong(error.to_string())),
    }
}
