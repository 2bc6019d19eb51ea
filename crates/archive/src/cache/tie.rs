//! What ties a cache to its catalogue: both hold the catalogue's id and a generation that only grows.
//!
//! The generation moves on in the catalogue by the transaction that acknowledges files, and here before they are
//! said to be acknowledged. So a catalogue whose generation is not below the cache's knows every file that was
//! acknowledged, and what stands in the cache without a record was not. A catalogue below it is a copy from before.

use super::disk::Disk;
use super::error::{CacheError, io_error};
use crate::catalogue::Tie;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// Where the cache keeps it.
pub(super) const TIE: &str = "catalogue-id";

/// Where it is written before it has its name.
pub(super) const NEW_TIE: &str = "catalogue-id.new";

/// No tie is as long.
const MOST_BYTES: u64 = 256;

/// What the cache was tied to last; none where that is missing or no tie.
pub(super) fn read(disk: &dyn Disk) -> Result<Option<Tie>, CacheError> {
    let name = Path::new(TIE);
    let mut text = String::new();
    let read = disk
        .open(name)
        .and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(parse(&text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {
            Ok(None)
        }
        Err(error) => Err(io_error("reading", name)(error)),
    }
}

fn parse(text: &str) -> Option<Tie> {
    let (id, generation) = text.strip_suffix('\n')?.split_once(' ')?;
    Some(Tie {
        id: id.to_owned(),
        generation: generation.parse().ok()?,
    })
}

/// Ties the cache to a catalogue, on the medium when this returns.
pub(super) fn write(disk: &dyn Disk, tie: &Tie) -> Result<(), CacheError> {
    let (new, name) = (Path::new(NEW_TIE), Path::new(TIE));
    let mut file = disk.create(new).map_err(io_error("making", new))?;
    let text = format!("{} {}\n", tie.id, tie.generation);
    file.write_all(text.as_bytes())
        .map_err(io_error("writing", new))?;
    disk.sync(new, file.as_mut())
        .map_err(io_error("syncing", new))?;
    disk.rename(new, name).map_err(io_error("renaming", new))?;
    let root = Path::new("");
    disk.sync_directory(root).map_err(io_error("syncing", root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_line_is_a_tie() {
        let tie = |generation| {
            let id = "c0ffee".to_owned();
            Some(Tie { id, generation })
        };
        assert_eq!(parse("c0ffee 12\n"), tie(12));
        for half in [
            "",
            "c0ffee",
            "c0ffee ",
            "c0ffee 1",
            "c0ffee x\n",
            "c0ffee -1\n",
        ] {
            assert_eq!(parse(half), None, "{half:?}");
        }
    }
}
