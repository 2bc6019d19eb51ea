//! The file of a catalogue: looked at without a change, and copied whole.

use crate::catalogue::{CatalogueError, Result};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempPath;

/// How long an operation waits for another process's transaction.
pub const BUSY_LIMIT: Duration = Duration::from_secs(30);

/// Refuses a file that is missing or holds no catalogue at all.
pub(super) fn refuse_lost(path: &Path) -> Result<()> {
    let lost = |what| CatalogueError::Lost {
        path: path.to_owned(),
        what,
    };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(lost("is missing")),
        Err(source) => {
            let path = path.to_owned();
            return Err(CatalogueError::Io { path, source });
        }
        Ok(file) if file.len() == 0 => return Err(lost("is empty")),
        Ok(_) => {}
    }
    let connection = read_only(path)?;
    let tables = "SELECT count(*) FROM sqlite_schema";
    match connection.query_row(tables, [], |row| row.get::<_, i64>(0))? {
        0 => Err(lost("is empty")),
        _ => Ok(()),
    }
}

/// A connection that only reads. On a disk that is full, or that cannot be written to, SQLite cannot make the
/// files that readers and writers share; without a write-ahead log it needs none, because nobody writes there.
pub(super) fn read_only(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let plain = Connection::open_with_flags(path, flags & !OpenFlags::SQLITE_OPEN_URI)?;
    plain.busy_timeout(BUSY_LIMIT)?;
    let failed = match plain.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        Ok(()) => return Ok(plain),
        Err(error) => error,
    };
    let has_log = std::fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    let is_unwritable = matches!(
        failed.sqlite_error_code(),
        Some(
            ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::SystemIoFailure
                | ErrorCode::DiskFull
        )
    );
    if has_log || !is_unwritable {
        return Err(failed.into());
    }
    Ok(Connection::open_with_flags(immutable(path), flags)?)
}

/// The name of a file that nobody writes to, as SQLite takes it.
fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri + "?immutable=1"
}

pub(super) fn pragma(connection: &Connection, name: &str) -> Result<i64> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}

/// Writes a copy of a catalogue to a file, which appears whole and is on the disk then. `prepare` may change the copy
/// before it has its name.
pub(super) fn copy_to(
    connection: &Connection,
    path: &Path,
    prepare: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    appear(path, |partial| {
        let name = partial.to_str().ok_or_else(|| CatalogueError::Io {
            path: path.to_owned(),
            source: std::io::Error::new(
                ErrorKind::InvalidFilename,
                "SQLite takes names in UTF-8 only",
            ),
        })?;
        connection.execute("VACUUM INTO ?1", [name])?;
        prepare(partial)
    })
}

/// Makes a file that appears whole, over another one of that name, and is on the disk then: `fill` writes it, by a
/// name that nothing else has.
pub(in crate::catalogue) fn appear<T>(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let failed = failed(path);
    // Nobody else can read it, and nothing that is there has its name.
    let partial = tempfile::Builder::new()
        .prefix(".tapewise-")
        .suffix(".backup.part")
        .tempfile_in(directory_of(path))
        .map_err(failed)?
        .into_temp_path();
    appear_from(partial, path, fill)
}

/// The same for whoever is the only one to do this: what a killed program left goes first, which may be as large as the
/// file.
pub(in crate::catalogue) fn appear_alone<T>(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let failed = failed(path);
    let partial = beside(path, ".arriving");
    // A log that was left would be taken for that of the new file.
    for left in ["", "-wal", "-shm"] {
        match std::fs::remove_file(beside(&partial, left)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    let mut options = OpenOptions::new();
    let options = options.create_new(true).write(true).mode(0o600);
    options.open(&partial).map_err(failed)?;
    let partial = TempPath::try_from_path(partial).map_err(failed)?;
    appear_from(partial, path, fill)
}

/// What the disk says of a file, as an error.
fn failed(path: &Path) -> impl Fn(std::io::Error) -> CatalogueError + Copy {
    move |source| CatalogueError::Io {
        path: path.to_owned(),
        source,
    }
}

/// A file whose name goes on after that of another one.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn directory_of(path: &Path) -> &Path {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    directory.unwrap_or(Path::new("."))
}

fn appear_from<T>(
    partial: TempPath,
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let failed = failed(path);
    let filled = fill(&partial)?;
    let sync = |path: &Path| std::fs::File::open(path)?.sync_all();
    sync(&partial).map_err(failed)?;
    partial.persist(path).map_err(|error| failed(error.error))?;
    sync(directory_of(path)).map_err(failed)?;
    Ok(filled)
}

/// Puts what stands in the write-ahead log of a catalogue into its file, and removes the log: it would be taken for that
/// of a file that comes in the place of this one.
pub(in crate::catalogue) fn end_log(path: &Path) -> Result<()> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_LIMIT)?;
    // Fails while somebody else has the file open.
    connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    Ok(())
}
