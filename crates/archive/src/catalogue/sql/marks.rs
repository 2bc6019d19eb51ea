//! The marks of a move, so that one place is the catalogue at every moment, whenever the program is killed.
//!
//! The new place is marked as one where a catalogue is arriving, from its first moment on, and nobody opens it. When all
//! of it is safe, the old place is marked as moved: nobody opens that one any more. Only then does the new place lose
//! its mark. Both marks have the number of the move, so the next program finds out how far the last one came.

use super::{Transaction, one, params, run};
use crate::catalogue::{CatalogueError, Result};
use std::path::PathBuf;

/// A move under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// What no other move has.
    pub id: String,
    /// The [id](crate::catalogue::Tie::id) of the catalogue.
    pub catalogue: String,
    /// Where it comes from, in words.
    pub from: String,
}

/// Says in a new place that a catalogue is arriving there.
pub fn mark_arriving(transaction: &Transaction<'_>, this: &Move) -> Result<()> {
    let sql = "CREATE TABLE arriving (move_id TEXT NOT NULL, catalogue TEXT NOT NULL, origin TEXT NOT NULL)";
    run(transaction, sql, params![])?;
    let sql = "INSERT INTO arriving (move_id, catalogue, origin) VALUES (?1, ?2, ?3)";
    run(transaction, sql, [&this.id, &this.catalogue, &this.from]).map(|_| ())
}

/// Says in a catalogue that it was moved: nobody opens it any more.
pub fn mark_moved(transaction: &Transaction<'_>, to: &str, this: &Move) -> Result<()> {
    let sql = "CREATE TABLE moved_to (place TEXT NOT NULL, move_id TEXT NOT NULL)";
    run(transaction, sql, params![])?;
    let sql = "INSERT INTO moved_to (place, move_id) VALUES (?1, ?2)";
    run(transaction, sql, [to, &this.id]).map(|_| ())
}

/// Makes what has arrived a catalogue like any other. The number of the move stays: if the program is killed before it
/// says so anywhere else, the next one sees that nothing is left to be done.
pub fn mark_arrived(transaction: &Transaction<'_>) -> Result<()> {
    if is_there(transaction, "arriving")? {
        run(
            transaction,
            "ALTER TABLE arriving RENAME TO arrived",
            params![],
        )?;
    }
    Ok(())
}

fn is_there(transaction: &Transaction<'_>, table: &str) -> Result<bool> {
    Ok(!transaction.columns(table)?.is_empty())
}

/// Where a catalogue was moved to, in words; none where it was not.
pub fn moved_to(transaction: &Transaction<'_>) -> Result<Option<String>> {
    if !is_there(transaction, "moved_to")? {
        return Ok(None);
    }
    let sql = "SELECT place FROM moved_to";
    one(transaction, sql, params![], |row| row.get(0))
}

/// Refuses to change a catalogue that was moved after it was opened: what is written there now is seen by nobody.
pub fn refuse_moved(transaction: &Transaction<'_>, place: impl Fn() -> PathBuf) -> Result<()> {
    match moved_to(transaction)? {
        Some(to) => Err(CatalogueError::Moved { path: place(), to }),
        None => Ok(()),
    }
}

/// The number of the move by which a catalogue went away; none where it did not, or with a program that gave no numbers.
pub fn moved_by(transaction: &Transaction<'_>) -> Result<Option<String>> {
    let columns = transaction.columns("moved_to")?;
    if !columns.iter().any(|column| column == "move_id") {
        return Ok(None);
    }
    let sql = "SELECT move_id FROM moved_to";
    one(transaction, sql, params![], |row| row.get(0))
}

/// The number of the move by which a catalogue came, or is coming.
pub fn came_by(transaction: &Transaction<'_>) -> Result<Option<String>> {
    for table in ["arriving", "arrived"] {
        if is_there(transaction, table)? {
            let sql = format!("SELECT move_id FROM {table}");
            return one(transaction, &sql, params![], |row| row.get(0));
        }
    }
    Ok(None)
}

/// The id of the catalogue that is arriving; none where none is.
pub fn arriving(transaction: &Transaction<'_>) -> Result<Option<String>> {
    if !is_there(transaction, "arriving")? {
        return Ok(None);
    }
    let sql = "SELECT catalogue FROM arriving";
    one(transaction, sql, params![], |row| row.get(0))
}
