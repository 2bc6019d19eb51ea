//! A catalogue goes from one place to another: all of its rows, compared after they arrived.

use super::postgres::PostgresCatalogue;
use super::sql::{Database, Held, Transaction, copy_all, in_flight, mark_moved};
use super::sqlite::appear;
use super::{CatalogueError, KNOWN_SCHEMA, Place, Result, SqliteCatalogue};
use std::path::Path;

/// Copies the catalogue of one place to another, and marks the old one: nobody opens it any more. Returns what each
/// table holds.
///
/// Nothing may be under way, and the other place holds no catalogue, or what was left there by an earlier move. A
/// program that is killed meanwhile leaves the old catalogue as it is, or marked when all of the new one is safe.
pub fn move_catalogue(from: &Place, to: &Place) -> Result<Vec<Held>> {
    give(from, |from| {
        if let Some(what) = in_flight(from)?.into_iter().next() {
            return Err(CatalogueError::InFlight { what });
        }
        let held = receive(to, |to| copy_all(from, to))?;
        mark_moved(from, &to.to_string())?;
        Ok(held)
    })
}

/// Works on a catalogue that nobody else changes meanwhile.
fn give<T>(from: &Place, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
    match from {
        Place::File(path) => SqliteCatalogue::open_existing(path)?.write(work),
        Place::Database { url, copies } => {
            PostgresCatalogue::open_to_move(url, copies)?.write(work)
        }
    }
}

/// Fills a new catalogue, which is safe when this returns.
fn receive<T>(to: &Place, fill: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
    match to {
        Place::File(path) => {
            refuse_occupied(path)?;
            appear(path, |partial| {
                SqliteCatalogue::of_schema(partial, KNOWN_SCHEMA)?.write(fill)
            })
        }
        Place::Database { url, .. } => PostgresCatalogue::new_in(url)?.write(fill),
    }
}

/// Refuses to put a catalogue over another one that is in use.
fn refuse_occupied(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    match SqliteCatalogue::open_to_read(path) {
        Err(CatalogueError::Moved { .. }) => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Err(CatalogueError::Occupied {
            path: path.to_owned(),
        }),
    }
}
