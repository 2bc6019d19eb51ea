//! `tapewise store`: files into the archive, and onto tape.

pub mod copies;

use crate::archive::Archive;
use crate::buckets;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::json::Answer;
use crate::now::now_ns;
use crate::output::say;
use crate::progress::{Meter, State};
use crate::quantity;
use crate::units;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_archive::bucket::Buckets;
use tapewise_archive::cache::{Cache, CacheError};
use tapewise_archive::catalogue::{FileId, Terms};
use tapewise_archive::deliver::shown;
use tapewise_archive::mover::{Compressed, Migrated};
use tapewise_archive::placement::GroupBy;
use tapewise_archive::store::{
    Source, Sources, StoreError, StoreTerms, ToStore, find, store_others, to_store, together,
};

/// Files stored by one transaction.
const AT_ONCE: usize = 1000;

/// Put files into an archive and onto tape (experimental).
///
/// A file is acknowledged when it is in the archive's cache, on disk, with its checksum in the
/// catalogue. The cache keeps the file until it is on as many cartridges as requested. Then everything
/// that waits goes to tape, unless you give --later. If the program is killed, the same command
/// continues. Real drives have not confirmed this part yet.
#[derive(clap::Args, Debug)]
pub struct Store {
    /// The archive; `tapewise catalog init` makes one.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Files and directories to store; directories with all files below them, but without links, devices and empty
    /// directories. `s3://BUCKET/PREFIX` stores objects of a bucket, which the AWS_* variables lead to.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Store the files below this directory of the archive.
    #[arg(long, value_name = "PATH")]
    under: Option<PathBuf>,
    /// How many cartridges get a copy of each file [default: as in archive.toml].
    #[arg(long, value_name = "N", value_parser = quantity::count_in::<u32>(1..=8))]
    copies: Option<u32>,
    /// Replace files of the archive that have the same path; the old ones stay on tape until a repack.
    #[arg(long)]
    replace: bool,
    /// Stop when the files are in the cache, also beside movers and services that work: these write them to tape, or a
    /// later `store` without --later does.
    #[arg(long)]
    later: bool,
    /// Compress files with zstd before they are written, at this level if you give one [default: as in
    /// archive.toml].
    ///
    /// A file that shrinks by less than 3 % is written as it is. Without tapewise `tar` and `zstd -d`
    /// restore it.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "3",
        value_parser = quantity::count_in::<i32>(1..=19))]
    precompress: Option<i32>,
    /// Put files onto the same cartridge that belong together [default: as in archive.toml, or none].
    ///
    /// Groups are made of all files that wait for tape. A group is divided only if no cartridge has room for all of
    /// it. `directory` groups files of one directory, `dataset` those below the same first two directories, `time`
    /// those last written on the same day (UTC). `learned` takes the one of these under which the recalls so far would
    /// have needed the fewest mounts. `none` writes files as they came.
    #[arg(long, value_name = "RULE", value_parser = group_by, conflicts_with = "later")]
    group_by: Option<GroupBy>,
    /// Record the files under the name of this user or project.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    user: Option<String>,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn group_by(text: &str) -> Result<GroupBy, String> {
    let mut known = GroupBy::ALL.into_iter();
    known.find(|rule| rule.name() == text).ok_or_else(|| {
        format!(
            "expected one of {}",
            GroupBy::ALL.map(GroupBy::name).join(", ")
        )
    })
}

