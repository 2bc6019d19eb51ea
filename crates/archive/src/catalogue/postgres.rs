//! The catalogue in a database of PostgreSQL, which many hosts share.
//!
//! One connection behind a lock. Whatever changes something first takes the turn, a lock on a table of ours that is
//! held until the commit: writers come one after the other as they do with SQLite, so an operation may rely on what it
//! has looked up. Readers see one state and wait for nobody.
//!
//! A host that is cut off in the middle of a transaction holds the turn until the server notices: see
//! [`connection`]. When a connection is lost, the transaction on it is rolled back by the server and the caller gets the error; the
//! next operation connects again. When the connection is lost while a commit is on its way, the server is asked what
//! became of that transaction, and only if that cannot be found out is it reported as unknown.

mod connection;
mod encryption;
mod failure;
mod schema;
mod state;
mod transaction;

use super::sql::{Database, Transaction, broken_rules, copy_all, must_hold};
use super::sqlite::{appear, take_no_more};
use super::{Catalogue, CatalogueError, Lease, Result, ServerState, SqliteCatalogue, Upgrade};
use ::postgres::error::SqlState;
use ::postgres::{Client, IsolationLevel, Statement};
pub use connection::PostgresUrl;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use transaction::{Clock, Open};

impl From<::postgres::Error> for CatalogueError {
    fn from(error: ::postgres::Error) -> CatalogueError {
        CatalogueError::Database(Box::new(failure::Failure(error)))
    }
}

/// How often, and how long apart, a server that has dropped the connection in a commit is asked about it.
const QUESTIONS: u32 = 60;
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(500);

/// A catalogue in a database.
pub struct PostgresCatalogue {
    url: PostgresUrl,
    access: Access,
    clock: Clock,
    session: Arc<Mutex<Option<Session>>>,
    /// The lease without which nothing is written; none where whoever writes has all of the archive.
    lease: Option<Lease>,
}

/// What is done with a catalogue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// It is of an older schema, and all of it is copied.
    Copy,
    /// It is looked at.
    Read,
    /// It is worked on.
    Write,
    /// All of it is taken elsewhere, in a transaction that has nothing to do while the other place sorts what it got.
    Move,
}

/// Says to a session that queries are not compiled: to compile one takes longer than a search through millions of paths.
const NOT_COMPILED: &str = "SET jit = off";

/// Says to a session that it changes nothing.
const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// A connection, and the statements that are prepared on it.
struct Session {
    client: Client,
    prepared: RefCell<HashMap<String, Statement>>,
}

impl Session {
    /// Itself, unless the server has hung up, as far as that has got here.
    fn unless_lost(mut self) -> Option<Session> {
        use ::postgres::fallible_iterator::FallibleIterator as _;
        let is_lost = self.client.notifications().iter().next().is_err();
        (!is_lost).then_some(self)
    }
}

impl PostgresCatalogue {
    /// Opens the catalogue in a database, or makes one in an empty database, and brings its schema up to date.
    /// Before that a copy of an older one is written to the directory.
    pub fn open(url: &PostgresUrl, copies: &Path) -> Result<PostgresCatalogue> {
        let mut client = url.connect()?;
        if let Some(upgrade) = schema::pending(&mut client, url, copies)? {
            let older = PostgresCatalogue::of(url, Access::Copy);
            older.copy_to(&upgrade.copy, upgrade.found)?;
        }
        schema::migrate(&mut client, url)?;
        Ok(PostgresCatalogue::of(url, Access::Write))
    }

    /// Opens the catalogue in a database that must hold one. Where there is none it was lost, and a new one would not
    /// know what the old one knew.
    pub fn open_existing(url: &PostgresUrl, copies: &Path) -> Result<PostgresCatalogue> {
        schema::refuse_lost(&mut url.connect()?, url)?;
        PostgresCatalogue::open(url, copies)
    }

    /// A new catalogue in a database that has none, or an empty one, or what was left of one that was moved.
    pub(super) fn new_in(url: &PostgresUrl) -> Result<PostgresCatalogue> {
        let mut client = url.connect()?;
        schema::make_way(&mut client, url)?;
        schema::migrate(&mut client, url)?;
        Ok(PostgresCatalogue::of(url, Access::Write))
    }

