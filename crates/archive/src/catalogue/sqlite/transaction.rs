//! Transactions and values of SQLite.

use crate::catalogue::sql::{Columns, Each, Row, Statements, Value};
use crate::catalogue::{CatalogueError, Result};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ToSql, params_from_iter};

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(number),
            Value::Text(words) => ValueRef::Text(words.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl Columns for rusqlite::Row<'_> {
    fn value(&self, at: usize) -> Result<Value<'_>> {
        let value = self.get_ref(at)?;
        Ok(match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Text(_) => Value::Text(value.as_str().map_err(rusqlite::Error::from)?),
            ValueRef::Blob(bytes) => Value::Bytes(bytes),
            ValueRef::Real(number) => {
                let what = format!("it holds {number} where no fraction can be");
                return Err(CatalogueError::Damaged(what));
            }
        })
    }
}

impl Statements for rusqlite::Transaction<'_> {
    fn run(&self, sql: &str, params: &[Value<'_>]) -> Result<usize> {
        let mut statement = self.prepare_cached(sql)?;
        Ok(statement.execute(params_from_iter(params))?)
    }

    fn rows(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(params))?;
        while let Some(row) = rows.next()? {
            if each(&Row(row))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn walk(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()> {
        self.rows(sql, params, each)
    }
}
