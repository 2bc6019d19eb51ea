//! Recalls that failed.

use super::requests::{LISTED, REQUEST, request_of, submit};
use super::{Database, Row, Transaction, all, one, params, run};
use crate::catalogue::{CatalogueError, Failures, NewRecall, Request, RequestId, Result};

/// Takes a failure off the list; whether it was there.
fn settle(transaction: &Transaction<'_>, id: RequestId, at_ns: i64) -> Result<bool> {
    let sql = format!("UPDATE request SET settled_ns = ?2 WHERE id = ?1 AND {LISTED}");
    Ok(run(transaction, &sql, params![id, at_ns])? > 0)
}

/// Asks again for what a failed recall did not bring; false where its file is gone.
fn ask_again(transaction: &Transaction<'_>, failed: Request, at_ns: i64) -> Result<bool> {
    let sql = "SELECT 1 FROM request WHERE file = ?1 AND place IS NOT DISTINCT FROM ?2 \
        AND done_ns IS NULL AND kind = 'recall'";
    let same = params![failed.file, failed.place];
    if one(transaction, sql, same, |_| Ok(()))?.is_some() {
        return Ok(true);
    }
    let recall = NewRecall {
        file: failed.file,
        terms: failed.terms,
        destination: failed.place,
    };
    match submit(transaction, &recall, at_ns) {
        Ok(_) => Ok(true),
        Err(CatalogueError::NotLive { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

impl<D: Database> Failures for D {
    fn failures(&self, limit: usize) -> Result<Vec<Request>> {
        let sql = format!("{REQUEST} WHERE {LISTED} ORDER BY done_ns DESC, id DESC LIMIT ?1");
        self.read(|transaction| all(transaction, &sql, [limit as u64], request_of))
    }

    fn failure_count(&self) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM request WHERE {LISTED}");
        let count = |row: &Row<'_>| row.get(0);
        self.read(|transaction| Ok(one(transaction, &sql, params![], count)?.unwrap_or_default()))
    }

    fn retry(&self, failed: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>> {
        let sql = format!("{REQUEST} WHERE id = ?1 AND {LISTED}");
        self.write(|transaction| {
            let mut left = Vec::new();
            for &id in failed {
                let Some(request) = one(transaction, &sql, [id], request_of)? else {
                    continue;
                };
                if ask_again(transaction, request, at_ns)? {
                    settle(transaction, id, at_ns)?;
                    left.push(id);
                }
            }
            Ok(left)
        })
    }

    fn dismiss(&self, failed: &[RequestId], at_ns: i64) -> Result<Vec<RequestId>> {
        self.write(|transaction| {
            let mut left = Vec::new();
            for &id in failed {
                if settle(transaction, id, at_ns)? {
                    left.push(id);
                }
            }
            Ok(left)
        })
    }
}
