//! What is read wrongly is read again, in another drive too, before it is lost; what is lost is taken back when
//! it is right, and made again from its sister. Another host that moves the tape while it is written.

use crate::site;

use rusqlite::Connection;
use site::{Site, contents, pool_through};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tapewise_archive::catalogue::{Cause, CopyState, Files, Loss, Volumes};
use tapewise_archive::mover::{MoveError, ReadIn};
use tapewise_archive::record::VolumeState;
use tapewise_archive::volume::VolumeError;
use tapewise_emulator::{Clock, EmulatedTransport, Faults, Library, LibrarySpec};
use tapewise_formats::event::Action;
use tapewise_scsi::{Cdb, Completion, Data, Transport, TransportError};

const REWIND: u8 = 0x01;
const READ: u8 = 0x08;
const WRITE: u8 = 0x0a;
const WRITE_FILEMARKS: u8 = 0x10;

/// What goes wrong between host and drives.
#[derive(Default)]
struct Wrong {
    /// Reads of file contents that still come back with a flipped bit, by drive.
    reads: [AtomicU64; 2],
    /// The command of this code before which another host rewinds, counted down; never at 0.
    rewind_before: AtomicU64,
    opcode: AtomicU64,
}

struct Path {
    drive: EmulatedTransport,
    number: usize,
    wrong: Arc<Wrong>,
}

/// Whether it was one of those that are left, which are then one less.
fn takes_one(left: &AtomicU64) -> bool {
    let less = |left: u64| left.checked_sub(1);
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
        .is_ok()
}

impl Transport for Path {
    fn name(&self) -> &str {
        self.drive.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        let opcode = cdb.opcode();
        if u64::from(opcode) == self.wrong.opcode.load(Ordering::Relaxed)
            && takes_one(&self.wrong.rewind_before)
            && self.wrong.rewind_before.load(Ordering::Relaxed) == 0
        {
            let rewind = Cdb::new([REWIND, 0, 0, 0, 0, 0]);
            self.drive.execute(&rewind, Data::None, timeout)?;
        }
        match (opcode, data) {
            (READ, Data::In(buffer)) => {
                let done = self.drive.execute(cdb, Data::In(&mut *buffer), timeout)?;
                let is_contents = !buffer.starts_with(b"TAPEWISE") && !buffer.starts_with(b"Pax");
                if is_contents
                    && done.transferred > 100
                    && takes_one(&self.wrong.reads[self.number])
                {
                    buffer[100] ^= 1;
                }
                Ok(done)
            }
            (_, data) => self.drive.execute(cdb, data, timeout),
        }
    }

    fn now(&self) -> Duration {
        self.drive.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.drive.wait(duration);
    }
}

/// A site whose drives are reached over bad paths.
fn site(drives: u16) -> (Site, Arc<Wrong>) {
    let mut site = Site::new(drives, 4, Faults::none());
    let spec = LibrarySpec::with_robot("ibm3584", "lto8", drives, 9, 4, 7);
    let path = site.directory.path().join("another");
    let library = Library::create(&path, &spec, Clock::virtual_time()).expect("a library");
    let wrong = Arc::new(Wrong::default());
    site.pool = pool_through(&library, drives, |number, drive| {
        let wrong = Arc::clone(&wrong);
        Box::new(Path {
            drive,
            number,
            wrong,
        })
    });
    site.settings.byte_scale = 1;
    (site, wrong)
}

/// A long file on tape, so many times, and not in the cache.
fn one_file(site: &mut Site, copies: u32) -> Vec<(String, Vec<u8>)> {
    let files = vec![("film".to_owned(), contents(61, 1))];
    site.store_these(&files, copies);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    files
}

fn states(site: &Site) -> Vec<CopyState> {
    let copies = site.catalogue.file(site.id("film")).expect("a file").copies;
    copies.iter().map(|copy| copy.state).collect()
}

#[test]
fn one_wrong_read_of_the_only_copy_is_followed_by_a_right_one() {
    let (mut site, wrong) = site(1);
    let files = one_file(&mut site, 1);
    wrong.reads[0].store(1, Ordering::Relaxed);
    site.assert_comes_back(&files, "back");
    assert_eq!(states(&site), [CopyState::Whole]);
    let (volume, _) = site.catalogue.volumes().expect("a catalogue")[0].clone();
    wrong.reads[0].store(1, Ordering::Relaxed);
    let found = site.verify(volume).expect("verified");
    assert_eq!((found.right, found.lost), (1, vec![]));
}

