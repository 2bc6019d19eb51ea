//! The operations of a catalogue, in SQL that SQLite and PostgreSQL both understand.
//!
//! Whoever implements [`Database`] has all of them; each is written once, and gives the same answers everywhere. What
//! the two databases do not spell alike is avoided: parameters are `?1`, a new row's number comes from `RETURNING id`,
//! sums of integers are cast back to integers, the larger of two values is a `CASE`, and truths are not counted but
//! filtered.

mod cached;
mod failures;
mod files;
mod found;
mod hand_over;
mod integrity;
mod leases;
mod lists;
mod marks;
mod names;
mod recorded;
mod rejoin;
mod requests;
mod rows;
mod stages;
mod tables;
mod tally;
mod value;
mod volume_rows;
mod volumes;
mod waiting;
mod writes;

use super::{Catalogue, Lease, Result};
pub use cached::tie;
pub use integrity::broken_rules;
pub use leases::must_hold;
pub use marks::{
    Move, arriving, came_by, mark_arrived, mark_arriving, mark_moved, moved_by, moved_to,
    refuse_moved,
};
use std::ops::ControlFlow;
use std::sync::Arc;
pub use tables::{Held, copy_all, in_flight, refuse_longer_paths, what_it_holds};
pub use value::{FromValue, ToValue, Value};

/// A database that holds a catalogue.
pub trait Database: Send + Sync {
    /// Does work that changes something, as one transaction. Such work is done by one after the other, on whatever
    /// connection or host, so what it has looked up holds until it ends.
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T>;

    /// The same for a list of any length. If the catalogue has no files, a database may look at the end whether the
    /// rows refer to rows that are there.
    fn write_list<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.write(work)
    }

    /// Does work that only reads, all of it from one state of the catalogue.
    fn read<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T>;

    /// The same catalogue for the holder of a lease: each of its writes first sees that the lease
    /// [is in force](must_hold).
    fn bound_to(&self, lease: &Lease) -> Arc<dyn Catalogue>;
}

/// A transaction that is open.
pub type Transaction<'a> = dyn Statements + 'a;

