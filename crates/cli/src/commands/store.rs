//! `tapewise store`: files into the archive, and onto tape.

use crate::archive::Archive;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::now::now_ns;
use crate::output::{print, say};
use crate::units;
use std::cell::Cell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_archive::cache::{Cache, CacheError};
use tapewise_archive::catalogue::{Copy, CopyState, Files, Terms};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::{Compressed, Migrated};
use tapewise_archive::store::{Source, StoreError, StoreTerms, modified_ns, store};

/// Files stored by one transaction.
const AT_ONCE: usize = 1000;

/// Put files into an archive and onto tape. Experimental until real drives have proven it.
///
/// A file is acknowledged when it is in the archive's cache, on disk with its checksum in the
/// catalogue; the cache keeps it until it is on as many cartridges as it should be. Then all that
/// waits goes to tape, unless --later. Killed at any moment, the same command goes on.
#[derive(clap::Args, Debug)]
pub struct Store {
    /// The archive; `tapewise catalog init` makes one.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Files and directories to store; directories with everything below them.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Directory in the archive below which they appear.
    #[arg(long, value_name = "PATH")]
    under: Option<PathBuf>,
    /// Cartridges that each file is to lie on [default: as the archive has it].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    copies: Option<u32>,
    /// Replace files of the archive that have the same path; the old ones stay on tape until a repack.
    #[arg(long)]
    replace: bool,
    /// Only into the cache; tape is for a later `store` without it.
    #[arg(long)]
    later: bool,
    /// Compress files with zstd before they are written, at this level where one is given [default: as the
    /// archive has it].
    ///
    /// A file that shrinks by less than 3 % is written as it is. Without tapewise `tar` and `zstd -d`
    /// restore it.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "3",
        value_parser = clap::value_parser!(i32).range(1..=19))]
    precompress: Option<i32>,
    /// On whose account it is.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Say nothing on standard error but errors.
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the verb.
pub fn run(args: &Store) -> Result<ExitCode, CliError> {
    let mut archive = Archive::open(&args.archive)?;
    archive.settings.zstd_level = args.precompress.or(archive.settings.zstd_level);
    let cache = archive.cache()?;
    let stop = stop_on_interrupt()?;
    let under = args.under.clone().unwrap_or_default();
    let mut sources = Vec::new();
    for path in &args.paths {
        let inner = under.join(path.file_name().unwrap_or_default());
        find(path, &inner, &mut sources)?;
    }
    let found = sources.len();
    let sources = new_ones(&archive, sources, args.replace)?;
    let how = StoreTerms {
        terms: Terms {
            user: args.user.clone().unwrap_or_default(),
            ..Terms::default()
        },
        copies: args.copies.unwrap_or(archive.settings.copies),
        replace: args.replace,
        also: Vec::new(),
    };
    let refused = Cell::new(false);
    let on_tape = |all| -> Result<(), CliError> {
        let migrated = to_tape(&archive, &cache, &stop, args, all)?;
        told(&migrated)?;
        refused.set(refused.get() || !migrated.refused.is_empty());
        Ok(())
    };
    let make_room = || {
        if args.later {
            Ok(false)
        } else {
            on_tape(true).map(|()| true)
        }
    };
    let portion = archive.settings.cache_high_bytes / 4;
    let stored = in_portions(&cache, &sources, &how, portion, &stop, &make_room)?;
    print(&format!(
        "stored     {} in the cache, acknowledged\n",
        units::count(stored, "file")
    ))?;
    if sources.len() < found {
        print(&format!(
            "known      {} of the same length and time, stored before\n",
            units::count(found - sources.len(), "file")
        ))?;
    }
    if stored < sources.len() {
        let said = format!(
            "interrupted: {} of {} stored and acknowledged",
            stored,
            units::count(sources.len(), "file")
        );
        return Err(CliError::with(Exit::Interrupted, said).hint("the same command goes on"));
    }
    if args.later {
        return Ok(ExitCode::SUCCESS);
    }
    on_tape(false)?;
    Ok(if refused.get() {
        ExitCode::from(Exit::Partial as u8)
    } else {
        ExitCode::SUCCESS
    })
}

/// Brings to tape what is due; or all, where the cache has no room for it to wait.
fn to_tape(
    archive: &Archive,
    cache: &Cache,
    stop: &Arc<AtomicBool>,
    args: &Store,
    all: bool,
) -> Result<Migrated, CliError> {
    let migrated = archive.with_mover(cache, stop, args.quiet, |mover| {
        mover.migrate(if all {
            now_ns()
        } else {
            mover.settings.due_until_ns(now_ns())
        })
    });
    migrated.map_err(|error| {
        let again = args.archive.display();
        let safe = format!(
            "what was acknowledged is safe: `tapewise store --archive {again}` brings it to tape"
        );
        error.or_hint(&if archive.is_loaded_by_hand() { format!(
                "{safe}, where `changers` in archive.toml names a robot: by hand tapes are read, not written"
            ) } else { safe })
    })
}

