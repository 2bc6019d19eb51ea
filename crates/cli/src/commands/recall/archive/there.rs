//! What is at the destination already: it is compared and not asked for, so that no tape moves for it.

use crate::archive::Archive;
use crate::commands::recall::common::GO_ON;
use crate::error::{CliError, Exit};
use crate::progress::{Meter, State};
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_archive::catalogue::FileId;
use tapewise_archive::deliver::{DeliverError, Expected, InnerPath, Presence};
use tapewise_archive::mover::Place;

/// Files that are asked for.
#[derive(Default)]
pub struct Looked {
    /// Those that are where they are to be, with the contents that the catalogue knows.
    pub there: Vec<FileId>,
    /// Those in whose place, or in that of a directory of theirs, something else is: what, and in what it differs.
    pub taken: Vec<(FileId, String)>,
    /// All others.
    pub missing: Vec<FileId>,
}

impl Looked {
    /// None of these files is there.
    pub fn missing(files: Vec<FileId>) -> Looked {
        Looked {
            missing: files,
            ..Looked::default()
        }
    }
}

/// Looks for files where they are to be, until it is interrupted.
pub fn look(
    archive: &Archive,
    files: Vec<FileId>,
    place: &Place,
    stop: &AtomicBool,
    quiet: bool,
) -> Result<Looked, CliError> {
    if place.is_empty().map_err(CliError::failed)? {
        return Ok(Looked::missing(files));
    }
    let mut looked = Looked::default();
    let meter = Meter::unless(quiet);
    let all = files.len() as u64;
    for (at, file) in files.into_iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            let said =
                "interrupted while files at the destination were compared; nothing was asked for";
            return Err(CliError::with(Exit::Interrupted, said).hint(GO_ON));
        }
        if meter.is_due() {
            let compared = State::counted("file", at as u64, Some(all));
            meter.show(compared.doing("comparing what is at the destination"));
        }
        match presence(archive, file, place)? {
            Ok(Presence::Delivered(..)) => looked.there.push(file),
            Ok(Presence::Other(why)) => {
                let why = format!("another file of this name is there already: {why}");
                looked.taken.push((file, why));
            }
            Err(DeliverError::InTheWay { part, what, .. }) => {
                let why = format!("{part} is there and is {what}, not a directory");
                looked.taken.push((file, why));
            }
            // What else is wrong with a path or a place is told when the file is delivered.
            Ok(Presence::Absent) | Err(_) => looked.missing.push(file),
        }
    }
    Ok(looked)
}

fn presence(
    archive: &Archive,
    file: FileId,
    place: &Place,
) -> Result<Result<Presence, DeliverError>, CliError> {
    let file = archive.catalogue.file(file)?.file;
    let path = InnerPath::new(&file.path).map_err(DeliverError::from);
    Ok(path.and_then(|path| place.presence(&path, &Expected::of_file(&file))))
}