/// Runs the verb.
pub fn run(args: &Store) -> Result<ExitCode, CliError> {
    let mut archive = Archive::open(&args.archive)?;
    archive.settings.zstd_level = args.precompress.or(archive.settings.zstd_level);
    archive.settings.group_by = args.group_by.unwrap_or(archive.settings.group_by);
    let cache = opened(&archive, args.later)?;
    let stop = stop_on_interrupt()?;
    let buckets = buckets::of_environment();
    let (sources, odd_keys) = found(args, &archive, &buckets)?;
    let how = StoreTerms {
        terms: Terms {
            user: args.user.clone().unwrap_or_default(),
            ..Terms::default()
        },
        copies: args.copies.unwrap_or(archive.settings.copies),
        replace: args.replace,
        also: Vec::new(),
    };
    let looked_up = looked_up(&archive, &cache, &buckets, sources, &how)?;
    let (sources, to_copy) = (&looked_up.new, &looked_up.to_copy);
    if !to_copy.is_empty() {
        (archive.catalogue).want_copies(to_copy, how.copies, now_ns())?;
    }
    let refused = Cell::new(false);
    let answer = RefCell::new(Answer::new("store", args.json));
    let on_tape = |all| -> Result<(), CliError> {
        let (migrated, unwritten) = to_tape(&archive, &cache, &stop, args, all)?;
        told(&archive, &migrated, &mut answer.borrow_mut())?;
        refused.set(refused.get() || !migrated.refused.is_empty());
        unwritten.map_or(Ok(()), Err)
    };
    let make_room = || {
        if args.later {
            Ok(false)
        } else {
            on_tape(true).map(|()| true)
        }
    };
    let portion = archive.settings.cache_high_bytes / 4;
    let from = (&buckets as &dyn Sources, sources.as_slice());
    let (stored, mut left_out, ended) =
        in_portions(&cache, from, &how, portion, &stop, args.quiet, &make_room);
    let is_interrupted = stored + left_out.len() < sources.len();
    left_out.extend(odd_keys);
    // Nothing was written, so that the error says all.
    let is_nothing = stored == 0 && to_copy.is_empty();
    let ended = match ended {
        Err(error) if is_nothing => return Err(error),
        ended => ended,
    };
    let is_input = |error: &StoreError| {
        matches!(
            error,
            StoreError::Unreadable { .. } | StoreError::TooLarge { .. }
        )
    };
    let is_new = is_nothing && !is_interrupted && looked_up.known == 0;
    if is_new && !left_out.is_empty() && left_out.iter().all(is_input) {
        let first = left_out.swap_remove(0);
        let said = format!("nothing was stored: {first}");
        return Err(CliError::from(first).saying(said));
    }
    say_stored(stored, &looked_up, &left_out, &mut answer.borrow_mut())?;
    if let Err(error) = ended {
        answer.borrow().end()?;
        return Err(after_storing(error, stored));
    }
    if is_interrupted {
        answer.borrow().end()?;
        let said = format!(
            "interrupted: {} of {} stored and acknowledged",
            stored,
            units::count(sources.len(), "file")
        );
        return Err(CliError::with(Exit::Interrupted, said)
            .hint("these are safe in the archive; the same command stores the rest"));
    }
    let written = if args.later { Ok(()) } else { on_tape(false) };
    let lacks = written.and_then(|()| {
        copies::make(
            &archive,
            &cache,
            &stop,
            args,
            to_copy,
            &mut answer.borrow_mut(),
        )
    });
    answer.borrow().end()?;
    let lacks = lacks.map_err(|error| after_storing(error, stored))?;
    Ok(if refused.get() || lacks || !left_out.is_empty() {
        ExitCode::from(Exit::Partial as u8)
    } else {
        ExitCode::SUCCESS
    })
}

/// Says what was stored, what was known before, and why files were left out.
fn say_stored(
    stored: usize,
    looked_up: &ToStore,
    left_out: &[StoreError],
    answer: &mut Answer,
) -> Result<(), CliError> {
    answer.set("stored", stored);
    answer.set("known", looked_up.known);
    answer.line(&format!(
        "stored     {} in the cache, acknowledged",
        units::count(stored, "file")
    ))?;
    if looked_up.known > 0 {
        answer.line(&format!(
            "known      {} of the same length and time, stored before",
            units::count(looked_up.known, "file")
        ))?;
    }
    copies::say_wanted(looked_up.to_copy.len(), answer)?;
    for error in left_out {
        let key = match error {
            StoreError::Changed { .. } => "changed",
            StoreError::Unreadable { .. } => "unreadable",
            StoreError::TooLarge { .. } => "too_large",
            _ => "too_long",
        };
        answer.push(key, error.to_string());
    }
    Ok(())
}