    /// The same, to take all of it elsewhere.
    pub(super) fn open_to_move(url: &PostgresUrl, copies: &Path) -> Result<PostgresCatalogue> {
        PostgresCatalogue::open_existing(url, copies)?;
        Ok(PostgresCatalogue::of(url, Access::Move))
    }

    /// What opening it to write would do to its schema; nothing is changed.
    pub fn pending_upgrade(url: &PostgresUrl, copies: &Path) -> Result<Option<Upgrade>> {
        let mut client = url.connect()?;
        schema::refuse_lost(&mut client, url)?;
        schema::pending(&mut client, url, copies)
    }

    /// Writes all of it to a file of SQLite with the same schema, which appears whole.
    fn copy_to(&self, path: &Path, schema: u32) -> Result<()> {
        appear(path, |partial| {
            let copy = SqliteCatalogue::of_schema(partial, schema)?;
            self.read(|from| copy.write(|to| copy_all(from, to)))?;
            Ok(())
        })
    }

    /// Opens a catalogue and changes nothing; its user needs no right to write.
    pub fn open_to_read(url: &PostgresUrl) -> Result<PostgresCatalogue> {
        let mut client = url.connect()?;
        schema::refuse_lost(&mut client, url)?;
        schema::refuse_others(&mut client, url)?;
        Ok(PostgresCatalogue::of(url, Access::Read))
    }

    fn of(url: &PostgresUrl, access: Access) -> PostgresCatalogue {
        PostgresCatalogue {
            url: url.clone(),
            access,
            clock: Clock::Servers,
            session: Arc::default(),
            lease: None,
        }
    }

    /// Itself, with leases that go by the times of its callers: for tests and simulations, whose clock is not the
    /// server's.
    pub fn by_callers_clock(self) -> PostgresCatalogue {
        PostgresCatalogue {
            clock: Clock::Callers,
            ..self
        }
    }

    /// Does work on the connection; on a new one where the last one is lost. What goes wrong with the database ends
    /// it: the next work begins on a new one. A thread that panicked has rolled its transaction back.
    fn on_session<T>(&self, work: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
        let mut kept = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let last = kept.take().and_then(Session::unless_lost);
        let mut session = last.map_or_else(|| self.connect(), Ok)?;
        let done = work(&mut session);
        if !matches!(
            done,
            Err(CatalogueError::Database(_) | CatalogueError::CommitUnknown { .. })
        ) {
            *kept = Some(session);
        }
        done
    }

    fn connect(&self) -> Result<Session> {
        let mut client = self.url.connect()?;
        client.batch_execute(NOT_COMPILED)?;
        match self.access {
            Access::Copy => client.batch_execute(READ_ONLY)?,
            Access::Read => {
                schema::refuse_others(&mut client, &self.url)?;
                client.batch_execute(READ_ONLY)?;
            }
            // Another program may have been at work since it was opened.
            Access::Write => schema::refuse_others(&mut client, &self.url)?,
            Access::Move => {
                schema::refuse_others(&mut client, &self.url)?;
                client.batch_execute("SET idle_in_transaction_session_timeout = 0")?;
            }
        }
        Ok(Session {
            client,
            prepared: RefCell::default(),
        })
    }

    /// What became of a transaction whose commit has got no answer, if the server can tell.
    fn is_committed(&self, number: &str) -> Option<bool> {
        for _ in 0..QUESTIONS {
            let client = self.url.connect().ok();
            match client.and_then(|mut client| fate(&mut client, number)) {
                Some(Fate::Committed) => return Some(true),
                Some(Fate::Aborted) => return Some(false),
                Some(Fate::Forgotten) => return None,
                None => std::thread::sleep(BETWEEN_QUESTIONS),
            }
        }
        None
    }
}

/// What became of a transaction.
#[derive(Debug, PartialEq)]
enum Fate {
    Committed,
    Aborted,
    /// The server is too far on to know.
    Forgotten,
}