/// Stores files, a thousand or so many bytes at a time, until it is asked to stop; how many were. Where what
/// is not on tape yet fills the cache, `make_room` brings it there, or says that it may not.
fn in_portions(
    cache: &Cache,
    sources: &[Source],
    how: &StoreTerms,
    portion_bytes: u64,
    stop: &AtomicBool,
    make_room: &dyn Fn() -> Result<bool, CliError>,
) -> Result<usize, CliError> {
    let mut stored = 0;
    while stored < sources.len() && !stop.load(Ordering::Relaxed) {
        let count = together(&sources[stored..], portion_bytes)?;
        let some = &sources[stored..stored + count];
        let result = match store(cache, some, how, now_ns()) {
            Err(StoreError::Cache(CacheError::Full { .. })) if make_room()? => {
                store(cache, some, how, now_ns())
            }
            result => result,
        };
        result.map_err(|error| unstored(error, stored))?;
        stored += count;
    }
    Ok(stored)
}

/// How many of the first files one transaction stores.
fn together(sources: &[Source], portion_bytes: u64) -> Result<usize, CliError> {
    let mut bytes = 0u64;
    for (number, source) in sources.iter().take(AT_ONCE).enumerate() {
        let failed = |error: std::io::Error| CliError::input(error).of(source.from.display());
        let file = std::fs::metadata(&source.from).map_err(failed)?;
        bytes = bytes.saturating_add(file.len());
        if number > 0 && bytes > portion_bytes {
            return Ok(number);
        }
    }
    Ok(sources.len().min(AT_ONCE))
}

/// What a person is told who wanted to store more than could be.
fn unstored(error: StoreError, stored: usize) -> CliError {
    let is_of_the_cache = matches!(error, StoreError::Cache(_));
    let error = CliError::from(error);
    if is_of_the_cache {
        error.or_hint(&format!(
            "{} before it were acknowledged and are safe, nothing else was: make room, then the same command goes on",
            units::count(stored, "file")
        ))
    } else {
        error
    }
}

/// Those that are not in the archive: so the same command goes on after it was killed. Another file
/// of the same path is an error before anything is stored.
fn new_ones(
    archive: &Archive,
    sources: Vec<Source>,
    replace: bool,
) -> Result<Vec<Source>, CliError> {
    let mut new = Vec::with_capacity(sources.len());
    for source in sources {
        let Some(known) = archive.catalogue.live_file(source.path.as_bytes())? else {
            new.push(source);
            continue;
        };
        let entry = archive.catalogue.file(known)?;
        let is_whole = |copy: &Copy| copy.state == CopyState::Whole;
        if entry.cached.is_none() && !entry.copies.iter().any(is_whole) {
            // Nothing is left of it.
            new.push(source);
            continue;
        }
        let known = entry.file;
        let failed = |error: std::io::Error| CliError::input(error).of(source.from.display());
        let now = std::fs::metadata(&source.from).map_err(failed)?;
        match known.bytes == now.len() && known.modified_ns == modified_ns(&now) {
            true => {}
            false if replace => new.push(source),
            false => {
                return Err(CliError::input(format!(
                    "{}: another file of this path is in the archive; nothing was stored",
                    source.path
                ))
                .hint("--replace stores the new one, or --under puts it elsewhere"));
            }
        }
    }
    Ok(new)
}

/// Says what went to tape.
pub fn told(migrated: &Migrated) -> Result<ExitCode, CliError> {
    print(&format!(
        "on tape    {} complete, {} in {} on {}\n",
        units::count(migrated.files as usize, "file"),
        units::bytes(migrated.bytes),
        units::count(migrated.segments as usize, "segment"),
        units::count(migrated.mounts as usize, "mount"),
    ))?;
    let Compressed {
        copies,
        file_bytes,
        frame_bytes,
        no_room,
    } = migrated.compressed;
    if copies > 0 {
        print(&format!(
            "compressed {copies} {} from {} to {}, {:.2} to 1\n",
            if copies == 1 { "copy" } else { "copies" },
            units::bytes(file_bytes),
            units::bytes(frame_bytes),
            file_bytes as f64 / frame_bytes as f64
        ))?;
    }
    if no_room > 0 {
        say(format_args!(
            "tapewise: {} written as they are: the cache had no room to compress them\n",
            units::count(no_room as usize, "file")
        ));
    }
    for (label, why) in &migrated.volumes_lost {
        say(format_args!(
            "tapewise: volume {label} takes no more: {why}\n"
        ));
    }
    for (file, why) in &migrated.refused {
        say(format_args!(
            "tapewise: file {} stays in the cache: {why}\n",
            file.0
        ));
    }
    Ok(if migrated.refused.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Exit::Partial as u8)
    })
}

/// Regular files below a path, and what else is there said.
fn find(path: &Path, inner: &Path, sources: &mut Vec<Source>) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::input(error).of(path.display());
    let kind = std::fs::symlink_metadata(path).map_err(failed)?.file_type();
    if kind.is_dir() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
            .map_err(failed)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        entries.sort();
        for entry in entries {
            let name: &OsStr = entry.file_name().unwrap_or_default();
            find(&entry, &inner.join(name), sources)?;
        }
        return Ok(());
    }
    if !kind.is_file() {
        say(format_args!(
            "tapewise: {}: a link or a device: not stored\n",
            path.display()
        ));
        return Ok(());
    }
    sources.push(Source {
        from: path.to_owned(),
        path: InnerPath::new(inner.as_os_str().as_bytes()).map_err(CliError::input)?,
    });
    Ok(())
}
