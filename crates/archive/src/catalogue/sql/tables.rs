//! All rows of a catalogue, from one database to another.

use super::{Row, Transaction, Value, all, params, run, walk};
use crate::catalogue::{CatalogueError, Result};
use std::ops::ControlFlow;

/// The tables; each refers to those before it only.
const TABLES: [&str; 15] = [
    "volume",
    "fact",
    "file",
    "sum",
    "open_write",
    "copy",
    "segment",
    "request",
    "cached",
    "pin",
    "identity",
    "stage",
    "stage_file",
    "lease",
    "out_of_use",
];

/// Tables whose rows have numbers that are never given again, and the columns of the numbers.
const NUMBERED: [(&str, &str); 6] = [
    ("volume", "id"),
    ("file", "id"),
    ("open_write", "id"),
    ("copy", "id"),
    ("request", "id"),
    ("lease", "epoch"),
];

/// What a table holds: how many rows, and what they sum up to in whatever order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The table.
    pub table: &'static str,
    /// Its rows.
    pub rows: u64,
    /// The sum of a checksum of each.
    pub sum: u128,
}

impl Held {
    fn add(&mut self, row: &[Value<'_>]) {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        for value in row {
            let (kind, bytes): (u8, &[u8]) = match value {
                Value::Null => (0, &[]),
                Value::Integer(number) => (1, &number.to_be_bytes()),
                Value::Text(words) => (2, words.as_bytes()),
                Value::Bytes(bytes) => (3, bytes),
            };
            hash.update(&[kind]);
            hash.update(&(bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hash.digest128());
    }
}

/// Shows the rows of a table and says what it holds.
fn read(
    from: &Transaction<'_>,
    table: &'static str,
    columns: &[String],
    show: &mut dyn FnMut(&[Value<'_>]) -> Result<()>,
) -> Result<Held> {
    let mut held = Held {
        table,
        rows: 0,
        sum: 0,
    };
    let sql = format!("SELECT {} FROM {table}", columns.join(", "));
    from.walk(&sql, &[], &mut |row: &Row<'_>| {
        let values = (0..columns.len()).map(|at| row.get(at));
        let values = values.collect::<Result<Vec<Value<'_>>>>()?;
        held.add(&values);
        show(&values)?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(held)
}

/// Puts all that one catalogue holds into another one, which is empty and of the same schema, and compares them then.
/// Returns what each table holds.
pub fn copy_all(from: &Transaction<'_>, to: &Transaction<'_>) -> Result<Vec<Held>> {
    // A new catalogue has an identity; it becomes the other one.
    run(to, "DELETE FROM identity", params![])?;
    let rules = to.set_rules_aside()?;
    let mut held = Vec::new();
    for table in TABLES {
        let columns = to.columns(table)?;
        if columns.is_empty() {
            // An older schema does not have it.
            continue;
        }
        to.load(table, &columns, &mut |put| {
            held.push(read(from, table, &columns, put)?);
            Ok(())
        })?;
    }
    let mut numbers = Vec::new();
    for (table, column) in NUMBERED {
        if !to.columns(table)?.is_empty() {
            numbers.push((table, column, from.last_number(table, column)?));
        }
    }
    // Indexes of many rows take minutes, and a server ends a transaction in which nothing happens for so long.
    for rule in rules {
        run(to, &rule, params![])?;
    }
    for (table, column, number) in numbers {
        to.set_last_number(table, column, number)?;
    }
    for (expected, found) in held.iter().zip(what_it_holds(to)?) {
        if found != *expected {
            let what = format!("a table did not arrive as it was: {expected:?} became {found:?}");
            return Err(CatalogueError::Damaged(what));
        }
    }
    Ok(held)
}

/// What each table of a catalogue holds, as far as its schema has it.
pub fn what_it_holds(transaction: &Transaction<'_>) -> Result<Vec<Held>> {
    let mut held = Vec::new();
    for table in TABLES {
        let columns = transaction.columns(table)?;
        if !columns.is_empty() {
            held.push(read(transaction, table, &columns, &mut |_| Ok(()))?);
        }
    }
    Ok(held)
}

/// What is under way in a catalogue, in words; nothing where it can be moved.
pub fn in_flight(transaction: &Transaction<'_>) -> Result<Vec<String>> {
    let sql = "SELECT 'a write is open on volume ' || volume.label FROM open_write \
        JOIN volume ON volume.id = open_write.volume \
        UNION ALL SELECT 'a mover works: process ' || CAST(process AS TEXT) || ' on ' || host FROM lease \
        UNION ALL SELECT CAST(count(*) AS TEXT) || ' requests are being worked on' FROM request \
        WHERE done_ns IS NULL AND state = 'started' HAVING count(*) > 0 \
        UNION ALL SELECT 'a mover on ' || host || ' has drive ' || drive FROM lease";
    all(transaction, sql, params![], |row| row.get(0))
}

/// Refuses to move a catalogue with paths of more bytes than the new place takes: those of its files, and those that
/// stage requests have.
pub fn refuse_longer_paths(transaction: &Transaction<'_>, most: usize) -> Result<()> {
    let (mut paths, mut example) = (0, None);
    for (table, column) in [("file", "path"), ("stage_file", "spelling")] {
        let sql = format!("SELECT {column} FROM {table} WHERE octet_length({column}) > ?1");
        walk(transaction, &sql, [most as u64], |row| {
            paths += 1;
            if example.is_none() {
                example = match row.get(0)? {
                    Value::Text(words) => Some(words.as_bytes().to_vec()),
                    Value::Bytes(bytes) => Some(bytes.to_vec()),
                    Value::Null | Value::Integer(_) => None,
                };
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    match example {
        Some(example) => Err(CatalogueError::PathsTooLong {
            paths,
            example,
            most,
        }),
        None => Ok(()),
    }
}