/// Why files that were stored are not on tape. Input is at fault only if nothing came of it.
fn after_storing(error: CliError, stored: usize) -> CliError {
    match error.exit() {
        Exit::Input if stored > 0 => error.with_exit(Exit::Partial),
        _ => error,
    }
}

/// The cache; beside others who work with it where files only come in.
fn opened(archive: &Archive, later: bool) -> Result<Cache, CliError> {
    if later {
        return archive.shared_cache(archive.catalogue.new_epoch()?);
    }
    archive.cache_if_free()?.map_err(|busy| {
        let hint = "wait for it, or give --later: then movers and services that work write the files to tape";
        CliError::with(Exit::Busy, busy).hint(hint)
    })
}

/// The files at the paths that were given, and keys of objects that can be the path of none.
fn found(
    args: &Store,
    archive: &Archive,
    buckets: &Buckets,
) -> Result<(Vec<Source>, Vec<StoreError>), CliError> {
    let under = args.under.clone().unwrap_or_default();
    // The cache may be a link to another disk.
    let cache = archive.cache_directory();
    let own = [real(archive.directory())?, real(&cache)?];
    // What was set aside in the cache may be stored again.
    let aside = archive.quarantine_directory().canonicalize().ok();
    let is_aside = |path: &Path| aside.as_ref().is_some_and(|aside| path.starts_with(aside));
    let is_own = |path: &Path| !is_aside(path) && own.iter().any(|(own, _)| path.starts_with(own));
    let is_archive = |found: &Metadata| {
        let mut own = own.iter().map(|(_, own)| (own.dev(), own.ino()));
        own.any(|own| own == (found.dev(), found.ino()))
    };
    let (mut sources, mut odd_keys) = (Vec::new(), Vec::new());
    for path in &args.paths {
        if let Some(bucket) = buckets::named(buckets, path)? {
            let odd = bucket.find(&under, &mut sources, &mut |other| {
                say(format_args!(
                    "tapewise: {other}/: stands for a directory: not stored\n"
                ));
            })?;
            odd.iter()
                .for_each(|odd| say(format_args!("tapewise: {odd}\n")));
            odd_keys.extend(odd);
            continue;
        }
        let named = path.symlink_metadata();
        if named.is_ok_and(|named| !named.is_dir() && !named.is_file()) {
            let said = format!(
                "{}: a link or a device, which is not stored",
                path.display()
            );
            return Err(CliError::input(said).hint("name what it leads to"));
        }
        if let Ok(path) = path.canonicalize()
            && is_own(&path)
        {
            let said = format_args!("{}: belongs to the archive itself", path.display());
            return Err(CliError::input(said));
        }
        let inner = under.join(last_part(path).unwrap_or_default());
        find(path, &inner, &mut sources, &is_archive, &mut |other| {
            let what = if other.is_dir() && !other.is_symlink() {
                "the archive itself"
            } else {
                "a link or a device"
            };
            say(format_args!(
                "tapewise: {}: {what}: not stored\n",
                other.display()
            ));
        })?;
    }
    Ok((sources, odd_keys))
}

/// The name under which a path is stored: that of the directory to which `..` leads.
fn last_part(path: &Path) -> Option<OsString> {
    if path.ends_with("..") {
        return path.canonicalize().ok()?.file_name().map(OsStr::to_owned);
    }
    path.file_name().map(OsStr::to_owned)
}

/// A directory by its real path, and what tells it from others.
fn real(directory: &Path) -> Result<(PathBuf, Metadata), CliError> {
    let found = directory.canonicalize();
    let found = found.and_then(|path| Ok((path.clone(), path.metadata()?)));
    found.map_err(|error| CliError::failed(error).of(directory.display()))
}

