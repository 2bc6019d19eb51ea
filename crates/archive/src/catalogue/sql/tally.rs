//! The count of recalls that have ended.

use super::{Row, Transaction, one, params};
use crate::catalogue::Result;
use crate::catalogue::tally::{Ended, Tally};

/// Counts on from the last count.
pub fn tally(transaction: &Transaction<'_>, last: &Tally) -> Result<Tally> {
    let sql = "SELECT coalesce(max(id), 0) FROM request";
    let newest: u64 = one(transaction, sql, params![], |row| row.get(0))?.unwrap_or(0);
    let newest = newest / last.block;
    let mut tally = Tally {
        block: last.block,
        // A catalogue that was restored has fewer than before.
        next: last.next.max(newest + 1),
        again: Vec::new(),
        before: last.before,
        after: Ended::default(),
    };
    for block in last.again.iter().copied().chain(last.next..=newest) {
        let (ended, open) = block_of(transaction, block, last.block)?;
        if open > 0 || block >= newest {
            tally.again.push(block);
            tally.after = tally.after + ended;
        } else {
            tally.before = tally.before + ended;
        }
    }
    Ok(tally)
}

/// How the recalls of a block have ended, and how many are open.
fn block_of(transaction: &Transaction<'_>, block: u64, length: u64) -> Result<(Ended, u64)> {
    let sql = "SELECT count(*) FILTER (WHERE request.state = 'delivered'), \
        CAST(coalesce(sum(file.bytes) FILTER (WHERE request.state = 'delivered'), 0) AS BIGINT), \
        count(*) FILTER (WHERE request.state = 'failed'), count(*) FILTER (WHERE request.done_ns IS NULL) \
        FROM request JOIN file ON file.id = request.file \
        WHERE request.id >= ?1 AND request.id < ?2 AND request.kind = 'recall'";
    let row = |row: &Row<'_>| {
        let ended = Ended {
            delivered: row.get(0)?,
            bytes: row.get(1)?,
            failed: row.get(2)?,
        };
        Ok((ended, row.get(3)?))
    };
    let range = params![block * length, (block + 1) * length];
    Ok(one(transaction, sql, range, row)?.unwrap_or_default())
}