/// What a server says of a transaction; nothing while it is under way, or if there is no answer.
fn fate(client: &mut Client, number: &str) -> Option<Fate> {
    let sql = "SELECT pg_xact_status(CAST(CAST($1 AS TEXT) AS xid8))";
    let status: Option<String> = match client.query_one(sql, &[&number]) {
        Ok(row) => row.try_get(0).ok()?,
        // It is yet to come: the server crashed before anything of it was on its disk.
        Err(error) if error.code() == Some(&SqlState::INVALID_PARAMETER_VALUE) => {
            return Some(Fate::Aborted);
        }
        Err(_) => return None,
    };
    match status.as_deref() {
        Some("committed") => Some(Fate::Committed),
        Some("aborted") => Some(Fate::Aborted),
        Some(_) => None,
        None => Some(Fate::Forgotten),
    }
}

impl Database for PostgresCatalogue {
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.on_session(|Session { client, prepared }| {
            let mut transaction = client.transaction()?;
            transaction.batch_execute(schema::TAKE_TURN)?;
            let number = "SELECT CAST(pg_current_xact_id() AS TEXT)";
            let number: String = transaction.query_one(number, &[])?.try_get(0)?;
            let open = Open::new(transaction, prepared, self.clock);
            if let Some(lease) = &self.lease {
                must_hold(&open, lease)?;
            }
            let value = work(&open)?;
            let Err(error) = open.commit() else {
                return Ok(value);
            };
            if failure::is_rolled_back(&error) {
                return Err(error.into());
            }
            match self.is_committed(&number) {
                Some(true) => Ok(value),
                Some(false) => Err(error.into()),
                None => Err(CatalogueError::CommitUnknown {
                    source: Box::new(failure::Failure(error)),
                }),
            }
        })
    }

    fn read<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.on_session(|Session { client, prepared }| {
            let transaction = client
                .build_transaction()
                .isolation_level(IsolationLevel::RepeatableRead)
                .read_only(true)
                .start()?;
            work(&Open::new(transaction, prepared, self.clock))
        })
    }

    fn bound_to(&self, lease: &Lease) -> Arc<dyn Catalogue> {
        Arc::new(PostgresCatalogue {
            url: self.url.clone(),
            access: self.access,
            clock: self.clock,
            session: Arc::clone(&self.session),
            lease: Some(lease.clone()),
        })
    }
}

impl Catalogue for PostgresCatalogue {
    fn schema_version(&self) -> u32 {
        schema::KNOWN
    }

    fn server_state(&self) -> Result<Option<ServerState>> {
        self.on_session(|session| state::state(&mut session.client).map(Some))
    }

    fn integrity(&self) -> Result<Vec<String>> {
        self.read(broken_rules)
    }

    fn backup(&self, path: &Path) -> Result<()> {
        appear(path, |partial| {
            let copy = SqliteCatalogue::of_schema(partial, schema::KNOWN)?;
            self.read(|from| copy.write(|to| copy_all(from, to)))?;
            drop(copy);
            take_no_more(partial)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_house::postgres::Server;

    #[test]
    fn a_server_tells_what_became_of_a_transaction_also_of_one_that_it_has_lost() {
        let Some(server) = Server::start("the fate of transactions") else {
            return;
        };
        let url: PostgresUrl = server.url().parse().expect("a URL");
        let mut client = url.connect().expect("a server");
        let numbered = |client: &mut Client, end: &str| -> String {
            client.batch_execute("BEGIN").expect("begun");
            let sql = "SELECT CAST(pg_current_xact_id() AS TEXT)";
            let number = client.query_one(sql, &[]).expect("a number").get(0);
            client.batch_execute(end).expect("ended");
            number
        };
        let committed = numbered(&mut client, "COMMIT");
        assert_eq!(fate(&mut client, &committed), Some(Fate::Committed));
        let rolled_back = numbered(&mut client, "ROLLBACK");
        assert_eq!(fate(&mut client, &rolled_back), Some(Fate::Aborted));
        let under_way = numbered(&mut client, "SELECT 1");
        let mut other = url.connect().expect("a server");
        assert_eq!(fate(&mut other, &under_way), None);
        // As after a crash that has taken what was not on disk.
        let lost = (under_way.parse::<u64>().expect("a number") + 1_000).to_string();
        assert_eq!(fate(&mut other, &lost), Some(Fate::Aborted));
    }
}
