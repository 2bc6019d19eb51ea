//! The catalogue in a database of PostgreSQL, which many hosts share.
//!
//! One connection behind a lock. Whatever changes something first takes the turn, a lock on a table of ours that is
//! held until the commit: writers come one after the other as they do with SQLite, so an operation may rely on what it
//! has looked up. Readers see one state and wait for nobody.
//!
//! A host that is cut off in the middle of a transaction holds the turn until the server notices: see
//! [`connection`]. When a connection is lost, the transaction on it is rolled back by the server and the caller gets the error; the
//! next operation connects again. When the connection is lost while a commit is on its way, the server is asked what
//! became of that transaction (see [`commit`]), and only if that cannot be found out is it reported as unknown.

mod commit;
mod connection;
mod encryption;
mod failure;
mod rows;
mod schema;
mod state;
mod transaction;

use super::sql::{Database, Move, Transaction, broken_rules, copy_all, must_hold, refuse_moved};
use super::sqlite::{appear, refuse_to_replace, take_no_more};
use super::{Catalogue, CatalogueError, Lease, Result, ServerState, SqliteCatalogue, Upgrade};
use ::postgres::{Client, IsolationLevel, Statement};
use commit::Marked;
pub use connection::PostgresUrl;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
pub(super) use transaction::LONGEST_PATH;
use transaction::{Clock, Open};

impl From<::postgres::Error> for CatalogueError {
    fn from(error: ::postgres::Error) -> CatalogueError {
        let is_answer = failure::is_answer(&error);
        let failure = Box::new(failure::Failure(error));
        if is_answer {
            CatalogueError::Answer(failure)
        } else {
            CatalogueError::Database(failure)
        }
    }
}

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
    /// The move that has marked it works on it.
    Marked,
}

/// Says to a session that queries are not compiled: to compile one takes longer than a search through millions of paths.
const NOT_COMPILED: &str = "SET jit = off";

/// Says to a session that it changes nothing.
const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// A connection, the statements that are prepared on it, and the mark of the last commit.
struct Session {
    client: Client,
    prepared: RefCell<HashMap<String, Statement>>,
    last: Option<Marked>,
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

    /// A new catalogue for what a move brings, in a database that has none, or an empty one, or what earlier moves left.
    pub(super) fn arriving(url: &PostgresUrl, this: &Move) -> Result<PostgresCatalogue> {
        schema::begin_arrival(&mut url.connect()?, url, this)?;
        Ok(PostgresCatalogue::marked(url))
    }

    /// A catalogue that nobody opens because a move has marked it; or whatever is there.
    pub(super) fn marked(url: &PostgresUrl) -> PostgresCatalogue {
        PostgresCatalogue::of(url, Access::Marked)
    }

    /// Opens a catalogue to take all of it elsewhere.
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
        let error = done.as_ref().err();
        if !error.is_some_and(CatalogueError::is_of_database) {
            *kept = Some(session);
        }
        done
    }

    fn connect(&self) -> Result<Session> {
        let mut client = self.url.connect()?;
        client.batch_execute(NOT_COMPILED)?;
        match self.access {
            Access::Marked => {}
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
            last: None,
        })
    }
}

impl Database for PostgresCatalogue {
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.on_session(|session| {
            let mut transaction = session.client.transaction()?;
            transaction.batch_execute(schema::TAKE_TURN)?;
            let marked = Marked::new(&mut transaction, session.last.as_ref())?;
            let open = Open::new(transaction, &session.prepared, self.clock);
            if marked.is_moved {
                refuse_moved(&open, || self.url.name())?;
            }
            if let Some(lease) = &self.lease {
                must_hold(&open, lease)?;
            }
            let value = work(&open)?;
            let Err(error) = open.commit() else {
                session.last = Some(marked);
                return Ok(value);
            };
            if failure::is_rolled_back(&error) {
                return Err(error.into());
            }
            match marked.is_committed(&self.url) {
                Some(true) => Ok(value),
                Some(false) => Err(error.into()),
                None => Err(CatalogueError::CommitUnknown {
                    source: Box::new(failure::Failure(error)),
                }),
            }
        })
    }

    fn read<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.on_session(|session| {
            let transaction = session
                .client
                .build_transaction()
                .isolation_level(IsolationLevel::RepeatableRead)
                .read_only(true)
                .start()?;
            work(&Open::new(transaction, &session.prepared, self.clock))
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
        refuse_to_replace(path)?;
        appear(path, |partial| {
            let copy = SqliteCatalogue::of_schema(partial, schema::KNOWN)?;
            self.read(|from| copy.write(|to| copy_all(from, to)))?;
            drop(copy);
            take_no_more(partial)
        })
    }
}
