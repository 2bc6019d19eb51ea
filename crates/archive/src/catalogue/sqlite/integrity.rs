//! What SQLite finds wrong with the file of a catalogue.

use crate::catalogue::Result;
use rusqlite::Transaction;

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
