//! What became of a commit whose answer was lost with the connection.
//!
//! The server is asked by the transaction's number whether it is still under way. Its answer to whether it was committed
//! is not taken: after a crash it may give the number of a transaction that it lost to another one. So each transaction
//! enters a row with a random name, and what counts is whether that row is there. The next transaction of the session
//! takes the row away.

use super::connection::PostgresUrl;
use ::postgres::error::SqlState;
use ::postgres::types::Type;
use ::postgres::{Client, Error, GenericClient};
use std::time::Duration;

/// The table of marks. It belongs to this way of keeping a catalogue and is not copied elsewhere.
pub(super) const TABLE: &str = "tapewise_commit";

pub(super) const CREATE: &str = "CREATE TABLE tapewise_commit (\
    mark UUID PRIMARY KEY DEFAULT gen_random_uuid(), entered TIMESTAMPTZ NOT NULL DEFAULT now())";

/// How often, and how long apart, a server that has dropped the connection in a commit is asked about it.
const QUESTIONS: u32 = 60;
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(500);

/// A transaction by its mark, and by its number.
pub(super) struct Marked {
    mark: String,
    number: String,
    /// Whether the catalogue was moved away. It is asked here, where it costs no journey to the server.
    pub(super) is_moved: bool,
}

impl Marked {
    /// Marks a transaction, and takes away the mark of the last one of this session. The first one of a session takes
    /// away what sessions left that ended a day ago.
    pub(super) fn new(
        transaction: &mut impl GenericClient,
        last: Option<&Marked>,
    ) -> Result<Marked, Error> {
        if last.is_none() {
            let old = "DELETE FROM tapewise_commit WHERE entered < now() - INTERVAL '1 day'";
            transaction.batch_execute(old)?;
        }
        let sql = "WITH gone AS (DELETE FROM tapewise_commit WHERE mark = CAST(CAST($1 AS TEXT) AS UUID)) \
            INSERT INTO tapewise_commit DEFAULT VALUES \
            RETURNING CAST(mark AS TEXT), CAST(pg_current_xact_id() AS TEXT), to_regclass('moved_to') IS NOT NULL";
        // With the type of its parameter it need not be prepared, which would be two more journeys to the server.
        let row =
            transaction.query_typed_one(sql, &[(&last.map(|last| &last.mark), Type::TEXT)])?;
        Ok(Marked {
            mark: row.try_get(0)?,
            number: row.try_get(1)?,
            is_moved: row.try_get(2)?,
        })
    }

    /// Whether the transaction was committed; nothing if the server does not answer.
    pub(super) fn is_committed(&self, url: &PostgresUrl) -> Option<bool> {
        for _ in 0..QUESTIONS {
            let client = url.connect().ok();
            let is_there = client.and_then(|mut client| self.is_there(&mut client));
            if is_there.is_some() {
                return is_there;
            }
            std::thread::sleep(BETWEEN_QUESTIONS);
        }
        None
    }

    /// Whether its mark is there for good; nothing while it is under way, or if there is no answer.
    fn is_there(&self, client: &mut Client) -> Option<bool> {
        let sql = "SELECT pg_xact_status(CAST(CAST($1 AS TEXT) AS xid8))";
        match client.query_one(sql, &[&self.number]) {
            Ok(row) => {
                // Nothing where the server is too far on to know.
                let status: Option<&str> = row.try_get(0).ok()?;
                if status == Some("in progress") {
                    return None;
                }
            }
            // It is yet to come: the server crashed before anything of it was on its disk.
            Err(error) if error.code() == Some(&SqlState::INVALID_PARAMETER_VALUE) => {}
            Err(_) => return None,
        }
        let sql = "SELECT EXISTS (SELECT 1 FROM tapewise_commit WHERE mark = CAST(CAST($1 AS TEXT) AS UUID))";
        client.query_one(sql, &[&self.mark]).ok()?.try_get(0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_house::postgres::Server;

    fn marked(client: &mut Client, last: Option<&Marked>, end: &str) -> Marked {
        client.batch_execute("BEGIN").expect("begun");
        let marked = Marked::new(client, last).expect("a mark");
        client.batch_execute(end).expect("ended");
        marked
    }

    #[test]
    fn a_server_tells_what_became_of_a_transaction_also_of_one_that_it_has_lost() {
        let Some(server) = Server::start("the fate of transactions") else {
            return;
        };
        let url: PostgresUrl = server.url().parse().expect("a URL");
        let mut client = url.connect().expect("a server");
        client.batch_execute(CREATE).expect("a table");
        let committed = marked(&mut client, None, "COMMIT");
        assert_eq!(committed.is_there(&mut client), Some(true));
        let rolled_back = marked(&mut client, Some(&committed), "ROLLBACK");
        assert_eq!(rolled_back.is_there(&mut client), Some(false));
        assert_eq!(committed.is_there(&mut client), Some(true));
        let next = marked(&mut client, Some(&committed), "COMMIT");
        assert_eq!(committed.is_there(&mut client), Some(false));
        let under_way = marked(&mut client, Some(&next), "SELECT 1");
        let mut other = url.connect().expect("a server");
        assert_eq!(under_way.is_there(&mut other), None);
        // As after a crash that has taken what was not on disk, before and after its number has gone to another one.
        let number: u64 = under_way.number.parse().expect("a number");
        for number in [number + 1_000, next.number.parse().expect("a number")] {
            let lost = Marked {
                number: number.to_string(),
                mark: "00000000-0000-4000-8000-000000000000".to_owned(),
                is_moved: false,
            };
            assert_eq!(lost.is_there(&mut other), Some(false));
        }
    }

    #[test]
    fn marks_of_sessions_that_ended_are_taken_away_after_a_day() {
        let Some(server) = Server::start("marks of transactions") else {
            return;
        };
        let url: PostgresUrl = server.url().parse().expect("a URL");
        let mut client = url.connect().expect("a server");
        client.batch_execute(CREATE).expect("a table");
        let old = marked(&mut client, None, "COMMIT");
        let age = "UPDATE tapewise_commit SET entered = now() - INTERVAL '25 hours'";
        client.batch_execute(age).expect("aged");
        let young = marked(&mut client, None, "COMMIT");
        let next = marked(&mut client, None, "COMMIT");
        let are_there = [old, young, next].map(|mark| mark.is_there(&mut client));
        assert_eq!(are_there, [Some(false), Some(true), Some(true)]);
    }
}