/// What is done with a row: whether to go on with the next one.
pub type Each<'a> = &'a mut dyn FnMut(&Row<'_>) -> Result<ControlFlow<()>>;

/// What takes a row of a table.
pub type Put<'a> = &'a mut dyn FnMut(&[Value<'_>]) -> Result<()>;

/// What gives the rows of a table.
pub type Fill<'a> = &'a mut dyn FnMut(Put<'_>) -> Result<()>;

/// What a transaction can do. Statements stay prepared: they are used again.
pub trait Statements {
    /// Carries out a statement; the number of rows that it changed.
    fn run(&self, sql: &str, params: &[Value<'_>]) -> Result<usize>;

    /// Shows the rows of a query until it is told to stop.
    fn rows(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()>;

    /// The same for a query that may have far more rows than are looked at, or than memory holds.
    fn walk(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()>;

    /// The same for a query whose quickest way depends on its parameters: the database plans it for these.
    fn search(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()>;

    /// The time that leases go by: the caller's, or that of a server that several hosts share.
    fn now_ns(&self, callers_ns: i64) -> Result<i64>;

    /// A condition that holds if the bytes of a parameter are somewhere in a column. It may hold elsewhere too.
    fn contains(&self, column: &str, parameter: &str) -> String;

    /// The longest path that a file may have, in bytes; none where any length goes.
    fn longest_path(&self) -> Option<usize>;

    /// The columns of a table.
    fn columns(&self, table: &str) -> Result<Vec<String>>;

    /// Enters many rows, in memory that does not grow with them: `fill` is given what takes a row.
    fn load(&self, table: &str, columns: &[String], fill: Fill<'_>) -> Result<()>;

    /// Takes indexes and rules off the tables where loading an empty catalogue is quicker without. Returns the
    /// statements that bring them back, which check every row and tell the planner what there is.
    fn set_rules_aside(&self) -> Result<Vec<String>>;

    /// The last number that was given to a row of a table.
    fn last_number(&self, table: &str, column: &str) -> Result<i64>;

    /// Goes on with the numbers of a table after this one.
    fn set_last_number(&self, table: &str, column: &str, number: i64) -> Result<()>;
}

/// A row of an answer.
pub struct Row<'a>(pub &'a dyn Columns);

/// What a row consists of.
pub trait Columns {
    /// The value of a column, counted from 0.
    fn value(&self, at: usize) -> Result<Value<'_>>;
}

impl<'a> Row<'a> {
    /// The value of a column, counted from 0.
    pub fn get<T: FromValue<'a>>(&self, at: usize) -> Result<T> {
        T::from_value(self.0.value(at)?)
    }
}

/// The parameters of a statement, of whatever types.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        [$(&$value as &dyn $crate::catalogue::sql::ToValue),*] as [&dyn $crate::catalogue::sql::ToValue; _]
    };
}
use params;

fn values<T: ToValue, const N: usize>(params: &[T; N]) -> Result<Vec<Value<'_>>> {
    params.iter().map(ToValue::to_value).collect()
}

/// Carries out a statement; the number of rows it changed.
fn run<T: ToValue, const N: usize>(
    transaction: &Transaction<'_>,
    sql: &str,
    params: [T; N],
) -> Result<usize> {
    transaction.run(sql, &values(&params)?)
}

/// The one row of a query.
fn one<T: ToValue, V, const N: usize>(
    transaction: &Transaction<'_>,
    sql: &str,
    params: [T; N],
    value: impl FnOnce(&Row<'_>) -> Result<V>,
) -> Result<Option<V>> {
    let (mut value, mut found) = (Some(value), None);
    transaction.rows(sql, &values(&params)?, &mut |row| {
        found = value.take().map(|value| value(row)).transpose()?;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// All rows of a query.
fn all<T: ToValue, V, const N: usize>(
    transaction: &Transaction<'_>,
    sql: &str,
    params: [T; N],
    mut value: impl FnMut(&Row<'_>) -> Result<V>,
) -> Result<Vec<V>> {
    let mut found = Vec::new();
    transaction.rows(sql, &values(&params)?, &mut |row| {
        found.push(value(row)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Values that one query looks for: each query is a journey to the server and back.
const AT_ONCE: usize = 512;

/// Shows the rows of a statement for many values, many of them at once. They stand in it as `{many}`, after its
/// parameters. It is planned each time: while the server believes that a table is small, it reads all of it.
fn many<T: ToValue>(
    transaction: &Transaction<'_>,
    sql: &str,
    params: &[Value<'_>],
    values: &[T],
    mut each: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    for some in values.chunks(AT_ONCE) {
        // Some stand there twice, so that there are few such queries to be kept prepared.
        let count = some.len().next_power_of_two();
        let places = (1..=count).map(|at| format!("?{}", params.len() + at));
        let sql = sql.replace("{many}", &places.collect::<Vec<_>>().join(", "));
        let some = some.iter().cycle().take(count).map(ToValue::to_value);
        let all = params.iter().copied().map(Ok).chain(some);
        let all: Vec<Value<'_>> = all.collect::<Result<_>>()?;
        transaction.search(&sql, &all, &mut |row| {
            each(row)?;
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(())
}

/// Rows that are entered one by one: to begin and end a list of rows takes as long as these.
const FEW: usize = 4;

/// Enters rows.
fn enter<const N: usize>(
    transaction: &Transaction<'_>,
    table: &str,
    columns: [&str; N],
    rows: &[[Value<'_>; N]],
) -> Result<()> {
    if rows.len() > FEW {
        let columns = columns.map(str::to_owned);
        return transaction.load(table, &columns, &mut |put| {
            rows.iter().try_for_each(|row| put(row))
        });
    }
    let places: Vec<String> = (1..=N).map(|at| format!("?{at}")).collect();
    let (columns, places) = (columns.join(", "), places.join(", "));
    let sql = format!("INSERT INTO {table} ({columns}) VALUES ({places})");
    rows.iter()
        .try_for_each(|row| transaction.run(&sql, row).map(|_| ()))
}

/// Looks at the rows of a query until told to stop.
fn walk<T: ToValue, const N: usize>(
    transaction: &Transaction<'_>,
    sql: &str,
    params: [T; N],
    mut each: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    transaction.walk(sql, &values(&params)?, &mut each)
}

/// Looks at the rows of a query that is planned for its parameters, until told to stop.
fn search<T: ToValue, const N: usize>(
    transaction: &Transaction<'_>,
    sql: &str,
    params: [T; N],
    mut each: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    transaction.search(sql, &values(&params)?, &mut each)
}

/// Enters a row by a statement that returns its number.
fn new_row<T: ToValue, const N: usize>(
    transaction: &Transaction<'_>,
    sql: &str,
    params: [T; N],
) -> Result<i64> {
    let id = one(transaction, sql, params, |row| row.get(0))?;
    id.ok_or_else(|| super::CatalogueError::Damaged("a new row has no number".to_owned()))
}
