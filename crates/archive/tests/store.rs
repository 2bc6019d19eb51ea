//! Files come into the archive.

use crate::site;

use site::{Site, terms};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use tapewise_archive::catalogue::Files;
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::store::{
    FileSystem, Source, SourceFile, Sources, Stamp, StoreTerms, store_others, to_store,
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
fn a_file_that_has_gone_or_never_fits_the_cache_is_left_out_and_the_others_are_stored() {
    let site = Site::new(1, 1, Faults::none());
    let sources = ["d/1", "d/gone", "d/long", "d/2"].map(|path| source(&site, path));
    std::fs::remove_file(&sources[1].from).expect("removed");
    let long = std::fs::File::create(&sources[2].from).expect("a file");
    long.set_len(1 << 40).expect("longer");
    let mut left_out = Vec::new();
    let stored = store_others(
        &FileSystem,
        &site.cache,
        &sources,
        &once(),
        5,
        &mut |error| {
            left_out.push(error.to_string());
            Ok(())
        },
    );
    assert_eq!(stored.expect("stored").len(), 2);
    let [gone, long] = &left_out[..] else {
        panic!("{left_out:?}");
    };
    assert!(gone.contains("d/gone: No such file"), "{gone}");
    assert!(long.contains("d/long: a file of"), "{long}");
}

#[test]
fn two_files_of_one_path_are_refused_and_a_known_one_may_want_more_copies() {
    let site = Site::new(1, 1, Faults::none());
    let [one, other] = ["d/1", "d/2"].map(|path| source(&site, path));
    let look = |sources: &[Source], how: &StoreTerms| {
        let catalogue = site.catalogue.as_ref();
        let from = sources.to_vec();
        to_store(
            &FileSystem,
            catalogue,
            &site.cache,
            from,
            how,
            &mut |_, _| {},
        )
    };
    let replacing = StoreTerms {
        replace: true,
        copies: 2,
        ..once()
    };
    let twice = Source {
        path: one.path.clone(),
        ..other.clone()
    };
    let refused = look(&[one.clone(), twice], &replacing).expect_err("refused");
    let said = refused.to_string();
    assert!(
        said.contains("d/1 and ") && said.contains("would both be d/1"),
        "{said}"
    );
    let stored = store_others(
        &FileSystem,
        &site.cache,
        std::slice::from_ref(&one),
        &once(),
        5,
        &mut Err,
    );
    let known = stored.expect("stored")[0].0;
    // A file that is named twice is stored once, however it is spelled.
    let (directory, name) = (other.from.parent(), other.from.file_name());
    let spelled = Source {
        from: directory
            .zip(name)
            .map(|(at, name)| at.join("..").join("d").join(name))
            .expect("a path"),
        ..other.clone()
    };
    let named = [one, other.clone(), spelled];
    let found = look(&named, &replacing).expect("asked");
    assert_eq!(
        (found.new, found.to_copy),
        (vec![other.clone()], vec![known])
    );
    // It has gone since it was found: that is told when it is to be read.
    store_others(
        &FileSystem,
        &site.cache,
        std::slice::from_ref(&other),
        &once(),
        5,
        &mut Err,
    )
    .expect("stored");
    std::fs::remove_file(&other.from).expect("removed");
    let found = look(std::slice::from_ref(&other), &once()).expect("asked");
    assert_eq!((found.new, found.to_copy), (vec![other], vec![]));
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
