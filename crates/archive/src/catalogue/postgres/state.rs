//! What a server of PostgreSQL has not cleaned up, and what keeps it from that.

use crate::catalogue::{Result, ServerState};
use ::postgres::Client;

/// The oldest transaction whose view somebody still holds: a session, a transaction that was prepared, or a replica.
/// Sessions of other users are seen by members of pg_read_all_stats only.
const OLDEST_VIEW: &str = "SELECT coalesce(max(age(xmin)), 0)::bigint FROM (\
    SELECT backend_xmin AS xmin FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
    UNION ALL SELECT transaction FROM pg_prepared_xacts \
    UNION ALL SELECT xmin FROM pg_replication_slots \
    UNION ALL SELECT catalog_xmin FROM pg_replication_slots) AS views";

/// The tables of the queue, which change with every recall.
const DEAD_ROWS: &str = "SELECT relname::text, n_dead_tup FROM pg_stat_user_tables \
    WHERE schemaname = current_schema() AND relname IN ('request', 'stage', 'stage_file', 'pin', 'lease', 'cached') \
    ORDER BY relname";

pub(super) fn state(client: &mut Client) -> Result<ServerState> {
    let oldest_view: i64 = client.query_one(OLDEST_VIEW, &[])?.try_get(0)?;
    let mut dead_rows = Vec::new();
    for row in client.query(DEAD_ROWS, &[])? {
        let rows: i64 = row.try_get(1)?;
        dead_rows.push((row.try_get(0)?, rows.unsigned_abs()));
    }
    Ok(ServerState {
        oldest_view_transactions: oldest_view.unsigned_abs(),
        dead_rows,
    })
}
