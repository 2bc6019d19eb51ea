//! Transactions and values of SQLite.

use crate::catalogue::sql::{Columns, Each, Fill, Row, Statements, Value};
use crate::catalogue::{CatalogueError, Result};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension as _, ToSql, params, params_from_iter};

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

/// Rows that one statement enters.
const ROWS: usize = 64;

/// What a parameter was bound to. Most columns say the same in each row, and to bind takes longer than to compare.
enum Place {
    Null,
    Integer(i64),
    Text(String),
    /// Nothing yet, or bytes: they differ from row to row.
    Other,
}

impl Place {
    /// Whether a value is bound here; if not, it will be.
    fn holds(&mut self, value: &Value<'_>) -> bool {
        match (&mut *self, *value) {
            (Place::Null, Value::Null) => return true,
            (Place::Integer(before), Value::Integer(number)) if *before == number => return true,
            (Place::Text(before), Value::Text(words)) if before == words => return true,
            (Place::Text(before), Value::Text(words)) => words.clone_into(before),
            (_, value) => {
                *self = match value {
                    Value::Null => Place::Null,
                    Value::Integer(number) => Place::Integer(number),
                    Value::Text(words) => Place::Text(words.to_owned()),
                    Value::Bytes(_) => Place::Other,
                }
            }
        }
        false
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

    fn search(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()> {
        self.rows(sql, params, each)
    }

    fn now_ns(&self, callers_ns: i64) -> Result<i64> {
        Ok(callers_ns)
    }

    fn contains(&self, column: &str, parameter: &str) -> String {
        format!("instr({column}, {parameter}) > 0")
    }

    fn longest_path(&self) -> Option<usize> {
        None
    }

    fn columns(&self, table: &str) -> Result<Vec<String>> {
        let mut statement = self.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    /// A statement enters many rows: to begin one takes longer than a row does.
    fn load(&self, table: &str, columns: &[String], fill: Fill<'_>) -> Result<()> {
        // The first parameter says how many rows there are. SQLite compiles a statement again when it changes, and does
        // not tell parameters beyond the 31st from each other.
        let places: Vec<String> = (2..2 + ROWS * columns.len())
            .map(|at| format!("?{at}"))
            .collect();
        let rows = places.chunks(columns.len());
        let rows: Vec<String> = rows.map(|row| format!("({})", row.join(", "))).collect();
        let sql = format!(
            "INSERT INTO {table} ({}) SELECT * FROM (VALUES {}) LIMIT ?1",
            columns.join(", "),
            rows.join(", ")
        );
        let mut statement = self.prepare_cached(&sql)?;
        statement.raw_bind_parameter(1, ROWS as i64)?;
        let mut places: Vec<Place> = (0..ROWS * columns.len()).map(|_| Place::Other).collect();
        let mut bound = 0;
        fill(&mut |row| {
            let first = bound * columns.len();
            for ((at, place), value) in (2 + first..).zip(&mut places[first..]).zip(row) {
                if !place.holds(value) {
                    statement.raw_bind_parameter(at, value)?;
                }
            }
            bound += 1;
            if bound == ROWS {
                statement.raw_execute()?;
                bound = 0;
            }
            Ok(())
        })?;
        // What is bound behind these rows was entered before.
        statement.raw_bind_parameter(1, bound as i64)?;
        statement.raw_execute()?;
        Ok(())
    }

    /// Indexes of many rows are made faster than they grow. Keys are part of their tables and stay.
    fn set_rules_aside(&self) -> Result<Vec<String>> {
        let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
        let mut statement = self.prepare(sql)?;
        let indexes = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (names, back): (Vec<String>, Vec<String>) = indexes
            .collect::<rusqlite::Result<Vec<_>>>()?
            .into_iter()
            .unzip();
        for name in names {
            self.execute(&format!("DROP INDEX {name}"), [])?;
        }
        Ok(back)
    }

    fn last_number(&self, table: &str, column: &str) -> Result<i64> {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
        let kept = self.query_row(sql, [table], |row| row.get(0)).optional()?;
        let sql = format!("SELECT coalesce(max({column}), 0) FROM {table}");
        let greatest: i64 = self.query_row(&sql, [], |row| row.get(0))?;
        Ok(greatest.max(kept.unwrap_or(0)))
    }

    /// Only of tables whose numbers are kept; of the others the greatest one is the last.
    fn set_last_number(&self, table: &str, _: &str, number: i64) -> Result<()> {
        let sql = "UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1";
        if self.execute(sql, params![table, number])? == 0 && number > 0 {
            let sql = "INSERT INTO sqlite_sequence (name, seq) SELECT name, ?2 FROM sqlite_schema \
                WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%'";
            self.execute(sql, params![table, number])?;
        }
        Ok(())
    }
}
