//! What ties a cache to its catalogue: both hold the catalogue's id, a generation that only grows, and a line.
//!
//! The generation moves on in the catalogue by the transaction that acknowledges files, and here before they are
//! said to be acknowledged. So a catalogue whose generation is not below the cache's knows every file that was
//! acknowledged, and what stands in the cache without a record was not. A catalogue below it is a copy from before.
//!
//! That holds for catalogues of one line. Copies that went on apart, of which one was restored with its cache and the
//! other by itself, come to the same generations; so each opening of the cache names a new line in both. The cache
//! writes down the coming name beside the present one before the catalogue has it: whenever the power fails, the
//! catalogue has one of the two.

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

/// What a cache was tied to last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tied {
    pub tie: Tie,
    /// The line that was about to begin.
    pub coming: Option<String>,
}

impl Tied {
    /// Whether a catalogue is this one, as it was then or later: it knows every file that was acknowledged.
    pub fn has_led_to(&self, catalogue: &Tie) -> bool {
        self.tie.id == catalogue.id
            && self.tie.generation <= catalogue.generation
            && self.is_of_line(&catalogue.line)
    }

    /// Whether a catalogue with the same id has this line, and did not go on apart.
    pub fn is_of_line(&self, line: &str) -> bool {
        self.tie.line == line || self.coming.as_deref() == Some(line)
    }
}

/// What the cache was tied to last; none where that is missing or no tie.
pub(super) fn read(disk: &dyn Disk) -> Result<Option<Tied>, CacheError> {
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

/// `ID GENERATION [LINE [COMING]]` and a newline; caches of before lines have two words.
fn parse(text: &str) -> Option<Tied> {
    let mut words = text.strip_suffix('\n')?.split(' ');
    let tie = Tie {
        id: words.next()?.to_owned(),
        generation: words.next()?.parse().ok()?,
        line: words.next().unwrap_or_default().to_owned(),
    };
    let coming = words.next().map(str::to_owned);
    words.next().is_none().then_some(Tied { tie, coming })
}

/// Ties the cache to a catalogue, on the medium when this returns; `coming` is the line that is about to begin.
pub(super) fn write(disk: &dyn Disk, tie: &Tie, coming: Option<&str>) -> Result<(), CacheError> {
    let (new, name) = (Path::new(NEW_TIE), Path::new(TIE));
    let mut file = disk.create(new).map_err(io_error("making", new))?;
    let Tie {
        id,
        generation,
        line,
    } = tie;
    let text = match coming {
        Some(coming) => format!("{id} {generation} {line} {coming}\n"),
        None => format!("{id} {generation} {line}\n"),
    };
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
        let tied = |line: &str, coming: Option<&str>| {
            let tie = Tie {
                id: "c0ffee".to_owned(),
                generation: 12,
                line: line.to_owned(),
            };
            let coming = coming.map(str::to_owned);
            Some(Tied { tie, coming })
        };
        assert_eq!(parse("c0ffee 12\n"), tied("", None));
        assert_eq!(parse("c0ffee 12 a1\n"), tied("a1", None));
        assert_eq!(parse("c0ffee 12 a1 b2\n"), tied("a1", Some("b2")));
        assert_eq!(parse("c0ffee 12  b2\n"), tied("", Some("b2")));
        for half in [
            "",
            "c0ffee",
            "c0ffee ",
            "c0ffee 1",
            "c0ffee x\n",
            "c0ffee -1\n",
            "c0ffee 12 a1",
            "c0ffee 12 a1 b2 c3\n",
        ] {
            assert_eq!(parse(half), None, "{half:?}");
        }
    }
}
