//! Databases of SQLite whose power is cut.

use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tapewise_torn::{Plug, Step, Verdict, watch};

/// Lets so many steps be done, and no more.
struct Steps(AtomicU64);

impl Plug for Steps {
    fn step(&self, _step: Step) -> Verdict {
        let left = self.0.load(Ordering::SeqCst);
        self.0.store(left.saturating_sub(1), Ordering::SeqCst);
        if left == 0 {
            Verdict::Fail
        } else {
            Verdict::Go
        }
    }
}

/// Numbers of no pattern.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % most
    }
}

fn open(path: &Path, synchronous: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    assert_eq!(mode, "wal", "the real layer's shared memory is there");
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS number (value INTEGER PRIMARY KEY, text TEXT)",
    )?;
    Ok(connection)
}

/// How many numbers were committed before the steps ran out, and how many are there after the power was cut.
fn cut(synchronous: &str, steps: u64) -> rusqlite::Result<(i64, i64)> {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().canonicalize().expect("a path");
    let path = root.join("numbers.db");
    let plug = Arc::new(Steps(AtomicU64::new(u64::MAX)));
    let watched = watch(&root, Arc::clone(&plug) as _);
    let connection = open(&path, synchronous)?;
    watched.settle();
    plug.0.store(steps, Ordering::SeqCst);
    let mut committed = 0;
    for value in 1..100i64 {
        let text = "x".repeat(value as usize * 50);
        match connection.execute("INSERT INTO number VALUES (?1, ?2)", (value, text)) {
            Ok(_) => committed = value,
            Err(_) => break,
        }
    }
    // Killed: nothing is done any more.
    plug.0.store(0, Ordering::SeqCst);
    drop(connection);
    let mut chance = Chance(steps);
    watched
        .cut_power(&mut |most| chance.below(most))
        .expect("cut");
    let _ = std::fs::remove_file(root.join("numbers.db-shm"));
    plug.0.store(u64::MAX, Ordering::SeqCst);
    let connection = open(&path, synchronous)?;
    let whole: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    assert_eq!(whole, "ok");
    let there = connection.query_row("SELECT count(*) FROM number", [], |row| row.get(0))?;
    Ok((committed, there))
}

#[test]
fn what_was_committed_synchronously_survives_a_power_cut_at_any_step() {
    for steps in (1..700).step_by(7) {
        let (committed, there) = cut("FULL", steps).expect("a database");
        assert!(
            there >= committed,
            "{there} of {committed} after {steps} steps"
        );
        assert!(
            there <= committed + 1,
            "{there} of {committed} after {steps} steps"
        );
    }
}

#[test]
fn what_was_not_synced_is_lost_often_enough_to_be_noticed() {
    let lost = (1..700).step_by(7).filter(|&steps| {
        // Without syncs the database may well be damaged.
        !matches!(std::panic::catch_unwind(|| cut("OFF", steps)), Ok(Ok((committed, there))) if there >= committed)
    });
    assert!(lost.count() > 20);
}