/// What is to be done of files: those that the archive does not have, or no longer has, and those that want copies.
fn looked_up(
    archive: &Archive,
    cache: &Cache,
    from: &dyn Sources,
    sources: Vec<Source>,
    how: &StoreTerms,
) -> Result<ToStore, CliError> {
    let mut given_up = |source: &Source, aside: Option<PathBuf>| {
        let left = aside.map_or_else(String::new, |aside| {
            let directory = archive.cache_directory().join(aside);
            format!(", and what was left of it is in {}", directory.display())
        });
        say(format_args!(
            "tapewise: {} was damaged in the cache and on no tape: it is stored again{left}\n",
            source.path
        ));
    };
    let catalogue = archive.catalogue.as_ref();
    Ok(to_store(
        from,
        catalogue,
        cache,
        sources,
        how,
        &mut given_up,
    )?)
}

/// Brings to tape what is due; or all, where the cache has no room for it to wait. What no volume takes is an error
/// beside what was written.
fn to_tape(
    archive: &Archive,
    cache: &Cache,
    stop: &Arc<AtomicBool>,
    args: &Store,
    all: bool,
) -> Result<(Migrated, Option<CliError>), CliError> {
    let migrated = archive.with_mover(cache, stop, args.quiet, |mover| {
        let until_ns = if all {
            now_ns()
        } else {
            mover.settings.due_until_ns(now_ns())
        };
        match mover.migrate(until_ns) {
            Ok(migrated) => Ok((migrated, None)),
            Err(mut error) => match error.take_done() {
                Some(done) => Ok((done, Some(error))),
                None => Err(error),
            },
        }
    });
    let hinted = |error: CliError| {
        if all {
            return error
                .or_hint("what was acknowledged is safe; the same command stores the rest");
        }
        let again = args.archive.display();
        let mut hint = format!(
            "what was acknowledged is safe: `tapewise store --archive {again}` brings it to tape"
        );
        if archive.is_loaded_by_hand() {
            hint += ", where `changers` in archive.toml names a robot: by hand tapes are read, not written";
        }
        error.or_hint(&hint)
    };
    match migrated {
        Ok((migrated, unwritten)) => Ok((
            migrated,
            unwritten.map(|error| hinted(CliError::from(error))),
        )),
        Err(error) => Err(hinted(error)),
    }
}

/// Stores files in portions until it is asked to stop; how many were, why others were left out, and what ended it. Files
/// are left out that have gone, cannot be read, were written to meanwhile, or never fit the cache or the catalogue. A
/// portion is a thousand files, or as many as have `portion_bytes`, or as the cache has room for. If what is not on tape
/// yet fills the cache, `make_room` brings it there, or says that it may not.
fn in_portions(
    cache: &Cache,
    (from, sources): (&dyn Sources, &[Source]),
    how: &StoreTerms,
    portion_bytes: u64,
    stop: &AtomicBool,
    quiet: bool,
    make_room: &dyn Fn() -> Result<bool, CliError>,
) -> (usize, Vec<StoreError>, Result<(), CliError>) {
    let (mut done, mut left_out) = (0, Vec::new());
    // If even a cache of which all is on tape has no room for a portion, the next one is half as long.
    let (mut most, mut has_made_room) = (AT_ONCE, false);
    let meter = Meter::unless(quiet);
    let mut go_through = || {
        while done < sources.len() && !stop.load(Ordering::Relaxed) {
            let count = together(&sources[done..], most, portion_bytes);
            let some = &sources[done..done + count];
            let mut of_portion = Vec::new();
            let mut leave_out = |error| {
                of_portion.push(error);
                Ok(())
            };
            match store_others(from, cache, some, how, now_ns(), &mut leave_out) {
                Ok(_) => {
                    done += count;
                    for error in &of_portion {
                        say(format_args!("tapewise: {error}\n"));
                    }
                    left_out.append(&mut of_portion);
                    (most, has_made_room) = (AT_ONCE.min(2 * count), false);
                    let of = Some(sources.len() as u64);
                    meter.show(State::counted("file", done as u64, of).doing("cache"));
                }
                Err(StoreError::Cache(CacheError::Full { .. }))
                    if !has_made_room && make_room()? =>
                {
                    has_made_room = true;
                }
                Err(StoreError::Cache(CacheError::Full { .. })) if count > 1 => most = count / 2,
                Err(error) => return Err(unstored(error, done - left_out.len())),
            }
        }
        Ok(())
    };
    let ended = go_through();
    (done - left_out.len(), left_out, ended)
}

