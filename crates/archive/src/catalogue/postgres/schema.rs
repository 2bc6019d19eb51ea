//! The schema of a catalogue in PostgreSQL: which version a database has, and how it is brought up to date.
//!
//! Versions are those of SQLite, so that the same number means the same tables. Each is one migration in one
//! transaction, which only one process works on at a time.

use super::connection::PostgresUrl;
use crate::catalogue::{CatalogueError, KNOWN_SCHEMA, Result};
use ::postgres::{Client, GenericClient};

/// Each brings the schema up to its version; what was released is never changed.
const MIGRATIONS: [(i64, &str); 1] = [(5, include_str!("../migrations/postgres/005_archive.sql"))];

/// The schema that this program reads and writes.
pub(super) const KNOWN: u32 = KNOWN_SCHEMA;

/// The table that says that a database holds a catalogue, and which schema it has.
const MARK: &str = "CREATE TABLE tapewise_schema (version BIGINT NOT NULL); \
    INSERT INTO tapewise_schema VALUES (0)";

/// Takes the turn to write, until the transaction ends.
pub(super) const TAKE_TURN: &str = "LOCK TABLE tapewise_schema IN EXCLUSIVE MODE";

/// The version of the schema; `None` where there is no catalogue.
fn found(client: &mut impl GenericClient) -> Result<Option<i64>> {
    let sql = "SELECT to_regclass('tapewise_schema') IS NOT NULL";
    if !client.query_one(sql, &[])?.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    let sql = "SELECT version FROM tapewise_schema";
    let row = client.query_one(sql, &[])?;
    Ok(Some(row.try_get(0)?))
}

/// Refuses a database that holds no catalogue.
pub(super) fn refuse_lost(client: &mut Client, url: &PostgresUrl) -> Result<()> {
    match found(client)? {
        Some(_) => Ok(()),
        None => Err(CatalogueError::Lost {
            path: url.name(),
            what: "holds no catalogue",
        }),
    }
}

/// Refuses catalogues of other programs, older or newer.
pub(super) fn refuse_others(client: &mut Client, url: &PostgresUrl) -> Result<()> {
    refuse_newer(found(client)?, url)?;
    match found(client)? {
        Some(found) if found < i64::from(KNOWN) => Err(CatalogueError::Older {
            path: url.name(),
            found,
            known: KNOWN,
        }),
        _ => Ok(()),
    }
}

fn refuse_newer(found: Option<i64>, url: &PostgresUrl) -> Result<()> {
    match found {
        Some(found) if found > i64::from(KNOWN) => Err(CatalogueError::Newer {
            path: url.name(),
            found,
            known: KNOWN,
        }),
        _ => Ok(()),
    }
}

/// Refuses a database without a catalogue that holds tables of something else.
fn refuse_occupied(client: &mut impl GenericClient, url: &PostgresUrl) -> Result<()> {
    let sql = "SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace(current_schema()) \
        AND relkind IN ('r', 'p', 'v', 'm') ORDER BY relname LIMIT 1";
    match client.query_opt(sql, &[])? {
        Some(row) => Err(CatalogueError::OtherTables {
            path: url.name(),
            table: row.try_get(0)?,
        }),
        None => Ok(()),
    }
}

/// Brings the schema up to date; an empty database gets it whole.
pub(super) fn migrate(client: &mut Client, url: &PostgresUrl) -> Result<()> {
    // Two processes that find no table to lock yet take turns by a number.
    let mut transaction = client.transaction()?;
    transaction.batch_execute("SELECT pg_advisory_xact_lock(x'74617065'::bigint)")?;
    let before = found(&mut transaction)?;
    refuse_newer(before, url)?;
    if before.is_none() {
        refuse_occupied(&mut transaction, url)?;
        transaction.batch_execute(MARK)?;
    }
    for (version, migration) in MIGRATIONS {
        if before.unwrap_or(0) < version {
            transaction.batch_execute(TAKE_TURN)?;
            transaction.batch_execute(migration)?;
            transaction.execute("UPDATE tapewise_schema SET version = $1", &[&version])?;
        }
    }
    Ok(transaction.commit()?)
}
