//! Transactions and values of PostgreSQL.

use crate::catalogue::sql::{Columns, Each, Fill, Row, Statements, Value};
use crate::catalogue::{CatalogueError, Result};

use super::rows::Rows;
use ::postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use ::postgres::{Statement, Transaction};
use bytes::BytesMut;
use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;

/// Whose clock leases go by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Servers,
    Callers,
}

/// Rows that are fetched at once of an answer that may be far longer than what is looked at.
const FETCHED: i32 = 1000;

/// The longest path, in bytes. An entry of an index has at most 2,704 bytes, a third of a page, for its header, the
/// path, and what else is in the key, as the id of a stage. PostgreSQL compresses longer values, and would take what gets
/// short enough; but whether a file can be stored should not depend on how its directories are called.
pub(in crate::catalogue) const LONGEST_PATH: usize = 2_600;

/// A transaction that is open.
pub(super) struct Open<'a> {
    transaction: RefCell<Transaction<'a>>,
    prepared: &'a RefCell<HashMap<String, Statement>>,
    clock: Clock,
}

impl<'a> Open<'a> {
    pub(super) fn new(
        transaction: Transaction<'a>,
        prepared: &'a RefCell<HashMap<String, Statement>>,
        clock: Clock,
    ) -> Open<'a> {
        Open {
            transaction: RefCell::new(transaction),
            prepared,
            clock,
        }
    }

    pub(super) fn commit(self) -> std::result::Result<(), ::postgres::Error> {
        self.transaction.into_inner().commit()
    }

    /// The statement, prepared once on a connection. PostgreSQL calls a parameter `$1` that is `?1` here.
    fn prepared(&self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.prepared.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let spelled = sql.replace('?', "$");
        let statement = self.transaction.borrow_mut().prepare(&spelled)?;
        let mut prepared = self.prepared.borrow_mut();
        prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// As the driver takes parameters.
fn parameters<'v>(params: &'v [Value<'v>]) -> Vec<&'v (dyn ToSql + Sync)> {
    params.iter().map(|value| value as _).collect()
}

/// The type of a parameter.
fn type_of(value: &Value<'_>) -> Type {
    match value {
        Value::Null => Type::UNKNOWN,
        Value::Integer(_) => Type::INT8,
        Value::Text(_) => Type::TEXT,
        Value::Bytes(_) => Type::BYTEA,
    }
}

/// Shows rows until told to stop.
fn show(rows: &[::postgres::Row], each: Each<'_>) -> Result<()> {
    for row in rows {
        if each(&Row(row))?.is_break() {
            break;
        }
    }
    Ok(())
}

impl Statements for Open<'_> {
    fn run(&self, sql: &str, params: &[Value<'_>]) -> Result<usize> {
        let statement = self.prepared(sql)?;
        let mut transaction = self.transaction.borrow_mut();
        Ok(transaction.execute(&statement, &parameters(params))? as usize)
    }

    fn rows(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()> {
        let statement = self.prepared(sql)?;
        let query = |params| self.transaction.borrow_mut().query(&statement, params);
        show(&query(&parameters(params))?, each)
    }

    fn walk(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()> {
        let statement = self.prepared(sql)?;
        let bind = |params| self.transaction.borrow_mut().bind(&statement, params);
        let portal = bind(&parameters(params))?;
        loop {
            let rows = self
                .transaction
                .borrow_mut()
                .query_portal(&portal, FETCHED)?;
            for row in &rows {
                if each(&Row(row))?.is_break() {
                    return Ok(());
                }
            }
            if rows.len() < FETCHED as usize {
                return Ok(());
            }
        }
    }

    /// A statement that is kept prepared gets a plan for whatever parameters after a few times, and one that is fetched
    /// in portions has no parallel workers.
    fn search(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()> {
        let spelled = sql.replace('?', "$");
        let typed: Vec<(&(dyn ToSql + Sync), Type)> = params
            .iter()
            .map(|value| (value as _, type_of(value)))
            .collect();
        let rows = self
            .transaction
            .borrow_mut()
            .query_typed(&spelled, &typed)?;
        show(&rows, each)
    }

    fn now_ns(&self, callers_ns: i64) -> Result<i64> {
        if self.clock == Clock::Callers {
            return Ok(callers_ns);
        }
        let sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000000 AS BIGINT)";
        let row = self.transaction.borrow_mut().query_typed_one(sql, &[])?;
        Ok(row.try_get(0)?)
    }

    fn contains(&self, column: &str, parameter: &str) -> String {
        // The planner knows how much a `LIKE` is likely to find, of no other condition. The signs `%` and `_` of the
        // parameter stand for whatever bytes; a `\` stands for itself.
        format!("{column} LIKE '%'::bytea || {parameter} || '%'::bytea ESCAPE ''")
    }

    fn longest_path(&self) -> Option<usize> {
        Some(LONGEST_PATH)
    }

    fn columns(&self, table: &str) -> Result<Vec<String>> {
        self.texts(&format!(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass('{table}') \
            AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        ))
    }

    fn load(&self, table: &str, columns: &[String], fill: Fill<'_>) -> Result<()> {
        let names = columns.join(", ");
        let mut transaction = self.transaction.borrow_mut();
        let row = transaction.prepare(&format!("SELECT {names} FROM {table}"))?;
        let types: Vec<Type> = row
            .columns()
            .iter()
            .map(|column| column.type_().clone())
            .collect();
        let sql = format!("COPY {table} ({names}) FROM STDIN (FORMAT binary)");
        let mut rows = Rows::new(transaction.copy_in(&sql)?, &types);
        fill(&mut |row| rows.write(row))?;
        rows.finish()
    }

    /// A key that refers to another table is checked row by row while it is there, and by one join when it comes back.
    fn set_rules_aside(&self) -> Result<Vec<String>> {
        let rules = |kinds: &str, what: &str, order: &str| {
            self.texts(&format!(
                "SELECT format({what}) FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid \
                WHERE {OURS} AND contype IN ({kinds}) ORDER BY contype {order}, conname"
            ))
        };
        let add = "'ALTER TABLE %I ADD CONSTRAINT %I %s', relname, conname, pg_get_constraintdef(pg_constraint.oid)";
        let drop = "'ALTER TABLE %I DROP CONSTRAINT %I', relname, conname";
        // Keys before what refers to them.
        let mut back = rules("'p', 'u'", add, "ASC")?;
        let plain = format!(
            "FROM pg_index JOIN pg_class ON pg_class.oid = indrelid \
            WHERE {OURS} AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)"
        );
        back.extend(self.texts(&format!("SELECT pg_get_indexdef(indexrelid) {plain}"))?);
        let mut away = self.texts(&format!(
            "SELECT format('DROP INDEX %s', indexrelid::regclass) {plain}"
        ))?;
        // The join that checks such a key takes half as long along two indexes as with a table of all numbers in memory.
        back.push("SET LOCAL enable_hashjoin = off".to_owned());
        back.extend(rules("'f'", add, "ASC")?);
        back.push("SET LOCAL enable_hashjoin = DEFAULT".to_owned());
        // Without figures of what was loaded the server reads whole tables where an index would do.
        back.extend(self.texts(&format!(
            "SELECT format('ANALYZE %I', relname) FROM pg_class WHERE {OURS}"
        ))?);
        away.extend(rules("'f'", drop, "ASC")?);
        away.extend(rules("'p', 'u'", drop, "ASC")?);
        for sql in away {
            self.transaction.borrow_mut().batch_execute(&sql)?;
        }
        Ok(back)
    }

    fn last_number(&self, table: &str, column: &str) -> Result<i64> {
        let sql =
            "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass), 0)";
        let row = self
            .transaction
            .borrow_mut()
            .query_one(sql, &[&table, &column])?;
        Ok(row.try_get(0)?)
    }

    fn set_last_number(&self, table: &str, column: &str, number: i64) -> Result<()> {
        let sql = "SELECT setval(pg_get_serial_sequence($1, $2)::regclass, greatest($3::bigint, 1), $3 > 0)";
        let mut transaction = self.transaction.borrow_mut();
        transaction.query_one(sql, &[&table, &column, &number])?;
        Ok(())
    }
}

/// Tables of a catalogue, as the catalogue of PostgreSQL names them.
const OURS: &str = "relnamespace = to_regnamespace(current_schema()) AND relkind = 'r' \
    AND relname NOT IN ('tapewise_schema', 'tapewise_commit')";

impl Open<'_> {
    /// The texts in the first column of an answer.
    fn texts(&self, sql: &str) -> Result<Vec<String>> {
        let rows = self.transaction.borrow_mut().query(sql, &[])?;
        let texts = rows.iter().map(|row| row.try_get(0));
        Ok(texts.collect::<std::result::Result<_, _>>()?)
    }
}

impl Columns for ::postgres::Row {
    fn value(&self, at: usize) -> Result<Value<'_>> {
        let Some(column) = self.columns().get(at) else {
            let what = format!("an answer has no column {at}");
            return Err(CatalogueError::Damaged(what));
        };
        let value = match *column.type_() {
            Type::INT8 => self.try_get::<_, Option<i64>>(at)?.map(Value::Integer),
            Type::INT4 => {
                let number = self.try_get::<_, Option<i32>>(at)?;
                number.map(|number| Value::Integer(number.into()))
            }
            Type::BOOL => {
                let truth = self.try_get::<_, Option<bool>>(at)?;
                truth.map(|truth| Value::Integer(truth.into()))
            }
            Type::BYTEA => self.try_get::<_, Option<&[u8]>>(at)?.map(Value::Bytes),
            _ => self.try_get::<_, Option<&str>>(at)?.map(Value::Text),
        };
        Ok(value.unwrap_or(Value::Null))
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        column: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (*self, column) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Integer(number), &Type::INT4) => i32::try_from(number)?.to_sql(column, out),
            (Value::Integer(number), &Type::BOOL) => (number != 0).to_sql(column, out),
            (Value::Integer(number), _) => number.to_sql(column, out),
            (Value::Text(words), _) => words.to_sql(column, out),
            (Value::Bytes(bytes), _) => bytes.to_sql(column, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