#[test]
fn what_one_drive_reads_wrongly_another_drive_reads() {
    let (mut site, wrong) = site(2);
    let files = one_file(&mut site, 1);
    let both = |wrong: &Wrong, reads: [u64; 2]| {
        for (left, reads) in wrong.reads.iter().zip(reads) {
            left.store(reads, Ordering::Relaxed);
        }
    };
    for bad in 0..2 {
        let mut reads = [0; 2];
        reads[bad] = u64::MAX;
        both(&wrong, reads);
        site.assert_comes_back(&files, &format!("back-{bad}"));
        assert_eq!(states(&site), [CopyState::Whole]);
        let (volume, _) = site.catalogue.volumes().expect("a catalogue")[0].clone();
        let found = site.verify(volume).expect("verified");
        assert_eq!((found.right, found.lost), (1, vec![]));
    }
}

#[test]
fn what_is_read_wrongly_everywhere_is_lost_until_it_is_right_again() {
    for drives in [1, 2] {
        let (mut site, wrong) = site(drives);
        let files = one_file(&mut site, 1);
        wrong
            .reads
            .iter()
            .for_each(|left| left.store(u64::MAX, Ordering::Relaxed));
        let to = site.destination("back");
        site.request(&files.iter().collect::<Vec<_>>(), &to);
        let recalled = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!(recalled.failed.len(), 1, "{recalled:?}");
        assert_eq!(recalled.failed[0].1.cause, Cause::WrongContents);
        assert_eq!(states(&site), [CopyState::Lost]);
        wrong
            .reads
            .iter()
            .for_each(|left| left.store(0, Ordering::Relaxed));
        let (volume, _) = site.catalogue.volumes().expect("a catalogue")[0].clone();
        let found = site.verify(volume).expect("verified");
        assert_eq!((found.right, found.taken_back, found.lost), (1, 1, vec![]));
        assert_eq!(states(&site), [CopyState::Whole]);
        site.assert_comes_back(&files, "again");
        site.assert_integrity();
    }
}

#[test]
fn a_file_whose_first_copy_is_wrong_comes_from_the_other_and_the_loss_is_told() {
    let (mut site, wrong) = site(1);
    let files = one_file(&mut site, 2);
    // All blocks of the two times that the only drive reads the copy.
    wrong.reads[0].store(14, Ordering::Relaxed);
    assert_eq!(site.assert_comes_back(&files, "back").lost, 1);
    let states = states(&site);
    let lost = states.iter().filter(|state| **state == CopyState::Lost);
    assert_eq!((states.len(), lost.count()), (2, 1));
}

#[test]
fn a_lost_copy_is_made_again_from_its_sister() {
    let (mut site, wrong) = site(1);
    let files = one_file(&mut site, 2);
    let copies = site.catalogue.file(site.id("film")).expect("a file").copies;
    let bad = copies[0].segments[0].0;
    wrong.reads[0].store(u64::MAX, Ordering::Relaxed);
    let found = site.verify(bad).expect("verified");
    assert_eq!(
        (found.lost.len(), &found.to_remake),
        (1, &vec![site.id("film")])
    );
    wrong.reads[0].store(0, Ordering::Relaxed);
    let remade = site
        .mover(|mover| mover.remake(found.to_remake))
        .expect("remade");
    assert_eq!((remade.files, remade.failed), (1, vec![]));
    let copies = site.catalogue.file(site.id("film")).expect("a file").copies;
    let on: BTreeSet<_> = copies.iter().map(|copy| copy.segments[0].0).collect();
    assert_eq!((states(&site), on.len()), (vec![CopyState::Whole; 2], 2));
    assert!(!on.contains(&bad), "not onto the volume that has lost it");
    site.empty_cache();
    site.assert_integrity();
    site.assert_comes_back(&files, "back");
}

