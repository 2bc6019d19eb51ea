//! The schema of a catalogue in PostgreSQL: which version a database has, and how it is brought up to date.
//!
//! Versions are those of SQLite, so that the same number means the same tables. Each is one migration in one
//! transaction, which only one process works on at a time.

use super::commit;
use super::connection::PostgresUrl;
use super::transaction::{Clock, Open};
use crate::catalogue::sql::{Move, mark_arriving};
use crate::catalogue::{CatalogueError, KNOWN_SCHEMA, Result, Upgrade};
use ::postgres::{Client, GenericClient, Transaction};
use std::cell::RefCell;
use std::path::Path;

/// Each brings the schema up to its version; what was released is never changed.
const MIGRATIONS: [(u32, &str); 7] = [
    (5, include_str!("../migrations/postgres/005_archive.sql")),
    (6, include_str!("../migrations/postgres/006_leases.sql")),
    (7, include_str!("../migrations/postgres/007_desk.sql")),
    (8, include_str!("../migrations/postgres/008_activity.sql")),
    (
        9,
        include_str!("../migrations/postgres/009_lease_times.sql"),
    ),
    (10, include_str!("../migrations/postgres/010_started.sql")),
    (11, include_str!("../migrations/postgres/011_names.sql")),
];

/// The schema that this program reads and writes.
pub(super) const KNOWN: u32 = KNOWN_SCHEMA;

/// The table that says that a database holds a catalogue, and which schema it has.
const MARK: &str = "CREATE TABLE tapewise_schema (version BIGINT NOT NULL); \
    INSERT INTO tapewise_schema VALUES (0)";

/// Two processes that find no table to lock yet take turns by a number.
const ONE_AT_A_TIME: &str = "SELECT pg_advisory_xact_lock(x'74617065'::bigint)";

/// Takes the turn to write, until the transaction ends.
pub(super) const TAKE_TURN: &str = "LOCK TABLE tapewise_schema IN EXCLUSIVE MODE";

/// The version of the schema; `None` where there is no catalogue, and an error where it was moved away or is arriving.
fn found(client: &mut impl GenericClient, url: &PostgresUrl) -> Result<Option<u32>> {
    if !has_table(client, "tapewise_schema")? {
        return Ok(None);
    }
    if has_table(client, "moved_to")? {
        let row = client.query_one("SELECT place FROM moved_to", &[])?;
        return Err(CatalogueError::Moved {
            path: url.name(),
            to: row.try_get(0)?,
        });
    }
    if has_table(client, "arriving")? {
        let row = client.query_one("SELECT origin FROM arriving", &[])?;
        return Err(CatalogueError::Arriving {
            path: url.name(),
            from: row.try_get(0)?,
        });
    }
    let sql = "SELECT version FROM tapewise_schema";
    let version: i64 = client.query_one(sql, &[])?.try_get(0)?;
    match u32::try_from(version) {
        Ok(version) if version <= KNOWN => Ok(Some(version)),
        _ => Err(CatalogueError::Newer {
            path: url.name(),
            found: version,
            known: KNOWN,
        }),
    }
}

fn has_table(client: &mut impl GenericClient, name: &str) -> Result<bool> {
    let row = client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&name])?;
    Ok(row.try_get(0)?)
}

/// Refuses a database that holds no catalogue.
pub(super) fn refuse_lost(client: &mut Client, url: &PostgresUrl) -> Result<()> {
    match found(client, url)? {
        Some(_) => Ok(()),
        None => Err(CatalogueError::Lost {
            path: url.name(),
            what: "holds no catalogue",
        }),
    }
}

/// Refuses catalogues of other programs, older or newer.
pub(super) fn refuse_others(client: &mut Client, url: &PostgresUrl) -> Result<()> {
    match found(client, url)? {
        Some(found) if found < KNOWN => Err(CatalogueError::Older {
            path: url.name(),
            found: found.into(),
            known: KNOWN,
        }),
        _ => Ok(()),
    }
}

/// What brings an older catalogue up to date; nothing where there is none.
pub(super) fn pending(
    client: &mut Client,
    url: &PostgresUrl,
    copies: &Path,
) -> Result<Option<Upgrade>> {
    let found = found(client, url)?.unwrap_or(KNOWN);
    let copy = copies.join(format!("catalogue.postgresql.schema-{found}"));
    Ok((found < KNOWN).then(|| Upgrade::new(found, MIGRATIONS, copy)))
}

/// Makes a new catalogue that is marked as arriving. What earlier moves left there goes, or nothing at all is changed.
pub(super) fn begin_arrival(client: &mut Client, url: &PostgresUrl, this: &Move) -> Result<()> {
    let mut transaction = client.transaction()?;
    transaction.batch_execute(ONE_AT_A_TIME)?;
    make_way(&mut transaction, url, this)?;
    migrate_in(&mut transaction, url)?;
    let prepared = RefCell::default();
    let open = Open::new(transaction, &prepared, Clock::Servers);
    mark_arriving(&open, this)?;
    Ok(open.commit()?)
}

/// Removes what was left of a catalogue that was moved away, and what has arrived of the one that is moved now: as that is
/// not marked, it is whole and may have changed since. Refuses another one that holds something.
fn make_way(client: &mut impl GenericClient, url: &PostgresUrl, this: &Move) -> Result<()> {
    match found(client, url) {
        Ok(None) => return Ok(()),
        Ok(Some(_)) => {
            let sql = "SELECT EXISTS (SELECT 1 FROM volume) OR EXISTS (SELECT 1 FROM file) \
                OR EXISTS (SELECT 1 FROM identity WHERE id = $1)";
            if client.query_one(sql, &[&this.catalogue])?.try_get(0)? {
                return Err(CatalogueError::Occupied { path: url.name() });
            }
            return Ok(());
        }
        Err(CatalogueError::Moved { .. }) => {}
        Err(error @ CatalogueError::Arriving { .. }) => {
            let arriving = client.query_one("SELECT catalogue FROM arriving", &[])?;
            if arriving.try_get::<_, &str>(0)? != this.catalogue {
                return Err(error);
            }
        }
        Err(error) => return Err(error),
    }
    let sql = "SELECT format('DROP TABLE %I CASCADE', relname) FROM pg_class \
        WHERE relnamespace = to_regnamespace(current_schema()) AND relkind = 'r'";
    for row in client.query(sql, &[])? {
        client.batch_execute(row.try_get(0)?)?;
    }
    Ok(())
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
    let mut transaction = client.transaction()?;
    transaction.batch_execute(ONE_AT_A_TIME)?;
    migrate_in(&mut transaction, url)?;
    Ok(transaction.commit()?)
}

fn migrate_in(transaction: &mut Transaction<'_>, url: &PostgresUrl) -> Result<()> {
    let before = found(transaction, url)?;
    if before.is_none() {
        refuse_occupied(transaction, url)?;
        transaction.batch_execute(MARK)?;
    }
    if !has_table(transaction, commit::TABLE)? {
        transaction.batch_execute(commit::CREATE)?;
    }
    for (version, migration) in MIGRATIONS {
        if before.unwrap_or(0) < version {
            transaction.batch_execute(TAKE_TURN)?;
            transaction.batch_execute(migration)?;
            let sql = "UPDATE tapewise_schema SET version = $1";
            transaction.execute(sql, &[&i64::from(version)])?;
        }
    }
    Ok(())
}
