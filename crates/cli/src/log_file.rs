//! Event logs on disk, appended to, and what stands at their top.

use std::fs::File;
use std::io::Result;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tapewise_formats::event::Event;
use tapewise_formats::event_log::{Device, Header, whole_lines_bytes};
use tapewise_run::Log;
use tapewise_scsi::Identity;

/// A header that says that this program writes.
pub fn header() -> Header {
    Header::new(concat!("tapewise ", env!("CARGO_PKG_VERSION")))
}

/// The same, of what this drive or robot does.
pub fn header_of(identity: &Identity) -> Header {
    Header {
        device: Some(Device {
            vendor: identity.vendor.clone(),
            product: identity.product.clone(),
            revision: identity.revision.clone(),
            serial: identity.serial.clone(),
        }),
        ..header()
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

/// Opens a log to go on behind its last whole line: half of one is what a killed program leaves.
pub fn append(path: &Path) -> Result<File> {
    append_with_mode(path, 0o666)
}

/// The same; a log that is made is readable by nobody else.
pub fn append_private(path: &Path) -> Result<File> {
    append_with_mode(path, 0o600)
}

fn append_with_mode(path: &Path, mode: u32) -> Result<File> {
    let mut options = File::options();
    options.create(true).read(true).append(true);
    #[cfg(unix)]
    options.mode(mode);
    let mut log = options.open(path)?;
    let end = whole_lines_bytes(&mut log)?;
    log.set_len(end)?;
    Ok(log)
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
            append(&path)
                .expect("a log")
                .write_all(b"end")
                .expect("written");
            let now = std::fs::read_to_string(&path).expect("a log");
            assert!(now == format!("{kept}end"), "{} bytes", now.len());
        }
    }
}