/// What a person is told who wanted to store more than could be.
fn unstored(error: StoreError, stored: usize) -> CliError {
    let what_to_do = match &error {
        StoreError::Cache(CacheError::Catalogue(_)) => "put this right",
        StoreError::Cache(_) => "make room",
        _ => return error.into(),
    };
    CliError::from(error).or_hint(&format!(
        "{} before it were acknowledged and are safe, nothing else was: {what_to_do}, then the same command goes on",
        units::count(stored, "file")
    ))
}

/// Files, each with why it stays where it is, for a document.
pub fn files_and_why(
    archive: &Archive,
    files: &[(FileId, String)],
) -> Result<Vec<Value>, CliError> {
    let row = |(file, why): &(FileId, String)| {
        let path = shown(&archive.catalogue.file(*file)?.file.path);
        Ok(json!({ "file": file.0, "path": path, "why": why }))
    };
    files.iter().map(row).collect()
}

/// Says what became of files, and why.
pub fn say_files(
    archive: &Archive,
    files: &[(FileId, String)],
    what: &str,
) -> Result<(), CliError> {
    for (file, why) in files {
        let path = shown(&archive.catalogue.file(*file)?.file.path);
        say(format_args!("tapewise: {path}: {what}: {why}\n"));
    }
    Ok(())
}

/// Volumes by their labels, each with why, for a document.
pub fn volumes_and_why(volumes: &[(String, String)]) -> Vec<Value> {
    let volumes = volumes.iter();
    volumes
        .map(|(label, why)| json!({ "volume": label, "why": why }))
        .collect()
}

/// Says what went to tape.
pub fn told(
    archive: &Archive,
    migrated: &Migrated,
    answer: &mut Answer,
) -> Result<ExitCode, CliError> {
    answer.push(
        "written",
        json!({
            "files_complete": migrated.files,
            "bytes": migrated.bytes,
            "segments": migrated.segments,
            "mounts": migrated.mounts,
            "compressed_copies": migrated.compressed.copies,
            "compressed_from_bytes": migrated.compressed.file_bytes,
            "compressed_to_bytes": migrated.compressed.frame_bytes,
            "learned": migrated.learned.map(|learned| json!({
                "group_by": learned.by.name(),
                "mounts": learned.mounts,
                "mounts_as_they_came": learned.as_they_came,
                "askings": learned.askings,
            })),
            "refused": files_and_why(archive, &migrated.refused)?,
            "volumes_lost": volumes_and_why(&migrated.volumes_lost),
        }),
    );
    answer.line(&format!(
        "on tape    {} complete, {} in {} on {}",
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
        answer.line(&format!(
            "compressed {copies} {} from {} to {}, {:.2} to 1",
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
    match migrated.learned {
        Some(learned) if learned.askings == 0 => {
            say("tapewise: no recall to learn from yet: files are written as they came\n");
        }
        Some(learned) => say(format_args!(
            "tapewise: grouped by {}: {} so far would have needed {}, instead of {} with files as they came\n",
            learned.by.name(),
            units::count(learned.askings, "asking"),
            units::count(learned.mounts, "mount"),
            learned.as_they_came,
        )),
        None => {}
    }
    for (label, why) in &migrated.volumes_lost {
        say(format_args!(
            "tapewise: volume {label} takes no more: {why}\n"
        ));
    }
    say_files(archive, &migrated.refused, "stays in the cache")?;
    Ok(if migrated.refused.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Exit::Partial as u8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_name_however_it_is_given() {
        let directory = tempfile::tempdir().expect("a directory");
        let sub = directory.path().join("d/sub");
        std::fs::create_dir_all(&sub).expect("directories");
        for end in ["", ".", "sub/.."] {
            let given = directory.path().join("d").join(end);
            assert_eq!(last_part(&given), Some("d".into()), "{end}");
        }
        assert_eq!(last_part(Path::new(".")), None);
    }
}
