//! Recalls that failed.

use super::requests::{LISTED, REQUEST, request_of, settle, submit};
use super::{Database, Row, Transaction, all, one, params};
use crate::catalogue::{CatalogueError, Failures, NewRecall, Request, RequestId, Result};
use std::collections::HashSet;

/// The last of the failures of one file at one place.
const LAST: &str = "NOT EXISTS (SELECT 1 FROM request AS later WHERE later.file = request.file \
    AND later.place IS NOT DISTINCT FROM request.place AND later.state = 'failed' AND later.kind = 'recall' \
    AND later.settled_ns IS NULL AND later.id > request.id)";

/// Those of these requests that failed, and that nobody has dealt with, once each.
fn open(transaction: &Transaction<'_>, failed: &[RequestId]) -> Result<Vec<Request>> {
    let sql = format!("{REQUEST} WHERE id = ?1 AND {LISTED}");
    let mut seen = HashSet::new();
    let ids = failed.iter().filter(|id| seen.insert(**id));
    let found = ids.filter_map(|id| one(transaction, &sql, [*id], request_of).transpose());
    found.collect()
}

/// Asks again for what a failed recall did not bring; false where its file is gone.
fn ask_again(transaction: &Transaction<'_>, failed: &Request, at_ns: i64) -> Result<bool> {
    let sql = "SELECT 1 FROM request WHERE file = ?1 AND place IS NOT DISTINCT FROM ?2 \
        AND done_ns IS NULL AND kind = 'recall'";
    let same = params![failed.file, failed.place];
    if one(transaction, sql, same, |_| Ok(()))?.is_some() {
        return Ok(true);
    }
    let recall = NewRecall {
        file: failed.file,
        terms: failed.terms.clone(),
        destination: failed.place.clone(),
    };
    match submit(transaction, &[recall], at_ns) {
        Ok(_) => Ok(true),
        Err(CatalogueError::NotLive { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

impl<D: Database> Failures for D {
    fn failures(&self, limit: usize) -> Result<Vec<Request>> {
        let sql =
            format!("{REQUEST} WHERE {LISTED} AND {LAST} ORDER BY done_ns DESC, id DESC LIMIT ?1");
        self.read(|transaction| all(transaction, &sql, [limit as u64], request_of))
    }

    fn failure_count(&self) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM request WHERE {LISTED} AND {LAST}");
        let count = |row: &Row<'_>| row.get(0);
        self.read(|transaction| Ok(one(transaction, &sql, params![], count)?.unwrap_or_default()))
    }

    fn attempts(&self, failed: &[RequestId]) -> Result<Vec<u64>> {
        let sql = format!(
            "SELECT count(*) FROM request WHERE file = (SELECT file FROM request WHERE id = ?1) \
            AND place IS NOT DISTINCT FROM (SELECT place FROM request WHERE id = ?1) AND {LISTED}"
        );
        let count = |row: &Row<'_>| row.get(0);
        self.read(|transaction| {
            let attempts = failed.iter();
            let attempts = attempts.map(|id| one(transaction, &sql, [*id], count));
            attempts
                .map(|count| Ok(count?.unwrap_or_default()))
                .collect()
        })
    }

    fn retry(&self, failed: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>> {
        self.write(|transaction| {
            let mut left = Vec::new();
            for request in open(transaction, failed)? {
                if ask_again(transaction, &request, at_ns)? {
                    settle(transaction, &request, at_ns)?;
                    left.push(request.id);
                }
            }
            Ok(left)
        })
    }

    fn dismiss(&self, failed: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>> {
        self.write(|transaction| {
            let mut left = Vec::new();
            for request in open(transaction, failed)? {
                settle(transaction, &request, at_ns)?;
                left.push(request.id);
            }
            Ok(left)
        })
    }
}
