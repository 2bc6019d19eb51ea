//! Files come into the archive.

use crate::site;

use site::{Site, terms};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use tapewise_archive::catalogue::Files;
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::store::{
    FileSystem, Source, SourceFile, Sources, Stamp, StoreTerms, store_others,
};
use tapewise_emulator::Faults;

/// The file system, on which somebody writes to files called `log` all the time.
struct Busy;

struct Log(Box<dyn SourceFile>, AtomicI64);

impl Sources for Busy {
    fn open(&self, path: &Path) -> io::Result<Box<dyn SourceFile>> {
        let file = FileSystem.open(path)?;
        if path.ends_with("log") {
            Ok(Box::new(Log(file, AtomicI64::new(0))))
        } else {
            Ok(file)
        }
    }
}

impl Read for Log {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl SourceFile for Log {
    fn stamp(&self) -> io::Result<Stamp> {
        let changed_ns = self.1.fetch_add(1, Ordering::Relaxed);
        let stamp = self.0.stamp()?;
        Ok(Stamp {
            changed_ns,
            ..stamp
        })
    }
}

/// A file with this contents, which goes to this path.
fn source(site: &Site, path: &str) -> Source {
    let from = site.directory.path().join("from").join(path);
    std::fs::create_dir_all(from.parent().expect("a directory")).expect("made");
    std::fs::write(&from, path).expect("written");
    Source {
        from,
        path: InnerPath::new(path).expect("a path"),
        bytes: path.len() as u64,
    }
}

fn once() -> StoreTerms {
    StoreTerms {
        terms: terms(),
        copies: 1,
        replace: false,
        also: Vec::new(),
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_left_out_and_the_others_are_stored() {
    let site = Site::new(1, 1, Faults::none());
    let sources = ["d/1", "d/log", "d/2"].map(|path| source(&site, path));
    let mut changed = Vec::new();
    let stored = store_others(&Busy, &site.cache, &sources, &once(), 5, &mut |error| {
        changed.push(error.to_string());
        Ok(())
    });
    assert_eq!(stored.expect("stored").len(), 2);
    let [said] = &changed[..] else {
        panic!("{changed:?}");
    };
    assert!(said.contains("d/log: changed while it was read"), "{said}");
    let live = |path: &str| site.catalogue.live_file(path.as_bytes());
    let is_live = |path: &str| live(path).expect("a catalogue").is_some();
    assert_eq!(["d/1", "d/2", "d/log"].map(is_live), [true, true, false]);
}
