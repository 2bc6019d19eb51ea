//! Recalls on several drives at once: each file once, each drive its share, whatever fails.

use crate::site;

use site::{Site, contents};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tapewise_archive::catalogue::{NewRecall, Requests};
use tapewise_archive::mover::Recalled;
use tapewise_emulator::Faults;
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::Pace;

const FILES: u64 = 160;

/// A site of so many drives with files on many volumes, and nothing in its cache.
fn site(drives: u16, copies: u32, faults: Faults) -> (Site, Vec<(String, Vec<u8>)>) {
    let mut site = Site::new(drives, 16, faults);
    site.settings.volume_bytes = Some(200_000);
    let files = site.store(FILES, copies, 11);
    site.mover(|mover| mover.migrate(i64::MAX))
        .expect("migrated");
    site.empty_cache();
    site.events.clear();
    (site, files)
}

/// Two ask for the same file, as a user and `tiers` may: it is read into the cache once or twice, and both are answered.
#[test]
fn a_file_that_comes_into_the_cache_twice_at_the_same_time_is_there_once() {
    for copies in [1, 2] {
        let (mut site, files) = site(2, copies, Faults::none());
        let twice = files.iter().chain(&files).map(|(path, _)| NewRecall {
            file: site.id(path),
            terms: site::terms(),
            destination: None,
        });
        let twice: Vec<NewRecall> = twice.collect();
        site.catalogue.submit(&twice, 7).expect("requests");
        let done = site.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!((done.delivered, done.failed), (2 * FILES, vec![]));
        let bytes: usize = files.iter().map(|(_, contents)| contents.len()).sum();
        assert_eq!(site.cache.usage().held_bytes, bytes as u64);
        for (path, contents) in &files {
            let there = std::fs::read(site.in_cache(path)).expect("a file of the cache");
            assert_eq!(&there, contents);
        }
        site.assert_integrity();
    }
}

/// Events by drive.
fn by_drive(site: &Site) -> BTreeMap<String, u64> {
    let mut drives = BTreeMap::new();
    for event in &site.events {
        if event.action == Action::Mount {
            *drives
                .entry(event.device.clone().expect("a drive"))
                .or_default() += 1;
        }
    }
    drives
}

#[test]
fn all_drives_share_the_volumes_and_no_volume_is_read_twice() {
    let (mut site, files) = site(4, 1, Faults::none());
    let before = site.events.len();
    let done = site.assert_comes_back(&files, "back");
    let volumes: BTreeSet<_> = site.events.iter().map(|event| &event.cartridge).collect();
    assert!(volumes.len() >= 4, "{volumes:?}");
    // Some are in the drives since they were written: they are not mounted for this.
    let events = site.events[before..].iter();
    let fetched: Vec<_> = events
        .filter(|event| event.action == Action::Fetch)
        .map(|event| &event.cartridge)
        .collect();
    assert_eq!(done.mounts, fetched.len() as u64);
    let once: BTreeSet<_> = fetched.iter().collect();
    assert_eq!(once.len(), fetched.len(), "{fetched:?}");
    let drives = by_drive(&site);
    assert_eq!(drives.len(), 4, "{drives:?}");
    let (most, least) = (drives.values().max(), drives.values().min());
    assert!(most <= least.map(|least| least + 2).as_ref(), "{drives:?}");
    site.assert_integrity();
}

#[test]
fn of_two_copies_one_is_read_though_both_volumes_are_free() {
    let (mut site, files) = site(4, 2, Faults::none());
    site.assert_comes_back(&files, "back");
    assert!(site.catalogue.unanswered().expect("a catalogue").is_empty());
    site.assert_integrity();
}

#[test]
fn on_threads_it_comes_to_the_same_files() {
    let (mut site, files) = site(3, 2, Faults::none());
    site.at_pace(Pace::Threads);
    site.assert_comes_back(&files, "back");
    assert!(site.catalogue.unanswered().expect("a catalogue").is_empty());
    site.assert_integrity();
}

#[test]
fn in_a_service_all_cartridges_are_home_when_nothing_is_left_to_be_read() {
    let (mut site, files) = site(3, 1, Faults::none());
    site.at_pace(Pace::Threads);
    let to = site.destination("back");
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let recalled = site.mover(|mover| mover.recall_and_empty(&|_| (), &|| false));
    assert_eq!(recalled.expect("recalled").delivered, FILES);
    let status = site.pool.status();
    assert!(status.iter().all(|drive| drive.volume.is_none()));
    site.assert_integrity();
}

#[test]
fn a_service_with_something_else_to_do_begins_no_further_volume_and_goes_on_later() {
    let (mut site, files) = site(2, 1, Faults::none());
    site.at_pace(Pace::Threads);
    let to = site.destination("back");
    site.request(&files.iter().collect::<Vec<_>>(), &to);
    let has_read = AtomicBool::new(false);
    let tell = |done: &Recalled| {
        has_read.fetch_or(done.delivered > 0, Ordering::Relaxed);
    };
    let ends = || has_read.load(Ordering::Relaxed);
    let first = site.mover(|mover| mover.recall_and_empty(&tell, &ends));
    let first = first.expect("recalled").delivered;
    assert!(0 < first && first < FILES, "{first}");
    let status = site.pool.status();
    assert!(status.iter().all(|drive| drive.volume.is_none()));
    let rest = site.mover(|mover| mover.recall_and_empty(&|_| (), &|| false));
    assert_eq!(first + rest.expect("recalled").delivered, FILES);
    site.assert_integrity();
}

#[test]
fn what_no_drive_is_left_for_stays_in_the_queue() {
    let (mut site, files) = site(2, 1, Faults::none());
    let to = site.destination("back");
    let all: Vec<_> = files.iter().collect();
    site.request(&all, &to);
    for drive in 0..2 {
        site.pool
            .set_aside(drive, "a test has done it", &mut site.events);
    }
    let delivered = AtomicU64::new(0);
    let tell = |done: &Recalled| {
        delivered.fetch_add(done.delivered, Ordering::Relaxed);
    };
    let recalled = site.mover(|mover| mover.recall_telling(&tell));
    let error = recalled.expect_err("no drive").to_string();
    assert!(error.contains("no drive is left"), "{error}");
    assert!(error.contains("a test has done it"), "{error}");
    let empty = (0..FILES)
        .filter(|&number| contents(11, number).is_empty())
        .count();
    // What came before the error was told.
    assert_eq!(delivered.into_inner(), empty as u64);
    let open = site.catalogue.unanswered().expect("a catalogue");
    assert_eq!(open.len(), files.len() - empty);
}

/// What the drives did in a recall of everything.
fn events() -> Vec<Event> {
    let (mut site, files) = site(3, 2, Faults::none());
    site.assert_comes_back(&files, "back");
    site.events
}

#[test]
fn in_turns_the_same_seed_gives_the_same_events() {
    let (events, again) = (events(), events());
    assert!(events.len() > 50, "{}", events.len());
    let mut both = events.iter().zip(&again);
    let differs = both.position(|(one, other)| one != other);
    assert_eq!((events.len(), differs), (again.len(), None));
}
