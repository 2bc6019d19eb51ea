//! What SQLite finds wrong with the file of a catalogue.

use crate::catalogue::sql;
use crate::catalogue::{CatalogueError, Result};
use rusqlite::{Connection, Transaction};

/// Its own checks, a sentence for each finding.
pub(super) fn damages(transaction: &Transaction<'_>) -> Result<Vec<String>> {
    let mut check = transaction.prepare("PRAGMA integrity_check(100)")?;
    let found = check.query_map([], |row| row.get(0))?;
    let mut findings: Vec<String> = found.collect::<rusqlite::Result<_>>()?;
    findings.retain(|finding| finding != "ok");
    let mut check = transaction.prepare("PRAGMA foreign_key_check")?;
    let found = check.query_map([], |row| {
        let (table, row_id): (String, Option<i64>) = (row.get(0)?, row.get(1)?);
        let parent: String = row.get(2)?;
        let row_id = row_id.map_or_else(String::new, |row_id| format!(" {row_id}"));
        Ok(format!(
            "{table}{row_id} refers to a {parent} that is not there"
        ))
    })?;
    for finding in found.take(100) {
        findings.push(finding?);
    }
    Ok(findings)
}

/// A connection that does not look at each row whether the rows that it refers to are there, until this is dropped.
/// Whoever writes calls [`check_keys`] before the end of the transaction.
pub(super) struct KeysLater<'a>(pub(super) &'a mut Connection);

impl<'a> KeysLater<'a> {
    /// Within a transaction SQLite would not heed it.
    pub(super) fn of(connection: &'a mut Connection) -> Result<KeysLater<'a>> {
        connection.pragma_update(None, "foreign_keys", false)?;
        Ok(KeysLater(connection))
    }
}

impl Drop for KeysLater<'_> {
    fn drop(&mut self) {
        // Of a connection that is open, and in no transaction any more, this cannot fail.
        let _ = self.0.pragma_update(None, "foreign_keys", true);
    }
}

/// Fails if a row refers to one that is not there.
pub(super) fn check_keys(transaction: &sql::Transaction<'_>) -> Result<()> {
    transaction.rows("PRAGMA foreign_key_check", &[], &mut |row| {
        let (table, parent): (&str, &str) = (row.get(0)?, row.get(2)?);
        let what = format!("a row of {table} refers to a {parent} that is not there");
        Err(CatalogueError::Damaged(what))
    })
}

#[cfg(test)]
mod tests {
    use crate::catalogue::sql::{Database as _, Value};
    use crate::catalogue::{CatalogueError, SqliteCatalogue};

    #[test]
    fn a_list_with_a_row_that_refers_to_nothing_is_refused_and_the_next_row_is_checked_at_once() {
        let catalogue = SqliteCatalogue::in_memory().expect("a catalogue");
        let sql = "INSERT INTO sum (file, kind, value) VALUES (?1, 'md5', x'00')";
        let row = [Value::Integer(9)];
        let refused = catalogue.write_list(|transaction| transaction.run(sql, &row));
        assert!(
            matches!(&refused, Err(CatalogueError::Damaged(what)) if what.contains("of sum refers to a file")),
            "{refused:?}"
        );
        let mut was_refused = false;
        let left = catalogue.write(|transaction| {
            was_refused = transaction.run(sql, &row).is_err();
            transaction.rows("SELECT 1 FROM sum", &[], &mut |_| unreachable!())
        });
        left.expect("nothing is there");
        assert!(was_refused);
    }
}