#[test]
fn what_is_read_back_wrongly_while_a_segment_is_ended_is_not_written() {
    let (mut site, wrong) = site(1);
    let files = vec![
        ("film".to_owned(), contents(61, 1)),
        ("rotten".to_owned(), contents(61, 2)),
    ];
    site.store_these(&files, 1);
    // Its segment has to be ended behind the film: the block in which that ends is read and written again.
    let place = site.in_cache("rotten");
    let mut rotten = std::fs::read(&place).expect("contents");
    rotten[0] ^= 1;
    std::fs::write(place, rotten).expect("written");
    wrong.reads[0].store(1, Ordering::Relaxed);
    let migrated = site
        .mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    assert_eq!((migrated.files, migrated.refused.len()), (1, 1));
    assert_eq!(wrong.reads[0].load(Ordering::Relaxed), 0, "a bit was wrong");
    site.empty_cache();
    site.assert_comes_back(&files[..1], "back");
}

#[test]
fn one_wrong_bit_behind_the_end_of_a_volume_is_read_again_before_the_write_is_refused() {
    let (mut site, wrong) = site(1);
    let migrate = |site: &mut Site, name: &str, number| {
        site.store_these(&[(name.to_owned(), contents(61, number))], 1);
        site.mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
    };
    migrate(&mut site, "first", 1);
    let (id, before) = site.catalogue.volumes().expect("a catalogue")[0].clone();
    migrate(&mut site, "second", 1);
    let forgotten = site
        .catalogue
        .forget_volume(id, Loss::Accepted, site.now_ns());
    forgotten.expect("forgotten");
    // All that is behind the end as it was is in the cache.
    wrong.reads[0].store(1, Ordering::Relaxed);
    site.mover(|mover| mover.reuse(&before))
        .expect("used again");
    assert_eq!(wrong.reads[0].load(Ordering::Relaxed), 0, "a bit was wrong");
}

#[test]
fn a_damaged_cached_file_that_lacks_a_copy_comes_from_tape_and_gets_that_copy_back() {
    for is_gone in [false, true] {
        for is_migrated_first in [false, true] {
            let mut site = Site::new(1, 4, Faults::none());
            let files = site.store(3, 2, 5);
            site.mover(|mover| mover.migrate(i64::MAX))
                .expect("migrated");
            let file = site.id(&files[1].0);
            let copies = site.catalogue.file(file).expect("a file").copies;
            let [lost, kept] = [0, 1].map(|at: usize| copies[at].segments[0].0);
            let forgotten = site.catalogue.forget_volume(lost, Loss::Refused, 9);
            forgotten.expect("forgotten: the cache has its files");
            let place = site.in_cache(&files[1].0);
            let mut rotten = std::fs::read(&place).expect("contents");
            rotten[0] ^= 1;
            std::fs::remove_file(&place).expect("gone");
            if !is_gone {
                std::fs::write(&place, rotten).expect("written");
            }
            if is_migrated_first {
                let migrated = site
                    .mover(|mover| mover.migrate(i64::MAX))
                    .expect("migrated");
                let refused: Vec<_> = migrated.refused.iter().map(|(file, _)| *file).collect();
                assert_eq!(refused, [file], "{is_gone}: {migrated:?}");
            }
            site.assert_comes_back(&files, "back");
            let found = site.verify(kept).expect("verified");
            assert_eq!((found.lost, &found.to_remake), (vec![], &vec![file]));
            let remade = site.mover(|mover| mover.remake(found.to_remake));
            assert_eq!(remade.expect("remade").failed, vec![]);
            let entry = site.catalogue.file(file).expect("a file");
            assert_eq!(entry.lacks(), 0, "{is_gone} {is_migrated_first}: {entry:?}");
            site.assert_integrity();
        }
    }
}

