//! A catalogue goes from one place to another: all of its rows, compared after they arrived.

use super::postgres::PostgresCatalogue;
use super::sql::{
    Database, Held, Move, Transaction, arriving, came_by, copy_all, in_flight, mark_arrived,
    mark_arriving, mark_moved, moved_by, moved_to, refuse_longer_paths, tie, what_it_holds,
};
use super::sqlite::{appear_alone, end_log};
use super::{CatalogueError, KNOWN_SCHEMA, Place, Result, SqliteCatalogue};
use std::path::Path;

#[cfg(test)]
mod tests;

/// Copies the catalogue of one place to another, and marks the old one: nobody opens it any more. Returns what each
/// table holds.
///
/// Nothing may be under way, and the other place holds no catalogue, or what was left there by an earlier move. If a
/// program is killed meanwhile, the old catalogue is as it was, or it is marked and all of the new one is safe. In both
/// cases the same move can be done again, and ends what was begun.
pub fn move_catalogue(from: &Place, to: &Place) -> Result<Vec<Held>> {
    move_in_steps(from, to, &mut |_| ())
}

/// What a move has done, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Step {
    /// The new place has an empty catalogue, marked as arriving.
    Begun,
    /// Everything is in it, and not committed.
    Filled,
    /// All of the new place is safe.
    Arrived,
    /// The old place is marked as moved, which is not committed.
    Marked,
    /// The mark of the old place is safe.
    Moved,
    /// The new place has no mark any more: it is the catalogue.
    Ended,
}

/// Moves a catalogue, and tells `done` after each step.
fn move_in_steps(from: &Place, to: &Place, done: &mut dyn FnMut(Step)) -> Result<Vec<Held>> {
    let given = give(from, |source| {
        if let Some(what) = in_flight(source)?.into_iter().next() {
            return Err(CatalogueError::InFlight { what });
        }
        if let Some(most) = to.longest_path() {
            refuse_longer_paths(source, most)?;
        }
        let this = Move {
            id: uuid::Uuid::new_v4().to_string(),
            catalogue: tie(source)?.id,
            from: from.to_string(),
        };
        let held = receive(to, &this, |target| {
            done(Step::Begun);
            let held = copy_all(source, target)?;
            done(Step::Filled);
            Ok(held)
        })?;
        done(Step::Arrived);
        mark_moved(source, &to.to_string(), &this)?;
        done(Step::Marked);
        Ok(held)
    });
    let held = match given {
        Err(moved @ CatalogueError::Moved { .. }) => has_arrived(from, to)?.ok_or(moved)?,
        given => given?,
    };
    done(Step::Moved);
    end(to)?;
    done(Step::Ended);
    Ok(held)
}

/// Works on a catalogue that nobody else changes meanwhile.
fn give<T>(from: &Place, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
    let work = |transaction: &Transaction<'_>| {
        // Another program may have moved it since it was opened.
        match moved_to(transaction)? {
            Some(to) => Err(CatalogueError::Moved {
                path: from.to_string().into(),
                to,
            }),
            None => work(transaction),
        }
    };
    match from {
        Place::File(path) => SqliteCatalogue::open_existing(path)?.write(work),
        Place::Database { url, copies } => {
            PostgresCatalogue::open_to_move(url, copies)?.write(work)
        }
    }
}

/// Fills a new catalogue, which is safe when this returns, and marked as arriving from its first moment on.
fn receive<T>(
    to: &Place,
    this: &Move,
    fill: impl FnOnce(&Transaction<'_>) -> Result<T>,
) -> Result<T> {
    match to {
        Place::File(path) => {
            make_way(path, this)?;
            appear_alone(path, |partial| {
                let target = SqliteCatalogue::of_schema(partial, KNOWN_SCHEMA)?;
                let filled = target.write(|transaction| {
                    mark_arriving(transaction, this)?;
                    fill(transaction)
                })?;
                target.with_log()?;
                Ok(filled)
            })
        }
        Place::Database { url, .. } => PostgresCatalogue::arriving(url, this)?.write(fill),
    }
}

/// Refuses to put a catalogue over one that is in use, or over another one that is arriving.
fn make_way(path: &Path, this: &Move) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    match SqliteCatalogue::open_to_read(path) {
        Ok(_) => {
            return Err(CatalogueError::Occupied {
                path: path.to_owned(),
            });
        }
        Err(CatalogueError::Moved { .. }) => {}
        // The old place is not marked: it is whole, and may have changed since this came.
        Err(error @ CatalogueError::Arriving { .. }) => {
            let there = SqliteCatalogue::marked_to_read(path)?.read(arriving)?;
            if there.as_ref() != Some(&this.catalogue) {
                return Err(error);
            }
        }
        Err(error) => return Err(error),
    }
    end_log(path)
}

/// What has arrived in a place by the move that took the catalogue away from another one; none if it went elsewhere, or
/// went on from there.
fn has_arrived(from: &Place, to: &Place) -> Result<Option<Vec<Held>>> {
    let Some(gone) = look(from, moved_by)? else {
        return Ok(None);
    };
    let there = look(to, |transaction| {
        let is_it = came_by(transaction)?.as_ref() == Some(&gone);
        let is_there = is_it && moved_to(transaction)?.is_none();
        is_there.then(|| what_it_holds(transaction)).transpose()
    });
    match there {
        Err(CatalogueError::Lost { .. }) => Ok(None),
        there => there,
    }
}

/// Looks at what is in a place, whatever its marks are.
fn look<T>(place: &Place, look: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
    match place {
        Place::File(path) => SqliteCatalogue::marked_to_read(path)?.read(look),
        Place::Database { url, .. } => PostgresCatalogue::marked(url).read(look),
    }
}

/// Takes the mark from a place in which a catalogue has arrived.
fn end(to: &Place) -> Result<()> {
    match to {
        Place::File(path) => SqliteCatalogue::marked(path)?.write(mark_arrived),
        Place::Database { url, .. } => PostgresCatalogue::marked(url).write(mark_arrived),
    }
}
