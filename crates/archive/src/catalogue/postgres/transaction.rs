//! Transactions and values of PostgreSQL.

use crate::catalogue::sql::{Columns, Each, Row, Statements, Value};
use crate::catalogue::{CatalogueError, Result};

use ::postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use ::postgres::{Statement, Transaction};
use bytes::BytesMut;
use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;

/// Rows that are fetched at once of an answer that may be far longer than what is looked at.
const FETCHED: i32 = 1000;

/// A transaction that is open.
pub(super) struct Open<'a> {
    transaction: RefCell<Transaction<'a>>,
    prepared: &'a RefCell<HashMap<String, Statement>>,
}

impl<'a> Open<'a> {
    pub(super) fn new(
        transaction: Transaction<'a>,
        prepared: &'a RefCell<HashMap<String, Statement>>,
    ) -> Open<'a> {
        Open {
            transaction: RefCell::new(transaction),
            prepared,
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

impl Statements for Open<'_> {
    fn run(&self, sql: &str, params: &[Value<'_>]) -> Result<usize> {
        let statement = self.prepared(sql)?;
        let mut transaction = self.transaction.borrow_mut();
        Ok(transaction.execute(&statement, &parameters(params))? as usize)
    }

    fn rows(&self, sql: &str, params: &[Value<'_>], each: Each<'_>) -> Result<()> {
        let statement = self.prepared(sql)?;
        let query = |params| self.transaction.borrow_mut().query(&statement, params);
        for row in query(&parameters(params))? {
            if each(&Row(&row))?.is_break() {
                break;
            }
        }
        Ok(())
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