#[test]
fn another_host_that_rewinds_while_a_segment_is_written_costs_the_volume_and_no_file() {
    // The first filemark closes the label, the second one the segment; the first block is the label.
    for (opcode, before) in [(WRITE_FILEMARKS, 2), (WRITE, 2), (WRITE, 4), (WRITE, 7)] {
        let (mut site, wrong) = site(1);
        wrong.opcode.store(u64::from(opcode), Ordering::Relaxed);
        wrong.rewind_before.store(before, Ordering::Relaxed);
        let files = site.store(20, 1, 3);
        let migrated = site
            .mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        assert_eq!(migrated.files, 20, "{opcode:#x} {before}");
        let [(_, why)] = &migrated.volumes_lost[..] else {
            panic!("{opcode:#x} {before}: {migrated:?}");
        };
        assert!(
            why.contains("another program or host has moved the tape"),
            "{why}"
        );
        let volumes = site.catalogue.volumes().expect("a catalogue");
        let suspect = volumes
            .iter()
            .filter(|(_, one)| one.state == VolumeState::Suspect);
        assert_eq!(suspect.count(), 1);
        site.empty_cache();
        site.assert_comes_back(&files, "back");
        site.assert_integrity();
    }
}

#[test]
fn all_drives_write_and_what_they_write_comes_back() {
    for threads in [false, true] {
        let mut site = Site::new(3, 8, Faults::none());
        site.settings.segment_bytes = 16 << 10;
        if threads {
            site.at_pace(tapewise_library::pool::Pace::Threads);
        }
        let files = site.store(120, 2, 17);
        let migrated = site
            .mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        assert_eq!((migrated.files, migrated.refused.len()), (120, 0));
        let writes = site
            .events
            .iter()
            .filter(|event| event.action == Action::Write);
        let drives: BTreeSet<_> = writes.map(|event| event.device.clone()).collect();
        assert!(drives.len() > 1, "{drives:?}");
        site.assert_integrity();
        site.empty_cache();
        site.assert_comes_back(&files, "back");
    }
}

#[test]
fn a_cartridge_with_more_on_it_than_the_catalogue_knew_is_not_labelled_anew() {
    let (mut site, _) = site(1);
    let migrate = |site: &mut Site, seed| {
        let files = site.store(2, 1, seed);
        site.mover(|mover| mover.migrate(i64::MAX))
            .expect("migrated");
        files
    };
    migrate(&mut site, 3);
    // As a catalogue knows the volume that is restored later.
    let (id, restored) = site.catalogue.volumes().expect("a catalogue")[0].clone();
    let later: Vec<_> = [4, 5].map(|seed| migrate(&mut site, seed)).concat();
    let forgotten = site
        .catalogue
        .forget_volume(id, Loss::Accepted, site.now_ns());
    forgotten.expect("forgotten");
    let refused = site.mover(|mover| mover.reuse(&restored));
    let Err(MoveError::Volume { source, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(matches!(source, VolumeError::Ahead { .. }), "{source}");
    // All of it can still be read in.
    let read = site.read_in(&[&restored.label]);
    assert!(
        read.volumes
            .iter()
            .all(|(_, read)| matches!(read, ReadIn::Added(_)))
    );
    site.empty_cache();
    site.assert_comes_back(&later, "back");
}

#[test]
fn what_was_stored_again_after_a_snapshot_is_not_written_over_because_a_version_before_was_alike() {
    for is_retired in [true, false] {
        for is_this_version in [true, false] {
            let (mut site, _) = site(1);
            site.store(1, 1, 3);
            site.mover(|mover| mover.migrate(i64::MAX))
                .expect("migrated");
            // As a catalogue knows the volume that is restored later.
            let (id, restored) = site.catalogue.volumes().expect("a catalogue")[0].clone();
            one_file(&mut site, 1);
            let film = site.id("film");
            let raw = Connection::open(site.directory.path().join("catalogue.db"));
            let raw = raw.expect("a database");
            let run = |sql: &str, of: i64| raw.execute(sql, [of]).expect("done");
            if is_retired {
                let forgotten = site.catalogue.forget_volume(id, Loss::Accepted, 99);
                forgotten.expect("forgotten");
            } else {
                // The catalogue believes that the copy lies on this cartridge as it was before.
                run(
                    "UPDATE volume SET uuid = 'before', label = 'before' WHERE id = ?1",
                    id.0,
                );
            }
            if !is_this_version {
                run(
                    "UPDATE file SET created_ns = created_ns - 1 WHERE id = ?1",
                    film.0,
                );
            }
            let used_again = site.mover(|mover| mover.reuse(&restored));
            assert_eq!(used_again.is_ok(), is_this_version, "{used_again:?}");
        }
    }
}
