//! Event logs on disk, appended to, and what stands at their top.

use crate::error::CliError;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Error, Read, Result};
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tapewise_formats::event::Event;
use tapewise_formats::event_log::{Device, EventWriter, Header, whole_lines_bytes};
use tapewise_run::{Log, NoLog};
use tapewise_scsi::Identity;

/// How every header begins.
const MARK: &str = "{\"tapewise_events\"";

/// More than any header has, in bytes.
const LONGEST_HEADER: u64 = 1 << 16;

/// A header that says that this program writes. On emulated devices, `scale` is what a byte of the host stands for.
pub fn header(scale: Option<u64>) -> Header {
    Header {
        emulated: scale.is_some(),
        byte_scale: scale.filter(|&scale| scale > 1),
        ..Header::new(concat!("tapewise ", env!("CARGO_PKG_VERSION")))
    }
}

/// The same, of what this drive or robot does.
pub fn header_of(identity: &Identity, scale: Option<u64>) -> Header {
    Header {
        device: Some(Device {
            vendor: identity.vendor.clone(),
            product: identity.product.clone(),
            revision: identity.revision.clone(),
            serial: identity.serial.clone(),
        }),
        ..header(scale)
    }
}

/// A log, and somebody who sees what goes into it.
pub struct Watched<'a, L: ?Sized> {
    pub log: &'a mut L,
    pub watch: &'a (dyn Fn(&Event) + Sync),
}

impl<L: Log + ?Sized> Log for Watched<'_, L> {
    fn event(&mut self, event: &Event) -> Result<()> {
        (self.watch)(event);
        self.log.event(event)
    }
}

/// A log to read: a file, or `-`, which is standard input.
pub fn open(path: &Path) -> std::result::Result<Box<dyn BufRead>, CliError> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = File::open(path).map_err(|error| CliError::input(error).of(path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}

/// Begins a session in a log, at the end of the file if there is one.
///
/// # Errors
/// As [`append`].
pub fn session(
    path: &Path,
    header: &Header,
) -> std::result::Result<EventWriter<BufWriter<File>>, CliError> {
    let log = append(path).and_then(|log| EventWriter::new(BufWriter::new(log), header));
    log.map_err(|error| CliError::failed(error).of(path.display()))
}

/// The same where a log is wanted.
pub fn session_if_wanted(
    path: Option<&Path>,
    header: &Header,
) -> std::result::Result<Box<dyn Log + Send>, CliError> {
    Ok(match path {
        Some(path) => Box::new(session(path, header)?),
        None => Box::new(NoLog),
    })
}

/// Opens a log to go on behind its last whole line: half of one is what a killed program leaves.
///
/// # Errors
/// What the disk says; a file that is there and does not begin as an event log does.
pub fn append(path: &Path) -> Result<File> {
    let mut log = opened(path, 0o666)?;
    let mut first = String::new();
    BufReader::new(&log)
        .take(LONGEST_HEADER)
        .read_line(&mut first)
        .map_err(|_| no_log())?;
    // A program may have been killed while it wrote the header.
    if !first.starts_with(MARK) && !MARK.starts_with(&first) {
        return Err(no_log());
    }
    cut(&mut log)?;
    Ok(log)
}

/// The same for a table that grows line by line, whatever is in it.
pub fn append_lines(path: &Path) -> Result<File> {
    let mut table = opened(path, 0o666)?;
    cut(&mut table)?;
    Ok(table)
}

/// The same for the log of an archive, which is readable by nobody else if it is made here.
pub fn append_private(path: &Path) -> Result<File> {
    let mut log = opened(path, 0o600)?;
    cut(&mut log)?;
    Ok(log)
}

fn no_log() -> Error {
    Error::other(
        "this file is there and is no event log, and nothing was written to it: give a new one",
    )
}

fn opened(path: &Path, mode: u32) -> Result<File> {
    let mut options = File::options();
    options.create(true).read(true).append(true);
    #[cfg(unix)]
    options.mode(mode);
    options.open(path)
}

/// Cuts off half a line at the end.
fn cut(log: &mut File) -> Result<()> {
    let end = whole_lines_bytes(log)?;
    log.set_len(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn half_a_line_is_cut_off_and_whole_ones_stay() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        let long = "x".repeat(200_000);
        for (before, kept) in [
            (String::new(), String::new()),
            ("{}\n".to_owned(), "{}\n".to_owned()),
            ("{}\n{\"a\"".to_owned(), "{}\n".to_owned()),
            (long.clone(), String::new()),
            (format!("{long}\n{long}"), format!("{long}\n")),
        ] {
            std::fs::write(&path, before).expect("a log");
            append_private(&path)
                .expect("a log")
                .write_all(b"end")
                .expect("written");
            let now = std::fs::read_to_string(&path).expect("a log");
            assert!(now == format!("{kept}end"), "{} bytes", now.len());
        }
    }

    #[test]
    fn a_file_of_somebody_else_is_not_written_to() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        let others = [
            "a/f4.bin",
            "a/f4.bin\n",
            "{\"id\":\"a\"}\n",
            "{\"id\":\"a\"}",
            "\n",
            "\u{fffd}",
        ];
        for other in others {
            std::fs::write(&path, other).expect("a file");
            let error = append(&path).expect_err("refused");
            assert!(error.to_string().contains("is no event log"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), other);
        }
        std::fs::write(&path, [0xff, 0xfe, b'\n']).expect("a file");
        append(&path).expect_err("refused");
        for ours in ["", "{\"tapewise_events\":1}\n", "{\"tapewise_ev"] {
            std::fs::write(&path, ours).expect("a log");
            append(&path).expect("a log");
        }
    }
}
