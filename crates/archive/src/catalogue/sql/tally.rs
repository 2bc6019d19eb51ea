//! The count of recalls that have ended.

use super::{Row, Transaction, one, params};
use crate::catalogue::tally::{Ended, Tally};
use crate::catalogue::{RequestId, Result};

/// Counts on from the last count.
pub fn tally(transaction: &Transaction<'_>, last: &Tally) -> Result<Tally> {
    let next = "SELECT coalesce((SELECT min(id) FROM request WHERE id >= ?1 AND done_ns IS NULL AND kind = 'recall'), \
        (SELECT max(id) + 1 FROM request), 0)";
    let next: RequestId =
        one(transaction, next, [last.first], |row| row.get(0))?.unwrap_or(last.first);
    // A catalogue that was restored has fewer than before.
    let next = next.max(last.first);
    let ended = |from: RequestId, to: RequestId| ended(transaction, from, to);
    let (settled, after) = (ended(last.first, next)?, ended(next, RequestId(i64::MAX))?);
    Ok(Tally {
        first: next,
        before: last.before + settled,
        after,
    })
}

/// How the recalls from one number on, and before another, have ended.
fn ended(transaction: &Transaction<'_>, from: RequestId, to: RequestId) -> Result<Ended> {
    let sql = "SELECT count(*) FILTER (WHERE request.state = 'delivered'), \
        CAST(coalesce(sum(file.bytes) FILTER (WHERE request.state = 'delivered'), 0) AS BIGINT), \
        count(*) FILTER (WHERE request.state = 'failed') \
        FROM request JOIN file ON file.id = request.file \
        WHERE request.id >= ?1 AND request.id < ?2 AND request.kind = 'recall'";
    let row = |row: &Row<'_>| {
        Ok(Ended {
            delivered: row.get(0)?,
            bytes: row.get(1)?,
            failed: row.get(2)?,
        })
    };
    Ok(one(transaction, sql, params![from, to], row)?.unwrap_or_default())
}
